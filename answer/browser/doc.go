// Package browser lets a person answer a server's questions on a page in their own browser.
//
//	person := browser.New(nil)
//	session, err := answer.Connect(ctx, impl, "http://localhost:5280/", &answer.Options{Answerer: person, URL: true})
//	…
//	result, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "ShipOrder"}, person)
//
// For each question a page is served on a free port of this machine and opened: who asks, the form with the browser's own
// controls (package form/html), and three different ways out, Accept, Decline and Cancel. A valid form is shown once more to be
// reviewed before it is sent. A page that is closed counts as cancel within seconds. The page needs no script and nothing from
// elsewhere.
//
// # Who may answer
//
// The address that opens the page passes through the arguments of a program, where other users of the machine may read it. It
// works once, and moves the browser to a second address that nobody has seen. Requests must name this server exactly in Host
// and, to change anything, in Origin, so that no other page can send an answer; no cookie is trusted. One answer is taken, then
// the server is gone.
//
// A page that a server wants opened (a URL question) is shown with its whole address and what looks suspicious about it, and is
// opened only after a yes. Until it is completed the call is tried again by itself; where the person was asked, they can have
// it tried at once, open the page again, or stop.
package browser
