// Package vaulttest tests implementations of [page.Vault].
//
//	func TestVault(t *testing.T) {
//		vaulttest.Run(t, func(t *testing.T) page.Vault { return newVault(t) })
//	}
package vaulttest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit/page"
)

// Run tests the vaults that open returns. Each test opens one, and may open it again: open then returns one that holds the
// same entries, as another instance of the program has it. Where there are no such, it returns the same one.
func Run(t *testing.T, open func(t *testing.T) page.Vault) {
	for name, f := range map[string]func(*testing.T, func(*testing.T) page.Vault){
		"AddOnce": addOnce, "Expiry": expiry, "Replace": replace, "DeleteOnce": deleteOnce, "FindMany": findMany,
		"Secrets": secrets, "Keys": keys, "Large": large, "Race": race,
	} {
		t.Run(name, func(t *testing.T) { f(t, open) })
	}
}

var serial atomic.Int64

// key is one that no other test uses.
func key(t *testing.T, name string) string {
	t.Helper()
	return fmt.Sprintf("t-%d-%d:%s", time.Now().UnixNano(), serial.Add(1), name)
}

func entry(key, sealed string) page.Entry {
	return page.Entry{Key: key, Owner: fmt.Sprintf("t%dn%d", time.Now().UnixNano(), serial.Add(1)), Secret: "0123456789abcdef", Sealed: []byte(sealed), Expires: time.Now().Add(time.Hour).Truncate(time.Millisecond)}
}

func add(t *testing.T, v page.Vault, e page.Entry, want bool) {
	t.Helper()
	if did, err := v.Add(t.Context(), e); err != nil || did != want {
		t.Fatalf("Add(%q) = %v, %v; want %v", e.Key, did, err, want)
	}
}

func find(t *testing.T, v page.Vault, keys ...string) []page.Entry {
	t.Helper()
	es, err := v.Find(t.Context(), keys...)
	if err != nil {
		t.Fatalf("Find: %v", err)
	}
	return es
}

// is checks that key holds e, or nothing if e is the zero Entry.
func is(t *testing.T, v page.Vault, key string, e page.Entry) {
	t.Helper()
	got := find(t, v, key)
	if e.Key == "" {
		if len(got) != 0 {
			t.Errorf("%q is there, and should not be", key)
		}
		return
	}
	if len(got) != 1 || got[0].Key != e.Key || got[0].Owner != e.Owner || got[0].Secret != e.Secret || !bytes.Equal(got[0].Sealed, e.Sealed) || got[0].Expires.Sub(e.Expires).Abs() > time.Second {
		t.Errorf("%q holds %+v, want %+v", key, got, e)
	}
}

func addOnce(t *testing.T, open func(*testing.T) page.Vault) {
	a, b := open(t), open(t)
	e := entry(key(t, "k"), "first")
	add(t, a, e, true)
	second := e
	second.Sealed, second.Owner = []byte("second"), "other"
	add(t, b, second, false)
	is(t, a, e.Key, e)
	is(t, b, e.Key, e)
	nobodys := entry(key(t, "k"), "x")
	nobodys.Owner = ""
	add(t, a, nobodys, true)
	is(t, b, nobodys.Key, nobodys)
}

func expiry(t *testing.T, open func(*testing.T) page.Vault) {
	v := open(t)
	e := entry(key(t, "k"), "old")
	e.Expires = time.Now().Add(-time.Second)
	add(t, v, e, true)
	is(t, v, e.Key, page.Entry{})
	if did, err := v.Replace(t.Context(), e, entry(e.Key, "x")); err != nil || did {
		t.Errorf("Replace of an entry that has expired = %v, %v", did, err)
	}
	if did, err := v.Delete(t.Context(), e.Key); err != nil || did {
		t.Errorf("Delete of an entry that has expired = %v, %v", did, err)
	}
	fresh := entry(e.Key, "new") // of another owner
	add(t, v, fresh, true)       // in its place
	is(t, v, e.Key, fresh)

	// One that expires while it is there.
	soon := entry(key(t, "soon"), "x")
	soon.Expires = time.Now().Add(300 * time.Millisecond)
	add(t, v, soon, true)
	for deadline := time.Now().Add(10 * time.Second); len(find(t, v, soon.Key)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an entry does not expire")
		}
	}
}

