package streamable_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated logging (SEP-2577); clients use it while the SDK has it

const timeout = 20 * time.Second

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	m.Run()
}

// A field is one line of a header.
type field struct{ name, value string }

// A message is an HTTP request. The zero values of id, method, params and meta give those of a call of the tool echo.
// Their texts go out as they are.
type message struct {
	verb   string // of HTTP
	host   string
	header []field

	id, method string // JSON; the id may be empty
	params     string // members of params, but _meta
	meta       string // members of _meta, or "-" for no _meta
	body       string // the whole body, instead of these
}

const (
	metaVersion = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	metaCaps    = `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`
	metaBoth    = metaVersion + "," + metaCaps
)

// request is a request of 2026-07-28, as it should be. name is what Mcp-Name repeats, "" if there is none.
func request(method, name, params string) message {
	m := message{verb: "POST", host: "localhost", id: "1", method: `"` + method + `"`, params: params, meta: metaBoth,
		header: []field{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"},
			{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}}}
	if name != "" {
		m.header = append(m.header, field{"Mcp-Name", name})
	}
	return m
}

// tool is a call of a tool; more are further members of params.
func tool(name, more string) message {
	params := `"name":` + quote(name)
	if more != "" {
		params += "," + more
	}
	return request("tools/call", name, params)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// with replaces a header.
func (m message) with(name, value string) message {
	return m.without(name).and(name, value)
}

// without removes a header.
func (m message) without(name string) message {
	m.header = slices.DeleteFunc(slices.Clone(m.header), func(f field) bool { return strings.EqualFold(f.name, name) })
	return m
}

// and adds a header.
func (m message) and(name, value string) message {
	m.header = append(slices.Clone(m.header), field{name, value})
	return m
}

func (m message) withID(id string) message     { m.id = id; return m }
func (m message) withMeta(text string) message { m.meta = text; return m }
func (m message) withBody(text string) message { m.body = text; return m }
func (m message) withVerb(verb string) message { m.verb = verb; return m }
func (m message) withHost(host string) message { m.host = host; return m }
func (m message) withParams(p string) message  { m.params = p; return m }
func (m message) modern(version string) message { // in both places
	m.meta = strings.Replace(m.meta, "2026-07-28", version, 1)
	return m.with("MCP-Protocol-Version", version)
}

func (m message) text() string {
	if m.body != "" {
		return m.body
	}
	b := `{"jsonrpc":"2.0"`
	if m.id != "" {
		b += `,"id":` + m.id
	}
	b += `,"method":` + m.method
	params := m.params
	if m.meta != "-" {
		if params != "" {
			params += ","
		}
		params += `"_meta":{` + m.meta + `}`
	}
	return b + `,"params":{` + params + `}}`
}

// initialize opens a session of an older revision.
func initialize(version, capabilities string) message {
	m := legacy("", "", "initialize", `"protocolVersion":"`+version+`","capabilities":`+capabilities+`,"clientInfo":{"name":"old","version":"1"}`)
	return m
}

// legacy is a request of an older revision, in a session.
func legacy(version, session, method, params string) message {
	m := message{verb: "POST", host: "localhost", id: "1", method: `"` + method + `"`, params: params, meta: "-",
		header: []field{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}}}
	if version != "" {
		m = m.and("MCP-Protocol-Version", version)
	}
	if session != "" {
		m = m.and("Mcp-Session-Id", session)
	}
	return m
}

// A reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

// An exchange is a message under way, whose response has begun.
type exchange struct {
	t    *testing.T
	conn net.Conn
	res  *http.Response
	in   *bufio.Reader
}

// open sends a message over a connection of its own and waits for the header of the response.
func open(t *testing.T, addr string, m message) *exchange {
	t.Helper()
	x := send(t, addr, m)
	x.begin()
	return x
}

