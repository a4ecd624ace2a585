package oidc

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/state"
)

// notSignedIn checks that a browser has no session after a callback.
func notSignedIn(t *testing.T, s *site, b *browser, p *shown, texts ...string) {
	t.Helper()
	p.says(t, http.StatusForbidden, append(texts, "You are not signed in")...)
	for _, c := range b.c.Jar.Cookies(parse(t, s.url)) {
		if strings.Contains(c.Name, "session") {
			t.Errorf("the browser has a session: %s", c.Name)
		}
	}
}

// Answers of an issuer that are not what was asked for (OpenID Connect Core 1.0, section 3.1.3.7; RFC 9207).
func TestSecurity21ForgedAnswers(t *testing.T) {
	for name, set := range map[string]func(*issuer){
		"another nonce":          func(i *issuer) { i.claims = map[string]any{"nonce": "of another login"} },
		"no nonce":               func(i *issuer) { i.claims = map[string]any{"nonce": nil} },
		"another client":         func(i *issuer) { i.claims = map[string]any{"aud": "another"} },
		"several, no azp":        func(i *issuer) { i.claims = map[string]any{"aud": []string{"another", "pages"}} },
		"azp of another":         func(i *issuer) { i.claims = map[string]any{"azp": "another"} },
		"several, azp another":   func(i *issuer) { i.claims = map[string]any{"aud": []string{"pages", "another"}, "azp": "another"} },
		"another issuer":         func(i *issuer) { i.claims = map[string]any{"iss": "https://evil.example.com"} },
		"expired":                func(i *issuer) { i.claims = map[string]any{"exp": time.Now().Add(-time.Minute).Unix()} },
		"no subject":             func(i *issuer) { i.claims = map[string]any{"sub": ""} },
		"hash of another token":  func(i *issuer) { i.claims = map[string]any{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"} },
		"signed by another":      func(i *issuer) { i.forge = "key" },
		"not signed":             func(i *issuer) { i.forge = "none" },
		"no id_token":            func(i *issuer) { i.noID = true },
		"iss of another":         func(i *issuer) { i.iss = "https://evil.example.com" },
		"iss announced, missing": func(i *issuer) { i.announce = true },
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			set(i)
			s := newSite(t, i)
			link, _ := s.asks("ann")
			b := newBrowser(t)
			notSignedIn(t, s, b, b.open(link), "The sign-in did not work", "Try again")
			if !strings.Contains(s.log.String(), "a login was refused") {
				t.Errorf("the log does not say why:\n%s", s.log)
			}
			i.set(func() { i.claims, i.forge, i.noID, i.iss = nil, "", false, i.URL })
			b.open(link).says(t, http.StatusOK, "Ann of ann")
		})
	}
}

func TestSecurity21DeniedAtIssuer(t *testing.T) {
	i := newIssuer(t)
	i.deny = "access_denied"
	s := newSite(t, i)
	link, _ := s.asks("ann")
	b := newBrowser(t)
	notSignedIn(t, s, b, b.open(link), "The sign-in was refused (access_denied)")
	i.set(func() { i.deny = `x"><script>alert(1)</script>` })
	if p := b.open(link); strings.Contains(p.body, "<script>") {
		t.Errorf("the page has what the issuer sent:\n%s", p.body)
	}
	if i.exchanges() != 0 {
		t.Error("there was an exchange")
	}
}

// A login ends in the browser that began it, once (RFC 9700, section 4.7).
func TestSecurity21LoginOfAnotherBrowser(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i)
	link, _ := s.asks("ann")
	b, other := newBrowser(t), newBrowser(t)
	callback := b.callback(link)
	notSignedIn(t, s, other, other.get(callback), "was not begun in this browser")
	othersCallback := other.callback(link) // that one has begun one of its own
	notSignedIn(t, s, other, other.get(callback))

	for name, at := range map[string]string{
		"no state":      strings.Replace(callback, "state=", "status=", 1),
		"state twice":   callback + "&state=x",
		"code twice":    callback + "&code=x",
		"another state": strings.Replace(callback, "state=", "state=A", 1),
		"of the other":  othersCallback,
	} {
		t.Run(name, func(t *testing.T) { notSignedIn(t, s, b, b.get(at)) })
	}
	if i.exchanges() != 0 {
		t.Errorf("%d codes were exchanged", i.exchanges())
	}
	b.open(callback).says(t, http.StatusOK, "Ann of ann")
	signedIn := i.exchanges()
	b.get(callback).says(t, http.StatusForbidden, "has been used")
	if i.exchanges() != signedIn {
		t.Error("a login was ended twice")
	}
}

