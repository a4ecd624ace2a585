package page_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// A forgetfulSite has the tool Events, which forgets the sign-in when it is told to, and says what came of it.
type forgetfulSite struct {
	*calendarSite
	forget atomic.Bool
	before func() // called between the answer and Forget
}

func newForgetfulSite(t *testing.T, p *provider, config func(*oauth2.Config), opts page.ConnectOptions, users bool) *forgetfulSite {
	t.Helper()
	vault := newSpyVault()
	s := &forgetfulSite{calendarSite: &calendarSite{p: p, vault: vault}}
	s.site = newSite(t, setup{users: users, elicit: elicit.Options{Secrets: [][]byte{testSecret}}, page: page.Options{Vault: vault, Wait: 10 * time.Second}})
	c := p.config("calendar.read")
	if config != nil {
		config(&c)
	}
	q := page.Connect("calendar", "Connect your calendar", c, &opts)
	elicit.AddTool(s.shop, &mcp.Tool{Name: "Events"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		source, err := q.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		if !s.forget.Load() {
			_, err := source.Token()
			return elicit.Text("connected"), nil, err
		}
		if s.before != nil {
			s.before()
		}
		if err := page.Forget(ctx, q); errors.Is(err, page.ErrNotRevoked) {
			return elicit.Text("forgotten, and not revoked: " + err.Error()), nil, nil
		} else if err != nil {
			return nil, nil, err
		}
		return elicit.Text("forgotten"), nil, nil
	}, elicit.Asks(q))
	return s
}

// connected is a call that has just been allowed what it needs.
func (s *forgetfulSite) connected(user string) *round {
	s.t.Helper()
	r, link := s.asks(user)
	visit(s.t, user).connects(link)
	return r
}

// What is forgotten is revoked at the provider: the refresh token, and the access token, which the provider need not end with
// it. However that client says who it is.
func TestRevoke(t *testing.T) {
	for name, config := range map[string]func(*oauth2.Config){
		"in a header":   nil,
		"in the body":   func(c *oauth2.Config) { c.Endpoint.AuthStyle = oauth2.AuthStyleInParams },
		"to be guessed": func(c *oauth2.Config) { c.Endpoint.AuthStyle = oauth2.AuthStyleAutoDetect },
	} {
		for _, user := range []string{"ann", ""} {
			t.Run(name+" "+user, func(t *testing.T) {
				p := newProvider(t)
				s := newForgetfulSite(t, p, config, page.ConnectOptions{RevocationURL: p.URL + "/revoke"}, user != "")
				r := s.connected(user)
				if p.alive() != 2 {
					t.Fatalf("%d tokens", p.alive())
				}
				s.forget.Store(true)
				if got := s.goesOn(user, r).text(); got != "forgotten" {
					t.Fatalf("got %q", got)
				}
				if p.alive() != 0 {
					t.Errorf("%d tokens are alive", p.alive())
				}
				s.asks(user)
				if logs := s.logs.String(); !strings.Contains(logs, "a sign-in was revoked") || p.leaked(logs) != "" {
					t.Errorf("the log: %s", logs)
				}
			})
		}
	}
}

// Where the provider does not revoke, the tokens are gone here all the same, and the error says so: without what the provider
// wrote, and without leaving by a redirect.
func TestRevokeFails(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(p *provider)
		want string
	}{
		"broken":         {func(p *provider) { p.revoking = 503 }, `the revocation endpoint answered HTTP 503, error "server_error"`},
		"redirects":      {func(p *provider) { p.revoking = http.StatusFound }, `the revocation endpoint answered HTTP 307`},
		"does not exist": {func(p *provider) { p.revoking = -1 }, "the revocation endpoint cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			p.set(func() { c.set(p) })
			at := p.URL + "/revoke"
			if p.revoking < 0 {
				at = "http://127.0.0.1:1/revoke"
			}
			s := newForgetfulSite(t, p, nil, page.ConnectOptions{Provider: "Example Calendar", RevocationURL: at}, true)
			r := s.connected("ann")
			s.forget.Store(true)
			got := s.goesOn("ann", r).text()
			if !strings.Contains(got, "not revoked: page: the sign-in is forgotten here, but was not revoked at the provider (Example Calendar): "+c.want) || p.leaked(got) != "" || strings.Contains(got, "127.0.0.1") {
				t.Errorf("got %q", got)
			}
			if n := s.vault.there(t, "v:"); n != 0 {
				t.Errorf("%d tokens are kept", n)
			}
			s.asks("ann")
			if logs := s.logs.String(); !strings.Contains(logs, "could not be revoked") || p.leaked(logs) != "" {
				t.Errorf("the log: %s", logs)
			}
		})
	}
}

