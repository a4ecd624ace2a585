package page_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestSecurity19Base(t *testing.T) {
	someone := func(http.ResponseWriter, *http.Request) (page.Person, bool) { return page.Person{}, true }
	for name, tt := range map[string]struct {
		opts page.Options
		want string // in the panic; "" for none
	}{
		"https":                 {page.Options{Base: "https://mcp.example.com/pages", Identify: someone}, ""},
		"loopback":              {page.Options{Base: "http://localhost:5284/pages"}, ""},
		"loopback by number":    {page.Options{Base: "http://[::1]:5284"}, ""},
		"http off loopback":     {page.Options{Base: "http://mcp.example.com/pages", Identify: someone}, "must be https"},
		"nobody identified":     {page.Options{Base: "https://mcp.example.com/pages"}, "Options.Identify is not set"},
		"no host":               {page.Options{Base: "/pages", Identify: someone}, "write https://HOST/PATH"},
		"with a query":          {page.Options{Base: "https://mcp.example.com/?a=b", Identify: someone}, "a scheme, a host and a path alone"},
		"with a user":           {page.Options{Base: "https://a@mcp.example.com/", Identify: someone}, "a scheme, a host and a path alone"},
		"a name like localhost": {page.Options{Base: "http://localhost.example.com/"}, "must be https"},
		"Identify, no Base":     {page.Options{Identify: someone}, "needs Options.Base"},
		"negative":              {page.Options{Wait: -1}, "Options.Wait is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := fmt.Sprint(recover()); tt.want == "" && r != "<nil>" || !strings.Contains(r, tt.want) {
					t.Errorf("panicked with %v, want %q", r, tt.want)
				}
			}()
			page.Enable(elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop"}, nil), nil), tt.opts)
		})
	}
}

// The link never comes from what a request says about its host.
func TestSecurity19LinkIsConfigured(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true, proxy: func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("X-Forwarded-Host", "evil.example.com")
			r.Header.Set("Forwarded", "host=evil.example.com;proto=https")
			h.ServeHTTP(w, r)
		})
	}})
	if link := s.call("ann", "Forecast", nil, nil).link(t, "credentials"); !strings.HasPrefix(link, s.base+"/") {
		t.Errorf("the link is %s", link)
	}
}

// Without an identity there is no link, off loopback or where one is expected.
func TestSecurity19NoLinkWithoutIdentity(t *testing.T) {
	tunnel := func(header string) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Set(header, "for=203.0.113.1")
				h.ServeHTTP(w, r)
			})
		}
	}
	network := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80})))
		})
	}
	principal := func(p elicit.Principal) elicit.Options {
		return elicit.Options{Principal: func(context.Context, *mcp.RequestExtra) (elicit.Principal, error) { return p, nil }}
	}
	for name, tt := range map[string]struct {
		s    setup
		want string
	}{
		"a principal, and nobody can tell":  {setup{elicit: principal(elicit.Principal{Subject: "ann"})}, "set page.Options.Identify"},
		"a client, and nobody can tell":     {setup{elicit: principal(elicit.Principal{Client: "editor"})}, "set page.Options.Identify"},
		"nobody, where somebody is asked":   {setup{page: page.Options{Identify: cookies}}, "the request has no principal"},
		"only a client":                     {setup{page: page.Options{Identify: cookies}, elicit: principal(elicit.Principal{Client: "editor"})}, "the request has no principal"},
		"nobody, through a tunnel":          {setup{proxy: tunnel("X-Forwarded-For")}, "came through a proxy"},
		"nobody, through another tunnel":    {setup{proxy: tunnel("Forwarded")}, "came through a proxy"},
		"nobody, through a proxy":           {setup{proxy: tunnel("Via")}, "came through a proxy"},
		"nobody, by a header with no value": {setup{proxy: tunnel("X-Forwarded-Proto")}, "came through a proxy"},
		"nobody, from the network":          {setup{proxy: network}, "from another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.s.tools = weather
			s := newSite(t, tt.s)
			r := s.call("", "Forecast", nil, nil)
			if !r.Result.IsError || len(r.Result.InputRequests) > 0 || !strings.Contains(r.text(), tt.want) {
				t.Errorf("got %+v", r)
			}
			if strings.Contains(s.wire.String(), s.base) {
				t.Error("there is a link")
			}
		})
	}
}

