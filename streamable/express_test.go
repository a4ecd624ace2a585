package streamable_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
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

// seen is what middleware and a tool were given of a request.
type seen struct {
	Params  json.RawMessage
	Version string
	Client  *mcp.Implementation
	Caps    *mcp.ClientCapabilities
	Header  http.Header
	ID      string
}

// recorder is a server whose middleware, added before and after elicit.New, writes down what it sees.
func recorder(t *testing.T, o *streamable.Options) (url string, last func() []seen) {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "rec", Version: "1"}, nil)
	var mu sync.Mutex
	var all []seen
	watch := func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if r, ok := req.(*mcp.CallToolRequest); ok {
				p := *r.Params
				p.RequestState = strings.Repeat("s", len(p.RequestState)) // new each time
				b, _ := json.Marshal(&p)
				h := r.Extra.Header.Clone()
				h.Del("Content-Length")
				mu.Lock()
				all = append(all, seen{b, r.ProtocolVersion(), r.ClientInfo(), r.ClientCapabilities(), h, r.Session.ID()})
				mu.Unlock()
			}
			return next(ctx, method, req)
		}
	}
	server.AddReceivingMiddleware(watch)
	shop := elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler), Secrets: [][]byte{bytes.Repeat([]byte{1}, 32)}})
	server.AddReceivingMiddleware(watch)
	type in struct {
		N int      `json:"n,omitempty"`
		S []string `json:"s,omitempty"`
	}
	elicit.AddTool(shop, &mcp.Tool{Name: "ship"}, func(ctx context.Context, r *mcp.CallToolRequest, x in) (*mcp.CallToolResult, any, error) {
		v, err := ship.Value(ctx)
		return elicit.Text(fmt.Sprint(v.Name, x, r.Params.Meta["x"], r.Params.GetProgressToken())), nil, err
	}, elicit.Asks(ship))
	mcp.AddTool(server, &mcp.Tool{Name: "typed"}, func(ctx context.Context, r *mcp.CallToolRequest, x in) (*mcp.CallToolResult, in, error) {
		if x.N == 7 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Progress: 1, Message: "a\nb"})
		}
		return nil, x, nil
	})
	server.AddTool(&mcp.Tool{Name: "odd", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"k": "<&>"}, Content: []mcp.Content{&mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"}, &mcp.TextContent{Text: "\u2028\r\n<b>"}}, StructuredContent: map[string]any{"a": 1}}, nil
	})
	h := httptest.NewServer(streamable.NewHandler(server, o))
	t.Cleanup(h.Close)
	return h.URL, func() []seen {
		mu.Lock()
		defer mu.Unlock()
		x := all
		all = nil
		return x
	}
}

// generated makes requests, valid, odd and broken.
func generated(r *rand.Rand) (body string, header map[string]string) {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	rarely := func(normal string, odd ...string) string {
		if r.IntN(6) > 0 {
			return normal
		}
		return pick(odd...)
	}
	name := rarely(pick("ship", "typed", "odd"), "nope", "", "größe")
	args := rarely(pick(`{}`, `{"n":3}`, `{"n":7}`, `{"s":["a","b"]}`), `null`, `[]`, `{"n":"x"}`, `{"n":1.0}`, `{"zzz":1}`, `{"n":1,"n":2}`, `{"n":1e400}`, `5`)
	responses := rarely("", `{"ship":{"action":"accept","content":{"name":"Ann"}}}`, `{"ship":{"action":"accept","content":{"name":7}}}`, `{"ship":{}}`,
		`{"ship":5,"junk":[]}`, `{"ship":{"action":"DECLINE"}}`, `{"ship":{"action":"accept","content":{"name":"a","name":"b"}}}`, `null`, `[]`, `{"ship":{"roots":[]}}`,
		`{"ship":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}`, `{"ship":{"action":"accept","content":{"name":"Ann"},"_meta":{"a":1e2}}}`, `{"ship":{"action":"accept","content":[]}}`)
	caps := rarely(`{"elicitation":{"form":{}}}`, `{}`, `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`, `{"elicitation":5}`, `[]`, `{"roots":{"listChanged":true},"sampling":{},"extensions":{"a/b":{"x":[1]}}}`)
	version := rarely("2026-07-28", "2025-11-25", "2099-01-01", "")
	meta := fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s`, version, caps)
	meta += rarely("", `,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}`, `,"io.modelcontextprotocol/clientInfo":7`, `,"progressToken":"p"`, `,"progressToken":9`, `,"x":{"y":[1,null,true]}`, `,"X":1,"x":2`)
	params := fmt.Sprintf(`"name":%q,"arguments":%s,"_meta":{%s}`, name, args, meta)
	if responses != "" {
		params += `,"inputResponses":` + responses
	}
	params += rarely("", `,"requestState":""`, `,"requestState":"forged"`, `,"requestState":5`, `,"requestState":null`, `,"unknown":{"a":1}`, `,"name":"ship"`)
	body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{%s}}`, rarely("1", `"a"`, "9007199254740993", "null", "1.5", `""`), params)
	body = rarely(body, body+" ", body+"x", "["+body+"]", strings.Replace(body, "2.0", "1.0", 1), body[:len(body)/2], strings.Replace(body, `"id"`, `"ID"`, 1))
	header = map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": rarely(version, "2026-07-28"),
		"Mcp-Method": rarely("tools/call", "tools/list", ""), "Mcp-Name": rarely(name, "other")}
	if name == "größe" {
		header["Mcp-Name"] = "=?base64?Z3LDtsOfZQ==?="
	}
	return body, header
}

