package answer_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	askShip = `{"resultType":"input_required","inputRequests":{"ship":{"method":"elicitation/create","params":{"mode":"form","message":"Ship this order","requestedSchema":{"type":"object","properties":{"trackingNumber":{"type":"string","title":"Tracking Number"}},"required":["trackingNumber"]}}}}}`
	done    = `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
)

var shipScript = answer.Script{"ship": answer.Accept(answer.Values{"trackingNumber": "1Z999"})}

func call(t *testing.T, s *wireServer, a answer.Answerer) (*mcp.CallToolResult, error) {
	t.Helper()
	cs := connect(t, s.URL, &answer.Options{Answerer: a})
	return answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "ShipOrder"}, a)
}

// The seed's two POSTs.
func TestCallToolSendsTheSecondPost(t *testing.T) {
	for _, sse := range []bool{false, true} {
		s := newWireServer(t, askShip, done)
		s.sse = sse
		res, err := call(t, s, shipScript)
		if err != nil {
			t.Fatal(err)
		}
		if text(t, res) != "done" {
			t.Errorf("result %+v", res)
		}
		seen := s.seen(t, 2)
		if got, want := string(seen[1].params["inputResponses"]), `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`; got != want {
			t.Errorf("inputResponses\n got %s\nwant %s", got, want)
		}
		for i, r := range seen {
			if _, ok := r.params["requestState"]; ok {
				t.Errorf("round %d sends a requestState that never came: %s", i+1, r.body)
			}
			if string(r.params["arguments"]) != "{}" || string(r.params["name"]) != `"ShipOrder"` {
				t.Errorf("round %d: %s", i+1, r.body)
			}
			if got := string(r.params["_meta"]); !strings.Contains(got, `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`) {
				t.Errorf("round %d: _meta %s", i+1, got)
			}
			for name, want := range map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ShipOrder"} {
				if r.header.Get(name) != want {
					t.Errorf("round %d: %s: %q, want %q", i+1, name, r.header.Get(name), want)
				}
			}
		}
		if seen[0].id == seen[1].id {
			t.Errorf("both rounds have the id %s", seen[0].id)
		}
		if _, ok := seen[0].params["inputResponses"]; ok {
			t.Errorf("the first round has inputResponses: %s", seen[0].body)
		}
	}
}

func TestCallToolDeclinesAndCancels(t *testing.T) {
	for action, reply := range map[string]answer.Reply{"decline": answer.Decline(), "cancel": answer.Cancel()} {
		s := newWireServer(t, askShip, done)
		if _, err := call(t, s, answer.Script{"ship": reply}); err != nil {
			t.Fatal(err)
		}
		if got, want := string(s.seen(t, 2)[1].params["inputResponses"]), `{"ship":{"action":"`+action+`"}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestCallToolKeepsOrderAndNumbers(t *testing.T) {
	ask := `{"resultType":"input_required","requestState":"s<1>\u0026é","inputRequests":{
		"zebra":{"method":"elicitation/create","params":{"message":"first","requestedSchema":{"type":"object","properties":{
			"z":{"type":"integer","default":9007199254740993},"m":{"type":"number"},"a":{"type":"string"}},"required":["z","m"]}}},
		"apple":{"method":"elicitation/create","params":{"message":"second","requestedSchema":{"type":"object","properties":{}}}}}}`
	for _, sse := range []bool{false, true} {
		s := newWireServer(t, ask, done)
		s.sse = sse
		rec := &recorder{Answerer: answer.Script{
			"zebra": answer.Accept(answer.Values{"m": answer.Text{"12345678901234567890.5"}}),
			"apple": answer.Accept(nil),
		}}
		if _, err := call(t, s, rec); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, r := range rec.seen {
			keys = append(keys, r.Key)
			if !r.Exact || r.Round != 1 || r.Tool != "ShipOrder" || r.Server != s.URL || r.ServerName != "wire" ||
				r.Params.Mode != "form" || !slices.Equal(r.Asked, []string{"zebra", "apple"}) {
				t.Errorf("request %+v", r)
			}
		}
		if !slices.Equal(keys, []string{"zebra", "apple"}) {
			t.Errorf("asked in the order %q", keys)
		}
		fields, err := rec.seen[0].Fields()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range fields {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, []string{"z", "m", "a"}) {
			t.Errorf("fields %q", names)
		}
		second := s.seen(t, 2)[1]
		if got, want := string(second.params["inputResponses"]), `{"apple":{"action":"accept"},"zebra":{"action":"accept","content":{"m":12345678901234567890.5,"z":9007199254740993}}}`; got != want {
			t.Errorf("inputResponses\n got %s\nwant %s", got, want)
		}
		var state string
		if err := json.Unmarshal(second.params["requestState"], &state); err != nil || state != "s<1>&é" {
			t.Errorf("requestState %s", second.params["requestState"])
		}
	}
}

func TestCallToolForgetsTheStateThatIsGone(t *testing.T) {
	s := newWireServer(t, `{"resultType":"input_required","requestState":"one"}`, askShip, done)
	answer.SetPauses(t, 0, 0)
	if _, err := call(t, s, shipScript); err != nil {
		t.Fatal(err)
	}
	seen := s.seen(t, 3)
	if string(seen[1].params["requestState"]) != `"one"` || seen[1].params["inputResponses"] != nil {
		t.Errorf("round 2: %s", seen[1].body)
	}
	if seen[2].params["requestState"] != nil || seen[2].params["inputResponses"] == nil {
		t.Errorf("round 3: %s", seen[2].body)
	}
}

func TestCallToolGivesUp(t *testing.T) {
	answer.SetPauses(t, 0, 0)
	var rounds *answer.RoundsError
	never := answer.AnswererFunc(func(context.Context, *answer.Request) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: answer.ActionDecline}, nil
	})
	s := newWireServer(t, askShip)
	if _, err := call(t, s, never); !errors.As(err, &rounds) || rounds.Waiting || rounds.Rounds != 100 {
		t.Errorf("asked for ever: %v", err)
	}
	s = newWireServer(t, `{"resultType":"input_required","requestState":"x"}`)
	if _, err := call(t, s, never); !errors.As(err, &rounds) || !rounds.Waiting {
		t.Errorf("waited for ever: %v", err)
	}
}

