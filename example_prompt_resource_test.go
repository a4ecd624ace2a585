package elicit_test

import (
	"context"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect is a client of a server, with a user who accepts every form with these values.
func connect(s *elicit.Server, values map[string]any) *mcp.ClientSession {
	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.MCP().Connect(ctx, there, nil); err != nil {
		panic(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Println("asks:", r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: values}, nil
		}})
	session, err := client.Connect(ctx, here, nil)
	if err != nil {
		panic(err)
	}
	return session
}

// A prompt asks like a tool.
func ExampleAddPrompt() {
	audience := elicit.Input("audience", "Who is it for?")
	reports := newShop()
	elicit.AddPrompt(reports, &mcp.Prompt{Name: "Summary"},
		func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			who, err := audience.Value(ctx)
			if err != nil {
				return nil, err
			}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
				{Role: "user", Content: &mcp.TextContent{Text: "Summarise the report for " + who + "."}}}}, nil
		}, elicit.Asks(audience))

	session := connect(reports, map[string]any{"input": "the board"})
	defer session.Close()
	res, err := session.GetPrompt(context.Background(), &mcp.GetPromptParams{Name: "Summary"})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Messages[0].Content.(*mcp.TextContent).Text)
	// Output:
	// asks: Who is it for?
	// Summarise the report for the board.
}

// A resource asks like a tool. What an answer went into is not cached for others.
func ExampleAddResource() {
	audience := elicit.Input("audience", "Who is it for?")
	reports := newShop()
	elicit.AddResource(reports, &mcp.Resource{URI: "report://latest", Name: "latest"},
		func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			who, err := audience.Value(ctx)
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Cacheable: mcp.Cacheable{TTLMs: 60_000, CacheScope: "public"},
				Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "The report, for " + who + "."}}}, nil
		}, elicit.Asks(audience))

	session := connect(reports, map[string]any{"input": "the board"})
	defer session.Close()
	res, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "report://latest"})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Contents[0].Text, res.TTLMs, res.CacheScope)
	// Output:
	// asks: Who is it for?
	// The report, for the board. 0 private
}

// So does a template of resources.
func ExampleAddResourceTemplate() {
	reason := elicit.Input("reason", "Why do you need an old report?")
	reports := newShop()
	elicit.AddResourceTemplate(reports, &mcp.ResourceTemplate{URITemplate: "report://{year}", Name: "by year"},
		func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			if _, err := reason.Value(ctx); err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "The old report."}}}, nil
		}, elicit.Asks(reason))

	session := connect(reports, map[string]any{"input": "tax"})
	defer session.Close()
	res, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "report://1999"})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Contents[0].URI, res.Contents[0].Text)
	// Output:
	// asks: Why do you need an old report?
	// report://1999 The old report.
}