// What needs no revoking is none of these errors: a token that the user revoked before, for a provider that says so, and
// access tokens where only refresh tokens can be revoked.
func TestRevokeNothingLeft(t *testing.T) {
	p := newProvider(t)
	s := newForgetfulSite(t, p, nil, page.ConnectOptions{RevocationURL: p.URL + "/revoke"}, true)
	r := s.connected("ann")
	s.forget.Store(true)
	p.set(func() { p.loud = true })
	s.before = p.revoke
	if got := s.goesOn("ann", r).text(); got != "forgotten" {
		t.Errorf("got %q", got)
	}
	s.before = nil
	p.set(func() { p.loud, p.revoking = false, http.StatusBadRequest })
	s.forget.Store(false)
	r = s.connected("ann")
	s.forget.Store(true)
	if got := s.goesOn("ann", r).text(); got != "forgotten" || p.alive() != 1 {
		t.Errorf("got %q, %d tokens are alive", got, p.alive())
	}
}

// A token that is refreshed while another call forgets it is not left alive.
func TestRevokeWhileRefreshing(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	s := newForgetfulSite(t, p, nil, page.ConnectOptions{RevocationURL: p.URL + "/revoke"}, true)
	s.connected("ann")
	r := s.forgottenWhileRefreshed(t)
	r.link(t, "calendar")
	if _, refreshed, _ := p.counts(); refreshed != 1 || p.alive() != 1 { // the access token of before, which has expired
		t.Errorf("refreshed %d times, %d tokens are alive", refreshed, p.alive())
	}
}

// Tokens that come when the question has been declined are revoked.
func TestRevokeWhatCameTooLate(t *testing.T) {
	for _, user := range []string{"ann", ""} {
		p := newProvider(t)
		s := newForgetfulSite(t, p, nil, page.ConnectOptions{RevocationURL: p.URL + "/revoke"}, user != "")
		r, link := s.asks(user)
		v := visit(t, user)
		callback := v.toCallback(link)
		hold := make(chan struct{})
		p.set(func() { p.hold = hold })
		back := make(chan *view)
		go func() { back <- v.get(callback) }()
		waitUntil(t, func() bool { return p.begun() == 1 }) // the code is being exchanged
		if got := s.call(user, "Events", r, map[string]string{"calendar": "decline"}); !got.Result.IsError {
			t.Errorf("got %q", got.text())
		}
		close(hold)
		(<-back).says(t, http.StatusConflict, "Declined")
		if p.alive() != 0 {
			t.Errorf("%q: %d tokens are alive", user, p.alive())
		}
	}
}

// Without RevocationURL nothing is sent; one that is wrong is an error of the question.
func TestRevocationURL(t *testing.T) {
	p := newProvider(t)
	s := newForgetfulSite(t, p, nil, page.ConnectOptions{}, true)
	r := s.connected("ann")
	s.forget.Store(true)
	if got := s.goesOn("ann", r).text(); got != "forgotten" || p.alive() != 2 {
		t.Errorf("got %q, %d tokens are alive", got, p.alive())
	}
	for _, bad := range []string{"http://calendar.example.com/revoke", "/revoke", "https://user@calendar.example.com/revoke", "javascript:x"} {
		if err := calendar(p, &page.ConnectOptions{RevocationURL: bad}).Err(); err == nil || !strings.Contains(err.Error(), "ConnectOptions.RevocationURL") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
