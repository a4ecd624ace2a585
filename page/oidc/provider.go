package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// provider is what discovery told of the issuer.
type provider struct {
	config     oauth2.Config
	verifier   *gooidc.IDTokenVerifier
	sendsIss   bool     // its answers name it (RFC 9207, section 3)
	endSession *url.URL // where its own session is ended; nil if it does not say
}

// maxBody is the most that is read of an answer of the provider, in bytes.
const maxBody = 1 << 20

// client talks to the provider: within a time, without following redirects, which would take a code or a secret elsewhere,
// and without reading more than maxBody.
func client(own *http.Client) *http.Client {
	c := http.Client{Timeout: 15 * time.Second}
	if own != nil {
		c = *own
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	base := c.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	c.Transport = bounded{base}
	return &c
}

type bounded struct{ base http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.base.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxBody), res.Body}
	}
	return res, err
}

// Discover asks the issuer for its metadata (OpenID Connect Discovery 1.0, section 4), unless that was done. The first
// login does it too, so that a server can start while its provider is down; call it at start to learn of a mistake then.
func (l *Login) Discover(ctx context.Context) error {
	_, err := l.discover(ctx)
	return err
}

func (l *Login) discover(ctx context.Context) (*provider, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found != nil {
		return l.found, nil
	}
	if l.now().Before(l.retry) { // whoever waited for this one does not wait for another
		return nil, l.failed
	}
	found, err := l.ask(ctx)
	if err != nil && ctx.Err() == nil {
		l.failed, l.retry = err, l.now().Add(2*time.Second)
	}
	l.found = found
	return found, err
}

// ask asks the issuer for its metadata.
func (l *Login) ask(ctx context.Context) (*provider, error) {
	p, err := gooidc.NewProvider(gooidc.ClientContext(ctx, l.client), l.opts.Issuer)
	if err != nil {
		return nil, fmt.Errorf("page/oidc: discovery at %s: %w", l.opts.Issuer, err)
	}
	var more struct {
		Iss        bool     `json:"authorization_response_iss_parameter_supported"`
		EndSession string   `json:"end_session_endpoint"`
		Methods    []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := p.Claims(&more); err != nil {
		return nil, fmt.Errorf("page/oidc: discovery at %s: %w", l.opts.Issuer, err)
	}
	endpoint := p.Endpoint()
	for name, at := range map[string]string{"authorization_endpoint": endpoint.AuthURL, "token_endpoint": endpoint.TokenURL} {
		if err := checkURL(at); err != nil {
			return nil, fmt.Errorf("page/oidc: discovery at %s: %s: %w", l.opts.Issuer, name, err)
		}
	}
	endpoint.AuthStyle = authStyle(l.opts.ClientSecret, more.Methods)
	found := &provider{
		config: oauth2.Config{ClientID: l.opts.ClientID, ClientSecret: l.opts.ClientSecret, Endpoint: endpoint,
			RedirectURL: l.base.String() + callbackPath, Scopes: l.opts.Scopes},
		verifier: p.Verifier(&gooidc.Config{ClientID: l.opts.ClientID, Now: l.now}),
		sendsIss: more.Iss,
	}
	if checkURL(more.EndSession) == nil {
		found.endSession, _ = url.Parse(more.EndSession)
	}
	return found, nil
}

// authStyle is how the client proves itself, so that a code, which is good for once, is not sent twice to find out. Without
// the member, client_secret_basic is what a provider supports (OpenID Connect Discovery 1.0, section 3).
func authStyle(secret string, methods []string) oauth2.AuthStyle {
	if secret == "" { // a public client names itself in the body (RFC 6749, section 4.1.3)
		return oauth2.AuthStyleInParams
	}
	basic, post := methods == nil, false
	for _, m := range methods {
		basic = basic || m == "client_secret_basic"
		post = post || m == "client_secret_post"
	}
	if !basic && post {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// checkURL refuses what no address of a provider, or of this login, may be: credentials travel over TLS (RFC 6749, sections
// 3.1 and 3.2), loopback aside.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("it is not a URL")
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return fmt.Errorf("%q needs a host, and no user or fragment", u.Redacted())
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return fmt.Errorf("%q must be https (http only to a loopback address)", u.Redacted())
	}
	return nil
}
