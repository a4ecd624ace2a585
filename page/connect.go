package page

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"golang.org/x/oauth2"
)

// ConnectOptions say more about a provider than its oauth2.Config does. The zero value works with most.
type ConnectOptions struct {
	// Provider is the name of the provider, for people: "Example Calendar". Default: the host of the authorization endpoint.
	Provider string

	// Callback is the last part of the redirect URI, which is Options.Base + "/callback/" + Callback: register that URI, and
	// no other, with the provider. Each provider has its own, so that the answer of one cannot be passed off as another's
	// (RFC 9700, section 4.4). Default: the host of the authorization endpoint.
	Callback string

	// Issuer is the provider's issuer identifier, if it names it in its answers (RFC 9207; its metadata say
	// authorization_response_iss_parameter_supported). An answer that does not name it, or another, is then refused.
	Issuer string

	// AuthParams are added to the authorization request, such as access_type=offline and prompt=consent, without which some
	// providers give no refresh token, or audience.
	AuthParams url.Values

	// Needed are the scopes without which the tool cannot do: a person who allows fewer is asked again. Default: those of
	// the config, but for openid, profile, email and offline_access, which providers call by other names or leave out.
	Needed []string

	// Extra names members of the provider's token responses that the tool needs, such as instance_url: Token.Extra of what the
	// source gives has them. Others are not kept.
	Extra []string

	// RevocationURL is the provider's revocation endpoint (RFC 7009; its metadata call it revocation_endpoint). [Forget] then also
	// ends there what the user allowed, and tokens that were got too late for a question that was declined are not left
	// alive. Some providers end all that this client was allowed by the user with it. Default: none.
	RevocationURL string

	// Lifetime is how long a sign-in is remembered, however often its token is refreshed. Default 90 days.
	Lifetime time.Duration

	// Client talks to the token endpoint, and to that for revocation. It is copied, and follows no redirects. Default: 15 s for each request.
	Client *http.Client
}

// Connect asks the user to sign in at somebody else's service, and to let this server act for them there: its value is a
// source of access tokens.
//
//	var calendar = page.Connect("calendar", "Connect your calendar", oauth2.Config{
//		ClientID: "…", ClientSecret: "…", Scopes: []string{"calendar.read"},
//		Endpoint: oauth2.Endpoint{AuthURL: "https://…", TokenURL: "https://…", AuthStyle: oauth2.AuthStyleInHeader},
//	}, nil)
//	…
//	answer, err := calendar.Require(ctx)
//	if err != nil {
//		return nil, nil, err
//	}
//	source, ok := answer.Value()
//	…
//	res, err := oauth2.NewClient(ctx, source).Get("https://…/events")
//
// It is the authorization code flow (RFC 6749, section 4.1) with PKCE (RFC 7636). The page says which client asks for what,
// and who is signed in, and leads to the provider when the user presses "Continue to …". The tokens go to the [Vault], for
// this user, client, tool and question, and are refreshed from there, by one instance at a time; the tool gets access tokens
// alone. The user is asked again when they revoked it, when it is beyond refreshing, and when they allowed less than
// is needed. Where requests have no principal, the tokens are good for the one call.
//
// Declare the question with elicit.Asks. config.RedirectURL is left empty: it is Options.Base + "/callback/" + the host of the
// authorization endpoint; see [ConnectOptions]. Set config.Endpoint.AuthStyle: to find it out, a code is sent twice, which
// some providers take for a theft.
//
// An access token may be refused although it has not expired, as when the user has just revoked it. [Forget] it then, and
// require the question again.
func Connect(key, message string, config oauth2.Config, opts *ConnectOptions) *elicit.Question[oauth2.TokenSource] {
	c := &connect{config: config}
	if opts != nil {
		c.opts = *opts
	}
	c.err = c.check()
	return question[oauth2.TokenSource](key, message, c)
}

// connect is the flow of [Connect].
type connect struct {
	config oauth2.Config
	opts   ConnectOptions
	err    error
}

const defaultLifetime = 90 * 24 * time.Hour

