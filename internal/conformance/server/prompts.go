package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addPrompts adds the prompts that do not ask.
func addPrompts(server *mcp.Server) {
	addPrompt(server, &mcp.Prompt{Name: "test_simple_prompt", Description: "Has no arguments."}, &mcp.TextContent{Text: "A text."})
	addPrompt(server, &mcp.Prompt{Name: "test_prompt_with_image", Description: "Has an image."},
		&mcp.ImageContent{Data: redDot(), MIMEType: "image/png"}, &mcp.TextContent{Text: "What is in the image?"})

	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "Repeats its arguments.", Arguments: []*mcp.PromptArgument{
		{Name: "arg1", Description: "The first argument.", Required: true},
		{Name: "arg2", Description: "The second argument.", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a := req.Params.Arguments
		return prompt(&mcp.TextContent{Text: fmt.Sprintf("The arguments are %q and %q.", a["arg1"], a["arg2"])}), nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Has a resource.", Arguments: []*mcp.PromptArgument{
		{Name: "resourceUri", Description: "The URI of the resource.", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(embedded(req.Params.Arguments["resourceUri"]), &mcp.TextContent{Text: "What is in the resource?"}), nil
	})
}

func addPrompt(server *mcp.Server, p *mcp.Prompt, content ...mcp.Content) {
	server.AddPrompt(p, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(content...), nil
	})
}

// prompt is one message of the user for each content.
func prompt(content ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{}
	for _, c := range content {
		r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return r
}
