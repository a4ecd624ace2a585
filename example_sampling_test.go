package elicit_test

import (
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated sampling and roots (SEP-2577); they ride the same rounds while the SDK has them

// The client's model is asked as the user is. New servers call a model by themselves.
func ExampleNewSampling() {
	title := elicit.NewSampling("title", &mcp.CreateMessageWithToolsParams{MaxTokens: 20, Messages: []*mcp.SamplingMessageV2{
		{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: "A title for: it rained."}}}}})

	ctx := inCall(elicittest.Accept(title, &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "some-model",
		Content: []mcp.Content{&mcp.TextContent{Text: "Rain"}}}))
	msg, err := title.Value(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(msg.Content[0].(*mcp.TextContent).Text)
	// Output: Rain
}

// The client's roots. New servers take paths as arguments.
func ExampleNewRoots() {
	roots := elicit.NewRoots("roots")
	ctx := inCall(elicittest.Accept(roots, &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: "file:///srv/data"}}}))
	list, err := roots.Value(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(list.Roots[0].URI)
	// Output: file:///srv/data
}