// check fills in the defaults, and says what is wrong.
func (c *connect) check() error {
	if c.config.ClientID == "" {
		return errors.New("oauth2.Config.ClientID is empty: register this server with the provider")
	}
	for _, e := range []struct{ name, url string }{{"oauth2.Config.Endpoint.AuthURL", c.config.Endpoint.AuthURL}, {"oauth2.Config.Endpoint.TokenURL", c.config.Endpoint.TokenURL},
		{"ConnectOptions.RevocationURL", c.opts.RevocationURL}} {
		if e.name == "ConnectOptions.RevocationURL" && e.url == "" {
			continue
		}
		u, err := url.Parse(e.url)
		switch {
		case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
			return fmt.Errorf("%s is no URL of an endpoint: write https://HOST/PATH", e.name)
		case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())): // RFC 6749, sections 3.1 and 3.2; RFC 7009, section 2
			return fmt.Errorf("%s (%s) must be https, as it is not on a loopback name", e.name, u.Host)
		case e.url == c.config.Endpoint.AuthURL:
			if c.opts.Provider == "" {
				c.opts.Provider = u.Host
			}
			if c.opts.Callback == "" {
				c.opts.Callback = strings.ReplaceAll(strings.ToLower(u.Host), ":", "-")
			}
		}
	}
	if strings.Trim(c.opts.Callback, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") != "" || strings.Trim(c.opts.Callback, ".") == "" {
		return fmt.Errorf("ConnectOptions.Callback is %q: it is one part of a path, of letters, digits and -._~", c.opts.Callback)
	}
	switch {
	case c.config.RedirectURL != "":
		return errors.New("oauth2.Config.RedirectURL is set: leave it empty, it is page.Options.Base + \"/callback/\" + ConnectOptions.Callback")
	case c.opts.Lifetime < 0:
		return fmt.Errorf("ConnectOptions.Lifetime is %v: leave it 0 for 90 days", c.opts.Lifetime)
	case c.opts.Lifetime == 0:
		c.opts.Lifetime = defaultLifetime
	}
	for _, own := range []string{"response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method"} {
		if c.opts.AuthParams.Has(own) {
			return fmt.Errorf("ConnectOptions.AuthParams has %q, which the flow sets itself", own)
		}
	}
	if c.opts.Needed == nil {
		for _, s := range c.config.Scopes {
			switch s {
			case "openid", "profile", "email", "offline_access":
			default:
				c.opts.Needed = append(c.opts.Needed, s)
			}
		}
	}
	if c.config.ClientSecret == "" && c.config.Endpoint.AuthStyle == oauth2.AuthStyleAutoDetect {
		c.config.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client names itself in the body (RFC 6749, section 4.1.3)
	}
	c.opts.Client = tokenClient(c.opts.Client)
	return nil
}

func (c *connect) Err() error { return c.err }

// Shape implements flow: two questions are of one shape if a token for one does for the other.
func (c *connect) Shape() state.Digest {
	parts := []string{"connect", c.config.ClientID, c.config.Endpoint.AuthURL, c.config.Endpoint.TokenURL, c.opts.Issuer, c.opts.Callback, c.opts.AuthParams.Encode(), strings.Join(c.opts.Needed, " "), strings.Join(c.opts.Extra, " ")}
	return state.DigestOf(append(parts, c.config.Scopes...)...)
}

func (c *connect) start(context.Context, *Pages, *tool.Asking) (string, error) { return "", nil }

// provider is what makes two providers two: they must not share a redirect URI.
func (c *connect) provider() string {
	return strings.Join([]string{c.config.Endpoint.AuthURL, c.config.Endpoint.TokenURL, c.opts.Issuer}, "\n")
}

func (c *connect) callbackName() string { return c.opts.Callback }

// show implements flow.
func (c *connect) show(v *visit, view *view) error {
	u, err := url.Parse(c.config.Endpoint.AuthURL)
	if err != nil {
		return err
	}
	view.Target, view.Button = u.Host, "Continue to "+line(c.opts.Provider)
	if len(c.config.Scopes) > 0 {
		view.About = append(view.About, about{"It asks there for", line(strings.Join(c.config.Scopes, ", "))})
	}
	if view.Person != "" {
		view.About = append(view.About, about{"What you allow is for", view.Person + ", here"})
	}
	return nil
}

// post implements flow: only now is there a state, and somebody who said that they want it.
func (c *connect) post(v *visit) {
	p, now := v.pages, v.pages.shop.Now()
	a := authorization{Ticket: v.token, User: userDigest(v.who.Issuer, v.who.Subject), Provider: c.provider(), Verifier: oauth2.GenerateVerifier(), Expires: now.Add(stateLife)}
	if v.ticket.Expires.Before(a.Expires) {
		a.Expires = v.ticket.Expires
	}
	state := rand.Text() + rand.Text()
	plain, err := json.Marshal(a)
	if err == nil {
		_, err = p.add(v.r.Context(), Entry{Key: stateEntry(state), Owner: v.ticket.owner(), Expires: a.Expires}, plain)
	}
	if err != nil {
		v.broken(p.vaultFailed(v.r.Context(), err))
		return
	}
	opts := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(a.Verifier), c.redirectURI(v.base)}
	for name, values := range c.opts.AuthParams {
		opts = append(opts, oauth2.SetAuthURLParam(name, strings.Join(values, " ")))
	}
	u, err := url.Parse(c.config.AuthCodeURL(state, opts...))
	if err != nil {
		v.broken(err)
		return
	}
	v.redirect(u)
}

// redirectURI is the one redirect URI of the provider.
func (c *connect) redirectURI(base *url.URL) oauth2.AuthCodeOption {
	return oauth2.SetAuthURLParam("redirect_uri", base.String()+"/callback/"+c.opts.Callback)
}

// authorization is what is kept of a visit while the person is at the provider: an entry of the vault under the state, which
// is taken out once.
type authorization struct {
	Ticket   string       // sealed
	User     state.Digest // who went
	Provider string
	Verifier string
	Expires  time.Time
}

// stateLife is how long somebody may take at the provider.
const stateLife = 10 * time.Minute

func stateEntry(s string) string {
	d := state.DigestOf("oauth state", s)
	return "s:" + hex.EncodeToString(d[:])
}
