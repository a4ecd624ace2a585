package tasks_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// counting counts the tasks that a store has ever been given.
type counting struct {
	tasks.Store
	created atomic.Int32
}

func (c *counting) Create(ctx context.Context, r tasks.Row, n tasks.Next, l tasks.Limits) (tasks.Row, error) {
	c.created.Add(1)
	return c.Store.Create(ctx, r, n, l)
}

func TestAFastOptionalToolWritesNoRow(t *testing.T) {
	store := &counting{Store: tasks.NewMemoryStore()}
	i := start(t, tasks.Options{Store: store, Grace: time.Minute}, func(s *elicit.Server) {
		addTool(s, "Fast", func(context.Context) (string, error) { time.Sleep(2 * time.Millisecond); return "done", nil })
		addTool(s, "Fails", func(context.Context) (string, error) { return "", errors.New("no") })
		addTool(s, "Panics", func(context.Context) (string, error) { panic("no") })
		addTool(s, "Asks", shipOrder)
	})
	if a := i.call("ann", "Fast", `{}`); a.Result["resultType"] != "complete" || !strings.Contains(a.body, "done") {
		t.Errorf("got %s", a.body)
	}
	if a := i.call("ann", "Fails", `{}`); a.Result["isError"] != true {
		t.Errorf("got %s", a.body)
	}
	if a := i.call("ann", "Panics", `{}`); a.status != 500 || a.code() != -32603 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if a := i.call("ann", "Asks", `{}`); a.Result["resultType"] != "input_required" {
		t.Errorf("got %s", a.body)
	}
	if n := store.created.Load(); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

func TestASlowOptionalToolGoesOnAsATask(t *testing.T) {
	var runs, fetched atomic.Int32
	proceed := make(chan struct{})
	var ids []string
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Slow", func(ctx context.Context) (string, error) {
			runs.Add(1)
			ids = append(ids, elicit.CallID(ctx))
			price, err := elicit.Step(ctx, "price", func(context.Context) (int, error) { return int(fetched.Add(1)) * 100, nil })
			if err != nil {
				return "", err
			}
			<-proceed // the client has its handle
			if tasks.ID(ctx) == "" {
				return "", errors.New("it does not know that it is a task")
			}
			stock, err := elicit.Step(ctx, "stock", func(context.Context) (int, error) { return int(fetched.Add(1)), nil })
			if err != nil {
				return "", err
			}
			m, err := machine.Value(ctx)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s for %d, %d left", m, price, stock), nil
		})
	})
	id := i.create("ann", "Slow", `{}`)
	if task := i.get("ann", id); task["status"] != "working" {
		t.Errorf("got %v", task)
	}
	close(proceed)
	i.until("ann", id, "input_required")
	i.update("ann", id, `{"machine":{"action":"accept","content":{"input":"m1"}}}`)
	if got := text(t, i.until("ann", id, "completed")); got != "m1 for 100, 2 left" {
		t.Error(got)
	}
	if runs.Load() != 2 || fetched.Load() != 2 {
		t.Errorf("%d runs, %d steps", runs.Load(), fetched.Load())
	}
	if ids[0] != ids[1] {
		t.Errorf("the call id changed: %v", ids)
	}
}

