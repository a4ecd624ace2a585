package streamable

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods of older revisions that 2026-07-28 removed.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

// serveModern serves a message of 2026-07-28.
func (h *Handler) serveModern(w http.ResponseWriter, r *http.Request, m *wire.Message) {
	if m.Notification {
		w.WriteHeader(http.StatusAccepted) // the revision defines none over HTTP
		return
	}
	if m.Response {
		h.refuse(w, r, m.ID, wire.Errf(jsonrpc.CodeInvalidRequest, "the body is a JSON-RPC response; send a request or a notification"))
		return
	}
	server := h.getServer(r)
	if server == nil {
		h.refuse(w, r, m.ID, wire.Errf(jsonrpc.CodeInvalidRequest, "there is no server for this request"))
		return
	}
	header, e := h.checkModern(r, m, h.known.get(server))
	if e != nil {
		h.refuse(w, r, m.ID, e)
		return
	}
	// The SDK gets an id of ours, and the client its own back: the SDK reads numbers as float64.
	id := json.RawMessage(`"` + rand.Text() + `"`)
	ctx, exchange := wire.WithExchange(r.Context())
	inner := r.WithContext(ctx)
	inner.Header = header
	header["Content-Type"] = []string{"application/json"} // the SDK reads parameters too
	header.Del("Last-Event-ID")                           // to be ignored (streamable-http, "Earlier Streamable HTTP Revisions")
	body := m.Append(nil, id)
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out := newResponder(w, h.opts.KeepAlive, id, m.ID, exchange)
	defer out.finish()
	h.modern.ServeHTTP(out, inner)
}

// checkModern checks a request, in the order that the protocol fixes.
func (h *Handler) checkModern(r *http.Request, m *wire.Message, info wire.Info) (http.Header, *wire.Error) {
	version, e := m.CheckVersion()
	if e != nil {
		return nil, e
	}
	if e := checkVersion(r, version); e != nil {
		return nil, e
	}
	if version < wire.Modern || !slices.Contains(info.Versions, version) {
		return nil, unsupported(h.versions(info), version)
	}
	if e := m.CheckClient(); e != nil {
		return nil, e
	}
	if slices.Contains(removed, m.Method) || strings.HasPrefix(m.Method, "notifications/") {
		return nil, &wire.Error{Status: http.StatusNotFound, Code: jsonrpc.CodeMethodNotFound, Message: "method " + m.Method + " is not in revision " + version}
	}
	header, e := h.checkHeaders(r, m)
	if e != nil {
		if _, standard := h.names[m.Method]; !standard && !isKnown(m.Method) {
			return r.Header.Clone(), nil // the SDK knows whether there is such a method, and checks the header if so
		}
		return nil, e
	}
	return header, m.CheckParams()
}

func isKnown(method string) bool {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "completion/complete", "subscriptions/listen":
		return true
	}
	return false
}

// versions are the revisions that the handler serves.
func (h *Handler) versions(info wire.Info) []string {
	if !h.opts.RefuseLegacy {
		return info.Versions
	}
	return slices.DeleteFunc(slices.Clone(info.Versions), func(v string) bool { return v < wire.Modern })
}

func unsupported(supported []string, requested string) *wire.Error {
	data, _ := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: supported, Requested: requested})
	e := wire.Errf(mcp.CodeUnsupportedProtocolVersion, "protocol version %q is not supported here", requested)
	e.Data = data
	return e
}
