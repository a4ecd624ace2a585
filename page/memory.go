package page

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/tool"
)

// MemoryVault is the [Vault] of one process.
type MemoryVault struct {
	mu      sync.Mutex
	entries map[string]Entry
	all     usage
	owners  map[string]usage
	swept   time.Time

	most, share usage
}

// usage is how much somebody has in a vault, or may have.
type usage struct{ entries, bytes int }

func (u usage) within(most usage) bool { return u.entries <= most.entries && u.bytes <= most.bytes }

func (u usage) plus(e Entry) usage { return usage{u.entries + 1, u.bytes + size(e)} }

func size(e Entry) int { return len(e.Key) + len(e.Owner) + len(e.Secret) + len(e.Sealed) }

// NewMemoryVault keeps entries in the memory of this process, at most 131,072 of them and 256 MiB, of which one owner has
// 2,048 and 4 MiB at most. Over that, it takes no more until some expire. Several servers of one process may share it.
func NewMemoryVault() *MemoryVault {
	return &MemoryVault{entries: map[string]Entry{}, owners: map[string]usage{},
		most: usage{1 << 17, 256 << 20}, share: usage{tool.OwnerEntries, tool.OwnerBytes}}
}

// get is an entry that has not expired.
func (m *MemoryVault) get(key string) (Entry, bool) {
	e, ok := m.entries[key]
	return e, ok && time.Now().Before(e.Expires)
}

// set stores e, in place of the one that may be there, if there is room.
func (m *MemoryVault) set(e Entry) error {
	now := time.Now()
	if now.Sub(m.swept) > time.Minute {
		m.sweep(now)
	}
	err := m.room(e)
	if err != nil && now.Sub(m.swept) > time.Second {
		m.sweep(now)
		err = m.room(e)
	}
	if err != nil {
		return err
	}
	m.drop(e.Key)
	m.entries[e.Key] = e
	m.all = m.all.plus(e)
	if e.Owner != "" {
		m.owners[e.Owner] = m.owners[e.Owner].plus(e)
	}
	return nil
}

// room says why there is none for e.
func (m *MemoryVault) room(e Entry) error {
	all, own := m.all, m.owners[e.Owner]
	if old, ok := m.entries[e.Key]; ok {
		if size(e) <= size(old) {
			return nil
		}
		all = usage{all.entries - 1, all.bytes - size(old)}
		if old.Owner == e.Owner {
			own = usage{own.entries - 1, own.bytes - size(old)}
		}
	}
	switch {
	case e.Owner != "" && !own.plus(e).within(m.share):
		return fmt.Errorf("%w for this owner, who has %d entries in it", ErrVaultFull, own.entries)
	case !all.plus(e).within(m.most):
		return fmt.Errorf("%w: that in memory holds %d entries, and %d MiB; use page/sqlvault", ErrVaultFull, m.most.entries, m.most.bytes>>20)
	}
	return nil
}

// sweep drops what has expired.
func (m *MemoryVault) sweep(now time.Time) {
	m.swept = now
	for k, old := range m.entries {
		if !now.Before(old.Expires) {
			m.drop(k)
		}
	}
}

func (m *MemoryVault) drop(key string) {
	e, ok := m.entries[key]
	if !ok {
		return
	}
	delete(m.entries, key)
	m.all = usage{m.all.entries - 1, m.all.bytes - size(e)}
	if own := (usage{m.owners[e.Owner].entries - 1, m.owners[e.Owner].bytes - size(e)}); own.entries > 0 {
		m.owners[e.Owner] = own
	} else {
		delete(m.owners, e.Owner)
	}
}

// Find implements [Vault].
func (m *MemoryVault) Find(_ context.Context, keys ...string) (found []Entry, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range keys {
		if e, ok := m.get(k); ok {
			found = append(found, e)
		}
	}
	return found, nil
}

// Add implements [Vault].
func (m *MemoryVault) Add(_ context.Context, e Entry) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.get(e.Key); ok {
		return false, nil
	}
	err := m.set(e)
	return err == nil, err
}

// Replace implements [Vault].
func (m *MemoryVault) Replace(_ context.Context, old, e Entry) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now, ok := m.get(old.Key); !ok || !bytes.Equal(now.Sealed, old.Sealed) || e.Key != old.Key {
		return false, nil
	}
	err := m.set(e)
	return err == nil, err
}

// Delete implements [Vault].
func (m *MemoryVault) Delete(_ context.Context, key string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.get(key)
	m.drop(key)
	return ok, nil
}

// Secrets implements [Vault].
func (m *MemoryVault) Secrets(context.Context) (names []string, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.entries {
		if e, ok := m.get(k); ok && !slices.Contains(names, e.Secret) {
			names = append(names, e.Secret)
		}
	}
	return names, nil
}
