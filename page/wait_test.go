package page_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A link outlives a restart of the server that made it, where secrets are shared.
func TestLinkSurvivesRestart(t *testing.T) {
	start := func(before *site) *site {
		return newSite(t, setup{tools: weather, after: before, elicit: elicit.Options{Secrets: [][]byte{testSecret}}})
	}
	s := start(nil)
	r := s.call("", "Forecast", nil, nil)
	link := r.link(t, "credentials")
	v := visit(t, "")
	form := v.get(link)
	s = start(s)
	r = s.call("", "Forecast", r, map[string]string{"credentials": "accept"})
	if r.link(t, "credentials") != link {
		t.Error("asked with another link")
	}
	v.press(form, "send", "ann", "12345678").says(t, 200, "Done")
	if got := s.call("", "Forecast", r, map[string]string{"credentials": "accept"}).text(); got != "Sunny for ann ********." {
		t.Errorf("got %s", got)
	}
}

// One instance serves the call and waits, another the page.
func TestTwoInstances(t *testing.T) {
	vault := page.NewMemoryVault()
	opts := func() setup {
		return setup{tools: weather, users: true, elicit: elicit.Options{Secrets: [][]byte{testSecret}}, page: page.Options{Vault: vault, Wait: time.Hour}}
	}
	one := newSite(t, opts())
	both := opts()
	both.page.Base = one.base
	two := newSite(t, both)

	r := one.call("ann", "Forecast", nil, nil)
	got := make(chan string)
	go func() {
		r, err := one.try("ann", "Forecast", `{"url":{}}`, r, map[string]string{"credentials": "accept"})
		if err != nil {
			got <- err.Error()
			return
		}
		got <- r.text()
	}()
	v := visit(t, "ann")
	v.headers = http.Header{"Origin": {strings.TrimSuffix(one.base, "/pages")}} // both are behind one address
	form := v.get(two.base + r.link(t, "credentials")[len(one.base):])
	v.post(form, "send", "ann", "12345678").says(t, http.StatusSeeOther)
	if text := <-got; text != "Sunny for ann ********." {
		t.Errorf("got %s", text)
	}
}

// An expired link collects nothing, and the call gets a fresh one.
func TestExpired(t *testing.T) {
	s := newSite(t, setup{tools: weather, page: page.Options{Expiry: time.Nanosecond}})
	r := s.call("", "Forecast", nil, nil)
	link := r.link(t, "credentials")
	visit(t, "").get(link).says(t, http.StatusGone, "This link has expired", "Nothing was sent")
	again := s.call("", "Forecast", r, map[string]string{"credentials": "accept"})
	if again.link(t, "credentials") == link {
		t.Error("the link is still the old one")
	}
}

// A full house does not wait: it asks again at once.
func TestMaxWaiting(t *testing.T) {
	s := newSite(t, setup{tools: weather, page: page.Options{Wait: time.Hour, MaxWaiting: 1}})
	first, second := s.call("", "Forecast", nil, nil), s.call("", "Forecast", nil, nil)
	done := make(chan *round, 2)
	for _, r := range []*round{first, second} {
		go func() {
			again, err := s.try("", "Forecast", `{"url":{}}`, r, map[string]string{"credentials": "accept"})
			if err == nil {
				done <- again
			}
		}()
	}
	select {
	case r := <-done: // one of them, at once
		r.link(t, "credentials")
	case <-time.After(20 * time.Second):
		t.Fatal("both wait")
	}
	v := visit(t, "")
	for _, r := range []*round{first, second} {
		v.press(v.get(r.link(t, "credentials")), "send", "ann", "12345678").says(t, 200, "Done")
	}
	if r := <-done; r.text() != "Sunny for ann ********." {
		t.Errorf("got %s", r.text())
	}
}

// A user who has many calls wait has a share of the places: further ones are answered at once, and others wait and are woken.
func TestWaitersLeaveRoom(t *testing.T) {
	const share, places = 16, 24
	s := newSite(t, setup{tools: weather, users: true, page: page.Options{Wait: time.Hour, MaxWaiting: places}})
	var asked []*round
	done := make(chan *round, places)
	again := func(user string, r *round) {
		if r, err := s.try(user, "Forecast", `{"url":{}}`, r, map[string]string{"credentials": "accept"}); err == nil {
			done <- r
		}
	}
	for range places { // as many as there are
		r := s.call("ann", "Forecast", nil, nil)
		asked = append(asked, r)
		go again("ann", r)
	}
	for range places - share {
		r := <-done
		r.link(t, "credentials") // asked again, without waiting
	}
	bobs := s.call("bob", "Forecast", nil, nil)
	waits := make(chan *round, 1)
	go func() {
		if r, err := s.try("bob", "Forecast", `{"url":{}}`, bobs, map[string]string{"credentials": "accept"}); err == nil {
			waits <- r
		}
	}()
	bob := visit(t, "bob")
	bob.press(bob.get(bobs.link(t, "credentials")), "send", "bob", "12345678").says(t, 200, "Done")
	if r := <-waits; r.text() != "Sunny for bob ********." {
		t.Errorf("Bob's call does not wait: %s", r.text())
	}
	ann := visit(t, "ann")
	for _, r := range asked {
		ann.press(ann.get(r.link(t, "credentials")), "send", "ann", "12345678").says(t, 200, "Done")
	}
	for range share {
		if r := <-done; r.text() != "Sunny for ann ********." {
			t.Errorf("got %s", r.text())
		}
	}
	r := s.call("ann", "Forecast", nil, nil) // the places are free again
	go again("ann", r)
	ann.press(ann.get(r.link(t, "credentials")), "send", "ann", "12345678").says(t, 200, "Done")
	if r := <-done; r.text() != "Sunny for ann ********." {
		t.Errorf("got %s", r.text())
	}
}

