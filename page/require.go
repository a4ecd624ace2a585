package page

import (
	"context"
	"errors"
	"time"

	"github.com/elicit-go/elicit/internal/tool"
)

// An outcome is what became of a link, as the vault keeps it: one entry, so that of two submissions at once one counts. It
// holds what was entered, for the call alone.
type outcome struct {
	action byte
	value  []byte
}

const (
	accepted byte = 1 + iota
	declined
	ended // the call has ended; the value is gone
	lost  // is never stored: the entry is there, and cannot be read
)

// outcome is what became of a ticket so far; the zero outcome for nothing.
func (p *Pages) outcome(ctx context.Context, t *ticket) (o outcome, err error) {
	e, err := p.find(ctx, outcomeEntry(t))
	if err != nil || e == nil {
		return o, err
	}
	if s := p.open(ctx, *e); s != nil && len(s.plain) > 0 {
		return outcome{s.plain[0], s.plain[1:]}, nil
	}
	return outcome{action: lost}, nil
}

// conclude stores what became of a ticket on its page, and wakes who waits for it. It is false if something else did before.
// If it is the first, then is run before anybody is woken.
func (p *Pages) conclude(ctx context.Context, t *ticket, action byte, value []byte, then func(context.Context) error) (bool, error) {
	until := t.Expires
	if now := p.shop.Now(); now.After(until) {
		until = now
	}
	return p.concludeAs(ctx, t, Entry{Owner: t.owner(), Expires: until.Add(p.shop.MaxAge)}, action, value, then)
}

// close is conclude for a call that knows by itself what became of its question: all that is left is that the link is not to
// be used any more. Where its user's programs have closed more links than anybody needs, it is left to expire.
func (p *Pages) close(ctx context.Context, t *ticket, action byte) (bool, error) {
	if p.expired(t) {
		return true, nil
	}
	first, err := p.concludeAs(ctx, t, Entry{Owner: t.closer(), Expires: t.Expires}, action, nil, nil)
	if errors.Is(err, ErrVaultFull) {
		return true, nil
	}
	return first, err
}

func (p *Pages) concludeAs(ctx context.Context, t *ticket, e Entry, action byte, value []byte, then func(context.Context) error) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second) // half of it would be worse
	defer cancel()
	e.Key = outcomeEntry(t)
	first, err := p.add(ctx, e, append([]byte{action}, value...))
	if err != nil {
		return false, p.vaultFailed(ctx, err)
	}
	if !first {
		return false, nil
	}
	if then != nil {
		if err := then(ctx); err != nil { // the call has its answer; a later one asks again
			p.shop.Logger.ErrorContext(ctx, "page: an answer cannot be remembered", "key", t.Key, "name", t.Name, "error", err)
		}
	}
	p.waiting.wake(e.Key)
	if t.Task != "" && action != ended {
		p.shop.Wake(ctx, t.Task)
	}
	return true, nil
}

// Require implements tool.Pages.
func (p seam) Require(ctx context.Context, a *tool.Asking) (*tool.Reply, error) {
	f, err := p.flowOf(a.URL)
	if err != nil {
		return nil, &tool.PageError{Text: err.Error()}
	}
	if wrong := p.mayAsk(ctx, a); wrong != "" {
		return nil, &tool.PageError{Text: wrong}
	}
	t := p.ticketOf(a)
	wait := p.opts.Wait
	if a.Live > 0 {
		wait = a.Live
	}
	var woken chan struct{}
	if t != nil && a.Agreed {
		w, leave, ok := p.waiting.join(t, a.Call)
		switch {
		case ok:
			defer leave()
			woken = w
		case a.Live > 0: // cannot be asked again
			return nil, errors.New("too many calls wait for somebody at a page at the moment; try again later")
		}
	}
	if t != nil { // then there is another to ask with
		wait = min(wait, t.Expires.Sub(p.shop.Now()))
	}
	began, over := time.Now(), time.After(wait)
	for {
		var o outcome
		if t != nil {
			if o, err = p.outcome(ctx, t); err != nil {
				return nil, err
			}
			if o.action == declined {
				return &tool.Reply{Declined: true}, nil
			}
		}
		var done []byte
		if o.action == accepted {
			done = o.value
		}
		value, ok, err := f.answer(ctx, p.Pages, a, done)
		switch {
		case err != nil:
			return nil, err
		case ok:
			return &tool.Reply{Value: value, Answered: true}, nil
		case t == nil, p.expired(t), o.action != 0:
			return p.newLink(ctx, f, a) // what was entered is not what is asked for any more
		case woken == nil:
			return p.reply(a, t, a.Link)
		}
		var again <-chan time.Time
		if _, ok := f.(redirect); ok {
			again = time.After(p.waiting.recheckEvery(time.Since(began)))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over:
			woken = nil // looks once more
		case <-again:
		case <-woken:
		}
	}
}

