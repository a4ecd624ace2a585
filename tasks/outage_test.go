package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
)

// forgetful is a store whose replies are lost, each as often as its counter says: what was asked for happens.
type forgetful struct {
	tasks.Store
	creates, puts, claims atomic.Int32
}

var errLostReply = fmt.Errorf("the connection broke: %w", tasks.ErrUnavailable)

func (f *forgetful) Create(ctx context.Context, r tasks.Row, n tasks.Next, l tasks.Limits) (tasks.Row, error) {
	row, err := f.Store.Create(ctx, r, n, l)
	if err == nil && f.creates.Add(-1) >= 0 {
		return r, errLostReply
	}
	return row, err
}

func (f *forgetful) Put(ctx context.Context, fence *tasks.Fence, r tasks.Row, n tasks.Next) (tasks.Row, error) {
	row, err := f.Store.Put(ctx, fence, r, n)
	if err == nil && f.puts.Add(-1) >= 0 {
		return r, errLostReply
	}
	return row, err
}

func (f *forgetful) Claim(ctx context.Context, w string, n int) ([]tasks.Row, error) {
	rows, err := f.Store.Claim(ctx, w, n)
	if err == nil && len(rows) > 0 && f.claims.Add(-1) >= 0 {
		return nil, errLostReply
	}
	return rows, err
}

func TestRepliesAreLost(t *testing.T) {
	var runs atomic.Int32
	store := &forgetful{Store: tasks.NewMemoryStore()}
	i := start(t, tasks.Options{Store: store}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", func(ctx context.Context) (string, error) {
			runs.Add(1)
			return shipOrder(ctx)
		}, tasks.Required)
	})
	// Of a creation, once: it is asked again, and is the same.
	store.creates.Store(1)
	id := i.create("ann", "ShipOrder", `{}`)
	i.until("ann", id, "input_required")

	// Of a creation, for good: the client has no handle, so nothing must run.
	runs.Store(0)
	store.creates.Store(2)
	if a := i.call("ann", "ShipOrder", `{}`); a.code() != -32603 || !strings.Contains(a.body, "could not be stored") {
		t.Errorf("got %s", a.body)
	}
	eventually(t, func() bool {
		s, err := store.Stats(t.Context())
		return err == nil && s.Rows == 2 && s.Running == 0 && s.Due == 0
	}, func() string { return "the task that nobody has a handle of is still there" })
	if runs.Load() != 0 {
		t.Error("a task ran that nobody has a handle of")
	}

	// Of an update: its client sends it again, which changes nothing, and the run begins all the same.
	store.puts.Store(1)
	answer := `,"inputResponses":{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`
	if a := i.method("ann", "update", id, answer); a.code() != -32603 || !strings.Contains(a.body, "send them again") {
		t.Errorf("got %s", a.body)
	}
	if a := i.method("ann", "update", id, answer); a.Error != nil {
		t.Errorf("got %s", a.body)
	}
	if got := text(t, i.until("ann", id, "completed")); got != "Shipped as 1Z999." {
		t.Error(got)
	}

	// Of what a run has asked, and of how it has ended.
	store.puts.Store(1)
	id = i.create("ann", "ShipOrder", `{}`)
	i.until("ann", id, "input_required")
	runs.Store(0)
	i.update("ann", id, `{"ship":{"action":"decline"}}`)
	i.until("ann", id, "completed")
	if runs.Load() != 1 {
		t.Errorf("%d runs after the answer", runs.Load())
	}

	// Of a claim.
	small := &forgetful{Store: tasks.NewMemoryStore()}
	small.claims.Store(1)
	entered, proceed := make(chan struct{}, 1), make(chan struct{})
	one := start(t, tasks.Options{Store: small, Slots: 1}, func(s *elicit.Server) {
		addTool(s, "Busy", func(context.Context) (string, error) { entered <- struct{}{}; <-proceed; return "done", nil }, tasks.Required)
		addTool(s, "Later", func(context.Context) (string, error) { return "done", nil }, tasks.Required)
	})
	one.create("ann", "Busy", `{}`)
	<-entered
	later := one.create("ann", "Later", `{}`) // due, as the slot is taken
	close(proceed)
	one.until("ann", later, "completed")
	if !strings.Contains(one.log.String(), "replies were lost") {
		t.Error("no claim was lost")
	}
}

