package streamable

import (
	"bytes"
	"io"
	"net/http"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// serveLegacyMessage serves one message of an older client.
func (h *Handler) serveLegacyMessage(w http.ResponseWriter, r *http.Request, m *wire.Message, body []byte) {
	if h.opts.RefuseLegacy {
		h.refuseLegacy(w, r, m)
		return
	}
	out := h.legacyResponder(w, m.ID)
	defer out.finish()
	switch {
	case m.Response:
		body = m.AppendResponseMessage(nil, body)
	case m.Notification:
		body = m.AppendNotification(nil, body)
	default:
		body = m.Append(nil, wire.Hold(m.ID))
	}
	h.serveLegacy(out, replaceBody(r, body), m)
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
		case m.Method == "initialize": // it would open a session that nobody learns of (2025-03-26, basic/lifecycle, "Initialization")
			h.refuse(w, r, nil, wire.Errf(jsonrpc.CodeInvalidRequest, "the batch has an initialize request; send it alone"))
			return
		}
		m.Release()
	}
	out := h.legacyResponder(w, nil)
	defer out.finish()
	h.serveLegacy(out, replaceBody(r, body), nil)
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
	h.known.cover(server)
	if h.opts.Stateless {
		h.legacy.ServeHTTP(w, r)
		return
	}
	who, err := h.opts.Identity(r, h.extra(r))
	if err != nil {
		message := "the server cannot tell who makes this request"
		if err == errPanicked {
			message = err.Error()
		}
		h.opts.Logger.ErrorContext(r.Context(), "streamable: cannot tell who makes the request", "error", err)
		h.refuse(w, r, msgID, &wire.Error{Status: http.StatusInternalServerError, Code: jsonrpc.CodeInternalError, Message: message})
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
		ctx, end := wire.WithSessionEnd(r.Context()) // the session keeps the values of its first request
		r = r.WithContext(ctx)
		if out, ok := w.(*legacyResponder); ok {
			out.opened = func(id string) { h.sessions.add(slot, id, session{who, server, end}) }
		}
	}
	if r.Method == http.MethodDelete {
		h.sessions.end(id) // first: the SDK waits for the session's handlers, and they may wait for the client
	}
	h.legacy.ServeHTTP(w, r)
}
