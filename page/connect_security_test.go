package page_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// nothing checks that nothing came of an attack: no code went to a provider, and no token into the vault.
func (s *calendarSite) nothing(t *testing.T, providers ...*provider) {
	t.Helper()
	for i, p := range append(providers, s.p) {
		if n, _, _ := p.counts(); n != 0 {
			t.Errorf("provider %d was sent %d codes", i, n)
		}
	}
	if n := len(s.vault.stored("v:")) + len(s.vault.stored("o:")); n != 0 {
		t.Errorf("%d entries were stored", n)
	}
}

// with is an address with other parameters. A value of "" removes the parameter.
func with(t *testing.T, at string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "" {
			q.Del(pairs[i])
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func parameter(t *testing.T, at, name string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

// Only a press on "Continue" makes a state; it lives for ten minutes at most, and the provider is asked as RFC 6749, 7636 and
// 9700 want it.
func TestSecurity22AuthorizationRequest(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, &page.ConnectOptions{AuthParams: url.Values{"access_type": {"offline"}}})
	_, link := s.asks("ann")
	ann := visit(t, "ann")
	for range 3 { // looking at the page, or a browser that fetches ahead
		ann.get(link)
	}
	if n := len(s.vault.stored("")); n != 0 {
		t.Fatalf("looking at the page stored %d entries", n)
	}
	first, second := ann.toProvider(link), ann.toProvider(link)
	for name, want := range map[string]string{"response_type": "code", "client_id": "shop", "scope": "calendar.read offline_access", "access_type": "offline", "code_challenge_method": "S256",
		"redirect_uri": s.base + "/callback/" + strings.ReplaceAll(strings.TrimPrefix(p.URL, "http://"), ":", "-")} {
		if got := parameter(t, first, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"state", "code_challenge"} {
		if a, b := parameter(t, first, name), parameter(t, second, name); len(a) < 43 || a == b {
			t.Errorf("%s is %q, and %q the next time", name, a, b)
		}
	}
	states := s.vault.stored("s:")
	if len(states) != 2 {
		t.Fatalf("%d states", len(states))
	}
	for _, e := range states {
		if left := time.Until(e.Expires); left > 10*time.Minute || left < 9*time.Minute {
			t.Errorf("a state lives for %v", left)
		}
		for _, at := range []string{first, second} {
			if strings.Contains(e.Key, parameter(t, at, "state")) || strings.Contains(string(e.Sealed), parameter(t, at, "state")) {
				t.Error("the vault holds a state that can be read")
			}
		}
	}
}

func TestSecurity22ReplayedCallback(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, nil)
	_, link := s.asks("ann")
	ann := visit(t, "ann")
	callback := ann.toCallback(link)
	ann.comesBack(callback).says(t, http.StatusOK, "<h1>Done</h1>")
	tokens, _, _ := p.counts()
	for range 2 {
		ann.get(callback).says(t, http.StatusForbidden, "This sign-in is over")
	}
	// The same code, with the state of another sign-in of hers.
	_, link = s.asks("ann@another-client")
	ann.comesBack(with(t, ann.toCallback(link), "code", parameter(t, callback, "code"))).says(t, http.StatusForbidden, "It did not work")
	if n, _, _ := p.counts(); n != tokens+1 {
		t.Errorf("the provider was sent %d codes more", n-tokens)
	}
}

func TestSecurity22State(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, nil)
	_, link := s.asks("ann")
	_, evesLink := s.asks("eve")
	ann, eve := visit(t, "ann"), visit(t, "eve")

	callback := ann.toCallback(link)
	state := parameter(t, callback, "state")
	for name, at := range map[string]string{
		"none":         with(t, callback, "state", ""),
		"made up":      with(t, callback, "state", strings.Repeat("A", 52)),
		"changed":      with(t, callback, "state", state[:51]+"!"),
		"longer":       with(t, callback, "state", state+"A"),
		"huge":         with(t, callback, "state", strings.Repeat(state, 100)),
		"twice":        callback + "&state=" + state,
		"two codes":    callback + "&code=x",
		"the ticket":   with(t, callback, "state", link[strings.LastIndex(link, "/")+1:]),
		"of eve, here": eve.toCallback(evesLink),
	} {
		t.Run(name, func(t *testing.T) { ann.get(at).says(t, http.StatusForbidden, "This sign-in is over") })
	}
	s.nothing(t)

	// Hers, at somebody else's browser: refused, and used up.
	eve.get(callback).says(t, http.StatusForbidden, "This sign-in is over")
	ann.get(callback).says(t, http.StatusForbidden, "This sign-in is over")
	visit(t, "").get(ann.toCallback(link)).says(t, http.StatusSeeOther) // to the login
	s.nothing(t)
	ann.connects(link)
}

// The person changes between the button and the way back.
func TestSecurity22LoginAsSomeoneElseMidFlow(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, nil)
	_, link := s.asks("ann")
	ann := visit(t, "ann")
	callback := ann.toCallback(link)
	ann.user = "ben"
	ann.get(callback).says(t, http.StatusForbidden, "This sign-in is over")
	s.nothing(t)
	ann.user = "ann"
	ann.get(callback).says(t, http.StatusForbidden, "This sign-in is over") // a state is good for once
	s.nothing(t)
	ann.connects(link)
}

