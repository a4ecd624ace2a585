package answer

import (
	"context"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Wrap makes a client's transport keep what the SDK's decoding loses: the order of a form's properties and of several
// questions, numbers beyond 2^53, result types the SDK does not know. [CallTool] and [Handler] find it there. Use it
// where [Connect] does not reach: stdio (mcp.CommandTransport), mcp.InMemoryTransport, transports of your own.
//
//	session, err := client.Connect(ctx, answer.Wrap(&mcp.CommandTransport{Command: exec.Command("shop")}), nil)
//
// [Request].Server is the command line then, of a CommandTransport. Of an *mcp.StreamableClientTransport it wraps the HTTP client, so that Mcp-Name is encoded as well.
func Wrap(transport mcp.Transport) mcp.Transport {
	if t, ok := transport.(*mcp.StreamableClientTransport); ok {
		wrapped := *t
		client := http.Client{}
		if t.HTTPClient != nil {
			client = *t.HTTPClient
		}
		client.Transport = &roundTripper{next: client.Transport, keeper: keeper{server: t.Endpoint}}
		wrapped.HTTPClient = &client
		return &wrapped
	}
	k := keeper{}
	if t, ok := transport.(*mcp.CommandTransport); ok && t.Command != nil {
		k.server = t.Command.String()
	}
	return &keepingTransport{next: transport, keeper: k}
}

type keepingTransport struct {
	next   mcp.Transport
	keeper keeper
	wire   func(WireMessage) // may be nil
}

func (t *keepingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.next.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &keepingConn{Connection: conn, keeper: t.keeper, wire: t.wire, calls: map[jsonrpc.ID]*call{}}
	t.keeper.streams.set(c)
	return c, nil
}

// A keepingConn pairs results with the calls they belong to by their ids.
type keepingConn struct {
	mcp.Connection
	keeper keeper
	wire   func(WireMessage)

	mu    sync.Mutex
	calls map[jsonrpc.ID]*call
	open  map[string]*connStream // by the id of their requests
	count int                    // of messages
}

// tap shows a message as the SDK writes or has read it.
func (c *keepingConn) tap(kind WireKind, msg jsonrpc.Message) {
	if c.wire == nil {
		return
	}
	body, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.count++
	n := c.count
	c.mu.Unlock()
	c.wire(WireMessage{Exchange: n, Kind: kind, Body: body})
}

func (c *keepingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		if call := callOf(ctx); call != nil {
			call.connected(&c.keeper)
			c.mu.Lock()
			for id, old := range c.calls {
				if old.hasEnded() { // Cancelled: nothing answered it.
					delete(c.calls, id)
				}
			}
			c.calls[req.ID] = call
			c.mu.Unlock()
		}
	}
	c.tap(WireSent, msg)
	return c.Connection.Write(ctx, msg)
}

func (c *keepingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	var msg jsonrpc.Message
	for ours := true; ours; ours = c.streamed(msg) {
		var err error
		if msg, err = c.Connection.Read(ctx); err != nil {
			return msg, err
		}
		c.tap(WireReceived, msg)
	}
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.Method == methodElicit {
			kept := *m
			kept.Params = c.keeper.rawParams(m.Params)
			return &kept, nil
		}
	case *jsonrpc.Response:
		c.mu.Lock()
		call := c.calls[m.ID]
		delete(c.calls, m.ID)
		c.mu.Unlock()
		if m.Error == nil {
			kept := *m
			kept.Result = c.keeper.rawResult(m.Result, call)
			return &kept, nil
		}
	}
	return msg, nil
}
