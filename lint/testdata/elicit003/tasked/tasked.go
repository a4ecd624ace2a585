// Package tasked has a server with tasks, where a tool that asks forms by its declarations is synchronous.
package tasked

import (
	"context"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	sure  = elicit.Confirm("sure", "Sure?")
	token = page.SecretInput("token", "Your token at weather.example.com")
)

type place struct{ City string }

func confirms(ctx context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
	if _, err := sure.WithMessagef("Order in %s?", in.City).Value(ctx); err != nil {
		return nil, nil, err
	}
	if err := tasks.Begin(ctx); err != nil {
		return nil, nil, err
	}
	return elicit.Text("Ordered."), nil, nil
}

func asksByPage(ctx context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
	if _, err := token.Value(ctx); err != nil {
		return nil, nil, err
	}
	return elicit.Text("Sunny in " + in.City + "."), nil, nil
}

func register(s *elicit.Server) {
	tasks.Enable(s, tasks.Options{})
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, confirms) // want `the handler asks "sure", which is not declared: without it the tool is one that asks no form`
	elicit.AddTool(s, &mcp.Tool{Name: "B"}, confirms, elicit.Asks(sure))
	elicit.AddTool(s, &mcp.Tool{Name: "C"}, confirms, tasks.AtBegin)
	elicit.AddTool(s, &mcp.Tool{Name: "D"}, asksByPage)
}
