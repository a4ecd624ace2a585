package page

import (
	"context"
	"errors"
	"time"
)

// A Vault keeps what people entered on pages, the tokens of those they signed in to, and that a link was used. It sees
// neither: entries come sealed, under names that say nothing. [NewMemoryVault] is the one of a single process;
// page/sqlvault keeps entries in a database, for several instances and over restarts. Both keep at most 2,048 entries and 4 MiB
// of one owner.
//
// Methods are called concurrently. An entry that has expired is as good as gone for all of them, whether it was removed or
// not; removing such entries is the Vault's business. What one method has done, the others see at once, from any instance.
type Vault interface {
	// Find returns the entries that exist of the given keys, in any order. While people are waited for it is called
	// twice a second, with up to some hundreds of keys.
	Find(ctx context.Context, keys ...string) ([]Entry, error)

	// Add stores an entry unless one with its key exists, and reports whether it did: of several callers at once, one does.
	// It may refuse what would leave others no room, with an error that matches [ErrVaultFull].
	Add(ctx context.Context, e Entry) (bool, error)

	// Replace stores e in place of old, if the entry with their common key still has old's Sealed, and reports whether it did.
	// They have one Owner. It may refuse a longer entry as Add may.
	Replace(ctx context.Context, old, e Entry) (bool, error)

	// Delete removes the entry, and reports whether this call did: of several callers at once, one does.
	Delete(ctx context.Context, key string) (bool, error)

	// Secrets are the names of the secrets under which entries are sealed, each once: [Entry.Secret]. It is called at start.
	Secrets(ctx context.Context) ([]string, error)
}

// An Entry of a [Vault].
type Entry struct {
	Key     string // at most 64 characters of A–Z, a–z, 0–9, '-', '_' and ':', case mattering
	Owner   string // whose it is, for a Vault that gives each a share: at most 32 characters of a–z and 0–9; "" for nobody's
	Secret  string // the name of the secret that Sealed is under: 16 hexadecimal digits
	Sealed  []byte // at most 128 KiB
	Expires time.Time
}

// ErrVaultFull matches the error of a [Vault] that takes no more, at all or of one owner. Whoever is at a page is told to try
// again later.
var ErrVaultFull = errors.New("page: the vault is full")
