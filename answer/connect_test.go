package answer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestConnectOptions(t *testing.T) {
	s := newWireServer(t, done)
	cs := connect(t, s.URL, &answer.Options{Token: "abc", Header: http.Header{"x-tenant": {"one", "two"}}})
	if _, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "T"}, nil); err != nil {
		t.Fatal(err)
	}
	h := s.seen(t, 1)[0].header
	if h.Get("Authorization") != "Bearer abc" || fmt.Sprint(h["X-Tenant"]) != "[one two]" {
		t.Errorf("%v", h)
	}
	for name, tt := range map[string]struct {
		endpoint string
		opts     answer.Options
		want     string
	}{
		"scheme":    {"ftp://example.com/", answer.Options{}, "not an http or https URL"},
		"no host":   {"localhost:5280", answer.Options{}, "not an http or https URL"},
		"userinfo":  {"http://me:hush@example.com/", answer.Options{}, "give credentials by Token or Header"},
		"fragment":  {"http://example.com/#x", answer.Options{}, "fragment"},
		"mcp":       {s.URL, answer.Options{Header: http.Header{"mcp-name": {"x"}}}, "Mcp-Name belongs to the protocol"},
		"accept":    {s.URL, answer.Options{Header: http.Header{"Accept": {"x"}}}, "Accept belongs to the protocol"},
		"two":       {s.URL, answer.Options{Token: "a", Header: http.Header{"authorization": {"x"}}}, "choose one"},
		"bad token": {s.URL, answer.Options{Token: "a\nb"}, "line break"},
	} {
		_, err := answer.Connect(testContext(t), impl, tt.endpoint, &tt.opts)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	if _, err := answer.Connect(testContext(t), nil, s.URL, nil); err == nil {
		t.Error("no implementation")
	}
}

// A redirect must not carry credentials and answers elsewhere.
func TestConnectDoesNotFollowElsewhere(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		t.Errorf("the other origin got %v %s", r.Header, body)
	}))
	defer thief.Close()
	s := httptest.NewServer(http.RedirectHandler(thief.URL+"/mcp?secret=1", http.StatusTemporaryRedirect))
	defer s.Close()
	_, err := answer.Connect(testContext(t), impl, s.URL, &answer.Options{Token: "hush"})
	if err == nil || !strings.Contains(err.Error(), "redirects to "+thief.URL+"/mcp:") {
		t.Errorf("%v", err)
	}
}

func TestConnectEndsWithItsContext(t *testing.T) {
	// An older server that keeps its event stream silent: the SDK would wait for it, whatever the context says.
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet:
			<-r.Context().Done()
		case bytes.Contains(body, []byte(`"initialize"`)):
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	cs, err := answer.Connect(ctx, impl, s.URL, &answer.Options{ProtocolVersion: "2025-11-25"})
	if err == nil {
		_ = cs.Close()
		t.Error("connected to a server that is silent")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	answer.SetMaxMessage(t, 1<<20)
	huge := strings.Repeat("x", 2<<20)
	for name, sse := range map[string]bool{"JSON": false, "events": true} {
		s := newWireServer(t, `{"resultType":"complete","content":[{"type":"text","text":"`+huge+`"}]}`)
		s.sse = sse
		_, err := call(t, s, nil)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if !strings.Contains(err.Error(), "longer than 1 MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStructuredContentIsExact(t *testing.T) {
	s := newWireServer(t, `{"resultType":"complete","content":[],"structuredContent":{"z":9007199254740993,"a":1e2}}`)
	res, err := call(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s", res.StructuredContent); got != `{"z":9007199254740993,"a":1e2}` {
		t.Errorf("got %s", got)
	}
}

func TestHeadersMirroredFromArguments(t *testing.T) {
	tool := `{"name":"T","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}`
	var seen []http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id, _, _ := strings.Cut(string(body[strings.Index(string(body), `"id":`)+5:]), ",")
		w.Header().Set("Content-Type", "application/json")
		result := `"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
		switch r.Header.Get("Mcp-Method") {
		case "server/discover":
			result = `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`
		case "tools/list":
			result = `"result":{"tools":[` + tool + `],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
		case "tools/call":
			seen = append(seen, r.Header)
			if r.Header.Get("Mcp-Param-Region") != "eu" {
				w.WriteHeader(http.StatusBadRequest)
				result = `"error":{"code":-32020,"message":"Mcp-Param-Region is missing"}`
			}
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, result)
	}))
	defer s.Close()
	cs := connect(t, s.URL, nil)
	res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "T", Arguments: map[string]any{"region": "eu"}}, nil)
	if err != nil || text(t, res) != "done" || len(seen) != 2 {
		t.Errorf("%+v, %v, %d calls", res, err, len(seen))
	}
	// Once is enough.
	seen = nil
	if _, err = answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Other"}, nil); err == nil || len(seen) != 2 {
		t.Errorf("%v, %d calls", err, len(seen))
	}
}

