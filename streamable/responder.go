package streamable

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A responder is the ResponseWriter that the SDK's handler writes to. The SDK answers with an event stream; what comes
// out is JSON, unless an event comes before the response. It gives the response the client's id, and the status that
// belongs to its error.
type responder struct {
	stream   eventStream
	held, id json.RawMessage // the id that the SDK was given, and the client's
	exchange *wire.Exchange
	cursor   bool        // the request has a cursor, which the SDK does not name when it is wrong
	gone     func() bool // whether the client has gone

	mu       sync.Mutex
	header   http.Header
	status   int
	plain    []byte // a body that is no event
	answered bool
}

func (o *responder) Header() http.Header { return o.header }

func (o *responder) WriteHeader(status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status = status
}

// Flush does nothing: events are flushed as they are written.
func (o *responder) Flush() {}

func (o *responder) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answered {
		return len(p), nil
	}
	if !strings.HasPrefix(o.header.Get("Content-Type"), "text/event-stream") {
		o.plain = append(o.plain, p...)
		return len(p), nil
	}
	data, ok := eventData(p)
	if !ok { // a comment
		return len(p), nil
	}
	body, final, code := o.restore(data)
	if final {
		o.answer(code, body)
		return len(p), nil
	}
	if err := o.stream.event(body, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// answer writes the response.
func (o *responder) answer(code int64, body []byte) {
	o.answered = true
	if !o.stream.final(body) {
		writeJSON(o.stream.w, statusOf(code, o.exchange.Panicked()), body)
	}
}

// finish writes what has not been written when the SDK's handler returns.
func (o *responder) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.stream.close()
	if o.answered {
		return
	}
	if rawjson.Check(o.plain, rawjson.MaxDepth) == nil && rawjson.Kind(o.plain) == '{' {
		// The SDK writes some errors outside its event stream, even after that has begun.
		body, _, code := o.restore(o.plain)
		o.answer(code, body)
		return
	}
	if o.stream.started() || len(o.plain) == 0 && o.status == 0 {
		if o.gone() {
			return
		}
		// The session was closed under the request: by its handler, or by ServerOptions.KeepAlive, whose ping nobody answers.
		e := &wire.Error{Code: jsonrpc.CodeInternalError, Message: "the server closed the session of this request before it was answered"}
		o.answer(e.Code, e.Append(nil, o.id))
		return
	}
	e := &wire.Error{Status: o.status, Code: jsonrpc.CodeInvalidRequest, Message: strings.TrimSpace(string(o.plain))}
	if o.status >= 500 || o.status == 0 {
		e = &wire.Error{Status: http.StatusInternalServerError, Code: jsonrpc.CodeInternalError, Message: "internal error"}
	}
	o.answered = true
	writeJSON(o.stream.w, e.Status, e.Append(nil, o.id))
}

// restore gives a message the client's id, and reports whether it is the response, and its error's code.
func (o *responder) restore(msg []byte) (body []byte, final bool, code int64) {
	body = bytes.Replace(msg, append([]byte(`"id":`), o.held...), append([]byte(`"id":`), o.id...), 1)
	if bytes.Contains(body, o.held) { // the subscription id in _meta
		body = bytes.ReplaceAll(body, o.held, o.id)
	}
	if _, is := rawjson.Get(body, "method"); is {
		return wire.Restore(body), false, 0
	}
	failure, is := rawjson.Get(body, "error")
	if !is {
		return body, true, 0
	}
	var e jsonrpc.Error
	if json.Unmarshal(failure, &e) != nil {
		return body, true, jsonrpc.CodeInternalError
	}
	if e.Code == 0 { // the SDK's word for an error that is none of JSON-RPC
		x := wire.Error{Code: jsonrpc.CodeInternalError, Message: e.Message, Data: e.Data}
		return x.Append(nil, o.id), true, x.Code
	}
	if o.cursor && e.Code == jsonrpc.CodeInvalidParams && e.Message == "invalid params" {
		x := wire.Error{Code: e.Code, Message: "params.cursor is not one that this server gave"}
		return x.Append(nil, o.id), true, x.Code
	}
	return body, true, e.Code
}

// statusOf is the HTTP status of a response with that error, 0 for a result.
func statusOf(code int64, panicked bool) int {
	switch code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams, mcp.CodeHeaderMismatch,
		mcp.CodeMissingRequiredClientCapabilities, mcp.CodeUnsupportedProtocolVersion:
		return http.StatusBadRequest
	case jsonrpc.CodeInternalError:
		if panicked {
			return http.StatusInternalServerError
		}
	}
	return http.StatusOK
}

// eventData is the data of an event that the SDK wrote, which is always one line.
func eventData(event []byte) ([]byte, bool) {
	for line := range bytes.SplitSeq(event, []byte("\n")) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return data, true
		}
	}
	return nil, false
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	v := [...]string{"application/json", strconv.Itoa(len(body)), "no-store"}
	h["Content-Type"], h["Content-Length"], h["Cache-Control"] = v[0:1:1], v[1:2:2], v[2:3:3]
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}
