package elicit_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// quiet are options that log to nobody.
func quiet(o elicit.Options) *elicit.Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &o
}

func newServer() *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
}

// logs collects what is logged.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// host serves a shop over a real socket. The bearer token, if any, is the user: "issuer|user|client".
func host(t testing.TB, shop *elicit.Server) string {
	t.Helper()
	h := shop.Handler(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			parts := strings.Split(token, "|")
			info := &auth.TokenInfo{UserID: parts[1], Extra: map[string]any{"iss": parts[0], "client_id": parts[2]}}
			r = withToken(r, info)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// withToken does what auth.RequireBearerToken does with a token that it has verified.
func withToken(r *http.Request, info *auth.TokenInfo) *http.Request {
	var out *http.Request
	verify := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) { return info, nil }
	auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { out = r })).ServeHTTP(httptest.NewRecorder(), r)
	return out
}

// request is one modern request.
type request struct {
	url, method, name string // method is tools/call by default
	args              any
	responses         any
	state             string
	caps              string // default: forms
	token             string
}

// reply is what came back.
type reply struct {
	status int
	Result struct {
		ResultType    string                     `json:"resultType"`
		InputRequests map[string]json.RawMessage `json:"inputRequests"`
		RequestState  string                     `json:"requestState"`
		IsError       bool                       `json:"isError"`
		Content       []struct {
			Text string `json:"text"`
		} `json:"content"`
		TTL        *int   `json:"ttlMs"`
		CacheScope string `json:"cacheScope"`
	} `json:"result"`
	Error *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	body string
}

func (r reply) asks() bool { return r.Result.ResultType == "input_required" }

func (r reply) text() string {
	if len(r.Result.Content) == 0 {
		return ""
	}
	return r.Result.Content[0].Text
}

// message is the message of the question of a key.
func (r reply) message(key string) string {
	var q struct {
		Params struct {
			Message string `json:"message"`
		} `json:"params"`
	}
	_ = json.Unmarshal(r.Result.InputRequests[key], &q)
	return q.Params.Message
}

func (q request) send(t testing.TB) reply {
	t.Helper()
	if q.method == "" {
		q.method = "tools/call"
	}
	if q.caps == "" {
		q.caps = `{"elicitation":{"form":{}}}`
	}
	params := map[string]any{"_meta": map[string]any{
		mcp.MetaKeyProtocolVersion: "2026-07-28", mcp.MetaKeyClientCapabilities: json.RawMessage(q.caps)}}
	name := "name"
	if q.method == "resources/read" {
		name = "uri"
	}
	params[name] = q.name
	if q.args != nil {
		params["arguments"] = q.args
	}
	if q.responses != nil {
		params["inputResponses"] = q.responses
	}
	if q.state != "" {
		params["requestState"] = q.state
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": q.method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", q.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": q.method, "Mcp-Name": q.name} {
		r.Header.Set(k, v)
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
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
	rep := reply{status: res.StatusCode, body: string(b)}
	if err := json.Unmarshal(b, &rep); err != nil {
		t.Fatalf("%d %q: %v", res.StatusCode, b, err)
	}
	return rep
}

// again is q with answers, and the state of the reply that asked.
func (q request) again(r reply, responses any) request {
	q.responses, q.state = responses, r.Result.RequestState
	return q
}

type m = map[string]any

func accepts(key string, content any) m { return m{key: m{"action": "accept", "content": content}} }

// refused asserts the one answer that every refused state gets.
func (r reply) refused(t testing.TB) {
	t.Helper()
	if r.status != 400 || r.Error == nil || r.Error.Code != -32602 || r.Error.Message != "Invalid or expired requestState" || r.Error.Data != nil {
		t.Errorf("got %d %s, want the frozen refusal of a state", r.status, r.body)
	}
}

func textHandler(f func(context.Context) (string, error)) mcp.ToolHandlerFor[m, any] {
	return func(ctx context.Context, _ *mcp.CallToolRequest, _ m) (*mcp.CallToolResult, any, error) {
		s, err := f(ctx)
		if err != nil {
			return nil, nil, err
		}
		return elicit.Text(s), nil, nil
	}
}

func addText(shop *elicit.Server, name string, f func(context.Context) (string, error), opts ...elicit.ToolOption) {
	elicit.AddTool(shop, &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, textHandler(f), opts...)
}

// bearer is a client that sends a token.
func bearer(token string) *http.Client {
	return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// legacyPing sends a ping of an older session.
func legacyPing(t testing.TB, url, session, token string) (string, int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session} {
		r.Header.Set(k, v)
	}
	res, err := bearer(token).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return string(b), res.StatusCode
}

// decoded is a token's bytes.
func decoded(token string) string {
	b, _ := base64.RawURLEncoding.DecodeString(token)
	return string(b)
}
