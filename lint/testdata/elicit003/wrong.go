package elicit003

import (
	"context"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/lint/testdata/elicit003/helpers"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type (
	none  = struct{}
	order struct{ Name string }
)

var (
	name   = elicit.Input("name", "What is it called?")
	size   = elicit.Choose("size", "Which size?", form.Options("s", "l")...)
	colour = elicit.Input("colour", "Which colour?")
)

func asksName(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, err := name.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(n), nil, nil
}

func asksByHelper(ctx context.Context, _ *mcp.CallToolRequest, _ order) (*mcp.CallToolResult, any, error) {
	n, err := helpers.Name(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := helpers.Ask(ctx, size)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(n + s), nil, nil
}

type shop struct{}

func (*shop) method(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	return asksName(ctx, nil, none{})
}

func register(s *elicit.Server, sh *shop) {
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, asksName, elicit.Asks(name, size))                                                     // want `size \("size"\) is declared, and the handler never asks it`
	elicit.AddTool(s, &mcp.Tool{Name: "B"}, asksName, elicit.Asks(colour, name))                                                   // want `colour \("colour"\) is declared`
	elicit.AddTool(s, &mcp.Tool{Name: "C"}, asksName)                                                                              // want `the handler asks "name", which is not declared`
	elicit.AddTool(s, &mcp.Tool{Name: "D"}, sh.method, elicit.Asks(name, size))                                                    // want `size \("size"\) is declared`
	elicit.AddTool(s, &mcp.Tool{Name: "E"}, asksByHelper, elicit.Asks(helpers.Which, size, name))                                  // want `name \("name"\) is declared`
	elicit.AddTool(s, &mcp.Tool{Name: "F"}, sh.method)                                                                             // want `the handler asks "name", which is not declared`
	elicit.AddPrompt(s, &mcp.Prompt{Name: "G"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { // want `the handler asks "colour", which is not declared`
		c, err := colour.Value(ctx)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Description: c}, nil
	})
	local := elicit.Input("local", "What?")
	elicit.AddTool(s, &mcp.Tool{Name: "H"}, asksName, elicit.Asks(name), elicit.Asks(local)) // want `local \("local"\) is declared`
}

var (
	number = form.String("number")
	parcel = elicit.NewFormQuestion("parcel", "What is sent?", form.New(number, form.Bool("fragile")))
)

func asksForm(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	v, err := parcel.Value(ctx)
	return elicit.Text(number.In(v)), nil, err
}

func registerForm(s *elicit.Server) {
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, asksForm) // want `the handler asks "parcel", which is not declared`
}
