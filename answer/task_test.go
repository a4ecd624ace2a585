package answer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	tracking = form.String("trackingNumber").MinLength(4).Required()
	shipTask = elicit.NewFormQuestion("ship", "Ship this order", form.New(tracking))
	whoTask  = elicit.Input("who", "For whom?")
)

// taskShop is a server of ours whose tools run as tasks. Those that are named after their end come to it; Wait waits until it is
// released or cancelled.
type taskShop struct {
	*elicit.Server
	handler http.Handler
	release chan struct{}
}

func newTaskShop(t *testing.T, o tasks.Options) *taskShop {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	s := &taskShop{elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)}), nil, make(chan struct{})}
	if o.PollInterval == 0 {
		o.PollInterval = 100 * time.Millisecond
	}
	engine := tasks.Enable(s.Server, o)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = engine.Shutdown(ctx)
	})
	add := func(name string, f func(context.Context) (string, error), opts ...elicit.ToolOption) {
		elicit.AddTool(s.Server, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			text, err := f(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text(text), nil, nil
		}, append(opts, tasks.Required)...)
	}
	add("Ship", func(ctx context.Context) (string, error) {
		values, err := shipTask.Value(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprint("shipped as ", tracking.In(values)), nil
	}, elicit.Asks(shipTask))
	add("Two", func(ctx context.Context) (string, error) {
		values, err := shipTask.Value(ctx)
		if err != nil {
			return "", err
		}
		who, err := whoTask.Value(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprint("shipped ", tracking.In(values), " to ", who), nil
	}, elicit.Asks(shipTask, whoTask))
	add("Fail", func(context.Context) (string, error) { return "", errors.New("out of stock") })
	add("Break", func(context.Context) (string, error) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the job broke"}
	})
	add("Wait", func(ctx context.Context) (string, error) {
		tasks.Status(ctx, "3 of 10")
		select {
		case <-s.release:
			return "released", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	s.handler = s.Handler(nil)
	return s
}

func (s *taskShop) serve(t *testing.T) string {
	t.Helper()
	ts := httptest.NewServer(s.handler)
	t.Cleanup(func() { ts.CloseClientConnections(); ts.Close() })
	return ts.URL
}

// A call that becomes a task ends as if it had not, over HTTP and another transport.
func TestCallToolFollowsTasks(t *testing.T) {
	shop := newTaskShop(t, tasks.Options{})
	url := shop.serve(t)
	for _, transport := range []string{"http", "memory"} {
		t.Run(transport, func(t *testing.T) {
			var mu sync.Mutex
			var told []answer.TaskStatus
			opts := &answer.Options{Answerer: shipScript, Task: func(task *answer.Task) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, task.Status)
			}}
			connectTo := func(t *testing.T) *mcp.ClientSession {
				if transport == "http" {
					return connect(t, url, opts)
				}
				client, server := mcp.NewInMemoryTransports()
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					_ = shop.Run(ctx, server)
				}()
				t.Cleanup(func() { cancel(); <-done })
				cs, err := answer.ConnectTransport(testContext(t), impl, client, opts)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = cs.Close() })
				return cs
			}
			cs := connectTo(t)
			callTask := func(tool string, a answer.Answerer) (*mcp.CallToolResult, error) {
				return answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: tool}, a)
			}
			res, err := callTask("Ship", shipScript)
			if err != nil || text(t, res) != "shipped as 1Z999" {
				t.Errorf("%+v, %v", res, err)
			}
			mu.Lock()
			if told[0] != answer.TaskWorking && told[0] != answer.TaskInputRequired || !slices.Contains(told, answer.TaskInputRequired) || told[len(told)-1] != answer.TaskCompleted {
				t.Errorf("told of %s", told)
			}
			mu.Unlock()

			// Asked again under another key of the wire, a script goes on with its next answer to the author's key.
			seen := &recorder{Answerer: answer.Script{"ship": {Values: answer.Values{"trackingNumber": "1Z9"}, Again: []answer.Reply{answer.Accept(answer.Values{"trackingNumber": "1Z99"})}}}}
			_, err = callTask("Ship", seen)
			var value *answer.ValueError
			if !errors.As(err, &value) { // What breaks the form's own rule is not sent.
				t.Errorf("%v", err)
			}
			res, err = callTask("Fail", nil)
			if err != nil || !res.IsError || text(t, res) != "out of stock" {
				t.Errorf("%+v, %v", res, err)
			}
			res, err = callTask("Break", nil)
			var rpc *jsonrpc.Error
			var ended *answer.TaskError
			if res != nil || !errors.As(err, &rpc) || rpc.Message != "the job broke" || !errors.As(err, &ended) || ended.Left() || ended.Task.Status != answer.TaskFailed {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// Each question is asked once for each key of the wire; the author's key stays what it is.
func TestTaskAsksAgain(t *testing.T) {
	url := newTaskShop(t, tasks.Options{}).serve(t)
	var seen []string
	cs := connect(t, url, &answer.Options{Answerer: shipScript})
	res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Two"}, answer.AnswererFunc(func(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		seen = append(seen, fmt.Sprint(r.Key, r.Time, r.Tool, r.TaskID != ""))
		switch {
		case r.Key == "who":
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"input": "Ada"}}, nil
		case r.Time == 1:
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"trackingNumber": "1"}}, nil
		}
		if r.Previous == nil || r.Previous.Content["trackingNumber"] != "1" {
			t.Errorf("previous: %+v", r.Previous)
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"trackingNumber": "1Z999"}}, nil
	}))
	if err != nil || text(t, res) != "shipped 1Z999 to Ada" || fmt.Sprint(seen) != "[ship1Twotrue ship2Twotrue who1Twotrue]" {
		t.Errorf("%v, %v, %s", res, err, seen)
	}
}