// A secret that turns out to be wrong is forgotten, and asked for again: in the same call, and by later ones.
func TestForget(t *testing.T) {
	t.Run("remembered", func(t *testing.T) { testForget(t, "ann", page.Remember(time.Hour)) })
	t.Run("for one call", func(t *testing.T) { testForget(t, "ann") })
	t.Run("of nobody", func(t *testing.T) { testForget(t, "", page.Remember(time.Hour)) })
}

func testForget(t *testing.T, user string, opts ...page.SecretOption) {
	key := page.SecretInput("apiKey", "Your key", opts...)
	s := newSite(t, setup{users: user != "", tools: func(shop *elicit.Server) {
		elicit.AddTool(shop, &mcp.Tool{Name: "Keyed"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			k, err := key.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			if k.Reveal() == "revoked" {
				if err := page.Forget(ctx, key); err != nil {
					return nil, nil, err
				}
				_, err := key.WithMessagef("That key was refused. Another one, please").Require(ctx)
				if err == nil {
					err = errors.New("it was not asked")
				}
				return nil, nil, err
			}
			return elicit.Text("Used " + strings.Repeat("*", len(k.Reveal()))), nil, nil
		}, elicit.Asks(key))
	}})
	v := visit(t, user)
	r := s.call(user, "Keyed", nil, nil)
	first := r.link(t, "apiKey")
	v.press(v.get(first), "send", "revoked").says(t, 200, "Done")
	r = s.call(user, "Keyed", r, map[string]string{"apiKey": "accept"})
	if r.link(t, "apiKey") == first || r.Result.InputRequests["apiKey"].Params.Message != "That key was refused. Another one, please" {
		t.Fatalf("asked again by %+v", r)
	}
	v.get(first).says(t, 200, "Done")
	if again := s.call(user, "Keyed", r, map[string]string{"apiKey": "accept"}); again.link(t, "apiKey") != r.link(t, "apiKey") {
		t.Error("asked by a third link")
	}
	v.press(v.get(r.link(t, "apiKey")), "send", "a good one").says(t, 200, "Done")
	if got := s.call(user, "Keyed", r, map[string]string{"apiKey": "accept"}).text(); got != "Used **********" {
		t.Errorf("got %s", got)
	}
	if got := s.call(user, "Keyed", nil, nil); user != "" && len(opts) > 0 && got.text() != "Used **********" {
		t.Errorf("got %s", got.text())
	}
}

// brokenVault fails.
type brokenVault struct{ page.Vault }

func (brokenVault) Find(context.Context, ...string) ([]page.Entry, error) {
	return nil, errors.New("dial tcp 10.0.0.7:5432: connection refused")
}

func (brokenVault) Secrets(context.Context) ([]string, error) { return nil, errors.New("no") }

// A vault that is down is told to the log, not to the model or the visitor.
func TestVaultDown(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true, page: page.Options{Vault: brokenVault{page.NewMemoryVault()}}})
	r := s.call("ann", "Keyed", nil, nil)
	if !r.Result.IsError || !strings.Contains(r.text(), "cannot be read at the moment") || strings.Contains(r.text(), "10.0.0.7") {
		t.Errorf("got %+v", r)
	}
	r = s.call("ann", "Forecast", nil, nil)
	visit(t, "ann").get(r.link(t, "credentials")).says(t, 500, "Something went wrong")
	if !strings.Contains(s.logs.String(), "10.0.0.7") {
		t.Error("the log does not tell why")
	}
}

// A question that is not declared cannot be shown by another instance, and the author is told.
func TestUndeclared(t *testing.T) {
	q := page.SecretInput("apiKey", "Your key")
	s := newSite(t, setup{tools: func(shop *elicit.Server) {
		elicit.AddTool(shop, &mcp.Tool{Name: "Keyed"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			_, err := q.Value(ctx)
			return nil, nil, err
		})
	}})
	if r := s.call("", "Keyed", nil, nil); !r.Result.IsError || !strings.Contains(r.text(), "elicit.Asks") {
		t.Errorf("got %+v", r)
	}
	if err := elicit.NewQuestion[credentials]("c", "Your account").Err(); err == nil || !strings.Contains(err.Error(), "page.Secret") {
		t.Errorf("a form takes a hidden field: %v", err)
	}
	if err := page.Secret[struct {
		APIKey string `json:"apiKey"`
	}]("c", "Your account").Err(); err == nil || !strings.Contains(err.Error(), "page.Hidden") {
		t.Errorf("a page takes a key that does not hide itself: %v", err)
	}
	for _, q := range []elicit.AnyQuestion{page.Secret[struct{}]("c", "Nothing"), page.SecretInput("k", "Your key", page.Remember(time.Second)), page.SecretInput("", "Your key")} {
		if q.Err() == nil {
			t.Errorf("%q is fine", q.Key())
		}
	}
}
