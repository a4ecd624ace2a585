package page_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tests play the attacks of the security rules, each named after its number.

const theSecret = "s3cr3t+/äöü-with-escapes"

func TestSecurity14SecretsHideThemselves(t *testing.T) {
	type inner struct {
		Key page.Hidden
		pem page.HiddenText
	}
	h := page.NewHidden(theSecret)
	values := []any{h, &h, page.NewHiddenText(theSecret), inner{h, page.NewHiddenText(theSecret)}, &inner{Key: h}, []page.Hidden{h}, map[string]page.Hidden{"k": h},
		credentials{"ann", h}, struct{ any }{h}}
	var b strings.Builder
	text, logs := slog.New(slog.NewTextHandler(&b, nil)), slog.New(slog.NewJSONHandler(&b, nil))
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t", "%p"} {
			fmt.Fprintf(&b, verb+"\n", v)
		}
		text.Info("x", "v", v)
		logs.Info("x", "v", v)
		j, err := json.Marshal(v)
		fmt.Fprintln(&b, string(j), err)
		x, err := xml.Marshal(v)
		fmt.Fprintln(&b, string(x), err)
	}
	nowhere(t, "printed", b.String(), theSecret)
	if got := h.Reveal(); got != theSecret {
		t.Errorf("revealed %q", got)
	}
	if !h.Equal(page.NewHidden(theSecret)) || h.Equal(page.NewHidden("x")) || h.IsZero() || !(page.Hidden{}).IsZero() {
		t.Error("Equal or IsZero is wrong")
	}
}

// nowhere checks that a text does not hold a secret in any spelling that something here could write.
func nowhere(t *testing.T, where, text, secret string) {
	t.Helper()
	quoted, _ := json.Marshal(secret)
	spellings := []string{secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)),
		fmt.Sprintf("%X", secret), fmt.Sprintf("% x", secret), strings.Trim(fmt.Sprintf("%q", secret), `"`), strings.Trim(fmt.Sprintf("%+q", secret), `"`)}
	for offset := range 3 { // in Base64, wherever it begins
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			s := enc.EncodeToString([]byte(strings.Repeat("x", offset) + secret))
			spellings = append(spellings, s[4:len(s)-4])
		}
	}
	for _, s := range spellings {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("%s: the secret is there as %q", where, s)
		}
	}
}

// recorder is a Vault that keeps all it was ever given, in the clear.
type recorder struct {
	page.Vault
	mu   sync.Mutex
	all  []page.Entry
	gate *sync.WaitGroup // if set, an Add waits for all
}

func (r *recorder) keep(e page.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
}

func (r *recorder) Add(ctx context.Context, e page.Entry) (bool, error) {
	r.keep(e)
	if r.gate != nil && strings.HasPrefix(e.Key, "o:") {
		r.gate.Done()
		r.gate.Wait()
	}
	return r.Vault.Add(ctx, e)
}

func (r *recorder) Replace(ctx context.Context, old, e page.Entry) (bool, error) {
	r.keep(e)
	return r.Vault.Replace(ctx, old, e)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, e := range r.all {
		fmt.Fprintf(&b, "%s %s %s\n", e.Key, e.Secret, e.Sealed)
	}
	return b.String()
}

// What a person enters is in no message, address, log line, error, page or state, and in the vault only sealed.
func TestSecurity14SecretIsNowhereElse(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	var got []string
	pem := page.Secret[struct {
		Key  page.HiddenText `json:"privateKey"`
		Name string          `json:"name" elicit:"maxLength=5"`
	}]("pem", "Your key", page.Remember(time.Hour))
	s := newSite(t, setup{users: true, page: page.Options{Vault: r}, elicit: elicit.Options{Secrets: [][]byte{testSecret}}, tools: func(shop *elicit.Server) {
		elicit.AddTool(shop, &mcp.Tool{Name: "Deploy"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			v, err := pem.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			got = append(got, v.Key.Reveal())
			return nil, nil, fmt.Errorf("refused with %v", v) // as careless tools do
		}, elicit.Asks(pem))
	}})
	round := s.call("ann", "Deploy", nil, nil)
	v := visit(t, "ann")
	p := v.get(round.link(t, "pem"))
	p = v.press(p, "send", theSecret, "too long a name")
	p.says(t, 422, "at most 5")
	v.press(p, "send", strings.Repeat(theSecret, 6000), "x").says(t, 413)
	p = v.press(v.get(round.link(t, "pem")), "send", "line 1\r\n"+theSecret, "x")
	p.says(t, 200, "Done")
	s.call("ann", "Deploy", round, map[string]string{"pem": "accept"})
	s.call("ann", "Deploy", nil, nil)
	if len(got) == 0 || got[len(got)-1] != "line 1\n"+theSecret {
		t.Fatalf("the tool got %q", got)
	}
	for where, text := range map[string]string{"messages": s.wire.String(), "logs": s.logs.String(), "pages and addresses": v.seen.String(), "vault": r.String()} {
		if len(text) < 100 {
			t.Errorf("%s: nothing is recorded", where)
		}
		nowhere(t, where, text, theSecret)
	}
}

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

