package answer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const askPage = `{"resultType":"input_required","requestState":"s","inputRequests":{"connect":{"method":"elicitation/create","params":{"mode":"url","message":"Connect","url":"https://mcp.example.com/connect"}}}}`

// Asking again for a page that was agreed to is waiting, and does not use up the rounds.
func TestCallToolWaitsForAPage(t *testing.T) {
	results := []string{}
	for range 150 {
		results = append(results, askPage)
	}
	s := newWireServer(t, append(results, done)...)
	var asked, waited int
	a := answer.AnswererFunc(func(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		asked++
		if r.Waiting {
			waited++
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"x": 1}}, nil
	})
	cs := connect(t, s.URL, &answer.Options{Answerer: a, URL: true})
	res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "ShipOrder"}, nil)
	if err != nil || text(t, res) != "done" || asked != 150 || waited != 149 {
		t.Errorf("%v, asked %d, waited %d", err, asked, waited)
	}
	seen := s.seen(t, 151)
	if got := string(seen[1].params["inputResponses"]); got != `{"connect":{"action":"accept"}}` {
		t.Errorf("the answer has content: %s", got)
	}
	if got := string(seen[0].params["_meta"]); !strings.Contains(got, `"elicitation":{"form":{},"url":{}}`) {
		t.Errorf("capabilities: %s", got)
	}
}

// Stopping while the page is open tells the server "cancel".
func TestCallToolStopsWaiting(t *testing.T) {
	s := newWireServer(t, askPage, askPage, done)
	a := answer.AnswererFunc(func(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		if r.Waiting {
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}
		return &mcp.ElicitResult{Action: "accept"}, nil
	})
	if _, err := call(t, s, a); err != nil {
		t.Fatal(err)
	}
	if got := string(s.seen(t, 3)[2].params["inputResponses"]); got != `{"connect":{"action":"cancel"}}` {
		t.Errorf("got %s", got)
	}
}

// The error of 2025-11-25 that wants a page opened first.
func TestURLElicitationRequired(t *testing.T) {
	required := `{"code":-32042,"message":"open first","data":{"elicitations":[{"mode":"url","elicitationId":"e1","message":"Connect","url":"https://mcp.example.com/connect"}]}}`
	s := newWireServer(t, required, required, done)
	waits := 0
	a := answer.AnswererFunc(func(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		if r.Waiting {
			waits++
		}
		if r.Key != "e1" || r.Params.URL != "https://mcp.example.com/connect" {
			t.Errorf("asked %+v", r)
		}
		return &mcp.ElicitResult{Action: "accept"}, nil
	})
	if _, err := call(t, s, a); err != nil || waits != 1 {
		t.Errorf("%v, waited %d times", err, waits)
	}
	s = newWireServer(t, required, done)
	var failure *answer.AnswerError
	_, err := call(t, s, answer.AnswererFunc(func(context.Context, *answer.Request) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}))
	if !errors.As(err, &failure) || failure.Key != "e1" {
		t.Errorf("%v", err)
	}
}

// slow is a server of the SDK whose tool reports progress and then works until it is cancelled.
func slow(t *testing.T) (server *mcp.Server, cancelled chan struct{}) {
	t.Helper()
	cancelled = make(chan struct{})
	server = mcp.NewServer(&mcp.Implementation{Name: "slow", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "Slow", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if token := req.Params.GetProgressToken(); token != nil {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "half"})
		}
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	})
	return server, cancelled
}

// Progress arrives, and a call that is given up is given up on the other side, over every transport and protocol.
func TestProgressAndCancellation(t *testing.T) {
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		for _, transport := range []string{"http", "memory"} {
			t.Run(fmt.Sprint(protocol, " ", transport), func(t *testing.T) {
				server, cancelled := slow(t)
				told := make(chan string, 1)
				opts := &answer.Options{ProtocolVersion: protocol, Answerer: shipScript, Progress: func(p *mcp.ProgressNotificationParams) { told <- p.Message }}
				var cs *mcp.ClientSession
				if transport == "http" {
					h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: protocol == "2026-07-28", PropagateRequestCancellation: true})
					s := httptest.NewServer(h)
					t.Cleanup(s.CloseClientConnections)
					cs = connect(t, s.URL, opts)
				} else {
					here, there := mcp.NewInMemoryTransports()
					if _, err := server.Connect(testContext(t), there, nil); err != nil {
						t.Fatal(err)
					}
					var err error
					if cs, err = answer.ConnectTransport(testContext(t), impl, here, opts); err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = cs.Close() })
				}
				ctx, cancel := context.WithCancel(testContext(t))
				go func() {
					select {
					case m := <-told:
						if m != "half" {
							t.Errorf("told %q", m)
						}
					case <-time.After(10 * time.Second):
						t.Error("no progress")
					}
					cancel()
				}()
				if _, err := answer.CallTool(ctx, cs, &mcp.CallToolParams{Name: "Slow"}, nil); !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				select {
				case <-cancelled:
				case <-time.After(10 * time.Second):
					t.Error("the server goes on")
				}
			})
		}
	}
}

// A script may have an answer for each asking of a key.
func TestScriptByRound(t *testing.T) {
	script, err := answer.ParseScript([]byte(`{"ship": [{"trackingNumber": "1"}, {"trackingNumber": "2"}, "decline"]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := newWireServer(t, askShip, askShip, askShip, done)
	if _, err := call(t, s, script); err != nil {
		t.Fatal(err)
	}
	seen := s.seen(t, 4)
	for i, want := range []string{`{"ship":{"action":"accept","content":{"trackingNumber":"1"}}}`, `{"ship":{"action":"accept","content":{"trackingNumber":"2"}}}`, `{"ship":{"action":"decline"}}`} {
		if got := string(seen[i+1].params["inputResponses"]); got != want {
			t.Errorf("round %d: got %s, want %s", i+2, got, want)
		}
	}
	for _, bad := range []string{`{"ship": []}`, `{"ship": [7]}`, `{"ship": [["decline"]]}`} {
		if _, err := answer.ParseScript([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
