package wire

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Quiet connection is one end of a session that has no other end: what the session sends goes to a function, which may
// answer. It is its own transport.
//
// It never blocks the sender and never fails, as an error would end the session for everybody who shares it.
type Quiet struct {
	// Sent is given each message that the session sends, with the context of the sender.
	Sent func(ctx context.Context, msg jsonrpc.Message)
	// Closed is called, once, when the session has been closed.
	Closed func()

	mu     sync.Mutex
	queue  []jsonrpc.Message
	ready  chan struct{} // has room for one
	ended  bool
	end    chan struct{}
	inited bool
}

func (q *Quiet) init() {
	if !q.inited {
		q.inited, q.ready, q.end = true, make(chan struct{}, 1), make(chan struct{})
	}
}

// Connect implements mcp.Transport.
func (q *Quiet) Connect(context.Context) (mcp.Connection, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.init()
	return q, nil
}

// Deliver gives the session a message.
func (q *Quiet) Deliver(msg jsonrpc.Message) {
	q.mu.Lock()
	q.init()
	q.queue = append(q.queue, msg)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Read implements mcp.Connection.
func (q *Quiet) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		q.mu.Lock()
		if len(q.queue) > 0 {
			msg := q.queue[0]
			q.queue = q.queue[1:]
			q.mu.Unlock()
			return msg, nil
		}
		q.mu.Unlock()
		select {
		case <-q.ready:
		case <-q.end:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Write implements mcp.Connection. A request of the server's, such as a ping, is answered with "method not found".
func (q *Quiet) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		q.Deliver(&jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client answers no requests"}})
		return nil
	}
	if q.Sent != nil {
		q.Sent(ctx, msg)
	}
	return nil
}

// Close implements mcp.Connection.
func (q *Quiet) Close() error {
	q.mu.Lock()
	q.init()
	again := q.ended
	q.ended = true
	q.mu.Unlock()
	if !again {
		close(q.end)
		if q.Closed != nil {
			q.Closed()
		}
	}
	return nil
}

// SessionID implements mcp.Connection.
func (q *Quiet) SessionID() string { return "" }

// A Watcher keeps an eye on a server's tools, in process.
type Watcher struct {
	q       Quiet
	session *mcp.ServerSession
	changed func(tools []json.RawMessage, follows bool)
	inbox   chan *jsonrpc.Response
	told    chan struct{} // the server has told that they changed, or that it will
	asked   chan struct{}
	done    chan struct{}
}

// Watch begins to watch. Changed is called with nil when the tools may have changed, and with their list as soon as it is
// known; never concurrently. Follows is false if the server does not tell of changes: ask for them with Refresh.
func Watch(server *mcp.Server, changed func(tools []json.RawMessage, follows bool)) (*Watcher, error) {
	w := &Watcher{changed: changed, inbox: make(chan *jsonrpc.Response, 8), told: make(chan struct{}, 1), asked: make(chan struct{}, 1), done: make(chan struct{})}
	w.q.Sent = w.sent
	ss, err := server.Connect(context.Background(), &w.q, nil)
	if err != nil {
		return nil, err
	}
	w.session = ss
	go w.run()
	return w, nil
}

// Stop ends the watching.
func (w *Watcher) Stop() {
	close(w.done)
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
	case *jsonrpc.Response:
		select {
		case w.inbox <- m:
		case <-w.done:
		default: // one request is under way at a time, so there is room
		}
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

const watchMeta = `"_meta":{"` + mcp.MetaKeyProtocolVersion + `":"` + Modern + `","` + mcp.MetaKeyClientCapabilities + `":{}}`

func (w *Watcher) call(id, method, params string) {
	n, _ := jsonrpc.MakeID(id)
	w.q.Deliver(&jsonrpc.Request{ID: n, Method: method, Params: json.RawMessage("{" + params + watchMeta + "}")})
}

func (w *Watcher) run() {
	w.call("listen", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`)
	follows := false
	w.list(follows)
	for {
		select {
		case <-w.told:
			follows = true
			w.changed(nil, follows)
			w.list(follows)
		case <-w.asked:
			w.list(follows)
		case m := <-w.inbox:
			if m.ID.Raw() == "listen" {
				follows = false
			}
		case <-w.done:
			return
		}
	}
}

// list reads all pages of the list.
func (w *Watcher) list(follows bool) {
	var tools []json.RawMessage
	cursor := ""
	for range 1000 {
		params := ""
		if cursor != "" {
			c, _ := json.Marshal(cursor)
			params = `"cursor":` + string(c) + ","
		}
		w.call("list", "tools/list", params)
		m := w.response("list")
		if m == nil {
			return
		}
		if m.Error != nil { // such as a middleware that wants a user
			w.changed(nil, follows)
			return
		}
		var page struct {
			Tools []json.RawMessage `json:"tools"`
			Next  string            `json:"nextCursor"`
		}
		if json.Unmarshal(m.Result, &page) != nil {
			return
		}
		tools = append(tools, page.Tools...)
		if cursor = page.Next; cursor == "" {
			if tools == nil {
				tools = []json.RawMessage{}
			}
			w.changed(tools, follows)
			return
		}
	}
}

func (w *Watcher) response(id string) *jsonrpc.Response {
	for {
		select {
		case m := <-w.inbox:
			if m.ID.Raw() == id {
				return m
			}
		case <-w.done:
			return nil
		}
	}
}