// Two providers, one of which is bad, and passes a code or a state of the other on (RFC 9700, section 4.4).
func TestSecurity22WrongProvider(t *testing.T) {
	good, bad := newProvider(t), newProvider(t)
	s := newCalendarSite(t, good, nil)
	question := page.Connect("calendar", "Connect the other calendar", bad.config("calendar.read"), nil)
	elicit.AddTool(s.shop, &mcp.Tool{Name: "Other"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		_, err := question.Value(ctx)
		return elicit.Text("connected"), nil, err
	}, elicit.Asks(question))
	ann := visit(t, "ann")
	_, link := s.asks("ann")
	goodBack := ann.toCallback(link)
	other := s.call("ann", "Other", nil, nil)
	badBack := ann.toCallback(other.link(t, "calendar"))
	if g, b := goodBack[:strings.Index(goodBack, "?")], badBack[:strings.Index(badBack, "?")]; g == b {
		t.Fatalf("both providers have the redirect URI %s", g)
	}
	// The code of the good one, with its state, at the address of the bad one, and the reverse.
	ann.get(with(t, badBack, "state", parameter(t, goodBack, "state"), "code", parameter(t, goodBack, "code"))).says(t, http.StatusForbidden, "This sign-in is over")
	ann.get(with(t, goodBack, "state", parameter(t, badBack, "state"))).says(t, http.StatusForbidden, "This sign-in is over")
	ann.get(strings.Replace(badBack, "/callback/", "/callback/nobody", 1)).says(t, http.StatusNotFound)
	s.nothing(t, bad)

	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "/callback/calendar") {
			t.Errorf("two providers may share a redirect URI: %v", r)
		}
	}()
	for i, p := range []*provider{good, bad} {
		q := page.Connect(fmt.Sprint("calendar", i), "Connect your calendar", p.config("calendar.read"), &page.ConnectOptions{Callback: "calendar"})
		s.shop.Declare("Events", elicit.Asks(q))
	}
}

// Who answers is compared, where the provider names itself (RFC 9207).
func TestSecurity22Issuer(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, &page.ConnectOptions{Issuer: "https://calendar.example.com"})
	_, link := s.asks("ann")
	ann := visit(t, "ann")
	for _, iss := range []string{"", "https://calendar.example.com/", "https://evil.example.com", "https://calendar.example.com "} {
		p.set(func() { p.iss = iss })
		ann.comesBack(ann.toCallback(link)).says(t, http.StatusForbidden, "It did not work")
		p.set(func() { p.deny = "access_denied" }) // an error is no better founded
		ann.comesBack(ann.toCallback(link)).says(t, http.StatusForbidden, "It did not work")
		p.set(func() { p.deny = "" })
	}
	s.nothing(t)
	p.set(func() { p.iss = "https://calendar.example.com" })
	ann.connects(link)
}