func send2(t *testing.T, url, body string, header map[string]string) (int, string, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Content-Type"), string(b)
}

// sameResponse compares what two paths answered. States are new each time.
func sameResponse(a, b string) bool {
	norm := func(s string) string {
		var out []string
		for line := range strings.SplitSeq(s, "\n") {
			data := strings.TrimPrefix(line, "data: ")
			var v any
			if json.Unmarshal([]byte(data), &v) == nil {
				if m, ok := v.(map[string]any); ok {
					if r, ok := m["result"].(map[string]any); ok && r["requestState"] != nil {
						r["requestState"] = "…"
					}
				}
				x, _ := json.Marshal(v)
				line = string(x)
			}
			out = append(out, line)
		}
		return strings.Join(out, "\n")
	}
	return norm(a) == norm(b)
}

// The express path gives every request what the SDK's handler gives it after the same checks, and middleware and tools
// see the same.
func TestExpressIsTheSDKsHandler(t *testing.T) {
	fast, fastSeen := recorder(t, &streamable.Options{})
	slow, slowSeen := recorder(t, streamable.Options{}.WithoutExpress())
	for _, url := range []string{fast, slow} { // so that the handler knows the tools
		for range 2 {
			send2(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
				map[string]string{"Content-Type": "application/json", "Accept": "*/*", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "odd"})
		}
	}
	fastSeen()
	slowSeen()
	r := rand.New(rand.NewPCG(1, 2))
	results := map[int]int{}
	for i := range 3000 {
		body, header := generated(r)
		fs, fc, fb := send2(t, fast, body, header)
		ss, sc, sb := send2(t, slow, body, header)
		results[fs]++
		if explained(body, sb) {
			fastSeen()
			slowSeen()
			continue
		}
		if fs != ss || fc != sc || !sameResponse(fb, sb) {
			t.Fatalf("request %d: %s\n%v\nexpress: %d %s %s\nSDK:     %d %s %s", i, body, header, fs, fc, fb, ss, sc, sb)
		}
		a, b := fmt.Sprintf("%+v", asJSON(t, fastSeen())), fmt.Sprintf("%+v", asJSON(t, slowSeen()))
		if a != b {
			t.Fatalf("request %d: %s\nexpress: %s\nSDK:     %s", i, body, a, b)
		}
	}
	if results[200] < 500 || results[400] < 500 {
		t.Errorf("the requests were not of all kinds: %v", results)
	}
}

// explained reports whether the SDK's handler is known to answer a request otherwise:
//
//   - a number in the arguments that float64 does not hold makes it refuse the whole call, with words about the name; the
//     express path leaves the arguments to the tool.
func explained(body, sdk string) bool {
	return strings.Contains(body, "1e400") && strings.Contains(sdk, "failed to extract name")
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// crowded is a server that says who called.
func crowded(t *testing.T, o *mcp.ServerOptions, more func(*mcp.Server)) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "crowd", Version: "1"}, o)
	shop := elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	elicit.AddTool(shop, &mcp.Tool{Name: "who"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct {
		Me string `json:"me"`
	}) (*mcp.CallToolResult, any, error) {
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
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	t.Cleanup(s.Close)
	return s.URL
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

// SECURITY 8: a thousand users of one client at once, and anonymous ones between them.
func TestSecurity08NothingCrosses(t *testing.T) {
	url := crowded(t, &mcp.ServerOptions{KeepAlive: time.Minute, Logger: slog.New(slog.DiscardHandler)}, nil)
	var wg sync.WaitGroup
	limit := make(chan struct{}, 100)
	for i := range 1000 {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			me, user := fmt.Sprint("me", i), fmt.Sprint("user", i)
			if i%3 == 0 {
				user = ""
			}
			body := call2(t, url, "who", fmt.Sprintf(`{"me":%q}`, me), fmt.Sprintf(`,"progressToken":"token%d"`, i), map[string]string{"X-Me": me, "X-User": user})
			want := fmt.Sprintf(`"text":"%s %s %s true"`, me, user, me)
			if !strings.Contains(body, want) || strings.Count(body, fmt.Sprintf(`"progressToken":"token%d"`, i)) != 3 || strings.Count(body, "progressToken") != 3 || strings.Count(body, `"message":"`+me+`"`) != 3 {
				t.Errorf("%s got %s", me, body)
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
