package main

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test program is also the server that the clients of stdio start.
func TestMain(m *testing.M) {
	if os.Getenv("WIZARD_STDIO") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

var answers = []elicittest.Answer{
	elicittest.Accept(machine, Machine{Size: Large, Nodes: 3}),
	elicittest.Accept(region, "us"),
	elicittest.Accept(agree, true),
}

func TestOrder(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		s := &shop{}
		tr := elicittest.Call(t, newServer(s).MCP(), version, "OrderMachine", nil, answers...)
		if want := `{"id":"us-l-3","price":42}`; tr.Text() != want {
			t.Errorf("%s: got %s, want %s", version, tr.Text(), want)
		}
		if last := tr.Asked[len(tr.Asked)-1].Message; last != "Order 3 × l in us for $42?" || len(tr.Asked) != 3 {
			t.Errorf("%s: asked %d, the last %q", version, len(tr.Asked), last)
		}
		if n := s.quotes.Load(); n != 1 {
			t.Errorf("%s: the price was fetched %d times", version, n)
		}
	}
}

func TestRefused(t *testing.T) {
	tr := elicittest.Call(t, newServer(&shop{}).MCP(), "", "OrderMachine", nil, elicittest.Decline("machine"), elicittest.Accept(region, "us"))
	if !tr.Result.IsError || tr.Text() != `the user declined to answer "machine"` {
		t.Error(tr.Text())
	}
	tr = elicittest.Call(t, newServer(&shop{}).MCP(), "", "OrderMachine", nil, answers[0], answers[1], elicittest.Accept(agree, false))
	if !tr.Result.IsError || tr.Text() != `the user declined to answer "agree"` {
		t.Error(tr.Text())
	}
}

// The SDK's own clients, of each revision, complete it by the SDK's own loop, over HTTP and stdio.
func TestSDKClients(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(version+"/http", func(t *testing.T) {
			s := &shop{}
			h := httptest.NewServer(newServer(s).Handler(nil))
			defer h.Close()
			complete(t, version, &mcp.StreamableClientTransport{Endpoint: h.URL})
			if n := s.quotes.Load(); n != 1 {
				t.Errorf("the price was fetched %d times", n)
			}
		})
		t.Run(version+"/stdio", func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-stdio")
			cmd.Env = append(os.Environ(), "WIZARD_STDIO=1")
			cmd.Stderr = os.Stderr
			complete(t, version, &mcp.CommandTransport{Command: cmd})
		})
	}
}

func complete(t *testing.T, version string, transport mcp.Transport) {
	t.Helper()
	byField := map[string]*mcp.ElicitResult{
		"Which machine?": {Action: "accept", Content: map[string]any{"size": "l", "nodes": 3}},
		"Where?":         {Action: "accept", Content: map[string]any{"choice": "us"}},
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if version < wire.Modern && r.Params.Meta[wire.KeyMeta] == nil {
				t.Error("an older client is not told the key")
			}
			if r.Params.RequestedSchema == nil {
				t.Error("a question without a schema")
			}
			if a, ok := byField[r.Params.Message]; ok {
				return a, nil
			}
			if r.Params.Message != "Order 3 × l in us for $42?" {
				t.Errorf("asked %q", r.Params.Message)
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		}})
	cs, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if got := cs.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("speaking %s", got)
	}
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "OrderMachine"})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Content) != 1 || res.Content[0].(*mcp.TextContent).Text != `{"id":"us-l-3","price":42}` {
		b, _ := res.MarshalJSON()
		t.Errorf("got %s", b)
	}
}
