package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A site is a server with pages, on a loopback port.
type site struct {
	t     *testing.T
	mcp   string // URL of the endpoint
	base  string // of the pages
	shop  *elicit.Server
	pages *page.Pages
	logs  *lockedBuffer
	wire  *lockedBuffer // what MCP messages said, both ways

	handler *atomic.Pointer[http.Handler]
}

// setup of a site.
type setup struct {
	elicit elicit.Options
	page   page.Options
	users  bool                            // callers have tokens, and visitors cookies: their names
	tools  func(*elicit.Server)            // registers them
	proxy  func(http.Handler) http.Handler // in front of the endpoint
	after  *site                           // whose address it takes over
}

var testSecret = []byte("0123456789abcdef0123456789abcdef")

func newSite(t *testing.T, s setup) *site {
	t.Helper()
	mux := http.NewServeMux()
	st := &site{t: t, logs: &lockedBuffer{}, wire: &lockedBuffer{}}
	if s.after != nil {
		st.mcp, st.base, st.handler = s.after.mcp, s.after.base, s.after.handler
	} else {
		st.handler = &atomic.Pointer[http.Handler]{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*st.handler.Load()).ServeHTTP(w, r) }))
		t.Cleanup(server.Close)
		st.mcp, st.base = server.URL+"/mcp", server.URL+"/pages"
	}
	s.elicit.Logger = slog.New(slog.NewJSONHandler(st.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	st.shop = elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), &s.elicit)
	if s.page.Base == "" {
		s.page.Base = st.base
	}
	if s.page.Wait == 0 {
		s.page.Wait = 20 * time.Millisecond
	}
	if s.users && s.page.Identify == nil {
		s.page.Identify = cookies
	}
	st.pages = page.Enable(st.shop, s.page)
	if s.tools != nil {
		s.tools(st.shop)
	}
	handler := st.shop.Handler(nil)
	if s.users {
		handler = auth.RequireBearerToken(tokens, nil)(handler)
	}
	if s.proxy != nil {
		handler = s.proxy(handler)
	}
	mux.Handle("/mcp", handler)
	mux.Handle("/pages/", st.pages)
	var h http.Handler = mux
	st.handler.Store(&h)
	return st
}

const issuer = "https://id.example.com"

// tokens is a verifier for which a token is a user's name, perhaps with a client: ann or ann@editor.
func tokens(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	user, client, _ := strings.Cut(token, "@")
	return &auth.TokenInfo{UserID: user, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{"iss": issuer, "client_id": client}}, nil
}

// cookies is an Identify for which a cookie is a user's name.
func cookies(w http.ResponseWriter, r *http.Request) (page.Person, bool) {
	c, err := r.Cookie("user")
	if err != nil {
		http.Redirect(w, r, "/login?to="+url.QueryEscape(page.ReturnTo(r)), http.StatusSeeOther)
		return page.Person{}, false
	}
	return page.Person{Issuer: issuer, Subject: c.Value, Name: c.Value + "@example.com"}, true
}

// lockedBuffer is a buffer that several goroutines write to.
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

// A round is what a tools/call of 2026-07-28 came back with.
type round struct {
	Status int
	Result struct {
		ResultType    string
		IsError       bool
		Content       []struct{ Text string }
		InputRequests map[string]struct {
			Method string
			Params struct{ Mode, Message, URL string }
		}
		RequestState string
	}
	Error *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// text is what the tool said.
func (r *round) text() string {
	if r.Error != nil {
		return fmt.Sprintf("error %d: %s", r.Error.Code, r.Error.Message)
	}
	if len(r.Result.Content) == 0 {
		return r.Result.ResultType
	}
	return r.Result.Content[0].Text
}

// link is the URL that a key asks to open.
func (r *round) link(t *testing.T, key string) string {
	t.Helper()
	q := r.Result.InputRequests[key]
	if q.Params.Mode != "url" || q.Params.URL == "" {
		t.Fatalf("%q is not asked by a link: %+v", key, r)
	}
	return q.Params.URL
}

// call sends a tools/call as user ("" for nobody). before is the round that asked; actions are what the client says to its
// questions, by key.
func (s *site) call(user, tool string, before *round, actions map[string]string) *round {
	s.t.Helper()
	r, err := s.try(user, tool, `{"url":{}}`, before, actions)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *site) try(user, tool, elicitation string, before *round, actions map[string]string) (*round, error) {
	params := map[string]any{"name": tool, "arguments": map[string]any{}, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": json.RawMessage(elicitation)},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "editor", "version": "1"},
	}}
	if before != nil {
		if before.Result.RequestState != "" {
			params["requestState"] = before.Result.RequestState
		}
		responses := map[string]any{}
		for k, a := range actions {
			responses[k] = map[string]any{"action": a}
		}
		params["inputResponses"] = responses
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	req, err := http.NewRequest(http.MethodPost, s.mcp, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(k, v)
	}
	if user != "" {
		req.Header.Set("Authorization", "Bearer "+user)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.wire, "%s\n%s\n", body, raw)
	r := &round{Status: res.StatusCode}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("%d %s: %w", res.StatusCode, raw, err)
	}
	return r, nil
}