func TestSecurity14WireRedacts(t *testing.T) {
	ask := `{"resultType":"input_required","requestState":"hush-state","inputRequests":{"page":{"method":"elicitation/create","params":{"mode":"url","message":"\u001b[1m` + "\u202e" + `","elicitationId":"e","url":"https://example.com/page/hush-ticket?t=hush-query"}},"form":` + oneQuestion + `}}`
	both := answer.Script{"page": answer.Decline(), "form": answer.Accept(nil)}
	for _, sse := range []bool{false, true} {
		s := newWireServer(t, ask, done)
		s.sse = sse
		var safe, raw bytes.Buffer
		toSafe, toRaw := answer.WireTo(&safe, &answer.WireFormat{Hide: []string{"x-api-key"}}), answer.WireTo(&raw, &answer.WireFormat{Raw: true})
		cs := connect(t, s.URL+"/?key=hush-key", &answer.Options{
			Answerer: both, Token: "hush-token", Header: http.Header{"X-Api-Key": {"hush-api"}, "Cookie": {"hush-cookie"}},
			Wire: func(m answer.WireMessage) { toSafe(m); toRaw(m) },
		})
		if _, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "T"}, both); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(safe.String(), "hush") {
			t.Errorf("a secret is shown:\n%s", safe.String())
		}
		for _, secret := range []string{"hush-state", "hush-ticket", "hush-query", "hush-key", "hush-token", "hush-api", "hush-cookie"} {
			if !strings.Contains(raw.String(), secret) {
				t.Errorf("raw lacks %s:\n%s", secret, raw.String())
			}
		}
		for _, want := range []string{
			"POST /?[redacted] HTTP/1.1\nHost: " + strings.TrimPrefix(s.URL, "http://") + "\n", "Authorization: [redacted]\n", "Mcp-Name: T\n", "HTTP/1.1 200 OK\n",
			`"requestState": "[redacted]"`, `"url": "https://example.com/[redacted]"`, `"message": "\u001b[1m\u202e"`, "--- request 3\n",
		} {
			if !strings.Contains(safe.String(), want) {
				t.Errorf("no %q in\n%s", want, safe.String())
			}
		}
		if sse != strings.Contains(safe.String(), "--- event of response 2\n{\n") {
			t.Errorf("events:\n%s", safe.String())
		}
	}
}

func TestWireOfOtherBodies(t *testing.T) {
	for body, want := range map[string]string{
		"Unauthorized\x1b[2J":                                   "Unauthorized[2J",
		`{"requestState":"hush"`:                                "[22 bytes that are not JSON]",
		`{"a":[],"b":{},"c":[1,"x"]}`:                           `{ "a": [], "b": {}, "c": [1, "x"] }`,
		`[9007199254740993, ` + strings.Repeat("1,", 40) + `2]`: "[\n  9007199254740993,\n  1,",
		strings.Repeat("x", 5000):                               "[904 more bytes]",
	} {
		var b bytes.Buffer
		answer.WireTo(&b, nil)(answer.WireMessage{Exchange: 1, Kind: answer.WireResponse, Status: 401, Body: []byte(body)})
		if got := b.String(); !strings.HasPrefix(got, "--- response 1\nHTTP/1.1 401 Unauthorized\n\n") || !strings.Contains(got, want) || strings.Contains(got, "hush") {
			t.Errorf("%q: %q", body, got)
		}
	}
	var b bytes.Buffer
	answer.WireTo(&b, nil)(answer.WireMessage{Exchange: 1, Kind: answer.WireFailure, Body: []byte("broke\x1b off")})
	if b.String() != "--- request 1 failed: broke off\n\n" {
		t.Errorf("%q", b.String())
	}
}

func TestServerGone(t *testing.T) {
	s := newWireServer(t, done)
	cs := connect(t, s.URL, nil)
	s.CloseClientConnections()
	s.Close()
	_, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "T"}, nil)
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// The error that came with a status is inside the status.
func TestHTTPError(t *testing.T) {
	s := newWireServer(t, done)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Header.Get("Mcp-Method") == "tools/call" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"internal error"}}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.Config.Handler.ServeHTTP(w, r)
	}))
	defer broken.Close()
	_, err := answer.CallTool(testContext(t), connect(t, broken.URL, nil), &mcp.CallToolParams{Name: "T"}, nil)
	var status *answer.HTTPError
	var rpc *jsonrpc.Error
	if !errors.As(err, &status) || status.Status != 500 || status.Text != "internal error" || !errors.As(err, &rpc) || rpc.Code != -32603 {
		t.Errorf("%v", err)
	}
}
