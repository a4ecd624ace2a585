package oidc

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// An issuer signs in whoever is at the browser as its sub, without asking.
type issuer struct {
	*httptest.Server
	key, otherKey crypto.Signer

	mu       sync.Mutex
	sub      string
	claims   map[string]any // in place of what an id_token says; a nil value leaves it out
	iss      string         // parameter of its answers; "" for none
	announce bool           // that there is one
	deny     string
	forge    string // "key": signs with another one; "none": does not sign
	noID     bool
	down     bool
	codes    map[string]url.Values
	asked    []url.Values // authorization requests
	tokens   int
	secrets  []string
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{sub: "ann", codes: map[string]url.Values{}}
	i.key, i.otherKey = newKey(t), newKey(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	keys := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: i.key.Public(), KeyID: "1", Algorithm: gooidc.RS256}}}
	mux.Handle("GET /keys", keys)
	i.Server = httptest.NewServer(mux)
	keys.SetIssuer(i.URL)
	t.Cleanup(i.Close)
	return i
}

func newKey(t *testing.T) crypto.Signer {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// set changes how the issuer behaves.
func (i *issuer) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

func (i *issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys", "end_session_endpoint": i.URL + "/end",
		"id_token_signing_alg_values_supported": []string{"RS256"}, "authorization_response_iss_parameter_supported": i.announce,
	})
}

func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := r.URL.Query()
	i.asked = append(i.asked, q)
	back := url.Values{"state": {q.Get("state")}}
	if i.iss != "" {
		back.Set("iss", i.iss)
	}
	if i.deny != "" {
		back.Set("error", i.deny)
	} else {
		code := "code-" + rand.Text()
		i.codes[code] = q
		i.secrets = append(i.secrets, code)
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.tokens++
	q, ok := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	verifier := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	w.Header().Set("Content-Type", "application/json")
	if !ok || id != "pages" || secret != "client-secret-of-the-pages" || r.PostFormValue("redirect_uri") != q.Get("redirect_uri") || q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(verifier[:]) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant","error_description":"client-secret-of-the-pages"}`)
		return
	}
	claims := map[string]any{"iss": i.URL, "aud": "pages", "sub": i.sub, "nonce": q.Get("nonce"), "name": "Ann of " + i.sub,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix()}
	maps.Copy(claims, i.claims)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	b, _ := json.Marshal(claims)
	key := i.key
	if i.forge == "key" {
		key = i.otherKey
	}
	token := oidctest.SignIDToken(key, "1", gooidc.RS256, string(b))
	if i.forge == "none" {
		token = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(b) + "."
	}
	access := "access-" + rand.Text()
	i.secrets = append(i.secrets, token, access, r.PostFormValue("code_verifier"), q.Get("nonce"))
	res := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 60, "id_token": token}
	if i.noID {
		delete(res, "id_token")
	}
	_ = json.NewEncoder(w).Encode(res)
}

// last is the last authorization request.
func (i *issuer) last() url.Values {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[len(i.asked)-1]
}

func (i *issuer) exchanges() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.tokens
}