func TestSecurity21Headers(t *testing.T) {
	s := newSite(t, setup{tools: weather})
	p := visit(t, "").get(s.call("", "Forecast", nil, nil).link(t, "credentials"))
	csp := p.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'", "style-src 'sha256-"} {
		if !strings.Contains(csp, want) {
			t.Errorf("%q is not in the policy %q", want, csp)
		}
	}
	if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || strings.Contains(csp, "script-src") {
		t.Errorf("the policy is %q", csp)
	}
	for name, want := range map[string]string{"Referrer-Policy": "same-origin", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Cross-Origin-Opener-Policy": "same-origin"} {
		if got := p.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, never := range []string{"<script", "http://", "https://", "style=", "<img", "onclick"} {
		if strings.Contains(p.body, never) {
			t.Errorf("%q is in the page", never)
		}
	}
}

// A post comes from our page, in its own tab, or it is refused.
func TestSecurity21ForeignPosts(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	r := s.call("ann", "Keyed", nil, nil)
	link := r.link(t, "apiKey")
	v := visit(t, "ann")
	form := v.get(link)
	u, _ := url.Parse(link)
	for name, headers := range map[string]http.Header{
		"a sandboxed frame":           {"Origin": {"null"}},
		"another site":                {"Origin": {"https://evil.example.com"}},
		"another port of this host":   {"Origin": {"http://" + u.Hostname() + ":1"}},
		"another name of this host":   {"Origin": {"http://localhost:" + u.Port()}},
		"another scheme":              {"Origin": {"https://" + u.Host}},
		"no origin":                   {"Origin": nil},
		"two origins":                 {"Origin": {"http://" + u.Host, "http://" + u.Host}},
		"fetched across sites":        {"Sec-Fetch-Site": {"cross-site"}},
		"fetched from a sibling port": {"Sec-Fetch-Site": {"same-site"}},
		"in a frame":                  {"Sec-Fetch-Dest": {"iframe"}},
		"in an object":                {"Sec-Fetch-Dest": {"object"}},
	} {
		t.Run(name, func(t *testing.T) {
			evil := visit(t, "ann")
			evil.headers = headers
			evil.post(form, "send", "evil key").says(t, 403)
		})
	}
	t.Run("as JSON", func(t *testing.T) {
		evil := visit(t, "ann")
		evil.headers = http.Header{"Content-Type": {"text/plain"}}
		evil.post(form, "send", "evil key").says(t, 415)
	})
	t.Run("too much", func(t *testing.T) {
		v.post(form, "send", strings.Repeat("x", 200<<10)).says(t, 413)
	})
	for name, csrf := range map[string]string{"without a token": "", "with a token of another link": csrfField.FindStringSubmatch(v.get(s.call("ann", "Keyed", nil, nil).link(t, "apiKey")).body)[1],
		"with the ticket": link[strings.LastIndex(link, "/")+1:], "with a state": r.Result.RequestState} {
		t.Run(name, func(t *testing.T) {
			evil := *form
			evil.body = strings.Replace(form.body, csrfField.FindStringSubmatch(form.body)[1], csrf, 1)
			v.post(&evil, "send", "evil key").says(t, 403)
		})
	}
	for _, frame := range []string{"iframe", "frame", "embed", "image", "script"} {
		evil := visit(t, "ann")
		evil.headers = http.Header{"Sec-Fetch-Dest": {frame}}
		evil.get(link).says(t, 403)
	}
	if again := s.call("ann", "Keyed", r, map[string]string{"apiKey": "accept"}); again.link(t, "apiKey") != link {
		t.Errorf("got %s", again.text())
	}
	v.press(form, "send", "anns own").says(t, 200, "Done")
}

