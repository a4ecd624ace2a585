package oidc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var secretOne, secretTwo = bytes.Repeat([]byte("1"), 32), bytes.Repeat([]byte("2"), 32)

// A site is a server whose tool asks for a key, on a page that signs in with an issuer.
type site struct {
	t     *testing.T
	url   string
	login *Login
	log   *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newSite(t *testing.T, i *issuer, secrets ...[]byte) *site {
	t.Helper()
	mux := http.NewServeMux()
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	s := &site{t: t, url: front.URL, log: &lockedBuffer{}}
	logger := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	base := front.URL + "/pages"
	login, err := New(Options{Issuer: i.URL, ClientID: "pages", ClientSecret: "client-secret-of-the-pages", Base: base, Secrets: secrets, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	s.login = login
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), &elicit.Options{Logger: logger})
	key := page.SecretInput("apiKey", "Your key of weather.example.com")
	elicit.AddTool(shop, &mcp.Tool{Name: "Forecast"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		key, err := key.Value(ctx)
		return elicit.Text(fmt.Sprintf("a key of %d", len(key.Reveal()))), nil, err
	}, elicit.Asks(key))
	mux.Handle("/pages/", page.Enable(shop, page.Options{Base: base, Identify: login.Identify, Wait: 50 * time.Millisecond}))
	mux.Handle("/", auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{"iss": i.URL}}, nil
	}, nil)(shop.Handler(nil)))
	return s
}

// call sends a round of a call as user: it is what the tool says, or the link that it asks by, and the state.
func (s *site) call(user, state string) (text, link, next string) {
	s.t.Helper()
	params := map[string]any{"name": "Forecast", "arguments": map[string]any{}, "requestState": state, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}}}
	if state != "" {
		params["inputResponses"] = map[string]any{"apiKey": map[string]any{"action": "accept"}}
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	req, _ := http.NewRequest(http.MethodPost, s.url+"/", bytes.NewReader(body))
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "Forecast", "Authorization": "Bearer " + user} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var m struct {
		Result struct {
			Content       []struct{ Text string }
			InputRequests map[string]struct{ Params struct{ URL string } }
			RequestState  string
		}
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(raw, &m) != nil {
		s.t.Fatal(err, string(raw))
	}
	for _, c := range m.Result.Content {
		text += c.Text
	}
	return text, m.Result.InputRequests["apiKey"].Params.URL, m.Result.RequestState
}

func (s *site) asks(user string) (link, state string) {
	s.t.Helper()
	text, link, state := s.call(user, "")
	if link == "" {
		s.t.Fatalf("the call does not ask: %q", text)
	}
	return link, state
}

