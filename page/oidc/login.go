package oidc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/elicit-go/elicit/internal/state"
	"golang.org/x/oauth2"
)

const (
	loginPurpose   state.Purpose = "oidc-login"
	sessionPurpose state.Purpose = "oidc-session"
	targetPurpose  state.Purpose = "oidc-target"
)

// maxCookie is the most that browsers keep of a cookie, in bytes (RFC 6265, section 6.1).
const maxCookie = 4096

// A pending login is in a cookie of the browser that began it, sealed, so that another browser cannot end it (login CSRF:
// RFC 6749, section 10.12, and RFC 9700, section 4.7.1), and an instance need not remember it.
type pending struct {
	State, Nonce, Verifier string
	Target                 string // where to go then: path and query on this host
	Expires                int64  // Unix time
}

// begin sends the browser to the issuer.
func (l *Login) begin(w http.ResponseWriter, r *http.Request, target, prompt string) {
	p, err := l.discover(r.Context())
	if err != nil {
		l.opts.Logger.ErrorContext(r.Context(), "page/oidc: nobody can sign in", "error", err)
		l.show(w, http.StatusServiceUnavailable, notice{Title: "Signing in does not work just now", Text: "The service that knows who you are cannot be reached. Try again in a minute."})
		return
	}
	login := pending{State: rand.Text() + rand.Text(), Nonce: rand.Text() + rand.Text(), Verifier: oauth2.GenerateVerifier(), Target: target, Expires: l.now().Add(loginLife).Unix()}
	if err := l.setCookie(w, l.loginCookie(login.State), loginPurpose, login, loginLife); err != nil {
		l.opts.Logger.ErrorContext(r.Context(), "page/oidc: a login cannot be begun", "error", err)
		l.show(w, http.StatusInternalServerError, notice{Title: "Signing in does not work", Text: "The address that you opened is too long."})
		return
	}
	l.prune(w, r)
	opts := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(login.Verifier), gooidc.Nonce(login.Nonce)}
	if prompt != "" {
		opts = append(opts, oauth2.SetAuthURLParam("prompt", prompt))
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the address that was opened is nobody's business
	http.Redirect(w, r, p.config.AuthCodeURL(login.State, opts...), http.StatusSeeOther)
}

func (l *Login) loginCookie(state string) string {
	sum := sha256.Sum256([]byte(state))
	return l.prefix + "login-" + base64.RawURLEncoding.EncodeToString(sum[:9])
}

// prune forgets logins that were begun and not ended when there are several: servers limit what cookies weigh.
func (l *Login) prune(w http.ResponseWriter, r *http.Request) {
	const keep = 3
	n := 0
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, l.prefix+"login-") {
			if n++; n > keep {
				l.clearCookie(w, c.Name)
			}
		}
	}
}

// callback ends a login.
func (l *Login) callback(w http.ResponseWriter, r *http.Request) {
	login, who, err := l.finish(w, r)
	if err == nil {
		err = l.signIn(w, who)
	}
	if err != nil {
		l.opts.Logger.WarnContext(r.Context(), "page/oidc: a login was refused", "reason", err)
		n := notice{Title: "You are not signed in", Text: "This sign-in was not begun in this browser, has been used, or took too long. Open the link that you were given again."}
		if login != nil {
			n = notice{Title: "You are not signed in", Text: "The sign-in did not work.", Link: l.startURL(login.Target), LinkText: "Try again"}
		}
		if denied := (*deniedError)(nil); errors.As(err, &denied) {
			n.Text = "The sign-in was refused (" + denied.code + ")."
		}
		l.show(w, http.StatusForbidden, n)
		return
	}
	l.opts.Logger.InfoContext(r.Context(), "page/oidc: signed in", "issuer", who.Issuer)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, login.Target, http.StatusSeeOther)
}

// deniedError is an error that the issuer answered with (RFC 6749, section 4.1.2.1).
type deniedError struct{ code string }

func (e *deniedError) Error() string { return "the issuer answered " + e.code }

