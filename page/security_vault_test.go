package page_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
)

// Of users without a principal nothing is remembered, and what they enter is for one call.
func TestSecurity23AnonymousIsOneTime(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, page: page.Options{Vault: r}})
	asked, other := s.call("", "Keyed", nil, nil), s.call("", "Keyed", nil, nil)
	v := visit(t, "")
	v.press(v.get(asked.link(t, "apiKey")), "send", "12345678").says(t, 200, "Done")
	for name, before := range map[string]*round{"a new call": nil, "a call that was asked before": other} {
		if got := s.call("", "Keyed", before, map[string]string{"apiKey": "accept"}); len(got.Result.InputRequests) != 1 {
			t.Errorf("%s: got %s", name, got.text())
		}
	}
	if got := s.call("", "Keyed", asked, map[string]string{"apiKey": "accept"}).text(); got != "Sunny ********." {
		t.Errorf("got %s", got)
	}
	for _, e := range r.all {
		if strings.HasPrefix(e.Key, "v:") {
			t.Errorf("something is remembered: %s", e.Key)
		}
	}
}

// What was entered for a call is gone with it.
func TestSecurity23GoneWithTheCall(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, page: page.Options{Vault: r}})
	asked := s.call("", "Forecast", nil, nil)
	v := visit(t, "")
	v.press(v.get(asked.link(t, "credentials")), "send", "ann", "12345678").says(t, 200, "Done")
	before, _ := r.Find(t.Context(), r.all[0].Key)
	s.call("", "Forecast", asked, map[string]string{"credentials": "accept"})
	after, _ := r.Find(t.Context(), r.all[0].Key)
	if len(before) != 1 || len(after) != 1 || len(after[0].Sealed) >= len(before[0].Sealed) {
		t.Errorf("before the call ended there was %v, then %v: want that the link was used, and nothing more", before, after)
	}
	v.get(asked.link(t, "credentials")).says(t, 200, "Done")
}

// An entry opens under its own name alone: whoever can write to the database cannot give one user the other's secret.
func TestSecurity23EntriesDoNotMove(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, users: true, page: page.Options{Vault: r}, elicit: elicit.Options{Secrets: [][]byte{testSecret}}})
	var values []page.Entry
	for _, user := range []string{"ann", "bob"} {
		v := visit(t, user)
		v.press(v.get(s.call(user, "Keyed", nil, nil).link(t, "apiKey")), "send", "key of "+user).says(t, 200, "Done")
		for _, e := range r.all {
			if strings.HasPrefix(e.Key, "v:") {
				values = append(values, e)
			}
		}
		r.all = nil
	}
	if len(values) != 2 || values[0].Key == values[1].Key {
		t.Fatalf("the vault has %v", values)
	}
	moved := values[1]
	moved.Key = values[0].Key
	if ok, err := r.Vault.Replace(t.Context(), values[0], moved); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.call("ann", "Keyed", nil, nil).link(t, "apiKey") // asked again
	if got := s.call("bob", "Keyed", nil, nil).text(); got != "Sunny **********." {
		t.Errorf("got %s", got)
	}
	if logs := s.logs.String(); !strings.Contains(logs, "cannot be opened") {
		t.Error("the log does not tell")
	}
}

