package answer

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage bounds one message of a server, in bytes. A variable for tests.
var maxMessage = 32 << 20

// A roundTripper stands between the SDK's streamable client and the network: it corrects headers, adds the caller's,
// shows both directions to the wire tap and keeps what the SDK would lose of the bodies.
type roundTripper struct {
	next   http.RoundTripper // nil: http.DefaultTransport
	keeper keeper
	origin *url.URL    // where header may go; nil: nowhere
	header http.Header // the caller's
	wire   func(WireMessage)

	exchange atomic.Int64
	mu       sync.Mutex
	connect  context.Context // while connecting: ends requests that the SDK does not bind to it
}

// nameParam is the member of params that Mcp-Name mirrors (specification: basic/transports/streamable-http, Standard
// Request Headers; the tasks extension adds its own).
var nameParam = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
}

func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := takeBody(req)
	if err != nil {
		return nil, err
	}
	ctx, bound := t.bind(req.Context())
	req = req.Clone(ctx)
	if body != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.ContentLength = int64(len(body))
	}
	setName(req.Header, body)
	if t.origin != nil && sameOrigin(req.URL, t.origin) {
		for name, values := range t.header {
			req.Header[name] = values
		}
	}
	c := callOf(req.Context())
	id := "" // The event stream of older protocols carries what belongs to any request.
	switch {
	case c != nil:
		c.connected(&t.keeper)
		id = c.id
	case req.Method == http.MethodPost:
		id = noCall
	}

	n := int(t.exchange.Add(1))
	t.tap(WireMessage{Exchange: n, Kind: WireRequest, Method: req.Method, URL: req.URL.String(), Header: req.Header.Clone(), Body: body})
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(req)
	bound()
	if err != nil {
		t.tap(WireMessage{Exchange: n, Kind: WireFailure, Body: []byte(err.Error())})
		noteFault(ctx, err)
		return nil, err
	}
	head := WireMessage{Exchange: n, Kind: WireResponse, Status: res.StatusCode, Header: res.Header.Clone()}
	switch media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media {
	case "text/event-stream":
		t.tap(head)
		noteFault(ctx, nil)
		res.Body = &eventReader{
			body: res.Body, src: newLineReader(res.Body, maxMessage),
			pass: func(data []byte) []byte {
				t.tap(WireMessage{Exchange: n, Kind: WireEvent, Body: data})
				return t.keeper.message(data, c, id)
			},
			fail: func(err error) {
				t.tap(WireMessage{Exchange: n, Kind: WireFailure, Body: []byte(err.Error())})
				if c != nil {
					c.broke(err)
				}
			},
		}
	default:
		data, err := io.ReadAll(io.LimitReader(res.Body, int64(maxMessage)+1))
		res.Body.Close()
		if err == nil && len(data) > maxMessage {
			err = tooLarge()
		}
		if err != nil {
			t.tap(WireMessage{Exchange: n, Kind: WireFailure, Body: []byte(err.Error())})
			err = fmt.Errorf("reading the server's response: %w", err)
			if c != nil && req.Context().Err() == nil {
				c.broke(err)
			}
			noteFault(ctx, err)
			return nil, err
		}
		head.Body = data
		t.tap(head)
		if e := statusError(res.StatusCode, media, data); req.Method == http.MethodPost && e != nil {
			noteFault(ctx, e)
			if c != nil && c.task {
				return nil, errors.New(e.Error()) // Not e, which is to wrap what the SDK makes of this.
			}
		} else {
			noteFault(ctx, nil)
		}
		if c != nil && c.task {
			if _, err := jsonrpc.DecodeMessage(data); err != nil || media != "application/json" && res.StatusCode < 300 {
				err = fmt.Errorf("the server answered with something else than a message of MCP: %d bytes of %q", len(data), PlainLine(media))
				noteFault(ctx, err)
				return nil, err
			}
		}
		if media == "application/json" && res.StatusCode < 300 {
			data = t.keeper.message(data, c, id)
		}
		res.Body = io.NopCloser(bytes.NewReader(data))
		res.ContentLength = int64(len(data))
		res.Header.Del("Content-Length")
	}
	return res, nil
}

func tooLarge() error {
	return fmt.Errorf("the server's message is longer than %d MiB", maxMessage>>20)
}

func (t *roundTripper) tap(m WireMessage) {
	if t.wire != nil {
		t.wire(m)
	}
}

// bind ends ctx when connecting is given up. The SDK opens the event stream of older protocols in the background
// context of the connection and waits for it, which a silent server could draw out for ever. The function it returns is
// to be called when the response has begun.
func (t *roundTripper) bind(ctx context.Context) (context.Context, func()) {
	t.mu.Lock()
	connect := t.connect
	t.mu.Unlock()
	if connect == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(connect, func() { cancel(context.Cause(connect)) })
	return ctx, func() { stop() }
}

// connecting sets the context that bounds the requests made until the function it returns is called.
func (t *roundTripper) connecting(ctx context.Context) (connected func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.connect = ctx
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.connect = nil
	}
}

func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

// setName makes Mcp-Name carry what the body says, for the methods and protocol versions that have it.
func setName(h http.Header, body []byte) {
	method := h.Get("Mcp-Method") // The SDK sets it from 2026-07-28 on.
	member, ok := nameParam[method]
	if !ok {
		return
	}
	params, _ := rawjson.Get(body, "params")
	value, _ := rawjson.Get(params, member)
	if name, ok := rawjson.String(value); ok {
		h.Set("Mcp-Name", headerValue(name))
	}
}

// headerValue encodes s as a header value: as it is when that is safe, else in Base64 between markers (specification:
// basic/transports/streamable-http, Value Encoding).
func headerValue(s string) string {
	const prefix, suffix = "=?base64?", "?="
	safe := s == strings.Trim(s, " \t") && !(strings.HasPrefix(s, prefix) && strings.HasSuffix(s, suffix))
	for i := 0; i < len(s) && safe; i++ {
		safe = ' ' <= s[i] && s[i] <= '~' || s[i] == '\t'
	}
	if safe {
		return s
	}
	return prefix + base64.StdEncoding.EncodeToString([]byte(s)) + suffix
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if strings.EqualFold(u.Scheme, "https") {
		return "443"
	}
	return "80"
}

// stayPut refuses redirects that would carry a call, its answers and its credentials elsewhere, or lose its body.
func stayPut(req *http.Request, via []*http.Request) error {
	first := via[0]
	if sameOrigin(req.URL, first.URL) && req.Method == first.Method && len(via) < 10 {
		return nil
	}
	target := *req.URL
	target.User, target.RawQuery, target.Fragment = nil, "", ""
	err := errors.New("the server redirects to " + PlainLine(target.String()) + ": use that address if you trust it")
	noteFault(req.Context(), err)
	return err
}
