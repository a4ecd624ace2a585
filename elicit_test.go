package elicit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type shipment struct {
	TrackingNumber string `json:"trackingNumber"`
}

var ship = elicit.NewQuestion[shipment]("ship", "Ship this order")

func shipOrder(ctx context.Context) (string, error) {
	a, err := ship.Require(ctx)
	if err != nil {
		return "", err
	}
	if s, ok := a.Value(); ok {
		return "Shipped as " + s.TrackingNumber + ".", nil
	}
	return "Shipping cancelled.", nil
}

// A server that registers everything without this library asks after one call of New, whatever middleware it has.
func TestAdoptsAnyHandler(t *testing.T) {
	server := newServer()
	var inner, outer []string
	watch := func(to *[]string) mcp.Middleware {
		return func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				res, err := next(ctx, method, req)
				if method == "tools/call" && err == nil {
					switch r := res.(type) {
					case *mcp.CallToolResult:
						*to = append(*to, fmt.Sprintf("result isError=%t asking=%t", r.IsError, errors.Is(r.GetError(), elicit.ErrAsking)))
					case interface{ NeedsInput() bool }:
						*to = append(*to, fmt.Sprintf("needsInput=%t", r.NeedsInput()))
					default:
						*to = append(*to, fmt.Sprint(res, err))
					}
				}
				return res, err
			}
		}
	}
	server.AddReceivingMiddleware(watch(&inner))
	shop := elicit.New(server, quiet(elicit.Options{}))
	server.AddReceivingMiddleware(watch(&outer))
	mcp.AddTool(server, &mcp.Tool{Name: "Typed", InputSchema: json.RawMessage(`{"type":"object"}`)}, textHandler(shipOrder))
	server.AddTool(&mcp.Tool{Name: "Raw", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s, err := shipOrder(ctx)
		if err != nil {
			return nil, fmt.Errorf("raw: %w", err)
		}
		return elicit.Text(s), nil
	})
	url := host(t, shop)
	for _, tool := range []string{"Typed", "Raw"} {
		q := request{url: url, name: tool}
		r := q.send(t)
		if !r.asks() || r.message("ship") != "Ship this order" {
			t.Fatalf("%s: %s", tool, r.body)
		}
		if r.Result.RequestState == "" {
			t.Errorf("%s: an undeclared question needs proof, so its asking has a state", tool)
		}
		if r = q.again(r, accepts("ship", m{"trackingNumber": "1Z999"})).send(t); r.text() != "Shipped as 1Z999." {
			t.Errorf("%s: %s", tool, r.body)
		}
	}
	// A raw handler's error reaches it as an error.
	if want := []string{"result isError=true asking=true", "result isError=false asking=false", "result isError=false asking=false"}; !slices.Equal(inner, want) {
		t.Errorf("middleware added before New saw %q, want %q", inner, want)
	}
	if want := []string{"needsInput=true", "result isError=false asking=false", "needsInput=true", "result isError=false asking=false"}; !slices.Equal(outer, want) {
		t.Errorf("middleware added after New saw %q, want %q", outer, want)
	}
}

func TestSecurity05SwallowedAskingErrorIsAServerBug(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "Ignored", func(ctx context.Context) (string, error) {
		_, _ = ship.Require(ctx)
		return "Shipped!", nil
	})
	addText(shop, "TurnedIntoText", func(ctx context.Context) (string, error) {
		_, err := ship.Require(ctx)
		return fmt.Sprintf("failed: %v", err), nil
	})
	addText(shop, "TurnedIntoAnotherError", func(ctx context.Context) (string, error) {
		_, err := ship.Require(ctx)
		return "", fmt.Errorf("failed: %v", err)
	})
	elicit.AddTool(shop, &mcp.Tool{Name: "TypedOutput"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, shipment, error) {
		_, _ = ship.Require(ctx)
		return nil, shipment{"none"}, nil
	})
	shop.MCP().AddTool(&mcp.Tool{Name: "Raw", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, _ = ship.Require(ctx)
		return elicit.Text("ok"), nil
	})
	shop.MCP().AddTool(&mcp.Tool{Name: "Nil", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, _ = ship.Require(ctx)
		return nil, nil
	})
	elicit.AddPrompt(shop, &mcp.Prompt{Name: "Prompt"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		_, _ = ship.Require(ctx)
		return &mcp.GetPromptResult{}, nil
	})
	url := host(t, shop)
	for _, c := range []struct{ method, name string }{
		{"", "Ignored"}, {"", "TurnedIntoText"}, {"", "TurnedIntoAnotherError"}, {"", "TypedOutput"}, {"", "Raw"}, {"", "Nil"}, {"prompts/get", "Prompt"}} {
		r := request{url: url, method: c.method, name: c.name}.send(t)
		if r.Error == nil || r.Error.Code != -32603 || !strings.HasPrefix(r.Error.Message, "server bug: ") ||
			!strings.Contains(r.Error.Message, `"ship"`) || !strings.Contains(r.Error.Message, c.name) || r.status != 200 {
			t.Errorf("%s: got %d %s, want −32603 that names tool and key", c.name, r.status, r.body)
		}
	}
}

