package soak

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/page/sqlvault"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite"
)

var apiKey = page.SecretInput("apiKey", "Your key of weather.example.com")

// An instance is a server with pages, whose users are known by token and by cookie.
type instance struct {
	*httptest.Server
	waiting atomic.Int64 // requests to the endpoint that are being answered
}

// instances are n servers that share secrets and a vault, and the address of the pages.
func instances(t *testing.T, n int, vault func() page.Vault) []*instance {
	t.Helper()
	var all []*instance
	for range n {
		in := &instance{}
		mux := http.NewServeMux()
		in.Server = httptest.NewServer(mux)
		t.Cleanup(in.Close)
		all = append(all, in)
		s := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil), &elicit.Options{Logger: quiet, Secrets: [][]byte{secret("pages")}})
		pages := page.Enable(s, page.Options{Base: all[0].URL + "/pages", Vault: vault(), Wait: time.Minute, Identify: func(w http.ResponseWriter, r *http.Request) (page.Person, bool) {
			c, err := r.Cookie("user")
			if err != nil {
				http.Error(w, "Who are you?", http.StatusUnauthorized)
				return page.Person{}, false
			}
			return page.Person{Subject: c.Value}, true
		}})
		elicit.AddTool(s, &mcp.Tool{Name: "Forecast"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			k, err := apiKey.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text("With " + k.Reveal()), nil, nil // no tool should
		}, elicit.Asks(apiKey))
		handler := auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: token, Expiration: time.Now().Add(time.Hour)}, nil
		}, nil)(s.Handler(nil))
		mux.Handle("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			in.waiting.Add(1)
			defer in.waiting.Add(-1)
			handler.ServeHTTP(w, r)
		}))
		mux.Handle("/pages/", pages)
	}
	return all
}

// call sends a round of the user's call.
func (in *instance) call(ctx context.Context, client *http.Client, user, rest string) (*reply, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Forecast",` + rest + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}}}}`
	r, err := http.NewRequestWithContext(ctx, "POST", in.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + user,
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "Forecast"} {
		r.Header.Set(k, v)
	}
	var x reply
	b, status, err := send(client, r)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &x); err != nil || x.Error != nil {
		return nil, fmt.Errorf("%d %s", status, b)
	}
	return &x, nil
}

func send(client *http.Client, r *http.Request) ([]byte, int, error) {
	res, err := client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return b, res.StatusCode, err
}

var csrf = regexp.MustCompile(`name="csrf" value="([^"]*)"`)

// Many people at as many pages at once, on one instance, and over two that share a database: of each, one serves the call
// and waits, and the other the page.
func TestPeopleAtPages(t *testing.T) {
	people := times(50, 500)
	t.Run("one instance", func(t *testing.T) {
		atPages(t, people, instances(t, 1, func() page.Vault { return page.NewMemoryVault() }))
	})
	t.Run("two instances", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "vault.db")
		atPages(t, people, instances(t, 2, func() page.Vault {
			db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_txlock=immediate")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			v, err := sqlvault.New(t.Context(), db, sqlvault.SQLite, nil)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}))
	})
}

func atPages(t *testing.T, people int, all []*instance) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * people}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
	}
	begin, before := time.Now(), heap()
	var opened, ended sync.WaitGroup
	send1 := make(chan struct{}) // closed when all may send
	var slowest, failed atomic.Int64
	for i := range people {
		opened.Add(1)
		ended.Go(func() {
			there := sync.OnceFunc(opened.Done)
			defer there()
			user, key := fmt.Sprint("user", i), fmt.Sprint("key-of-", i)
			mine, other := all[i%len(all)], all[(i+1)%len(all)]
			after, err := func() (time.Duration, error) {
				x, err := mine.call(t.Context(), client, user, "")
				if err != nil {
					return 0, err
				}
				var asked struct{ Params struct{ URL string } }
				if err := json.Unmarshal(x.Result.InputRequests["apiKey"], &asked); err != nil {
					return 0, err
				}
				u, err := url.Parse(asked.Params.URL)
				if err != nil {
					return 0, err
				}
				state, _ := json.Marshal(x.Result.RequestState)
				text := make(chan string, 1)
				go func() {
					x, err := mine.call(t.Context(), client, user, `"inputResponses":{"apiKey":{"action":"accept"}},"requestState":`+string(state)+`,`)
					switch {
					case err != nil:
						text <- err.Error()
					case len(x.Result.Content) != 1:
						text <- "asked again"
					default:
						text <- x.Result.Content[0].Text
					}
				}()
				get, _ := http.NewRequest("GET", other.URL+u.Path, nil)
				get.AddCookie(&http.Cookie{Name: "user", Value: user})
				b, status, err := send(client, get)
				m := csrf.FindSubmatch(b)
				if err != nil || m == nil {
					return 0, fmt.Errorf("the page: %d %v %s", status, err, b)
				}
				there()
				<-send1
				post, _ := http.NewRequest("POST", other.URL+u.Path, strings.NewReader(url.Values{"csrf": {string(m[1])}, "button": {"send"}, "value0": {key}}.Encode()))
				post.AddCookie(&http.Cookie{Name: "user", Value: user})
				post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				post.Header.Set("Origin", all[0].URL)
				sent := time.Now()
				if b, status, err := send(client, post); err != nil || status != http.StatusSeeOther {
					return 0, fmt.Errorf("sending: %d %v %s", status, err, b)
				}
				if got := <-text; got != "With "+key {
					return 0, errors.New(got)
				}
				return time.Since(sent), nil
			}()
			if err != nil {
				failed.Add(1)
				t.Errorf("person %d: %v", i, err)
			}
			for old := slowest.Load(); int64(after) > old && !slowest.CompareAndSwap(old, int64(after)); old = slowest.Load() {
			}
		})
	}
	opened.Wait()
	waits := func() (n int64) {
		for _, in := range all {
			n += in.waiting.Load()
		}
		return n
	}
	for waits() < int64(people) && failed.Load() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	peak := heap() - before
	close(send1)
	ended.Wait()
	t.Logf("%d people at %d pages, %d instance(s): all done in %.1f s, the slowest %.2f s after it was sent; while all wait, %.1f MiB more memory, clients included (%.0f KiB a person)",
		people, people, len(all), time.Since(begin).Seconds(), time.Duration(slowest.Load()).Seconds(), peak, peak*1024/float64(people))
	if peak > 10+0.5*float64(people) {
		t.Errorf("%.1f MiB for %d people", peak, people)
	}
}