// What was sent once counts; later ones, from the back button or at the same time, do not.
func TestSecurity21SecondSubmission(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, users: true, page: page.Options{Vault: r}})
	asked := s.call("ann", "Keyed", nil, nil)
	v := visit(t, "ann")
	form := v.get(asked.link(t, "apiKey"))
	v.press(form, "send", "the first key").says(t, 200, "Done")
	v.post(form, "send", "the second one!").says(t, 409, "answered before", "not taken")
	v.post(form, "decline").says(t, 409, "answered before")
	v.get(form.at).says(t, 200, "Done")
	if got := s.call("ann", "Keyed", asked, map[string]string{"apiKey": "accept"}).text(); got != "Sunny *************." {
		t.Errorf("got %s", got)
	}
	v.post(form, "send", "the third one!!").says(t, 409)
	if got := s.call("ann", "Keyed", nil, nil).text(); got != "Sunny *************." {
		t.Errorf("got %s", got)
	}

	// At once.
	asked = s.call("bob", "Keyed", nil, nil)
	bob := visit(t, "bob")
	form = bob.get(asked.link(t, "apiKey"))
	var wg sync.WaitGroup
	taken := make(chan int, 16)
	r.gate = &sync.WaitGroup{} // all have seen that there is no answer yet
	r.gate.Add(cap(taken))
	for i := range cap(taken) {
		wg.Go(func() {
			if visit(t, "bob").post(form, "send", strings.Repeat("k", i+1)).status == http.StatusSeeOther {
				taken <- i + 1
			}
		})
	}
	wg.Wait()
	r.gate = nil
	if len(taken) != 1 {
		t.Fatalf("%d submissions were taken", len(taken))
	}
	want := "Sunny " + strings.Repeat("*", <-taken) + "."
	for _, before := range []*round{asked, nil} {
		if got := s.call("bob", "Keyed", before, map[string]string{"apiKey": "accept"}).text(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A login comes back to an address without the ticket, and nowhere else.
func TestSecurity21Login(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true})
	link := s.call("ann", "Keyed", nil, nil).link(t, "apiKey")
	v := visit(t, "")
	p := v.get(link)
	p.says(t, 303)
	to, _ := url.Parse(p.header.Get("Location"))
	back := to.Query().Get("to")
	if to.Path != "/login" || !strings.HasPrefix(back, s.base+"/return/") || strings.Contains(back, link[len(s.base):]) {
		t.Fatalf("the login is %s", to)
	}
	v.user = "ann" // signed in
	p = v.get(back)
	p.says(t, 303)
	if at := p.header.Get("Location"); at != "/pages/continue" {
		t.Errorf("the login ends at %s", at)
	}
	cookie := p.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q is not %s", cookie, want)
		}
	}
	u, _ := url.Parse(s.base)
	p = v.get("http://" + u.Host + p.header.Get("Location"))
	p.says(t, 200, "Your key")

	// Somebody else signs in: the ticket is still Ann's.
	bob := visit(t, "bob")
	bob.get(back)
	bob.get(s.base+"/continue").says(t, 403, "not yours")

	token := link[strings.LastIndex(link, "/")+1:]
	for name, evil := range map[string]string{"the ticket itself": token, "elsewhere": "https://evil.example.com/", "forged": "AAAA" + back[len(s.base)+len("/return/")+4:], "nothing": ""} {
		v := visit(t, "ann")
		p := v.get(s.base + "/return/" + evil)
		if p.status == http.StatusSeeOther || p.status == 200 {
			t.Errorf("%s: %d to %q", name, p.status, p.header.Get("Location"))
		}
	}
	visit(t, "ann").get(s.base+"/continue").says(t, 404)
	v.press(p, "send", "anns own").says(t, 200, "Done")
}

