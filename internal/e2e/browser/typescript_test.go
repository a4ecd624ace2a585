package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/elicit-go/elicit/page"
)

// A line is what node/client.mjs prints.
type line struct {
	Open, ID, Done string
	Version, Text  string
	IsError        bool
	Error          *struct {
		Code    int
		Message string
	}
}

// typeScript calls the tool with the TypeScript SDK's client, which agrees to open pages with action, and gives its lines.
func (s *weatherShop) typeScript(mode, action string) <-chan line {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, harness.Node(s.t), filepath.Join(harness.NodeDir(), "client.mjs"), s.url, mode, action, "{}",
		`{"method":"tools/call","params":{"name":"`+s.tool+`","arguments":{}}}`)
	cmd.Env = append(os.Environ(), "ELICIT_URL=1")
	cmd.Stderr = s.t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := make(chan line, 32)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			var l line
			if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
				l.Text = err.Error() + " in " + scan.Text()
			}
			lines <- l
		}
		_ = cmd.Wait()
	}()
	return lines
}

// With the TypeScript SDK's client too, a page that was closed can be opened again, by the same link; one that was left open
// for too long takes nothing, and there is another.
func TestSecretPageTypeScriptAgain(t *testing.T) {
	harness.Node(t)
	b := chromium(t)
	for _, mode := range []string{"default", "auto"} {
		t.Run(mode+"/closed", func(t *testing.T) {
			b := &tab{t: t, ctx: b.ctx}
			lines := newWeatherShop(t, false, page.Options{Wait: 5 * time.Second}).typeScript(mode, "accept")
			link := (<-lines).Open
			first := b.another()
			first.do(chromedp.Navigate(link))
			first.wait("Your account")
			first.close()
			b.do(chromedp.Navigate(link))
			b.wait("Your account")
			b.fillIn()
			b.wait("Done")
			for l := range lines {
				if l.Open != "" && l.Open != link || l.Text != "" && l.Text != "Sunny for Ann: 8, 0, free." {
					t.Errorf("the client reports %+v", l)
				}
			}
		})
		t.Run(mode+"/expired", func(t *testing.T) {
			b := &tab{t: t, ctx: b.ctx}
			lines := newWeatherShop(t, false, page.Options{Expiry: 8 * time.Second}).typeScript(mode, "accept")
			link := (<-lines).Open
			b.do(chromedp.Navigate(link))
			b.wait("Your account")
			fresh := (<-lines).Open // when the first has expired
			if fresh == "" || fresh == link {
				t.Fatalf("asked again with %q", fresh)
			}
			b.fillIn()
			b.wait("This link has expired")
			b.do(chromedp.Navigate(fresh))
			b.wait("Your account")
			b.fillIn()
			b.wait("Done")
			text := ""
			for l := range lines {
				text += l.Text
			}
			if text != "Sunny for Ann: 8, 0, free." {
				t.Errorf("the tool says %q", text)
			}
		})
	}
}

// The TypeScript SDK's client, of both generations: a key is collected, declined on the page, declined at the client.
func TestSecretPageTypeScript(t *testing.T) {
	harness.Node(t)
	b := chromium(t)
	for _, m := range []struct {
		mode, version string
	}{{"default", "2025-11-25"}, {"auto", "2026-07-28"}} {
		for _, do := range []struct{ name, action, button, want string }{
			{"collected", "accept", "send", "Sunny for Ann: 8, 0, free."},
			{"declined on the page", "accept", "decline", `the user declined to answer "account"`},
			{"declined at the client", "decline", "", `the user declined to answer "account"`},
			{"cancelled at the client", "cancel", "", `the user dismissed "account" without answering`},
		} {
			t.Run(m.version+"/"+do.name, func(t *testing.T) {
				b := &tab{t: t, ctx: b.ctx}
				shop := newWeatherShop(t, false, page.Options{})
				lines := shop.typeScript(m.mode, do.action)
				asked, ok := <-lines
				if !ok || asked.Open == "" || (asked.ID != "") != (m.mode == "default") {
					t.Fatalf("the client reports %+v, want a page to open, with an id if it is older", asked)
				}
				b.do(chromedp.Navigate(asked.Open))
				switch do.button {
				case "send":
					b.wait("Your account")
					b.fillIn()
					b.wait("Done")
				case "decline":
					b.wait("Your account")
					b.press(`button[value=decline]`)
					b.wait("Declined")
				}
				var end line
				told := ""
				for l := range lines {
					if l.Done != "" {
						told = l.Done
						continue
					}
					end = l
				}
				if end.Version != m.version || end.Text != do.want || end.IsError != (do.button != "send") {
					t.Errorf("the client ends with %+v, want %q", end, do.want)
				}
				if m.mode == "default" && do.button != "" && told != asked.ID {
					t.Errorf("the client was told that %q is done, want %q", told, asked.ID)
				}
			})
		}
	}
}
