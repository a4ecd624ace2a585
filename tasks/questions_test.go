package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type shipment struct {
	TrackingNumber string `json:"trackingNumber" elicit:"minLength=3"`
}

var (
	ship    = elicit.NewQuestion[shipment]("ship", "Ship this order")
	machine = elicit.Input("machine", "Which machine?")
	region  = elicit.Input("region", "Which region?")
)

// shipOrder is written for the form flow, and knows nothing of tasks.
func shipOrder(ctx context.Context) (string, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return "", err
	}
	s, ok := answer.Value()
	if !ok {
		return "Shipping cancelled.", nil
	}
	return "Shipped as " + s.TrackingNumber + ".", nil
}

func TestAQuestionIsAskedAgainUnderANewKeyUntilItsAnswerIsValid(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, elicit.Asks(ship), tasks.Required) })
	id := i.create("ann", "ShipOrder", `{}`)
	if task := i.until("ann", id, "input_required"); !slices.Equal(keys(task), []string{"ship"}) {
		t.Fatalf("asked %v", task)
	}
	if task := i.get("ann", id); !slices.Equal(keys(task), []string{"ship"}) { // the same on every poll
		t.Fatalf("asked %v", task)
	}
	i.update("ann", id, `{"ship":{"action":"accept","content":{"trackingNumber":"x"}}}`)
	var task object
	eventually(t, func() bool { task = i.get("ann", id); return slices.Equal(keys(task), []string{"ship#2"}) }, func() string { return fmt.Sprint(task) })
	again := fmt.Sprint(task["inputRequests"])
	if !strings.Contains(again, "Tracking Number") || !strings.Contains(again, "default:x") && !strings.Contains(again, "x") {
		t.Errorf("the re-ask does not say what was wrong: %s", again)
	}
	i.update("ann", id, `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`) // a key that was answered
	i.update("ann", id, `{"nobody asked":{"action":"accept"},"ship#2":"no object"}`)
	if task := i.get("ann", id); !slices.Equal(keys(task), []string{"ship#2"}) {
		t.Fatalf("an answer to nothing was taken: %v", task)
	}
	i.update("ann", id, `{"ship#2":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`)
	if got := text(t, i.until("ann", id, "completed")); got != "Shipped as 1Z999." {
		t.Error(got)
	}
	i.update("ann", id, `{"ship#2":{"action":"decline"}}`) // acknowledged, ignored
	if got := text(t, i.get("ann", id)); got != "Shipped as 1Z999." {
		t.Error(got)
	}
}

func TestAnswersStayWrong(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	id := i.create("ann", "ShipOrder", `{}`)
	for n := range 3 {
		task := i.until("ann", id, "input_required")
		key := "ship"
		if n > 0 {
			key = fmt.Sprintf("ship#%d", n+1)
		}
		eventually(t, func() bool { task = i.get("ann", id); return slices.Equal(keys(task), []string{key}) }, func() string { return fmt.Sprint(task) })
		i.update("ann", id, fmt.Sprintf(`{%q:{"action":"accept","content":{"trackingNumber":"?"}}}`, key))
	}
	task := i.until("ann", id, "completed")
	if r := task["result"].(object); r["isError"] != true || strings.Contains(text(t, task), "?") {
		t.Errorf("got %v", r)
	}
}

func TestSeveralQuestionsMayBeAnsweredOneByOne(t *testing.T) {
	var runs atomic.Int32
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Deploy", func(ctx context.Context) (string, error) {
			runs.Add(1)
			var m, r elicit.Answer[string]
			if err := elicit.RequireAll(ctx, machine.Into(&m), region.Into(&r)); err != nil {
				return "", err
			}
			name, _ := m.Value()
			place, _ := r.Value()
			return name + " in " + place, nil
		}, tasks.Required)
	})
	id := i.create("ann", "Deploy", `{}`)
	if task := i.until("ann", id, "input_required"); len(keys(task)) != 2 {
		t.Fatalf("asked %v", task)
	}
	i.update("ann", id, `{"region":{"action":"accept","content":{"input":"north"}}}`)
	if task := i.get("ann", id); task["status"] != "input_required" || !slices.Equal(keys(task), []string{"machine"}) {
		t.Fatalf("after one answer: %v", task)
	}
	i.update("ann", id, `{"machine":{"action":"accept","content":{"input":"m1"}}}`)
	if got := text(t, i.until("ann", id, "completed")); got != "m1 in north" {
		t.Error(got)
	}
	if n := runs.Load(); n != 2 {
		t.Errorf("the handler ran %d times: once to ask, once with both answers", n)
	}
}