// A link that was changed, or is for something else, opens nothing.
func TestSecurity09Links(t *testing.T) {
	s := newSite(t, setup{tools: weather, elicit: elicit.Options{Secrets: [][]byte{testSecret}}})
	r := s.call("", "Forecast", nil, nil)
	link := r.link(t, "credentials")
	token := link[len(s.base)+1:]
	v := visit(t, "")
	other := newSite(t, setup{tools: weather})
	csrf := csrfField.FindStringSubmatch(v.get(link).body)[1]
	last := "A"
	if strings.HasSuffix(token, "A") {
		last = "B"
	}
	for name, at := range map[string]string{
		"changed at its end":     s.base + "/" + token[:len(token)-1] + last,
		"changed in the middle":  s.base + "/" + token[:40] + "x" + token[41:],
		"cut":                    s.base + "/" + token[:len(token)-4],
		"longer":                 link + "AAAA",
		"with a slash":           link + "/",
		"with a line break":      s.base + "/" + token[:8] + "%0A" + token[8:],
		"of another server":      s.base + "/" + other.call("", "Forecast", nil, nil).link(t, "credentials")[len(other.base)+1:],
		"a form's token":         s.base + "/" + csrf,
		"a state":                s.base + "/" + s.call("", "Forecast", nil, nil).Result.RequestState,
		"nothing":                s.base + "/",
		"very long":              s.base + "/" + strings.Repeat("A", 100_000),
		"the callback of nobody": s.base + "/callback/evil?code=x&state=y",
		"a login of nobody":      s.base + "/login/callback",
	} {
		t.Run(name, func(t *testing.T) {
			if p := v.get(at); p.status != 404 || strings.Contains(p.body, "<form") {
				t.Errorf("%d %s", p.status, p.body)
			}
		})
	}
}

// The link of one tool answers the question of no other, though both ask the same.
func TestSecurity09LinkOfAnotherTool(t *testing.T) {
	s := newSite(t, setup{users: true, tools: func(shop *elicit.Server) {
		weather(shop)
		elicit.AddTool(shop, &mcp.Tool{Name: "Other"}, keyed, elicit.Asks(askKey))
	}})
	one, two := s.call("ann", "Keyed", nil, nil), s.call("ann", "Other", nil, nil)
	v := visit(t, "ann")
	v.press(v.get(one.link(t, "apiKey")), "send", "for Keyed").says(t, 200, "Done")
	if r := s.call("ann", "Other", two, map[string]string{"apiKey": "accept"}); r.link(t, "apiKey") != two.link(t, "apiKey") {
		t.Errorf("got %s", r.text())
	}
	s.call("ann", "Other", nil, nil).link(t, "apiKey")
	// A second call of the same tool, before the first is answered, has a link of its own.
	first := s.call("bob", "Forecast", nil, nil)
	second := s.call("bob", "Forecast", nil, nil)
	b := visit(t, "bob")
	b.press(b.get(first.link(t, "credentials")), "send", "bob", "12345678").says(t, 200, "Done")
	if r := s.call("bob", "Forecast", second, map[string]string{"credentials": "accept"}); r.link(t, "credentials") != second.link(t, "credentials") {
		t.Errorf("got %s", r.text())
	}
	if got := s.call("bob", "Forecast", first, map[string]string{"credentials": "accept"}).text(); got != "Sunny for bob ********." {
		t.Errorf("got %s", got)
	}
}

// Of users without a principal nothing is remembered, and what they enter is for one call.
func TestSecurity23AnonymousIsOneTime(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, page: page.Options{Vault: r}})
	asked, other := s.call("", "Keyed", nil, nil), s.call("", "Keyed", nil, nil)
	v := visit(t, "")
	v.press(v.get(asked.link(t, "apiKey")), "send", "12345678").says(t, 200, "Done")
	for name, before := range map[string]*round{"a new call": nil, "a call that was asked before": other} {
		if got := s.call("", "Keyed", before, map[string]string{"apiKey": "accept"}); len(got.Result.InputRequests) != 1 {
			t.Errorf("%s: got %s", name, got.text())
		}
	}
	if got := s.call("", "Keyed", asked, map[string]string{"apiKey": "accept"}).text(); got != "Sunny ********." {
		t.Errorf("got %s", got)
	}
	for _, e := range r.all {
		if strings.HasPrefix(e.Key, "v:") {
			t.Errorf("something is remembered: %s", e.Key)
		}
	}
}

