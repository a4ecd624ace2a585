package page

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/elicit-go/elicit/internal/state"
)

// maxSealed is the longest sealed entry, in bytes.
const maxSealed = 128 << 10

// Names of entries in the vault, by what they are.
func outcomeEntry(t *ticket) string    { return "o:" + t.id() }
func valueEntry(d state.Digest) string { return "v:" + hex.EncodeToString(d[:]) }
func place(key string) state.Digest    { return state.DigestOf("entry", key) } // an entry does not open under another name

// A stored entry, opened.
type stored struct {
	Entry
	plain []byte
}

var errTooLong = errors.New("more than an entry of the vault may hold")

// seal makes an entry of key, owner and expiry hold plain.
func (p *Pages) seal(e Entry, plain []byte) (Entry, error) {
	sealed, err := p.shop.Ring.SealAt(state.VaultPurpose, place(e.Key), plain)
	switch {
	case err != nil:
		return Entry{}, err
	case len(sealed) > maxSealed:
		return Entry{}, errTooLong
	}
	e.Secret, e.Sealed = state.KID(sealed), sealed
	return e, nil
}

// load reads an entry, and seals it anew if its secret is not the newest. What cannot be opened is as good as absent: the
// person is asked again.
func (p *Pages) load(ctx context.Context, key string) (*stored, error) {
	e, err := p.find(ctx, key)
	if err != nil || e == nil {
		return nil, err
	}
	return p.open(ctx, *e), nil
}

// find is an entry, which is perhaps not to be opened; nil for none.
func (p *Pages) find(ctx context.Context, key string) (*Entry, error) {
	es, err := p.opts.Vault.Find(ctx, key)
	if err != nil {
		return nil, p.vaultFailed(ctx, err)
	}
	for _, e := range es {
		if e.Key == key && e.Expires.After(p.shop.Now()) {
			return &e, nil
		}
	}
	return nil, nil
}

// vaultFailed is an error of the vault as the model may read it. The log has all of it.
func (p *Pages) vaultFailed(ctx context.Context, err error) error {
	if errors.Is(err, ErrVaultFull) {
		p.shop.Logger.WarnContext(ctx, "page: the vault takes no more", "error", err)
		return ErrVaultFull
	}
	p.shop.Logger.ErrorContext(ctx, "page: the vault failed", "error", err)
	return errVault
}

var errVault = errors.New("what people enter on pages cannot be read at the moment")

func (p *Pages) open(ctx context.Context, e Entry) *stored {
	plain, err := p.shop.Ring.OpenAt(state.VaultPurpose, place(e.Key), e.Sealed)
	if err != nil {
		p.shop.Logger.ErrorContext(ctx, "page: an entry of the vault cannot be opened; asking again", "entry", e.Key[:2], "kid", e.Secret, "reason", err)
		return nil
	}
	if p.shop.Ring.Index(e.Secret) != 0 {
		if n, err := p.seal(e, plain); err == nil {
			if ok, err := p.opts.Vault.Replace(ctx, e, n); err != nil {
				p.shop.Logger.WarnContext(ctx, "page: an entry of the vault could not be sealed under the newest secret", "error", err)
			} else if ok {
				e = n
			}
		}
	}
	return &stored{e, plain}
}

// add stores an entry unless there is one, and reports whether it did.
func (p *Pages) add(ctx context.Context, e Entry, plain []byte) (bool, error) {
	e, err := p.seal(e, plain)
	if err != nil {
		return false, err
	}
	return p.opts.Vault.Add(ctx, e)
}

// put stores an entry, in place of the one that may be there.
func (p *Pages) put(ctx context.Context, e Entry, plain []byte) error {
	e, err := p.seal(e, plain)
	if err != nil {
		return err
	}
	for range 16 { // others may write it at the same time
		if ok, err := p.opts.Vault.Add(ctx, e); ok || err != nil {
			return err
		}
		olds, err := p.opts.Vault.Find(ctx, e.Key)
		if err != nil {
			return err
		}
		for _, old := range olds {
			if old.Key != e.Key {
				continue
			}
			if ok, err := p.opts.Vault.Replace(ctx, old, e); ok || err != nil {
				return err
			}
		}
	}
	return errors.New("page: an entry of the vault is written by too many at once")
}

// swap stores plain in place of an entry, if nobody changed it since it was loaded, and reports whether it did.
func (p *Pages) swap(ctx context.Context, old *stored, plain []byte, expires time.Time) (bool, error) {
	e := old.Entry
	e.Expires = expires
	e, err := p.seal(e, plain)
	if err != nil {
		return false, err
	}
	return p.opts.Vault.Replace(ctx, old.Entry, e)
}
