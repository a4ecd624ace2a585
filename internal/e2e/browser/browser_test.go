package browser

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/browser"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tab is a tab of a real browser.
type tab struct {
	t     *testing.T
	ctx   context.Context
	close context.CancelFunc // closes the tab, and not the browser
}

// chromium starts a browser for one test. Where there is none the test is skipped; `make chromium` installs one.
func chromium(t *testing.T) *tab {
	t.Helper()
	if os.Getenv("ELICIT_E2E") == "0" {
		t.Skip("left to `make people`")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		harness.Missing(t, "no Chromium is installed: run `make chromium`")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("no-first-run", true), chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(time.Minute))
	all, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(all)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t}
	second, closeTab := chromedp.NewContext(ctx) // The first stays, so that the browser does when this one is closed.
	if err := chromedp.Do(second); err != nil {
		t.Fatal(err)
	}
	var timeout context.CancelFunc
	b.ctx, timeout = context.WithTimeout(second, 2*time.Minute)
	b.close = closeTab
	t.Cleanup(func() {
		timeout()
		cancel()
		stop()
	})
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%v\nthe page says:\n%s", err, b.text())
	}
}

// press presses a button or a link that leads to another page, and waits until that one is there: the page before may be
// gone while its next button is looked for, or take a press that nobody hears.
func (b *tab) press(selector string) {
	b.t.Helper()
	eval[bool](b, `window.before = true`)
	b.do(chromedp.Click(selector))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		// It fails while there is no page.
		there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`!window.before && document.readyState === "complete"`))
		if err == nil && there {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s leads nowhere (%v)\nthe page says:\n%s", selector, err, b.text())
		}
	}
}

// eval is the value of a script.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("%v\nin %s\nthe page says:\n%s", err, script, b.text())
	}
	return v
}

// text is what the page says.
func (b *tab) text() string {
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	return text
}

