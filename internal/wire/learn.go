package wire

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Info is what a server says of itself.
type Info struct {
	Name     string
	Versions []string        // protocol revisions, newest first
	Server   json.RawMessage // the serverInfo that its results carry, nil if none
}

// Learn asks a server, in process, for its name and the revisions it speaks: mcp.Server has no methods for them. Where a
// middleware of the server does not let server/discover through, Name is empty and Versions those of the SDK.
func Learn(server *mcp.Server) Info {
	info := Info{Versions: mcp.SupportedProtocolVersions()}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	st, ct := mcp.NewInMemoryTransports()
	ss, err := server.Connect(ctx, st, nil)
	if err != nil {
		return info
	}
	defer ss.Close()
	conn, err := ct.Connect(ctx)
	if err != nil {
		return info
	}
	defer conn.Close()
	id, _ := jsonrpc.MakeID("learn")
	params, _ := json.Marshal(map[string]any{"_meta": map[string]any{
		mcp.MetaKeyProtocolVersion: Modern, mcp.MetaKeyClientCapabilities: struct{}{}}})
	if conn.Write(ctx, &jsonrpc.Request{ID: id, Method: "server/discover", Params: params}) != nil {
		return info
	}
	for {
		m, err := conn.Read(ctx)
		if err != nil {
			return info
		}
		r, ok := m.(*jsonrpc.Response)
		if !ok {
			continue
		}
		if e, ok := r.Error.(*jsonrpc.Error); ok {
			var data mcp.UnsupportedProtocolVersionData
			if e.Code == mcp.CodeUnsupportedProtocolVersion && json.Unmarshal(e.Data, &data) == nil {
				info.Versions = data.Supported
			}
			return info
		}
		var res struct {
			Versions []string                   `json:"supportedVersions"`
			Meta     map[string]json.RawMessage `json:"_meta"`
		}
		var impl struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(r.Result, &res) == nil && len(res.Versions) > 0 {
			info.Versions = res.Versions
			info.Server = res.Meta[mcp.MetaKeyServerInfo]
			_ = json.Unmarshal(info.Server, &impl)
			info.Name = impl.Name
		}
		return info
	}
}

// An Exchange is what a host wants to know of a request from below the SDK, and what it knows that the SDK does not say.
type Exchange struct {
	// Notify sends a notification of this request to the client; nil where the SDK does that.
	Notify func(method string, params json.RawMessage)
	// Keep keeps the session of this request open until release is called; nil where that cannot be.
	Keep func() (release func())

	panicked atomic.Bool
}

// Panicked reports whether the handler panicked.
func (e *Exchange) Panicked() bool { return e.panicked.Load() }

type exchangeKey struct{}

// WithExchange is a context for one request.
func WithExchange(ctx context.Context) (context.Context, *Exchange) {
	e := &Exchange{}
	return e.In(ctx), e
}

// ExchangeOf is the exchange that a context belongs to, or nil.
func ExchangeOf(ctx context.Context) *Exchange {
	e, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return e
}

// In is a context that belongs to e.
func (e *Exchange) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// Panicked tells the host, if it listens, that the handler panicked.
func Panicked(ctx context.Context) {
	if e := ExchangeOf(ctx); e != nil {
		e.panicked.Store(true)
	}
}

// A SessionEnd tells what runs in a session that it is about to end.
type SessionEnd struct{ done chan struct{} }

type sessionEndKey struct{}

// WithSessionEnd is a context for a session, which the contexts of its requests descend from.
func WithSessionEnd(ctx context.Context) (context.Context, *SessionEnd) {
	e := &SessionEnd{make(chan struct{})}
	return context.WithValue(ctx, sessionEndKey{}, e), e
}

// Tell tells it. It must be called once at most.
func (e *SessionEnd) Tell() { close(e.done) }

// OnSessionEnd calls f when the session of ctx is about to end, until stop is called.
func OnSessionEnd(ctx context.Context, f func()) (stop func()) {
	e, ok := ctx.Value(sessionEndKey{}).(*SessionEnd)
	if !ok {
		return func() {}
	}
	stopped := make(chan struct{})
	go func() {
		select {
		case <-e.done:
			f()
		case <-stopped:
		}
	}()
	return func() { close(stopped) }
}
