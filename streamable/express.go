package streamable

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What calls something of the server's, in 2026-07-28, takes an express path: the body is read once, and the server's own
// chain of middleware and its tool are called with what was read, in the goroutine of the HTTP request. The SDK's handler
// would decode the body five times, and build a session and a JSON-RPC connection for each request.

// express serves a request whose envelope, version, headers and params were checked. What it does not fully understand is
// left to the SDK's handler.
func (h *Handler) express(w http.ResponseWriter, r *http.Request, m *wire.Message, p *place, request wire.Custom, extra *mcp.RequestExtra, s *sharedSession) {
	out := &expressResponse{stream: eventStream{w: w, every: h.opts.KeepAlive, patience: h.opts.patience}}
	defer out.stream.close() // whatever happens: nothing may be written when the response has ended
	out.exchange.Notify = out.notify
	extra.CloseSSEStream = func(mcp.CloseSSEStreamArgs) {} // nothing to resume in this revision
	out.exchange.Keep = func() func() {
		p.sessions.keep(s)
		return func() { p.sessions.put(s) }
	}
	req := request(s.ss, extra, meta(s, m), m)
	buf := buffers.Get().(*[]byte)
	body := append(append(append((*buf)[:0], `{"jsonrpc":"2.0","id":`...), m.ID...), `,"result":`...)
	body, err := h.call(body, out, r, p, m, req)
	code := int64(0)
	if err != nil {
		e := wire.ErrorOf(err)
		body, code = e.Append(body[:0], m.ID), e.Code
	} else {
		body = append(body, '}')
	}
	out.end(code, body)
	if cap(body) <= maxBuffer {
		*buf = body
		buffers.Put(buf)
	}
}

// toolRequest makes the requests of calls of a tool. Params were checked.
func toolRequest(name string) wire.Custom {
	return func(session *mcp.ServerSession, extra *mcp.RequestExtra, meta mcp.Meta, m *wire.Message) mcp.Request {
		return &mcp.CallToolRequest{Session: session, Extra: extra, Params: &mcp.CallToolParamsRaw{
			Meta:           meta,
			Name:           name,
			Arguments:      m.Param("arguments"),
			InputResponses: m.InputResponses(),
			RequestState:   text(m, "requestState"),
		}}
	}
}

// The requests of methods that need no look at what the server has.
var expressed = map[string]wire.Custom{
	"prompts/get": func(session *mcp.ServerSession, extra *mcp.RequestExtra, meta mcp.Meta, m *wire.Message) mcp.Request {
		p := &mcp.GetPromptParams{Meta: meta, Name: text(m, "name"), InputResponses: m.InputResponses(), RequestState: text(m, "requestState")}
		if raw := m.Param("arguments"); rawjson.Kind(raw) == '{' {
			p.Arguments = map[string]string{}
			for name, value := range rawjson.Members(raw) {
				n, _ := rawjson.String(name)
				p.Arguments[n], _ = rawjson.String(value)
			}
		}
		return &mcp.GetPromptRequest{Session: session, Extra: extra, Params: p}
	},
	"resources/read": func(session *mcp.ServerSession, extra *mcp.RequestExtra, meta mcp.Meta, m *wire.Message) mcp.Request {
		return &mcp.ReadResourceRequest{Session: session, Extra: extra, Params: &mcp.ReadResourceParams{
			Meta:           meta,
			URI:            text(m, "uri"),
			InputResponses: m.InputResponses(),
			RequestState:   text(m, "requestState"),
		}}
	},
}

// text is a member of the params that is a string, or "".
func text(m *wire.Message, name string) string {
	s, _ := rawjson.String(m.Param(name))
	return s
}

// called is the name of what a request names.
func (h *Handler) called(m *wire.Message) string { return text(m, h.names[m.Method]) }

// buffers are those of responses, which are written before express returns.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 64 << 10

// call runs the server's chain as it is now, and appends the result, whose encoding may be a handler's too.
func (h *Handler) call(b []byte, out *expressResponse, r *http.Request, p *place, m *wire.Message, req mcp.Request) (_ []byte, err error) {
	ctx := out.exchange.In(r.Context())
	defer func() {
		if x := recover(); x != nil {
			h.opts.Logger.ErrorContext(ctx, "streamable: handler panicked", "method", m.Method, "name", h.called(m), "panic", x, "stack", string(debug.Stack()))
			wire.Panicked(ctx)
			err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
		}
	}()
	res, err := wire.Chain(p.server)(ctx, m.Method, req)
	if err != nil {
		return b, err
	}
	return appendResult(b, res, p.info.Server)
}

