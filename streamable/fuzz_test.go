package streamable_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elicit-go/elicit/streamable"
)

// serveHere serves a message without a socket, as if it had come in at a loopback address.
func serveHere(h http.Handler, m message) reply { return serveBy(h, m, nil) }

// serveBy is serveHere over TLS.
func serveBy(h http.Handler, m message, state *tls.ConnectionState) reply {
	r := httptest.NewRequest(m.verb, "/", strings.NewReader(m.text()))
	r.Host, r.TLS = m.host, state
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5280})))
	for _, f := range m.header {
		r.Header.Add(f.name, f.value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// inHeader reports whether net/http would let a value in, and as it is.
func inHeader(v string) bool {
	return v == strings.Trim(v, " \t") && !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// unknownTool is a right request but for the tool, so that nothing runs.
func unknownTool() message { return tool("none", "") }

// FuzzAccept: the order of ranges means nothing; naming both types is enough; without a word that could match JSON, it is
// refused.
func FuzzAccept(f *testing.F) {
	for _, s := range []string{"", "*/*", "application/json, text/event-stream", "application/json;q=0, */*", "text/*;q=0.1,application/*;Q=1", `application/json;x="a,b"`, ",;,", "text/event-stream;q=0;q=1"} {
		f.Add(s)
	}
	h := streamable.NewHandler(newServer().server, nil)
	f.Fuzz(func(t *testing.T, accept string) {
		if !inHeader(accept) {
			return
		}
		status := func(v string) int { return serveHere(h, unknownTool().with("Accept", v)).status }
		got := status(accept)
		if got != 400 && got != 406 {
			t.Fatalf("%q gets %d", accept, got)
		}
		ranges := strings.Split(accept, ",")
		slices.Reverse(ranges)
		if back := strings.Join(ranges, ","); status(back) != got {
			t.Fatalf("%q gets %d, %q does not", accept, got, back)
		}
		if both := accept + ",application/json,text/event-stream"; status(both) != 400 {
			t.Fatalf("%q is not acceptable", both)
		}
		if lower := strings.ToLower(accept); got != 406 && !strings.Contains(lower, "*") && !(strings.Contains(lower, "application/json") && strings.Contains(lower, "text/event-stream")) {
			t.Fatalf("%q is acceptable", accept)
		}
	})
}

// FuzzOrigin: who gets in on a loopback listener has a loopback Host, and no Origin, a listed one, or that of the Host.
func FuzzOrigin(f *testing.F) {
	for _, s := range [][2]string{{"localhost:5280", "http://localhost:5280"}, {"[::1]", "http://[::1]:80"}, {"localhost", app}, {"evil.example.com", "http://evil.example.com"},
		{"localhost", "null"}, {"127.0.0.1", "HTTPS://127.0.0.1:443"}, {"localhost:80", "http://localhost:80:80"}, {"a.localhost", "http://a.localhost"}, {"localhost:443", "https://localhost"},
		{"[::ffff:127.0.0.1]:1", "http://[::ffff:127.0.0.1]:1"}, {"localhost", "http://x@localhost"}, {"localhost", "http://localhost/"}} {
		f.Add(s[0], s[1])
	}
	h := streamable.NewHandler(newServer().server, &streamable.Options{AllowedOrigins: []string{app}})
	loopback := func(name string) bool {
		if name == "localhost" || strings.HasSuffix(name, ".localhost") {
			return true
		}
		a, err := netip.ParseAddr(name)
		return err == nil && (a.IsLoopback() || a.Unmap().IsLoopback())
	}
	hostPort := func(scheme, host string) string {
		u, err := url.Parse(scheme + "://" + host)
		if err != nil || u.Host == "" {
			return "?" + host
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[scheme]
		}
		return u.Hostname() + " " + port
	}
	f.Fuzz(func(t *testing.T, host, origin string) {
		if !inHeader(host) || !inHeader(origin) || host == "" || strings.ContainsFunc(host, func(r rune) bool { return r > '~' || r == ' ' || r == '\t' }) {
			return
		}
		r := serveHere(h, unknownTool().withHost(host).with("Origin", origin))
		cors := r.header.Get("Access-Control-Allow-Origin")
		if r.status == 403 {
			if cors != "" {
				t.Fatalf("host %q, origin %q: refused, and gets Access-Control-Allow-Origin %q", host, origin, cors)
			}
			return
		}
		lower := strings.ToLower(host)
		if u, err := url.Parse("http://" + lower); err != nil || !loopback(u.Hostname()) {
			t.Fatalf("host %q gets in", host)
		}
		scheme, rest, _ := strings.Cut(strings.ToLower(origin), "://")
		listed := scheme == "https" && hostPort(scheme, rest) == "app.example.com 443"
		if listed != (cors != "") || cors != "" && cors != origin {
			t.Fatalf("origin %q gets Access-Control-Allow-Origin %q", origin, cors)
		}
		if !listed && (scheme != "http" || hostPort(scheme, rest) != hostPort(scheme, lower)) {
			t.Fatalf("host %q, origin %q gets in", host, origin)
		}
		if u, err := url.Parse(origin); err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("origin %q gets in", origin)
		}
	})
}

// FuzzSentinel: Mcp-Name is right when it is the name, if that does not look encoded, or the name's one encoding.
func FuzzSentinel(f *testing.F) {
	for _, s := range [][2]string{{"none", "none"}, {"none", encoded("none")}, {"größe", encoded("größe")}, {"größe", "größe"}, {"=?base64?Zm9v?=", "=?base64?Zm9v?="}, {"foo", "=?base64?Zm9v?="},
		{"foo", "=?base64?Zm9w?="}, {"", "=?base64??="}, {"=?base64?=", "=?base64?="}, {"none", "=?BASE64?bm9uZQ==?="}, {"none", "=?base64?bm9uZR==?="}, {" none", "none"}} {
		f.Add(s[0], s[1])
	}
	h := streamable.NewHandler(newServer().server, nil)
	f.Fuzz(func(t *testing.T, name, header string) {
		if !utf8.ValidString(name) || !inHeader(header) || strings.ContainsRune(name, utf8.RuneError) {
			return
		}
		code := func(m message) string {
			var v struct{ Error struct{ Code int } }
			if err := json.Unmarshal([]byte(serveHere(h, m).body), &v); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(v.Error.Code)
		}
		m := tool(name, `"requestState":7`) // refused when the headers are right
		if got := code(m.with("Mcp-Name", encoded(name))); got != "-32602" {
			t.Fatalf("%q, encoded, gets %s", name, got)
		}
		looksEncoded := strings.HasPrefix(header, "=?base64?") && strings.HasSuffix(header, "?=") && len(header) >= len("=?base64??=")
		right := header != "" && header == name && !looksEncoded && !strings.ContainsFunc(header, func(r rune) bool { return r > '~' })
		if looksEncoded {
			text := strings.TrimSuffix(strings.TrimPrefix(header, "=?base64?"), "?=")
			right = text == base64.StdEncoding.EncodeToString([]byte(name))
		}
		want := "-32020"
		if right {
			want = "-32602"
		}
		if got := code(m.with("Mcp-Name", header)); got != want {
			t.Fatalf("name %q, header %q gets %s, want %s", name, header, got, want)
		}
	})
}
