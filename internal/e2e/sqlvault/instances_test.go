package sqlvault

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// A service is a provider of tokens that are good for a second.
type service struct {
	*httptest.Server
	mu        sync.Mutex
	secrets   []string // codes and tokens
	refreshes map[string]bool
	refreshed int
	reused    int
}

func newService(t *testing.T) *service {
	s := &service{refreshes: map[string]bool{}}
	secret := func() string {
		v := "service-secret-" + rand.Text()
		s.secrets = append(s.secrets, v)
		return v
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+url.Values{"code": {secret()}, "state": {r.FormValue("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if old := r.PostFormValue("refresh_token"); old != "" {
			if !s.refreshes[old] {
				s.reused++
				http.Error(w, "", http.StatusBadRequest)
				return
			}
			delete(s.refreshes, old)
			s.refreshed++
		}
		refresh := secret()
		s.refreshes[refresh] = true
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": secret(), "token_type": "Bearer", "refresh_token": refresh, "expires_in": 1})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// A fleet is two instances behind one address: one has the calls, and the other the pages.
type fleet struct {
	t    *testing.T
	url  string
	logs *harness.Buffer
}

func newFleet(t *testing.T, d database, s *service, secrets ...[]byte) *fleet {
	t.Helper()
	mux := http.NewServeMux()
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	f := &fleet{t: t, url: front.URL, logs: &harness.Buffer{}}
	instance := func() (http.Handler, http.Handler) {
		key := page.SecretInput("apiKey", "Your key of weather.example.com", page.Remember(time.Hour))
		calendar := page.Connect("calendar", "Connect your calendar", oauth2.Config{ClientID: "shop", Endpoint: oauth2.Endpoint{AuthURL: s.URL + "/authorize", TokenURL: s.URL + "/token"}}, nil)
		shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), &elicit.Options{Secrets: secrets, Logger: slog.New(slog.NewJSONHandler(f.logs, nil))})
		elicit.AddTool(shop, &mcp.Tool{Name: "Tool"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			var k elicit.Answer[page.Hidden]
			var c elicit.Answer[oauth2.TokenSource]
			if err := elicit.RequireAll(ctx, key.Into(&k), calendar.Into(&c)); err != nil {
				return nil, nil, err
			}
			hidden, _ := k.Value()
			source, _ := c.Value()
			token, err := source.Token()
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text(fmt.Sprintf("a key of %d, a token of %d", len(hidden.Reveal()), len(token.AccessToken))), nil, nil
		}, elicit.Asks(key, calendar))
		pages := page.Enable(shop, page.Options{Base: front.URL + "/pages", Vault: d.vault(t, nil), Wait: 10 * time.Second, Identify: func(_ http.ResponseWriter, r *http.Request) (page.Person, bool) {
			c, err := r.Cookie("user")
			if err != nil {
				return page.Person{}, false
			}
			return page.Person{Issuer: "https://id.example.com", Subject: c.Value}, true
		}})
		return auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: token, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{"iss": "https://id.example.com"}}, nil
		}, nil)(shop.Handler(nil)), pages
	}
	calls, _ := instance()
	_, pages := instance()
	mux.Handle("/mcp", calls)
	mux.Handle("/pages/", pages)
	return f
}

type result struct {
	Result struct {
		Content       []struct{ Text string }
		InputRequests map[string]struct{ Params struct{ URL string } }
		RequestState  string
	}
}

// call sends a round of a call as user, who has agreed to all links.
func (f *fleet) call(user string, before *result) (*result, error) {
	params := map[string]any{"name": "Tool", "arguments": map[string]any{}, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}}}
	if before != nil {
		params["requestState"] = before.Result.RequestState
		params["inputResponses"] = map[string]any{"apiKey": map[string]any{"action": "accept"}, "calendar": map[string]any{"action": "accept"}}
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	req, _ := http.NewRequest(http.MethodPost, f.url+"/mcp", bytes.NewReader(body))
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "Tool", "Authorization": "Bearer " + user} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	r := &result{}
	return r, json.NewDecoder(res.Body).Decode(r)
}

func (r *result) text() string {
	if len(r.Result.Content) == 0 {
		return "asks"
	}
	return r.Result.Content[0].Text
}

var (
	action  = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	csrf    = regexp.MustCompile(`name="csrf" value="([^"]*)"`)
	refresh = regexp.MustCompile(`<meta http-equiv="refresh" content="0; url=([^"]*)"`)
)

