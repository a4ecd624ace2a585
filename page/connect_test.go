package page_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// spyVault notes what is stored.
type spyVault struct {
	page.Vault
	mu      sync.Mutex
	entries []page.Entry
	failing error // of Add
}

func (v *spyVault) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failing = err
}

func newSpyVault() *spyVault { return &spyVault{Vault: page.NewMemoryVault()} }

func (v *spyVault) Add(ctx context.Context, e page.Entry) (bool, error) {
	v.note(e)
	v.mu.Lock()
	failing := v.failing
	v.mu.Unlock()
	if failing != nil {
		return false, failing
	}
	return v.Vault.Add(ctx, e)
}

func (v *spyVault) Replace(ctx context.Context, old, e page.Entry) (bool, error) {
	v.note(e)
	return v.Vault.Replace(ctx, old, e)
}

func (v *spyVault) note(e page.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.entries = append(v.entries, e)
}

// stored are the entries whose keys begin with prefix that were stored so far.
func (v *spyVault) stored(prefix string) (es []page.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range v.entries {
		if strings.HasPrefix(e.Key, prefix) {
			es = append(es, e)
		}
	}
	return es
}

// there is how many entries with that prefix are in the vault now.
func (v *spyVault) there(t *testing.T, prefix string) int {
	t.Helper()
	n := map[string]bool{}
	for _, e := range v.stored(prefix) {
		found, err := v.Find(t.Context(), e.Key)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			n[e.Key] = true
		}
	}
	return len(n)
}

// addEvents adds the tool Events, which lists what is in the caller's calendar.
func addEvents(shop *elicit.Server, logs io.Writer, p *provider, question *elicit.Question[oauth2.TokenSource]) {
	elicit.AddTool(shop, &mcp.Tool{Name: "Events"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		source, err := question.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		slog.New(slog.NewJSONHandler(logs, nil)).Info("connected", "source", source, "printed", fmt.Sprintf("%v %+v %#v %s %q %x", source, source, source, source, source, source))
		res, err := oauth2.NewClient(ctx, source).Get(p.URL + "/events")
		if err != nil {
			return nil, nil, err
		}
		defer res.Body.Close()
		if res.StatusCode == http.StatusUnauthorized {
			if err := page.Forget(ctx, question); err != nil {
				return nil, nil, err
			}
			_, err := question.Value(ctx)
			return nil, nil, err
		}
		b, err := io.ReadAll(res.Body)
		return elicit.Text(string(b)), nil, err
	}, elicit.Asks(question))
}

// A calendarSite has the tool Events.
type calendarSite struct {
	*site
	p     *provider
	vault *spyVault
}

func calendar(p *provider, opts *page.ConnectOptions) *elicit.Question[oauth2.TokenSource] {
	return page.Connect("calendar", "Connect your calendar", p.config("calendar.read", "offline_access"), opts)
}

// newCalendarSite is one for people who are signed in.
func newCalendarSite(t *testing.T, p *provider, opts *page.ConnectOptions) *calendarSite {
	t.Helper()
	return newCalendarSiteWith(t, p, opts, newSpyVault(), true)
}

func newCalendarSiteWith(t *testing.T, p *provider, opts *page.ConnectOptions, vault *spyVault, users bool) *calendarSite {
	t.Helper()
	s := newSite(t, setup{users: users, elicit: elicit.Options{Secrets: [][]byte{testSecret}}, page: page.Options{Vault: vault, Wait: 10 * time.Second}})
	addEvents(s.shop, s.logs, p, calendar(p, opts))
	return &calendarSite{s, p, vault}
}

// asks is a call that must ask, and its link.
func (s *calendarSite) asks(user string) (*round, string) {
	s.t.Helper()
	r := s.call(user, "Events", nil, nil)
	return r, r.link(s.t, "calendar")
}

// goesOn is what a call says once its page is done.
func (s *calendarSite) goesOn(user string, r *round) *round {
	s.t.Helper()
	return s.call(user, "Events", r, map[string]string{"calendar": "accept"})
}

var refreshTo = regexp.MustCompile(`<meta http-equiv="refresh" content="0; url=([^"]*)"`)

