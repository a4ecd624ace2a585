// Package terminal lets a person answer a server's questions at a terminal.
//
//	person := terminal.New(nil)
//	session, err := answer.Connect(ctx, impl, "http://localhost:5280/", &answer.Options{Answerer: person, URL: true})
//	…
//	result, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "ShipOrder"}, person)
//
// # What a person sees
//
// At the top who asks: the address first, which a server cannot choose, then the name it gives itself in quotes, and its
// message behind a bar, so that it cannot pass for the program's own words. Below, the fields in the server's order, with
// what the server or an earlier answer fills in. What is typed is checked as it is typed, with the sentences that package
// form has for it. Optional fields are left out when they stay empty. Long lists can be searched with "/".
//
// Nothing is sent before the review, which shows every answer and starts on no choice: send, change something, decline, or
// cancel. Decline is saying no. Cancel is going away: Esc or Ctrl-C, at any time.
//
// A form that seems to ask for a password, a key or a card is not shown before a warning and a second yes. A page that the
// server wants opened is shown with its whole address, its host set apart and what looks suspicious about it, and opened
// only after a yes; nothing is fetched. While the page waits to be completed, the call is tried again by itself, or at once,
// or stopped.
//
// # Terminals
//
// A capable terminal gets the full screen, from 40 columns on. With TERM=dumb, and where [Options].In or Out is no terminal,
// the questions come line by line, and so they do, without decoration, in the accessible mode for screen readers, which the
// environment variable ACCESSIBLE also turns on. Colours follow NO_COLOR.
package terminal
