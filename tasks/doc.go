// Package tasks lets calls of tools outlive their request: the MCP extension io.modelcontextprotocol/tasks.
//
//	shop := elicit.New(server, &elicit.Options{Secrets: secrets})
//	engine := tasks.Enable(shop, tasks.Options{Store: store})
//	defer engine.Shutdown(ctx)
//	elicit.AddTool(shop, &mcp.Tool{Name: "Deploy"}, deploy, tasks.Required)
//
// A call that becomes a task is answered with a handle, by which its client asks for the status, answers what the task asks,
// cancels it, and gets the result: days later if need be, after restarts, from any instance that shares the store.
//
// The handler is the same as for a call. It asks with Question.Require and returns its error; the task then waits as a row of
// the [Store], not as a goroutine, and the handler runs again, from the top, when the client has sent the last answer. What
// elicit.Step has returned is stored before the handler goes on, and does not run again; elicit.CallID is the same in all
// runs. When an instance dies, others take over what it ran.
//
// A [Mode] says which calls become tasks; [Begin], [Status], [ID] and [Retryable] are for handlers.
//
// Source: https://github.com/modelcontextprotocol/ext-tasks, specification/draft/tasks.md (SEP-2663).
package tasks
