package provider

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// store is the library's storage, in memory.
type store struct {
	clients map[string]client
	key     signingKey
	life    time.Duration
	issuer  string

	mu        sync.Mutex
	requests  map[string]*request
	codes     map[string]string // request by code
	tokens    map[string]token
	refreshes map[string]Grant
	refreshed int
}

type token struct {
	ID string
	Grant
	refresh string // the refresh token that it came with
}

// request is somebody who was sent here.
type request struct {
	*oidc.AuthRequest
	id, person string
	at         time.Time
}

func (r *request) GetID() string                      { return r.id }
func (r *request) GetACR() string                     { return "" }
func (r *request) GetAMR() []string                   { return nil }
func (r *request) GetAudience() []string              { return []string{r.ClientID} }
func (r *request) GetAuthTime() time.Time             { return r.at }
func (r *request) GetClientID() string                { return r.ClientID }
func (r *request) GetNonce() string                   { return r.Nonce }
func (r *request) GetRedirectURI() string             { return r.RedirectURI }
func (r *request) GetScopes() []string                { return r.Scopes }
func (r *request) GetState() string                   { return r.State }
func (r *request) GetSubject() string                 { return r.person }
func (r *request) Done() bool                         { return r.person != "" }
func (r *request) GetResponseType() oidc.ResponseType { return r.ResponseType }
func (r *request) GetResponseMode() oidc.ResponseMode { return r.ResponseMode }
func (r *request) GetCodeChallenge() *oidc.CodeChallenge {
	if r.CodeChallenge == "" {
		return nil
	}
	return &oidc.CodeChallenge{Challenge: r.CodeChallenge, Method: r.CodeChallengeMethod}
}

// refresh is a use of a refresh token.
type refresh struct{ Grant }

func (r *refresh) GetAMR() []string                 { return nil }
func (r *refresh) GetAudience() []string            { return []string{r.Client} }
func (r *refresh) GetAuthTime() time.Time           { return time.Time{} }
func (r *refresh) GetClientID() string              { return r.Client }
func (r *refresh) GetScopes() []string              { return r.Scopes }
func (r *refresh) GetSubject() string               { return r.Person }
func (r *refresh) SetCurrentScopes(scopes []string) { r.Scopes = scopes }

// client is a Client as the library wants it.
type client struct{ Client }

func (c client) GetID() string                       { return c.ID }
func (c client) RedirectURIs() []string              { return []string{c.Redirect} }
func (c client) PostLogoutRedirectURIs() []string    { return nil }
func (c client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
}
func (c client) LoginURL(id string) string            { return "/sign-in?id=" + id }
func (c client) AccessTokenType() op.AccessTokenType  { return op.AccessTokenTypeBearer }
func (c client) IDTokenLifetime() time.Duration       { return time.Hour }
func (c client) DevMode() bool                        { return true } // http redirect URIs to loopback
func (c client) IsScopeAllowed(scope string) bool     { return scope == CalendarScope }
func (c client) IDTokenUserinfoClaimsAssertion() bool { return true }
func (c client) ClockSkew() time.Duration             { return 0 }
func (c client) AuthMethod() oidc.AuthMethod {
	if c.Secret == "" {
		return oidc.AuthMethodNone
	}
	return oidc.AuthMethodBasic
}
func (c client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return func(s []string) []string { return s }
}
func (c client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return func(s []string) []string { return s }
}

type signingKey struct {
	id  string
	key *rsa.PrivateKey
}

func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k signingKey) Key() any                                    { return k.key }
func (k signingKey) ID() string                                  { return k.id }

type publicKey struct{ signingKey }

func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Key() any                           { return &k.key.PublicKey }

func newStore(opts Options) *store {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	s := &store{clients: map[string]client{}, key: signingKey{rand.Text(), key}, life: opts.Life, issuer: opts.Issuer,
		requests: map[string]*request{}, codes: map[string]string{}, tokens: map[string]token{}, refreshes: map[string]Grant{}}
	for _, c := range opts.Clients {
		s.clients[c.ID] = client{c}
	}
	return s
}

var errNotFound = errors.New("this is over, or was never begun")

func (s *store) request(id string) (*request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.requests[id]
	if !ok {
		return nil, errNotFound
	}
	c := *r
	return &c, nil
}

// grant notes who a request was granted by, and which of its scopes.
func (s *store) grant(id, person string, scope func(string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.requests[id]
	if !ok {
		return
	}
	asked := *r.AuthRequest
	asked.Scopes = slices.DeleteFunc(slices.Clone(asked.Scopes), func(s string) bool { return !scope(s) })
	r.AuthRequest, r.person, r.at = &asked, person, time.Now()
}

func (s *store) newToken(person, client string, scopes []string, refresh string) token {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := token{ID: rand.Text(), refresh: refresh, Grant: Grant{Person: person, Client: client, Scopes: scopes, Expires: time.Now().Add(s.life)}}
	s.tokens[t.ID] = t
	return t
}

func (s *store) token(id string) (token, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tokens[id]
	return t, ok
}

func (s *store) revoke(person, client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, t := range s.tokens {
		if t.Person == person && t.Client == client {
			delete(s.tokens, id)
		}
	}
	for id, g := range s.refreshes {
		if g.Person == person && g.Client == client {
			delete(s.refreshes, id)
		}
	}
}

func (s *store) granted(person, client string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tokens {
		if t.Person == person && t.Client == client {
			n++
		}
	}
	for _, g := range s.refreshes {
		if g.Person == person && g.Client == client {
			n++
		}
	}
	return n
}

func (s *store) countRefreshed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshed
}

