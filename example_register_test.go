package elicit_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// After New, any handler of the server may ask, however it was registered.
func ExampleNew() {
	name := elicit.Input("name", "What is the project called?")
	create := func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n, err := name.Value(ctx)
		if err != nil {
			return nil, err
		}
		return elicit.Text("Created " + n + "."), nil
	}

	server := mcp.NewServer(&mcp.Implementation{Name: "projects", Version: "1.0.0"}, nil)
	server.AddTool(&mcp.Tool{Name: "Create", InputSchema: json.RawMessage(`{"type":"object"}`)}, create)
	projects := elicit.New(server, nil)

	play(projects, "Create", nil, elicittest.Accept(name, "Apollo"))
	// Output:
	// asks name: What is the project called?
	// Created Apollo.
}

// AddTool is mcp.AddTool plus declarations. A mistake in a declared question panics at start-up.
func ExampleAddTool() {
	defer func() { fmt.Println("panic:", recover()) }()
	name := elicit.Input("name", "")
	elicit.AddTool(newShop(), &mcp.Tool{Name: "Create"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			_, err := name.Value(ctx)
			return nil, nil, err
		}, elicit.Asks(name))
	// Output: panic: elicit.AddTool: "Create": elicit: question "name": it has no message: say what is asked, and why
}

// Asks declares what a handler asks. Without it, an answer always comes with a proof that the question was asked.
func ExampleAsks() {
	name := elicit.Input("name", "What is the project called?")
	size := elicit.Choose("size", "Which size?", form.Options("s", "l")...)
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Create"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			n, err := name.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			s, err := size.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text(fmt.Sprintf("Created %s, size %s.", n, s)), nil, nil
		}, elicit.Asks(name, size))

	play(shop, "Create", nil, elicittest.Accept(name, "Apollo"), elicittest.Accept(size, "l"))
	// Output:
	// asks name: What is the project called?
	// asks size: Which size?
	// Created Apollo, size l.
}

// Declare is for what something else registers: a library, or code that is not moved yet.
func ExampleServer_Declare() {
	name := elicit.Input("name", "What is the project called?")
	shop := newShop()
	mcp.AddTool(shop.MCP(), &mcp.Tool{Name: "Create"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			n, err := name.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text("Created " + n + "."), nil, nil
		})
	shop.Declare("Create", elicit.Asks(name))

	play(shop, "Create", nil, elicittest.Accept(name, "Apollo"))
	// Output:
	// asks name: What is the project called?
	// Created Apollo.
}

// Text saves a few brackets.
func ExampleText() {
	b, err := json.Marshal(elicit.Text("Done.").Content)
	fmt.Println(string(b), err)
	// Output: [{"type":"text","text":"Done."}] <nil>
}