// meta is the _meta of a request: what it has in common with others of its session is decoded once, and copied, as a
// middleware may change it.
func meta(s *sharedSession, m *wire.Message) mcp.Meta {
	members := m.MetaMembers()
	out := make(mcp.Meta, len(members))
	for i := range s.meta {
		if t := &s.meta[i]; t.name != "" {
			out[t.name] = t.clone()
		}
	}
	if len(members) == len(out) {
		return out
	}
	for i := range members {
		if x := &members[i]; !slices.ContainsFunc(sharedMeta[:], x.Is) {
			name, _ := rawjson.String(x.Name)
			out[name] = wire.Decode(x.Value)
		}
	}
	return out
}

// A template is a JSON value that is copied often. Thousands of clients have theirs, so it is small, and little work for
// the garbage collector.
type template struct {
	name  string     // in its object
	value any        // as wire.Decode decodes it; nil for objects and arrays
	parts []template // of an object or array
	kind  byte       // as rawjson.Kind says
}

func newTemplate(name string, raw json.RawMessage) template {
	t := template{name: name, kind: rawjson.Kind(raw)}
	switch t.kind {
	case '{':
		for name, value := range rawjson.Members(raw) {
			n, _ := rawjson.String(name)
			t.parts = append(t.parts, newTemplate(n, value))
		}
	case '[':
		for e := range rawjson.Elements(raw) {
			t.parts = append(t.parts, newTemplate("", e))
		}
	default:
		t.value = wire.Decode(raw)
	}
	t.parts = slices.Clip(t.parts)
	return t
}

// clone is a copy that shares nothing with others.
func (t *template) clone() any {
	switch t.kind {
	case '{':
		m := make(map[string]any, len(t.parts))
		for i := range t.parts {
			m[t.parts[i].name] = t.parts[i].clone()
		}
		return m
	case '[':
		a := make([]any, len(t.parts))
		for i := range t.parts {
			a[i] = t.parts[i].clone()
		}
		return a
	}
	return t.value
}

var errNoResult = errors.New("server bug: the tool returned neither a result nor an error")

// appendResult encodes a result as the SDK does, with the server's name in its _meta.
func appendResult(b []byte, res mcp.Result, serverInfo json.RawMessage) ([]byte, error) {
	if wire.IsNil(res) {
		return b, errNoResult
	}
	switch r := res.(type) {
	case wire.Appender:
		return r.AppendResult(b, serverInfo)
	case *mcp.CallToolResult:
		if out, ok := appendTexts(b, r, serverInfo); ok {
			return out, nil
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(res); err != nil {
		return b, errors.New("server bug: the result cannot be encoded: " + err.Error())
	}
	raw := bytes.TrimSpace(buf.Bytes())
	if rawjson.Kind(raw) != '{' {
		return b, errNoResult
	}
	return wire.AppendWithServerInfo(b, raw, serverInfo), nil
}

// appendTexts encodes a result that is all text, and maybe JSON that is already encoded.
func appendTexts(b []byte, r *mcp.CallToolResult, serverInfo json.RawMessage) ([]byte, bool) {
	if len(r.Meta) > 0 || r.InputRequests != nil || r.RequestState != "" || r.NeedsInput() || len(r.Content) == 0 {
		return b, false
	}
	structured, encoded := r.StructuredContent.(json.RawMessage)
	if r.StructuredContent != nil && (!encoded || rawjson.Check(structured, 1000) != nil) {
		return b, false
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); !ok || t == nil || t.Annotations != nil || len(t.Meta) > 0 {
			return b, false
		}
	}
	b = append(b, '{')
	if serverInfo != nil {
		b = append(append(append(b, `"_meta":{"`+mcp.MetaKeyServerInfo+`":`...), serverInfo...), "},"...)
	}
	b = append(b, `"content":[`...)
	for i, c := range r.Content {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(append(b, `{"type":"text","text":`...), c.(*mcp.TextContent).Text)
		b = append(b, '}')
	}
	b = append(b, ']')
	if encoded {
		b = rawjson.Compact(append(b, `,"structuredContent":`...), structured)
	}
	if r.IsError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, `,"resultType":"complete"}`...), true
}

// expressResponse is the response to one request.
type expressResponse struct {
	exchange wire.Exchange
	stream   eventStream
}

// notify sends a notification in the request's response, which becomes an event stream.
func (o *expressResponse) notify(method string, params json.RawMessage) {
	b := append([]byte(nil), `{"jsonrpc":"2.0","method":`...)
	b = rawjson.AppendString(b, method)
	if len(params) > 0 {
		b = append(append(b, `,"params":`...), params...)
	}
	_ = o.stream.event(append(b, '}'), false) // the client may have gone
}

// netBuffer is how much net/http takes without waiting for the client, in bytes.
const netBuffer = 4 << 10

// end writes the response.
func (o *expressResponse) end(code int64, body []byte) {
	if !o.stream.final(body) {
		if len(body) > netBuffer {
			_ = http.NewResponseController(o.stream.w).SetWriteDeadline(time.Now().Add(o.stream.patience))
		}
		writeJSON(o.stream.w, statusOf(code, o.exchange.Panicked()), body)
	}
}
