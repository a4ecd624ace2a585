package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/elicit-go/elicit/internal/state"
	"golang.org/x/oauth2"
)

// callback implements returner: the provider sent the person back. c is any flow of the provider; which one it is about is in
// the ticket that was kept under the state.
func (c *connect) callback(v *visit) {
	a, err := c.take(v)
	if err != nil {
		v.pages.shop.Logger.WarnContext(v.r.Context(), "page: refused the answer of a provider", "provider", c.opts.Provider, "reason", err)
		v.fail(http.StatusForbidden, "This sign-in is over", "It was used before, took too long, or was not begun here. Nothing was stored. Open the link that you were given again.")
		return
	}
	t, err := v.pages.openTicket(a.Ticket)
	if err != nil {
		v.broken(err)
		return
	}
	if !v.enter(t, a.Ticket) { // who is at the browser now is who was asked
		return
	}
	f, ok := v.flow.(*connect)
	if !ok || f.provider() != a.Provider {
		v.broken(errors.New("the question of a state is not that of its provider any more"))
		return
	}
	switch err := f.finish(v, a); {
	case errors.Is(err, ErrVaultFull):
		v.broken(err)
	case err != nil:
		v.pages.shop.Logger.WarnContext(v.r.Context(), "page: a sign-in at a provider failed", "provider", f.opts.Provider, "key", t.Key, "name", t.Name, "link", t.id(), "reason", err)
		v.note = "It did not work. You can try again."
		if told := (*toldError)(nil); errors.As(err, &told) {
			v.note = told.person
		}
		v.show(http.StatusForbidden, nil)
	}
}

// toldError is one that the person is told of.
type toldError struct{ log, person string }

func (e *toldError) Error() string { return e.log }

// take takes out what was kept under the state of an answer, which is good for once, whatever becomes of it.
func (c *connect) take(v *visit) (a authorization, err error) {
	ctx, q := v.r.Context(), v.r.URL.Query()
	for name, values := range q {
		if len(values) > 1 { // RFC 6749, section 3.1
			return a, fmt.Errorf("the parameter %.40q is there %d times", name, len(values))
		}
	}
	key := stateEntry(q.Get("state"))
	s, err := v.pages.load(ctx, key)
	if err != nil {
		return a, err
	}
	if s == nil {
		return a, errors.New("its state is unknown, was used, or has expired")
	}
	switch first, err := v.pages.opts.Vault.Delete(ctx, key); {
	case err != nil:
		return a, err
	case !first:
		return a, errors.New("its state was used")
	}
	if err := json.Unmarshal(s.plain, &a); err != nil {
		return a, err
	}
	switch {
	case !v.pages.shop.Now().Before(a.Expires):
		return a, errors.New("its state has expired")
	case a.Provider != c.provider(): // a mix-up (RFC 9700, section 4.4)
		return a, errors.New("its state is that of another provider")
	case !a.User.Equal(userDigest(v.who.Issuer, v.who.Subject)):
		return a, errors.New("its state is that of another person")
	}
	return a, nil
}

// finish exchanges the code, and stores the tokens.
func (c *connect) finish(v *visit, a authorization) error {
	q := v.r.URL.Query()
	switch iss := q.Get("iss"); { // RFC 9207, section 2.4; errors carry it too
	case c.opts.Issuer == "":
	case iss == "":
		return errors.New("the answer lacks the parameter iss")
	case iss != c.opts.Issuer:
		return fmt.Errorf("the answer is of another issuer, %.200q", iss)
	}
	if code := q.Get("error"); code != "" { // RFC 6749, section 4.1.2.1
		e := &toldError{fmt.Sprintf("the provider answered with the error %q", errorCode(code)), c.opts.Provider + " could not do it. You can try again."}
		if code == "access_denied" {
			e.person = "You did not allow it at " + c.opts.Provider + ". You can try again, or decline here."
		}
		return e
	}
	if q.Get("code") == "" {
		return errors.New("the answer has neither a code nor an error")
	}
	// A code that was spent is worth finishing, though the browser may have gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.r.Context()), tokenTimeout)
	defer cancel()
	token, err := c.config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c.opts.Client), q.Get("code"), oauth2.VerifierOption(a.Verifier), c.redirectURI(v.base))
	if err != nil {
		return tokenError(err)
	}
	g, err := c.grant(token, grant{Until: v.pages.shop.Now().Add(c.opts.Lifetime)})
	if err != nil {
		return err
	}
	return c.store(ctx, v, g)
}

// store keeps a grant, and ends the question. It answers the visitor, unless it fails.
func (c *connect) store(ctx context.Context, v *visit, g grant) error {
	p, t := v.pages, v.ticket
	at := slot{pages: p, flow: c, key: valueEntry(t.Value), name: t.Name, question: t.Key}
	plain, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if t.User == nobody { // for the call alone
		if !v.complete(plain, nil) {
			at.tooLate(ctx, t, g)
		}
		return nil
	}
	// Another sign-in by the same link may be as far as this one: which is first counts, and its tokens are those that stay.
	unlock, err := at.lock(ctx)
	for unlock == nil && err == nil {
		unlock, err = at.lock(ctx)
	}
	if err != nil {
		return err
	}
	defer unlock()
	switch o, err := v.outcome(); {
	case err != nil:
		return err
	case o.action != 0:
		at.tooLate(ctx, t, g)
		v.over(o, true)
		return nil
	}
	if err := p.put(ctx, Entry{Key: at.key, Owner: t.owner(), Expires: g.ends()}, plain); err != nil {
		at.drop(ctx, g)
		return p.vaultFailed(ctx, err)
	}
	if v.complete([]byte{}, nil) {
		return nil
	}
	s, err := p.load(ctx, at.key) // it was declined at this moment, or the vault failed
	if err == nil && s != nil && string(s.plain) == string(plain) {
		_, err = p.remove(ctx, s)
	}
	at.tooLate(ctx, t, g)
	if err != nil {
		p.shop.Logger.ErrorContext(ctx, "page: tokens of a question that was declined are still in the vault", "key", t.Key, "error", err)
	}
	return nil
}

