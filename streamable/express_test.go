package streamable_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// crowded is a server that says who called.
func crowded(t *testing.T, o *mcp.ServerOptions, more func(*mcp.Server)) string {
	t.Helper()
	s := httptest.NewServer(crowd(o, more))
	t.Cleanup(s.Close)
	return s.URL
}

// together waits until as many calls as n says wait.
func together(ctx context.Context, n string) error {
	want, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	crowdMu.Lock()
	if crowdHere++; crowdHere == want {
		close(crowdIn)
	}
	crowdMu.Unlock()
	select {
	case <-crowdIn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var (
	crowdMu   sync.Mutex
	crowdHere int
	crowdIn   = make(chan struct{})
)

func crowd(o *mcp.ServerOptions, more func(*mcp.Server)) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "crowd", Version: "1"}, o)
	shop := elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	elicit.AddTool(shop, &mcp.Tool{Name: "who"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct {
		Me string `json:"me"`
	}) (*mcp.CallToolResult, any, error) {
		if all, ok := r.Extra.Header["X-Together"]; ok { // when so many have come
			if err := together(ctx, all[0]); err != nil {
				return nil, nil, err
			}
		}
		logText(ctx, r, "log of "+in.Me)
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Message: in.Me})
			runtime.Gosched()
		}
		user := ""
		if r.Extra.TokenInfo != nil {
			user = r.Extra.TokenInfo.UserID
		}
		return elicit.Text(fmt.Sprintf("%s %s %s %v", in.Me, user, r.Extra.Header.Get("X-Me"), r.Session.ID() == "")), nil, nil
	})
	server.AddTool(&mcp.Tool{Name: "sessions", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return elicit.Text(fmt.Sprintf("%p", r.Session)), nil // the same for two calls that share one
	})
	if more != nil {
		more(server)
	}
	h := shop.Handler(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := r.Header.Get("X-User")
		if user == "" {
			h.ServeHTTP(w, r)
			return
		}
		verify := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: user}, nil
		}
		r.Header.Set("Authorization", "Bearer x")
		auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h).ServeHTTP(w, r)
	})
}

func call2(t *testing.T, url, tool, args, meta string, header map[string]string) string {
	t.Helper()
	all := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
	for k, v := range header {
		all[k] = v
	}
	_, _, body := send2(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}%s}}}`, tool, args, meta), all)
	return body
}

// known waits until calls of a crowded server take the express path, where a handler's session outlives the call.
func known(t *testing.T, url string) {
	t.Helper()
	for end := time.Now().Add(timeout); ; {
		n := call2(t, url, "sessions", `{}`, "", nil)
		if n == call2(t, url, "sessions", `{}`, "", nil) && !strings.Contains(n, `"0"`) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("no express path")
		}
	}
}

// SECURITY 8: a thousand users of one client inside the tool at once, anonymous ones between them, each third with logs, which
// takes the SDK's path.
func TestSecurity08NothingCrosses(t *testing.T) {
	const users = 1000
	h := crowd(&mcp.ServerOptions{KeepAlive: time.Minute, Logger: slog.New(slog.DiscardHandler)}, nil)
	serveHere(h, tool("who", `"arguments":{"me":"first"}`)) // so that the handler knows the tools
	var wg sync.WaitGroup
	for i := range users {
		wg.Go(func() {
			me, user, logs := fmt.Sprint("me", i, "."), fmt.Sprint("user", i), 0
			if i%2 == 0 {
				user = ""
			}
			m := tool("who", fmt.Sprintf(`"arguments":{"me":%q}`, me)).with("X-Me", me).with("X-User", user).with("X-Together", fmt.Sprint(users))
			m.meta += fmt.Sprintf(`,"progressToken":"token%d","io.modelcontextprotocol/clientInfo":{"name":"one client","version":"1"}`, i)
			if i%3 == 0 {
				m.meta += `,"io.modelcontextprotocol/logLevel":"info"`
				logs = 1
			}
			body := serveHere(h, m).body
			for text, n := range map[string]int{
				fmt.Sprintf(`"text":"%s %s %s true"`, me, user, me): 1, // its arguments, its token, its headers
				`"text":`: 1,
				fmt.Sprintf(`"progressToken":"token%d"`, i): 3, "progressToken": 3,
				`"message":"` + me + `"`: 3, `"message":"`: 3,
				`"log of ` + me + `"`: logs, `"log of `: logs,
			} {
				if strings.Count(body, text) != n {
					t.Errorf("%s got %s not %d times: %s", me, text, n, body)
				}
			}
		})
	}
	wg.Wait()
}

