package elicit_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// dial connects an older client of the SDK's whose user never answers, and tells when it was asked.
func dial(t *testing.T, url string) (*mcp.ClientSession, <-chan struct{}) {
	t.Helper()
	asked := make(chan struct{}, 1)
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	return cs, asked
}

// An older client that never answers is given up after Expiry.
func TestOlderClientThatNeverAnswers(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{Expiry: time.Second}))
	addText(shop, "T", shipOrder, elicit.Asks(ship))
	cs, _ := dial(t, host(t, shop))
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "T"})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "no answer within 1s") {
		t.Errorf("%v, %v", res, err)
	}
}

// A session that its client ends while the user is being asked ends, and so does the handler.
func TestOlderSessionEndsWhileAsking(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	ended := make(chan error, 1)
	addText(shop, "T", func(ctx context.Context) (string, error) {
		s, err := shipOrder(ctx)
		ended <- err
		return s, err
	}, elicit.Asks(ship))
	url := host(t, shop)
	cs, asked := dial(t, url)
	go func() { _, _ = cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "T"}) }()
	<-asked
	r, err := http.NewRequestWithContext(t.Context(), "DELETE", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Mcp-Session-Id", cs.ID())
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Error(res.Status)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the handler went on")
		}
	case <-time.After(10 * time.Second):
		t.Error("the handler still waits")
	}
	if got, status := legacyPing(t, url, cs.ID(), ""); status != 404 {
		t.Error(status, got)
	}
}

func TestOlderClientOfAHostWithoutSessions(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "T", shipOrder, elicit.Asks(ship))
	h := httptest.NewServer(shop.Handler(&streamable.Options{Stateless: true}))
	defer h.Close()
	cs, _ := dial(t, h.URL)
	defer cs.Close()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "T"})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "keeps no session") {
		t.Errorf("%v, %v", res, err)
	}
}

// What people are asked may take long: something is written meanwhile, so that nothing on the way hangs up.
func TestOlderClientsStreamIsKeptAlive(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{Expiry: 2 * time.Second}))
	addText(shop, "T", shipOrder, elicit.Asks(ship))
	h := httptest.NewServer(shop.Handler(&streamable.Options{KeepAlive: 5 * time.Millisecond}))
	defer h.Close()
	cs, _ := dial(t, h.URL)
	r, err := http.NewRequestWithContext(t.Context(), "POST", h.URL, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"T"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": cs.ID()} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(got.String(), ": keep-alive") {
		n, err := res.Body.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, got.String())
		}
	}
	if !strings.Contains(got.String(), "elicitation/create") {
		t.Errorf("%q", got.String())
	}
}

func TestSecurity06PrincipalIsAGate(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Silent")
	q.token = "iss||app"
	if r := q.send(t); r.Error == nil || r.Error.Code != -32603 || b.effects.Load() != 0 {
		t.Error(r.body)
	}
}

func TestDeclarationsAreOfOneFeature(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	other := elicit.Input("other", "Other?")
	addText(shop, "X", shipOrder, elicit.Asks(ship))
	elicit.AddPrompt(shop, &mcp.Prompt{Name: "X"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		_, err := shipOrder(ctx)
		return &mcp.GetPromptResult{}, err
	}, elicit.Asks(other))
	url := host(t, shop)
	if r := (request{url: url, name: "X"}).send(t); r.Result.RequestState != "" {
		t.Error("the tool's declaration was lost")
	}
	if r := (request{url: url, method: "prompts/get", name: "X"}).send(t); r.Result.RequestState == "" {
		t.Error("the tool's declaration counts for the prompt")
	}
	// Before and after, and more than once.
	shop.Declare("Y", elicit.Asks(other))
	addText(shop, "Y", func(ctx context.Context) (string, error) {
		if _, err := other.Value(ctx); err != nil {
			return "", err
		}
		return shipOrder(ctx)
	})
	shop.Declare("Y", elicit.Asks(ship))
	if r := (request{url: url, name: "Y"}).send(t); !r.asks() || r.Result.RequestState != "" {
		t.Error(r.body)
	}
}

// A handler may ask through this library, and then by itself.
func TestAskingBothWays(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	first := elicit.Input("first", "First?")
	shop.MCP().AddTool(&mcp.Tool{Name: "T", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x, err := first.Value(ctx)
		if err != nil {
			return nil, err
		}
		if _, ok := r.Params.InputResponses["own"]; ok {
			return elicit.Text(x), nil
		}
		return &mcp.CallToolResult{Meta: mcp.Meta{"a": 1}, InputRequests: mcp.InputRequestMap{"own": &mcp.ElicitParams{Message: "Own?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}`)}}}, nil
	})
	q := request{url: host(t, shop), name: "T"}
	r := q.again(q.send(t), accepts("first", m{"input": "x"})).send(t)
	if !r.asks() || r.message("own") != "Own?" || r.message("first") != "" || strings.Contains(r.body, `"content"`) || !strings.Contains(r.body, `"a":1`) || !strings.Contains(r.body, `{"b":{"type":"string"},"a":`) {
		t.Fatal(r.body)
	}
	if r = q.again(r, m{"own": m{"action": "accept", "content": m{}}}).send(t); r.text() != "x" {
		t.Error(r.body)
	}
}

// Methods that have no result work: logging/setLevel, ping.
func TestOlderMethodsWithoutResult(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	url := host(t, shop)
	cs, _ := dial(t, url)
	if err := cs.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"info"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": cs.ID()} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, _ := io.ReadAll(res.Body); !strings.Contains(string(b), `"result":{}`) {
		t.Errorf("%s", b)
	}
}
