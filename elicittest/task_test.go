package elicittest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var key = page.SecretInput("key", "Enter the key of the carrier")

// dispatch asks on the call, if its mode lets it, and by a page, and in the task that it goes on as.
func dispatch(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	s, err := ship.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := tasks.Begin(ctx); err != nil {
		return nil, nil, err
	}
	k, err := key.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, err := sure.WithMessagef("Ship %s now?", s.TrackingNumber).Value(ctx); err != nil {
		return nil, nil, err
	}
	return elicit.Text(fmt.Sprintf("Shipped as %s with %s.", s.TrackingNumber, k.Reveal())), nil, nil
}

func newTaskShop(t testing.TB, opts ...elicit.ToolOption) *elicit.Server {
	shop := newShop()
	engine := tasks.Enable(shop, tasks.Options{Store: tasks.NewMemoryStore(), Grace: time.Minute})
	pages := page.Enable(shop, page.Options{})
	t.Cleanup(func() {
		pages.Close()
		if err := engine.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	elicit.AddTool(shop, &mcp.Tool{Name: "Dispatch"}, dispatch, append(opts, elicit.Asks(ship, key, sure))...)
	return shop
}

// One line drives a tool of any mode, and for any revision.
func TestCallOfEachMode(t *testing.T) {
	answers := []elicittest.Answer{elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}),
		elicittest.Accept(key, page.NewHidden("k1")), elicittest.Accept(sure, true)}
	for _, c := range []struct {
		name    string
		mode    elicit.ToolOption
		version string
		task    bool
	}{
		{"Required", tasks.Required, "", true},
		{"AtBegin", tasks.AtBegin, "2026-07-28", true},
		{"Optional, which asks by a page", tasks.Optional, "", true},
		{"Synchronous", tasks.Synchronous, "", false},
		{"AtBegin, of an older client", tasks.AtBegin, "2025-11-25", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := elicittest.Call(t, newTaskShop(t, c.mode).MCP(), c.version, "Dispatch", nil, answers...)
			if tr.Text() != "Shipped as 1Z999 with k1." || (tr.Task != "") != c.task {
				t.Errorf("%s, as task %q", tr.Text(), tr.Task)
			}
			var asked []string
			for _, q := range tr.Asked {
				asked = append(asked, q.Key)
			}
			if got := strings.Join(asked, " "); got != "ship key sure" || tr.Asked[2].Message != "Ship 1Z999 now?" || tr.Asked[1].URL == "" {
				t.Errorf("asked %v", tr.Asked)
			}
		})
	}
}

// A question is asked again under another key on the wire, and is the same question to the test.
func TestCallOfATaskThatAsksAgain(t *testing.T) {
	tr := elicittest.Call(t, newTaskShop(t, tasks.Required).MCP(), "", "Dispatch", nil, elicittest.Raw("ship", map[string]any{"trackingNumber": 12}))
	if !tr.Result.IsError || len(tr.Asked) != 3 || tr.Asked[2].Key != "ship" || !strings.Contains(tr.Asked[1].Message, "must be text; you entered 12") {
		t.Errorf("%s, asked %v", tr.Text(), tr.Asked)
	}
	tr = elicittest.Call(t, newTaskShop(t, tasks.Required).MCP(), "", "Dispatch", nil, elicittest.Decline("ship"))
	if !tr.Result.IsError || !strings.Contains(tr.Text(), "declined") {
		t.Errorf("declined: %s", tr.Text())
	}
}

// failing is a test that is expected to fail.
type failing struct {
	testing.TB
	why string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	panic(f)
}

func TestCallOfATaskFailsTheTest(t *testing.T) {
	shop := newTaskShop(t, tasks.Required)
	elicit.AddTool(shop, &mcp.Tool{Name: "Broken"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		panic(errors.New("broken"))
	}, tasks.Required)
	for tool, want := range map[string]string{"Dispatch": `"ship" is asked ("Ship this order"), and has no answer in this test`, "Broken": "internal error"} {
		f := &failing{TB: t}
		func() {
			defer func() {
				if recover() != any(f) {
					t.Errorf("%s did not fail", tool)
				}
			}()
			elicittest.Call(f, shop.MCP(), "", tool, nil)
		}()
		if !strings.Contains(f.why, want) {
			t.Errorf("%s: %s", tool, f.why)
		}
	}
}

// A call that becomes a task is tested as one that does not.
func ExampleCall_task() {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil),
		&elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	engine := tasks.Enable(shop, tasks.Options{Store: tasks.NewMemoryStore()})
	defer engine.Shutdown(context.Background())
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder"}, shipOrder, elicit.Asks(ship, sure), tasks.Required)

	tr := elicittest.Call(t, shop.MCP(), "2026-07-28", "ShipOrder", nil,
		elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}),
		elicittest.Accept(sure, true))
	fmt.Println(tr.Text(), "As a task:", tr.Task != "")
	// Output: Shipped as 1Z999. As a task: true
}
