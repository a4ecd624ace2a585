package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/examples/calendar/provider"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// running is the example, and the service behind it.
type running struct {
	url     string
	service *provider.Provider
}

func run(t *testing.T, login bool, life time.Duration) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(nil)
	addr, issuer := front.Listener.Addr().String(), "http://"+l.Addr().String()
	service, secrets, err := newProvider(addr, issuer, life)
	if err != nil {
		t.Fatal(err)
	}
	back := httptest.NewUnstartedServer(service)
	back.Listener.Close()
	back.Listener = l
	back.Start()
	t.Cleanup(back.Close)
	server, err := newServer(addr, issuer, service, login, secrets)
	if err != nil {
		t.Fatal(err)
	}
	front.Config.Handler = server
	front.Start()
	t.Cleanup(front.Close)
	return &running{front.URL, service}
}

// list calls the tool as somebody, who does with the page what does says, to its end.
func (r *running) list(t *testing.T, who string, does func(link string)) *mcp.CallToolResult {
	t.Helper()
	opts := &answer.Options{URL: true}
	if who != "" {
		token, err := r.service.Token(who, "assistant")
		if err != nil {
			t.Fatal(err)
		}
		opts.Token = token
	}
	opens := answer.AnswererFunc(func(_ context.Context, q *answer.Request) (*mcp.ElicitResult, error) {
		if does == nil || q.Waiting {
			return nil, errors.New("asked, and not expected to be")
		}
		does(q.Params.URL)
		return &mcp.ElicitResult{Action: answer.ActionAccept}, nil
	})
	opts.Answerer = opens
	cs, err := answer.Connect(t.Context(), &mcp.Implementation{Name: "test", Version: "1"}, r.url+"/", opts)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := answer.CallTool(ctx, cs, &mcp.CallToolParams{Name: "ListEvents"}, opens)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	var s string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			s += t.Text
		}
	}
	return s
}

// A browser without scripts. It signs in as person wherever it is asked to.
type browser struct {
	t      *testing.T
	c      http.Client
	person string
	allow  bool // the calendar
}

func newBrowser(t *testing.T, person string) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := http.Client{Jar: jar, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		r.Header.Del("Origin") // browsers send none with a GET
		if len(via) > 10 {
			return errors.New("redirected too often")
		}
		return nil
	}}
	return &browser{t: t, c: c, person: person, allow: true}
}

var (
	refresh = regexp.MustCompile(`<meta http-equiv="refresh" content="0; url=([^"]*)"`)
	hidden  = regexp.MustCompile(`<input type="hidden" name="(csrf|id)" value="([^"]*)"`)
	action  = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	scopes  = regexp.MustCompile(`name="scope" value="([^"]*)"`)
)

// open goes from a link to where it ends: it signs in, and continues where a page leads on.
func (b *browser) open(link string) string {
	b.t.Helper()
	at, body := b.read(b.c.Get(link))
	for range 10 {
		form := url.Values{}
		for _, m := range hidden.FindAllStringSubmatch(body, -1) {
			form.Set(m[1], html.UnescapeString(m[2]))
		}
		to := action.FindStringSubmatch(body)
		switch m := refresh.FindStringSubmatch(body); {
		case m != nil:
			at, body = b.read(b.c.Get(html.UnescapeString(m[1])))
			continue
		case to == nil, strings.Contains(body, "class=\"careful\""): // the end, or something went wrong
			return body
		case form.Has("id"): // the service's own page
			form.Set("person", b.person)
			if b.allow {
				for _, m := range scopes.FindAllStringSubmatch(body, -1) {
					form.Add("scope", m[1])
				}
			}
		default:
			form.Set("button", "send")
		}
		base, _ := url.Parse(at)
		where, err := base.Parse(to[1])
		if err != nil {
			b.t.Fatal(err)
		}
		req, _ := http.NewRequest(http.MethodPost, where.String(), strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", base.Scheme+"://"+base.Host)
		at, body = b.read(b.c.Do(req))
	}
	b.t.Fatalf("%s leads nowhere:\n%s", link, body)
	return ""
}

func (b *browser) read(res *http.Response, err error) (at, body string) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, afterStyle, ok := strings.Cut(string(raw), "</style>"); ok && !refresh.Match(raw) {
		return res.Request.URL.String(), afterStyle
	}
	return res.Request.URL.String(), string(raw)
}

const adasEvents = "09:00 Analytical engine, progress\n14:00 Tea with Charles"

