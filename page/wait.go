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
	users map[state.Digest]int              // of them, by who was asked
	links map[string]map[chan struct{}]bool // by the name of the outcome's entry
	polls bool
}

// pollEvery is how often the vault is asked what other instances did, while somebody waits.
const pollEvery = 500 * time.Millisecond

func (w *waiting) init(p *Pages) {
	w.pages, w.users, w.links = p, map[state.Digest]int{}, map[string]map[chan struct{}]bool{}
}

// share is how many calls of one user wait at once, so that nobody has all the places: a hundredth of them, and as many as a
// person has use for in any case. Where nobody is identified there is one user, and nobody to leave places to.
func (w *waiting) share(user state.Digest) int {
	if user == nobody {
		return w.pages.opts.MaxWaiting
	}
	return max(16, w.pages.opts.MaxWaiting/100)
}

// join starts to wait for an entry. woken is sent to when the entry may be there. ok is false when too many wait.
func (w *waiting) join(entry string, user state.Digest) (woken chan struct{}, leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count >= w.pages.opts.MaxWaiting || w.users[user] >= w.share(user) {
		return nil, nil, false
	}
	w.count++
	w.users[user]++
	woken = make(chan struct{}, 1)
	if w.links[entry] == nil {
		w.links[entry] = map[chan struct{}]bool{}
	}
	w.links[entry][woken] = true
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
		delete(w.links[entry], woken)
		if len(w.links[entry]) == 0 {
			delete(w.links, entry)
		}
	}, true
}

// wake wakes who waits for an entry on this instance.
func (w *waiting) wake(entry string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for woken := range w.links[entry] {
		select {
		case woken <- struct{}{}:
		default: // is awake already
		}
	}
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
