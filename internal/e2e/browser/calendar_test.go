package browser

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/elicit-go/elicit/internal/e2e/harness"
)

// The example calendar: people sign in at somebody else's service.

const adasEvents = "09:00 Analytical engine, progress\n14:00 Tea with Charles"

func startCalendar(t *testing.T, args ...string) *weatherShop {
	t.Helper()
	return &weatherShop{t: t, url: harness.Start(t, "examples/calendar", args...) + "/", tool: "ListEvents"}
}

// token is a person's token, as their client has it.
func (s *weatherShop) token(person string) string {
	s.t.Helper()
	res, err := http.Get(s.url + "token?person=" + person)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatal(res.Status, err)
	}
	return strings.TrimSpace(string(b))
}

// connect goes from our page to the service, and back.
func (b *tab) connect(person string) {
	b.t.Helper()
	b.wait("Connect your calendar", "Continue to Example Calendar", "calendar.read")
	b.press(`button[value=send]`)
	b.wait("The shop wants to know who you are", "calendar.read")
	b.press(`button[value=` + person + `]`)
}

// Allowed in the end, after less was allowed and after it was refused. Then the address has no code, and going back does no
// harm.
func TestCalendar(t *testing.T) {
	b := chromium(t)
	f := startCalendar(t).call()
	link := f.link()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.wait("Connect your calendar")
	axe(b)
	if others := eval[int](b, `performance.getEntriesByType("resource").length`); others != 0 {
		t.Errorf("the page loads %d other resources", others)
	}
	b.press(`button[value=send]`)
	b.wait("The shop wants to know who you are")
	b.do(chromedp.Click(`input[name=scope]`))
	b.press(`button[value=ada]`)
	b.wait("You allowed less than is needed: calendar.read is missing")
	axe(b)
	shot(b, "page-connect-less")
	b.press(`button[value=send]`)
	b.wait("The shop wants to know who you are")
	b.press(`button[value=""]`)
	b.wait("You did not allow it at Example Calendar")
	b.connect("ada")
	b.wait("Done", "You can close this page")
	f.want(adasEvents)
	if at := eval[string](b, `location.href`); at != link {
		t.Errorf("the page is at %s, and not where it began: %s", at, link)
	}
	eval[bool](b, `history.back() || true`)
	b.wait("The shop wants to know who you are") // what the service shows is its own
	b.do(chromedp.Navigate(link))
	b.wait("Done")

	declined := startCalendar(t).call()
	b.do(chromedp.Navigate(declined.link()))
	b.wait("Connect your calendar")
	b.press(`button[value=decline]`)
	b.wait("Declined")
	declined.want(`the user declined to answer "calendar"`)
}

// Ada signs in to the pages with OpenID Connect, and connects; the second call does not ask. Bob, who is signed in where her
// link is opened, is turned away, and can sign in as her.
func TestCalendarSignedIn(t *testing.T) {
	b := chromium(t)
	s := startCalendar(t, "-login")
	s.user = s.token("ada")
	f := s.call()
	link := f.link()
	b.do(chromedp.Navigate(link))
	b.wait("wants to know who you are")
	b.press(`button[value=bob]`)
	b.wait("This link is not yours", "Bob Hopper", "Sign in as someone else")
	axe(b)
	if strings.Contains(b.text(), "calendar") {
		t.Errorf("the page tells Bob what Ada was asked:\n%s", b.text())
	}
	b.press(`main a`)
	b.wait("wants to know who you are")
	b.press(`button[value=ada]`)
	b.wait("You are signed in as Ada Lovelace")
	if at := eval[string](b, `location.href`); !strings.HasSuffix(at, "/pages/continue") {
		t.Errorf("the page is at %s", at)
	}
	shot(b, "page-connect-signed-in")
	b.connect("ada")
	b.wait("Done")
	f.want(adasEvents)
	s.call().want(adasEvents)
}

// The TypeScript SDK's client, of both generations.
func TestCalendarTypeScript(t *testing.T) {
	harness.Node(t)
	b := chromium(t)
	s := startCalendar(t)
	for _, m := range []struct{ mode, version string }{{"default", "2025-11-25"}, {"auto", "2026-07-28"}} {
		t.Run(m.version, func(t *testing.T) {
			b := &tab{t: t, ctx: b.ctx}
			s := &weatherShop{t: t, url: s.url, tool: s.tool}
			lines := s.typeScript(m.mode, "accept")
			asked, ok := <-lines
			if !ok || asked.Open == "" {
				t.Fatalf("the client reports %+v, want a page to open", asked)
			}
			b.do(chromedp.Navigate(asked.Open))
			b.connect("ada")
			b.wait("Done")
			var end line
			for l := range lines {
				if l.Done == "" {
					end = l
				}
			}
			if end.Version != m.version || end.Text != adasEvents || end.IsError {
				t.Errorf("the client ends with %+v", end)
			}
		})
	}
}