func TestSecurity21SessionCookie(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i)
	link, _ := s.asks("ann")
	b := newBrowser(t)
	session := func(p *shown) *http.Cookie {
		t.Helper()
		for _, c := range p.cookies {
			if c.Name == s.login.sessionCookie() {
				return c
			}
		}
		t.Fatalf("%s sets no session: %v", p.at, p.cookies)
		return nil
	}
	first := session(b.get(b.callback(link)))
	if !first.HttpOnly || first.SameSite != http.SameSiteLaxMode || first.Path != "/" || first.Domain != "" || first.MaxAge != 3600 {
		t.Errorf("the cookie is %v", first)
	}
	if strings.Contains(first.Value, "ann") {
		t.Error("the cookie can be read")
	}
	second := session(b.get(newLogin(t, b, s, link)))
	if first.Value == second.Value {
		t.Error("a login does not change the session")
	}

	// What is no session of ours.
	use := func(name, value string) *shown {
		t.Helper()
		c := newBrowser(t)
		c.c.Jar.SetCookies(parse(t, s.url), []*http.Cookie{{Name: name, Value: value, Path: "/"}})
		return c.get(link)
	}
	if p := use(s.login.sessionCookie(), first.Value); p.status != http.StatusOK {
		t.Fatalf("the session is not one: %d", p.status)
	}
	pendingCookie := ""
	fresh := newBrowser(t)
	for _, c := range fresh.get(link).cookies {
		if strings.Contains(c.Name, "login-") {
			pendingCookie = c.Value
		}
	}
	for name, value := range map[string]string{
		"changed":         first.Value[:60] + flip(first.Value[60]) + first.Value[61:],
		"cut":             first.Value[:len(first.Value)-1],
		"empty":           "",
		"another purpose": pendingCookie,
		"plain":           `{"Issuer":"` + i.URL + `","Subject":"ann"}`,
	} {
		if p := use(s.login.sessionCookie(), value); p.status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", name, p.status, p.body)
		}
	}
	// Two of them: one was put there by somebody else.
	req, _ := http.NewRequest(http.MethodGet, link, nil)
	req.Header.Set("Cookie", s.login.sessionCookie()+"="+first.Value+"; "+s.login.sessionCookie()+"="+second.Value)
	if p := newBrowser(t).do(req); p.status != http.StatusSeeOther {
		t.Errorf("two sessions: %d", p.status)
	}
	s.login.now = func() time.Time { return time.Now().Add(61 * time.Minute) }
	if p := use(s.login.sessionCookie(), first.Value); p.status != http.StatusSeeOther {
		t.Errorf("an hour later: %d", p.status)
	}
}

func flip(b byte) string {
	if b == 'A' {
		return "B"
	}
	return "A"
}

// newLogin begins a login in a browser that has a session, as far as its callback.
func newLogin(t *testing.T, b *browser, s *site, link string) string {
	t.Helper()
	return b.get(b.get(s.login.startURL(link)).next).next
}

// A login that takes too long, a login of long ago.
func TestSecurity21LoginExpires(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i)
	link, _ := s.asks("ann")
	b := newBrowser(t)
	callback := b.callback(link)
	s.login.now = func() time.Time { return time.Now().Add(11 * time.Minute) }
	notSignedIn(t, s, b, b.get(callback))
	if i.exchanges() != 0 {
		t.Error("its code was exchanged")
	}
}

// Nothing that a stranger can make leads a person elsewhere after a login, or out of their session.
func TestSecurity21Targets(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i, secretOne)
	link, _ := s.asks("ann")
	b := newBrowser(t)
	b.open(link).says(t, http.StatusOK)
	ring, err := state.NewRing(secretOne)
	if err != nil {
		t.Fatal(err)
	}
	foreign, _ := ring.Seal(sessionPurpose, []byte("https://evil.example.com/"))
	for _, to := range []string{"", "https://evil.example.com/", "//evil.example.com", foreign, link} {
		p := b.get(s.url + "/pages/login/start?to=" + url.QueryEscape(to))
		p.says(t, http.StatusBadRequest, "This address is not whole")
	}
	logout := s.url + "/pages/login/logout"
	for _, origin := range []string{"https://evil.example.com", "null", ""} {
		if p := b.post(logout, origin, nil); p.status != http.StatusForbidden {
			t.Errorf("signed out by %q: %d", origin, p.status)
		}
	}
	b.get(logout).says(t, http.StatusMethodNotAllowed)
	b.get(link).says(t, http.StatusOK) // is still signed in
	out := b.post(logout, s.url, nil)
	out.says(t, http.StatusOK, "You are signed out", "You are still signed in at")
	if at := find(t, linkOn, out); at != i.URL+"/end?client_id=pages" {
		t.Errorf("signing out there leads to %s", at)
	}
	if p := b.get(link); p.status != http.StatusSeeOther {
		t.Errorf("after signing out: %d", p.status)
	}
	b.get(s.url+"/pages/login/").says(t, http.StatusNotFound)
	b.get(s.url+"/pages/login/elsewhere").says(t, http.StatusNotFound)
}

