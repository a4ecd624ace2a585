// Package elicit lets an MCP server ask its user for a form in the middle of a call, and finish the call when the answer
// comes back.
//
// A [Question] is a key and what is asked. [Question.Require] returns the answer; while there is none, it returns an
// error, which the handler returns:
//
//	var ship = elicit.NewQuestion[Shipment]("ship", "Ship this order")
//
//	func shipOrder(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
//		answer, err := ship.Require(ctx)
//		if err != nil {
//			return nil, nil, err // asks; the retry runs this handler again, from the top
//		}
//		…
//	}
//
// [New] makes the handlers of an mcp.Server able to ask, however they are registered:
//
//	shop := elicit.New(server, nil)
//	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder"}, shipOrder, elicit.Asks(ship))
//	http.ListenAndServe("localhost:5280", shop.Handler(nil))
//
// # Rounds
//
// To a client of revision 2026-07-28 or later, a handler that asks ends the request: its result is input_required, with
// the form. The client shows it and sends the same call again, with the answer; that is the next round, which may be
// served by another instance. The handler runs from the top in every round. What it must not do twice, it does after the
// last question, or in [Step], which remembers its result; [CallID] is an idempotency key. Clients of older revisions are
// asked over their session, while Require waits: the same handler serves both. Hold no lock across
// a question.
//
//	price, err := elicit.Step(ctx, "price", fetchPrice) // remembered over the rounds
//	if err != nil {
//		return nil, nil, err
//	}
//	if _, err := buy.WithMessagef("Buy it for $%d?", price).Value(ctx); err != nil {
//		return nil, nil, err // asks; or the user refused, which the model is told
//	}
//	return pay(ctx, elicit.CallID(ctx), price) // the effect, after the last question
//
// [RequireAll] asks several questions in one round. [Question.WithKey] makes one question of many things.
//
// # What counts as an answer
//
// What a client sends is hostile until it is verified. An answer counts if the state that came with it, which only this
// server can make, says that this question was asked, in these words, in this call: the same tool, arguments, user and
// server. A question declared with [Asks] in a call without arguments may do without, as there is nothing that its answer
// could be moved from or to; [Confirm] and [Choose], and any question that is [Question.Bound], may not.
//
// An accepted form is validated, and its fields are taken one by one into T. What is not valid is asked again, saying
// what is wrong, three times at most. Declining and cancelling are answers: see [Answer].
//
// It is never known that a human answered: a client may accept by itself. Who may do what is checked in the handler.
//
// # Several processes
//
// A round may reach any instance that has the same [Options].Secrets, and the last one counts once where they share a
// [Spender].
//
// Sources: MCP 2026-07-28, client/elicitation and basic/patterns/mrtr.
package elicit