// send sends a message over a connection of its own.
func send(t *testing.T, addr string, m message) *exchange {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(timeout))
	body := ""
	if m.method != "" || m.body != "" {
		body = m.text()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s / HTTP/1.1\r\nHost: %s\r\n", m.verb, m.host)
	for _, f := range m.header {
		fmt.Fprintf(&b, "%s: %s\r\n", f.name, f.value)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	if _, err := io.WriteString(conn, b.String()); err != nil {
		t.Fatal(err)
	}
	return &exchange{t: t, conn: conn, in: bufio.NewReader(conn)}
}

func (x *exchange) begin() {
	x.t.Helper()
	res, err := http.ReadResponse(x.in, nil)
	if err != nil {
		x.t.Fatalf("no response: %v", err)
	}
	x.res = res
	x.in = bufio.NewReader(res.Body)
}

// all is the whole response.
func (x *exchange) all() reply {
	x.t.Helper()
	b, err := io.ReadAll(x.in)
	if err != nil {
		x.t.Fatal(err)
	}
	x.conn.Close()
	return reply{x.res.StatusCode, x.res.Header, string(b)}
}

// line is the next line of an event stream, without its end, and false when the stream has ended.
func (x *exchange) line() (string, bool) {
	x.t.Helper()
	s, err := x.in.ReadString('\n')
	if errors.Is(err, io.EOF) && s == "" {
		return "", false
	}
	if err != nil {
		x.t.Fatalf("the stream broke off after %q: %v", s, err)
	}
	return strings.TrimRight(s, "\r\n"), true
}

// event is the data of the next event, and false when the stream has ended. Comments are skipped.
func (x *exchange) event() (string, bool) {
	x.t.Helper()
	var data []string
	for {
		l, ok := x.line()
		if !ok {
			return "", false
		}
		if d, is := strings.CutPrefix(l, "data:"); is {
			data = append(data, strings.TrimPrefix(d, " "))
		}
		if l == "" && data != nil {
			return strings.Join(data, "\n"), true
		}
	}
}

// mustEvent is the next event.
func (x *exchange) mustEvent() any {
	x.t.Helper()
	e, ok := x.event()
	if !ok {
		x.t.Fatal("the stream has ended")
	}
	return decode(x.t, e)
}

// do sends a message and reads the response.
func do(t *testing.T, addr string, m message) reply {
	t.Helper()
	return open(t, addr, m).all()
}

func decode(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("bytes after the value: %s", text)
	}
	return v
}

// at is the member of v that path names, or nil.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

// rawID is the id member of a message, as it is written there; "" if there is none.
func rawID(t *testing.T, text string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	return string(m["id"])
}

// A refusal is a JSON-RPC error that a message should get.
type refusal struct {
	status int
	code   string
	id     string   // digit for digit; "" if the member must be left out
	words  []string // what the message must name
}

// wantRefusal checks an error reply.
func wantRefusal(t *testing.T, r reply, want refusal) {
	t.Helper()
	if r.status != want.status {
		t.Errorf("got status %d, want %d", r.status, want.status)
	}
	if ct := r.header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type is %q", ct)
	}
	if !json.Valid([]byte(r.body)) {
		t.Fatalf("the body is not JSON: %q", r.body)
	}
	wantErrorMessage(t, r.body, want)
}

// wantErrorMessage checks a JSON-RPC error, wherever it came from.
func wantErrorMessage(t *testing.T, text string, want refusal) {
	t.Helper()
	v := decode(t, text)
	if at(v, "jsonrpc") != "2.0" {
		t.Errorf("jsonrpc is %v", at(v, "jsonrpc"))
	}
	if got := fmt.Sprint(at(v, "error", "code")); got != want.code {
		t.Errorf("got code %s, want %s", got, want.code)
	}
	if got := rawID(t, text); got != want.id {
		t.Errorf("got id %s, want %s", got, want.id)
	}
	message, _ := at(v, "error", "message").(string)
	for _, w := range want.words {
		if !strings.Contains(message, w) {
			t.Errorf("the message %q does not name %q", message, w)
		}
	}
	if message == "" {
		t.Error("there is no message")
	}
	if t.Failed() {
		t.Logf("body: %s", text)
	}
}

