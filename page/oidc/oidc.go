package oidc

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/elicit-go/elicit/internal/state"
)

// Options of [New]. Issuer, ClientID and Base are needed.
type Options struct {
	// Issuer is who signs people in, exactly as in its discovery document, and as in the tokens that the MCP server
	// accepts: a page is for the user whose token has this issuer and the same subject.
	Issuer string

	// ClientID and ClientSecret are this login's registration with the issuer. A public client has no secret. It may be
	// another client than those of the MCP server, if the issuer gives a user the same subject in all of them.
	ClientID, ClientSecret string

	// Scopes are asked for. Default: openid and profile, whose name is shown. openid is added where it is missing.
	Scopes []string

	// Base is that of page.Options, such as https://mcp.example.com/pages. Register what is below it,
	// https://mcp.example.com/pages/login/callback, with the issuer, as redirect URI.
	Base string

	// Secrets seal the cookies: the first seals, all open, as elicit.Options.Secrets, which may be the same. Instances
	// behind one address need the same. Default: one random secret for this process.
	Secrets [][]byte

	// Session is how long a login lasts. Default 1 hour.
	Session time.Duration

	// Client talks to the issuer. It is copied, and follows no redirects. Default: 15 s for each request.
	Client *http.Client

	// Logger is told of logins and of what was refused, and why; never a code, token or cookie. Default: slog.Default().
	Logger *slog.Logger
}

// A Login signs people in with OpenID Connect. Its Identify is for page.Options. Make it with [New]. It is safe for
// concurrent use.
type Login struct {
	opts   Options
	base   *url.URL
	ring   *state.Ring
	client *http.Client
	prefix string // of the names of cookies
	now    func() time.Time

	mu     sync.Mutex
	found  *provider
	failed error     // of the last discovery
	retry  time.Time // not before
}

// Paths below Base.
const (
	callbackPath = "/login/callback"
	startPath    = "/login/start"
	logoutPath   = "/login/logout"
)

// loginLife is how long a login may take.
const loginLife = 10 * time.Minute

// New makes a Login. It does not talk to the issuer; see [Login.Discover]. Its errors say which option is wrong, and why.
func New(opts Options) (*Login, error) {
	l := &Login{opts: opts, client: client(opts.Client), now: time.Now}
	if err := checkURL(opts.Issuer); err != nil {
		return nil, fmt.Errorf("page/oidc: Options.Issuer: %w", err)
	}
	if opts.ClientID == "" {
		return nil, fmt.Errorf("page/oidc: Options.ClientID is empty: register a client with %s", opts.Issuer)
	}
	if err := checkURL(opts.Base); err != nil {
		return nil, fmt.Errorf("page/oidc: Options.Base: %w", err)
	}
	l.base, _ = url.Parse(opts.Base)
	if l.base.RawQuery != "" {
		return nil, fmt.Errorf("page/oidc: Options.Base: %q has a query; give scheme, host and path alone", opts.Base)
	}
	l.base.Path = strings.TrimSuffix(l.base.Path, "/")
	l.prefix = "elicit-"
	if l.base.Scheme == "https" {
		l.prefix = "__Host-elicit-" // no other host can set it (RFC 6265bis, section 4.1.3.2)
	} else if port := l.base.Port(); port != "" {
		l.prefix += port + "-" // cookies are shared by all ports of a host
	}
	l.ring = state.RandomRing()
	if opts.Secrets != nil {
		ring, err := state.NewRing(opts.Secrets...)
		if err != nil {
			return nil, fmt.Errorf("page/oidc: Options.Secrets: %w", err)
		}
		l.ring, l.opts.Secrets = ring, nil
	}
	switch {
	case opts.Session == 0:
		l.opts.Session = time.Hour
	case opts.Session < time.Minute:
		return nil, fmt.Errorf("page/oidc: Options.Session is %v: give a minute at least, or 0 for an hour", opts.Session)
	}
	if l.opts.Logger == nil {
		l.opts.Logger = slog.Default()
	}
	l.opts.Scopes = nil
	hasOpenID := false
	for _, s := range opts.Scopes {
		l.opts.Scopes = append(l.opts.Scopes, s)
		hasOpenID = hasOpenID || s == gooidc.ScopeOpenID
	}
	if !hasOpenID {
		l.opts.Scopes = append([]string{gooidc.ScopeOpenID}, l.opts.Scopes...)
	}
	if opts.Scopes == nil {
		l.opts.Scopes = append(l.opts.Scopes, gooidc.ScopeProfile)
	}
	return l, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