// An asking error that is kept for later, or made up, is no asking.
func TestAskingErrorOfAnotherRoundIsAServerBug(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "Stale", func(context.Context) (string, error) { return "", elicit.ErrAsking })
	r := request{url: host(t, shop), name: "Stale"}.send(t)
	if r.Error == nil || r.Error.Code != -32603 || !strings.HasPrefix(r.Error.Message, "server bug: ") {
		t.Error(r.body)
	}
}

// A tool that insists on being a task is not run as a plain call because tasks.Enable was forgotten.
func TestRequiredTaskWithoutTasksIsAServerBug(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	ran := false
	work := func(context.Context) (string, error) { ran = true; return "", nil }
	addText(shop, "Deploy", work, tasks.Required)
	addText(shop, "Depends", work, tasks.ModeFunc(func(context.Context, *mcp.CallToolRequest) tasks.Mode { return tasks.Required }))
	addText(shop, "Not", work, tasks.ModeFunc(func(context.Context, *mcp.CallToolRequest) tasks.Mode { return tasks.Optional }))
	url := host(t, shop)
	for _, name := range []string{"Deploy", "Depends"} {
		r := request{url: url, name: name}.send(t)
		if r.Error == nil || r.Error.Code != -32603 || !strings.HasPrefix(r.Error.Message, fmt.Sprintf("server bug: tool %q", name)) ||
			!strings.Contains(r.Error.Message, "tasks.Enable") || ran {
			t.Error(r.body, ran)
		}
	}
	if r := (request{url: url, name: "Not"}).send(t); r.Error != nil || !ran {
		t.Error(r.body, ran)
	}
}

func TestPromptsAndResourcesAsk(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	q := elicit.Input("who", "Who is it for?")
	elicit.AddPrompt(shop, &mcp.Prompt{Name: "Greeting"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		who, err := q.Value(ctx)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + who}}}}, nil
	}, elicit.Asks(q))
	read := func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		who, err := q.Value(ctx)
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Cacheable: mcp.Cacheable{TTLMs: 5000, CacheScope: "public"}, Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "For " + who}}}, nil
	}
	elicit.AddResource(shop, &mcp.Resource{URI: "note://fixed", Name: "fixed"}, read, elicit.Asks(q))
	elicit.AddResourceTemplate(shop, &mcp.ResourceTemplate{URITemplate: "note://by/{id}", Name: "by id"}, read, elicit.Asks(q))
	url := host(t, shop)
	for _, c := range []struct {
		method, name string
		proof        bool
	}{{"prompts/get", "Greeting", false}, {"resources/read", "note://fixed", false}, {"resources/read", "note://by/7", true}} {
		q := request{url: url, method: c.method, name: c.name}
		r := q.send(t)
		if !r.asks() || (r.Result.RequestState != "") != c.proof {
			t.Fatalf("%s: asks=%t, state=%t, want %t: %s", c.name, r.asks(), r.Result.RequestState != "", c.proof, r.body)
		}
		for _, absent := range []string{`"messages"`, `"contents"`, `"content":`, `"ttlMs"`, `"cacheScope"`} {
			if strings.Contains(r.body, absent) {
				t.Errorf("%s: an input_required result has %s: %s", c.name, absent, r.body)
			}
		}
		done := q.again(r, accepts("who", m{"input": "Ann"})).send(t)
		if done.status != 200 || !strings.Contains(done.body, "Ann") {
			t.Errorf("%s: %s", c.name, done.body)
		}
		if c.method == "resources/read" && (done.Result.TTL == nil || *done.Result.TTL != 0 || done.Result.CacheScope != "private") {
			t.Errorf("%s: what an answer went into may be cached: %s", c.name, done.body)
		}
		refusal := q.again(r, m{"who": m{"action": "decline"}}).send(t)
		if c.proof {
			refusal.refused(t) // the state was spent
			continue
		}
		if refusal.Error == nil || refusal.Error.Code != -32603 || refusal.Error.Message != `the user declined to answer "who"` {
			t.Errorf("%s: %s", c.name, refusal.body)
		}
	}
}