// A code that was given to somebody else, or without the verifier, is worth nothing (RFC 7636; RFC 9700, section 2.1.1).
func TestSecurity22InjectedCode(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, nil)
	r, link := s.asks("ann")
	ann := visit(t, "ann")
	p.set(func() { p.person = "eve" })
	_, evesLink := s.asks("eve")
	evesCode := parameter(t, visit(t, "eve").toCallback(evesLink), "code")
	p.set(func() { p.person = "ada" })
	ann.comesBack(with(t, ann.toCallback(link), "code", evesCode)).says(t, http.StatusForbidden, "It did not work")
	ann.comesBack(with(t, ann.toCallback(link), "code", "")).says(t, http.StatusForbidden, "It did not work")
	// A request of the attacker's own, without PKCE, would not have come from here: each of ours has a challenge.
	if got := s.vault.there(t, "v:"); got != 0 {
		t.Errorf("%d values are stored", got)
	}
	ann.connects(link)
	if got := s.goesOn("ann", r); got.text() != "the calendar of ada" {
		t.Errorf("got %q", got.text())
	}
}

// The account-takeover story, for sign-ins: Eve asks, and wants Ann to connect Ann's calendar to Eve's account.
func TestSecurity20TakeoverBySignIn(t *testing.T) {
	p := newProvider(t)
	s := newCalendarSite(t, p, nil)
	r, link := s.asks("eve")
	eve, ann := visit(t, "eve"), visit(t, "ann")

	// Ann opens Eve's link: she is told, and sees nothing of it.
	opened := ann.get(link)
	opened.says(t, http.StatusForbidden, "This link is not yours", "ann@example.com")
	if strings.Contains(opened.body, "Connect your calendar") || strings.Contains(opened.body, "<form") {
		t.Errorf("the page shows what is Eve's:\n%s", opened.body)
	}
	// Eve lures her to post what Eve's page has.
	ann.post(eve.get(link), "send").says(t, http.StatusForbidden, "This link is not yours")

	// Eve goes as far as the provider herself, and gives Ann that address: Ann allows it there, as she trusts the provider.
	back := ann.get(eve.toProvider(link)).leads()
	ann.comesBack(back).says(t, http.StatusForbidden, "This sign-in is over")
	s.nothing(t)

	// The reverse: Eve connects her own calendar to Ann's account, so that Ann's appointments go there.
	p.set(func() { p.person = "eve" })
	annsRound, annsLink := s.asks("ann")
	eve.get(annsLink).says(t, http.StatusForbidden, "This link is not yours")
	ann.comesBack(eve.toCallback(link)).says(t, http.StatusForbidden, "This sign-in is over") // Eve's answer, in Ann's browser
	s.nothing(t)
	for who, r := range map[string]*round{"eve": r, "ann": annsRound} {
		if got := s.call(who, "Events", r, nil); got.link(t, "calendar") == "" {
			t.Errorf("the call of %s is answered: %q", who, got.text())
		}
	}
}

