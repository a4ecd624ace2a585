package tasks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestSecurity24Caps(t *testing.T) {
	i := start(t, tasks.Options{MaxPerPrincipal: 2, MaxKeptPerPrincipal: 3, MaxTasks: 4, MaxRecord: 4000}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", shipOrder, tasks.Required)
		elicit.AddTool(s, &mcp.Tool{Name: "Arguments"}, func(context.Context, *mcp.CallToolRequest, struct {
			Text string `json:"text"`
		}) (*mcp.CallToolResult, any, error) {
			return elicit.Text("done"), nil, nil
		}, tasks.Required)
		addTool(s, "Slow", func(context.Context) (string, error) { time.Sleep(100 * time.Millisecond); return "done", nil })
	})
	first, second := i.create("ann", "ShipOrder", `{}`), i.create("ann", "ShipOrder", `{}`)
	i.until("ann", first, "input_required")
	i.until("ann", second, "input_required")
	if a := i.call("ann", "ShipOrder", `{}`); a.code() != -32603 || !strings.Contains(a.body, "too many") {
		t.Errorf("a third task of ann's: %s", a.body)
	}
	if a := i.call("ann", "Slow", `{}`); a.Result["resultType"] != "complete" { // which can do without
		t.Errorf("a slow tool: %s", a.body)
	}
	i.method("ann", "cancel", first, "")
	i.create("ann", "ShipOrder", `{}`)
	i.create("bob", "ShipOrder", `{}`)
	if a := i.call("eve", "ShipOrder", `{}`); a.code() != -32603 || !strings.Contains(a.body, "as many tasks") {
		t.Errorf("a fifth task: %s", a.body)
	}
	if a := i.call("eve", "Arguments", `{"text":"`+strings.Repeat("x", 5000)+`"}`); a.code() != -32602 || !strings.Contains(a.body, "4000") {
		t.Errorf("long arguments: %s", a.body)
	}
	long := fmt.Sprintf(`,"inputResponses":{"ship":{"action":"accept","content":{"trackingNumber":%q}}}`, strings.Repeat("x", 5000))
	if a := i.method("ann", "update", second, long); a.code() != -32602 || !strings.Contains(a.body, "4000") {
		t.Errorf("a long answer: %s", a.body)
	}
	if task := i.get("ann", second); task["status"] != "input_required" {
		t.Errorf("a long answer counts: %v", task)
	}
}

// Who makes and ends tasks, one after the other, fills a part of the store, and not all of it.
func TestSecurity24NobodyFillsTheStoreAlone(t *testing.T) {
	i := start(t, tasks.Options{MaxPerPrincipal: 2, MaxKeptPerPrincipal: 4, MaxTasks: 6}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", shipOrder, tasks.Required)
		addTool(s, "Quick", func(context.Context) (string, error) { return "done", nil }, tasks.Required)
		addTool(s, "Slow", func(context.Context) (string, error) { time.Sleep(100 * time.Millisecond); return "done", nil })
	})
	var ids []string
	for range 2 {
		id := i.create("ann", "Quick", `{}`)
		i.until("ann", id, "completed")
		ids = append(ids, id)
		id = i.create("ann", "ShipOrder", `{}`)
		i.until("ann", id, "input_required")
		i.method("ann", "cancel", id, "")
		ids = append(ids, id)
	}
	a := i.call("ann", "Quick", `{}`)
	if a.code() != -32603 || !strings.Contains(a.body, "too many tasks (4), finished ones included: try again when some have expired") {
		t.Errorf("a fifth task of ann's: %s", a.body)
	}
	if a := i.call("ann", "Slow", `{}`); a.Result["resultType"] != "complete" { // which can do without
		t.Errorf("a slow tool: %s", a.body)
	}
	i.until("bob", i.create("bob", "Quick", `{}`), "completed")
	for n, id := range ids { // what she was promised is there
		if task := i.get("ann", id); task["status"] != []string{"completed", "cancelled"}[n%2] {
			t.Errorf("task %d: %v", n, task)
		}
	}
}

// Where the limits of a server say nothing of it, one principal has a part of the store.
func TestSecurity24DefaultPart(t *testing.T) {
	for _, c := range []struct{ unfinished, all, want int }{{0, 0, 100_000}, {0, 5000, 500}, {0, 50, 100}, {2000, 5000, 2000}, {-1, 5000, 0}, {0, -1, 0}} {
		s := &limited{Store: tasks.NewMemoryStore()}
		i := start(t, tasks.Options{Store: s, MaxPerPrincipal: c.unfinished, MaxTasks: c.all}, func(s *elicit.Server) {
			addTool(s, "Quick", func(context.Context) (string, error) { return "done", nil }, tasks.Required)
		})
		i.create("ann", "Quick", `{}`)
		if got := s.by.OwnerTotal; got != c.want {
			t.Errorf("MaxPerPrincipal %d, MaxTasks %d: %d tasks of a principal, want %d", c.unfinished, c.all, got, c.want)
		}
	}
}

// limited remembers the limits of the last creation.
type limited struct {
	tasks.Store
	by tasks.Limits
}

func (s *limited) Create(ctx context.Context, r tasks.Row, n tasks.Next, l tasks.Limits) (tasks.Row, error) {
	s.by = l
	return s.Store.Create(ctx, r, n, l)
}
