package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	methodListen       = "subscriptions/listen"
	notifyAcknowledged = "notifications/subscriptions/acknowledged"
	notifyTasks        = "notifications/tasks"
)

// relisten is the pause before a stream that ended is opened again. A variable for tests.
var relisten = 5 * time.Second

// A streamer opens streams of notifications (specification: basic/utilities/subscriptions). The SDK's client drops what it
// does not know of them, so they go past it.
type streamer interface {
	// stream sends subscriptions/listen with these params and tells got of what comes, until the stream or ctx ends.
	stream(ctx context.Context, params json.RawMessage, got func(method string, params []byte)) error
}

// listening listens to what the server tells of a task's changes, where it does (tasks extension, Task Status
// Notifications). That is a hint to look: it may get lost.
type listening struct {
	ctx      context.Context
	cancel   context.CancelFunc
	streamer streamer
	id       string

	opened bool
	done   sync.WaitGroup
	acked  atomic.Bool   // the server tells of changes, now
	wake   chan struct{} // has room for one
}

func (f *follower) listen(ctx context.Context) *listening {
	l := &listening{id: f.id, wake: make(chan struct{}, 1), streamer: f.keeper.streams.get()}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l
}

// open begins to listen. meta is that of another request of the session.
func (l *listening) open(meta json.RawMessage) {
	if l.opened || l.streamer == nil || meta == nil {
		return
	}
	l.opened = true
	params := append(append([]byte(`{"_meta":`), meta...), `,"notifications":{"taskIds":[`...)
	params = append(rawjson.AppendString(params, l.id), "]}}"...)
	l.done.Go(func() {
		for {
			offered := false
			_ = l.streamer.stream(l.ctx, params, func(method string, params []byte) { // A hint that does not come is no error.
				switch method {
				case notifyAcknowledged:
					filter, _ := rawjson.Get(params, "notifications")
					ids, _ := rawjson.Get(filter, "taskIds")
					for id := range rawjson.Elements(ids) {
						offered = offered || rawjson.NameIs(id, l.id)
					}
					l.acked.Store(offered)
				case notifyTasks:
					if id, _ := rawjson.Get(params, "taskId"); rawjson.NameIs(id, l.id) {
						select {
						case l.wake <- struct{}{}:
						default:
						}
					}
				}
			})
			l.acked.Store(false)
			if !offered || sleep(l.ctx, relisten) != nil {
				return
			}
		}
	})
}

// on reports whether the server tells of changes.
func (l *listening) on() bool { return l.acked.Load() }

func (l *listening) stop() {
	l.cancel()
	l.done.Wait()
}

// streams has a connection's streamer, once there is one. A nil *streams never has.
type streams struct {
	mu sync.Mutex
	s  streamer
}

func (s *streams) get() streamer {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.s
}

func (s *streams) set(to streamer) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s = to
}

// An httpStreamer opens streams over HTTP.
type httpStreamer struct {
	endpoint string
	client   *http.Client // with our transport
}

var lastStream atomic.Uint64

func streamID() string { return fmt.Sprintf("listen-%d", lastStream.Add(1)) }

func (s *httpStreamer) stream(ctx context.Context, params json.RawMessage, got func(string, []byte)) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": streamID(), "method": methodListen, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	meta, _ := rawjson.Get(params, "_meta")
	version, _ := rawjson.Get(meta, mcp.MetaKeyProtocolVersion)
	text, _ := rawjson.String(version)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", text)
	req.Header.Set("Mcp-Method", methodListen)
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media != "text/event-stream" || res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server does not stream: HTTP %d, %s", res.StatusCode, media)
	}
	_, err = io.Copy(io.Discard, &eventReader{body: res.Body, src: newLineReader(res.Body, maxMessage), pass: func(data []byte) []byte {
		if rawjson.Check(data, maxDepth) == nil {
			name, _ := rawjson.Get(data, "method")
			method, _ := rawjson.String(name)
			params, _ := rawjson.Get(data, "params")
			got(method, params)
		}
		return nil
	}})
	return err
}

// stream implements streamer over a connection that is not HTTP.
func (c *keepingConn) stream(ctx context.Context, params json.RawMessage, got func(string, []byte)) error {
	name := streamID()
	id, err := jsonrpc.MakeID(name)
	if err != nil {
		return err
	}
	s := &connStream{got: got, ended: make(chan struct{})}
	c.mu.Lock()
	if c.open == nil {
		c.open = map[string]*connStream{}
	}
	c.open[name] = s
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.open, name)
		c.mu.Unlock()
	}()
	req := &jsonrpc.Request{ID: id, Method: methodListen, Params: params}
	c.tap(WireSent, req)
	if err := c.Connection.Write(ctx, req); err != nil {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
	}
	cancelled := &jsonrpc.Request{Method: "notifications/cancelled", Params: json.RawMessage(fmt.Sprintf(`{"requestId":%q}`, name))}
	c.tap(WireSent, cancelled)
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return c.Connection.Write(out, cancelled)
}

// A connStream is a stream that is open on a connection that has others.
type connStream struct {
	got   func(method string, params []byte)
	ended chan struct{}
	once  sync.Once
}

// streamed takes a message that belongs to a stream of ours.
func (c *keepingConn) streamed(msg jsonrpc.Message) bool {
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.Method != notifyAcknowledged && m.Method != notifyTasks || m.IsCall() || rawjson.Check(m.Params, maxDepth) != nil {
			return false
		}
		meta, _ := rawjson.Get(m.Params, "_meta")
		id, _ := rawjson.Get(meta, mcp.MetaKeySubscriptionID)
		name, _ := rawjson.String(id)
		if s := c.streamOf(name); s != nil {
			s.got(m.Method, m.Params)
			return true
		}
	case *jsonrpc.Response:
		if name, ok := m.ID.Raw().(string); ok {
			if s := c.streamOf(name); s != nil {
				s.once.Do(func() { close(s.ended) })
				return true
			}
		}
	}
	return false
}

func (c *keepingConn) streamOf(name string) *connStream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[name]
}
