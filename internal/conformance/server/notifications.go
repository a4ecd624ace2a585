//lint:file-ignore SA1019 The scenarios test logging, which is deprecated since 2026-07-28.

package main

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addNotifications adds the tools that notify the client while they run, or when the lists change.
func addNotifications(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "test_tool_with_logging", Description: "Logs three times."}, logs)
	mcp.AddTool(server, &mcp.Tool{Name: "test_logging_tool", Description: "Logs, if the request asks for it."}, logs)
	mcp.AddTool(server, &mcp.Tool{Name: "test_tool_with_progress", Description: "Reports its progress three times."}, progresses)
	mcp.AddTool(server, &mcp.Tool{Name: "test_reconnection", Description: "Closes its stream, so that the client comes back for the rest."}, reconnects)

	// The scenarios only look for the notification that a change brings.
	mcp.AddTool(server, &mcp.Tool{Name: "test_trigger_tool_change", Description: "Changes the list of tools."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(server, &mcp.Tool{Name: "test_added_tool", Description: "Came later."}, progresses)
			return &mcp.CallToolResult{}, nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "test_trigger_prompt_change", Description: "Changes the list of prompts."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			addPrompt(server, &mcp.Prompt{Name: "test_added_prompt", Description: "Came later."}, &mcp.TextContent{Text: "A text."})
			return &mcp.CallToolResult{}, nil, nil
		})
}

const pause = 50 * time.Millisecond // what the scenarios suggest between notifications

func logs(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	for _, message := range []string{"started", "working", "done"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: message}); err != nil {
			return nil, nil, err
		}
		time.Sleep(pause)
	}
	return &mcp.CallToolResult{}, nil, nil
}

func progresses(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if err := report(ctx, req); err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{}, nil, nil
}

// report tells the client, if it wants to know, how far the call is.
func report(ctx context.Context, req *mcp.CallToolRequest) error {
	token := req.Params.GetProgressToken()
	for _, percent := range []float64{0, 50, 100} {
		if token != nil {
			p := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: percent, Total: 100}
			if err := req.Session.NotifyProgress(ctx, p); err != nil {
				return err
			}
		}
		time.Sleep(pause)
	}
	return nil
}

func reconnects(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: pause})
	}
	time.Sleep(2 * pause)
	return &mcp.CallToolResult{}, nil, nil
}
