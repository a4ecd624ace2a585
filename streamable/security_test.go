package streamable_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/streamable"
)

// The attacks of docs/security.md, by the numbers of its rules.

// A page whose name was made to resolve to this machine is refused by its Host, and by its Origin, whatever it calls.
func TestSecurity17DNSRebinding(t *testing.T) {
	s := newSite(t, &streamable.Options{AllowedOrigins: []string{"https://app.example.com"}})
	port := s.addr[strings.LastIndexByte(s.addr, ':'):]
	for name, m := range map[string]message{
		"the page's own name":  tool("echo", "").withHost("evil.example.com"+port).with("Origin", "http://evil.example.com"+port),
		"the name alone":       tool("echo", "").withHost("evil.example.com" + port),
		"a name that begins":   tool("echo", "").withHost("localhost.evil.example.com" + port),
		"another page's call":  tool("echo", "").with("Origin", "http://evil.example.com"),
		"a sandboxed page":     tool("echo", "").with("Origin", "null"),
		"another port":         tool("echo", "").with("Origin", "http://127.0.0.1:1"),
		"a listed one's child": tool("echo", "").with("Origin", "https://app.example.com.evil.example.com"),
		"a GET":                tool("echo", "").withVerb("GET").with("Origin", "http://evil.example.com"),
		"a DELETE":             tool("echo", "").withVerb("DELETE").with("Origin", "http://evil.example.com"),
		"a preflight":          tool("echo", "").withVerb("OPTIONS").with("Origin", "http://evil.example.com"),
	} {
		r := do(t, s.addr, m)
		if r.status != http.StatusForbidden || r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d, %v", name, r.status, r.header)
		}
	}
	r := do(t, s.addr, tool("echo", "").with("Origin", "https://app.example.com"))
	if r.status != 200 || r.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || r.header.Get("Access-Control-Allow-Credentials") != "" || !strings.Contains(r.header.Get("Vary"), "Origin") {
		t.Errorf("a listed page: %d, %v", r.status, r.header)
	}
}

// What two readers could read in two ways is refused before anything is routed by it.
func TestSecurity18JSONIsReadOneWay(t *testing.T) {
	s := newSite(t, nil)
	good := tool("echo", "").text()
	body := good[strings.Index(good, "\r\n\r\n")+4:]
	for name, change := range map[string][2]string{
		"a name twice":                {`"name":"echo"`, `"name":"fail","name":"echo"`},
		"a name twice, by case":       {`"name":"echo"`, `"Name":"fail","name":"echo"`},
		"a name twice, by escapes":    {`"name":"echo"`, `"na\u006de":"fail","name":"echo"`},
		"a method twice":              {`"method":"tools/call"`, `"method":"tools/list","method":"tools/call"`},
		"a version twice":             {`"_meta":{`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25",`},
		"half a surrogate pair":       {`"name":"echo"`, `"name":"echo","x":"\ud800"`},
		"bytes that are no UTF-8":     {`"name":"echo"`, "\"name\":\"echo\",\"x\":\"\xff\""},
		"a number beyond computation": {`"id":1`, `"id":1` + strings.Repeat("0", 500)},
	} {
		changed := strings.Replace(body, change[0], change[1], 1)
		if changed == body {
			t.Fatalf("%s: %s has no %s", name, body, change[0])
		}
		if r := do(t, s.addr, tool("echo", "").withBody(changed)); r.status != 400 {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	for _, trailing := range []string{"x", "{}", "]", body} {
		if r := do(t, s.addr, tool("echo", "").withBody(body+trailing)); r.status != 400 {
			t.Errorf("trailing bytes: %d %s", r.status, r.body)
		}
	}
}