func TestTheClientOfASlowToolGoesAway(t *testing.T) {
	gone := make(chan error, 1)
	entered := make(chan struct{})
	i := start(t, tasks.Options{Grace: time.Minute}, func(s *elicit.Server) {
		addTool(s, "Slow", func(ctx context.Context) (string, error) {
			close(entered)
			<-ctx.Done()
			gone <- ctx.Err()
			return "", ctx.Err()
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	_, _ = http.DefaultClient.Do(i.request("ann", capabilities, "tools/call", "Slow", `"name":"Slow","arguments":{}`).WithContext(ctx))
	if err := <-gone; err == nil {
		t.Error("the handler was not told")
	}
}

// What a handler of a slow tool reports comes while the client waits, and is dropped afterwards, whichever way the request
// came.
func TestProgressOfASlowTool(t *testing.T) {
	for _, way := range []string{"express", "through the SDK"} {
		t.Run(way, func(t *testing.T) {
			handed := make(chan struct{})
			i := start(t, tasks.Options{}, func(s *elicit.Server) {
				elicit.AddTool(s, &mcp.Tool{Name: "Slow"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
					report := func(n float64) error {
						return req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: n})
					}
					if err := report(1); err != nil {
						return nil, nil, err
					}
					<-handed
					if err := report(2); err != nil {
						return nil, nil, fmt.Errorf("after the handle: %w", err)
					}
					return elicit.Text("done"), nil, nil
				})
			})
			i.call("ann", "unknown", `{}`)
			more := ``
			if way != "express" {
				more = `,"io.modelcontextprotocol/logLevel":"info"`
			}
			r := i.request("ann", capabilities+`,"progressToken":"p"`+more, "tools/call", "Slow", `"name":"Slow","arguments":{}`)
			a := i.do(r)
			id, _ := a.Result["taskId"].(string)
			if !strings.Contains(a.body, `"progress":1`) || id == "" {
				t.Fatalf("got %s", a.body)
			}
			close(handed)
			if task := i.until("ann", id, "completed"); text(t, task) != "done" {
				t.Errorf("got %v", task)
			}
		})
	}
}

func TestAtBeginAsksOnTheCallAndWorksAsATask(t *testing.T) {
	var fetched atomic.Int32
	handler := func(ctx context.Context) (string, error) {
		price, err := elicit.Step(ctx, "price", func(context.Context) (int, error) { return int(fetched.Add(1)) * 100, nil })
		if err != nil {
			return "", err
		}
		m, err := machine.WithMessagef("Which machine, for %d?", price).Value(ctx)
		if err != nil {
			return "", err
		}
		if err := tasks.Begin(ctx); err != nil {
			return "", fmt.Errorf("beginning: %w", err)
		}
		r, err := region.Value(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s in %s for %d, task %t", m, r, price, tasks.ID(ctx) != ""), nil
	}
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "Deploy", handler, tasks.AtBegin) })
	a := i.call("ann", "Deploy", `{}`)
	state, _ := a.Result["requestState"].(string)
	if a.Result["resultType"] != "input_required" || state == "" {
		t.Fatalf("got %s", a.body)
	}
	retry := fmt.Sprintf(`"name":"Deploy","arguments":{},"requestState":%q,"inputResponses":{"machine":{"action":"accept","content":{"input":"m1"}}}`, state)
	a = i.do(i.request("ann", capabilities, "tools/call", "Deploy", retry))
	id, _ := a.Result["taskId"].(string)
	if id == "" || strings.Contains(a.body, "requestState") {
		t.Fatalf("got %s", a.body)
	}
	if a := i.do(i.request("ann", capabilities, "tools/call", "Deploy", retry)); a.code() != -32602 { // the round is spent
		t.Errorf("the round that began the task was taken twice: %s", a.body)
	}
	i.until("ann", id, "input_required")
	i.update("ann", id, `{"region":{"action":"accept","content":{"input":"north"}}}`)
	if got := text(t, i.until("ann", id, "completed")); got != "m1 in north for 100, task true" {
		t.Error(got)
	}
	if fetched.Load() != 1 {
		t.Errorf("the step ran %d times", fetched.Load())
	}

	// To a client without tasks there is nothing to begin.
	const plain = `{"elicitation":{}}`
	a = i.do(i.request("ann", plain, "tools/call", "Deploy", `"name":"Deploy","arguments":{}`))
	a = i.do(i.request("ann", plain, "tools/call", "Deploy", fmt.Sprintf(`"name":"Deploy","arguments":{},"requestState":%q,"inputResponses":{"machine":{"action":"accept","content":{"input":"m1"}}}`, a.Result["requestState"])))
	a = i.do(i.request("ann", plain, "tools/call", "Deploy", fmt.Sprintf(`"name":"Deploy","arguments":{},"requestState":%q,"inputResponses":{"region":{"action":"accept","content":{"input":"north"}}}`, a.Result["requestState"])))
	if !strings.Contains(a.body, "m1 in north for 200, task false") {
		t.Errorf("got %s", a.body)
	}
	if err := tasks.Begin(elicittest.Context(t)); err != nil {
		t.Errorf("without a server: %v", err)
	}
}

func TestBeginMustBeReturned(t *testing.T) {
	store := &counting{Store: tasks.NewMemoryStore()}
	i := start(t, tasks.Options{Store: store}, func(s *elicit.Server) {
		addTool(s, "Swallows", func(ctx context.Context) (string, error) {
			_ = tasks.Begin(ctx)
			return "done", nil
		}, tasks.AtBegin)
		addTool(s, "AsksToo", func(ctx context.Context) (string, error) {
			_, _ = ship.Require(ctx)
			return "", tasks.Begin(ctx)
		}, tasks.AtBegin)
	})
	if a := i.call("ann", "Swallows", `{}`); a.code() != -32603 || !strings.Contains(a.Error.Message, "tasks.Begin") {
		t.Errorf("got %s", a.body)
	}
	if a := i.call("ann", "AsksToo", `{}`); a.code() != -32603 || !strings.Contains(a.Error.Message, "while it asks") {
		t.Errorf("got %s", a.body)
	}
	if store.created.Load() != 0 {
		t.Error("a task was made")
	}
}

