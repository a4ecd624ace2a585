package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// An instance dies with a run; another one takes it over, with the steps that were stored, and the late run changes nothing.
func TestAnotherInstanceTakesOver(t *testing.T) {
	store := tasks.NewMemoryStore()
	var fetched atomic.Int32
	var mu sync.Mutex
	var ids []string
	ended := make(chan string, 2) // what the first run's handler saw
	add := func(name string, first bool, stuck chan struct{}) func(*elicit.Server) {
		return func(s *elicit.Server) {
			addTool(s, "Work", func(ctx context.Context) (string, error) {
				mu.Lock()
				ids = append(ids, elicit.CallID(ctx))
				mu.Unlock()
				n, err := elicit.Step(ctx, "fetch", func(context.Context) (int, error) { return int(fetched.Add(1)), nil })
				if err != nil {
					return "", err
				}
				if first {
					stuck <- struct{}{}
					<-stuck // ignores its context
					_, err := elicit.Step(ctx, "late", func(context.Context) (int, error) { return 1, nil })
					ended <- fmt.Sprint(err)
				}
				return fmt.Sprintf("%s got %d", name, n), nil
			}, tasks.Required)
		}
	}
	stuck := make(chan struct{})
	one := start(t, tasks.Options{Store: store}, add("one", true, stuck))
	two := start(t, tasks.Options{Store: store, Slots: 1}, add("two", false, nil))
	var id string
	eventually(t, func() bool { // that it is one that runs it
		id = one.create("ann", "Work", `{}`)
		select {
		case <-stuck:
			return true
		case <-time.After(time.Second):
			return false
		}
	}, func() string { return "instance one ran nothing" })
	one.kill()
	task := two.until("ann", id, "completed")
	if got := text(t, task); got != "two got 1" {
		t.Errorf("got %q; the step ran %d times", got, fetched.Load())
	}
	stuck <- struct{}{}
	if got := <-ended; !strings.Contains(got, "lost its task") && !strings.Contains(got, "dead") && !strings.Contains(got, "canceled") {
		t.Errorf("the late run's step: %s", got)
	}
	if again := two.get("ann", id); again["lastUpdatedAt"] != task["lastUpdatedAt"] || text(t, again) != "two got 1" {
		t.Errorf("a late run changed the task: %v", again)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(ids) != 2 || ids[0] != ids[1] || ids[0] == "" {
		t.Errorf("call ids %v", ids)
	}
}

// The process of an instance is frozen for longer than its lease: what it does then is fenced off, though it can reach the
// store again.
func TestALateRunIsFenced(t *testing.T) {
	store := tasks.NewMemoryStore()
	var runs atomic.Int32
	hold := make(chan struct{})
	entered := make(chan struct{}, 10)
	work := func(name string) func(*elicit.Server) {
		return func(s *elicit.Server) {
			addTool(s, "Work", func(ctx context.Context) (string, error) {
				n := runs.Add(1)
				entered <- struct{}{}
				if n == 1 {
					<-hold
				}
				return name, nil
			}, tasks.Required)
		}
	}
	one := start(t, tasks.Options{Store: store}, work("one"))
	id := one.create("ann", "Work", `{}`)
	<-entered
	one.kill()
	two := start(t, tasks.Options{Store: store}, work("two"))
	if got := text(t, two.until("ann", id, "completed")); got != "two" {
		t.Fatal(got)
	}
	one.dead.Store(false)
	close(hold)
	eventually(t, func() bool { return one.engine.Runs() == 0 }, func() string { return "the late run does not end" })
	if got := text(t, one.get("ann", id)); got != "two" {
		t.Errorf("a late run finished the task again: %s", got)
	}
}

// Crashes with an open question, and after an answer: the key stays, the answer is not lost.
func TestAnOpenQuestionOutlivesItsInstance(t *testing.T) {
	store := tasks.NewMemoryStore()
	die := func(context.Context) {}
	add := func(s *elicit.Server) {
		addTool(s, "Ask", func(ctx context.Context) (string, error) {
			m, err := machine.Value(ctx)
			if err != nil {
				return "", err
			}
			die(ctx)
			r, err := region.Value(ctx)
			return m + " in " + r, err
		}, tasks.Required)
	}
	one := start(t, tasks.Options{Store: store}, add)
	id := one.create("ann", "Ask", `{}`)
	one.until("ann", id, "input_required")
	var once sync.Once
	dead := make(chan struct{})
	die = func(ctx context.Context) {
		once.Do(func() {
			one.kill()
			close(dead)
			<-ctx.Done()
		})
	}
	one.update("ann", id, `{"machine":{"action":"accept","content":{"input":"m1"}}}`)
	<-dead
	two := start(t, tasks.Options{Store: store}, add)
	if task := two.until("ann", id, "input_required"); strings.Join(keys(task), " ") != "region" {
		t.Fatalf("asks %v", task)
	}
	two.update("ann", id, `{"region":{"action":"accept","content":{"input":"north"}}}`)
	if got := text(t, two.until("ann", id, "completed")); got != "m1 in north" {
		t.Error(got)
	}
}

func TestShutdownGivesRunsToOthers(t *testing.T) {
	store := tasks.NewMemoryStore()
	entered := make(chan struct{}, 10)
	one := start(t, tasks.Options{Store: store}, func(s *elicit.Server) {
		addTool(s, "Work", func(ctx context.Context) (string, error) {
			entered <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err() // which must not be the task's end
		}, tasks.Required)
	})
	id := one.create("ann", "Work", `{}`)
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := one.engine.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if one.engine.Runs() != 0 {
		t.Error("something runs after Shutdown")
	}
	two := start(t, tasks.Options{Store: store}, func(s *elicit.Server) {
		addTool(s, "Work", func(context.Context) (string, error) { return "two", nil }, tasks.Required)
	})
	if got := text(t, two.until("ann", id, "completed")); got != "two" {
		t.Error(got)
	}
}

func TestShutdownWaitsForRuns(t *testing.T) {
	proceed, entered := make(chan struct{}), make(chan struct{})
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Work", func(context.Context) (string, error) { close(entered); <-proceed; return "done", nil }, tasks.Required)
	})
	id := i.create("ann", "Work", `{}`)
	<-entered
	done := make(chan error, 1)
	go func() { done <- i.engine.Shutdown(context.Background()) }()
	eventually(t, func() bool { return i.call("ann", "Work", `{}`).Error == nil }, func() string { return "no calls while shutting down" })
	close(proceed)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := text(t, i.get("ann", id)); got != "done" {
		t.Error(got)
	}
}