// wantOK checks a reply with a result, and returns the result.
func wantOK(t *testing.T, r reply) any {
	t.Helper()
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/json" {
		t.Fatalf("got status %d, %s: %s", r.status, r.header.Get("Content-Type"), r.body)
	}
	v := decode(t, r.body)
	if at(v, "result") == nil {
		t.Fatalf("no result: %s", r.body)
	}
	return at(v, "result")
}

// wantText checks a reply whose result is one text.
func wantText(t *testing.T, r reply, text string) {
	t.Helper()
	result := wantOK(t, r)
	content, _ := at(result, "content").([]any)
	if at(result, "resultType") != "complete" || len(content) != 1 || at(content[0], "text") != text {
		t.Errorf("got %s, want the text %q", r.body, text)
	}
}

// wantAccepted checks the reply to a notification.
func wantAccepted(t *testing.T, r reply) {
	t.Helper()
	if r.status != http.StatusAccepted || r.body != "" {
		t.Errorf("got status %d and body %q, want 202 and none", r.status, r.body)
	}
}

func wantEqual(t *testing.T, what string, got any, want string) {
	t.Helper()
	if w := decode(t, want); !reflect.DeepEqual(got, w) {
		g, _ := json.Marshal(got)
		t.Errorf("%s is %s, want %s", what, g, want)
	}
}

// A site is a server behind a handler on a loopback socket.
type site struct {
	addr    string
	server  *mcp.Server
	started chan struct{} // the tool wait has begun
	ended   chan struct{} // …and its context has ended
	free    chan struct{} // lets the tool hold go on
	logs    *logBuffer
}

// newSite serves a server with the tools, prompts and resources that these tests need.
func newSite(t *testing.T, opts *streamable.Options) *site {
	t.Helper()
	s := newServer()
	s.listen(t, opts, nil)
	return s
}

