package streamable

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// legacyResponder passes on what the SDK's handler writes, but for errors in plain text, which become JSON-RPC errors, and
// an id that the SDK would have changed.
type legacyResponder struct {
	http.ResponseWriter
	id              json.RawMessage
	opened          func(sessionID string)
	every, patience time.Duration

	mu      sync.Mutex
	status  int
	text    []byte
	started bool
	stop    chan struct{} // of the comments, if it is an event stream
}

func (h *Handler) legacyResponder(w http.ResponseWriter, id json.RawMessage) *legacyResponder {
	return &legacyResponder{ResponseWriter: w, id: id, every: h.opts.KeepAlive, patience: h.opts.patience}
}

func (o *legacyResponder) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o *legacyResponder) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.started && o.status == 0 {
		_ = http.NewResponseController(o.ResponseWriter).Flush()
	}
}

func (o *legacyResponder) WriteHeader(status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writeHeader(status)
}

func (o *legacyResponder) writeHeader(status int) {
	if o.started {
		return
	}
	o.started = true
	h := o.Header()
	if status >= 400 && strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		o.status = status
		return
	}
	if id := h.Get("Mcp-Session-Id"); id != "" && o.opened != nil {
		o.opened(id)
	}
	if strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") {
		h.Set("X-Accel-Buffering", "no")
		o.stop = make(chan struct{})
		go keepAlive(o.ResponseWriter, &o.mu, o.every, o.patience, o.stop)
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *legacyResponder) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writeHeader(http.StatusOK)
	if o.status != 0 {
		o.text = append(o.text, p...)
		return len(p), nil
	}
	// An event of the SDK comes in one piece.
	body := p
	if begin, data, ok := bytes.Cut(p, []byte("data: ")); ok && o.stop != nil {
		body = slices.Concat(begin, []byte("data: "), wire.Restore(data))
	} else {
		body = wire.Restore(p)
	}
	if err := deliver(o.ResponseWriter, body, o.patience); err != nil {
		return 0, err
	}
	return len(p), nil
}

// finish writes the error that the SDK's handler wrote in plain text.
func (o *legacyResponder) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stop != nil {
		close(o.stop)
	}
	if o.status == 0 {
		return
	}
	e := &wire.Error{Status: o.status, Code: jsonrpc.CodeInvalidRequest, Message: strings.TrimSpace(string(o.text))}
	switch {
	case o.status == http.StatusForbidden || o.status == http.StatusNotFound:
		e = noSession()
	case o.status >= 500:
		e.Code, e.Message = jsonrpc.CodeInternalError, "internal error"
	}
	o.Header().Del("X-Content-Type-Options")
	writeJSON(o.ResponseWriter, e.Status, e.Append(nil, o.id))
}