func TestRetries(t *testing.T) {
	var temporary, permanent, fetched atomic.Int32
	i := start(t, tasks.Options{MaxAttempts: 3}, func(s *elicit.Server) {
		addTool(s, "Flaky", func(ctx context.Context) (string, error) {
			if _, err := elicit.Step(ctx, "fetch", func(context.Context) (int, error) { return int(fetched.Add(1)), nil }); err != nil {
				return "", err
			}
			if temporary.Add(1) < 3 {
				return "", fmt.Errorf("calling the service: %w", tasks.Retryable(errors.New("busy")))
			}
			return "done", nil
		}, tasks.Required)
		addTool(s, "Down", func(context.Context) (string, error) {
			permanent.Add(1)
			return "", tasks.RetryableAfter(errors.New("the service is down"), time.Millisecond)
		}, tasks.Required)
		addTool(s, "Fails", func(context.Context) (string, error) { return "", errors.New("no such order") }, tasks.Required)
		addTool(s, "OnCall", func(context.Context) (string, error) { return "", tasks.Retryable(errors.New("busy")) })
	})
	if task := i.until("ann", i.create("ann", "Flaky", `{}`), "completed"); text(t, task) != "done" || fetched.Load() != 1 {
		t.Errorf("got %v; %d steps", task, fetched.Load())
	}
	if task := i.until("ann", i.create("ann", "Down", `{}`), "completed"); text(t, task) != "the service is down" || task["result"].(object)["isError"] != true || permanent.Load() != 3 {
		t.Errorf("got %v after %d attempts", task, permanent.Load())
	}
	if task := i.until("ann", i.create("ann", "Fails", `{}`), "completed"); text(t, task) != "no such order" {
		t.Errorf("got %v", task)
	}
	if a := i.call("ann", "OnCall", `{}`); a.Result["isError"] != true || !strings.Contains(a.body, "busy") {
		t.Errorf("got %s", a.body)
	}
}