// wait waits until the page says all of these.
func (b *tab) wait(texts ...string) {
	b.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		said, missing := b.text(), ""
		for _, s := range texts {
			if !strings.Contains(said, s) {
				missing = s
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the page does not say %q:\n%s", missing, said)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// keys presses keys, wherever the focus is.
func (b *tab) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// An asking is a question on its way to be answered.
type asking struct {
	t      *testing.T
	url    string
	answer chan *mcp.ElicitResult
	err    chan error
	opened []string // later pages
}

// ask asks for a form on a page.
func ask(t *testing.T, r *answer.Request) *asking {
	t.Helper()
	a := &asking{t: t, answer: make(chan *mcp.ElicitResult, 1), err: make(chan error, 1)}
	opened := make(chan string, 8)
	person := browser.New(&browser.Options{Out: t.Output(), Closed: 1500 * time.Millisecond, Open: func(_ context.Context, url string) error {
		opened <- url
		return nil
	}})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		res, err := person.Answer(ctx, r)
		for len(opened) > 0 {
			a.opened = append(a.opened, <-opened)
		}
		if err != nil {
			a.err <- err
			return
		}
		a.answer <- res
	}()
	select {
	case a.url = <-opened:
	case err := <-a.err:
		t.Fatal(err)
	}
	return a
}

// want waits for the answer and compares it.
func (a *asking) want(action, content string) {
	a.t.Helper()
	select {
	case res := <-a.answer:
		got := ""
		if res.Content != nil {
			data, _ := json.Marshal(res.Content)
			got = string(data)
		}
		if res.Action != action || got != content {
			a.t.Errorf("the answer is %s %s, want %s %s", res.Action, got, action, content)
		}
	case err := <-a.err:
		a.t.Error(err)
	case <-time.After(20 * time.Second):
		a.t.Fatal("no answer comes")
	}
}

// still checks that there is no answer yet.
func (a *asking) still() {
	a.t.Helper()
	select {
	case res := <-a.answer:
		a.t.Fatalf("answered already: %+v", res)
	default:
	}
}

func request(message, schema string) *answer.Request {
	return &answer.Request{
		Key: "q", Server: "http://localhost:5280/", ServerName: "shop", Tool: "ShipOrder", Round: 1, Exact: true,
		Params: &mcp.ElicitParams{Mode: "form", Message: message}, Schema: json.RawMessage(schema),
	}
}

const kinds = `{"type":"object","properties":{
	"trackingNumber":{"type":"string","title":"Tracking number","description":"Printed on the label.","minLength":8,"maxLength":20},
	"mail":{"type":"string","title":"E-mail","format":"email"},
	"site":{"type":"string","title":"Web site","format":"uri"},
	"day":{"type":"string","title":"Pick-up day","format":"date"},
	"at":{"type":"string","title":"Delivered at","format":"date-time","default":"2026-07-28T14:30:00+02:00"},
	"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10,"default":1},
	"order":{"type":"integer","title":"Order","default":9007199254740993},
	"weight":{"type":"number","title":"Weight","minimum":0.5},
	"fragile":{"type":"boolean","title":"Fragile"},
	"insured":{"type":"boolean","title":"Insured","default":true},
	"carrier":{"type":"string","title":"Carrier","oneOf":[{"const":"ups","title":"UPS"},{"const":"dhl","title":"DHL"}]},
	"extras":{"type":"array","title":"Extras","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"insurance","title":"Insurance"},{"const":"signature","title":"Signature"},{"const":"saturday","title":"Saturday delivery"}]}},
	"note":{"type":"string","title":"Note"}},
	"required":["trackingNumber","mail","day","parcels","fragile","carrier","extras"]}`

// Every kind of field is filled in with nothing but the keyboard.
func TestKeyboard(t *testing.T) {
	b := chromium(t)
	a := ask(t, request("Tell us about this parcel.\nWe need it before noon.", kinds))
	b.do(chromedp.Navigate(a.url))
	b.wait("http://localhost:5280/", "calls itself “shop”", "for its tool ShipOrder", "We need it before noon.")
	tab := kb.Tab
	b.keys("1Z999999", tab, "ada@example.com", tab, "https://example.com/", tab)
	b.keys("0", "7", "2", "8", "2", "0", "2", "6", tab) // A date has three parts, which move on by themselves; the year does not.
	b.keys(tab)
	if at := b.focused(); !strings.Contains(at, "zone") {
		for range 8 { // The parts of the date and time.
			if strings.Contains(b.focused(), "zone") {
				break
			}
			b.keys(tab)
		}
	}
	b.keys(tab, kb.ArrowUp, kb.ArrowUp, tab)   // Zone stays; parcels: 3
	b.keys(tab, "2.5", tab)                    // Order stays, weight
	b.keys(kb.ArrowDown, kb.ArrowUp, tab, tab) // Fragile: no, then yes; insured stays
	b.keys("D", tab)                           // Carrier by its first letter
	b.keys(" ", tab, tab, " ", tab, "leave it")
	b.keys(kb.Enter) // As a click on Review does.
	b.wait("Review your answers", "Saturday delivery")
	a.still()
	shot(b, "browser-review")
	b.keys(kb.Enter) // Starts on no choice.
	a.still()
	b.keys(tab, kb.Enter)
	b.wait("Sent.")
	a.want("accept", `{"at":"2026-07-28T14:30:00+02:00","carrier":"dhl","day":"2026-07-28","extras":["insurance","saturday"],"fragile":true,"insured":true,"mail":"ada@example.com","note":"leave it","order":9007199254740993,"parcels":3,"site":"https://example.com/","trackingNumber":"1Z999999","weight":2.5}`)
}

// focused names the control that has the focus.
func (b *tab) focused() string {
	b.t.Helper()
	return eval[string](b, `document.activeElement.id || document.activeElement.value || document.activeElement.tagName`)
}

// shot writes a screenshot into docs/img when ELICIT_SHOTS is set. Look at it before you commit it.
func shot(b *tab, name string) {
	if os.Getenv("ELICIT_SHOTS") == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	dir := filepath.Join(harness.Root(), "docs", "img")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