func TestRefusalIsAToolErrorTheModelCanRead(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	value := func(ctx context.Context) (string, error) { _, err := ship.Value(ctx); return "", err }
	addText(shop, "Typed", value, elicit.Asks(ship))
	shop.MCP().AddTool(&mcp.Tool{Name: "Raw", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, err := value(ctx)
		return nil, err
	})
	shop.Declare("Raw", elicit.Asks(ship))
	url := host(t, shop)
	for _, tool := range []string{"Typed", "Raw"} {
		for action, want := range map[string]string{"decline": `the user declined to answer "ship"`, "cancel": `the user dismissed "ship" without answering`,
			"DECLINE": `the user declined to answer "ship"`, "wat": `the user dismissed "ship" without answering`} {
			r := request{url: url, name: tool, responses: m{"ship": m{"action": action}}}.send(t)
			if !r.Result.IsError || r.text() != want {
				t.Errorf("%s, %s: %s", tool, action, r.body)
			}
		}
	}
}

func TestSecurity04NoConsentByDefault(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	plain := elicit.Confirm("sure", "Delete it?")
	boxed := plain.WithCheckbox("I know it cannot be undone")
	answer := func(q *elicit.Question[bool]) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			a, err := q.Require(ctx)
			if err != nil {
				return "", err
			}
			v, ok := a.Value()
			var refused *elicit.RefusedError
			return fmt.Sprint(v, ok, errors.As(a.Err(), &refused)), nil
		}
	}
	addText(shop, "Plain", answer(plain), elicit.Asks(plain))
	addText(shop, "Boxed", answer(boxed), elicit.Asks(boxed))
	url := host(t, shop)
	const again = "asked again"
	for _, c := range []struct {
		tool     string
		response any
		want     string
	}{
		{"Plain", m{"action": "accept"}, "true true false"},
		{"Plain", m{"action": "accept", "content": m{}}, "true true false"},
		{"Plain", m{"action": "decline"}, "false false true"},
		{"Plain", m{"action": "cancel"}, "false false true"},
		{"Boxed", m{"action": "accept", "content": m{"confirm": true}}, "true true false"},
		{"Boxed", m{"action": "accept", "content": m{"confirm": false}}, "false false true"},
		{"Boxed", m{"action": "decline"}, "false false true"},
		{"Boxed", m{"action": "accept", "content": m{"confirm": "true"}}, again},
		{"Boxed", m{"action": "accept", "content": m{"confirm": 1}}, again},
		{"Boxed", m{"action": "accept"}, again},
	} {
		q := request{url: url, name: c.tool}
		first := q.send(t)
		if !first.asks() || first.Result.RequestState == "" {
			t.Fatalf("a confirmation always needs proof: %s", first.body)
		}
		if strings.Contains(string(first.Result.InputRequests["sure"]), `"default"`) {
			t.Errorf("consent by default: %s", first.body)
		}
		r := q.again(first, m{"sure": c.response}).send(t)
		if c.want == again {
			if !r.asks() || strings.Contains(string(r.Result.InputRequests["sure"]), `"default"`) {
				t.Errorf("%s %v: %s", c.tool, c.response, r.body)
			}
		} else if r.text() != c.want {
			t.Errorf("%s %v: got %s, want %s", c.tool, c.response, r.body, c.want)
		}
	}
}