// The store cannot be reached for longer than the lease: requests fail at once and say so, and then all goes on.
func TestTheStoreIsCutOff(t *testing.T) {
	var first atomic.Bool
	entered := make(chan struct{})
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", shipOrder, tasks.Required)
		addTool(s, "Work", func(ctx context.Context) (string, error) {
			if first.CompareAndSwap(false, true) {
				close(entered)
				<-ctx.Done() // the lease is lost
				return "", ctx.Err()
			}
			return "done", nil
		}, tasks.Required)
		addTool(s, "Slow", func(context.Context) (string, error) { time.Sleep(100 * time.Millisecond); return "done", nil })
	})
	waits, works := i.create("ann", "ShipOrder", `{}`), i.create("ann", "Work", `{}`)
	i.until("ann", waits, "input_required")
	<-entered
	i.dead.Store(true)
	for name, a := range map[string]answered{
		"create": i.call("ann", "ShipOrder", `{}`), "get": i.method("ann", "get", waits, ""), "cancel": i.method("ann", "cancel", waits, ""),
		"update": i.method("ann", "update", waits, `,"inputResponses":{"ship":{"action":"decline"}}`),
	} {
		if a.code() != -32603 || !strings.Contains(a.body, "again") || strings.Contains(a.body, "dead") {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	if a := i.call("ann", "Slow", `{}`); a.Result["resultType"] != "complete" { // it can do without
		t.Errorf("an Optional tool: %s", a.body)
	}
	eventually(t, func() bool { return strings.Contains(i.log.String(), "the lease of this instance is lost") }, func() string { return "the lease is kept" })
	i.dead.Store(false)
	if got := text(t, i.until("ann", works, "completed")); got != "done" {
		t.Error(got)
	}
	i.update("ann", waits, `{"ship":{"action":"decline"}}`)
	i.until("ann", waits, "completed")
	i.until("ann", i.create("ann", "Work", `{}`), "completed")
}

// overtaken is a store in which another instance has a new row before the creation, whose reply is lost, is asked for again.
type overtaken struct {
	tasks.Store
	armed atomic.Bool
}

func (o *overtaken) Create(ctx context.Context, r tasks.Row, n tasks.Next, l tasks.Limits) (tasks.Row, error) {
	if !o.armed.CompareAndSwap(true, false) {
		return o.Store.Create(ctx, r, n, l)
	}
	if row, err := o.Store.Create(ctx, r, tasks.Next{Worker: "other"}, l); err != nil {
		return row, err
	}
	return r, errLostReply
}

func TestANewTaskIsRunByAnotherAlready(t *testing.T) {
	store := &overtaken{Store: tasks.NewMemoryStore()}
	if err := store.Join(t.Context(), "other", time.Hour); err != nil {
		t.Fatal(err)
	}
	var runs atomic.Int32
	i := start(t, tasks.Options{Store: store}, func(s *elicit.Server) {
		addTool(s, "Work", func(context.Context) (string, error) { runs.Add(1); return "here", nil }, tasks.Required)
		addTool(s, "Slow", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "here", nil
		})
	})
	store.armed.Store(true)
	id := i.create("ann", "Work", `{}`)
	if n := i.engine.Runs(); n != 0 || runs.Load() != 0 {
		t.Error("a task runs here that another instance has")
	}
	store.armed.Store(true)
	slow := i.create("ann", "Slow", `{}`)
	eventually(t, func() bool { return i.engine.Runs() == 0 }, func() string { return "a run that has lost its task goes on" })
	for _, id := range []string{id, slow} {
		if task := i.get("ann", id); task["status"] != "working" {
			t.Errorf("a run wrote the task of another: %v", task)
		}
	}
}

// contended is a store in which somebody else always writes first.
type contended struct {
	tasks.Store
	armed atomic.Bool
}

func (c *contended) Put(ctx context.Context, f *tasks.Fence, r tasks.Row, n tasks.Next) (tasks.Row, error) {
	if f == nil && c.armed.Load() {
		return tasks.Row{}, tasks.ErrConflict
	}
	return c.Store.Put(ctx, f, r, n)
}

// What is acknowledged is stored.
func TestAnswersThatCannotBeStoredAreNotAcknowledged(t *testing.T) {
	store := &contended{Store: tasks.NewMemoryStore()}
	i := start(t, tasks.Options{Store: store}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	id := i.create("ann", "ShipOrder", `{}`)
	i.until("ann", id, "input_required")
	store.armed.Store(true)
	if a := i.method("ann", "update", id, `,"inputResponses":{"ship":{"action":"decline"}}`); a.code() != -32603 || !strings.Contains(a.body, "send them again") {
		t.Errorf("got %s", a.body)
	}
	if a := i.method("ann", "cancel", id, ""); a.code() != -32603 {
		t.Errorf("got %s", a.body)
	}
	store.armed.Store(false)
	i.update("ann", id, `{"ship":{"action":"decline"}}`)
	i.until("ann", id, "completed")
}

// picky is a store that cannot have steps of some names, as PostgreSQL cannot have a zero byte in a text.
type picky struct{ tasks.Store }

func (p *picky) PutStep(ctx context.Context, f tasks.Fence, s tasks.Step) error {
	if strings.ContainsRune(s.Name, 0) {
		return errors.New("invalid byte sequence")
	}
	return p.Store.PutStep(ctx, f, s)
}

// A step may be named after what a client sent.
func TestAStepThatTheStoreCannotHave(t *testing.T) {
	i := start(t, tasks.Options{Store: &picky{tasks.NewMemoryStore()}}, func(s *elicit.Server) {
		addTool(s, "Work", func(ctx context.Context) (string, error) {
			return elicit.Step(ctx, "fetch a\x00b", func(context.Context) (string, error) { return "x", nil })
		}, tasks.Required)
	})
	task := i.until("ann", i.create("ann", "Work", `{}`), "completed")
	if got := fmt.Sprint(task["result"]); !strings.Contains(got, "cannot be stored") || !strings.Contains(got, "isError:true") {
		t.Errorf("got %v", got)
	}
}
