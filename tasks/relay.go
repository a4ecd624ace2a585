//lint:file-ignore SA1019 MCP has deprecated logging (SEP-2577); handlers use it while the SDK has it

package tasks

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// outlive makes the session that a handler has outlive its request, as the handler may. What it sends when the client has its
// handle is dropped (tasks, "Task Status Notifications": neither progress nor logs belong to a task). Answered is called when
// the request is answered, release when the handler has returned.
func (e *Engine) outlive(ctx context.Context, c *tool.Call) (answered, release func()) {
	nothing := func() {}
	x := wire.ExchangeOf(ctx)
	switch {
	case x == nil: // stdio: the session lasts
		return nothing, nothing
	case x.Keep != nil: // what it sends after the response, the host drops
		return nothing, x.Keep()
	}
	// The SDK's host closes the session with the response.
	var over atomic.Bool
	own := c.Request.Session
	q := &wire.Quiet{Sent: func(ctx context.Context, msg jsonrpc.Message) {
		if r, ok := msg.(*jsonrpc.Request); ok && !over.Load() {
			relay(ctx, own, r)
		}
	}}
	s, err := e.shop.MCP.Connect(context.Background(), q, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{InitializeParams: own.InitializeParams()}})
	if err != nil {
		return nothing, nothing
	}
	c.Request.Session = s
	return func() { over.Store(true) }, func() { _ = s.Close() }
}

// relay sends a notification of a handler in the session of its request. The client may have gone.
func relay(ctx context.Context, s *mcp.ServerSession, r *jsonrpc.Request) {
	switch r.Method {
	case "notifications/progress":
		p := &mcp.ProgressNotificationParams{}
		if json.Unmarshal(r.Params, p) == nil {
			_ = s.NotifyProgress(ctx, p)
		}
	case "notifications/message":
		p := &mcp.LoggingMessageParams{}
		if json.Unmarshal(r.Params, p) == nil {
			_ = s.Log(ctx, p)
		}
	}
}
