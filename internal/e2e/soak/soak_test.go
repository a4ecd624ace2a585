// Package soak runs servers for longer, and with more clients at once, than the other tests do. Under make test it takes
// each path briefly, and asserts that what comes out is right; make soak (ELICIT_SOAK=1) takes the numbers that the
// project states.
package soak

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// times is how often to do a thing: n by hand, brief under make test.
func times(brief, n int) int {
	if os.Getenv("ELICIT_SOAK") == "1" {
		return n
	}
	return brief
}

var quiet = slog.New(slog.DiscardHandler)

func secret(s string) []byte {
	h := sha256.Sum256([]byte(s))
	return h[:]
}

var (
	size  = elicit.Choose("size", "Which size?", form.Options("s", "m", "l")...)
	name  = elicit.Input("name", "Which name?")
	agree = elicit.Confirm("agree", "Order?")
)

// shop asks in three rounds, with a step between.
func shop(o elicit.Options) *elicit.Server {
	o.Logger = quiet
	s := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), &o)
	elicit.AddTool(s, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, in struct {
		ID int `json:"id"`
	}) (*mcp.CallToolResult, any, error) {
		sz, err := size.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		price, err := elicit.Step(ctx, "price", func(context.Context) (int, error) { return in.ID * 2, nil })
		if err != nil {
			return nil, nil, err
		}
		who, err := name.WithMessagef("Which name, for a %s?", sz).Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		if _, err := agree.WithMessagef("Order a %s for %s, for $%d?", sz, who, price).Value(ctx); err != nil {
			return nil, nil, err
		}
		return elicit.Text(fmt.Sprintf("%d: %s for %s at %d", in.ID, sz, who, price)), nil, nil
	}, elicit.Asks(size, name, agree))
	return s
}

type reply struct {
	Result struct {
		ResultType    string                     `json:"resultType"`
		InputRequests map[string]json.RawMessage `json:"inputRequests"`
		RequestState  string                     `json:"requestState"`
		Content       []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// post sends one round.
func post(ctx context.Context, client *http.Client, url string, id int, rest string) (*reply, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Order","arguments":{"id":%d},%s%s}}`, id, rest, meta)
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "Order"} {
		r.Header.Set(k, v)
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var x reply
	if err := json.Unmarshal(b, &x); err != nil || x.Error != nil {
		return nil, fmt.Errorf("%d %s", res.StatusCode, b)
	}
	return &x, nil
}

// order drives a call to its end; url gives where each round goes.
func order(ctx context.Context, client *http.Client, id int, url func(round int) string) (string, error) {
	rest := ""
	for round := range 10 {
		x, err := post(ctx, client, url(round), id, rest)
		if err != nil {
			return "", fmt.Errorf("call %d, round %d: %w", id, round+1, err)
		}
		if x.Result.ResultType != "input_required" {
			return x.Result.Content[0].Text, nil
		}
		answers := map[string]any{}
		for k := range x.Result.InputRequests {
			content := map[string]any{"size": map[string]any{"choice": "m"}, "name": map[string]any{"input": fmt.Sprint("n", id)}, "agree": map[string]any{}}[k]
			answers[k] = map[string]any{"action": "accept", "content": content}
		}
		a, _ := json.Marshal(answers)
		state, _ := json.Marshal(x.Result.RequestState)
		rest = fmt.Sprintf(`"inputResponses":%s,"requestState":%s,`, a, state)
	}
	return "", fmt.Errorf("call %d still asks", id)
}

func want(id int) string { return fmt.Sprintf("%d: m for n%d at %d", id, id, id*2) }

// shared is a Spender that several instances have in common.
type shared struct{ ids sync.Map }

func (s *shared) Claim(_ context.Context, id string, _ time.Time) (bool, error) {
	_, taken := s.ids.LoadOrStore(id, true)
	return !taken, nil
}
func (s *shared) Release(_ context.Context, id string) error { s.ids.Delete(id); return nil }
func (s *shared) Spend(context.Context, string) error        { return nil }

// Two instances with the same secrets serve alternate rounds, while their secret is rotated.
func TestAlternateRoundsWhileTheSecretRotates(t *testing.T) {
	calls := times(120, 10_000)
	spender := &shared{}
	// Each stage of a rotation: the newest secret first, once every instance can open it.
	stages := [][][]byte{{secret("old")}, {secret("old"), secret("new")}, {secret("new"), secret("old")}}
	var instances [2]struct {
		current atomic.Pointer[http.Handler]
		url     string
	}
	start := func(i, stage int) {
		h := shop(elicit.Options{Secrets: stages[stage], Spender: spender}).Handler(nil)
		instances[i].current.Store(&h)
	}
	for i := range instances {
		start(i, 0)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*instances[i].current.Load()).ServeHTTP(w, r)
		}))
		defer s.Close()
		instances[i].url = s.URL
	}
	var done, failed atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for id := range next {
				got, err := order(t.Context(), http.DefaultClient, id, func(round int) string { return instances[(id+round)%2].url })
				if err != nil || got != want(id) {
					failed.Add(1)
					t.Errorf("got %q, %v", got, err)
				}
				done.Add(1)
			}
		})
	}
	for id := range calls {
		switch id { // instances are replaced one after the other, calls in flight
		case calls / 5:
			start(0, 1)
		case calls * 2 / 5:
			start(1, 1)
		case calls * 3 / 5:
			start(0, 2)
		case calls * 4 / 5:
			start(1, 2)
		}
		next <- id
	}
	close(next)
	wg.Wait()
	t.Logf("%d calls of four rounds over two instances, secret rotated: %d failed, %.0f s", done.Load(), failed.Load(), time.Since(begin).Seconds())
}

