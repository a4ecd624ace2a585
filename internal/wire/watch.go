package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Watcher keeps an eye on a server's tools, in process.
type Watcher struct {
	q       Quiet
	session *mcp.ServerSession
	server  *mcp.Server
	changed func(tools []*mcp.Tool, follows bool)
	ended   chan struct{} // the server tells no more
	told    chan struct{} // the server has told that they changed, or that it will
	asked   chan struct{}
	ctx     context.Context // ends with the watching
	stop    context.CancelFunc
}

// Watch begins to watch. Changed is called with nil when the tools may have changed, and with their list as soon as it is
// known; never concurrently. Follows is false if the server does not tell of changes: ask for them with Refresh.
func Watch(server *mcp.Server, changed func(tools []*mcp.Tool, follows bool)) (*Watcher, error) {
	w := &Watcher{server: server, changed: changed, ended: make(chan struct{}, 1), told: make(chan struct{}, 1), asked: make(chan struct{}, 1)}
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.q.Sent = w.sent
	ss, err := server.Connect(w.ctx, &w.q, nil)
	if err != nil {
		w.stop()
		return nil, err
	}
	w.session = ss
	go w.run()
	return w, nil
}

// Stop ends the watching.
func (w *Watcher) Stop() {
	w.stop()
	_ = w.session.Close()
}

// Refresh lists the tools again, soon.
func (w *Watcher) Refresh() { poke(w.asked) }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sent must not block: it runs where the server sends.
func (w *Watcher) sent(_ context.Context, msg jsonrpc.Message) {
	switch m := msg.(type) {
	case *jsonrpc.Response: // to the one request that was sent
		poke(w.ended)
	case *jsonrpc.Request:
		if m.Method == "notifications/tools/list_changed" || m.Method == "notifications/subscriptions/acknowledged" {
			var p struct {
				Notifications struct {
					Tools bool `json:"toolsListChanged"`
				} `json:"notifications"`
			}
			if m.Method == "notifications/subscriptions/acknowledged" && (json.Unmarshal(m.Params, &p) != nil || !p.Notifications.Tools) {
				return
			}
			poke(w.told)
		}
	}
}

func (w *Watcher) run() {
	id, _ := jsonrpc.MakeID("listen")
	w.q.Deliver(&jsonrpc.Request{ID: id, Method: "subscriptions/listen", Params: json.RawMessage(
		`{"notifications":{"toolsListChanged":true},"_meta":{"` + mcp.MetaKeyProtocolVersion + `":"` + Modern + `","` + mcp.MetaKeyClientCapabilities + `":{}}}`)})
	follows := false
	select {
	case <-w.told: // then the list misses nothing
		follows = true
	case <-w.ended:
	case <-time.After(time.Second): // some middleware holds the request
	case <-w.ctx.Done():
		return
	}
	w.list(follows)
	for {
		select {
		case <-w.told:
			follows = true
			w.changed(nil, follows)
			w.list(follows)
		case <-w.asked:
			w.list(follows)
		case <-w.ended:
			follows = false
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *Watcher) list(follows bool) {
	tools, err := ListTools(w.ctx, w.server, w.session)
	if err != nil { // such as a middleware that wants a user
		tools = nil
	}
	w.changed(tools, follows)
}

// ListTools lists all tools of a server, in process, through its middleware. The list is not encoded.
func ListTools(ctx context.Context, server *mcp.Server, session *mcp.ServerSession) (_ []*mcp.Tool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("listing the tools panicked: %v", r)
		}
	}()
	chain := Chain(server)
	ctx = (&Exchange{Notify: func(string, json.RawMessage) {}}).In(ctx)
	tools := []*mcp.Tool{}
	cursor := ""
	for range 1000 {
		res, err := chain(ctx, "tools/list", &mcp.ListToolsRequest{Session: session, Extra: &mcp.RequestExtra{}, Params: &mcp.ListToolsParams{
			Meta: mcp.Meta{mcp.MetaKeyProtocolVersion: Modern, mcp.MetaKeyClientCapabilities: map[string]any{}}, Cursor: cursor}})
		if err != nil {
			return nil, err
		}
		page, ok := res.(*mcp.ListToolsResult)
		if !ok { // made by a middleware
			raw, err := json.Marshal(res)
			if err == nil {
				err = json.Unmarshal(raw, &page)
			}
			if err != nil {
				return nil, err
			}
		}
		if page == nil {
			return nil, errors.New("the server lists no tools")
		}
		tools = append(tools, page.Tools...)
		if cursor = page.NextCursor; cursor == "" {
			return tools, nil
		}
	}
	return nil, errors.New("the list of tools does not end")
}

// NoExpress makes the handlers that are made later leave every request to the SDK's handler, for tests that compare the two.
var NoExpress bool

// Chain is a server's middleware and what it ends in, as it is now.
func Chain(server *mcp.Server) (chain mcp.MethodHandler) {
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		chain = next
		return next
	})
	return chain
}