func TestConcurrentAnswers(t *testing.T) {
	const n = 20
	var runs atomic.Int32
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Ask", func(ctx context.Context) (string, error) {
			runs.Add(1)
			answers := make([]elicit.Answer[string], n)
			var ask []elicit.Pending
			for k := range n {
				ask = append(ask, machine.WithKey(fmt.Sprint("k", k)).Into(&answers[k]))
			}
			if err := elicit.RequireAll(ctx, ask...); err != nil {
				return "", err
			}
			var all []string
			for _, a := range answers {
				v, _ := a.Value()
				all = append(all, v)
			}
			return strings.Join(all, " "), nil
		}, tasks.Required)
	})
	id := i.create("ann", "Ask", `{}`)
	i.until("ann", id, "input_required")
	var wg sync.WaitGroup
	for k := range n {
		for range 2 { // each twice: one counts
			wg.Go(func() {
				i.update("ann", id, fmt.Sprintf(`{"k%d":{"action":"accept","content":{"input":"a%d"}}}`, k, k))
			})
		}
	}
	wg.Wait()
	got := text(t, i.until("ann", id, "completed"))
	for k := range n {
		if !slices.Contains(strings.Fields(got), fmt.Sprint("a", k)) {
			t.Errorf("answer %d was lost: %s", k, got)
		}
	}
	if runs.Load() != 2 {
		t.Errorf("the handler ran %d times", runs.Load())
	}
}

func TestAFormInATaskIsTheFormOfTheCall(t *testing.T) {
	question := elicit.NewFormQuestion("q", "Which?", form.New(form.Choice("carrier", form.Opt("ups", "UPS")).Required()))
	ask := func(ctx context.Context) (string, error) {
		_, err := question.Require(ctx)
		return "", err
	}
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Task", ask, tasks.Required)
		addTool(s, "Call", ask, tasks.Synchronous)
	})
	id := i.create("ann", "Task", `{}`)
	asked := fmt.Sprint(i.until("ann", id, "input_required")["inputRequests"])
	if called := fmt.Sprint(i.call("ann", "Call", `{}`).Result["inputRequests"]); called != asked {
		t.Errorf("a task asks\n%s, a call\n%s", asked, called)
	}
}

// A handler that asks by itself, as the SDK has it, runs as a task too, with its own state.
func TestAHandlerThatAsksByItself(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		elicit.AddTool(s, &mcp.Tool{Name: "Own"}, func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if r, ok := req.Params.InputResponses["q"].(*mcp.ElicitResult); ok {
				return elicit.Text(fmt.Sprint(r.Content["n"], " ", req.Params.RequestState)), nil, nil
			}
			return &mcp.CallToolResult{RequestState: "own", InputRequests: mcp.InputRequestMap{
				"q": &mcp.ElicitParams{Mode: "form", Message: "n?", RequestedSchema: object{"type": "object", "properties": object{"n": object{"type": "integer"}}}}}}, nil, nil
		}, tasks.Required)
	})
	id := i.create("ann", "Own", `{}`)
	task := i.until("ann", id, "input_required")
	if strings.Contains(fmt.Sprint(task), "own") {
		t.Errorf("the handler's state is on the wire: %v", task)
	}
	i.update("ann", id, `{"q":{"action":"accept","content":{"n":9007199254740993}}}`)
	if got := text(t, i.until("ann", id, "completed")); !strings.HasSuffix(got, " own") {
		t.Error(got)
	}
}
