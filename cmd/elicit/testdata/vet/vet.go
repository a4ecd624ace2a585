// Package vet has mistakes, two of which are seen only by who knows what package helpers does.
package vet

import (
	"context"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/cmd/elicit/testdata/vet/helpers"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var sure = elicit.Confirm("sure", "Sure?")

func name(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	n, err := helpers.Ask(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("asking: %v", err)
	}
	if _, err := sure.Require(ctx); err != nil {
		return nil, nil, err
	}
	return elicit.Text(n), nil, order(ctx, n)
}

func order(context.Context, string) error { return nil }

func add(s *elicit.Server) {
	elicit.AddTool(s, &mcp.Tool{Name: "Name"}, name, elicit.Asks(sure))
}
