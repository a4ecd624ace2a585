package elicit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elicit-go/elicit/internal/state"
)

// skew is how far in the future another instance's clock may be.
const skew = time.Minute

// open verifies the state that a request carries, before its handler runs. What is refused looks the same to the client
// whatever the reason; the reason goes to the log, the state never does.
func (c *call) open(ctx context.Context) error {
	if c.run != nil {
		c.openRecord()
		return nil
	}
	if err := c.identify(ctx); err != nil {
		return err
	}
	if c.token == "" {
		return nil
	}
	refuse := func(reason any) error {
		c.log(ctx, slog.LevelWarn, "elicit: refused a requestState", "reason", reason)
		return errState
	}
	plain, err := c.shop.ring.Open(state.StatePurpose, c.token, c.shop.opts.MaxState)
	if err != nil {
		return refuse(err)
	}
	st, err := state.Parse(plain)
	if err != nil {
		return refuse(err)
	}
	binding := c.binding(ctx)
	if m := st.Binding.Mismatch(*binding); m != "" {
		return refuse("made for another " + m)
	}
	now := c.shop.now()
	switch {
	case st.Issued.After(now.Add(skew)) || st.Born.After(now.Add(skew)):
		return refuse("issued in the future")
	case now.After(st.Born.Add(c.shop.opts.MaxAge)):
		return refuse("older than MaxAge")
	}
	c.carried = true
	if now.After(st.Expires) {
		if c.shop.opts.RefuseExpired {
			return refuse("expired")
		}
		c.expired = true
		c.log(ctx, slog.LevelInfo, "elicit: the user took longer than Expiry; asking again")
		return nil
	}
	c.st, c.id = *st, st.CallID
	free, err := c.shop.spender.Claim(ctx, c.callID(), st.Born.Add(c.shop.opts.MaxAge+2*skew)) // clocks differ
	switch {
	case err != nil:
		c.log(ctx, slog.LevelError, "elicit: the Spender failed", "error", err)
		return internalError("internal error")
	case !free:
		return refuse("the call is running or has ended")
	}
	c.claimed = true
	return nil
}

// identify asks who makes the request.
func (c *call) identify(ctx context.Context) error {
	p, err := c.shop.opts.Principal(ctx, c.extra)
	if err == nil {
		c.principal = p
		return nil
	}
	c.log(ctx, slog.LevelError, "elicit: cannot tell who makes the request", "error", err)
	if errors.Is(err, errNoUser) {
		return internalError("the server cannot tell who makes this request")
	}
	return internalError("the request was refused")
}

// binding is what a state of this call is good for.
func (c *call) binding(ctx context.Context) *state.Binding {
	if c.bound == nil {
		c.bound = &state.Binding{
			Audience:  c.shop.audience,
			Principal: c.principal.digest(),
			Feature:   state.DigestOf(c.method, c.name),
			Arguments: state.DigestOfBytes(c.canonicalArguments()),
		}
		if c.shop.opts.Bind != nil {
			c.bound.Extra = state.DigestOf(c.shop.opts.Bind(ctx, c.extra))
		}
	}
	return c.bound
}

// seal makes the state of the next round out of what this one knows.
func (c *call) seal(ctx context.Context, foreign string) (string, error) {
	binding := c.binding(ctx)
	c.callID()
	now := c.shop.now().Truncate(time.Second)
	st := c.nextState(foreign)
	if st.Born.IsZero() {
		st.Born = now
	}
	st.Binding, st.CallID, st.Issued = *binding, c.id, now
	st.Expires = now.Add(c.shop.opts.Expiry)
	if end := st.Born.Add(c.shop.opts.MaxAge); st.Expires.After(end) {
		st.Expires = end
	}
	plain := st.Append(nil)
	if n := state.SealedLen(len(plain)); n > c.shop.opts.MaxState {
		msg := fmt.Sprintf("server bug: the requestState of %s has %d bytes, over Options.MaxState (%d); %s takes the most: keep less between rounds, or an id of something stored, and limit long texts (MaxLength)",
			c.what(), n, c.shop.opts.MaxState, st.Largest())
		c.log(ctx, slog.LevelError, "elicit: "+msg)
		return "", internalError(msg)
	}
	token, err := c.shop.ring.Seal(state.StatePurpose, plain)
	if err != nil {
		c.log(ctx, slog.LevelError, "elicit: "+err.Error())
		return "", internalError("internal error")
	}
	c.shop.sealedOnce(ctx)
	return token, nil
}

// sealedOnce says once what it means that no secrets were given.
func (s *Server) sealedOnce(ctx context.Context) {
	if s.random && s.ownSecret.CompareAndSwap(false, true) {
		s.opts.Logger.InfoContext(ctx, "elicit: Options.Secrets is not set, so a random secret seals what calls remember: a call that another instance began, or this one before it was restarted, is refused with \"Invalid or expired requestState\"")
	}
}
