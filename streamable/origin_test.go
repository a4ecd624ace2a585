package streamable_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/streamable"
)

const app = "https://app.example.com"

// at0 lets a request seem to come in at another address of the machine.
func at0(address string) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a, err := net.ResolveTCPAddr("tcp", address)
			if err != nil {
				panic(err)
			}
			h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(a))))
		})
	}
}

func TestOriginAndHost(t *testing.T) {
	forbiddenHost, forbiddenOrigin := refusal{403, "-32600", "", []string{"Host"}}, refusal{403, "-32600", "", []string{"Origin"}}
	ok := refusal{}
	const loopback, public = "127.0.0.1:5280", "192.0.2.1:5280"
	listed := &streamable.Options{AllowedOrigins: []string{app}}
	named := &streamable.Options{AllowedHosts: []string{"mcp.example.com"}}
	for _, c := range []struct {
		name         string
		opts         *streamable.Options
		listener     string
		host, origin string // no origin if it is "-"
		want         refusal
	}{
		{"loopback, no origin", nil, loopback, "localhost:5280", "-", ok},
		{"loopback, IPv4", nil, loopback, "127.0.0.1:5280", "-", ok},
		{"loopback, another IPv4", nil, loopback, "127.1.2.3:5280", "-", ok},
		{"loopback, IPv6", nil, "[::1]:5280", "[::1]:5280", "-", ok},
		{"loopback, IPv4 in IPv6", nil, "[::ffff:127.0.0.1]:5280", "localhost:5280", "-", ok},
		{"loopback, without a port", nil, loopback, "localhost", "-", ok},
		{"loopback, upper case", nil, loopback, "LOCALHOST:5280", "-", ok},
		{"loopback, DNS rebinding", nil, loopback, "evil.example.com:5280", "-", forbiddenHost},
		{"loopback, DNS rebinding with its own origin", nil, loopback, "evil.example.com:5280", "http://evil.example.com:5280", forbiddenHost},
		{"loopback, DNS rebinding with a listed origin", listed, loopback, "evil.example.com:5280", app, forbiddenHost},
		{"loopback, a name like localhost", nil, loopback, "localhost.example.com", "-", forbiddenHost},
		{"loopback, a name ending in localhost", nil, loopback, "evillocalhost", "-", forbiddenHost},
		{"loopback, a name like 127.0.0.1", nil, loopback, "127.0.0.1.example.com", "-", forbiddenHost},
		{"loopback, a private address", nil, loopback, "192.168.0.1:5280", "-", forbiddenHost},
		{"loopback, the unspecified address", nil, loopback, "0.0.0.0:5280", "-", forbiddenHost},
		{"loopback, same origin", nil, loopback, "localhost:5280", "http://localhost:5280", ok},
		{"loopback, same origin, upper case", nil, loopback, "localhost:5280", "HTTP://LocalHost:5280", ok},
		{"loopback, same origin, default port", nil, loopback, "localhost:80", "http://localhost", ok},
		{"loopback, same origin, IPv6", nil, "[::1]:5280", "[::1]:5280", "http://[::1]:5280", ok},
		{"loopback, same host by https, which it is not", nil, loopback, "localhost:5280", "https://localhost:5280", forbiddenOrigin},
		{"loopback, same host by https, default port", nil, loopback, "localhost:443", "https://localhost", forbiddenOrigin},
		{"loopback, other port", nil, loopback, "localhost:5280", "http://localhost:3000", forbiddenOrigin},
		{"loopback, other loopback name", nil, loopback, "localhost:5280", "http://127.0.0.1:5280", forbiddenOrigin},
		{"loopback, foreign", nil, loopback, "localhost:5280", "https://evil.example.com", forbiddenOrigin},
		{"loopback, null", nil, loopback, "localhost:5280", "null", forbiddenOrigin},
		{"loopback, NULL", nil, loopback, "localhost:5280", "NULL", forbiddenOrigin},
		{"loopback, empty", nil, loopback, "localhost:5280", "", forbiddenOrigin},
		{"loopback, no URL", nil, loopback, "localhost:5280", "localhost:5280", forbiddenOrigin},
		{"loopback, file", nil, loopback, "localhost:5280", "file://localhost:5280", forbiddenOrigin},
		{"loopback, an extension", nil, loopback, "localhost:5280", "chrome-extension://localhost:5280", forbiddenOrigin},
		{"loopback, same origin and more", nil, loopback, "localhost:5280", "http://localhost:5280 http://evil.example.com", forbiddenOrigin},
		{"loopback, same origin with a path", nil, loopback, "localhost:5280", "http://localhost:5280/", forbiddenOrigin},
		{"loopback, same host for a user", nil, loopback, "localhost:5280", "http://localhost:5280@evil.example.com", forbiddenOrigin},
		{"listed", listed, loopback, "localhost:5280", app, ok},
		{"listed, upper case", listed, loopback, "localhost:5280", "HTTPS://APP.example.com", ok},
		{"listed, its default port", listed, loopback, "localhost:5280", app + ":443", ok},
		{"listed with another scheme", listed, loopback, "localhost:5280", "http://app.example.com", forbiddenOrigin},
		{"listed with another port", listed, loopback, "localhost:5280", app + ":8443", forbiddenOrigin},
		{"listed, but a name below it", listed, loopback, "localhost:5280", "https://x.app.example.com", forbiddenOrigin},
		{"listed, but a name that begins so", listed, loopback, "localhost:5280", app + ".evil.example", forbiddenOrigin},
		{"listed, but with a dot", listed, loopback, "localhost:5280", app + ".", forbiddenOrigin},
		{"null beside a list", listed, loopback, "localhost:5280", "null", forbiddenOrigin},
		{"public, no origin", nil, public, "mcp.example.com", "-", ok},
		{"public, same origin is not enough", nil, public, "mcp.example.com", "https://mcp.example.com", forbiddenOrigin},
		{"public, same origin of a loopback name", nil, public, "localhost:5280", "http://localhost:5280", forbiddenOrigin},
		{"public, listed", listed, public, "mcp.example.com", app, ok},
		{"public, null", listed, public, "mcp.example.com", "null", forbiddenOrigin},
		{"AllowedHosts, its name", named, public, "mcp.example.com", "-", ok},
		{"AllowedHosts, its name and a port", named, public, "mcp.example.com:443", "-", ok},
		{"AllowedHosts, its name in upper case", named, public, "MCP.example.com", "-", ok},
		{"AllowedHosts, same origin", named, public, "mcp.example.com", "https://mcp.example.com", ok},
		{"AllowedHosts, foreign origin", named, public, "mcp.example.com", "https://evil.example.com", forbiddenOrigin},
		{"AllowedHosts, other name", named, public, "evil.example.com", "-", forbiddenHost},
		{"AllowedHosts, loopback name", named, public, "localhost", "-", forbiddenHost},
		{"AllowedHosts, name on a loopback listener", named, loopback, "mcp.example.com", "-", ok},
		{"AllowedHosts, same origin on a loopback listener", named, loopback, "mcp.example.com", "https://mcp.example.com", ok},
		{"AllowedHosts, loopback name on a loopback listener", named, loopback, "localhost:5280", "http://localhost:5280", ok},
		{"AllowedHosts with a port", &streamable.Options{AllowedHosts: []string{"mcp.example.com:8443"}}, public, "mcp.example.com:8443", "-", ok},
		{"AllowedHosts with another port", &streamable.Options{AllowedHosts: []string{"mcp.example.com:8443"}}, public, "mcp.example.com:8080", "-", forbiddenHost},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer()
			s.listen(t, c.opts, at0(c.listener))
			m := echo().withHost(c.host)
			if c.origin != "-" {
				m = m.and("Origin", c.origin)
			}
			r := do(t, s.addr, m)
			if strings.Contains(r.header.Get("Access-Control-Allow-Origin"), "*") || r.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("the headers are %v", r.header)
			}
			if c.want.status != 0 {
				wantRefusal(t, r, c.want)
				if r.header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("a refused page gets Access-Control-Allow-Origin %q", r.header.Get("Access-Control-Allow-Origin"))
				}
				return
			}
			wantText(t, r, `echo {"x":1}`)
			want := ""
			if strings.HasPrefix(strings.ToLower(c.origin), app) {
				want = c.origin
			}
			if got := r.header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("Access-Control-Allow-Origin is %q, want %q", got, want)
			}
			if !slices.Contains(r.header.Values("Vary"), "Origin") {
				t.Errorf("Vary is %q", r.header.Values("Vary"))
			}
		})
	}
}