// A task whose run takes its instance down each time must not take all of them down for ever.
func TestATaskThatKillsItsInstances(t *testing.T) {
	store := tasks.NewMemoryStore()
	var id string
	for n := range 4 {
		entered := make(chan struct{}, 1)
		i := start(t, tasks.Options{Store: store, MaxAttempts: 3}, func(s *elicit.Server) {
			addTool(s, "Bad", func(ctx context.Context) (string, error) {
				entered <- struct{}{}
				<-ctx.Done()
				return "", ctx.Err()
			}, tasks.Required)
		})
		if n == 0 {
			id = i.create("ann", "Bad", `{}`)
		}
		if n == 3 {
			task := i.until("ann", id, "failed")
			if e := task["error"].(object); e["code"] != -32603.0 || !strings.Contains(fmt.Sprint(e["message"]), "interrupted 3 times") {
				t.Errorf("got %v", e)
			}
			return
		}
		<-entered
		i.kill()
	}
}

// In a deployment, instances of the version before have no such tool.
func TestAnInstanceWithoutTheTool(t *testing.T) {
	store := tasks.NewMemoryStore()
	one := start(t, tasks.Options{Store: store}, func(s *elicit.Server) { addTool(s, "New", shipOrder, tasks.Required) })
	id := one.create("ann", "New", `{}`)
	one.until("ann", id, "input_required")
	one.kill()
	old := start(t, tasks.Options{Store: store}, nil)
	old.update("ann", id, `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`)
	eventually(t, func() bool { return strings.Contains(old.log.String(), "not registered here") }, func() string { return "it was not run" })
	two := start(t, tasks.Options{Store: store}, func(s *elicit.Server) { addTool(s, "New", shipOrder, tasks.Required) })
	if got := text(t, two.until("ann", id, "completed")); got != "Shipped as 1Z999." {
		t.Error(got)
	}
}

func TestProtocolErrorsAndPanicsFailTheTask(t *testing.T) {
	i := start(t, tasks.Options{MaxResult: 1000}, func(s *elicit.Server) {
		addTool(s, "Breaks", func(context.Context) (string, error) {
			return "", &jsonrpc.Error{Code: -32099, Message: "broken", Data: []byte(`{"a":1}`)}
		}, tasks.Required)
		addTool(s, "Panics", func(context.Context) (string, error) { panic("at the disco") }, tasks.Required)
		addTool(s, "TooLong", func(context.Context) (string, error) { return strings.Repeat("x", 1000), nil }, tasks.Required)
		addTool(s, "LongStep", func(ctx context.Context) (string, error) {
			return elicit.Step(ctx, "s", func(context.Context) (string, error) { return strings.Repeat("x", 1000), nil })
		}, tasks.Required)
		addTool(s, "Swallows", func(ctx context.Context) (string, error) { _, _ = ship.Require(ctx); return "done", nil }, tasks.Required)
	})
	for name, want := range map[string]string{"Breaks": "broken", "Panics": "internal error", "TooLong": "over Options.MaxResult (1000)", "Swallows": "did not return the error"} {
		task := i.until("ann", i.create("ann", name, `{}`), "failed")
		e := task["error"].(object)
		if !strings.Contains(fmt.Sprint(e["message"]), want) || task["statusMessage"] != e["message"] || task["result"] != nil {
			t.Errorf("%s: %v", name, task)
		}
		if name == "Breaks" && (e["code"] != -32099.0 || fmt.Sprint(e["data"]) != "map[a:1]") {
			t.Errorf("%s: %v", name, e)
		}
	}
	if task := i.until("ann", i.create("ann", "LongStep", `{}`), "completed"); !strings.Contains(text(t, task), `step "s"`) {
		t.Errorf("got %v", task)
	}
}