// leads is where a page leads by itself, or "".
func (p *view) leads() string {
	if m := refreshTo.FindStringSubmatch(p.body); m != nil {
		return html.UnescapeString(m[1])
	}
	return p.header.Get("Location")
}

// toProvider opens a link and continues: it is where the browser is sent then.
func (v *visitor) toProvider(link string) string {
	v.t.Helper()
	p := v.press(v.get(link), "send")
	if p.status != http.StatusOK || p.leads() == "" {
		v.t.Fatalf("the page does not lead on (%d):\n%s", p.status, p.body)
	}
	return p.leads()
}

// toCallback goes on to the provider, and is the address that it sends the browser back to.
func (v *visitor) toCallback(link string) string {
	v.t.Helper()
	return v.get(v.toProvider(link)).leads()
}

// comesBack opens what a provider sent the browser back to, and follows.
func (v *visitor) comesBack(callback string) *view {
	v.t.Helper()
	p := v.get(callback)
	if to := p.leads(); to != "" {
		return v.get(p.at[:strings.Index(p.at, "/pages/")] + to)
	}
	return p
}

// connects goes all the way.
func (v *visitor) connects(link string) {
	v.t.Helper()
	p := v.comesBack(v.toCallback(link))
	p.says(v.t, http.StatusOK, "<h1>Done</h1>")
	if strings.Contains(p.at, "code=") || strings.Contains(p.at, "state=") {
		v.t.Errorf("the browser ends at %s", p.at)
	}
}

// A person connects a calendar while the call waits, and later calls do not ask. Others have their own.
func TestConnect(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, &page.ConnectOptions{Provider: "Example Calendar"})
	r, link := s.asks("ann")
	ann := visit(t, "ann")
	ann.get(link).says(t, http.StatusOK, "Connect your calendar", "Continue to Example Calendar", "calendar.read, offline_access",
		"tool Events", "“editor”", "signed in as <strong>ann@example.com</strong>", strings.TrimPrefix(p.URL, "http://"))
	connected := make(chan struct{})
	go func() {
		defer close(connected)
		ann.connects(link)
	}()
	if got := s.goesOn("ann", r); got.text() != "the calendar of ada" {
		t.Errorf("the call ends with %q", got.text())
	}
	<-connected
	if got := s.call("ann", "Events", nil, nil); got.text() != "the calendar of ada" {
		t.Errorf("the second call: %q", got.text())
	}
	p.set(func() { p.person = "bob" })
	other, link := s.asks("ben")
	visit(t, "ben").connects(link)
	if got := s.goesOn("ben", other); got.text() != "the calendar of bob" {
		t.Errorf("the call of another: %q", got.text())
	}
	if got := s.call("ann", "Events", nil, nil); got.text() != "the calendar of ada" {
		t.Errorf("the third call: %q", got.text())
	}
	if _, link := s.asks("ann@another-client"); link == "" { // of the same user
		t.Error("another client has what this one was allowed")
	}
}

// Without a principal, tokens are good for the one call.
func TestConnectAnonymous(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSiteWith(t, p, nil, newSpyVault(), false)
	r, link := s.asks("")
	visit(t, "").connects(link)
	if got := s.goesOn("", r); got.text() != "the calendar of ada" {
		t.Fatalf("the call ends with %q", got.text())
	}
	s.asks("")
	if n := s.vault.there(t, "v:"); n != 0 {
		t.Errorf("%d values are remembered", n)
	}
	p.set(func() { p.life = time.Second }) // refreshed within the call
	r, link = s.asks("")
	visit(t, "").connects(link)
	waitUntil(t, func() bool {
		_, refreshed, _ := p.counts()
		got := s.call("", "Events", r, nil)
		if refreshed == 0 && got.Result.ResultType != "input_required" {
			r, link = s.asks("") // that call has ended: another one
			visit(t, "").connects(link)
			time.Sleep(800 * time.Millisecond)
		}
		return refreshed > 0
	})
}