// What a page stored, and does not open any more, is said on the page and to the log, and the call asks anew, by another link.
func TestSecurity23LostAnswer(t *testing.T) {
	other := []byte("another secret, of thirty-two bytes")
	for name, lose := range map[string]func(t *testing.T, r *recorder, start func(...[]byte) *site) *site{
		"its secret was taken away": func(_ *testing.T, _ *recorder, start func(...[]byte) *site) *site {
			return start(testSecret) // the page was served by an instance with a newer one
		},
		"somebody changed it": func(t *testing.T, r *recorder, start func(...[]byte) *site) *site {
			for _, e := range r.all {
				changed := e
				changed.Sealed = bytes.Clone(e.Sealed)
				changed.Sealed[len(changed.Sealed)-1] ^= 1
				if ok, err := r.Vault.Replace(t.Context(), e, changed); !ok || err != nil {
					t.Fatal(ok, err)
				}
			}
			return start(other, testSecret)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{Vault: page.NewMemoryVault()}
			var s *site
			start := func(secrets ...[]byte) *site {
				s = newSite(t, setup{tools: weather, users: true, after: s, page: page.Options{Vault: r}, elicit: elicit.Options{Secrets: secrets}})
				return s
			}
			start(testSecret)
			asked := s.call("ann", "Keyed", nil, nil)
			link := asked.link(t, "apiKey")
			v := visit(t, "ann")
			form := v.get(link)
			start(other, testSecret)
			v.press(v.get(link), "send", "the first key").says(t, 200, "Done")
			lose(t, r, start)

			for what, p := range map[string]*view{"the link": v.get(link), "the back button": v.post(form, "send", "the second key")} {
				p.says(t, http.StatusGone, "This link is of no use any more", "can no longer read it", "you get a new link there")
				if strings.Contains(p.body, "<form") || strings.Contains(p.body, "answered before") {
					t.Errorf("%s: %s", what, p.body)
				}
			}
			again := s.call("ann", "Keyed", asked, map[string]string{"apiKey": "accept"})
			if again.link(t, "apiKey") == link {
				t.Fatal("asked by the same link")
			}
			v.press(v.get(again.link(t, "apiKey")), "send", "12345678").says(t, 200, "Done")
			for _, before := range []*round{again, nil} {
				if got := s.call("ann", "Keyed", before, map[string]string{"apiKey": "accept"}).text(); got != "Sunny ********." {
					t.Errorf("got %s", got)
				}
			}
			logs := s.logs.String()
			if !strings.Contains(logs, "cannot be opened") || strings.Contains(logs, "first key") || strings.Contains(logs, "second key") || strings.Contains(logs, "12345678") {
				t.Errorf("the log says %s", logs)
			}
		})
	}
}

// A call that ends closes its link, also where an answer is there that nobody can read.
func TestSecurity23LostAnswerEnds(t *testing.T) {
	r := &recorder{Vault: page.NewMemoryVault()}
	s := newSite(t, setup{tools: weather, page: page.Options{Vault: r}})
	asked := s.call("", "Forecast", nil, nil)
	v := visit(t, "")
	v.press(v.get(asked.link(t, "credentials")), "send", "ann", "12345678").says(t, 200, "Done")
	broken := r.all[0]
	broken.Sealed = []byte("no entry")
	if ok, err := r.Vault.Replace(t.Context(), r.all[0], broken); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if got := s.call("", "Forecast", asked, map[string]string{"credentials": "decline"}).text(); got != "No forecast: decline." {
		t.Errorf("got %s", got)
	}
	if logs := s.logs.String(); strings.Contains(logs, "is still in the vault") || strings.Contains(logs, "too many at once") {
		t.Errorf("the log says %s", logs)
	}
	v.get(asked.link(t, "credentials")).says(t, 200, "Done")
}

// Secrets are replaced without asking anybody again: what is read is sealed anew, and the start tells what is still needed.
func TestSecurity23Rotation(t *testing.T) {
	old, young := testSecret, []byte("fedcba9876543210fedcba9876543210")
	vault := page.NewMemoryVault()
	start := func(secrets ...[]byte) *site {
		return newSite(t, setup{tools: weather, users: true, page: page.Options{Vault: vault}, elicit: elicit.Options{Secrets: secrets}})
	}
	kids := func() []string {
		names, err := vault.Secrets(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	s := start(old)
	if logs := s.logs.String(); strings.Contains(logs, "kid") {
		t.Errorf("an empty vault needs no secret: %s", logs)
	}
	r := s.call("ann", "Keyed", nil, nil)
	v := visit(t, "ann")
	v.press(v.get(r.link(t, "apiKey")), "send", "12345678").says(t, 200, "Done")
	s.call("ann", "Keyed", r, map[string]string{"apiKey": "accept"})
	first := kids()
	if len(first) != 1 {
		t.Fatalf("sealed under %v", first)
	}

	s = start(young, old)
	if logs := s.logs.String(); !strings.Contains(logs, "still sealed under an older secret") || !strings.Contains(logs, first[0]) {
		t.Errorf("the start does not tell: %s", logs)
	}
	if got := s.call("ann", "Keyed", nil, nil).text(); got != "Sunny ********." {
		t.Errorf("got %s", got)
	}
	if now := kids(); len(now) != 2 { // the used link is under the old one until it expires
		t.Errorf("sealed under %v", now)
	}
	s = start(young)
	if logs := s.logs.String(); !strings.Contains(logs, "not in elicit.Options.Secrets") || !strings.Contains(logs, first[0]) {
		t.Errorf("the start does not tell: %s", logs)
	}
	if got := s.call("ann", "Keyed", nil, nil).text(); got != "Sunny ********." {
		t.Errorf("what was read under both secrets needs the old one: %s", got)
	}
	s = start([]byte("another secret, of thirty-two bytes"))
	s.call("ann", "Keyed", nil, nil).link(t, "apiKey")
}