func TestCancel(t *testing.T) {
	entered, cancelled, proceed := make(chan struct{}), make(chan error, 1), make(chan struct{})
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", shipOrder, tasks.Required)
		addTool(s, "Work", func(ctx context.Context) (string, error) {
			close(entered)
			<-ctx.Done()
			cancelled <- ctx.Err()
			<-proceed
			return "done all the same", nil
		}, tasks.Required)
		addTool(s, "Fast", func(context.Context) (string, error) { return "done", nil }, tasks.Required)
	})
	cancel := func(id string) {
		t.Helper()
		if a := i.method("ann", "cancel", id, ""); a.Error != nil || a.Result["resultType"] != "complete" || len(a.Result) > 2 {
			t.Errorf("tasks/cancel: %s", a.body)
		}
	}
	waiting := i.create("ann", "ShipOrder", `{}`)
	i.until("ann", waiting, "input_required")
	cancel(waiting)
	if task := i.get("ann", waiting); task["status"] != "cancelled" || task["inputRequests"] != nil {
		t.Errorf("got %v", task)
	}
	i.update("ann", waiting, `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`)

	running := i.create("ann", "Work", `{}`)
	<-entered
	cancel(running)
	if err := <-cancelled; err == nil {
		t.Error("the handler was not told")
	}
	close(proceed)
	eventually(t, func() bool { return i.engine.Runs() == 0 }, func() string { return "the run does not end" })
	cancel(running)
	for _, id := range []string{waiting, running} {
		if task := i.get("ann", id); task["status"] != "cancelled" || task["result"] != nil {
			t.Errorf("got %v", task)
		}
	}

	finished := i.create("ann", "Fast", `{}`)
	i.until("ann", finished, "completed")
	cancel(finished)
	if got := text(t, i.get("ann", finished)); got != "done" {
		t.Error(got)
	}
}

// A cancellation by one instance reaches the run of another.
func TestCancelElsewhere(t *testing.T) {
	store := tasks.NewMemoryStore()
	entered, cancelled := make(chan struct{}), make(chan struct{})
	one := start(t, tasks.Options{Store: store}, func(s *elicit.Server) {
		addTool(s, "Work", func(ctx context.Context) (string, error) {
			close(entered)
			<-ctx.Done()
			close(cancelled)
			return "", ctx.Err()
		}, tasks.Required)
	})
	id := one.create("ann", "Work", `{}`)
	<-entered
	two := start(t, tasks.Options{Store: store}, nil)
	two.method("ann", "cancel", id, "")
	<-cancelled
	if task := one.get("ann", id); task["status"] != "cancelled" {
		t.Errorf("got %v", task)
	}
}

// A store that is slow to say that a row is stored.
type slowStore struct {
	tasks.Store
	created, proceed chan struct{}
}

func (s *slowStore) Create(ctx context.Context, r tasks.Row, n tasks.Next, l tasks.Limits) (tasks.Row, error) {
	row, err := s.Store.Create(ctx, r, n, l)
	s.created <- struct{}{}
	<-s.proceed
	return row, err
}

// Shutdown waits for what is about to run, too.
func TestShutdownWhileATaskIsCreated(t *testing.T) {
	store := &slowStore{tasks.NewMemoryStore(), make(chan struct{}), make(chan struct{})}
	i := start(t, tasks.Options{Store: store}, func(s *elicit.Server) {
		addTool(s, "Work", func(context.Context) (string, error) { return "done", nil }, tasks.Required)
		addTool(s, "Slow", func(ctx context.Context) (string, error) {
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
			return "slow", nil
		})
	})
	work, slow := make(chan answered, 1), make(chan answered, 1)
	go func() { work <- i.call("ann", "Work", `{}`) }()
	go func() { slow <- i.call("ann", "Slow", `{}`) }()
	<-store.created
	<-store.created
	done := make(chan error, 1)
	go func() { done <- i.engine.Shutdown(context.Background()) }()
	eventually(t, i.engine.Closing, func() string { return "Shutdown does not begin" })
	select {
	case err := <-done:
		t.Errorf("Shutdown did not wait: %v", err)
	default:
	}
	close(store.proceed)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for want, c := range map[string]chan answered{"done": work, "slow": slow} {
		id, _ := (<-c).Result["taskId"].(string)
		if got := text(t, i.get("ann", id)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
