package page_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/page"
)

// A program that is asked and declines for ever takes no room from others, nor from its own user, and is not let down itself.
func TestSecurity23DeclinerLeavesRoom(t *testing.T) {
	for _, users := range [][]string{{"ann", "bob"}, {"", ""}} {
		t.Run(users[1], func(t *testing.T) {
			vault := page.NewSmallVault(32, 8)
			s := newSite(t, setup{tools: weather, users: users[0] != "", page: page.Options{Vault: vault}})
			for i := range 64 {
				r := s.call(users[0], "Forecast", nil, nil)
				if got := s.call(users[0], "Forecast", r, map[string]string{"credentials": "decline"}).text(); got != "No forecast: decline." {
					t.Fatalf("call %d: got %s", i, got)
				}
			}
			for _, user := range users {
				r := s.call(user, "Forecast", nil, nil)
				v := visit(t, user)
				v.press(v.get(r.link(t, "credentials")), "send", "me", "12345678").says(t, 200, "Done")
				if got := s.call(user, "Forecast", r, map[string]string{"credentials": "accept"}).text(); got != "Sunny for me ********." {
					t.Errorf("%q got %s", user, got)
				}
			}
		})
	}
}

// A person who sends and sends fills their own share: they are told so, and nobody else notices.
func TestSecurity23SenderLeavesRoom(t *testing.T) {
	s := newSite(t, setup{tools: weather, users: true, page: page.Options{Vault: page.NewSmallVault(32, 8)}})
	ann, taken := visit(t, "ann"), 0
	for range 40 {
		p := ann.press(ann.get(s.call("ann", "Forecast", nil, nil).link(t, "credentials")), "send", "ann", "12345678")
		if p.status == 200 {
			taken++
			continue
		}
		p.says(t, 503, "There is no room for more at the moment", "Nothing was sent")
	}
	if taken != 8 {
		t.Errorf("%d were taken, want 8", taken)
	}
	r := s.call("bob", "Keyed", nil, nil)
	bob := visit(t, "bob")
	bob.press(bob.get(r.link(t, "apiKey")), "send", "12345678").says(t, 200, "Done")
	if got := s.call("bob", "Keyed", r, map[string]string{"apiKey": "accept"}).text(); got != "Sunny ********." {
		t.Errorf("got %s", got)
	}
	if logs := s.logs.String(); !strings.Contains(logs, "the vault takes no more") {
		t.Error("the log does not tell")
	}
}

// Whoever presses "Continue" for ever, and never goes, does not keep others from signing in.
func TestSecurity22StatesLeaveRoom(t *testing.T) {
	p := newProvider(t)
	s := newSite(t, setup{users: true, page: page.Options{Vault: page.NewSmallVault(32, 8)}})
	addEvents(s.shop, s.logs, p, calendar(p, &page.ConnectOptions{RevocationURL: p.URL + "/revoke"}))
	ann := visit(t, "ann")
	form := ann.get(s.call("ann", "Events", nil, nil).link(t, "calendar"))
	for i := range 40 {
		want := 200
		if i >= 8 {
			want = 503
		}
		ann.press(form, "send").says(t, want)
	}
	// One who comes back, and has no room for a token.
	cat := visit(t, "cat")
	for range 6 {
		cat.press(cat.get(s.call("cat", "Events", nil, nil).link(t, "calendar")), "decline").says(t, 200, "Declined")
	}
	late := cat.toCallback(s.call("cat", "Events", nil, nil).link(t, "calendar"))
	for range 2 {
		cat.press(cat.get(s.call("cat", "Events", nil, nil).link(t, "calendar")), "decline")
	}
	cat.get(late).says(t, 503, "There is no room for more at the moment")
	if p.alive() != 0 {
		t.Errorf("%d tokens that nobody has are alive", p.alive())
	}
	r := s.call("bob", "Events", nil, nil)
	visit(t, "bob").connects(r.link(t, "calendar"))
	if got := s.call("bob", "Events", r, map[string]string{"calendar": "accept"}).text(); got != "the calendar of ada" {
		t.Errorf("got %s", got)
	}
}

// The memory vault counts what is there: what has expired, was removed or got shorter makes room.
func TestMemoryVaultShares(t *testing.T) {
	ctx, v := t.Context(), page.NewSmallVault(6, 3)
	entry := func(owner string, n int, expires time.Duration) page.Entry {
		return page.Entry{Key: fmt.Sprint(owner, n), Owner: owner, Secret: "s", Sealed: []byte("x"), Expires: time.Now().Add(expires)}
	}
	add := func(e page.Entry, full bool) {
		t.Helper()
		if did, err := v.Add(ctx, e); did == full || errors.Is(err, page.ErrVaultFull) != full {
			t.Errorf("Add(%s) = %v, %v", e.Key, did, err)
		}
	}
	for n := range 3 {
		add(entry("a", n, time.Hour), false)
	}
	add(entry("a", 3, time.Hour), true)
	if did, err := v.Delete(ctx, "a0"); !did || err != nil {
		t.Fatal(did, err)
	}
	long := entry("a", 3, time.Hour)
	long.Sealed = make([]byte, 3<<20)
	add(long, false)
	longer := long
	longer.Sealed = make([]byte, 5<<20)
	if did, err := v.Replace(ctx, long, longer); did || !errors.Is(err, page.ErrVaultFull) {
		t.Errorf("Replace by what is too long = %v, %v", did, err)
	}
	short := long
	short.Sealed = []byte("short")
	if did, err := v.Replace(ctx, long, short); !did || err != nil {
		t.Errorf("Replace by what is shorter = %v, %v", did, err)
	}
	long.Key = "a1"
	one := entry("a", 1, time.Hour)
	if did, err := v.Replace(ctx, one, long); !did || err != nil {
		t.Errorf("Replace by what fits = %v, %v", did, err)
	}
	for n := range 3 {
		add(entry("b", n, time.Hour), false)
	}
	add(entry("c", 0, time.Hour), true) // all of it is taken
	add(entry("", 0, time.Hour), true)
}