func TestModeOfARequest(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Either", func(ctx context.Context) (string, error) { return tasks.ID(ctx), nil },
			tasks.ModeFunc(func(_ context.Context, r *mcp.CallToolRequest) tasks.Mode {
				if r.Extra.Header.Get("X-User") == "ann" {
					return tasks.Required
				}
				return 0
			}))
	})
	id := i.create("ann", "Either", `{}`)
	if got := text(t, i.until("ann", id, "completed")); got != id {
		t.Errorf("tasks.ID is %q in task %q", got, id)
	}
	if a := i.call("bob", "Either", `{}`); a.Result["resultType"] != "complete" {
		t.Errorf("got %s", a.body)
	}
}

// A tool that was written for the form flow runs as a call, as a task, and for a client of 2025-11-25.
func TestOneToolThreeWays(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", shipOrder, elicit.Asks(ship))
		addTool(s, "ShipLater", shipOrder, elicit.Asks(ship), tasks.Required)
	})
	const want, answer = "Shipped as 1Z999.", `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`

	// A call: two rounds of tools/call.
	if a := i.call("ann", "ShipOrder", `{}`); a.Result["resultType"] != "input_required" {
		t.Fatalf("got %s", a.body)
	}
	a := i.do(i.request("ann", capabilities, "tools/call", "ShipOrder", `"name":"ShipOrder","arguments":{},"inputResponses":`+answer))
	if !strings.Contains(a.body, want) {
		t.Errorf("as a call: %s", a.body)
	}

	// A task.
	id := i.create("ann", "ShipLater", `{}`)
	i.until("ann", id, "input_required")
	i.update("ann", id, answer)
	if got := text(t, i.until("ann", id, "completed")); got != want {
		t.Errorf("as a task: %s", got)
	}

	// A client of the SDK, of 2025-11-25: asked over its session, while the handler waits.
	client := mcp.NewClient(&mcp.Implementation{Name: "old", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: object{"trackingNumber": "1Z999"}}, nil
		}})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: i.url}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ShipOrder"})
	if err != nil || res.Content[0].(*mcp.TextContent).Text != want {
		t.Errorf("for a client of 2025-11-25: %v, %v", res, err)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ShipLater"}); err == nil || !strings.Contains(err.Error(), "io.modelcontextprotocol/tasks") {
		t.Errorf("a tool that must be a task, for a client that knows none: %v", err)
	}
}

func TestOverStdio(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	p := i.stdio()
	send := func(id int, method, params string) object {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s},%s}}`, id, method, capabilities, params))
		return p.response(id)
	}
	created := send(1, "tools/call", `"name":"ShipOrder","arguments":{}`)["result"].(object)
	id, _ := created["taskId"].(string)
	if id == "" {
		t.Fatalf("got %v", created)
	}
	n := 1
	var task object
	eventually(t, func() bool {
		n++
		task = send(n, "tasks/get", fmt.Sprintf(`"taskId":%q`, id))["result"].(object)
		return task["status"] == "input_required"
	}, func() string { return fmt.Sprint(task) })
	send(n+1, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{"ship":{"action":"decline"}}`, id))
	n++
	eventually(t, func() bool {
		n++
		task = send(n, "tasks/get", fmt.Sprintf(`"taskId":%q`, id))["result"].(object)
		return task["status"] == "completed"
	}, func() string { return fmt.Sprint(task) })
	if text(t, task) != "Shipping cancelled." {
		t.Errorf("got %v", task)
	}
	if e := send(n+1, "tasks/get", `"taskId":"unknown"`)["error"].(object); e["code"] != -32602.0 {
		t.Errorf("got %v", e)
	}

	// What is no request of 2026-07-28 knows no such method.
	old := i.stdio()
	old.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
	old.response(1)
	old.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	old.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":%q}}`, id))
	if e := old.response(2)["error"].(object); e["code"] != -32601.0 {
		t.Errorf("got %v", e)
	}
}

// pipe is a client on standard input and output.
type pipe struct {
	t   *testing.T
	in  *bufio.Writer
	out chan object
}

func (p *pipe) send(line string) {
	p.t.Helper()
	if _, err := p.in.WriteString(line + "\n"); err != nil {
		p.t.Fatal(err)
	}
	if err := p.in.Flush(); err != nil {
		p.t.Fatal(err)
	}
}

// next is the next message of the server.
func (p *pipe) next() object {
	p.t.Helper()
	select {
	case m := <-p.out:
		return m
	case <-time.After(20 * time.Second):
		p.t.Fatal("the server says nothing")
		return nil
	}
}

func (p *pipe) response(id int) object {
	p.t.Helper()
	for {
		if m := p.next(); m["id"] == float64(id) {
			return m
		}
	}
}
