package streamable

import (
	"context"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"weak"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// servers is what is known of the servers that a handler serves. It keeps none of them alive.
type servers struct {
	logger *slog.Logger
	infos  sync.Map // weak.Pointer[mcp.Server] → func() wire.Info
}

// get asks a server about itself once, and makes a panic of its handlers an error rather than the end of the process.
func (s *servers) get(server *mcp.Server) wire.Info {
	key := weak.Make(server)
	if learn, ok := s.infos.Load(key); ok {
		return learn.(func() wire.Info)()
	}
	learn, loaded := s.infos.LoadOrStore(key, sync.OnceValue(func() wire.Info {
		server := key.Value() // the caller has it
		if server == nil {
			return wire.Info{}
		}
		server.AddReceivingMiddleware(s.guard)
		return wire.Learn(server)
	}))
	if !loaded {
		runtime.AddCleanup(server, func(k weak.Pointer[mcp.Server]) { s.infos.Delete(k) }, key)
	}
	info := learn.(func() wire.Info)()
	runtime.KeepAlive(server)
	return info
}

func (s *servers) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				s.logger.ErrorContext(ctx, "streamable: handler panicked", "method", method, "panic", r, "stack", string(debug.Stack()))
				wire.Panicked(ctx)
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			}
		}()
		return next(ctx, method, req)
	}
}