func TestCallToolReportsAFailedAnswerAndCancels(t *testing.T) {
	two := `{"resultType":"input_required","inputRequests":{"a":` + oneQuestion + `,"b":` + oneQuestion + `,"c":` + oneQuestion + `}}`
	s := newWireServer(t, two, done)
	asked := 0
	res, err := call(t, s, answer.AnswererFunc(func(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		asked++
		if r.Key == "b" {
			return nil, errors.New("the window broke")
		}
		return &mcp.ElicitResult{Action: "accept"}, nil
	}))
	var failure *answer.AnswerError
	if !errors.As(err, &failure) || failure.Key != "b" || failure.Tool != "ShipOrder" || !strings.Contains(err.Error(), "the window broke") {
		t.Errorf("error %v", err)
	}
	if text(t, res) != "done" {
		t.Errorf("result %+v", res)
	}
	if got, want := string(s.seen(t, 2)[1].params["inputResponses"]), `{"a":{"action":"accept"},"b":{"action":"cancel"},"c":{"action":"cancel"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if asked != 2 {
		t.Errorf("asked %d questions, want 2: the third came after the failure", asked)
	}

	// A server that does not take the cancel for an end is left alone.
	s = newWireServer(t, askShip)
	res, err = call(t, s, answer.Script{})
	var missing *answer.MissingError
	if res != nil || !errors.As(err, &missing) || missing.Key != "ship" || !slices.Equal(missing.Fields, []string{"trackingNumber"}) {
		t.Errorf("%+v, %v", res, err)
	}
	s.seen(t, 2)
}

const oneQuestion = `{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}`

func TestCallToolErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		result string
		check  func(error) bool
	}{
		"future type": {`{"resultType":"later"}`, func(err error) bool {
			var e *answer.ResultTypeError
			return errors.As(err, &e) && e.Type == "later"
		}},
		"task without id":      {`{"resultType":"task","status":"working"}`, contains("task is broken: it has no taskId")},
		"task in no status":    {`{"resultType":"task","taskId":"1","status":"paused"}`, contains(`its status is "paused", which this client does not know`)},
		"task without methods": {`{"resultType":"task","taskId":"1","status":"working"}`, contains("the server has no tasks")},
		"sampling": {`{"resultType":"input_required","inputRequests":{"ok":` + oneQuestion + `,"model":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}}`, func(err error) bool {
			var e *answer.UnsupportedError
			return errors.As(err, &e) && e.Key == "model" && e.Method == "sampling/createMessage"
		}},
		"unknown method": {`{"resultType":"input_required","inputRequests":{"x":{"method":"future/ask","params":{}}}}`, func(err error) bool {
			var e *answer.UnsupportedError
			return errors.As(err, &e) && e.Method == "future/ask"
		}},
		"json-rpc": {`{"code":-32602,"message":"unknown tool"}`, func(err error) bool {
			var e *jsonrpc.Error
			return errors.As(err, &e) && e.Code == -32602
		}},
		"capability": {`{"code":-32021,"message":"elicitation needed"}`, func(err error) bool {
			return strings.Contains(err.Error(), "answer.Options.Answerer")
		}},
		"key twice":       {`{"resultType":"input_required","inputRequests":{"x":` + oneQuestion + `,"x":` + oneQuestion + `}}`, contains(`the key "x" twice`)},
		"field twice":     {strings.Replace(askShip, `"message"`, `"mode":"form","message"`, 1), contains(`two members "mode"`)},
		"state no string": {`{"resultType":"input_required","requestState":7}`, contains("requestState is not a string")},
		"requests a list": {`{"resultType":"input_required","inputRequests":[]}`, contains("inputRequests is not an object")},
		"no method":       {`{"resultType":"input_required","inputRequests":{"x":{}}}`, contains(`"x" has no method`)},
		"no params":       {`{"resultType":"input_required","inputRequests":{"x":{"method":"elicitation/create"}}}`, contains("params is not an object")},
		"type no string":  {`{"resultType":1}`, contains("resultType is not a string")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWireServer(t, tt.result)
			res, err := call(t, s, answer.AnswererFunc(func(context.Context, *answer.Request) (*mcp.ElicitResult, error) {
				t.Error("asked in vain")
				return nil, nil
			}))
			if err == nil || res != nil || !tt.check(err) {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

func contains(s string) func(error) bool {
	return func(err error) bool { return strings.Contains(err.Error(), s) }
}

func TestCallToolWithoutAnswerer(t *testing.T) {
	s := newWireServer(t, askShip, done)
	if _, err := call(t, s, nil); !errors.Is(err, answer.ErrNoAnswerer) {
		t.Errorf("%v", err)
	}
	if got := string(s.seen(t, 2)[0].params["_meta"]); strings.Contains(got, "elicitation") {
		t.Errorf("declares what nobody can answer: %s", got)
	}
	// The connection's Answerer stands in.
	s = newWireServer(t, askShip, done)
	cs := connect(t, s.URL, &answer.Options{Answerer: shipScript})
	if _, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "ShipOrder"}, nil); err != nil {
		t.Error(err)
	}
}

func TestCallToolChecksTheAnswer(t *testing.T) {
	for name, res := range map[string]*mcp.ElicitResult{
		"action":  {Action: "Accept"},
		"content": {Action: "accept", Content: map[string]any{"f": func() {}}},
	} {
		s := newWireServer(t, askShip, done)
		_, err := call(t, s, answer.AnswererFunc(func(context.Context, *answer.Request) (*mcp.ElicitResult, error) { return res, nil }))
		var failure *answer.AnswerError
		if !errors.As(err, &failure) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Nil is cancel, and content goes only with accept.
	for want, res := range map[string]*mcp.ElicitResult{
		`{"ship":{"action":"cancel"}}`:  nil,
		`{"ship":{"action":"decline"}}`: {Action: "decline", Content: map[string]any{"trackingNumber": "x"}},
	} {
		s := newWireServer(t, askShip, done)
		if _, err := call(t, s, answer.AnswererFunc(func(context.Context, *answer.Request) (*mcp.ElicitResult, error) { return res, nil })); err != nil {
			t.Error(err)
		}
		if got := string(s.seen(t, 2)[1].params["inputResponses"]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestCallToolStopsWithItsContext(t *testing.T) {
	s := newWireServer(t, askShip, done)
	cs := connect(t, s.URL, &answer.Options{Answerer: shipScript})
	ctx, cancel := context.WithCancel(testContext(t))
	_, err := answer.CallTool(ctx, cs, &mcp.CallToolParams{Name: "ShipOrder"}, answer.AnswererFunc(func(ctx context.Context, _ *answer.Request) (*mcp.ElicitResult, error) {
		cancel()
		return nil, ctx.Err()
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.seen(t, 1)
}

func TestCallToolLeavesItsParamsAlone(t *testing.T) {
	s := newWireServer(t, askShip, done)
	cs := connect(t, s.URL, &answer.Options{Answerer: shipScript})
	p := &mcp.CallToolParams{Name: "ShipOrder", Meta: mcp.Meta{"x": 1}}
	if _, err := answer.CallTool(testContext(t), cs, p, shipScript); err != nil {
		t.Fatal(err)
	}
	if p.Arguments != nil || p.InputResponses != nil || p.RequestState != "" || len(p.Meta) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestNonASCIIToolName(t *testing.T) {
	for name, want := range map[string]string{
		"größe":          "=?base64?Z3LDtsOfZQ==?=",
		" padded ":       "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":   "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?eA?=":  "=?base64?PT9iYXNlNjQ/ZUE/PQ==?=",
		"plain name/1.0": "plain name/1.0",
	} {
		s := newWireServer(t, done)
		cs := connect(t, s.URL, nil)
		if _, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: name}, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.seen(t, 1)[0].header.Get("Mcp-Name"); got != want {
			t.Errorf("Mcp-Name for %q: %q, want %q", name, got, want)
		}
	}
}
