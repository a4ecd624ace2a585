package page

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/tool"
	"golang.org/x/oauth2"
)

// ErrRevoked matches the error of a token source of [Connect] whose sign-in has ended: the user revoked it, or it is beyond
// refreshing. Require the question again, and the user is asked again.
var ErrRevoked = errors.New("page: the user has to sign in at the provider again: require the question again")

// tokenTimeout is how long the token endpoint may take; refreshLock how long an instance keeps others from refreshing the
// same token, should it die meanwhile.
const (
	tokenTimeout = 30 * time.Second
	refreshLock  = tokenTimeout + 15*time.Second
)

// tokenClient talks to a token endpoint.
func tokenClient(own *http.Client) *http.Client {
	c := http.Client{Timeout: 15 * time.Second}
	if own != nil {
		c = *own
	}
	// A redirect would take the code, the refresh token and the client's secret elsewhere.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// answer implements flow.
func (c *connect) answer(ctx context.Context, p *Pages, a *tool.Asking, done []byte) (any, bool, error) {
	at, ok := c.slot(p, a)
	if !ok || at.head != "" && done == nil {
		return nil, false, nil
	}
	g, err := at.fresh(ctx)
	if errors.Is(err, ErrRevoked) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return &tokenSource{at: at, now: g}, true, nil
}

// A tokenSource gives out access tokens. The refresh token stays in the vault.
type tokenSource struct {
	at  slot
	mu  sync.Mutex
	now grant
}

// Token implements oauth2.TokenSource.
func (s *tokenSource) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.now.fresh(s.at.pages.shop.Now()) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*refreshLock)
		defer cancel()
		g, err := s.at.fresh(ctx)
		if err != nil {
			return nil, err
		}
		s.now = g
	}
	token := &oauth2.Token{AccessToken: s.now.Access, TokenType: "Bearer", Expiry: s.now.Expires}
	return token.WithExtra(maps.Clone(s.now.Extra)), nil
}

// What a source says when it is printed or logged.
const redacted = "oauth2.TokenSource([redacted])"

func (s *tokenSource) String() string               { return redacted }
func (s *tokenSource) GoString() string             { return redacted }
func (s *tokenSource) Format(f fmt.State, _ rune)   { _, _ = io.WriteString(f, redacted) }
func (s *tokenSource) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (s *tokenSource) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// A slot is where in the vault a grant is.
type slot struct {
	pages          *Pages
	flow           *connect
	key, head      string // the entry, and what is in it before the grant
	name, question string // for the log
}

// slot is where the grant for a question is, or would be; ok is false if there cannot be one yet.
func (c *connect) slot(p *Pages, a *tool.Asking) (at slot, ok bool) {
	at = slot{pages: p, flow: c, name: a.Name, question: a.Key}
	if userDigest(a.Issuer, a.Subject) != nobody {
		at.key = valueEntry(valueDigest(a))
		return at, true
	}
	t := p.ticketOf(a)
	if t == nil {
		return at, false
	}
	at.key, at.head = outcomeEntry(t), string(accepted)
	return at, true
}

// load reads the grant. A nil entry is none.
func (at slot) load(ctx context.Context) (*stored, grant, error) {
	var g grant
	s, err := at.pages.load(ctx, at.key)
	if err != nil || s == nil {
		return nil, g, err
	}
	if len(s.plain) < len(at.head) || string(s.plain[:len(at.head)]) != at.head { // the call has ended
		return nil, g, nil
	}
	if err := json.Unmarshal(s.plain[len(at.head):], &g); err != nil {
		return nil, g, fmt.Errorf("page: an entry of the vault is no grant: %w", err)
	}
	return s, g, nil
}

// fresh is the grant with an access token that has not expired, which is refreshed if need be: by one goroutine of one
// instance, as a provider that sees a refresh token twice may end all that was granted (RFC 9700, section 4.14.2).
func (at slot) fresh(ctx context.Context) (grant, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*refreshLock)
	defer cancel()
	for {
		_, g, err := at.usable(ctx)
		if err != nil || g.fresh(at.pages.shop.Now()) {
			return g, err
		}
		unlock, err := at.lock(ctx)
		if err != nil {
			return grant{}, fmt.Errorf("page: a token cannot be refreshed: %w", err)
		}
		if unlock == nil {
			continue // somebody else had the lock
		}
		defer unlock()
		s, g, err := at.usable(ctx)
		if err != nil || g.fresh(at.pages.shop.Now()) {
			return g, err
		}
		return at.refresh(ctx, s, g)
	}
}

// remove takes an entry out of the vault, if nobody changed it since it was loaded, and reports whether it did.
func (p *Pages) remove(ctx context.Context, s *stored) (bool, error) {
	gone := s.Entry
	gone.Sealed, gone.Expires = nil, time.Unix(1, 0) // has expired, so is as good as gone
	return p.opts.Vault.Replace(ctx, s.Entry, gone)
}

