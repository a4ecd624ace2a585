package streamable

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveLegacyMessage serves one message of an older client.
func (h *Handler) serveLegacyMessage(w http.ResponseWriter, r *http.Request, m *wire.Message, body []byte) {
	if h.opts.RefuseLegacy {
		h.refuseLegacy(w, r, m)
		return
	}
	out := &legacyResponder{ResponseWriter: w, id: m.ID}
	switch {
	case m.Response:
		body = m.AppendResponseMessage(nil, body)
	case m.Notification:
	default:
		id := m.ID
		if !wire.SafeID(id) {
			out.held = json.RawMessage(`"` + rand.Text() + `"`)
			id = out.held
		}
		body = m.Append(nil, id)
	}
	h.serveLegacy(out, replaceBody(r, body), m)
	out.finish()
}

// serveLegacyBatch serves a JSON-RPC batch, which 2025-03-26 has, and the SDK refuses from others.
func (h *Handler) serveLegacyBatch(w http.ResponseWriter, r *http.Request, body []byte) {
	if h.opts.RefuseLegacy {
		h.refuse(w, r, nil, wire.Errf(jsonrpc.CodeInvalidRequest, "the body is a batch; send one JSON-RPC message"))
		return
	}
	for e := range rawjson.Elements(body) {
		m, err := wire.Parse(e)
		switch {
		case err != nil:
			h.refuse(w, r, nil, err)
			return
		case m.Version() != nil:
			h.refuse(w, r, nil, wire.Errf(jsonrpc.CodeInvalidRequest, "the body is a batch of requests of revision 2026-07-28, which has no batches"))
			return
		}
	}
	out := &legacyResponder{ResponseWriter: w}
	h.serveLegacy(out, replaceBody(r, body), nil)
	out.finish()
}

func replaceBody(r *http.Request, body []byte) *http.Request {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", "application/json") // the SDK reads parameters too
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

func (h *Handler) refuseLegacy(w http.ResponseWriter, r *http.Request, m *wire.Message) {
	if m.Notification {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	server := h.getServer(r)
	if server == nil {
		h.refuse(w, r, m.ID, wire.Errf(jsonrpc.CodeInvalidRequest, "there is no server for this request"))
		return
	}
	requested := r.Header.Get("Mcp-Protocol-Version")
	if v, ok := rawjson.Get(m.Params, "protocolVersion"); ok && m.Method == "initialize" {
		requested, _ = rawjson.String(v)
	}
	h.refuse(w, r, m.ID, unsupported(h.versions(h.known.get(server).info), requested))
}

// serveLegacy gives a request to the SDK's handler, if the session is the caller's own. m is nil for a batch, GET and
// DELETE.
func (h *Handler) serveLegacy(w http.ResponseWriter, r *http.Request, m *wire.Message) {
	var msgID []byte
	if m != nil {
		msgID = m.ID
	}
	server := h.getServer(r)
	if server == nil {
		h.refuse(w, r, msgID, wire.Errf(jsonrpc.CodeInvalidRequest, "there is no server for this request"))
		return
	}
	h.known.get(server)
	if h.opts.Stateless {
		h.legacy.ServeHTTP(w, r)
		return
	}
	who, err := h.opts.Identity(r, h.extra(r))
	if err != nil {
		h.opts.Logger.ErrorContext(r.Context(), "streamable: cannot tell who makes the request", "error", err)
		h.refuse(w, r, msgID, &wire.Error{Status: http.StatusInternalServerError, Code: jsonrpc.CodeInternalError, Message: "the server cannot tell who makes this request"})
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	if id != "" && !h.sessions.ownedBy(id, who) {
		h.refuse(w, r, msgID, noSession())
		return
	}
	if id == "" {
		slot, ok := h.sessions.reserve()
		if !ok {
			w.Header().Set("Retry-After", "60")
			h.refuse(w, r, msgID, &wire.Error{Status: http.StatusServiceUnavailable, Code: jsonrpc.CodeInternalError, Message: "there are too many sessions; try again later, or use revision 2026-07-28, which has none"})
			return
		}
		defer h.sessions.release(slot)
		if out, ok := w.(*legacyResponder); ok {
			out.opened = func(id string) { h.sessions.add(slot, id, who, server) }
		}
	}
	if r.Method == http.MethodPost {
		h.legacy.ServeHTTP(w, r)
		return
	}
	out := &legacyResponder{ResponseWriter: w}
	h.legacy.ServeHTTP(out, r)
	out.finish()
	if r.Method == http.MethodDelete {
		h.sessions.remove(id)
	}
}

func noSession() *wire.Error {
	return &wire.Error{Status: http.StatusNotFound, Code: jsonrpc.CodeInvalidRequest, Message: "the session of the Mcp-Session-Id header is unknown or has ended"}
}

// sessions says whose each session is.
type sessions struct {
	max      int
	mu       sync.Mutex
	all      map[string]session
	reserved int // slots of handshakes that are under way
}

// A slot is room for one session.
type slot struct{ used bool }

type session struct {
	who    string
	server *mcp.Server
}

func (s *sessions) ownedBy(id, who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.all[id]
	return ok && x.who == who
}

func (s *sessions) add(in *slot, id, who string, server *mcp.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(in)
	if s.all == nil {
		s.all = map[string]session{}
	}
	s.all[id] = session{who, server}
}

func (s *sessions) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// release gives a slot back if no session took it.
func (s *sessions) release(in *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(in)
}

func (s *sessions) use(in *slot) {
	if !in.used {
		in.used = true
		s.reserved--
	}
}

// reserve reserves room for one more session, if there is some.
func (s *sessions) reserve() (*slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room() {
		return nil, false
	}
	s.reserved++
	return &slot{}, true
}

// room reports whether one more session fits. The SDK does not tell when a session ends, so those that have ended are
// looked for when it would not. The caller holds s.mu.
func (s *sessions) room() bool {
	if len(s.all)+s.reserved < s.max {
		return true
	}
	live := map[string]bool{}
	seen := map[*mcp.Server]bool{}
	for _, x := range s.all {
		if seen[x.server] {
			continue
		}
		seen[x.server] = true
		for ss := range x.server.Sessions() {
			live[ss.ID()] = true
		}
	}
	for id := range s.all {
		if !live[id] {
			delete(s.all, id)
		}
	}
	return len(s.all)+s.reserved < s.max
}

// legacyResponder passes on what the SDK's handler writes, but for errors in plain text, which become JSON-RPC errors, and
// an id that the SDK would have changed.
type legacyResponder struct {
	http.ResponseWriter
	id, held json.RawMessage
	opened   func(sessionID string)

	mu      sync.Mutex
	status  int
	text    []byte
	started bool
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
	body := p
	if o.held != nil {
		body = bytes.ReplaceAll(p, o.held, o.id)
	}
	if _, err := o.ResponseWriter.Write(body); err != nil {
		return 0, err
	}
	return len(p), nil
}

// finish writes the error that the SDK's handler wrote in plain text.
func (o *legacyResponder) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
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
