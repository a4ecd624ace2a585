package page

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// MemoryVault is the [Vault] of one process.
type MemoryVault struct {
	mu      sync.Mutex
	entries map[string]Entry
	bytes   int
	swept   time.Time
}

// The bounds of a MemoryVault.
const (
	maxEntries = 1 << 17
	maxBytes   = 256 << 20
)

var errVaultFull = errors.New("page: the memory vault is full: use page/sqlvault")

// NewMemoryVault keeps entries in the memory of this process, at most 131,072 of them and 256 MiB; over that, it takes no more
// until some expire. Several servers of one process may share it.
func NewMemoryVault() *MemoryVault { return &MemoryVault{entries: map[string]Entry{}} }

// get is an entry that has not expired.
func (m *MemoryVault) get(key string) (Entry, bool) {
	e, ok := m.entries[key]
	return e, ok && time.Now().Before(e.Expires)
}

func size(e Entry) int { return len(e.Key) + len(e.Secret) + len(e.Sealed) }

func (m *MemoryVault) set(e Entry) error {
	now := time.Now()
	if full := len(m.entries) >= maxEntries || m.bytes >= maxBytes; full || now.Sub(m.swept) > time.Minute {
		if full && now.Sub(m.swept) < time.Second {
			return errVaultFull
		}
		m.swept = now
		for k, old := range m.entries {
			if !now.Before(old.Expires) {
				m.drop(k)
			}
		}
		if len(m.entries) >= maxEntries || m.bytes >= maxBytes {
			return errVaultFull
		}
	}
	m.drop(e.Key)
	m.entries[e.Key] = e
	m.bytes += size(e)
	return nil
}

func (m *MemoryVault) drop(key string) {
	if e, ok := m.entries[key]; ok {
		m.bytes -= size(e)
		delete(m.entries, key)
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
	m.drop(old.Key)
	m.entries[e.Key] = e
	m.bytes += size(e)
	return true, nil
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