func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// What a person does at the provider other than to allow all.
func TestConnectRefusedAtProvider(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, &page.ConnectOptions{Provider: "Example Calendar"})
	r, link := s.asks("ann")
	ann := visit(t, "ann")

	p.set(func() { p.deny = "access_denied" })
	denied := ann.comesBack(ann.toCallback(link))
	denied.says(t, http.StatusForbidden, "You did not allow it at Example Calendar", "Continue to Example Calendar")

	p.set(func() { p.deny, p.scope = "", "offline_access" })
	less := ann.comesBack(ann.get(ann.press(denied, "send").leads()).leads()) // again from the page that said so
	less.says(t, http.StatusForbidden, "You allowed less than is needed: calendar.read is missing")
	if n := s.vault.there(t, "v:"); n != 0 {
		t.Errorf("%d values are stored", n)
	}

	p.set(func() { p.scope, p.deny = "", "server_error\"<script>" })
	ann.comesBack(ann.toCallback(link)).says(t, http.StatusForbidden, "Example Calendar could not do it")

	p.set(func() { p.scope, p.deny = "calendar.read,calendar.share", "" }) // as some separate them
	ann.connects(link)
	if got := s.goesOn("ann", r); got.text() != "the calendar of ada" {
		t.Errorf("the call ends with %q", got.text())
	}

	r, link = s.asks("ben")
	ben := visit(t, "ben")
	p.set(func() { p.deny = "access_denied" })
	ben.press(ben.comesBack(ben.toCallback(link)), "decline").says(t, http.StatusOK, "Declined")
	if got := s.goesOn("ben", r); !got.Result.IsError || !strings.Contains(got.text(), "declined") {
		t.Errorf("the call ends with %q", got.text())
	}
}

// A token that expires is refreshed, once, by whoever needs it first, on whichever instance; and tokens that somebody ended, or
// that cannot be refreshed, are asked for again.
func TestConnectRefresh(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	vault := newSpyVault()
	s, second := newCalendarSiteWith(t, p, nil, vault, true), newCalendarSiteWith(t, p, nil, vault, true)
	_, link := s.asks("ann")
	visit(t, "ann").connects(link)
	for range 2 {
		_, before, _ := p.counts()
		p.set(func() { p.life = time.Hour })
		time.Sleep(800 * time.Millisecond) // a quarter of its life before it expires, it is refreshed
		var calls sync.WaitGroup
		for i := range 16 {
			calls.Go(func() {
				if got := []*calendarSite{s, second}[i%2].call("ann", "Events", nil, nil); got.text() != "the calendar of ada" {
					t.Errorf("call %d: %q", i, got.text())
				}
			})
		}
		calls.Wait()
		if _, refreshed, reused := p.counts(); refreshed-before != 1 || reused != 0 {
			t.Fatalf("refreshed %d times, with %d uses of a token that was spent; want 1 and 0", refreshed-before, reused)
		}
		if n := vault.there(t, "l:"); n != 0 {
			t.Errorf("%d locks are held", n)
		}
		p.set(func() { p.life = time.Second }) // and once more
		p.revoke()
		r := s.call("ann", "Events", nil, nil) // the API refuses the token, which is forgotten
		visit(t, "ann").connects(r.link(t, "calendar"))
		if got := s.goesOn("ann", r); got.text() != "the calendar of ada" {
			t.Fatalf("after it was revoked: %q", got.text())
		}
	}
}