// A session that ends while a form is open: nothing is stored, and signing in leads back.
func TestSessionEndsBeforePost(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i)
	link, state := s.asks("ann")
	b := newBrowser(t)
	p := b.open(link)
	b.post(s.url+"/pages/login/logout", s.url, nil)
	ended := b.send(s, p)
	ended.says(t, http.StatusUnauthorized, "You are not signed in any more", "Nothing was stored")
	if text, again, _ := s.call("ann", state); again == "" {
		t.Errorf("the call is answered: %q", text)
	}
	p = b.open(find(t, linkOn, ended))
	p.says(t, http.StatusOK, "Your key of weather.example.com")
	b.send(s, p)
	if text, _, _ := s.call("ann", state); text != "a key of 12" {
		t.Errorf("the call ends with %q", text)
	}
}

// Secrets are replaced without signing anybody out.
func TestSecretRotation(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i, secretOne)
	link, _ := s.asks("ann")
	b := newBrowser(t)
	b.open(link)
	rotate := func(secrets ...[]byte) {
		t.Helper()
		ring, err := state.NewRing(secrets...)
		if err != nil {
			t.Fatal(err)
		}
		s.login.ring = ring
	}
	rotate(secretTwo, secretOne)
	b.get(link).says(t, http.StatusOK, "Ann of ann")
	rotate(secretTwo)
	if p := b.get(link); p.status != http.StatusSeeOther {
		t.Errorf("a session of a retired secret: %d", p.status)
	}
}

// A provider that is down when the server starts, and comes back.
func TestIssuerDown(t *testing.T) {
	i := newIssuer(t)
	i.down = true
	s := newSite(t, i)
	if err := s.login.Discover(t.Context()); err == nil || !strings.Contains(err.Error(), i.URL) {
		t.Errorf("Discover: %v", err)
	}
	link, _ := s.asks("ann")
	b := newBrowser(t)
	b.get(link).says(t, http.StatusServiceUnavailable, "Try again in a minute")
	i.set(func() { i.down = false })
	s.login.now = func() time.Time { return time.Now().Add(10 * time.Second) }
	b.open(link).says(t, http.StatusOK, "Ann of ann")
	if err := s.login.Discover(t.Context()); err != nil {
		t.Error(err)
	}
}

// Where the pages are on the network, cookies are of this host alone.
func TestSecurity21HostCookies(t *testing.T) {
	l, err := New(Options{Issuer: "https://id.example.com", ClientID: "pages", Base: "https://mcp.example.com/pages/"})
	if err != nil {
		t.Fatal(err)
	}
	if c := l.cookie(l.sessionCookie(), "x", 1); !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie is %v", c)
	}
	if c := l.loginCookie("x"); !strings.HasPrefix(c, "__Host-") {
		t.Errorf("the cookie is %s", c)
	}
}

// Many logins that nobody ended do not fill the browser's requests.
func TestLoginsBegunAndNotEnded(t *testing.T) {
	i := newIssuer(t)
	s := newSite(t, i)
	link, _ := s.asks("ann")
	b := newBrowser(t)
	for range 30 {
		b.get(link)
	}
	if n := len(b.c.Jar.Cookies(parse(t, s.url))); n > 5 {
		t.Errorf("%d cookies", n)
	}
	b.open(link).says(t, http.StatusOK)
}

func TestMistakes(t *testing.T) {
	good := Options{Issuer: "https://id.example.com", ClientID: "pages", Base: "https://mcp.example.com/pages"}
	for want, change := range map[string]func(*Options){
		"Options.Issuer":        func(o *Options) { o.Issuer = "" },
		"must be https":         func(o *Options) { o.Issuer = "http://id.example.com" },
		"ClientID is empty":     func(o *Options) { o.ClientID = "" },
		"Options.Base":          func(o *Options) { o.Base = "/pages" },
		"has a query":           func(o *Options) { o.Base += "?x=y" },
		"31 bytes":              func(o *Options) { o.Secrets = [][]byte{make([]byte, 31)} },
		"Options.Session is 1s": func(o *Options) { o.Session = time.Second },
		"no user or fragment":   func(o *Options) { o.Base = "https://me:secret@mcp.example.com/" },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(fmt.Sprint(err), want) || strings.Contains(fmt.Sprint(err), "me:secret") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}