// What was entered for a call is gone with it.
func TestSecurity23GoneWithTheCall(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, page: page.Options{Vault: r}})
	asked := s.call("", "Forecast", nil, nil)
	v := visit(t, "")
	v.press(v.get(asked.link(t, "credentials")), "send", "ann", "12345678").says(t, 200, "Done")
	before, _ := r.Find(t.Context(), r.all[0].Key)
	s.call("", "Forecast", asked, map[string]string{"credentials": "accept"})
	after, _ := r.Find(t.Context(), r.all[0].Key)
	if len(before) != 1 || len(after) != 1 || len(after[0].Sealed) >= len(before[0].Sealed) {
		t.Errorf("before the call ended there was %v, then %v: want that the link was used, and nothing more", before, after)
	}
	v.get(asked.link(t, "credentials")).says(t, 200, "Done")
}

// An entry opens under its own name alone: whoever can write to the database cannot give one user the other's secret.
func TestSecurity23EntriesDoNotMove(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, users: true, page: page.Options{Vault: r}, elicit: elicit.Options{Secrets: [][]byte{testSecret}}})
	var values []page.Entry
	for _, user := range []string{"ann", "bob"} {
		v := visit(t, user)
		v.press(v.get(s.call(user, "Keyed", nil, nil).link(t, "apiKey")), "send", "key of "+user).says(t, 200, "Done")
		for _, e := range r.all {
			if strings.HasPrefix(e.Key, "v:") {
				values = append(values, e)
			}
		}
		r.all = nil
	}
	if len(values) != 2 || values[0].Key == values[1].Key {
		t.Fatalf("the vault has %v", values)
	}
	moved := values[1]
	moved.Key = values[0].Key
	if ok, err := r.Vault.Replace(t.Context(), values[0], moved); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.call("ann", "Keyed", nil, nil).link(t, "apiKey") // asked again
	if got := s.call("bob", "Keyed", nil, nil).text(); got != "Sunny **********." {
		t.Errorf("got %s", got)
	}
	if logs := s.logs.String(); !strings.Contains(logs, "cannot be opened") {
		t.Error("the log does not tell")
	}
}

// Secrets are replaced without asking anybody again: what is read is sealed anew, and the start tells what is still needed.
func TestSecurity23Rotation(t *testing.T) {
	old, young := testSecret, []byte("fedcba9876543210fedcba9876543210")
	vault := page.NewMemoryVault()
	start := func(secrets ...[]byte) *site {
		return newSite(t, setup{tools: weather, users: true, page: page.Options{Vault: vault}, elicit: elicit.Options{Secrets: secrets}})
	}
	kids := func() []string {
		names, err := vault.Secrets(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	s := start(old)
	if logs := s.logs.String(); strings.Contains(logs, "kid") {
		t.Errorf("an empty vault needs no secret: %s", logs)
	}
	r := s.call("ann", "Keyed", nil, nil)
	v := visit(t, "ann")
	v.press(v.get(r.link(t, "apiKey")), "send", "12345678").says(t, 200, "Done")
	s.call("ann", "Keyed", r, map[string]string{"apiKey": "accept"})
	first := kids()
	if len(first) != 1 {
		t.Fatalf("sealed under %v", first)
	}

	s = start(young, old)
	if logs := s.logs.String(); !strings.Contains(logs, "still sealed under an older secret") || !strings.Contains(logs, first[0]) {
		t.Errorf("the start does not tell: %s", logs)
	}
	if got := s.call("ann", "Keyed", nil, nil).text(); got != "Sunny ********." {
		t.Errorf("got %s", got)
	}
	if now := kids(); len(now) != 2 { // the used link is under the old one until it expires
		t.Errorf("sealed under %v", now)
	}
	s = start(young)
	if logs := s.logs.String(); !strings.Contains(logs, "not in elicit.Options.Secrets") || !strings.Contains(logs, first[0]) {
		t.Errorf("the start does not tell: %s", logs)
	}
	if got := s.call("ann", "Keyed", nil, nil).text(); got != "Sunny ********." {
		t.Errorf("what was read under both secrets needs the old one: %s", got)
	}
	s = start([]byte("another secret, of thirty-two bytes"))
	s.call("ann", "Keyed", nil, nil).link(t, "apiKey")
}
