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
	p := h.known.get(server)
	// What makes the request, if it can take the express path.
	request := expressed[m.Method]
	if request == nil {
		request = wire.CustomOf(server, m.Method)
	}
	if m.Method == "tools/call" || request != nil {
		if p.uses.Add(1) > 1 {
			h.known.watch(p, server)
		} else {
			request = nil
		}
	}
	if request != nil && (p.server == nil || !h.maybeExpress(m)) {
		request = nil
	}
	e := h.checkVersions(r, m, p.info)
	// A session that is kept says that what the client tells of itself was checked.
	var session *sharedSession
	var key []byte
	var room [512]byte
	extra := h.extra(r)
	if e == nil {
		if m.Method == "tools/call" || request != nil {
			if identity, err := h.opts.Identity(r, extra); err == nil {
				key = sessionKey(room[:0], identity, m)
				session = p.sessions.get(key)
			}
		}
		if session == nil {
			e = m.CheckClient()
		} else {
			defer p.sessions.put(session)
		}
	}
	var header http.Header
	var tool *knownTool
	if e == nil {
		header, tool, e = h.checkRequest(r, m, p, server)
	}
	if e != nil {
		h.refuse(w, r, m.ID, e)
		return
	}
	if tool != nil {
		request = tool.request
	}
	if request != nil && session == nil && key != nil {
		var err error
		if session, err = p.sessions.open(p.server, key, m); err == nil { // else the SDK's handler will say why
			defer p.sessions.put(session)
		}
	}
	if request != nil && session != nil {
		if header != nil {
			extra.Header = header
		}
		h.express(w, r, m, p, request, extra, session)
		return
	}
	h.known.cover(server)
	h.throughSDK(w, r, m, header)
}

// throughSDK gives a request to the SDK's handler.
func (h *Handler) throughSDK(w http.ResponseWriter, r *http.Request, m *wire.Message, header http.Header) {
	// The SDK gets an id of ours, and the client its own back: the SDK reads numbers as float64.
	id := json.RawMessage(`"` + rand.Text() + `"`)
	ctx, exchange := wire.WithExchange(r.Context())
	inner := r.WithContext(ctx)
	if header == nil {
		header = r.Header.Clone()
	}
	inner.Header = header
	header["Content-Type"] = []string{"application/json"} // the SDK reads parameters too
	header.Del("Last-Event-ID")                           // to be ignored (streamable-http, "Earlier Streamable HTTP Revisions")
	for name, values := range header {
		if strings.HasPrefix(name, "Mcp-Param-") && values[0] == "" {
			header[name] = []string{sentinelBegin + sentinelEnd} // the SDK takes an empty value for none
		}
	}
	body := m.Append(nil, id)
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out := &responder{stream: eventStream{w: w, every: h.opts.KeepAlive, patience: h.opts.patience}, held: id, id: m.ID, exchange: exchange, header: http.Header{}, cursor: m.Param("cursor") != nil,
		gone: func() bool { return r.Context().Err() != nil }}
	defer out.finish()
	h.modern.ServeHTTP(out, inner)
}

// The checks are made in the order that the protocol fixes: checkVersions, the client, checkRequest.

func (h *Handler) checkVersions(r *http.Request, m *wire.Message, info wire.Info) *wire.Error {
	version, e := m.CheckVersion()
	if e != nil {
		return e
	}
	if e := checkVersion(r, version); e != nil {
		return e
	}
	if version < wire.Modern || !slices.Contains(info.Versions, version) {
		return unsupported(h.versions(info), version)
	}
	return nil
}

// checkRequest checks the method, the headers that repeat the body, and the params. It gives the header that the handler
// is to see, nil if that is the request's own, and the tool that it calls, if the request can take the express path.
func (h *Handler) checkRequest(r *http.Request, m *wire.Message, p *place, server *mcp.Server) (header http.Header, express *knownTool, e *wire.Error) {
	if slices.Contains(removed, m.Method) || strings.HasPrefix(m.Method, "notifications/") {
		return nil, nil, &wire.Error{Status: http.StatusNotFound, Code: jsonrpc.CodeMethodNotFound, Message: "method " + m.Method + " is not in this revision"}
	}
	header, e = h.checkHeaders(r, m)
	if e != nil {
		if _, standard := h.names[m.Method]; !standard && !isKnown(m.Method) {
			return nil, nil, nil // the SDK knows whether there is such a method, and checks the header if so
		}
		return nil, nil, e
	}
	if m.Method == "tools/call" {
		tool := p.known(m.Param("name"))
		if h.maybeExpress(m) {
			express = tool
		}
		if tool == nil && hasParamHeaders(r) {
			tool = listed(server, m.Param("name"))
		}
		if tool != nil {
			e = checkParamHeaders(r, m.Param("arguments"), tool.bindings)
		} else {
			e = checkParamValues(r)
		}
		if e != nil {
			return nil, nil, e
		}
	}
	return header, express, m.CheckParams()
}

// maybeExpress reports whether nothing in a message keeps it from the express path.
func (h *Handler) maybeExpress(m *wire.Message) bool {
	return !h.opts.noExpress && m.MetaValue(logLevel) == nil // the SDK keeps a request's log level in a place of its own
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