// Tokens, verifiers, codes and the client's secret are nowhere but in the vault, sealed, and at the provider.
func TestSecurity22NothingLeaks(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	s := newCalendarSite(t, p, nil)
	r, link := s.asks("annabella")
	ann := visit(t, "annabella")
	p.set(func() { p.deny = "access_denied" })
	ann.comesBack(ann.toCallback(link))
	p.set(func() { p.deny, p.broken = "", http.StatusBadRequest })
	ann.comesBack(ann.toCallback(link))
	p.set(func() { p.broken = 0 })
	ann.connects(link)
	if got := s.goesOn("annabella", r); got.text() != "the calendar of ada" {
		t.Fatalf("got %q", got.text())
	}
	waitUntil(t, func() bool {
		got := s.call("annabella", "Events", nil, nil)
		_, refreshed, _ := p.counts()
		return got.text() == "the calendar of ada" && refreshed > 0
	})
	p.revoke()
	s.asks("annabella")
	p.set(func() { p.broken = http.StatusBadGateway })
	s.call("annabella", "Events", nil, nil)

	for name, text := range map[string]string{"the log": s.logs.String(), "the MCP messages": s.wire.String()} {
		if leaked := p.leaked(text); leaked != "" || strings.Contains(text, "client-secret-of-the-shop") {
			t.Errorf("%s has %q, or the client's secret", name, leaked)
		}
		if text == "" {
			t.Errorf("%s is empty", name)
		}
	}
	if !strings.Contains(s.logs.String(), "[redacted]") {
		t.Error("the source was not logged, so nothing is shown")
	}
	// The code is in the address that the provider sends the browser to, and in none of ours.
	for _, line := range strings.Split(ann.seen.String(), "\n") {
		if leaked := p.leakedToken(line); leaked != "" {
			t.Errorf("the browser saw the token %q:\n%s", leaked, line)
		}
		if leaked := p.leaked(line); leaked != "" && !strings.Contains(line, "/callback/") {
			t.Errorf("the browser saw %q:\n%s", leaked, line)
		}
	}
	if len(s.vault.stored("")) == 0 {
		t.Fatal("the vault was not used")
	}
	for _, e := range s.vault.stored("") {
		for _, text := range []string{e.Key, string(e.Sealed), hex.EncodeToString(e.Sealed), base64.StdEncoding.EncodeToString(e.Sealed)} {
			if leaked := p.leaked(text); leaked != "" || strings.Contains(text, "annabella") || strings.Contains(text, "example.com") {
				t.Errorf("entry %q has %q, or the user's name", e.Key, leaked)
			}
		}
	}
}

// What cannot work is said when the question is made or declared.
func TestConnectMistakes(t *testing.T) {
	p := newProvider(t)
	good := p.config("calendar.read")
	for want, q := range map[string]*elicit.Question[oauth2.TokenSource]{
		"ClientID is empty":               page.Connect("c", "Connect", oauth2.Config{Endpoint: good.Endpoint}, nil),
		"Endpoint.AuthURL is no URL":      page.Connect("c", "Connect", oauth2.Config{ClientID: "shop"}, nil),
		"AuthURL (calendar.example.com)":  page.Connect("c", "Connect", oauth2.Config{ClientID: "shop", Endpoint: oauth2.Endpoint{AuthURL: "http://calendar.example.com/authorize", TokenURL: good.Endpoint.TokenURL}}, nil),
		"TokenURL (calendar.example.com)": page.Connect("c", "Connect", oauth2.Config{ClientID: "shop", Endpoint: oauth2.Endpoint{AuthURL: good.Endpoint.AuthURL, TokenURL: "http://calendar.example.com/token"}}, nil),
		"RedirectURL is set":              page.Connect("c", "Connect", oauth2.Config{ClientID: "shop", Endpoint: good.Endpoint, RedirectURL: "https://mcp.example.com/"}, nil),
		`Callback is "a/b"`:               page.Connect("c", "Connect", good, &page.ConnectOptions{Callback: "a/b"}),
		`Callback is ".."`:                page.Connect("c", "Connect", good, &page.ConnectOptions{Callback: ".."}),
		`AuthParams has "redirect_uri"`:   page.Connect("c", "Connect", good, &page.ConnectOptions{AuthParams: url.Values{"redirect_uri": {"x"}}}),
		`AuthParams has "code_challenge"`: page.Connect("c", "Connect", good, &page.ConnectOptions{AuthParams: url.Values{"code_challenge": {"x"}}}),
		"Lifetime is -1s":                 page.Connect("c", "Connect", good, &page.ConnectOptions{Lifetime: -time.Second}),
		"has no message":                  page.Connect("c", "", good, nil),
	} {
		if err := q.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := page.Connect("c", "Connect your calendar", good, nil).Err(); err != nil {
		t.Error(err)
	}
}