// finish checks what the issuer sent the browser back with. The login that was begun is nil where this browser began none.
func (l *Login) finish(w http.ResponseWriter, r *http.Request) (*pending, session, error) {
	q := r.URL.Query()
	for name, values := range q {
		if len(values) > 1 { // RFC 6749, section 3.1
			return nil, session{}, fmt.Errorf("the parameter %q is there %d times", clip(name), len(values))
		}
	}
	name := l.loginCookie(q.Get("state"))
	var login pending
	if err := l.readCookie(r, name, loginPurpose, &login); err != nil {
		return nil, session{}, fmt.Errorf("no login of this browser has this state: %w", err)
	}
	l.clearCookie(w, name) // it is good for once
	if subtle.ConstantTimeCompare([]byte(login.State), []byte(q.Get("state"))) != 1 {
		return nil, session{}, errors.New("the state is another login's")
	}
	if l.now().Unix() > login.Expires {
		return nil, session{}, errors.New("the login took too long")
	}
	ctx, cancel := context.WithTimeout(gooidc.ClientContext(r.Context(), l.client), 30*time.Second)
	defer cancel()
	p, err := l.discover(ctx)
	if err != nil {
		return &login, session{}, err
	}
	switch iss := q.Get("iss"); { // RFC 9207, section 2.4; it comes with errors too
	case iss == "" && p.sendsIss:
		return &login, session{}, errors.New("the answer lacks the iss parameter that the issuer announces")
	case iss != "" && iss != l.opts.Issuer:
		return &login, session{}, fmt.Errorf("the answer comes from another issuer, %q", clip(iss))
	}
	if code := q.Get("error"); code != "" {
		return &login, session{}, &deniedError{plainCode(code)}
	}
	if q.Get("code") == "" {
		return &login, session{}, errors.New("the answer has no code")
	}
	token, err := p.config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(login.Verifier))
	if err != nil {
		return &login, session{}, exchangeError(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return &login, session{}, errors.New("the token endpoint gave no id_token; is the scope openid allowed to this client?")
	}
	who, err := l.verify(ctx, p, raw, token.AccessToken, login.Nonce)
	return &login, who, err
}

// verify checks an ID token (OpenID Connect Core 1.0, section 3.1.3.7).
func (l *Login) verify(ctx context.Context, p *provider, raw, accessToken, nonce string) (session, error) {
	token, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return session{}, err
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1 {
		return session{}, errors.New("the id_token has another nonce: it is not of this login")
	}
	var claims struct {
		AuthorizedParty string `json:"azp"`
		Name            string `json:"name"`
		Preferred       string `json:"preferred_username"`
		Email           string `json:"email"`
	}
	if err := token.Claims(&claims); err != nil {
		return session{}, err
	}
	switch azp := claims.AuthorizedParty; {
	case azp == "" && len(token.Audience) > 1:
		return session{}, errors.New("the id_token is for several clients and does not say which one asked for it (azp)")
	case azp != "" && azp != l.opts.ClientID:
		return session{}, fmt.Errorf("the id_token was given to another client, %q", clip(azp))
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(accessToken); err != nil {
			return session{}, err
		}
	}
	if token.Subject == "" {
		return session{}, errors.New("the id_token has no subject")
	}
	who := session{Issuer: l.opts.Issuer, Subject: token.Subject}
	for _, name := range []string{claims.Name, claims.Preferred, claims.Email} {
		if who.Name == "" {
			who.Name = clip(name)
		}
	}
	return who, nil
}

// exchangeError is err without what the token endpoint wrote, which may hold tokens.
func exchangeError(err error) error {
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := 0
		if r.Response != nil {
			status = r.Response.StatusCode
		}
		return fmt.Errorf("the token endpoint refused the code: HTTP %d, error %q", status, plainCode(r.ErrorCode))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the token endpoint cannot be reached: %w", u.Err)
	}
	return errors.New("the token endpoint's answer is not a token")
}

// plainCode is an error code as far as it can be shown.
func plainCode(code string) string {
	return clip(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '_' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return -1
	}, code))
}

func clip(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// setCookie seals v into a cookie.
func (l *Login) setCookie(w http.ResponseWriter, name string, p state.Purpose, v any, life time.Duration) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	token, err := l.ring.Seal(p, b)
	if err != nil {
		return err
	}
	if len(name)+len(token) > maxCookie-200 { // its attributes count
		return fmt.Errorf("a cookie of %d bytes is more than browsers keep", len(token))
	}
	http.SetCookie(w, l.cookie(name, token, int(life.Seconds())))
	return nil
}

func (l *Login) clearCookie(w http.ResponseWriter, name string) {
	http.SetCookie(w, l.cookie(name, "", -1))
}

// cookie is one that scripts cannot read. Lax: the issuer, and whoever shows the link, lead here from another site.
func (l *Login) cookie(name, value string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: l.base.Scheme == "https", SameSite: http.SameSiteLaxMode}
}

// readCookie opens what setCookie sealed. A cookie that is there twice counts as none: one of them is not ours.
func (l *Login) readCookie(r *http.Request, name string, p state.Purpose, v any) error {
	cs := r.CookiesNamed(name)
	if len(cs) != 1 {
		return fmt.Errorf("there are %d such cookies", len(cs))
	}
	b, err := l.ring.Open(p, cs[0].Value, maxCookie)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
