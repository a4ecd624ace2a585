package browser

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/browser"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const small = `{"type":"object","properties":{
	"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10},
	"mail":{"type":"string","title":"E-mail","format":"email"},
	"fragile":{"type":"boolean","title":"Fragile"}},
	"required":["parcels","fragile"]}`

// What is wrong is said in the server's words, at the field and above all, and what was typed is still there. A required yes or
// no that is left alone is neither.
func TestInvalidThenCorrected(t *testing.T) {
	b := chromium(t)
	a := ask(t, request("Ship this order", small))
	b.do(chromedp.Navigate(a.url))
	b.wait("Ship this order")
	b.keys("12", kb.Tab, "ada@", kb.Enter)
	b.wait("Please check your answers", "Parcels must be between 1 and 10; you entered 12.", "E-mail must be an e-mail address", "Fragile is required.")
	if got := eval[bool](b, `document.querySelectorAll("input[type=radio]:checked").length == 0`); !got {
		t.Error("yes or no is chosen, and nobody did")
	}
	if got := eval[string](b, `document.getElementById("f1").value`); got != "ada@" {
		t.Errorf("what was typed is gone: %q", got)
	}
	if got := b.focused(); got != "f0" {
		t.Errorf("the focus is at %q and not at the first field that is wrong", got)
	}
	if got := eval[string](b, `document.getElementById(document.getElementById("f0").getAttribute("aria-describedby").split(" ").pop()).innerText`); !strings.Contains(got, "between 1 and 10") {
		t.Errorf("the error is not tied to its field: %q", got)
	}
	shot(b, "browser-errors")
	b.keys(kb.End, kb.Backspace, kb.Tab, kb.End, "example.com", kb.Tab, " ", kb.Enter)
	b.wait("Review your answers", "ada@example.com")
	a.still()
	b.press(`button[value=edit]`)
	b.wait("Please fill in this form")
	if got := eval[string](b, `document.getElementById("f0").value`); got != "1" {
		t.Errorf("what was reviewed is gone: %q", got)
	}
	b.press(`button[value=review]`)
	b.wait("Review your answers")
	b.press(`button[value=accept]`)
	b.wait("Sent.")
	a.want("accept", `{"fragile":true,"mail":"ada@example.com","parcels":1}`)
}

func TestDeclineAndCancel(t *testing.T) {
	b := chromium(t)
	for _, action := range []string{"decline", "cancel"} {
		a := ask(t, request("Ship this order", small))
		b.do(chromedp.Navigate(a.url))
		b.wait("Ship this order")
		b.press(`button[value=` + action + `]`)
		b.wait("You can close this one.")
		a.want(action, "")
	}
}

// A closed page counts as cancel within seconds; one that is reloaded, or moves on to the review, is not closed.
func TestClosed(t *testing.T) {
	b := chromium(t)
	a := ask(t, request("Ship this order", small))
	b.do(chromedp.Navigate(a.url))
	b.wait("Ship this order")
	for range 2 {
		time.Sleep(2 * time.Second)
		b.do(chromedp.Reload())
		b.wait("Ship this order")
	}
	b.keys("1", kb.Tab, kb.Tab, " ", kb.Enter)
	b.wait("Review your answers")
	time.Sleep(2500 * time.Millisecond)
	a.still()
	start := time.Now()
	b.close()
	a.want("cancel", "")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A confirmation, and a form that asks for a credential, which takes a second yes.
func TestSecurity26ConfirmAndCredential(t *testing.T) {
	b := chromium(t)
	a := ask(t, request("Delete 42 rows of orders?", `{"type":"object","properties":{}}`))
	b.do(chromedp.Navigate(a.url))
	b.wait("Delete 42 rows")
	b.keys(kb.Enter) // Starts on no choice.
	a.still()
	b.press(`button[value=accept]`)
	b.wait("Sent.")
	a.want("accept", "{}")

	a = ask(t, request("Sign in", `{"type":"object","properties":{"password":{"type":"string","title":"Your password"}}}`))
	b.do(chromedp.Navigate(a.url))
	b.wait("This form seems to ask for a credential", "Your password")
	if eval[bool](b, `document.querySelector("input") != null`) {
		t.Error("the form is there before the second yes")
	}
	axe(b)
	b.press(`button[value=go-on]`)
	b.wait("Please fill in this form")
	b.keys("x", kb.Enter)
	b.wait("Review your answers")
	b.press(`button[value=accept]`)
	a.want("accept", `{"password":"x"}`)
}

// A page that the server wants opened is shown whole, and opened after a yes.
func TestURL(t *testing.T) {
	b := chromium(t)
	r := &answer.Request{Key: "q", Server: "https://mcp.example.com/", Params: &mcp.ElicitParams{Mode: "url", Message: "Connect your account", URL: "https://xn--pple-43d.example.com:4711/connect?ticket=abc"}}
	a := ask(t, r)
	b.do(chromedp.Navigate(a.url))
	b.wait("xn--pple-43d.example.com:4711", "mixes letters", "unusual port")
	if eval[bool](b, `document.querySelector("a") != null`) {
		t.Error("the address is clickable")
	}
	axe(b)
	shot(b, "browser-url")
	b.press(`button[value=accept]`)
	b.wait("The page opens in another tab.")
	a.want("accept", "")
	if len(a.opened) != 1 || a.opened[0] != r.Params.URL {
		t.Errorf("opened %q", a.opened)
	}

	r.Params.URL = "javascript:alert(1)"
	a = ask(t, r)
	b.do(chromedp.Navigate(a.url))
	b.wait("It cannot be opened")
	if eval[bool](b, `document.querySelector("button[value=accept]") != null`) {
		t.Error("it can be opened")
	}
	b.press(`button[value=cancel]`)
	a.want("cancel", "")
}

// While the page is not completed, the call is tried again by itself or at once, the page opened again, and the waiting stopped.
func TestAway(t *testing.T) {
	b := chromium(t)
	opened := make(chan string, 8)
	person := browser.New(&browser.Options{Out: t.Output(), Open: func(_ context.Context, url string) error {
		opened <- url
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const page = "https://mcp.example.com/connect?ticket=abc"
	answers := make(chan string)
	ask := func(waiting bool) {
		go func() {
			res, err := person.Answer(ctx, &answer.Request{Key: "q", Server: "https://mcp.example.com/", Waiting: waiting,
				Params: &mcp.ElicitParams{Mode: "url", Message: "Connect your account", URL: page}})
			if err != nil {
				answers <- err.Error()
				return
			}
			answers <- res.Action
		}()
	}
	want := func(from <-chan string, want string) {
		t.Helper()
		select {
		case got := <-from:
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		case <-time.After(40 * time.Second):
			t.Fatalf("no %q comes", want)
		}
	}
	ask(false)
	b.do(chromedp.Navigate(<-opened))
	b.wait("Open this page?")
	b.press(`button[value=accept]`)
	want(opened, page)
	want(answers, "accept")
	b.wait("The page opens in another tab.", "the call goes on by itself", "mcp.example.com")
	axe(b)
	shot(b, "browser-away")

	ask(true)
	want(answers, "accept") // By itself.
	ask(true)
	b.press(`button[value=open]`)
	want(opened, page)
	b.press(`button[value=retry]`)
	want(answers, "accept")
	b.do(chromedp.Reload()) // Presses nothing again.
	b.wait("The page opens in another tab.")
	b.press(`button[value=stop]`) // While the call is being tried.
	b.wait("Stopped.", "You can close this one.")
	ask(true)
	want(answers, "cancel")

	// Another question takes the place of one whose call has gone on.
	ask(false)
	b.do(chromedp.Navigate(<-opened))
	b.wait("Open this page?")
	b.press(`button[value=accept]`)
	want(opened, page)
	want(answers, "accept")
	here := eval[string](b, `location.href`)
	ask(false)
	second := <-opened
	if res, err := http.Get(here); err == nil {
		res.Body.Close()
		t.Errorf("the page before is still there: %s", res.Status)
	}
	b.do(chromedp.Navigate(second))
	b.wait("Open this page?")
	b.press(`button[value=decline]`)
	b.wait("Declined.")
	want(answers, "decline")
	// And the end of the call takes it away.
	ask(false)
	b.do(chromedp.Navigate(<-opened))
	b.wait("Open this page?")
	b.press(`button[value=accept]`)
	want(opened, page)
	want(answers, "accept")
	here = eval[string](b, `location.href`)
	cancel()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		res, err := http.Get(here)
		if err != nil {
			break
		}
		res.Body.Close()
		if time.Now().After(deadline) {
			t.Fatal("the page outlives its call")
		}
	}
}

// All of it is text.
func TestSecurity26AllIsText(t *testing.T) {
	b := chromium(t)
	const bad = `</p><script>document.title='owned'</script><img src=x onerror=alert(1)>\u202e\u001b[2J"' style="color:red`
	quoted, _ := json.Marshal(strings.ReplaceAll(bad, `\u202e\u001b`, "\u202e\x1b"))
	h := string(quoted)
	r := request("", `{"type":"object","properties":{`+h+`:{"type":"string","title":`+h+`,"description":`+h+`,"default":`+h+`},"c":{"type":"string","title":`+h+`,"oneOf":[{"const":`+h+`,"title":`+h+`}]}}}`)
	_ = json.Unmarshal(quoted, &r.Params.Message)
	r.Server, r.ServerName, r.Tool = r.Params.Message, r.Params.Message, r.Params.Message
	a := ask(t, r)
	b.do(chromedp.Navigate(a.url))
	b.wait("<script>")
	if n := eval[int](b, `document.querySelectorAll("script, img:not(.alive), [style], [onerror]").length`); n != 0 {
		t.Errorf("%d elements of the server's own:\n%s", n, eval[string](b, `document.body.innerHTML`))
	}
	if strings.ContainsAny(eval[string](b, `document.documentElement.outerHTML`), "\u202e\x1b") {
		t.Error("characters that turn or hide what follows reach the page")
	}
	axe(b)
	b.press(`button[value=decline]`)
	a.want("decline", "")
}

// axe fails the test for everything that axe-core finds.
func axe(b *tab) {
	b.t.Helper()
	harness.Node(b.t)
	script, err := os.ReadFile(filepath.Join(harness.NodeDir(), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](string(script)))
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.violations.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => "  " + n.html + "\n  " + n.failureSummary).join("\n")).join("\n"))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	if found != "" {
		b.t.Error(found)
	}
}

// Light, dark and on a phone: nothing for axe-core to find, nothing wider than the screen.
func TestLooks(t *testing.T) {
	b := chromium(t)
	for _, look := range []struct {
		name, scheme  string
		width, height int64
		mobile        bool
	}{{"light", "light", 900, 1000, false}, {"dark", "dark", 900, 1000, false}, {"phone", "light", 390, 844, true}, {"phone-dark", "dark", 320, 640, true}} {
		t.Run(look.name, func(t *testing.T) {
			b := &tab{t: t, ctx: b.ctx}
			a := ask(t, request("Tell us about this parcel. We need it before noon.", kinds))
			opts := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
			if look.mobile {
				opts = append(opts, chromedp.EmulateMobile)
			}
			b.do(chromedp.EmulateViewport(look.width, look.height, opts...), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
				feature := emulation.MediaFeature{Name: "prefers-color-scheme", Value: look.scheme}
				_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{&feature}})
				return err
			}), chromedp.Navigate(a.url))
			b.wait("Tracking number")
			axe(b)
			if wide := eval[int](b, `document.documentElement.scrollWidth`); int64(wide) > look.width {
				t.Errorf("the page is %d pixels wide", wide)
			}
			shot(b, "browser-"+look.name)
			b.keys("short", kb.Enter)
			b.wait("Please check your answers")
			axe(b)
			b.press(`button[value=cancel]`)
			a.want("cancel", "")
		})
	}
}

// Who knows the address that was opened comes too late, and no other page can answer.
func TestSecurity25OnlyThePage(t *testing.T) {
	b := chromium(t)
	a := ask(t, request("Ship this order", small))
	b.do(chromedp.Navigate(a.url))
	b.wait("Ship this order")
	here := eval[string](b, `location.href`)
	if here == a.url {
		t.Error("the page is at the address that was opened")
	}
	host := strings.Split(a.url, "/")[2]
	try := func(method, url, hostHeader, origin string, want int) {
		t.Helper()
		req, err := http.NewRequest(method, url, strings.NewReader("button=decline"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		if hostHeader != "" {
			req.Host = hostHeader
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != want {
			t.Errorf("%s %s as %q from %q: %d, want %d\n%s", method, url, hostHeader, origin, res.StatusCode, want, body)
		}
		csp := res.Header.Get("Content-Security-Policy")
		if res.Header.Get("Cache-Control") != "no-store" || !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || res.Header.Get("Set-Cookie") != "" {
			t.Errorf("headers %v", res.Header)
		}
	}
	try("GET", a.url, "", "", http.StatusGone)
	try("POST", a.url, "", "http://"+host, http.StatusMethodNotAllowed)
	try("POST", here, "", "", http.StatusForbidden)
	try("POST", here, "", "null", http.StatusForbidden)
	try("POST", here, "", "https://evil.example.com", http.StatusForbidden)
	try("POST", here, "", "http://localhost:"+strings.Split(host, ":")[1], http.StatusForbidden)
	try("POST", here, "", "http://127.0.0.1:1", http.StatusForbidden)
	try("GET", here, "evil.example.com", "", http.StatusForbidden)
	try("GET", here, "localhost:"+strings.Split(host, ":")[1], "", http.StatusForbidden)
	try("GET", here+"x", "", "", http.StatusNotFound)
	try("GET", "http://"+host+"/", "", "", http.StatusNotFound)
	try("PUT", here, "", "http://"+host, http.StatusMethodNotAllowed)
	a.still()
	try("POST", here, "", "http://"+host, http.StatusOK)
	a.want("decline", "")
}