// usable is load, with ErrRevoked for what is of no use any more.
func (at slot) usable(ctx context.Context) (*stored, grant, error) {
	s, g, err := at.load(ctx)
	switch {
	case err != nil:
		return nil, g, err
	case s == nil:
		return nil, g, ErrRevoked
	case !g.fresh(at.pages.shop.Now()) && g.Refresh == "":
		if _, err := at.pages.remove(ctx, s); err != nil {
			return nil, g, at.pages.vaultFailed(ctx, err)
		}
		return nil, g, ErrRevoked
	}
	return s, g, nil
}

// refreshing are the slots that this instance refreshes; the channel is closed afterwards.
type refreshing struct {
	mu    sync.Mutex
	slots map[string]chan struct{}
}

// lock keeps others from refreshing. unlock is nil, and nobody locked out, when somebody else was doing it: it is time to
// look again then.
func (at slot) lock(ctx context.Context) (unlock func(), _ error) {
	p := at.pages
	p.refreshing.mu.Lock()
	if busy, ok := p.refreshing.slots[at.key]; ok {
		p.refreshing.mu.Unlock()
		select {
		case <-busy:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	busy := make(chan struct{})
	if p.refreshing.slots == nil {
		p.refreshing.slots = map[string]chan struct{}{}
	}
	p.refreshing.slots[at.key] = busy
	p.refreshing.mu.Unlock()
	release := func() {
		p.refreshing.mu.Lock()
		delete(p.refreshing.slots, at.key)
		p.refreshing.mu.Unlock()
		close(busy)
	}
	e, err := p.seal(Entry{Key: "l:" + at.key, Expires: p.shop.Now().Add(refreshLock)}, []byte(rand.Text())) // of no other instance: see remove
	first := false
	if err == nil {
		first, err = p.opts.Vault.Add(ctx, e)
	}
	if !first {
		defer release()
		if err != nil {
			return nil, p.vaultFailed(ctx, err)
		}
		select { // another instance does not tell when it is done
		case <-time.After(100 * time.Millisecond):
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return func() {
		defer release()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := p.remove(ctx, &stored{Entry: e}); err != nil {
			p.shop.Logger.WarnContext(ctx, "page: the lock of a token is held until it expires", "error", err)
		}
	}, nil
}

// refresh gets a new access token. The caller has the lock.
func (at slot) refresh(ctx context.Context, s *stored, g grant) (grant, error) {
	// A refresh token that was spent is worth finishing, though whoever asked may have gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTimeout)
	defer cancel()
	c, log := at.flow, at.pages.shop.Logger.With("key", at.question, "name", at.name, "provider", at.flow.opts.Provider)
	token, err := c.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, c.opts.Client), &oauth2.Token{RefreshToken: g.Refresh}).Token()
	var n grant
	if err != nil {
		err = tokenError(err)
	} else {
		n, err = c.grant(token, g)
	}
	refused, less := (*endpointError)(nil), (*toldError)(nil)
	switch {
	case err == nil:
		log.InfoContext(ctx, "page: a token was refreshed")
		return at.save(ctx, s, g, n)
	case errors.As(err, &refused) && refused.final(), errors.As(err, &less):
		log.InfoContext(ctx, "page: a sign-in has ended; the user is asked again", "reason", err)
		if _, failed := at.pages.remove(ctx, s); failed != nil {
			return grant{}, at.pages.vaultFailed(ctx, failed)
		}
		return grant{}, ErrRevoked
	}
	log.WarnContext(ctx, "page: a token could not be refreshed", "reason", err)
	if at.pages.shop.Now().Before(g.Expires) { // it is good for some seconds
		return g, nil
	}
	return grant{}, fmt.Errorf("page: the token of %s cannot be refreshed: %w", c.opts.Provider, err)
}

// save stores n in place of g, which is in s. What others have done to the entry meanwhile counts, unless they sealed it anew.
func (at slot) save(ctx context.Context, s *stored, g, n grant) (grant, error) {
	plain, err := json.Marshal(n)
	if err != nil {
		return grant{}, err
	}
	plain = append([]byte(at.head), plain...)
	for range 16 {
		ends := n.ends()
		if at.head != "" {
			ends = s.Expires // the call's
		}
		switch done, err := at.pages.swap(ctx, s, plain, ends); {
		case err != nil:
			return grant{}, at.pages.vaultFailed(ctx, fmt.Errorf("a token was refreshed and could not be stored: %w", err))
		case done:
			return n, nil
		}
		other, now, err := at.load(ctx)
		switch {
		case err != nil:
			return grant{}, err
		case other == nil: // forgotten
			at.drop(ctx, n)
			return grant{}, ErrRevoked
		case now.Access != g.Access || now.Refresh != g.Refresh: // the user signed in once more
			return now, nil
		}
		s = other
	}
	return grant{}, errors.New("page: an entry of the vault is written by too many at once")
}
