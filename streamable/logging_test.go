//lint:file-ignore SA1019 Logging, which is deprecated since 2026-07-28, still streams.

package streamable_test

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// logPacking sends a log message on behalf of a call.
func logPacking(ctx context.Context, r *mcp.CallToolRequest) {
	_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "packing"})
}

func logText(ctx context.Context, r *mcp.CallToolRequest, text string) {
	_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: text})
}
