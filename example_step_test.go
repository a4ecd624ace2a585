package elicit_test

import (
	"context"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The price is fetched once, though the handler runs in both rounds, and is the same when the answer comes.
func ExampleStep() {
	buy := elicit.Confirm("buy", "Buy it?")
	price := func(context.Context) (int, error) {
		fmt.Println("fetching the price")
		return 42, nil
	}
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Buy"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			p, err := elicit.Step(ctx, "price", price)
			if err != nil {
				return nil, nil, err
			}
			if _, err := buy.WithMessagef("Buy it for $%d?", p).Value(ctx); err != nil {
				return nil, nil, err
			}
			return elicit.Text(fmt.Sprintf("Bought for $%d.", p)), nil, nil
		}, elicit.Asks(buy))

	play(shop, "Buy", nil, elicittest.Accept(buy, true))
	// Output:
	// fetching the price
	// asks buy: Buy it for $42?
	// Bought for $42.
}

// CallID is the key of an effect that must not happen twice: the same in all rounds of this call, and another in the next.
func ExampleCallID() {
	buy := elicit.Confirm("buy", "Buy it?")
	ids := map[string]bool{}
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Buy"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			ids[elicit.CallID(ctx)] = true
			if _, err := buy.Value(ctx); err != nil {
				return nil, nil, err
			}
			return elicit.Text("Bought."), nil, nil // pay(ctx, elicit.CallID(ctx)) would be here
		}, elicit.Asks(buy))

	play(shop, "Buy", nil, elicittest.Accept(buy, true))
	play(shop, "Buy", nil, elicittest.Accept(buy, true))
	fmt.Println(len(ids), "ids in two calls of two rounds each")
	// Output:
	// asks buy: Buy it?
	// Bought.
	// asks buy: Buy it?
	// Bought.
	// 2 ids in two calls of two rounds each
}

// A call whose question is not Bound may carry no state. Then each of its requests has a CallID of its own.
func ExampleQuestion_Bound() {
	plain := elicit.Input("tracking", "Which tracking number?")
	bound := plain.Bound()

	shop := newShop()
	ids := map[string]map[string]bool{"Plain": {}, "Bound": {}}
	for name, q := range map[string]*elicit.Question[string]{"Plain": plain, "Bound": bound} {
		elicit.AddTool(shop, &mcp.Tool{Name: name},
			func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				ids[name][elicit.CallID(ctx)] = true
				s, err := q.Value(ctx)
				if err != nil {
					return nil, nil, err
				}
				return elicit.Text("Shipped as " + s + "."), nil, nil
			}, elicit.Asks(q))
	}

	play(shop, "Plain", nil, elicittest.Accept(plain, "1Z999"))
	play(shop, "Bound", nil, elicittest.Accept(bound, "1Z999"))
	fmt.Println(len(ids["Plain"]), "ids, and", len(ids["Bound"]))
	// Output:
	// asks tracking: Which tracking number?
	// Shipped as 1Z999.
	// asks tracking: Which tracking number?
	// Shipped as 1Z999.
	// 2 ids, and 1
}
