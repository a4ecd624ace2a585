package page

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/state"
)

// waiting are the calls that wait for a page to be done.
type waiting struct {
	pages *Pages
	mu    sync.Mutex
	count int
	users map[state.Digest]int // of them, by who was asked
	links sleepers             // by the name of the outcome's entry
	calls sleepers             // by elicit.CallID
	polls bool

	recheckEvery func(waited time.Duration) time.Duration
}

// sleepers are woken by name.
type sleepers map[string]map[chan struct{}]bool

func (s sleepers) add(name string, woken chan struct{}) {
	if s[name] == nil {
		s[name] = map[chan struct{}]bool{}
	}
	s[name][woken] = true
}

func (s sleepers) remove(name string, woken chan struct{}) {
	delete(s[name], woken)
	if len(s[name]) == 0 {
		delete(s, name)
	}
}

func (s sleepers) wake(name string) {
	for woken := range s[name] {
		select {
		case woken <- struct{}{}:
		default: // is awake already
		}
	}
}

// pollEvery is how often the vault is asked what other instances did, while somebody waits.
const pollEvery = 500 * time.Millisecond

func (w *waiting) init(p *Pages) {
	w.pages, w.users, w.links, w.calls = p, map[state.Digest]int{}, sleepers{}, sleepers{}
	w.recheckEvery = recheckEvery
}

// share is how many calls of one user wait at once, so that nobody has all the places: a hundredth of them, and as many as a
// person has use for in any case. Where nobody is identified there is one user, and nobody to leave places to.
func (w *waiting) share(user state.Digest) int {
	if user == nobody {
		return w.pages.opts.MaxWaiting
	}
	return max(16, w.pages.opts.MaxWaiting/100)
}

// join starts to wait for what becomes of a ticket. woken is sent to when something may have. ok is false when too many wait.
func (w *waiting) join(t *ticket, call string) (woken chan struct{}, leave func(), ok bool) {
	entry, user := outcomeEntry(t), t.User
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count >= w.pages.opts.MaxWaiting || w.users[user] >= w.share(user) {
		return nil, nil, false
	}
	w.count++
	w.users[user]++
	woken = make(chan struct{}, 1)
	w.links.add(entry, woken)
	w.calls.add(call, woken)
	if !w.polls {
		w.polls = true
		go w.poll()
	}
	return woken, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count--
		if w.users[user]--; w.users[user] == 0 {
			delete(w.users, user)
		}
		w.links.remove(entry, woken)
		w.calls.remove(call, woken)
	}, true
}

// wake wakes who waits for an entry on this instance.
func (w *waiting) wake(entry string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links.wake(entry)
}

// Recheck has the function done of elicit.NewURL asked again at once, for a call that waits on this instance. Call it where the
// page of the author's own is completed, such as in the handler of a payment provider's webhook; callID is what elicit.CallID
// was in the function where. It says nothing about done, so nobody gains by calling it.
func (p *Pages) Recheck(callID string) {
	p.waiting.mu.Lock()
	defer p.waiting.mu.Unlock()
	p.waiting.calls.wake(callID)
}

// recheckEvery is how long a call that has waited for so long waits until it asks done again: somebody else's page tells nobody.
func recheckEvery(waited time.Duration) time.Duration {
	if waited < 30*time.Second {
		return time.Second
	}
	return 5 * time.Second
}

// poll asks the vault for all entries that are waited for, with one question, as long as somebody waits.
func (w *waiting) poll() {
	const most = 500 // keys at once
	for {
		time.Sleep(pollEvery)
		w.mu.Lock()
		if w.count == 0 {
			w.polls = false
			w.mu.Unlock()
			return
		}
		keys := slices.Collect(maps.Keys(w.links))
		w.mu.Unlock()
		for part := range slices.Chunk(keys, most) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			found, err := w.pages.opts.Vault.Find(ctx, part...)
			cancel()
			if err != nil {
				w.pages.shop.Logger.Error("page: the vault does not say which pages are done", "error", err)
			}
			for _, e := range found {
				w.wake(e.Key)
			}
		}
	}
}