// visit does what a link asks for, as user.
func (f *fleet) visit(user, link, key string) error {
	client := &http.Client{}
	send := func(method, at string, form url.Values) (string, error) {
		req, err := http.NewRequest(method, at, strings.NewReader(form.Encode()))
		if err != nil {
			return "", err
		}
		req.AddCookie(&http.Cookie{Name: "user", Value: user})
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Origin", f.url)
		}
		res, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return string(b), err
	}
	body, err := send(http.MethodGet, link, nil)
	if err != nil {
		return err
	}
	a, c := action.FindStringSubmatch(body), csrf.FindStringSubmatch(body)
	if a == nil || c == nil {
		return fmt.Errorf("no form at %s: %s", link, body)
	}
	if body, err = send(http.MethodPost, f.url+a[1], url.Values{"csrf": {c[1]}, "button": {"send"}, "value0": {key}}); err != nil {
		return err
	}
	if m := refresh.FindStringSubmatch(body); m != nil {
		// The cookie goes along: hosts of a test are one.
		if body, err = send(http.MethodGet, html.UnescapeString(m[1]), nil); err != nil {
			return err
		}
	}
	if !strings.Contains(body, "<h1>Done</h1>") {
		return fmt.Errorf("not done: %s", body)
	}
	return nil
}

// everything is all that the database holds, on disk where it is a file.
func (d database) everything(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	if d.file != "" {
		files, err := filepath.Glob(d.file + "*")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	rows, err := d.open(t).QueryContext(t.Context(), "SELECT key, secret, sealed FROM elicit_vault")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, secret string
		var sealed []byte
		if err := rows.Scan(&key, &secret, &sealed); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, key, secret, string(sealed))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// One instance has the calls and another the pages; what is entered there is in the database, and nothing of it can be read.
// Secrets are replaced without asking anybody again.
func TestSecurity23Instances(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		const key, want = "the key that nobody may see", "a key of 27, a token of 41"
		older, newer := bytes.Repeat([]byte("o"), 32), bytes.Repeat([]byte("n"), 32)
		s := newService(t)
		f := newFleet(t, d, s, older)
		r, err := f.call("ann", nil)
		if err != nil || len(r.Result.InputRequests) != 2 {
			t.Fatal(r, err)
		}
		visited := make(chan error, 2)
		for _, q := range r.Result.InputRequests { // while the call waits
			go func() { visited <- f.visit("ann", q.Params.URL, key) }()
		}
		done := r
		for range 3 { // one answer may come in a round before the other's
			if done, err = f.call("ann", done); err != nil || done.text() != "asks" {
				break
			}
		}
		if err != nil || done.text() != want {
			t.Fatalf("the call ends with %q, %v", done.text(), err)
		}
		for range 2 {
			if err := <-visited; err != nil {
				t.Fatal(err)
			}
		}
		again := func(f *fleet) {
			t.Helper()
			if r, err := f.call("ann", nil); err != nil || r.text() != want {
				t.Fatalf("a later call: %q, %v", r.text(), err)
			}
		}
		again(f)

		// To a newer secret: everything that is read is under it, and the old one can go.
		f = newFleet(t, d, s, newer, older)
		if !strings.Contains(f.logs.String(), "still sealed under an older secret") {
			t.Errorf("the log does not say that the older secret is needed:\n%s", f.logs)
		}
		again(f)
		f = newFleet(t, d, s, newer)
		again(f)

		all := d.everything(t)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.reused != 0 {
			t.Errorf("%d refresh tokens were used twice", s.reused)
		}
		for _, secret := range append(s.secrets, key, "ann", "id.example.com", "apiKey", string(older), string(newer)) {
			if strings.Contains(all, secret) {
				t.Errorf("the database has %q", secret)
			}
			if secret != "ann" && secret != "apiKey" && strings.Contains(f.logs.String(), secret) {
				t.Errorf("the log has %q", secret)
			}
		}
	})
}

// Many people at their pages at once.
func TestManyPeople(t *testing.T) {
	people := 20
	if os.Getenv("ELICIT_SOAK") != "" {
		people = 500
	}
	databases(t, func(t *testing.T, d database) {
		f := newFleet(t, d, newService(t), bytes.Repeat([]byte("s"), 32))
		var wg sync.WaitGroup
		for i := range people {
			wg.Go(func() {
				user := fmt.Sprintf("user%d", i)
				r, err := f.call(user, nil)
				if err != nil {
					t.Error(err)
					return
				}
				var visits sync.WaitGroup
				for _, q := range r.Result.InputRequests {
					visits.Go(func() {
						if err := f.visit(user, q.Params.URL, "key of "+user); err != nil {
							t.Error(err)
						}
					})
				}
				for range 4 {
					if r, err = f.call(user, r); err != nil || r.text() != "asks" {
						break
					}
				}
				visits.Wait()
				if want := fmt.Sprintf("a key of %d, a token of 41", len("key of "+user)); err != nil || r.text() != want {
					t.Errorf("%s: %q, %v; want %q", user, r.text(), err, want)
				}
			})
		}
		wg.Wait()
	})
}
