package streamable

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// origins decides which pages may call the server, and under which names it answers. A page of any site can send
// requests to a server on localhost, and, by DNS rebinding, read what comes back under a name of its own
// (streamable-http, "Security & Endpoint").
type origins struct {
	allowed []string // lower case, without a default port
	hosts   []string // likewise
}

func newOrigins(allowed, hosts []string) origins {
	var o origins
	for _, a := range allowed {
		scheme, host, ok := strings.Cut(strings.ToLower(strings.TrimSuffix(a, "/")), "://")
		if !ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "/*?#@ ") {
			panic("streamable: Options.AllowedOrigins: " + a + " is not an origin: write scheme://host or scheme://host:port, such as https://app.example.com")
		}
		o.allowed = append(o.allowed, scheme+"://"+withoutPort(scheme, host))
	}
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/*?#@ ") {
			panic("streamable: Options.AllowedHosts: " + h + " is not a host: write host or host:port, such as mcp.example.com")
		}
		o.hosts = append(o.hosts, strings.ToLower(h))
	}
	return o
}

func forbidden(what string) *wire.Error {
	return &wire.Error{Status: http.StatusForbidden, Code: jsonrpc.CodeInvalidRequest, Message: what}
}

// check refuses a request by its Host or Origin, and adds CORS headers for an origin that is listed.
func (o *origins) check(w http.ResponseWriter, r *http.Request) *wire.Error {
	host := strings.ToLower(r.Host)
	local := loopbackListener(r)
	listed := o.listsHost(host)
	switch {
	case local && !listed && !loopbackHost(host):
		return forbidden("the Host header is not a loopback name; add it to AllowedHosts if it is this server's")
	case !local && len(o.hosts) > 0 && !listed:
		return forbidden("the Host header is not in AllowedHosts")
	}
	header := w.Header()
	header["Vary"] = append(header["Vary"], "Origin")
	values := r.Header["Origin"]
	if len(values) == 0 {
		return nil
	}
	scheme, originHost, ok := strings.Cut(strings.ToLower(values[0]), "://")
	if len(values) > 1 || !ok {
		return forbidden("the Origin header is not that of an allowed page")
	}
	origin := scheme + "://" + withoutPort(scheme, originHost)
	if slices.Contains(o.allowed, origin) {
		header.Set("Access-Control-Allow-Origin", values[0])
		header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
		return nil
	}
	// The same origin is not enough where the Host may be a name that points here without our knowing.
	// Before a listed host, a proxy may speak https for us; on a loopback name, the scheme is what this request came by.
	same := (scheme == "http" || scheme == "https") && withoutPort(scheme, originHost) == withoutPort(scheme, host)
	own := "http"
	if r.TLS != nil {
		own = "https"
	}
	if same && (listed || local && loopbackHost(host) && scheme == own) {
		return nil
	}
	return forbidden("the Origin header is not that of an allowed page; add it to AllowedOrigins if it should be")
}

func (o *origins) listsHost(host string) bool {
	if slices.Contains(o.hosts, host) {
		return true
	}
	name, _, err := net.SplitHostPort(host)
	return err == nil && slices.Contains(o.hosts, name)
}

func withoutPort(scheme, host string) string {
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// loopbackListener reports whether the request came in at a loopback address.
func loopbackListener(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || addr == nil {
		return false
	}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.IP.IsLoopback()
	}
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// loopbackHost reports whether a Host header names the machine itself.
func loopbackHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}

// preflight answers a browser that asks whether it may send a request.
func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Allow", "POST, GET, DELETE, OPTIONS")
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
		headers := []string{"Accept", "Authorization", "Content-Type", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "Mcp-Session-Id"}
		for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); strings.HasPrefix(name, "mcp-param-") && isToken(name) {
				headers = append(headers, name)
			}
		}
		h.Set("Access-Control-Allow-Headers", strings.Join(headers, ", "))
		h.Set("Access-Control-Max-Age", "600")
		h.Add("Vary", "Access-Control-Request-Headers")
	}
	w.WriteHeader(http.StatusNoContent)
}

func isToken(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}
