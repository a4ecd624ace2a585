package answer_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var impl = &mcp.Implementation{Name: "answer-test", Version: "1.0.0"}

// A wireServer speaks the modern wire by hand, byte for byte: script is what it answers to each tools/call, in turn,
// as the result; "$id" is no part of it.
type wireServer struct {
	*httptest.Server
	mu       sync.Mutex
	results  []string
	requests []wireRequest
	sse      bool
}

type wireRequest struct {
	header http.Header
	body   string
	params map[string]json.RawMessage
	id     string
}

func newWireServer(t *testing.T, results ...string) *wireServer {
	t.Helper()
	s := &wireServer{results: results}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *wireServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var msg struct {
		ID     json.RawMessage            `json:"id"`
		Method string                     `json:"method"`
		Params map[string]json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(body, &msg); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	write := func(member, value string) {
		reply := `{"jsonrpc":"2.0","id":` + string(msg.ID) + `,"` + member + `":` + value + `}`
		if s.sse {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": keep-alive\n\nevent: message\r\ndata: "+strings.ReplaceAll(reply, "\n", "\ndata: ")+"\r\n\r\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	}
	switch msg.Method {
	case "server/discover":
		write("result", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"wire","version":"1"}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
	case "tools/call":
		s.mu.Lock()
		s.requests = append(s.requests, wireRequest{r.Header, string(body), msg.Params, string(msg.ID)})
		result := s.results[min(len(s.requests), len(s.results))-1]
		s.mu.Unlock()
		if strings.HasPrefix(result, `{"code"`) {
			w.WriteHeader(http.StatusBadRequest)
			write("error", result)
			return
		}
		write("result", result)
	default:
		w.WriteHeader(http.StatusNotFound)
		write("error", `{"code":-32601,"message":"no method `+msg.Method+`"}`)
	}
}

func (s *wireServer) seen(t *testing.T, n int) []wireRequest {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) != n {
		t.Fatalf("the server saw %d requests, want %d", len(s.requests), n)
	}
	return s.requests
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, url string, opts *answer.Options) *mcp.ClientSession {
	t.Helper()
	cs, err := answer.Connect(testContext(t), impl, url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

func text(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if res == nil || len(res.Content) == 0 {
		t.Fatalf("no content in %+v", res)
	}
	c, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("content is %T", res.Content[0])
	}
	return c.Text
}

// recorder notes the questions it passes on.
type recorder struct {
	answer.Answerer
	mu   sync.Mutex
	seen []*answer.Request
}

func (r *recorder) Answer(ctx context.Context, q *answer.Request) (*mcp.ElicitResult, error) {
	r.mu.Lock()
	r.seen = append(r.seen, q)
	r.mu.Unlock()
	return r.Answerer.Answer(ctx, q)
}
