package answer_test

import (
	"strings"
	"testing"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func link(server, url string) answer.Link {
	return (&answer.Request{Server: server, Params: &mcp.ElicitParams{Mode: "url", URL: url}}).Link()
}

// What may be opened, what is marked, and what is never opened.
func TestSecurity25Links(t *testing.T) {
	const away, here = "https://mcp.example.com/", "http://localhost:5280/"
	for _, tt := range []struct {
		server, url, host string
		refused, warned   string // a part of the reason; "" for none
	}{
		{away, "https://mcp.example.com/ui?ticket=abc#top", "mcp.example.com", "", ""},
		{away, "https://MCP.example.com", "mcp.example.com", "", ""},
		{away, "https://mcp.example.com:8443/", "mcp.example.com:8443", "", ""},
		{here, "http://127.0.0.1:9000/page", "127.0.0.1:9000", "", ""},
		{here, "http://[::1]:9000/page", "[::1]:9000", "", ""},
		{"", "http://localhost:9000/page", "localhost:9000", "", ""},
		{away, "http://localhost:9000/page", "localhost:9000", "", "on this machine"},
		{away, "https://mcp.example.com:4711/", "mcp.example.com:4711", "", "unusual port 4711"},
		{away, "https://203.0.113.7/", "203.0.113.7", "", "an IP address in place"},
		{away, "https://10.0.0.7/", "10.0.0.7", "", "private network"},
		{away, "https://[fe80::1]/", "[fe80::1]", "", "private network"},
		{away, "https://2130706433/", "2130706433", "", "written as a number"},
		{away, "https://0x7f.1/", "0x7f.1", "", "written as a number"},
		{away, "https://intranet/", "intranet", "", "a name of a private network"},
		{away, "https://xn--pple-43d.example.com/", "xn--pple-43d.example.com", "", "mixes letters"},
		{away, "https://xn--mnchen-3ya.example.com/", "xn--mnchen-3ya.example.com", "", `reads "münchen.example.com"`},
		{away, "https://xn--99999999999999/", "xn--99999999999999", "", "nothing can read"},
		{away, "https://mcp.example.com/" + strings.Repeat("a", 400), "mcp.example.com", "", "very long"},

		{away, "http://mcp.example.com/", "mcp.example.com", "not encrypted", ""},
		{away, "https://bank.example.com@mcp.example.net/", "mcp.example.net", "user name", ""},
		{away, "javascript:alert(1)", "", "javascript:", ""},
		{away, "file:///etc/passwd", "", "file:", ""},
		{away, "data:text/html,x", "", "data:", ""},
		{away, "mailto:a@example.com", "", "mailto:", ""},
		{away, "https:///path", "", "no host", ""},
		{away, "https:mcp.example.com", "", "no host", ""},
		{away, "//mcp.example.com/", "mcp.example.com", "complete", ""},
		{away, "", "", "empty", ""},
		{away, "https://b\u00e4nk.example.com/", "b\u00e4nk.example.com", "beyond ASCII", ""},
		{away, "https://mcp.example.com/\u202egnp.exe", "mcp.example.com", "beyond ASCII", ""},
		{away, "https://mcp.example.com/\x1b]8;;x\x07", "", "control characters", ""},
		{away, "https://mcp.example.com/ --flag", "mcp.example.com", "control characters or spaces", ""},
		{away, "https://mcp.example.com%2f@x/", "", "", ""},
		{away, "https://a|b.example.com/", "", "", ""},
	} {
		l := link(tt.server, tt.url)
		if tt.host != "" && l.Host != tt.host {
			t.Errorf("%q: host %q, want %q", tt.url, l.Host, tt.host)
		}
		if l.Refused != nil && (tt.refused == "" && tt.host != "" || !strings.Contains(l.Refused.Error(), tt.refused)) {
			t.Errorf("%q: refused: %v, want %q", tt.url, l.Refused, tt.refused)
		}
		if l.Refused == nil && (tt.refused != "" || l.Opened() == "" || l.Opened() != l.String()) {
			t.Errorf("%q: opens %q, shows %q; want refused: %q", tt.url, l.Opened(), l, tt.refused)
		}
		if l.Refused != nil && l.Opened() != "" {
			t.Errorf("%q is refused and opens %q", tt.url, l.Opened())
		}
		got := strings.Join(l.Warnings, " ")
		if (tt.warned == "") != (got == "") || !strings.Contains(got, tt.warned) {
			t.Errorf("%q: warnings %q, want %q", tt.url, got, tt.warned)
		}
		if s := l.String(); answer.PlainLine(s) != s {
			t.Errorf("%q: shown as %q", tt.url, s)
		}
	}
}

func FuzzLink(f *testing.F) {
	for _, s := range []string{"https://mcp.example.com/", "https://xn--pple-43d.example.com:1/", "javascript:x", "http://[::1]:1/", "https://a@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l := link("https://mcp.example.com/", s)
		shown := l.String()
		if answer.PlainLine(shown) != shown {
			t.Errorf("%q is shown as %q", s, shown)
		}
		if l.Refused != nil {
			return
		}
		if l.Opened() != shown || !strings.HasPrefix(shown, "http") || strings.HasPrefix(shown, "-") || l.Host == "" {
			t.Errorf("%q: shows %q, opens %q, host %q", s, shown, l.Opened(), l.Host)
		}
		for _, c := range l.Opened() {
			if c <= ' ' || c > '~' {
				t.Errorf("%q opens %q", s, l.Opened())
			}
		}
	})
}