func TestInvalidAnswersAreAskedAgainAndThenFail(t *testing.T) {
	type order struct {
		Parcels int    `json:"parcels"`
		Note    string `json:"note"`
		Fragile bool   `json:"fragile"`
	}
	q := elicit.NewFormQuestion("order", "How many?", form.Build(func(o *order) []form.Field {
		return []form.Field{form.IntOf(&o.Parcels).Range(1, 10), form.StringOf(&o.Note), form.BoolOf(&o.Fragile)}
	}))
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "Order", func(ctx context.Context) (string, error) {
		o, err := q.Value(ctx)
		return fmt.Sprint(o), err
	}, elicit.Asks(q))
	call := request{url: host(t, shop), name: "Order"}
	bad := accepts("order", m{"parcels": 7777, "note": "s3cret words", "fragile": true})
	r := call.again(call.send(t), bad).send(t)
	if !r.asks() {
		t.Fatal(r.body)
	}
	if msg := r.message("order"); !strings.Contains(msg, "How many?") || !strings.Contains(msg, "Parcels") || !strings.Contains(msg, "between 1 and 10") || !strings.Contains(msg, "7777") {
		t.Errorf("the message must name the field, what is wrong and what was typed: %q", msg)
	}
	schema := string(r.Result.InputRequests["order"])
	if !strings.Contains(schema, `"default":"s3cret words"`) || strings.Contains(schema, `"default":7777`) || strings.Contains(schema, `"default":true`) {
		t.Errorf("valid values are offered, invalid ones and booleans are not: %s", schema)
	}
	// A good answer still counts,
	if good := call.again(r, accepts("order", m{"parcels": 7, "note": "x", "fragile": false})).send(t); good.text() != "{7 x false}" {
		t.Errorf("got %s", good.body)
	}
	// and three bad ones are the end.
	r = call.send(t)
	for i := range 3 {
		r = call.again(r, bad).send(t)
		if asks := i < 2; r.asks() != asks {
			t.Fatalf("attempt %d: %s", i+1, r.body)
		}
	}
	if !r.Result.IsError || !strings.Contains(r.text(), "Parcels must be between 1 and 10") || strings.Contains(r.text(), "7777") || strings.Contains(r.text(), "s3cret") {
		t.Errorf("the tool error names fields and rules, not values: %s", r.body)
	}
}

func TestSecurity03NoMassAssignment(t *testing.T) {
	type user struct {
		Name  string `json:"name"`
		Admin bool   `json:"-"`
		Role  string `json:"role,omitempty"`
	}
	q := elicit.NewFormQuestion("user", "Who?", form.Build(func(u *user) []form.Field { return []form.Field{form.StringOf(&u.Name)} }))
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "T", func(ctx context.Context) (string, error) {
		u, err := q.Value(ctx)
		return fmt.Sprintf("%+v", u), err
	}, elicit.Asks(q))
	url := host(t, shop)
	r := request{url: url, name: "T", responses: accepts("user", m{"name": "Ann", "Admin": true, "admin": true, "role": "root", "NAME": "Bob"})}.send(t)
	if r.text() != "{Name:Ann Admin:false Role:}" {
		t.Error(r.body)
	}
	r = request{url: url, name: "T", responses: json.RawMessage(`{"user":{"action":"accept","content":{"name":"Ann","name":"Bob"}}}`)}.send(t)
	if !r.asks() {
		t.Errorf("a content with a name twice was believed: %s", r.body)
	}
}

func TestExactNumbers(t *testing.T) {
	type big struct {
		N int64 `json:"n"`
	}
	q := elicit.NewQuestion[big]("big", "Which?")
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "T", func(ctx context.Context) (string, error) {
		b, err := q.Value(ctx)
		return fmt.Sprint(b.N), err
	}, elicit.Asks(q))
	r := request{url: host(t, shop), name: "T", responses: accepts("big", json.RawMessage(`{"n":9007199254740993}`))}.send(t)
	if r.text() != "9007199254740993" {
		t.Error(r.body)
	}
	for _, version := range []string{"", "2025-11-25", "2025-06-18"} {
		if tr := elicittest.Call(t, shop.MCP(), version, "T", nil, elicittest.Accept(q, big{9007199254740993})); tr.Text() != "9007199254740993" {
			t.Errorf("%q: %s", version, tr.Text())
		}
	}
}

