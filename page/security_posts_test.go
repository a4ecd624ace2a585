package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
