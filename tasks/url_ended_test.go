package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/tasks"
)

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]*)"`)

// A browser is a person at the pages of an instance.
type browser struct{ t *testing.T }

func (b browser) do(r *http.Request) (int, string) {
	b.t.Helper()
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func (b browser) get(url string) (int, string) {
	b.t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r)
}

// send fills in a page that was shown, and sends it.
func (b browser) send(url, shown string) (int, string) {
	b.t.Helper()
	csrf := csrfField.FindStringSubmatch(shown)
	if csrf == nil {
		b.t.Fatalf("the page has nothing to send: %s", shown)
	}
	r, err := http.NewRequest("POST", url, strings.NewReader(neturl.Values{"csrf": {csrf[1]}, "button": {"send"}, "value0": {"sk-12345"}}.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", r.URL.Scheme+"://"+r.URL.Host)
	return b.do(r)
}

// When its task has ended, however that was, a link takes nothing any more, from a page that was opened before either.
func TestSecurity24LinksOfATaskThatHasEnded(t *testing.T) {
	var deny, down atomic.Bool
	secret := page.SecretInput("key", "Enter the key")
	for mode, option := range map[string]elicit.ToolOption{"Required": tasks.Required, "Optional": tasks.Optional} {
		t.Run(mode, func(t *testing.T) {
			store := &failing{Store: tasks.NewMemoryStore(), down: &down}
			vault := &noting{Vault: page.NewMemoryVault()}
			i := start(t, tasks.Options{Store: store, Authorize: func(context.Context, elicit.Principal, string) error {
				if deny.Load() {
					return errors.New("no longer a member")
				}
				return nil
			}}, nil)
			defer page.Enable(i.shop, page.Options{Vault: vault}).Close()
			addTool(i.shop, "UseKey", func(ctx context.Context) (string, error) {
				k, err := secret.Value(ctx)
				return fmt.Sprint(len(k.Reveal())), err
			}, elicit.Asks(secret), option)
			b := browser{t}
			asked := func() (id, url, shown string) {
				id = i.create("", "UseKey", `{}`)
				task := i.until("", id, "input_required")
				url, _ = task["inputRequests"].(object)["key"].(object)["params"].(object)["url"].(string)
				status, shown := b.get(url)
				if status != 200 {
					t.Fatalf("the page: %d %s", status, shown)
				}
				return id, url, shown
			}
			closed := func(what, url, shown string) {
				t.Helper()
				before := vault.added.Load()
				if status, body := b.send(url, shown); status != 409 || !strings.Contains(body, "what you sent now was not taken") {
					t.Errorf("%s, sent: %d %s", what, status, body)
				}
				if status, body := b.get(url); status != 200 || strings.Contains(body, "csrf") || !strings.Contains(body, "has ended") {
					t.Errorf("%s, opened: %d %s", what, status, body)
				}
				if n := vault.added.Load(); n != before {
					t.Errorf("%s: %d entries were stored", what, n-before)
				}
			}

			id, url, shown := asked()
			i.method("", "cancel", id, "")
			i.until("", id, "cancelled")
			closed("a cancelled task", url, shown)

			id, url, shown = asked()
			deny.Store(true)
			i.update("", id, `{"key":{"action":"accept"}}`)
			i.until("", id, "failed")
			deny.Store(false)
			closed("a task that was refused", url, shown)

			// What was entered for a task that is cancelled before it is taken is gone with it.
			id, url, shown = asked()
			if status, body := b.send(url, shown); status != 303 {
				t.Errorf("a task that waits: %d %s", status, body)
			}
			if _, body := b.get(url); !strings.Contains(body, "The server has what it asked for") {
				t.Errorf("once sent: %s", body)
			}
			i.method("", "cancel", id, "")
			if _, body := b.get(url); !strings.Contains(body, "has ended") {
				t.Errorf("cancelled: %s", body)
			}

			// While nobody knows whether the task goes on, nothing is taken; then it is.
			id, url, shown = asked()
			down.Store(true)
			if status, body := b.send(url, shown); status != 500 || !strings.Contains(body, "nothing was sent") {
				t.Errorf("while the store is down: %d %s", status, body)
			}
			down.Store(false)
			if status, body := b.send(url, shown); status != 303 {
				t.Errorf("a task that waits: %d %s", status, body)
			}
			i.update("", id, `{"key":{"action":"accept"}}`)
			if got := text(t, i.until("", id, "completed")); got != "8" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A link does not outlive its task, whatever page.Options.Expiry says.
func TestSecurity24LinksOfATaskThatHasExpired(t *testing.T) {
	secret := page.SecretInput("key", "Enter the key")
	i := start(t, tasks.Options{TTL: 3 * time.Second}, nil)
	defer page.Enable(i.shop, page.Options{}).Close()
	addTool(i.shop, "UseKey", func(ctx context.Context) (string, error) {
		_, err := secret.Value(ctx)
		return "", err
	}, elicit.Asks(secret), tasks.Required)
	id := i.create("", "UseKey", `{}`)
	url, _ := i.until("", id, "input_required")["inputRequests"].(object)["key"].(object)["params"].(object)["url"].(string)
	b := browser{t}
	status, shown := b.get(url)
	if status == 410 {
		t.Skip("the machine is too slow to see the page in time")
	}
	eventually(t, func() bool { return i.method("", "get", id, "").code() == -32602 }, func() string { return "the task does not expire" })
	if status, body := b.get(url); status != 410 || !strings.Contains(body, "expired") {
		t.Errorf("opened: %d %s", status, body)
	}
	if status, body := b.send(url, shown); status != 410 || !strings.Contains(body, "Nothing was sent") {
		t.Errorf("sent: %d %s", status, body)
	}
}

// failing is a store that cannot be read at times.
type failing struct {
	tasks.Store
	down *atomic.Bool
}

func (f *failing) Get(ctx context.Context, id string) (tasks.Row, error) {
	if f.down.Load() {
		return tasks.Row{}, tasks.ErrUnavailable
	}
	return f.Store.Get(ctx, id)
}

// noting counts what a vault is given.
type noting struct {
	page.Vault
	added atomic.Int32
}

func (v *noting) Add(ctx context.Context, e page.Entry) (bool, error) {
	v.added.Add(1)
	return v.Vault.Add(ctx, e)
}