// The rest is op.Storage.

func (s *store) CreateAuthRequest(_ context.Context, asked *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &request{AuthRequest: asked, id: rand.Text()}
	s.requests[r.id] = r
	return r, nil
}

func (s *store) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	return s.request(id)
}

// AuthRequestByCode gives a code out once (RFC 6749, section 4.1.2).
func (s *store) AuthRequestByCode(_ context.Context, code string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.requests[s.codes[code]]
	if !ok {
		return nil, errNotFound
	}
	delete(s.codes, code)
	return r, nil
}

func (s *store) SaveAuthCode(_ context.Context, id, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code] = id
	return nil
}

func (s *store) DeleteAuthRequest(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, id)
	return nil
}

func (s *store) CreateAccessToken(_ context.Context, r op.TokenRequest) (string, time.Time, error) {
	t := s.newToken(r.GetSubject(), r.GetAudience()[0], r.GetScopes(), "")
	return t.ID, t.Expires, nil
}

// CreateAccessAndRefreshTokens rotates refresh tokens (RFC 9700, section 4.14.2): each is good for once, and one that comes
// back ends all that was granted.
func (s *store) CreateAccessAndRefreshTokens(_ context.Context, r op.TokenRequest, current string) (string, string, time.Time, error) {
	person, client := r.GetSubject(), r.GetAudience()[0]
	if current != "" {
		s.mu.Lock()
		_, ok := s.refreshes[current]
		delete(s.refreshes, current)
		s.refreshed++
		s.mu.Unlock()
		if !ok {
			s.revoke(person, client)
			return "", "", time.Time{}, op.ErrInvalidRefreshToken
		}
	}
	fresh := rand.Text()
	t := s.newToken(person, client, r.GetScopes(), fresh)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refreshes[fresh] = t.Grant
	return t.ID, fresh, t.Expires, nil
}

func (s *store) TokenRequestByRefreshToken(_ context.Context, refreshToken string) (op.RefreshTokenRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.refreshes[refreshToken]
	if !ok {
		return nil, oidc.ErrInvalidGrant()
	}
	return &refresh{g}, nil
}

func (s *store) TerminateSession(_ context.Context, person, client string) error {
	s.revoke(person, client)
	return nil
}

func (s *store) RevokeToken(_ context.Context, id, _, _ string) *oidc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, id)
	delete(s.refreshes, id)
	return nil
}

func (s *store) GetRefreshTokenInfo(_ context.Context, _, refreshToken string) (string, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.refreshes[refreshToken]
	if !ok {
		return "", "", op.ErrInvalidRefreshToken
	}
	return g.Person, refreshToken, nil
}

func (s *store) SigningKey(context.Context) (op.SigningKey, error) { return s.key, nil }
func (s *store) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}
func (s *store) KeySet(context.Context) ([]op.Key, error) { return []op.Key{publicKey{s.key}}, nil }

func (s *store) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	c, ok := s.clients[id]
	if !ok {
		return nil, fmt.Errorf("no client is called %q", id)
	}
	return c, nil
}

func (s *store) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	c, ok := s.clients[id]
	if !ok || subtle.ConstantTimeCompare([]byte(c.Secret), []byte(secret)) != 1 {
		return errors.New("no such client, or another secret")
	}
	return nil
}

func (s *store) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil
}

// SetUserinfoFromRequest says what an id_token says of a person.
func (s *store) SetUserinfoFromRequest(_ context.Context, info *oidc.UserInfo, r op.IDTokenRequest, scopes []string) error {
	info.Subject = r.GetSubject()
	if slices.Contains(scopes, oidc.ScopeProfile) {
		info.Name = people[info.Subject].name
	}
	return nil
}

func (s *store) SetUserinfoFromToken(_ context.Context, info *oidc.UserInfo, id, _, _ string) error {
	t, ok := s.token(id)
	if !ok || time.Now().After(t.Expires) {
		return errNotFound
	}
	info.Subject = t.Person
	return nil
}

func (s *store) SetIntrospectionFromToken(_ context.Context, res *oidc.IntrospectionResponse, id, _, _ string) error {
	t, ok := s.token(id)
	if !ok || time.Now().After(t.Expires) {
		return errNotFound
	}
	res.Active, res.Subject, res.ClientID, res.Scope = true, t.Person, t.Client, t.Scopes
	return nil
}

func (s *store) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return nil, nil
}

func (s *store) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return nil, errNotFound
}

func (s *store) ValidateJWTProfileScopes(context.Context, string, []string) ([]string, error) {
	return nil, nil
}

func (s *store) Health(context.Context) error { return nil }