func TestOnOneMachine(t *testing.T) {
	r := run(t, false, 0)
	if got := text(r.list(t, "", func(link string) { newBrowser(t, "ada").open(link) })); got != adasEvents {
		t.Errorf("got %q", got)
	}
}

// Each user connects once; a token that expires is refreshed; one that was revoked, in whatever way, is asked for again.
func TestUsers(t *testing.T) {
	r := run(t, true, 2*time.Second) // in whole seconds, rounded down: they say 1
	ada := newBrowser(t, "ada")
	if got := text(r.list(t, "ada", func(link string) { ada.open(link) })); got != adasEvents {
		t.Fatalf("got %q", got)
	}
	if got := text(r.list(t, "bob", func(link string) { newBrowser(t, "bob").open(link) })); got != "10:00 Compiler review" {
		t.Errorf("got %q", got)
	}
	for deadline := time.Now().Add(20 * time.Second); r.service.Refreshed() == 0; {
		if got := text(r.list(t, "ada", nil)); got != adasEvents {
			t.Fatalf("got %q", got)
		}
		if time.Now().After(deadline) {
			t.Fatal("the token is never refreshed")
		}
	}
	for _, expired := range []bool{false, true} {
		r.service.Revoke("ada", "shop")
		if expired {
			time.Sleep(1100 * time.Millisecond)
		}
		asked := 0
		if got := text(r.list(t, "ada", func(link string) {
			asked++
			if page := ada.open(link); !strings.Contains(page, "<h1>Done</h1>") {
				t.Errorf("the page says:\n%s", page)
			}
		})); got != adasEvents || asked != 1 {
			t.Errorf("after it was revoked (expired: %v): %q, asked %d times", expired, got, asked)
		}
	}
}

// What is forgotten is revoked at the service, by its revocation endpoint.
func TestForgetRevokes(t *testing.T) {
	front := httptest.NewUnstartedServer(nil)
	back := httptest.NewUnstartedServer(nil)
	addr, issuer := front.Listener.Addr().String(), "http://"+back.Listener.Addr().String()
	service, secrets, err := newProvider(addr, issuer, 0)
	if err != nil {
		t.Fatal(err)
	}
	calendar := connectCalendar(issuer, secrets.shop)
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "calendar", Version: "1.0.0"}, nil), nil)
	elicit.AddTool(shop, &mcp.Tool{Name: "ListEvents"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if _, err := calendar.Value(ctx); err != nil {
			return nil, nil, err
		}
		before := service.Granted("ada", "shop")
		err := page.Forget(ctx, calendar)
		return elicit.Text(fmt.Sprintf("%d tokens before, %d after", before, service.Granted("ada", "shop"))), nil, err
	}, elicit.Asks(calendar))
	mux := http.NewServeMux()
	mux.Handle("/pages/", page.Enable(shop, page.Options{Base: "http://" + addr + "/pages"}))
	mux.Handle("/", shop.Handler(nil))
	front.Config.Handler, back.Config.Handler = mux, service
	for _, s := range []*httptest.Server{front, back} {
		s.Start()
		t.Cleanup(s.Close)
	}
	r := &running{front.URL, service}
	if got := text(r.list(t, "", func(link string) { newBrowser(t, "ada").open(link) })); got != "2 tokens before, 0 after" {
		t.Errorf("got %q", got)
	}
}

// Who signs in as another than the caller connects nothing, and who allows less than is needed is told.
func TestNotAsAsked(t *testing.T) {
	r := run(t, true, 0)
	got := text(r.list(t, "ada", func(link string) {
		if page := newBrowser(t, "bob").open(link); !strings.Contains(page, "This link is not yours") || !strings.Contains(page, "Bob Hopper") {
			t.Errorf("to Bob, the page says:\n%s", page)
		}
		ada := newBrowser(t, "ada")
		ada.allow = false
		if page := ada.open(link); !strings.Contains(page, "You allowed less than is needed: calendar.read is missing") {
			t.Errorf("without the scope, the page says:\n%s", page)
		}
		ada.allow, ada.person = true, "nobody"
		if page := ada.open(link); !strings.Contains(page, "You did not allow it at Example Calendar") {
			t.Errorf("refused at the service, the page says:\n%s", page)
		}
		ada.person = "ada"
		ada.open(link)
	}))
	if got != adasEvents {
		t.Errorf("got %q", got)
	}
}
