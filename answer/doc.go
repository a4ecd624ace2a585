// Package answer is the answering side: it lets a program on the official Go SDK call MCP tools that ask their user for
// a form in the middle of a call.
//
// # Call a tool that asks
//
// Connect, say who answers, call:
//
//	script := answer.Script{"ship": answer.Accept(answer.Values{"trackingNumber": "1Z999"})}
//	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "shop-cli", Version: "1.0.0"},
//		"http://localhost:5280/", &answer.Options{Answerer: script})
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//	result, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "ShipOrder"}, script)
//
// [CallTool] drives the call to its end, over as many rounds as the server needs (protocol 2026-07-28, Multi Round-Trip
// Requests), and works the same for older servers, which ask over the live session while one request runs.
//
// # Calls that take days
//
// A server may answer with a task, a handle to a call that goes on without the request (tasks extension). [CallTool]
// follows it to its end all the same. [Options].Task is told its id, with which [WaitTask] goes on in another process,
// [GetTask] looks at it and [CancelTask] ends it.
//
// # Three names
//
// ShipOrder is the tool, ship the key of the question it asks, trackingNumber a field of its form. A [Script] is written
// by key and field. The key "" answers the questions of older servers that tell no key.
//
// # Who answers
//
// An [Answerer] gets one [Request] at a time and returns what the person did: accept with values, decline, or cancel.
// [Script] answers from a Go map or, by [ParseScript], from JSON; [Flags] from a command line; an [AnswererFunc] as you
// like. A program that shows a question to a person shows Request.Server first, the address, then the name the server
// gives itself in quotes, and runs every text of the server through [Plain] or [PlainLine]: titles can hold escape
// sequences and characters that reverse what follows. [Request.Fields] reads the form in the server's order, and
// [Field.Parse] turns typed text into exact values.
//
// # What the SDK's client loses
//
// The SDK decodes a form into a map, so the order of its properties is gone and 2^53+1 has become 2^53. [Connect], and
// [Wrap] for transports other than HTTP, keep the server's own text beside it, and sort out a few headers. On sessions
// made otherwise, forms work, within those limits.
package answer
