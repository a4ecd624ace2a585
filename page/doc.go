// Package page asks for what must not pass the client: secrets, sign-ins and payments, on web pages that the server shows to
// its user (MCP 2026-07-28, client/elicitation, URL mode).
//
//	var apiKey = page.SecretInput("apiKey", "Your key of weather.example.com", page.Remember(30*24*time.Hour))
//
//	func forecast(ctx context.Context, _ *mcp.CallToolRequest, in City) (*mcp.CallToolResult, any, error) {
//		key, err := apiKey.Value(ctx)
//		if err != nil {
//			return nil, nil, err // asks, by a link; the retry runs this handler again, from the top
//		}
//		…weather.New(key.Reveal())…
//	}
//
//	shop := elicit.New(server, nil)
//	pages := page.Enable(shop, page.Options{Base: "https://mcp.example.com/pages", Identify: whoIsThere})
//	elicit.AddTool(shop, tool, forecast, elicit.Asks(apiKey))
//	mux.Handle("/pages/", pages)
//
// [Secret] asks for the fields of a struct, [SecretInput] for one line, [Connect] for a third party's token, and elicit.NewURL
// sends people to a page of the author's own. All are questions like any other: Require, Value, RequireAll, decline, cancel.
//
// # What happens
//
// The client gets a link below Options.Base, with a ticket: sealed, expiring, good for one question of one call. Whoever opens
// it is identified, by [Options].Identify, and must be the user whose request asked; the page names them, the tool and the
// program that runs it, and then collects, or sends them on. That a client says "accept" means only that its user agreed to
// open the page. The call that comes back waits a little, and goes on as soon as the page is done; else the question is asked
// again with the same link. Declining on the page is declining.
//
// What was entered is kept in the [Vault], sealed under elicit.Options.Secrets: for the call, or, if it is to be remembered,
// for user, client, tool and question. It never is in a state, a step, a task's record, a log or a message.
//
// # On the user's own machine
//
// Without Identify, the pages are for the user of the machine that the server runs on, and no request may have a principal.
// Without Base they have a listener of their own, on a free loopback port, so a server on stdio needs nothing but
// page.Enable(shop, page.Options{}).
package page