// A handler that does what it should not with its session leaves the next caller unharmed.
func TestExpressSurvivesItsHandlers(t *testing.T) {
	var kept atomic.Pointer[func()]
	keepAlive := &mcp.ServerOptions{KeepAlive: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)}
	url := crowded(t, keepAlive, func(server *mcp.Server) {
		add := func(name string, f func(context.Context, *mcp.CallToolRequest) error) {
			server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if err := f(ctx, r); err != nil {
					return elicit.Text("error: " + err.Error()), nil
				}
				return elicit.Text("ok"), nil
			})
		}
		add("close", func(_ context.Context, r *mcp.CallToolRequest) error { return r.Session.Close() })
		add("ping", func(ctx context.Context, r *mcp.CallToolRequest) error { return r.Session.Ping(ctx, nil) })
		add("ask", func(ctx context.Context, r *mcp.CallToolRequest) error {
			_, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "?"})
			return err
		})
		add("late", func(ctx context.Context, r *mcp.CallToolRequest) error {
			f := func() {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "late", Message: "too late"})
				_ = r.Session.NotifyProgress(context.Background(), &mcp.ProgressNotificationParams{ProgressToken: "nobody", Message: "nobody's"})
			}
			kept.Store(&f)
			return nil
		})
	})
	known(t, url)
	for range 3 {
		if got := call2(t, url, "close", `{}`, "", nil); !strings.Contains(got, `"text":"ok"`) {
			t.Error(got)
		}
		if got := call2(t, url, "ping", `{}`, "", nil); !strings.Contains(got, "error: ") {
			t.Error(got)
		}
		if got := call2(t, url, "ask", `{}`, "", nil); !strings.Contains(got, "error: ") {
			t.Error(got)
		}
		time.Sleep(100 * time.Millisecond) // pings
		call2(t, url, "late", `{}`, "", nil)
		(*kept.Load())()
		if got := call2(t, url, "who", `{"me":"next"}`, `,"progressToken":"t"`, nil); !strings.Contains(got, `"text":"next   true"`) || strings.Contains(got, "late") || strings.Contains(got, "nobody") || strings.Count(got, "progressToken") != 3 {
			t.Errorf("the next caller got %s", got)
		}
	}
}

// Tools that change are seen: one that begins to repeat an argument in a header, one that goes.
func TestExpressFollowsTheTools(t *testing.T) {
	for _, told := range []bool{true, false} {
		o := &mcp.ServerOptions{}
		if !told {
			o.Capabilities = &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
		}
		server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, o)
		h := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return elicit.Text("ok"), nil
		}
		server.AddTool(&mcp.Tool{Name: "T", InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
		s := httptest.NewServer(streamable.NewHandler(server, nil))
		defer s.Close()
		until := func(want string) {
			t.Helper()
			for end := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
				got := call2(t, s.URL, "T", `{"a":"x"}`, "", nil)
				if strings.Contains(got, want) {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("told=%t: still %s, want %s", told, got, want)
				}
			}
		}
		until(`"ok"`)
		until(`"ok"`)
		server.AddTool(&mcp.Tool{Name: "T", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`)}, h)
		until(`-32020`)
		server.RemoveTools("T")
		until(`unknown tool`)
	}
}

// Clients that come and go leave a bounded number of sessions behind.
func TestExpressSessionsAreBounded(t *testing.T) {
	var server *mcp.Server
	url := crowded(t, nil, func(s *mcp.Server) { server = s })
	for i := range 50 {
		call2(t, url, "who", `{"me":"x"}`, fmt.Sprintf(`,"io.modelcontextprotocol/clientInfo":{"name":"c%d","version":"%s"}`, i, strings.Repeat("v", i*100)), nil)
	}
	n := 0
	for range server.Sessions() {
		n++
	}
	if n < 30 || n > 52 { // those that say more than 4 KiB of themselves are not kept
		t.Errorf("%d sessions", n)
	}
}