// A task that is left, with a question that nobody could answer, is brought to its end by another session, once.
func TestTaskIsLeftAndResumed(t *testing.T) {
	url := newTaskShop(t, tasks.Options{}).serve(t)
	cs := connect(t, url, &answer.Options{Answerer: shipScript})
	_, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Two"}, shipScript)
	var left *answer.TaskError
	var missing *answer.MissingError
	if !errors.As(err, &left) || !left.Left() || !errors.As(err, &missing) || missing.Key != "who" || !strings.Contains(err.Error(), "goes on without this client") {
		t.Fatalf("%v", err)
	}
	_ = cs.Close()

	asked := &recorder{Answerer: answer.Script{"who": answer.Accept(answer.Values{"input": "Ada"})}}
	cs = connect(t, url, &answer.Options{Answerer: asked})
	task, err := answer.GetTask(testContext(t), cs, left.Task.ID)
	if err != nil || task.Status != answer.TaskInputRequired || len(task.Requests) != 1 || task.Requests[0].Key != "who" || task.Created.IsZero() || task.TTL != 7*24*time.Hour || task.PollInterval != 100*time.Millisecond {
		t.Errorf("%+v, %v", task, err)
	}
	for range 2 { // The second time there is only the result to fetch.
		res, err := answer.WaitTask(testContext(t), cs, left.Task.ID, nil)
		if err != nil || text(t, res) != "shipped 1Z999 to Ada" || len(asked.seen) != 1 {
			t.Errorf("%v, %v, asked %d times", res, err, len(asked.seen))
		}
	}
}