// tooLate revokes a grant that nobody has: its question was declined, or the vault failed. Where another sign-in answered the
// question, the grant is left alone: with it some providers would end the other.
func (at slot) tooLate(ctx context.Context, t *ticket, g grant) {
	if o, err := at.pages.outcome(ctx, t); err == nil && o.action != accepted && o.action != lost {
		at.drop(ctx, g)
	}
}

// grant is what a token is kept as.
type grant struct {
	Access, Refresh string
	Expires         time.Time     // of Access; zero if the provider does not say
	Early           time.Duration // Access is refreshed so long before it expires, as it has to last for what it is given out for
	Scopes          []string
	Extra           map[string]any `json:",omitempty"` // by ConnectOptions.Extra
	Until           time.Time      // not remembered longer
}

// maxEarly bounds grant.Early, which is a quarter of the life of short-lived tokens.
const maxEarly = 30 * time.Second

// fresh reports whether the access token need not be refreshed.
func (g *grant) fresh(now time.Time) bool {
	end := g.Expires
	if g.Refresh != "" {
		end = end.Add(-g.Early)
	}
	return g.Expires.IsZero() || now.Before(end)
}

// nobody is userDigest of a caller without a principal.
var nobody state.Digest

// ends is how long g is of use.
func (g *grant) ends() time.Time {
	if g.Refresh == "" && !g.Expires.IsZero() && g.Expires.Before(g.Until) {
		return g.Expires
	}
	return g.Until
}

// grant is what a token response allows. old is what it is made from: zero but for Until at first.
func (c *connect) grant(token *oauth2.Token, old grant) (grant, error) {
	if !strings.EqualFold(token.Type(), "Bearer") { // RFC 6749, section 7.1
		return grant{}, fmt.Errorf("the token is of the type %.20q, which nobody here knows to use", token.Type())
	}
	g := grant{Access: token.AccessToken, Refresh: token.RefreshToken, Expires: token.Expiry, Until: old.Until, Scopes: old.Scopes}
	if g.Refresh == "" {
		g.Refresh = old.Refresh // RFC 6749, section 6
	}
	for _, name := range c.opts.Extra {
		v := token.Extra(name)
		if v == nil {
			v = old.Extra[name]
		}
		if v != nil {
			if g.Extra == nil {
				g.Extra = map[string]any{}
			}
			g.Extra[name] = v
		}
	}
	if !g.Expires.IsZero() {
		g.Early = min(maxEarly, time.Until(g.Expires)/4)
	}
	if g.Scopes == nil {
		g.Scopes = c.config.Scopes
	}
	// Left out, it is what was asked for (RFC 6749, sections 5.1 and 6). Some separate scopes by commas.
	if scope, ok := token.Extra("scope").(string); ok && scope != "" {
		g.Scopes = strings.FieldsFunc(scope, func(r rune) bool { return r == ' ' || r == ',' })
	}
	var missing []string
	for _, s := range c.opts.Needed {
		if !slices.Contains(g.Scopes, s) {
			missing = append(missing, s)
		}
	}
	if missing != nil {
		list := strings.Join(missing, ", ")
		return grant{}, &toldError{"the person allowed less than is needed: " + list + " is missing",
			"You allowed less than is needed: " + line(list) + " is missing. Nothing was stored. You can try again, and allow it, or decline here."}
	}
	return g, nil
}

// errorCode is an error code of a provider, as far as it is one.
func errorCode(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '"' && r != '\\' { // RFC 6749, section 5.2
			return r
		}
		return -1
	}, s[:min(len(s), 60)])
}

// tokenError is an error of the token endpoint, without what it wrote, which may hold tokens.
func tokenError(err error) error {
	const endpoint = "the token endpoint"
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := 0
		if r.Response != nil {
			status = r.Response.StatusCode
		}
		return &endpointError{endpoint, status, errorCode(r.ErrorCode)}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return &unreachableError{endpoint, u.Err}
	}
	return errors.New(endpoint + "'s answer is no token")
}

// completeAs implements completer. The value is a source of tokens.
func (c *connect) completeAs(ctx context.Context, p *Pages, t *ticket, value any) error {
	source, ok := value.(oauth2.TokenSource)
	if !ok {
		return fmt.Errorf("it takes an oauth2.TokenSource, not a %T", value)
	}
	token, err := source.Token()
	if err != nil {
		return err
	}
	g, err := c.grant(token, grant{Until: p.shop.Now().Add(c.opts.Lifetime)})
	if err != nil {
		return err
	}
	plain, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if t.User != nobody {
		if err := p.put(ctx, Entry{Key: valueEntry(t.Value), Owner: t.owner(), Expires: g.ends()}, plain); err != nil {
			return err
		}
		plain = []byte{}
	}
	_, err = p.conclude(ctx, t, accepted, plain, nil)
	return err
}