// A real listener: the checks see the address that a connection came in at.
func TestHostOnASocket(t *testing.T) {
	s := newSite(t, nil)
	wantText(t, do(t, s.addr, echo().withHost(s.addr)), `echo {"x":1}`)
	wantText(t, do(t, s.addr, echo().withHost(s.addr).and("Origin", "http://"+s.addr)), `echo {"x":1}`)
	wantRefusal(t, do(t, s.addr, echo().withHost("evil.example.com")), refusal{403, "-32600", "", []string{"Host"}})
}

// Over TLS, the page of the same name has come by https.
func TestOriginOverTLS(t *testing.T) {
	h := streamable.NewHandler(newServer().server, nil)
	for origin, want := range map[string]int{"https://localhost": 400, "http://localhost": 403} {
		m := unknownTool().withHost("localhost").with("Origin", origin)
		if got := serveBy(h, m, &tls.ConnectionState{}).status; got != want {
			t.Errorf("Origin %s gets %d, want %d", origin, got, want)
		}
	}
}

func TestTwoOrigins(t *testing.T) {
	s := newSite(t, &streamable.Options{AllowedOrigins: []string{app}})
	wantRefusal(t, do(t, s.addr, echo().and("Origin", app).and("Origin", "https://evil.example.com")), refusal{403, "-32600", "", []string{"Origin"}})
}