// Several wait for one task: a question that one answers goes away at the others.
func TestTaskAnsweredElsewhere(t *testing.T) {
	answer.SetTaskTimes(t, answer.TaskTimes{Watch: 10 * time.Millisecond})
	url := newTaskShop(t, tasks.Options{}).serve(t)
	cs := connect(t, url, &answer.Options{Answerer: shipScript})
	asked := make(chan string, 1)
	type end struct {
		res *mcp.CallToolResult
		err error
	}
	ended := make(chan end, 1)
	go func() {
		res, err := answer.CallTool(t.Context(), cs, &mcp.CallToolParams{Name: "Ship"}, answer.AnswererFunc(func(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
			asked <- r.TaskID
			<-ctx.Done() // A person who does not answer.
			return nil, context.Cause(ctx)
		}))
		ended <- end{res, err}
	}()
	id := <-asked
	other := connect(t, url, &answer.Options{Answerer: shipScript})
	if res, err := answer.WaitTask(testContext(t), other, id, nil); err != nil || text(t, res) != "shipped as 1Z999" {
		t.Errorf("%v, %v", res, err)
	}
	if e := <-ended; e.err != nil || text(t, e.res) != "shipped as 1Z999" {
		t.Errorf("%v, %v", e.res, e.err)
	}
}

// The end of the context leaves the task, and the caller decides what becomes of it.
func TestTaskContextEnds(t *testing.T) {
	shop := newTaskShop(t, tasks.Options{})
	url := shop.serve(t)
	cs := connect(t, url, nil)
	begin := func() string {
		ctx, cancel := context.WithCancelCause(testContext(t))
		watched := connect(t, url, &answer.Options{Task: func(task *answer.Task) {
			if task.Message == "3 of 10" {
				cancel(errors.New("enough"))
			}
		}})
		res, err := answer.CallTool(ctx, watched, &mcp.CallToolParams{Name: "Wait"}, nil)
		var left *answer.TaskError
		if res != nil || !errors.As(err, &left) || !left.Left() || left.Task.Tool != "Wait" || left.Err.Error() != "enough" {
			t.Fatalf("%v, %v", res, err)
		}
		return left.Task.ID
	}

	id := begin()
	if err := answer.CancelTask(testContext(t), cs, id); err != nil {
		t.Error(err)
	}
	_, err := answer.WaitTask(testContext(t), cs, id, nil)
	var ended *answer.TaskError
	if !errors.Is(err, answer.ErrTaskCancelled) || !errors.As(err, &ended) || ended.Left() {
		t.Errorf("%v", err)
	}
	if err := answer.CancelTask(testContext(t), cs, id); err != nil { // Acknowledged, ignored.
		t.Error(err)
	}

	id = begin()
	close(shop.release)
	if res, err := answer.WaitTask(testContext(t), cs, id, nil); err != nil || text(t, res) != "released" {
		t.Errorf("%v, %v", res, err)
	}
}