// Many clients at once, of both generations, each gets what is its own.
func TestManyClientsOfBothGenerations(t *testing.T) {
	clients, each := times(200, 200), times(1, 20)
	s := shop(elicit.Options{})
	h := httptest.NewServer(s.Handler(nil))
	defer h.Close()
	var wg sync.WaitGroup
	var done atomic.Int64
	begin := time.Now()
	for c := range clients {
		wg.Go(func() {
			if c%2 == 0 {
				for i := range each {
					id := c*1000 + i
					if got, err := order(t.Context(), http.DefaultClient, id, func(int) string { return h.URL }); err != nil || got != want(id) {
						t.Errorf("got %q, %v, want %q", got, err, want(id))
						return
					}
					done.Add(1)
				}
				return
			}
			var current atomic.Int64
			client := mcp.NewClient(&mcp.Implementation{Name: fmt.Sprint("client ", c), Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					content := map[string]any{}
					switch m := r.Params.Message; {
					case m == "Which size?":
						content["choice"] = "m"
					case strings.HasPrefix(m, "Which name"):
						content["input"] = fmt.Sprint("n", current.Load())
					case m != fmt.Sprintf("Order a m for n%d, for $%d?", current.Load(), current.Load()*2):
						t.Errorf("client %d was asked %q", c, m)
					}
					return &mcp.ElicitResult{Action: "accept", Content: content}, nil
				}})
			version := []string{"2025-11-25", "2025-06-18"}[c/2%2]
			cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.URL, DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Error(err)
				return
			}
			defer cs.Close()
			for i := range each {
				id := c*1000 + i
				current.Store(int64(id))
				res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "Order", Arguments: map[string]any{"id": id}})
				if err != nil {
					t.Error(err)
					return
				}
				if got := res.Content[0].(*mcp.TextContent).Text; got != want(id) {
					t.Errorf("got %q, want %q", got, want(id))
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	t.Logf("%d clients of both generations, %d calls: %.0f s", clients, done.Load(), time.Since(begin).Seconds())
}

// A call that is asked and never answered leaves nothing behind.
func TestCallsNeverAnsweredLeaveNothing(t *testing.T) {
	calls := times(300, 10_000)
	s := shop(elicit.Options{})
	h := httptest.NewServer(s.Handler(nil))
	defer h.Close()
	run := func(n int) {
		for id := range n {
			x, err := post(t.Context(), http.DefaultClient, h.URL, id, "")
			if err != nil || x.Result.RequestState == "" {
				t.Fatal(err)
			}
		}
	}
	inUse := func() (heap uint64, goroutines, sessions int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		for range s.MCP().Sessions() {
			sessions++
		}
		return m.HeapInuse, runtime.NumGoroutine(), sessions
	}
	run(200)                            // warm
	before, goroutines, kept := inUse() // sessions that calls of one client share, and one that watches the tools
	run(calls)
	time.Sleep(50 * time.Millisecond)
	after, goroutinesAfter, sessions := inUse()
	growth := float64(int64(after)-int64(before)) / (1 << 20)
	t.Logf("%d calls asked and never answered: heap in use %+.2f MiB, goroutines %+d, sessions %+d", calls, growth, goroutinesAfter-goroutines, sessions-kept)
	if sessions > kept || goroutinesAfter > goroutines+5 {
		t.Errorf("%d more sessions and %d more goroutines are left", sessions-kept, goroutinesAfter-goroutines)
	}
	if os.Getenv("ELICIT_SOAK") == "1" && growth > 4 {
		t.Errorf("the heap in use grew by %.2f MiB", growth)
	}
}