// A visitor is a person at a browser that follows no redirects by itself.
type visitor struct {
	t       *testing.T
	user    string // a cookie
	client  http.Client
	seen    strings.Builder // all that the browser was sent, and sent in addresses
	headers http.Header     // added to each request
	cookies []*http.Cookie
}

func visit(t *testing.T, user string) *visitor {
	return &visitor{t: t, user: user, client: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// A view is what a page said.
type view struct {
	status int
	header http.Header
	body   string
	at     string
}

func (v *visitor) send(req *http.Request) *view {
	v.t.Helper()
	if v.user != "" {
		req.AddCookie(&http.Cookie{Name: "user", Value: v.user})
	}
	for _, c := range v.cookies {
		req.AddCookie(c)
	}
	for k, values := range v.headers {
		req.Header[k] = values
		if k == "Host" {
			req.Host = values[0]
		}
	}
	res, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	v.cookies = append(v.cookies, res.Cookies()...)
	fmt.Fprintf(&v.seen, "%s %v\n%s\n", req.URL, res.Header, body)
	return &view{res.StatusCode, res.Header, string(body), req.URL.String()}
}

func (v *visitor) get(at string) *view {
	v.t.Helper()
	req, err := http.NewRequest(http.MethodGet, at, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.send(req)
}

// press fills in a page's form and presses a button of it, and follows to where that leads on the same host.
func (v *visitor) press(p *view, button string, values ...string) *view {
	v.t.Helper()
	r := v.post(p, button, values...)
	if to := r.header.Get("Location"); r.status == http.StatusSeeOther && strings.HasPrefix(to, "/") {
		u, _ := url.Parse(r.at)
		return v.get(u.Scheme + "://" + u.Host + to)
	}
	return r
}

var (
	csrfField = regexp.MustCompile(`name="csrf" value="([^"]*)"`)
	actionOf  = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
)

func (v *visitor) post(p *view, button string, values ...string) *view {
	v.t.Helper()
	csrf, action := csrfField.FindStringSubmatch(p.body), actionOf.FindStringSubmatch(p.body)
	if csrf == nil || action == nil {
		v.t.Fatalf("%d: there is no form in\n%s", p.status, p.body)
	}
	u, err := url.Parse(p.at)
	if err != nil {
		v.t.Fatal(err)
	}
	posted := url.Values{"csrf": {csrf[1]}, "button": {button}}
	for i, value := range values {
		posted.Set(fmt.Sprintf("value%d", i), value)
	}
	req, err := http.NewRequest(http.MethodPost, u.Scheme+"://"+u.Host+action[1], strings.NewReader(posted.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", u.Scheme+"://"+u.Host)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return v.send(req)
}

// says checks what a page says.
func (p *view) says(t *testing.T, status int, texts ...string) {
	t.Helper()
	if p.status != status {
		t.Errorf("status %d, want %d: %s", p.status, status, p.body)
	}
	for _, s := range texts {
		if !strings.Contains(p.body, s) {
			t.Errorf("the page does not say %q:\n%s", s, p.body)
		}
	}
}