// listen serves the site's server; wrap may add to the handler.
func (s *site) listen(t *testing.T, opts *streamable.Options, wrap func(http.Handler) http.Handler) {
	t.Helper()
	var o streamable.Options
	if opts != nil {
		o = *opts
	}
	s.logs = &logBuffer{}
	o.Logger = slog.New(slog.NewTextHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var h http.Handler = streamable.NewHandler(s.server, &o)
	if wrap != nil {
		h = wrap(h)
	}
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.addr = server.Listener.Addr().String()
}

type place struct {
	Name string `json:"name"`
}

var (
	ship  = elicit.NewQuestion[place]("ship", "Ship this order")
	greet = elicit.NewQuestion[place]("greet", "Greet whom")
	read  = elicit.NewQuestion[place]("read", "Read what")
)

const sqlSchema = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"limit":{"type":"integer","x-mcp-header":"Limit"},
	"dry":{"type":"boolean","x-mcp-header":"Dry"},
	"filter":{"type":"object","properties":{"tenant":{"type":"string","x-mcp-header":"Tenant"}}},
	"query":{"type":"string"}}}`

func newServer() *site {
	server := mcp.NewServer(&mcp.Implementation{Name: "site", Version: "1.0.0"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	s := &site{server: server, started: make(chan struct{}, 8), ended: make(chan struct{}, 8), free: make(chan struct{})}
	shop := elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	raw := func(name, schema string, f func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, f)
	}
	const anything = `{"type":"object"}`
	echo := func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return elicit.Text("echo " + string(r.Params.Arguments)), nil
	}
	raw("echo", anything, echo)
	raw("execute_sql", sqlSchema, echo)
	raw("größe", anything, echo)
	raw("a b", anything, echo)
	raw("=?base64?Zm9v?=", anything, echo) // foo, encoded
	raw("=?base64?literal?=", anything, echo)
	raw("fail", anything, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("the warehouse is closed")
	})
	raw("panic", anything, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret detail") })
	raw("swallow", anything, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, _ = ship.Require(ctx)
		return elicit.Text("shipped anyway"), nil
	})
	progress := func(ctx context.Context, r *mcp.CallToolRequest, n int) {
		for i := range n {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1)})
		}
	}
	raw("progress", anything, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		progress(ctx, r, 2)
		return elicit.Text("done"), nil
	})
	raw("progress_fail", anything, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		progress(ctx, r, 1)
		return nil, errors.New("the warehouse is closed")
	})
	raw("progress_panic", anything, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		progress(ctx, r, 1)
		panic("secret detail")
	})
	raw("progress_ask", anything, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		progress(ctx, r, 1)
		_, err := ship.Require(ctx)
		return nil, err
	})
	raw("progress_hold", anything, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		progress(ctx, r, 1)
		select {
		case <-s.free:
		case <-ctx.Done():
		}
		return elicit.Text("done"), nil
	})
	raw("log", anything, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		logPacking(ctx, r)
		return elicit.Text("done"), nil
	})
	raw("wait", anything, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.started <- struct{}{}
		<-ctx.Done()
		s.ended <- struct{}{}
		return nil, ctx.Err()
	})
	mcp.AddTool(server, &mcp.Tool{Name: "typed"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("the warehouse is closed")
	})
	elicit.AddTool(shop, &mcp.Tool{Name: "ship"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := ship.Require(ctx)
		if err != nil {
			return nil, nil, err
		}
		if v, ok := a.Value(); ok {
			return elicit.Text("Shipped as " + v.Name + "."), nil, nil
		}
		return elicit.Text("Shipping cancelled."), nil, nil
	}, elicit.Asks(ship))
	elicit.AddTool(shop, &mcp.Tool{Name: "twice"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := ship.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		b, err := greet.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		return elicit.Text(a.Name + " and " + b.Name), nil, nil
	})
	elicit.AddPrompt(shop, &mcp.Prompt{Name: "greet"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		v, err := greet.Value(ctx)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + v.Name}}}}, nil
	}, elicit.Asks(greet))
	server.AddPrompt(&mcp.Prompt{Name: "panic"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { panic("secret detail") })
	elicit.AddResource(shop, &mcp.Resource{URI: "file:///read", Name: "read"}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		v, err := read.Value(ctx)
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: v.Name}}, Cacheable: mcp.Cacheable{TTLMs: 60_000}}, nil
	}, elicit.Asks(read))
	server.AddResource(&mcp.Resource{URI: "file:///größe", Name: "size"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "big"}}}, nil
	})
	return s
}

// bareSite serves a server that elicit.New was not given.
func bareSite(t *testing.T, opts *streamable.Options) *site {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1.0.0"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	schema := json.RawMessage(`{"type":"object"}`)
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return elicit.Text("echo"), nil
	})
	server.AddTool(&mcp.Tool{Name: "fail", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("the warehouse is closed")
	})
	server.AddTool(&mcp.Tool{Name: "panic", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("secret detail")
	})
	s := &site{server: server}
	s.listen(t, opts, nil)
	return s
}

// warm makes the handler look at the server's tools, which it does when they are called again.
func warm(t *testing.T, s *site) {
	t.Helper()
	for range 2 {
		wantText(t, do(t, s.addr, tool("echo", "")), "echo ")
	}
}

// bothWays are a message, and the same one with a log level, which does not take the express path.
func bothWays(m message) []message {
	slow := m
	if m.meta == metaBoth {
		slow.meta += `,"io.modelcontextprotocol/logLevel":"emergency"`
	}
	return []message{m, slow}
}

// wait waits for a signal, for a bounded time.
func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(timeout):
		t.Fatalf("waited in vain: %s", what)
	}
}

// logBuffer collects a log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