// GET and DELETE are checked too, and errors get the headers that let a page read them.
func TestOriginOfOtherMethods(t *testing.T) {
	s := newSite(t, &streamable.Options{AllowedOrigins: []string{app}})
	session := openSession(t, s.addr, "2025-11-25", "{}")
	for _, verb := range []string{"GET", "DELETE", "OPTIONS", "PUT"} {
		m := message{verb: verb, host: "localhost", header: []field{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session}, {"Origin", "https://evil.example.com"}}}
		wantRefusal(t, do(t, s.addr, m), refusal{403, "-32600", "", []string{"Origin"}})
		wantRefusal(t, do(t, s.addr, m.without("Origin").withHost("evil.example.com")), refusal{403, "-32600", "", []string{"Host"}})
	}
	for name, m := range map[string]message{
		"405": echo().withVerb("PUT"),
		"415": echo().without("Content-Type"),
		"400": echo().without("Mcp-Name"),
		"404": request("tools/unknown", "", ""),
		"202": echo().withID(""),
		"500": tool("panic", ""),
	} {
		t.Run(name, func(t *testing.T) {
			r := do(t, s.addr, m.and("Origin", app))
			if got := r.header.Get("Access-Control-Allow-Origin"); got != app || !slices.Contains(r.header.Values("Vary"), "Origin") {
				t.Errorf("status %d: Access-Control-Allow-Origin is %q, Vary %q", r.status, got, r.header.Values("Vary"))
			}
		})
	}
	t.Run("event stream", func(t *testing.T) {
		x := open(t, s.addr, tool("progress", "").withMeta(withToken).and("Origin", app))
		wantStream(t, x)
		if got := x.res.Header.Get("Access-Control-Allow-Origin"); got != app {
			t.Errorf("Access-Control-Allow-Origin is %q", got)
		}
	})
	t.Run("session", func(t *testing.T) {
		r := do(t, s.addr, initialize("2025-11-25", "{}").and("Origin", app))
		if got := r.header.Get("Access-Control-Allow-Origin"); got != app {
			t.Errorf("Access-Control-Allow-Origin is %q", got)
		}
		if exposed := r.header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Mcp-Session-Id") {
			t.Errorf("a page cannot read its session: Access-Control-Expose-Headers is %q", exposed)
		}
	})
}