// Where nobody is identified, the page is for the user of this machine: no other peer, name, tunnel or proxy.
func TestSecurity19LoopbackOnly(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	link := s.call("", "Forecast", nil, nil).link(t, "credentials")
	u, _ := url.Parse(link)
	ok := func(r *http.Request) {}
	for name, tt := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"as it should be":          {ok, 200},
		"IPv6":                     {func(r *http.Request) { r.RemoteAddr = "[::1]:1234" }, 200},
		"a peer in the network":    {func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1234" }, 403},
		"no peer":                  {func(r *http.Request) { r.RemoteAddr = "@" }, 403},
		"a rebound name":           {func(r *http.Request) { r.Host = "evil.example.com" }, 403},
		"a rebound name, our port": {func(r *http.Request) { r.Host = "evil.example.com:" + u.Port() }, 403},
		"another port":             {func(r *http.Request) { r.Host = u.Hostname() + ":1" }, 403},
		"X-Forwarded-For":          {func(r *http.Request) { r.Header.Set("X-Forwarded-For", "203.0.113.1") }, 403},
		"X-Forwarded-Host":         {func(r *http.Request) { r.Header.Set("X-Forwarded-Host", "evil.example.com") }, 403},
		"Forwarded":                {func(r *http.Request) { r.Header.Set("Forwarded", "for=203.0.113.1") }, 403},
		"Via":                      {func(r *http.Request) { r.Header.Set("Via", "1.1 tunnel") }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, u.Path, nil)
			r.Host, r.RemoteAddr = u.Host, "127.0.0.1:1234"
			tt.change(r)
			w := httptest.NewRecorder()
			s.pages.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			if w.Code != 200 && strings.Contains(w.Body.String(), "weather.example.com") {
				t.Errorf("the refusal shows the question: %s", w.Body)
			}
		})
	}
}

// Ann sends her link to Bob, so that Bob's key becomes that of Ann's calls. Both are signed in.
func TestSecurity20AccountTakeover(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	r := s.call("ann", "Keyed", nil, nil)
	link := r.link(t, "apiKey")
	ann, bob := visit(t, "ann"), visit(t, "bob")

	p := bob.get(link)
	p.says(t, 403, "not yours", "bob@example.com", "somebody else was asked")
	if strings.Contains(p.body, "Your key") || strings.Contains(p.body, "ann") || strings.Contains(p.body, "<form") {
		t.Errorf("the page shows the question, or whose it is:\n%s", p.body)
	}

	// Bob posts Ann's form, which carries Ann's token.
	form := ann.get(link)
	form.says(t, 200, "ann@example.com", "tool Keyed", "editor")
	bob.post(form, "send", "bobs key").says(t, 403)
	// Ann's browser is signed in as Bob between GET and POST.
	mixed := visit(t, "bob")
	mixed.post(form, "send", "bobs key").says(t, 403)
	// Bob's own page has a token, but for his identity and his question.
	other := bob.get(s.call("bob", "Keyed", nil, nil).link(t, "apiKey"))
	other.body = strings.Replace(other.body, actionOf.FindStringSubmatch(other.body)[1], actionOf.FindStringSubmatch(form.body)[1], 1)
	bob.post(other, "send", "bobs key").says(t, 403)
	// Nobody is signed in.
	visit(t, "").get(link).says(t, 303)
	visit(t, "").post(form, "send", "bobs key").says(t, 303)

	// Nothing was stored: Ann is asked, and by the same link.
	if again := s.call("ann", "Keyed", r, map[string]string{"apiKey": "accept"}); again.link(t, "apiKey") != link {
		t.Errorf("got %s", again.text())
	}
	ann.press(form, "send", "anns own").says(t, 200, "Done")
	if got := s.call("ann", "Keyed", r, map[string]string{"apiKey": "accept"}).text(); got != "Sunny ********." {
		t.Errorf("got %s", got)
	}
	// Bob has no key, and cannot take Ann's round.
	if got := s.call("bob", "Keyed", nil, nil); got.link(t, "apiKey") == link {
		t.Error("Bob got Ann's link")
	}
	if got := s.call("bob", "Keyed", r, map[string]string{"apiKey": "accept"}); got.Error == nil || got.Error.Code != -32602 {
		t.Errorf("Bob continues Ann's call: %+v", got)
	}
}

// The same subject of another issuer is another person.
func TestSecurity20IssuerCounts(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true, page: page.Options{Identify: func(http.ResponseWriter, *http.Request) (page.Person, bool) {
		return page.Person{Issuer: "https://other.example.com", Subject: "ann"}, true
	}}})
	visit(t, "ann").get(s.call("ann", "Keyed", nil, nil).link(t, "apiKey")).says(t, 403, "not yours")
}

// GET changes nothing: not by a mail scanner, a messenger's preview or a browser's prefetch.
func TestSecurity20GetChangesNothing(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	r := s.call("ann", "Keyed", nil, nil)
	link := r.link(t, "apiKey")
	v := visit(t, "ann")
	v.headers = http.Header{"Sec-Purpose": {"prefetch;prerender"}, "Purpose": {"prefetch"}}
	for _, query := range []string{"", "?button=send&value0=evil-key", "?button=decline", "?csrf=x"} {
		v.get(link+query).says(t, 200, "Your key")
	}
	req, _ := http.NewRequest(http.MethodHead, link, nil)
	if p := v.send(req); p.status != 200 || p.body != "" {
		t.Errorf("HEAD: %d %q", p.status, p.body)
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch} {
		req, _ := http.NewRequest(method, link, nil)
		v.send(req).says(t, 405)
	}
	if again := s.call("ann", "Keyed", r, map[string]string{"apiKey": "accept"}); again.link(t, "apiKey") != link {
		t.Errorf("got %s", again.text())
	}
	v.headers = nil
	v.press(v.get(link), "send", "anns own").says(t, 200, "Done")
}
