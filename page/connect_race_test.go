package page_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
)

// Things that happen at the same time.

// Of two sign-ins by one link, in two tabs, the first counts, and its token is the one that is kept.
func TestConnectTwice(t *testing.T) {
	for _, user := range []string{"ann", ""} {
		p := newProvider(t)
		s := newCalendarSiteWith(t, p, &page.ConnectOptions{RevocationURL: p.URL + "/revoke"}, newSpyVault(), user != "")
		r, link := s.asks(user)
		const tabs = 8
		var callbacks []string
		v := visit(t, user)
		for range tabs {
			callbacks = append(callbacks, v.toCallback(link))
		}
		hold := make(chan struct{})
		p.set(func() { p.hold = hold }) // all codes are exchanged at the same time
		statuses := make(chan int, tabs)
		for _, c := range callbacks {
			go func() { statuses <- visit(t, user).get(c).status }()
		}
		waitUntil(t, func() bool { return p.begun() == tabs })
		close(hold)
		n := map[int]int{}
		for range tabs {
			n[<-statuses]++
		}
		if n[http.StatusSeeOther] != 1 || n[http.StatusConflict] != tabs-1 {
			t.Errorf("%q: the pages answered %v", user, n)
		}
		if got := s.goesOn(user, r); got.text() != "the calendar of ada" {
			t.Errorf("%q: the call ends with %q", user, got.text())
		}
		if n := p.alive(); n != 2*tabs { // to revoke the others might end the one that counts
			t.Errorf("%q: %d tokens are alive", user, n)
		}
	}
}

// An instance that has a newer secret seals an entry anew while another one refreshes the token in it: the new token is not
// lost, and the old one not used again.
func TestSecurity23RefreshDuringRotation(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	vault, newer := newSpyVault(), []byte("fedcba9876543210fedcba9876543210")
	instance := func(secrets ...[]byte) *calendarSite {
		s := newSite(t, setup{users: true, elicit: elicit.Options{Secrets: secrets}, page: page.Options{Vault: vault, Wait: 10 * time.Second}})
		addEvents(s.shop, s.logs, p, calendar(p, nil))
		return &calendarSite{s, p, vault}
	}
	before, after := instance(testSecret, newer), instance(newer, testSecret)
	_, link := before.asks("ann")
	visit(t, "ann").connects(link)
	old := vault.stored("v:")[0].Secret
	time.Sleep(800 * time.Millisecond) // it is to be refreshed
	hold := make(chan struct{})
	p.set(func() { p.hold, p.life = hold, time.Hour })
	texts := make(chan string, 2)
	go func() { texts <- before.call("ann", "Events", nil, nil).text() }()
	waitUntil(t, func() bool { return vault.there(t, "l:") == 1 })
	go func() { texts <- after.call("ann", "Events", nil, nil).text() }()
	waitUntil(t, func() bool {
		kept := vault.stored("v:")
		return kept[len(kept)-1].Secret != old
	})
	close(hold)
	for range 2 {
		if text := <-texts; text != "the calendar of ada" {
			t.Errorf("got %q", text)
		}
	}
	if _, refreshed, reused := p.counts(); refreshed != 1 || reused != 0 {
		t.Errorf("refreshed %d times, with %d uses of a token that was spent", refreshed, reused)
	}
	if text := after.call("ann", "Events", nil, nil).text(); text != "the calendar of ada" {
		t.Errorf("afterwards: %q", text)
	}
}

// forgottenWhileRefreshed is a call of ann's whose grant is taken out of the vault while its token is refreshed.
func (s *calendarSite) forgottenWhileRefreshed(t *testing.T) *round {
	t.Helper()
	time.Sleep(800 * time.Millisecond) // it is to be refreshed
	hold := make(chan struct{})
	s.p.set(func() { s.p.hold = hold })
	rounds := make(chan *round, 1)
	go func() { rounds <- s.call("ann", "Events", nil, nil) }()
	waitUntil(t, func() bool { return s.vault.there(t, "l:") == 1 })
	if gone, err := s.vault.Delete(t.Context(), s.vault.stored("v:")[0].Key); err != nil || !gone {
		t.Fatal(gone, err)
	}
	close(hold)
	return <-rounds
}

// A sign-in that is forgotten while its token is refreshed stays forgotten.
func TestForgottenWhileRefreshed(t *testing.T) {
	p := newProvider(t)
	p.life = time.Second
	s := newCalendarSite(t, p, nil)
	_, link := s.asks("ann")
	visit(t, "ann").connects(link)
	r := s.forgottenWhileRefreshed(t)
	if r.Result.InputRequests == nil {
		t.Errorf("the call does not ask: %q", r.text())
	}
	if _, refreshed, _ := p.counts(); refreshed != 1 {
		t.Errorf("refreshed %d times", refreshed)
	}
	if n := s.vault.there(t, "v:"); n != 0 {
		t.Errorf("%d values are in the vault", n)
	}
}
