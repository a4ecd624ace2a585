package main

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Where nobody can open a page, a tool that needs one ends as a question without an answer does: by its exit code, with what
// to do.
func TestNobodyToOpenAPage(t *testing.T) {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	page.Enable(shop, page.Options{})
	account := page.SecretInput("apiKey", "Your key")
	elicit.AddTool(shop, &mcp.Tool{Name: "Forecast"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		_, err := account.Value(ctx)
		return nil, nil, err
	}, elicit.Asks(account))
	s := httptest.NewServer(shop.Handler(nil))
	defer s.Close()
	try(t, "call", s.URL, "Forecast").want(t, exitUnanswered, "", "calling Forecast: ", "elicitation.url", "at a terminal or with --browser", "--decline KEY")
	// To refuse it takes nobody.
	try(t, "call", s.URL, "Forecast", "--decline", "apiKey").want(t, exitToolError, "", "apiKey")
	try(t, "call", s.URL, "Forecast", "--decline", "other").want(t, exitUnanswered, "", "apiKey", "--decline other")
	try(t, "call", "Forecast").want(t, exitUsage, "", `"Forecast" stands where the URL of the server does`)
}