func TestDefaultsAndGiven(t *testing.T) {
	type pref struct {
		Carrier string  `json:"carrier,omitempty"`
		Note    *string `json:"note"`
	}
	q := elicit.NewFormQuestion("pref", "Which?", form.Build(func(p *pref) []form.Field {
		return []form.Field{form.StringOf(&p.Carrier).Default("ups"), form.StringOf(p.Note)}
	}))
	ctx := elicittest.Context(t, elicittest.Raw("pref", map[string]any{"note": nil}))
	a, err := q.Require(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := a.Value(); !ok || v.Carrier != "ups" || v.Note != nil {
		t.Errorf("%+v", v)
	}
	if a.Given("carrier") || a.Given("note") || a.Given("nope") {
		t.Error("nothing was given")
	}
}

func TestCapabilities(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "Ask", shipOrder, elicit.Asks(ship))
	addText(shop, "Wrapped", func(ctx context.Context) (string, error) {
		s, err := shipOrder(ctx)
		if err != nil {
			return "", fmt.Errorf("shipping: %w", err)
		}
		return s, nil
	}, elicit.Asks(ship))
	addText(shop, "CanAsk", func(ctx context.Context) (string, error) { return fmt.Sprint(ship.CanAsk(ctx)), nil })
	url := host(t, shop)
	for caps, can := range map[string]bool{`{}`: false, `{"elicitation":{}}`: true, `{"elicitation":{"form":{}}}`: true, `{"elicitation":{"url":{}}}`: false, `{"elicitation":{"url":{},"form":{}}}`: true} {
		for _, tool := range []string{"Ask", "Wrapped"} {
			r := request{url: url, name: tool, caps: caps}.send(t)
			switch {
			case can && !r.asks():
				t.Errorf("%s: %s", caps, r.body)
			case !can && (r.status != 400 || r.Error == nil || r.Error.Code != -32021 || string(r.Error.Data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}`):
				t.Errorf("%s, %s: %d %s", tool, caps, r.status, r.body)
			}
		}
		if r := (request{url: url, name: "CanAsk", caps: caps}).send(t); r.text() != fmt.Sprint(can) {
			t.Errorf("CanAsk with %s: %s", caps, r.text())
		}
	}
}

func TestMisuseIsNamed(t *testing.T) {
	if _, err := ship.Require(t.Context()); err == nil || !strings.Contains(err.Error(), "not inside a call") {
		t.Error(err)
	}
	if ship.CanAsk(t.Context()) || elicit.CallID(t.Context()) != "" {
		t.Error("nothing can be asked outside a call")
	}
	if _, err := elicit.Step(t.Context(), "x", func(context.Context) (int, error) { return 1, nil }); err == nil {
		t.Error("a step outside a call")
	}
	ctx := elicittest.Context(t)
	_, _ = ship.Require(ctx)
	if _, err := ship.WithMessagef("Ship it all").Require(ctx); err == nil || !strings.Contains(err.Error(), `"ship"`) || !strings.Contains(err.Error(), "WithKey") {
		t.Errorf("two questions of one key: %v", err)
	}
	if err := elicit.RequireAll(ctx, elicit.Pending{}); err == nil {
		t.Error("an empty Pending")
	}
	// After the handler has returned.
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	var kept context.Context
	addText(shop, "T", func(ctx context.Context) (string, error) { kept = ctx; return "", nil })
	request{url: host(t, shop), name: "T"}.send(t)
	if _, err := ship.Require(kept); err == nil || !strings.Contains(err.Error(), "already returned") {
		t.Error(err)
	}
}

func TestQuestionErr(t *testing.T) {
	for name, c := range map[string]struct {
		q    elicit.AnyQuestion
		want string
	}{
		"no key":           {elicit.Input("", "What?"), "has no key"},
		"hash":             {elicit.Input("a#2", "What?"), "#"},
		"control":          {elicit.Input("a\n", "What?"), "control characters"},
		"long":             {elicit.Input(strings.Repeat("k", 200), "What?"), "200 bytes"},
		"no message":       {elicit.Input("a", " "), `"a"`},
		"link":             {elicit.Input("a", "See https://go.dev"), "URL"},
		"credential":       {elicit.Input("a", "What is your password?"), "credential"},
		"not a struct":     {elicit.NewQuestion[int]("a", "What?"), `"a"`},
		"no options":       {elicit.Choose[string]("a", "Which?"), `"a"`},
		"box on no yes":    {ship.WithCheckbox("x"), "WithCheckbox"},
		"sampling nothing": {elicit.NewSampling("a", nil), "sampling"},
	} {
		if err := c.q.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something with %q", name, err, c.want)
		}
	}
	// Text made at run time may hold a link, and is only cleaned.
	if err := elicit.Input("a", "What?").WithMessagef("Review %s", "https://example.com").Err(); err != nil {
		t.Error(err)
	}
	// First use reports it: a declaration panics at start-up, Require returns it.
	bad := elicit.Input("", "What?")
	if _, err := bad.Require(elicittest.Context(t)); err == nil || !strings.Contains(err.Error(), "has no key") {
		t.Error(err)
	}
	for name, declare := range map[string]func(*elicit.Server){
		"mistake": func(s *elicit.Server) { addText(s, "T", shipOrder, elicit.Asks(bad)) },
		"twice":   func(s *elicit.Server) { s.Declare("T", elicit.Asks(ship, ship)) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), `"T"`) {
					t.Errorf("%s: got panic %v, want one that names the tool", name, r)
				}
			}()
			declare(elicit.New(newServer(), quiet(elicit.Options{})))
		}()
	}
}

func TestSecurity15OutgoingTextCannotRewriteItself(t *testing.T) {
	ctx := elicittest.Context(t)
	_, _ = elicit.Confirm("del", "x").WithMessagef("Delete %s?", "a\u202egnp.exe\x1b[2K\r\u2066b\u2069\x00").Require(ctx)
	if got := elicittest.Asked(ctx)[0].Message; got != "Delete agnp.exe[2Kb?" {
		t.Errorf("%q", got)
	}
}

func TestElicittestAsked(t *testing.T) {
	ctx := elicittest.Context(t)
	if _, err := shipOrder(ctx); !errors.Is(err, elicit.ErrAsking) {
		t.Fatal(err)
	}
	asked := elicittest.Asked(ctx)
	if len(asked) != 1 || asked[0].Key != "ship" || asked[0].Message != "Ship this order" || !json.Valid(asked[0].Schema) {
		t.Errorf("%+v", asked)
	}
}

func TestNewTwiceForOneServerPanics(t *testing.T) {
	server := newServer()
	elicit.New(server, quiet(elicit.Options{}))
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "before") {
			t.Error(r)
		}
	}()
	elicit.New(server, quiet(elicit.Options{}))
}

func TestNoResultIsAServerBug(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	shop.MCP().AddTool(&mcp.Tool{Name: "T", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	shop.MCP().AddPrompt(&mcp.Prompt{Name: "P"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil })
	url := host(t, shop)
	for range 2 { // the second tools/call takes the express path
		for method, name := range map[string]string{"tools/call": "T", "prompts/get": "P"} {
			r := request{url: url, method: method, name: name}.send(t)
			if r.Error == nil || r.Error.Code != -32603 || !strings.Contains(r.Error.Message, name) || !strings.Contains(r.Error.Message, "neither a result nor an error") {
				t.Errorf("%s: %s", method, r.body)
			}
		}
	}
}

// A client that pipes a request in, and closes, gets its answer.
func TestStdioAnswersWhatWasPipedIn(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "Slow", func(context.Context) (string, error) { time.Sleep(100 * time.Millisecond); return "done", nil })
	in := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Slow","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	var out logs
	_ = shop.Run(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(strings.NewReader(in)), Writer: writeCloser{&out}})
	if !strings.Contains(out.String(), `"text":"done"`) {
		t.Errorf("got %q", out.String())
	}
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }
