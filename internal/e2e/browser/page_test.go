package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The pages of package page, where secrets are entered.

type account struct {
	Name string          `json:"name" jsonschema:"As on your invoice."`
	Key  page.Hidden     `json:"apiKey" elicit:"title=API key,minLength=8" jsonschema:"Under Settings, Keys."`
	Cert page.HiddenText `json:"certificate,omitzero" elicit:"title=Client certificate" jsonschema:"Only where your company has its own. In PEM."`
	Plan string          `json:"plan" elicit:"enum=free|paid,enumTitles=Free|Paid,default=free"`
}

var askAccount = page.Secret[account]("account", "Your account at weather.example.com")

// A weatherShop is a server whose tool needs an account, and whose users sign in at /login.
type weatherShop struct {
	t    *testing.T
	url  string
	user string // the token of who calls; "" for a server without users
	tool string // what is called
}

func newWeatherShop(t *testing.T, users bool, opts page.Options) *weatherShop {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil), nil)
	opts.Base = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/pages"
	handler := shop.Handler(nil)
	s := &weatherShop{t: t, url: server.URL + "/mcp", tool: "Forecast"}
	if users {
		s.user = "ann"
		handler = auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: token, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{"client_id": "editor"}}, nil
		}, nil)(handler)
		opts.Identify = func(w http.ResponseWriter, r *http.Request) (page.Person, bool) {
			if c, err := r.Cookie("user"); err == nil {
				return page.Person{Subject: c.Value, Name: c.Value + "@example.com"}, true
			}
			http.Redirect(w, r, "/login?to="+url.QueryEscape(page.ReturnTo(r)), http.StatusSeeOther)
			return page.Person{}, false
		}
	}
	mux.Handle("/mcp", handler)
	mux.Handle("/pages/", page.Enable(shop, opts))
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><form method="post" action="/login?to=%s"><button name="user" value="ann">I am Ann</button><button name="user" value="bob">I am Bob</button></form>`, url.QueryEscape(r.FormValue("to")))
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "user", Value: r.FormValue("user"), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, r.FormValue("to"), http.StatusSeeOther)
	})
	elicit.AddTool(shop, &mcp.Tool{Name: "Forecast"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := askAccount.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		return elicit.Text(fmt.Sprintf("Sunny for %s: %d, %d, %s.", a.Name, len(a.Key.Reveal()), len(a.Cert.Reveal()), a.Plan)), nil, nil
	}, elicit.Asks(askAccount))
	return s
}

// A forecast is a call on its way.
type forecast struct {
	t     *testing.T
	links chan string // that are to be opened
	text  chan string
	stop  context.CancelFunc
}

// call calls the tool with our client, which accepts all links.
func (s *weatherShop) call() *forecast {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	f := &forecast{t: s.t, links: make(chan string, 8), text: make(chan string, 1), stop: stop}
	s.t.Cleanup(stop)
	cs, err := answer.Connect(ctx, &mcp.Implementation{Name: "editor", Version: "1"}, s.url, &answer.Options{Token: s.user, URL: true, Answerer: f})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cs.Close() })
	go func() {
		res, err := answer.CallTool(ctx, cs, &mcp.CallToolParams{Name: s.tool}, f)
		switch {
		case err != nil:
			f.text <- err.Error()
		case len(res.Content) == 1:
			f.text <- res.Content[0].(*mcp.TextContent).Text
		default:
			f.text <- "no text"
		}
	}()
	return f
}

// Answer implements answer.Answerer.
func (f *forecast) Answer(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
	if link := r.Link(); link.Refused != nil {
		return nil, errors.New("the link is refused: " + link.Refused.Error())
	}
	if !r.Waiting {
		f.links <- r.Params.URL
	}
	return &mcp.ElicitResult{Action: answer.ActionAccept}, nil
}

func (f *forecast) link() string {
	f.t.Helper()
	select {
	case l := <-f.links:
		return l
	case text := <-f.text:
		f.t.Fatalf("nothing was asked: %s", text)
	case <-time.After(20 * time.Second):
		f.t.Fatal("nothing is asked")
	}
	return ""
}

func (f *forecast) want(text string) {
	f.t.Helper()
	select {
	case got := <-f.text:
		if got != text {
			f.t.Errorf("the tool says %q, want %q", got, text)
		}
	case <-time.After(30 * time.Second):
		f.t.Fatal("the call does not end")
	}
}

// fillIn fills in the page, and sends it.
func (b *tab) fillIn() {
	b.t.Helper()
	b.do(chromedp.SendKeys(`#f0`, "Ann"), chromedp.SendKeys(`#f1`, "12345678"))
	b.press(`button[value=send]`)
}

// another is another tab of the same browser, with the same cookies.
func (b *tab) another() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		b.t.Fatal(err)
	}
	return &tab{t: b.t, ctx: ctx, close: cancel}
}

// A key is typed, by keyboard alone, and the call goes on. A second tab comes too late.
func TestSecretPage(t *testing.T) {
	b := chromium(t)
	f := newWeatherShop(t, false, page.Options{}).call()
	link := f.link()
	second := b.another()
	second.do(chromedp.Navigate(link))
	second.wait("Your account at weather.example.com")
	b.do(chromedp.Navigate(link))
	b.wait("Your account at weather.example.com", "tool Forecast", "“editor”", "does not see it")
	axe(b) // the first field has the focus by now
	if at := b.focused(); at != "f0" {
		t.Errorf("the focus is at %q", at)
	}
	if others := eval[int](b, `performance.getEntriesByType("resource").length`); others != 0 {
		t.Errorf("the page loads %d other resources", others)
	}
	if n := eval[int](b, `document.querySelectorAll("script, img, link, iframe, [style]").length`); n != 0 {
		t.Errorf("the page has %d elements of a kind that it needs not", n)
	}
	b.keys("Ann", kb.Tab, "short", kb.Enter)
	b.wait("Please check your answers", "API key must be at least 8 characters long.")
	if strings.Contains(eval[string](b, `document.documentElement.outerHTML`), "short") {
		t.Error("what was typed is in the page")
	}
	axe(b)
	shot(b, "page-secret-errors")
	b.keys("12345678", kb.Tab, "-----BEGIN", kb.Enter, "END-----", kb.Tab, kb.ArrowDown, kb.Tab, kb.Enter)
	b.wait("Done", "You can close this page")
	axe(b)
	f.want("Sunny for Ann: 8, 19, paid.")

	second.do(chromedp.SendKeys(`#f0`, "Eve"), chromedp.SendKeys(`#f1`, "eves own key"))
	second.press(`button[value=send]`)
	second.wait("was not taken")
}

func TestSecretPageDeclined(t *testing.T) {
	b := chromium(t)
	f := newWeatherShop(t, false, page.Options{}).call()
	b.do(chromedp.Navigate(f.link()))
	b.wait("Your account")
	b.press(`button[value=decline]`)
	b.wait("Declined", "Nothing was sent")
	axe(b)
	f.want(`the user declined to answer "account"`)
}

// Closed, the page is not done: the call waits on, and the same link can be opened again.
func TestSecretPageClosed(t *testing.T) {
	b := chromium(t)
	f := newWeatherShop(t, false, page.Options{Wait: 50 * time.Millisecond}).call()
	link := f.link()
	first := b.another()
	first.do(chromedp.Navigate(link))
	first.wait("Your account")
	first.close()
	b.do(chromedp.Navigate(link))
	b.wait("Your account")
	b.fillIn()
	b.wait("Done")
	f.want("Sunny for Ann: 8, 0, free.")
}

// Going back to a page that was sent finds it done.
func TestSecretPageBack(t *testing.T) {
	b := chromium(t)
	f := newWeatherShop(t, false, page.Options{}).call()
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(f.link()))
	b.wait("Your account")
	b.fillIn()
	b.wait("Done")
	f.want("Sunny for Ann: 8, 0, free.")
	b.do(chromedp.NavigateBack())
	if text := b.text(); strings.Contains(text, "Your account") || eval[bool](b, `document.querySelector("form") != null`) {
		t.Errorf("the form is there again:\n%s", text)
	}
	b.do(chromedp.NavigateForward())
	b.wait("Done")
}

// A page that was left open for too long takes nothing, and the call asks by another link.
func TestSecretPageExpired(t *testing.T) {
	b := chromium(t)
	f := newWeatherShop(t, false, page.Options{Wait: 50 * time.Millisecond, Expiry: 5 * time.Second}).call()
	link := f.link()
	b.do(chromedp.Navigate(link))
	b.wait("Your account")
	fresh := f.link() // comes when the first has expired
	if fresh == link {
		t.Error("the link is the same")
	}
	b.fillIn()
	b.wait("This link has expired", "Nothing was sent")
	axe(b)
	b.do(chromedp.Navigate(fresh))
	b.wait("Your account")
	b.fillIn()
	b.wait("Done")
	f.want("Sunny for Ann: 8, 0, free.")
}

// Ann signs in on the way, and the address she ends at has no ticket. Bob, who got her link, is turned away.
func TestSecretPageSignedIn(t *testing.T) {
	b := chromium(t)
	shop := newWeatherShop(t, true, page.Options{})
	f := shop.call()
	link := f.link()
	b.do(chromedp.Navigate(link))
	b.wait("I am Bob")
	b.press(`button[value=bob]`)
	b.wait("This link is not yours", "bob@example.com")
	axe(b)
	shot(b, "page-not-yours")
	if strings.Contains(b.text(), "weather.example.com") || strings.Contains(b.text(), "ann") {
		t.Errorf("the page tells Bob what Ann was asked:\n%s", b.text())
	}
	b.do(chromedp.Navigate(strings.Split(link, "/pages/")[0] + "/login?to=" + url.QueryEscape(link)))
	b.press(`button[value=ann]`)
	b.wait("Your account", "You are signed in as", "ann@example.com")
	axe(b)
	shot(b, "page-secret")
	b.fillIn()
	b.wait("Done")
	f.want("Sunny for Ann: 8, 0, free.")
}

func TestSecretPageLogin(t *testing.T) {
	b := chromium(t)
	f := newWeatherShop(t, true, page.Options{}).call()
	link := f.link()
	b.do(chromedp.Navigate(link))
	b.wait("I am Ann")
	b.press(`button[value=ann]`)
	b.wait("Your account", "ann@example.com")
	if at := eval[string](b, `location.href`); !strings.HasSuffix(at, "/pages/continue") {
		t.Errorf("the page is at %s", at)
	}
	b.fillIn()
	b.wait("Done")
	f.want("Sunny for Ann: 8, 0, free.")
}

// Without JavaScript, in the dark, on a phone.
func TestSecretPageLooks(t *testing.T) {
	b := chromium(t)
	shop := newWeatherShop(t, false, page.Options{})
	for _, look := range []struct {
		name, scheme  string
		width, height int64
		mobile        bool
	}{{"dark", "dark", 900, 1000, false}, {"phone", "light", 390, 844, true}, {"phone-dark", "dark", 320, 640, true}} {
		t.Run(look.name, func(t *testing.T) {
			b := &tab{t: t, ctx: b.ctx}
			f := shop.call()
			f.t = t
			opts := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
			if look.mobile {
				opts = append(opts, chromedp.EmulateMobile)
			}
			b.do(chromedp.EmulateViewport(look.width, look.height, opts...), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
				feature := emulation.MediaFeature{Name: "prefers-color-scheme", Value: look.scheme}
				_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{&feature}})
				return err
			}), chromedp.Navigate(f.link()))
			b.wait("Your account")
			axe(b)
			if wide := eval[int](b, `document.documentElement.scrollWidth`); int64(wide) > look.width {
				t.Errorf("the page is %d pixels wide", wide)
			}
			shot(b, "page-secret-"+look.name)
			scripts := func(off bool) {
				b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
					_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
					return err
				}))
			}
			scripts(true)
			b.do(chromedp.Reload())
			b.fillIn()
			f.want("Sunny for Ann: 8, 0, free.")
			scripts(false)
		})
	}
}