func (p *Pages) expired(t *ticket) bool { return !p.shop.Now().Before(t.Expires) }

// ticketOf is the ticket that the call has already for a question, nil if there is none that fits. What was entered is for
// the question, in whatever words; a page of the author's own may be for the words, such as an amount.
func (p *Pages) ticketOf(a *tool.Asking) *ticket {
	if a.Link == "" {
		return nil
	}
	t, err := p.openTicket(a.Link)
	if err != nil || !t.Value.Equal(valueDigest(a)) || t.Shape == redirectShape && t.Message != a.Message {
		return nil
	}
	return t
}

// newLink makes a link for a question.
func (p *Pages) newLink(ctx context.Context, f flow, a *tool.Asking) (*tool.Reply, error) {
	if a.CannotAsk {
		return &tool.Reply{}, nil
	}
	data, err := f.start(ctx, p, a)
	if err != nil {
		return nil, err
	}
	t := p.newTicket(a, data)
	plain := t.append(nil)
	token, err := p.shop.Ring.Seal(ticketPurpose, plain)
	if err != nil {
		return nil, err
	}
	most := maxTicket
	if p.opts.Identify != nil {
		most = maxCookie
	}
	if len(token) > most {
		return nil, &tool.PageError{Text: "its link would be longer than browsers, servers and cookies take: shorten the message, or the URL that it leads to"}
	}
	p.shop.SealedOnce(ctx)
	return p.reply(a, t, token)
}

func (p *Pages) reply(a *tool.Asking, t *ticket, token string) (*tool.Reply, error) {
	if a.CannotAsk {
		return &tool.Reply{}, nil
	}
	base, err := p.baseURL()
	if err != nil {
		return nil, err
	}
	return &tool.Reply{Link: token, ID: t.id(), URL: base.String() + "/" + token}, nil
}

// Refused implements tool.Pages.
func (p seam) Refused(ctx context.Context, a *tool.Asking) error {
	t := p.ticketOf(a)
	if t == nil {
		return nil
	}
	_, err := p.close(ctx, t, declined)
	return err
}

// Forget implements tool.Pages.
func (p seam) Forget(ctx context.Context, a *tool.Asking) error {
	var revoked error
	if c, ok := a.URL.(*connect); ok {
		if revoked = c.forget(ctx, p.Pages, a); revoked != nil && !errors.Is(revoked, ErrNotRevoked) {
			return revoked
		}
	}
	if _, err := p.opts.Vault.Delete(ctx, valueEntry(valueDigest(a))); err != nil {
		return p.vaultFailed(ctx, err)
	}
	if t := p.ticketOf(a); t != nil {
		if err := p.forget(ctx, t); err != nil {
			return err
		}
	}
	return revoked
}

// Ended implements tool.Pages. What was entered for the call alone is gone with it; that the link was used is not.
func (p seam) Ended(ctx context.Context, links []string) {
	for _, link := range links {
		t, err := p.openTicket(link)
		if err != nil {
			continue
		}
		if err := p.forget(ctx, t); err != nil {
			p.shop.Logger.ErrorContext(ctx, "page: what was entered for a call that has ended is still in the vault, until it expires", "error", err)
		}
	}
}

// forget takes the value out of a ticket's outcome. A link that was not used is closed.
func (p *Pages) forget(ctx context.Context, t *ticket) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for range 4 {
		e, err := p.find(ctx, outcomeEntry(t))
		if err != nil {
			return err
		}
		if e == nil {
			if first, err := p.close(ctx, t, ended); first || err != nil {
				return err
			}
			continue
		}
		s := p.open(ctx, *e)
		if s == nil {
			s = &stored{Entry: *e}
		} else if len(s.plain) > 0 && s.plain[0] != accepted {
			return nil
		}
		if ok, err := p.swap(ctx, s, []byte{ended}, t.Expires); ok || err != nil {
			return err
		}
	}
	return errors.New("it is written by too many at once")
}
