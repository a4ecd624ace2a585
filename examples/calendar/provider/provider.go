// Package provider is an OpenID provider with a calendar behind it, in this process: somebody else's service, for the
// example and its tests. People sign in by clicking on their name, so it is nothing to put on a network.
package provider

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// CalendarScope is what a token needs to read a calendar.
const CalendarScope = "calendar.read"

// People who have an account, and what is in their calendars.
var people = map[string]struct {
	name   string
	events []string
}{
	"ada": {"Ada Lovelace", []string{"09:00 Analytical engine, progress", "14:00 Tea with Charles"}},
	"bob": {"Bob Hopper", []string{"10:00 Compiler review"}},
}

// A Client is a program that may send people here.
type Client struct {
	ID, Secret string // a public client has no secret
	Name       string // shown to people
	Redirect   string // its one redirect URI
}

// Options of [New].
type Options struct {
	Issuer  string        // the address it is served at
	Clients []Client      // who may send people here
	Life    time.Duration // of access tokens. Default 5 minutes
	Logger  *slog.Logger  // default: none
}

// A Provider is an [http.Handler]. It keeps everything in memory.
type Provider struct {
	op    *op.Provider
	mux   *http.ServeMux
	store *store
}

// New makes a provider.
func New(opts Options) (*Provider, error) {
	if opts.Life == 0 {
		opts.Life = 5 * time.Minute
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Provider{store: newStore(opts), mux: http.NewServeMux()}
	var key [32]byte
	rand.Read(key[:])
	var err error
	p.op, err = op.NewProvider(&op.Config{CryptoKey: key, CryptoKeyId: "1", CodeMethodS256: true, AuthMethodPost: true, GrantTypeRefreshToken: true},
		p.store, op.StaticIssuer(opts.Issuer), op.WithAllowInsecure(), op.WithLogger(opts.Logger))
	if err != nil {
		return nil, err
	}
	signIn := op.NewIssuerInterceptor(p.op.IssuerFromRequest)
	p.mux.HandleFunc("GET /sign-in", p.show)
	p.mux.HandleFunc("POST /sign-in", signIn.HandlerFunc(p.signIn))
	p.mux.HandleFunc("GET /events", p.events)
	p.mux.Handle("/", p.op)
	return p, nil
}

func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mux.ServeHTTP(&issuerWriter{w, p.store.issuer}, r)
}

// Token is an access token of a person for a client, as that client gets it by sending the person here.
func (p *Provider) Token(person, client string) (string, error) {
	if _, ok := people[person]; !ok {
		return "", fmt.Errorf("nobody here is called %q", person)
	}
	t := p.store.newToken(person, client, []string{oidc.ScopeOpenID}, "")
	return op.CreateBearerToken(t.ID, person, p.op.Crypto())
}

// A Grant is what a valid access token stands for.
type Grant struct {
	Person, Client string
	Scopes         []string
	Expires        time.Time
}

// Verify is what an access token stands for.
func (p *Provider) Verify(token string) (Grant, error) {
	plain, err := p.op.Crypto().Decrypt(token)
	if err != nil {
		return Grant{}, errors.New("not a token of this provider")
	}
	id, _, _ := strings.Cut(plain, ":")
	t, ok := p.store.token(id)
	if !ok || time.Now().After(t.Expires) {
		return Grant{}, errors.New("the token has expired or was revoked")
	}
	return t.Grant, nil
}

// Revoke ends every token that a person has given to a client, as the person can in a settings page.
func (p *Provider) Revoke(person, client string) { p.store.revoke(person, client) }

// Granted is how many tokens a client has that a person gave it: to use, and to refresh.
func (p *Provider) Granted(person, client string) int { return p.store.granted(person, client) }

// Refreshed is how often tokens were refreshed.
func (p *Provider) Refreshed() int { return p.store.countRefreshed() }

// events is the calendar.
func (p *Provider) events(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g, err := p.Verify(token)
	if err != nil || !slices.Contains(g.Scopes, CalendarScope) {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		http.Error(w, "this needs a token with the scope "+CalendarScope, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(people[g.Person].events)
}

var signInPage = template.Must(template.New("sign-in").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Sign in – Calendar</title>
<body><main><h1>Calendar</h1><p>{{.Client}} wants to know who you are{{if .Scopes}}, and asks for:{{else}}.{{end}}</p>
<form method="post" action="/sign-in"><input type="hidden" name="id" value="{{.ID}}">
{{range .Scopes}}<p><label><input type="checkbox" name="scope" value="{{.}}" checked> {{.}}</label></p>{{end}}
<p>Sign in as: {{range .People}}<button name="person" value="{{.}}">{{.}}</button> {{end}}<button name="person" value="">nobody</button></p>
</form></main></body></html>`))

// asked are the scopes that a person may refuse.
func asked(scopes []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return s != CalendarScope })
}

func (p *Provider) show(w http.ResponseWriter, r *http.Request) {
	req, err := p.store.request(r.FormValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	var names []string
	for name := range people {
		names = append(names, name)
	}
	slices.Sort(names)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = signInPage.Execute(w, map[string]any{"Client": p.store.clients[req.ClientID].Name, "Scopes": asked(req.Scopes), "ID": req.id, "People": names})
}

func (p *Provider) signIn(w http.ResponseWriter, r *http.Request) {
	id, person := r.PostFormValue("id"), r.PostFormValue("person")
	req, err := p.store.request(id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if _, ok := people[person]; !ok {
		op.AuthRequestError(w, r, req, oidc.ErrAccessDenied(), p.op)
		return
	}
	allowed := r.PostForm["scope"]
	p.store.grant(id, person, func(scope string) bool { return scope != CalendarScope || slices.Contains(allowed, scope) })
	http.Redirect(w, r, op.AuthCallbackURL(p.op)(r.Context(), id), http.StatusSeeOther)
}

// issuerWriter adds the parameter iss to what goes back to clients, which the library does not do (RFC 9207, section 2).
type issuerWriter struct {
	http.ResponseWriter
	issuer string
}

func (w *issuerWriter) WriteHeader(status int) {
	if u, err := url.Parse(w.Header().Get("Location")); err == nil && u.Query().Has("state") {
		q := u.Query()
		q.Set("iss", w.issuer)
		u.RawQuery = q.Encode()
		w.Header().Set("Location", u.String())
	}
	w.ResponseWriter.WriteHeader(status)
}
