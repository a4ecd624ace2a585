package page_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// A provider is somebody else's service, with OAuth. It rotates refresh tokens, and ends what was granted when one comes back.
type provider struct {
	*httptest.Server
	mu sync.Mutex

	// How it behaves.
	person    string        // who is signed in there
	iss       string        // parameter of its answers; "" for none
	scope     string        // what it grants; "" for what is asked
	life      time.Duration // of access tokens; 0 for an hour
	noRefresh bool
	deny      string // error that it answers with
	broken    int    // HTTP status of the token endpoint
	hold      chan struct{}
	revoking  int  // HTTP status of the revocation endpoint; 0 for what RFC 7009 says
	loud      bool // it calls a token that it does not know an error

	codes     map[string]code
	access    map[string]string // person by token
	refreshes map[string]code
	families  map[string]bool // that were ended
	spent     map[string]string
	secrets   []string // every code, token and verifier that there was
	issued    []string // the tokens among them
	tokens    int      // requests to the token endpoint
	refreshed int
	reused    int
	held      int // requests that the token endpoint has begun on
}

type code struct{ person, challenge, redirect, scope, family string }

func newProvider(t *testing.T) *provider {
	p := &provider{person: "ada", codes: map[string]code{}, access: map[string]string{}, refreshes: map[string]code{}, families: map[string]bool{}, spent: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /events", p.events)
	mux.HandleFunc("POST /revoke", p.revocation)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) config(scopes ...string) oauth2.Config {
	return oauth2.Config{ClientID: "shop", ClientSecret: "client-secret-of-the-shop", Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: p.URL + "/authorize", TokenURL: p.URL + "/token", AuthStyle: oauth2.AuthStyleInHeader}}
}

// set changes how the provider behaves.
func (p *provider) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *provider) counts() (tokens, refreshed, reused int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens, p.refreshed, p.reused
}

func (p *provider) newSecret() string {
	s := "provider-secret-" + rand.Text()
	p.secrets = append(p.secrets, s)
	return s
}

func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	if q.Get("client_id") != "shop" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("state")) < 43 {
		http.Error(w, "bad authorization request: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if p.iss != "" {
		back.Set("iss", p.iss)
	}
	if p.deny != "" {
		back.Set("error", p.deny)
	} else {
		c := p.newSecret()
		p.codes[c] = code{p.person, q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("scope"), rand.Text()}
		back.Set("code", c)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	hold := p.hold
	p.held++
	p.mu.Unlock()
	if hold != nil {
		<-hold
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens++
	refuse := func(status int, err string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":%q,"error_description":"about %s"}`, err, strings.Join(p.secrets, " "))
	}
	if p.broken != 0 {
		w.WriteHeader(p.broken)
		fmt.Fprint(w, "broken, with ", strings.Join(p.secrets, " "))
		return
	}
	if !isShop(r) {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	var c code
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		given := r.PostFormValue("code")
		c = p.codes[given]
		delete(p.codes, given)
		verifier := r.PostFormValue("code_verifier")
		p.secrets = append(p.secrets, verifier)
		sum := sha256.Sum256([]byte(verifier))
		if c.person == "" || c.redirect != r.PostFormValue("redirect_uri") || base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge {
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
	case "refresh_token":
		given := r.PostFormValue("refresh_token")
		if family, spent := p.spent[given]; spent {
			p.families[family] = true
			p.reused++
		}
		c = p.refreshes[given]
		delete(p.refreshes, given)
		if c.person == "" || p.families[c.family] {
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
		p.spent[given] = c.family
		p.refreshed++
	}
	life := p.life
	if life == 0 {
		life = time.Hour
	}
	access := p.newSecret()
	p.issued = append(p.issued, access)
	p.access[access] = c.person
	res := map[string]any{"access_token": access, "token_type": "bearer", "expires_in": int(life.Seconds()), "instance_url": "https://eu.calendar.example.com", "id_token": "of nobody's business"}
	if !p.noRefresh {
		refresh := p.newSecret()
		p.issued = append(p.issued, refresh)
		p.refreshes[refresh] = c
		res["refresh_token"] = refresh
	}
	if p.scope != "" {
		res["scope"] = p.scope
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(res)
}

func isShop(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	return id == "shop" && secret == "client-secret-of-the-shop"
}

// revocation ends one token, and nothing that came with it (RFC 7009, section 2).
func (p *provider) revocation(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := r.PostFormValue("token")
	refuse := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":%q,"error_description":"about %s"}`, code, token)
	}
	_, isAccess := p.access[token]
	_, isRefresh := p.refreshes[token]
	switch {
	case !isShop(r) || r.URL.RawQuery != "":
		refuse(http.StatusUnauthorized, "invalid_client")
	case p.revoking == http.StatusFound:
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	case p.revoking == http.StatusBadRequest && isAccess:
		refuse(p.revoking, "unsupported_token_type")
	case p.revoking >= 500:
		refuse(p.revoking, "server_error")
	case p.loud && !isAccess && !isRefresh:
		refuse(http.StatusBadRequest, "invalid_token")
	default:
		delete(p.access, token)
		delete(p.refreshes, token)
		w.WriteHeader(http.StatusOK)
	}
}

// begun is how many requests to the token endpoint have begun, and are perhaps held there.
func (p *provider) begun() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// alive is how many tokens are good for something.
func (p *provider) alive() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.access) + len(p.refreshes)
}

func (p *provider) events(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	person, ok := p.access[token]
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	fmt.Fprint(w, "the calendar of "+person)
}

// revoke ends everything that was granted.
func (p *provider) revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.access)
	clear(p.refreshes)
}

// leakedToken is the first token of the provider that is in text, or "".
func (p *provider) leakedToken(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return firstIn(text, p.issued)
}

// leaked is the first secret of the provider that is in text, or "".
func (p *provider) leaked(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return firstIn(text, p.secrets)
}

func firstIn(text string, secrets []string) string {
	if i := slices.IndexFunc(secrets, func(s string) bool { return s != "" && strings.Contains(text, s) }); i >= 0 {
		return secrets[i]
	}
	return ""
}