func TestConnectBeyondRefresh(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	s := newCalendarSite(t, p, nil)
	connect := func() {
		t.Helper()
		r, link := s.asks("ann")
		visit(t, "ann").connects(link)
		if got := s.goesOn("ann", r); got.text() != "the calendar of ada" {
			t.Fatalf("the call ends with %q", got.text())
		}
	}
	expire := func() { time.Sleep(1100 * time.Millisecond) }

	connect()
	p.revoke()
	expire()
	s.asks("ann") // the provider refuses the refresh token

	p.set(func() { p.noRefresh = true })
	connect()
	expire()
	s.asks("ann") // there is none

	p.set(func() { p.noRefresh = false })
	connect()
	expire()
	p.set(func() { p.scope = "offline_access" })
	s.asks("ann") // it is good for less

	p.set(func() { p.scope = "" })
	connect()
	expire()
	for _, status := range []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusOK} {
		p.set(func() { p.broken = status })
		if got := s.call("ann", "Events", nil, nil); !got.Result.IsError || got.Result.InputRequests != nil {
			t.Errorf("while the provider answers %d: %+v", status, got)
		} else if leaked := p.leaked(got.text()); leaked != "" {
			t.Errorf("the error has what the provider wrote: %q", got.text())
		}
	}
	p.set(func() { p.broken = 0 })
	s.vault.fail(errors.New("dial tcp 10.0.0.7:5432: connection refused"))
	if got := s.call("ann", "Events", nil, nil); !got.Result.IsError || strings.Contains(got.text(), "10.0.0.7") {
		t.Errorf("while the vault is down: %q", got.text())
	}
	s.vault.fail(nil)
	if got := s.call("ann", "Events", nil, nil); got.text() != "the calendar of ada" {
		t.Errorf("when the provider is back: %q", got.text())
	}
}

// A handler that outlives an access token has a source that refreshes it, and says when that cannot be.
func TestTokenSource(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	s := newCalendarSite(t, p, nil)
	question := calendar(p, &page.ConnectOptions{Extra: []string{"instance_url", "other"}})
	sources := make(chan oauth2.TokenSource, 1)
	elicit.AddTool(s.shop, &mcp.Tool{Name: "Give"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		source, err := question.Value(ctx)
		if err == nil {
			sources <- source
		}
		return elicit.Text("given"), nil, err
	}, elicit.Asks(question))
	r := s.call("ann", "Give", nil, nil)
	visit(t, "ann").connects(r.link(t, "calendar"))
	s.call("ann", "Give", r, map[string]string{"calendar": "accept"})
	source := <-sources
	first, err := source.Token()
	if err != nil {
		t.Fatal(err)
	}
	if first.RefreshToken != "" {
		t.Error("the tool gets the refresh token")
	}
	if first.Extra("instance_url") != "https://eu.calendar.example.com" || first.Extra("other") != nil || first.Extra("id_token") != nil {
		t.Errorf("the tool gets %v, %v, %v besides", first.Extra("instance_url"), first.Extra("other"), first.Extra("id_token"))
	}
	waitUntil(t, func() bool {
		now, err := source.Token()
		if err != nil {
			t.Fatal(err)
		}
		return now.AccessToken != first.AccessToken
	})
	p.revoke()
	waitUntil(t, func() bool {
		_, err := source.Token()
		if err != nil && !strings.Contains(err.Error(), "sign in at the provider again") {
			t.Fatal(err)
		}
		return err != nil
	})
}

// A sign-in is remembered for as long as it is to be, however often its token is refreshed.
func TestConnectLifetime(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	s := newCalendarSite(t, p, &page.ConnectOptions{Lifetime: time.Hour})
	r, link := s.asks("ann")
	visit(t, "ann").connects(link)
	s.goesOn("ann", r)
	waitUntil(t, func() bool {
		s.call("ann", "Events", nil, nil)
		_, refreshed, _ := p.counts()
		return refreshed > 0
	})
	kept := s.vault.stored("v:")
	if len(kept) < 2 {
		t.Fatalf("%d entries were stored", len(kept))
	}
	first, last := kept[0].Expires, kept[len(kept)-1].Expires
	if left := time.Until(first); left > time.Hour || left < 59*time.Minute || !first.Equal(last) {
		t.Errorf("remembered until %v, and after it was refreshed until %v", first, last)
	}
	for _, l := range s.vault.stored("l:") {
		if !strings.HasPrefix(l.Key, "l:v:") || time.Until(l.Expires) > time.Minute {
			t.Errorf("the lock %q would be held until %v", l.Key, l.Expires)
		}
	}

	// Without a refresh token there is nothing to keep longer than the access token.
	p.set(func() { p.noRefresh, p.life = true, 10*time.Minute })
	_, link = s.asks("ben")
	visit(t, "ben").connects(link)
	kept = s.vault.stored("v:")
	if left := time.Until(kept[len(kept)-1].Expires); left > 10*time.Minute {
		t.Errorf("a token that expires in ten minutes is kept for %v", left)
	}
}