func replace(t *testing.T, open func(*testing.T) page.Vault) {
	a, b := open(t), open(t)
	e := entry(key(t, "k"), "one")
	if did, err := a.Replace(t.Context(), e, e); err != nil || did {
		t.Errorf("Replace of nothing = %v, %v", did, err)
	}
	add(t, a, e, true)
	next := page.Entry{Key: e.Key, Owner: e.Owner, Secret: "fedcba9876543210", Sealed: []byte("two"), Expires: e.Expires.Add(time.Hour)}
	if did, err := b.Replace(t.Context(), e, next); err != nil || !did {
		t.Fatalf("Replace = %v, %v", did, err)
	}
	is(t, a, e.Key, next)
	if did, err := a.Replace(t.Context(), e, entry(e.Key, "three")); err != nil || did {
		t.Errorf("Replace of what is no longer there = %v, %v", did, err)
	}
	is(t, b, e.Key, next)
	gone := page.Entry{Key: e.Key, Owner: e.Owner, Secret: next.Secret, Expires: time.Unix(1, 0)} // removes it, if it is still the same
	if did, err := a.Replace(t.Context(), next, gone); err != nil || !did {
		t.Errorf("Replace by an entry that has expired = %v, %v", did, err)
	}
	is(t, b, e.Key, page.Entry{})
	add(t, b, e, true)
}

func deleteOnce(t *testing.T, open func(*testing.T) page.Vault) {
	a, b := open(t), open(t)
	e := entry(key(t, "k"), "x")
	add(t, a, e, true)
	for i, v := range []page.Vault{b, a} {
		if did, err := v.Delete(t.Context(), e.Key); err != nil || did != (i == 0) {
			t.Errorf("Delete %d = %v, %v", i+1, did, err)
		}
	}
	is(t, a, e.Key, page.Entry{})
	add(t, b, e, true)
}

func findMany(t *testing.T, open func(*testing.T) page.Vault) {
	v := open(t)
	if got := find(t, v); len(got) != 0 {
		t.Errorf("Find without keys finds %d entries", len(got))
	}
	var all, there []string
	for i := range 700 {
		k := key(t, "k")
		all = append(all, k)
		if i%100 == 0 {
			there = append(there, k)
			add(t, v, entry(k, "x"), true)
		}
	}
	var got []string
	for _, e := range find(t, v, append(all, all[0])...) { // a key that is there twice is one
		got = append(got, e.Key)
	}
	slices.Sort(got)
	slices.Sort(there)
	if !slices.Equal(slices.Compact(got), there) {
		t.Errorf("Find finds %q, want %q", got, there)
	}
}

func secrets(t *testing.T, open func(*testing.T) page.Vault) {
	v := open(t)
	for i, name := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "aaaaaaaaaaaaaaaa", "cccccccccccccccc"} {
		e := entry(key(t, "k"), "x")
		e.Secret = name
		if i == 3 {
			e.Expires = time.Now().Add(-time.Second)
		}
		add(t, v, e, true)
	}
	got, err := v.Secrets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	if count["aaaaaaaaaaaaaaaa"] != 1 || count["bbbbbbbbbbbbbbbb"] != 1 || count["cccccccccccccccc"] != 0 {
		t.Errorf("Secrets = %q", got)
	}
}

// keys are told apart by every character.
func keys(t *testing.T, open func(*testing.T) page.Vault) {
	v := open(t)
	base := key(t, "")
	for _, s := range []string{"Ab-_:9", "aB-_:9", "AB-_:9", "Ab__:9", "Ab-%:9"[:3]} {
		add(t, v, entry(base+s, s), true)
	}
	is(t, v, base+"ab-_:9", page.Entry{})
	long := (base + strings.Repeat("x", 64))[:64]
	e := entry(long, "x")
	add(t, v, e, true)
	is(t, v, long, e)
	is(t, v, long[:63], page.Entry{})
}

func large(t *testing.T, open func(*testing.T) page.Vault) {
	v := open(t)
	e := entry(key(t, "k"), "")
	for i := range 128 << 10 {
		e.Sealed = append(e.Sealed, byte(i*7)) // all bytes, zero included
	}
	add(t, v, e, true)
	is(t, v, e.Key, e)
}

// race adds, replaces and deletes from many goroutines: of all that try the same, one succeeds.
func race(t *testing.T, open func(*testing.T) page.Vault) {
	vaults := []page.Vault{open(t), open(t)}
	one := func(what string, f func(i int, v page.Vault) (bool, error)) {
		t.Helper()
		var wg sync.WaitGroup
		var did atomic.Int64
		for i := range 16 {
			wg.Go(func() {
				ok, err := f(i, vaults[i%2])
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
				if ok {
					did.Add(1)
				}
			})
		}
		wg.Wait()
		if did.Load() != 1 {
			t.Errorf("%s: %d of 16 succeeded, want 1", what, did.Load())
		}
	}
	for range 5 {
		k := key(t, "k")
		gone := entry(k, "gone")
		gone.Expires = time.Now().Add(-time.Minute)
		add(t, vaults[0], gone, true)
		one("Add", func(i int, v page.Vault) (bool, error) { return v.Add(t.Context(), entry(k, fmt.Sprint("added", i))) })
		old := find(t, vaults[1], k)[0]
		one("Replace", func(i int, v page.Vault) (bool, error) {
			return v.Replace(t.Context(), old, entry(k, fmt.Sprint("replaced", i)))
		})
		one("Delete", func(_ int, v page.Vault) (bool, error) { return v.Delete(t.Context(), k) })
	}
}