func TestTaskUnknown(t *testing.T) {
	cs := connect(t, newTaskShop(t, tasks.Options{}).serve(t), nil)
	_, get := answer.GetTask(testContext(t), cs, "no such")
	_, wait := answer.WaitTask(testContext(t), cs, "no such", nil)
	for _, err := range []error{get, wait, answer.CancelTask(testContext(t), cs, "no such")} {
		var e *answer.TaskError
		if !errors.Is(err, answer.ErrTaskUnknown) || !errors.As(err, &e) || e.Left() || e.Task.ID != "no such" {
			t.Errorf("%v", err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 5000)} {
		if _, err := answer.GetTask(testContext(t), cs, id); err == nil || !strings.Contains(err.Error(), "1 to 4096 bytes") {
			t.Errorf("%v", err)
		}
	}
	// An id that no header can hold as it is.
	if _, err := answer.GetTask(testContext(t), cs, "ü\n"); !errors.Is(err, answer.ErrTaskUnknown) {
		t.Errorf("%v", err)
	}
}

// Sessions from elsewhere, and older ones, cannot follow tasks, and do not say that they can.
func TestTaskNeedsConnect(t *testing.T) {
	s := newWireServer(t, `{"resultType":"task","taskId":"1","status":"working"}`)
	for name, transport := range map[string]mcp.Transport{
		"bare":    &mcp.StreamableClientTransport{Endpoint: s.URL},
		"wrapped": answer.Wrap(&mcp.StreamableClientTransport{Endpoint: s.URL}),
	} {
		client := mcp.NewClient(impl, &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}})
		cs, err := client.Connect(testContext(t), transport, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer cs.Close()
		_, err = answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Ship"}, nil)
		var typ *answer.ResultTypeError
		if !errors.As(err, &typ) || typ.Type != "task" || !strings.Contains(err.Error(), "answer.Connect") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := answer.GetTask(testContext(t), cs, "1"); err == nil || !strings.Contains(err.Error(), "answer.Connect") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range s.seen(t, 2) {
		if strings.Contains(r.body, "extensions") {
			t.Errorf("declared: %s", r.body)
		}
	}

	// The session's own calls get no handle that their caller would lose.
	s = newWireServer(t, done)
	cs := connect(t, s.URL, nil)
	if _, err := cs.CallTool(testContext(t), &mcp.CallToolParams{Name: "Ship"}); err != nil {
		t.Fatal(err)
	}
	if body := s.seen(t, 1)[0].body; strings.Contains(body, "extensions") {
		t.Errorf("declared: %s", body)
	}

	cs = connect(t, newTaskShop(t, tasks.Options{}).serve(t), &answer.Options{ProtocolVersion: "2025-11-25"})
	if _, err := answer.GetTask(testContext(t), cs, "1"); err == nil || !strings.Contains(err.Error(), "older protocol") {
		t.Errorf("%v", err)
	}
	_, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Wait"}, nil)
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != mcp.CodeMissingRequiredClientCapabilities {
		t.Errorf("%v", err)
	}
}

// Where the server tells of changes, they are seen at once; else, and when that fails, by looking.
func TestTaskNotifications(t *testing.T) {
	answer.SetTaskTimes(t, answer.TaskTimes{Listened: time.Hour, Relisten: 10 * time.Millisecond})
	shop := newTaskShop(t, tasks.Options{PollInterval: time.Minute})
	var listens, looks atomic.Int32
	var refuse atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Mcp-Method") {
		case "subscriptions/listen":
			listens.Add(1)
			if refuse.Load() {
				http.Error(w, "no streams here", http.StatusBadGateway)
				return
			}
		case "tasks/get":
			looks.Add(1)
		}
		shop.handler.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	defer proxy.CloseClientConnections()
	for _, transport := range []string{"http", "memory"} {
		working := make(chan struct{}, 100)
		opts := &answer.Options{Task: func(task *answer.Task) {
			if task.Message == "3 of 10" {
				working <- struct{}{}
			}
		}}
		var cs *mcp.ClientSession
		if transport == "http" {
			cs = connect(t, proxy.URL, opts)
		} else {
			client, server := mcp.NewInMemoryTransports()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { _ = shop.Run(ctx, server) }()
			var err error
			if cs, err = answer.ConnectTransport(testContext(t), impl, client, opts); err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
		}
		ended := make(chan error, 1)
		go func() {
			res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Wait"}, nil)
			if err == nil && res.Content[0].(*mcp.TextContent).Text != "released" {
				err = fmt.Errorf("%+v", res)
			}
			ended <- err
		}()
		<-working // Within the minute between two looks.
		close(shop.release)
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", transport, err)
		}
		shop.release = make(chan struct{})
	}
	if n := listens.Load(); n != 1 {
		t.Errorf("%d streams", n)
	}
	if n := looks.Load(); n == 0 || n > 10 {
		t.Errorf("%d looks", n)
	}

	refuse.Store(true)
	shop = newTaskShop(t, tasks.Options{})
	close(shop.release)
	cs := connect(t, proxy.URL, nil)
	if res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Wait"}, nil); err != nil || text(t, res) != "released" {
		t.Errorf("%v, %v", res, err)
	}
}
