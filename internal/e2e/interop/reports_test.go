package interop

import (
	"context"
	"fmt"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	audience = elicit.Input("audience", "Who is it for?")
	draft    = elicit.Confirm("draft", "Is a draft good enough?")
)

// serveReports serves a tool that asks nothing, and prompts and resources that ask. The prompt asks twice, and the template
// asks about an argument, so their retries carry state; the resource's does not.
func serveReports(t *testing.T) (url string) {
	t.Helper()
	reports := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "reports", Version: "1.0.0"}, nil), nil)

	type person struct {
		Name string `json:"name"`
	}
	mcp.AddTool(reports.MCP(), &mcp.Tool{Name: "Greet"},
		func(_ context.Context, _ *mcp.CallToolRequest, p person) (*mcp.CallToolResult, any, error) {
			return elicit.Text("Hello, " + p.Name + "."), nil, nil
		})

	elicit.AddPrompt(reports, &mcp.Prompt{Name: "Summary", Arguments: []*mcp.PromptArgument{{Name: "topic", Required: true}}},
		func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			who, err := audience.Value(ctx)
			if err != nil {
				return nil, err
			}
			if _, err := draft.WithMessagef("Is a draft good enough for %s?", who).Value(ctx); err != nil {
				return nil, err
			}
			text := fmt.Sprintf("Draft a summary of %s for %s.", r.Params.Arguments["topic"], who)
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
		}, elicit.Asks(audience, draft))

	// Here declining and cancelling are answers like another.
	read := func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		answer, err := audience.Require(ctx)
		if err != nil {
			return nil, err
		}
		text := fmt.Sprintf("%s, %s.", r.Params.URI, answer.Action())
		if who, ok := answer.Value(); ok {
			text = fmt.Sprintf("%s, for %s.", r.Params.URI, who)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: text}}}, nil
	}
	elicit.AddResource(reports, &mcp.Resource{URI: "report://latest", Name: "latest"}, read, elicit.Asks(audience))
	elicit.AddResourceTemplate(reports, &mcp.ResourceTemplate{URITemplate: "report://of/{year}", Name: "of"}, read, elicit.Asks(audience))

	server := httptest.NewServer(reports.Handler(nil))
	t.Cleanup(server.Close)
	return server.URL
}

func TestTypeScriptPromptsAndResources(t *testing.T) {
	harness.Node(t)
	url := serveReports(t)

	const who = "Who is it for?"
	requests := []string{
		`{"method":"prompts/get","params":{"name":"Summary","arguments":{"topic":"sales"}}}`,
		`{"method":"resources/read","params":{"uri":"report://latest"}}`,
		`{"method":"resources/read","params":{"uri":"report://of/2026"}}`,
	}
	type want struct {
		asked []string
		text  string
		code  int // of the JSON-RPC error that has text in its message, or 0
	}
	// The client answers every form with the same content; the second one has no fields, and its answer is the button.
	for _, a := range []struct {
		action string
		want   []want
	}{
		{"accept", []want{
			{[]string{who, "Is a draft good enough for the board?"}, "Draft a summary of sales for the board.", 0},
			{[]string{who}, "report://latest, for the board.", 0},
			{[]string{who}, "report://of/2026, for the board.", 0}}},
		{"decline", []want{
			{[]string{who}, `the user declined to answer "audience"`, -32603},
			{[]string{who}, "report://latest, decline.", 0},
			{[]string{who}, "report://of/2026, decline.", 0}}},
		{"cancel", []want{
			{[]string{who}, `the user dismissed "audience" without answering`, -32603},
			{[]string{who}, "report://latest, cancel.", 0},
			{[]string{who}, "report://of/2026, cancel.", 0}}},
	} {
		for _, m := range modes {
			t.Run(m.mode+"/"+a.action, func(t *testing.T) {
				t.Parallel()
				for i, r := range typeScriptSends(t, url, m.mode, a.action, `{"input":"the board"}`, requests...) {
					got := want{text: r.Text}
					if r.Error != nil {
						got.text, got.code = r.Error.Message, r.Error.Code
					}
					for _, q := range r.Asked {
						got.asked = append(got.asked, q.Message)
					}
					if !reflect.DeepEqual(got, a.want[i]) {
						t.Errorf("%s\ngot  %+v\nwant %+v", requests[i], got, a.want[i])
					}
					if r.Version != m.version {
						t.Errorf("negotiated %s, want %s", r.Version, m.version)
					}
				}
			})
		}
	}
}