// "OPTIONS from an allowed Origin is 204 with CORS headers."
func TestPreflight(t *testing.T) {
	s := newSite(t, &streamable.Options{AllowedOrigins: []string{app}})
	m := message{verb: "OPTIONS", host: "localhost", header: []field{{"Origin", app}, {"Access-Control-Request-Method", "POST"},
		{"Access-Control-Request-Headers", "accept,content-type,mcp-method,mcp-name,mcp-param-region,mcp-protocol-version,x-evil"}}}
	r := do(t, s.addr, m)
	if r.status != 204 || r.body != "" {
		t.Errorf("got %d %q", r.status, r.body)
	}
	if got := r.header.Get("Access-Control-Allow-Origin"); got != app {
		t.Errorf("Access-Control-Allow-Origin is %q", got)
	}
	if r.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("credentials are allowed")
	}
	if !slices.Contains(r.header.Values("Vary"), "Origin") {
		t.Errorf("Vary is %q", r.header.Values("Vary"))
	}
	if methods := r.header.Get("Access-Control-Allow-Methods"); !strings.Contains(methods, "POST") || strings.Contains(methods, "*") {
		t.Errorf("Access-Control-Allow-Methods is %q", methods)
	}
	allowed := strings.Split(strings.ToLower(r.header.Get("Access-Control-Allow-Headers")), ", ")
	for _, h := range []string{"accept", "authorization", "content-type", "mcp-method", "mcp-name", "mcp-param-region", "mcp-protocol-version", "mcp-session-id", "last-event-id"} {
		if !slices.Contains(allowed, h) {
			t.Errorf("%s is not allowed: %q", h, allowed)
		}
	}
	if slices.Contains(allowed, "*") || slices.Contains(allowed, "x-evil") {
		t.Errorf("allowed are %q", allowed)
	}
	t.Run("unlisted", func(t *testing.T) {
		r := do(t, s.addr, m.with("Origin", "https://evil.example.com"))
		wantRefusal(t, r, refusal{403, "-32600", "", []string{"Origin"}})
		for name := range r.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("it gets %s", name)
			}
		}
	})
	t.Run("a header that is none", func(t *testing.T) {
		r := do(t, s.addr, m.with("Access-Control-Request-Headers", "mcp-param-x y, mcp-param-ok"))
		if got := r.header.Get("Access-Control-Allow-Headers"); strings.Contains(got, "x y") || !strings.Contains(got, "mcp-param-ok") {
			t.Errorf("allowed are %q", got)
		}
	})
}

// A list that cannot work is told when the handler is made.
func TestBadOptionsPanic(t *testing.T) {
	for name, o := range map[string]streamable.Options{
		"origin *":              {AllowedOrigins: []string{"*"}},
		"origin null":           {AllowedOrigins: []string{"null"}},
		"origin without host":   {AllowedOrigins: []string{"https://"}},
		"origin without scheme": {AllowedOrigins: []string{"app.example.com"}},
		"origin with a path":    {AllowedOrigins: []string{app + "/x"}},
		"origin with a star":    {AllowedOrigins: []string{"https://*.example.com"}},
		"host *":                {AllowedHosts: []string{"*"}},
		"host with a scheme":    {AllowedHosts: []string{"https://mcp.example.com"}},
		"empty host":            {AllowedHosts: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it does not panic")
				}
			}()
			streamable.NewHandler(newServer().server, &o)
		})
	}
}