// A browser follows no redirects by itself.
type browser struct {
	t    *testing.T
	c    http.Client
	seen []string // addresses of the site
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, c: http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

type shown struct {
	at, body, next string
	status         int
	header         http.Header
	cookies        []*http.Cookie
}

func (b *browser) do(req *http.Request) *shown {
	b.t.Helper()
	res, err := b.c.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	_, afterStyle, _ := strings.Cut(string(body), "</style>")
	p := &shown{at: req.URL.String(), body: afterStyle, status: res.StatusCode, header: res.Header, cookies: res.Cookies()}
	if to, err := res.Location(); err == nil {
		p.next = to.String()
	}
	b.seen = append(b.seen, p.at)
	return p
}

func (b *browser) get(at string) *shown {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodGet, at, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(req)
}

// open opens an address and follows to the end.
func (b *browser) open(at string) *shown {
	b.t.Helper()
	p := b.get(at)
	for range 12 {
		if p.next == "" {
			return p
		}
		p = b.get(p.next)
	}
	b.t.Fatalf("%s redirects without end", at)
	return nil
}

// callback opens a link as far as to where the issuer sends the browser back to.
func (b *browser) callback(link string) string {
	b.t.Helper()
	p := b.get(link)
	if p.status != http.StatusSeeOther {
		b.t.Fatalf("%s is %d: %s", link, p.status, p.body)
	}
	return b.get(p.next).next
}

func (b *browser) post(at, origin string, form url.Values) *shown {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", origin)
	return b.do(req)
}

func (p *shown) says(t *testing.T, status int, texts ...string) {
	t.Helper()
	if p.status != status {
		t.Errorf("%s is %d, want %d: %s", p.at, p.status, status, p.body)
	}
	for _, s := range texts {
		if !strings.Contains(p.body, s) {
			t.Errorf("%s does not say %q:\n%s", p.at, s, p.body)
		}
	}
}

var (
	csrfField = regexp.MustCompile(`name="csrf" value="([^"]*)"`)
	actionOf  = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	linkOn    = regexp.MustCompile(`<a href="([^"]*)"`)
)

func find(t *testing.T, re *regexp.Regexp, p *shown) string {
	t.Helper()
	m := re.FindStringSubmatch(p.body)
	if m == nil {
		t.Fatalf("%s has no %s:\n%s", p.at, re, p.body)
	}
	return html.UnescapeString(m[1])
}

// send fills in the page of a link.
func (b *browser) send(s *site, p *shown) *shown {
	b.t.Helper()
	return b.post(s.url+find(b.t, actionOf, p), s.url, url.Values{"csrf": {find(b.t, csrfField, p)}, "button": {"send"}, "value0": {"a secret key"}})
}

// A person who is not signed in is sent to the issuer, comes back to the page, and the call goes on.
func TestLogin(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i)
	link, state := s.asks("ann")
	b := newBrowser(t)
	first := b.get(link)
	if first.header.Get("Referrer-Policy") != "no-referrer" || first.header.Get("Cache-Control") != "no-store" {
		t.Errorf("on the way to the issuer: %v", first.header)
	}
	to, err := url.Parse(first.next)
	if err != nil {
		t.Fatal(err)
	}
	q := to.Query()
	for name, want := range map[string]string{"client_id": "pages", "response_type": "code", "scope": "openid profile", "redirect_uri": s.url + "/pages/login/callback", "code_challenge_method": "S256", "prompt": ""} {
		if q.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	if len(q.Get("state")) < 43 || len(q.Get("nonce")) < 43 || len(q.Get("code_challenge")) != 43 {
		t.Errorf("state, nonce or challenge is short: %v", q)
	}
	ticket := link[strings.LastIndex(link, "/")+1:]
	if strings.Contains(first.next, ticket) {
		t.Error("the issuer sees the ticket")
	}
	p := b.open(first.next)
	p.says(t, http.StatusOK, "Your key of weather.example.com", "Ann of ann")
	if strings.Contains(p.at, ticket) {
		t.Errorf("after the login, the address has the ticket: %s", p.at)
	}
	if done := b.send(s, p); done.status != http.StatusSeeOther {
		t.Fatalf("%d: %s", done.status, done.body)
	}
	if text, _, _ := s.call("ann", state); text != "a key of 12" {
		t.Errorf("the call ends with %q", text)
	}

	// The second time there is a session.
	link, _ = s.asks("ann")
	before := i.exchanges()
	b.open(link).says(t, http.StatusOK, "Ann of ann")
	if i.exchanges() != before {
		t.Error("signed in although there was a session")
	}
	for _, secret := range i.secrets {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// Who signs in as another than was asked sees nothing, and can sign in as themselves.
func TestSecurity20SomeoneElseSignsIn(t *testing.T) {
	i := newIssuer(t)
	i.sub = "eve"
	s := newSite(t, i)
	link, state := s.asks("ann")
	b := newBrowser(t)
	p := b.open(link)
	p.says(t, http.StatusForbidden, "This link is not yours", "Ann of eve", "Sign in as someone else")
	if strings.Contains(p.body, "weather.example.com") {
		t.Error("the page shows what is Ann's")
	}
	i.set(func() { i.sub = "ann" })
	p = b.open(find(t, linkOn, p))
	if i.last().Get("prompt") != "login" {
		t.Errorf("the issuer may sign the same person in: prompt is %q", i.last().Get("prompt"))
	}
	p.says(t, http.StatusOK, "Your key of weather.example.com", "Ann of ann")
	b.send(s, p)
	if text, _, _ := s.call("ann", state); text != "a key of 12" {
		t.Errorf("the call ends with %q", text)
	}

	// The same subject of another issuer is somebody else: here, a session that another configuration had sealed.
	other := newIssuer(t)
	s2 := newSite(t, other, secretOne)
	s3 := newSite(t, i, secretOne)
	b = newBrowser(t)
	link, _ = s2.asks("ann")
	b.open(link).says(t, http.StatusOK)
	stolen := b.c.Jar.Cookies(parse(t, s2.url))
	link, _ = s3.asks("ann")
	c := newBrowser(t)
	for _, cookie := range stolen {
		cookie.Name = strings.Replace(cookie.Name, s2.login.prefix, s3.login.prefix, 1)
	}
	c.c.Jar.SetCookies(parse(t, s3.url), stolen)
	if p := c.get(link); p.status != http.StatusSeeOther {
		t.Errorf("a session of another issuer counts: %d %s", p.status, p.body)
	}
}

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
