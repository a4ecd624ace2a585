package streamable

import (
	"context"
	"log/slog"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// servers are the servers that a handler serves. It keeps none alive that it has seen once. It does not know the handler,
// which can be collected while servers live on.
type servers struct {
	logger  *slog.Logger
	places  sync.Map // weak.Pointer[mcp.Server] → func() *place
	watched atomic.Int64
}

// maxWatched is how many servers of a handler have an express path. Others are served as well, by the SDK's handler.
const maxWatched = 64

// get is the place of a server. The server is asked about itself once, and a panic of its handlers is made an error rather
// than the end of the process.
func (s *servers) get(server *mcp.Server) *place {
	key := weak.Make(server)
	if get, ok := s.places.Load(key); ok {
		return get.(func() *place)()
	}
	get, loaded := s.places.LoadOrStore(key, sync.OnceValue(func() *place {
		p := &place{}
		if server := key.Value(); server != nil { // the caller has it
			s.cover(server)
			p.info = wire.Learn(server)
		}
		return p
	}))
	if !loaded {
		runtime.AddCleanup(server, func(k weak.Pointer[mcp.Server]) { s.places.Delete(k) }, key)
	}
	p := get.(func() *place)()
	runtime.KeepAlive(server)
	return p
}

// watch begins to watch a server, which then lives as long as the handler.
func (s *servers) watch(p *place, server *mcp.Server) {
	p.watching.Do(func() {
		if s.watched.Add(1) > maxWatched {
			s.watched.Add(-1)
			return
		}
		p.server = server
		first := make(chan struct{})
		var once sync.Once
		w, err := wire.Watch(server, func(tools []*mcp.Tool, follows bool) {
			if tools == nil {
				p.tools.Store(nil)
				if !follows {
					once.Do(func() { close(first) }) // not for us
				}
				return
			}
			p.tools.Store(newToolSet(tools, follows))
			once.Do(func() { close(first) })
		})
		if err != nil {
			return
		}
		p.watcher.Store(w)
		select {
		case <-first:
		case <-time.After(time.Second): // it comes when it comes
		}
	})
}

// stop ends the watching, and the sessions that are kept.
func (s *servers) stop() {
	for _, get := range s.places.Range {
		p := get.(func() *place)()
		if w := p.watcher.Load(); w != nil {
			w.Stop()
		}
		p.sessions.close()
	}
}

// guard makes a panic of whatever it is put around an error, rather than the end of the process.
//
//go:noinline
func guard(logger *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if r := recover(); r != nil {
					logger.ErrorContext(ctx, "streamable: handler panicked", "method", method, "panic", r, "stack", string(debug.Stack()))
					wire.Panicked(ctx)
					res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
				}
			}()
			res, err = next(ctx, method, req)
			if err == nil && wire.IsNil(res) && !strings.HasPrefix(method, "notifications/") {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "server bug: the handler of " + method + " returned neither a result nor an error"}
			}
			if e := wire.ExchangeOf(ctx); err == nil && (e == nil || e.Notify == nil) { // else we encode it
				if err := wire.Encodable(res); err != nil {
					logger.ErrorContext(ctx, "streamable: a result cannot be encoded", "method", method, "error", err)
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "server bug: the result cannot be encoded: " + err.Error()}
				}
			}
			return res, err
		}
	}
}

// guardCode is where the code of a guard is: functions cannot be compared.
var guardCode = reflect.ValueOf(guard(nil)(nil)).Pointer()

// cover puts a guard around the middleware that was added since the last one. The SDK runs it in goroutines of its own,
// where a panic would end the process.
func (s *servers) cover(server *mcp.Server) {
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		if reflect.ValueOf(next).Pointer() == guardCode {
			return next
		}
		return guard(s.logger)(next)
	})
}
