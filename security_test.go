package elicit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The attacks against the rules of docs/security.md, by their numbers.

// bank is a server with something to steal.
type bank struct {
	url     string
	shop    *elicit.Server
	effects atomic.Int32
	logs    logs
	clock   atomic.Int64 // seconds that have passed
}

func secretOf(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

func newBank(t *testing.T, o elicit.Options) *bank {
	t.Helper()
	b := &bank{}
	o.Logger = b.logs.logger()
	b.shop = elicit.New(newServer(), &o)
	elicit.SetClock(b.shop, func() time.Time { return time.Now().Add(time.Duration(b.clock.Load()) * time.Second) })
	sure := elicit.Confirm("sure", "Transfer?")
	effect := func(ctx context.Context) (string, error) {
		if _, err := sure.Value(ctx); err != nil {
			return "", err
		}
		return fmt.Sprintf("done %d", b.effects.Add(1)), nil
	}
	addText(b.shop, "Transfer", effect, elicit.Asks(sure))
	addText(b.shop, "Other", effect, elicit.Asks(sure))
	addText(b.shop, "Plain", shipOrder, elicit.Asks(ship))
	addText(b.shop, "AfterStep", func(ctx context.Context) (string, error) {
		if _, err := elicit.Step(ctx, "price", func(context.Context) (int, error) { return 42, nil }); err != nil {
			return "", err
		}
		s, err := shipOrder(ctx)
		if err == nil {
			b.effects.Add(1)
		}
		return s, err
	}, elicit.Asks(ship))
	first, second := elicit.Input("first", "First?"), elicit.Input("second", "Second?")
	addText(b.shop, "Two", func(ctx context.Context) (string, error) {
		x, err := first.Value(ctx)
		if err != nil {
			return "", err
		}
		y, err := second.WithMessagef("Second, after %s?", x).Value(ctx)
		if err != nil {
			return "", err
		}
		b.effects.Add(1)
		return x + y, nil
	}, elicit.Asks(first, second))
	addText(b.shop, "Silent", func(context.Context) (string, error) { b.effects.Add(1); return "ok", nil })
	b.url = host(t, b.shop)
	return b
}

func (b *bank) call(tool string) request { return request{url: b.url, name: tool} }

var yes = m{"sure": m{"action": "accept"}}

func TestSecurity01OmittingStateDoesNotUnbindAnApproval(t *testing.T) {
	b := newBank(t, elicit.Options{})
	askedAgain := func(what string, r reply) {
		t.Helper()
		if !r.asks() || b.effects.Load() != 0 {
			t.Errorf("%s: %s, %d effects", what, r.body, b.effects.Load())
		}
	}
	// A Confirm answered before it was asked.
	q := b.call("Transfer")
	q.responses = yes
	askedAgain("answered before it was asked", q.send(t))
	q.args = m{"to": "mallory"}
	askedAgain("answered before it was asked, with arguments", q.send(t))

	// Arguments changed between the rounds.
	q = b.call("Transfer")
	q.args = m{"to": "alice", "amount": 1}
	r := q.send(t)
	changed := q.again(r, yes)
	changed.args = m{"to": "mallory", "amount": 1}
	changed.send(t).refused(t)
	changed.state = ""
	askedAgain("arguments changed, state dropped", changed.send(t))

	// State dropped.
	dropped := q.again(r, yes)
	dropped.state = ""
	askedAgain("state dropped", dropped.send(t))
	if good := q.again(r, yes).send(t); good.text() != "done 1" {
		t.Errorf("the honest client: %s", good.body)
	}
	b.effects.Store(0)

	// State dropped after a Step.
	q = b.call("AfterStep")
	q.responses = accepts("ship", m{"trackingNumber": "1"})
	askedAgain("state dropped after a step", q.send(t))

	// Question 2 answered with question 1's state.
	q = b.call("Two")
	r = q.send(t)
	both := m{"first": m{"action": "accept", "content": m{"input": "a"}}, "second": m{"action": "accept", "content": m{"input": "b"}}}
	r = q.again(r, both).send(t)
	askedAgain("question 2 answered with question 1's state", r)
	if r.message("second") != "Second, after a?" || r.message("first") != "" {
		t.Errorf("asks %s", r.body)
	}
	// A question in other words than were asked: the first answer is changed, which the state holds.
	if done := q.again(r, both).send(t); done.text() != "ab" {
		t.Error(done.body)
	}
}

func TestSecurity01StrictNeedsProofAlways(t *testing.T) {
	b := newBank(t, elicit.Options{Strict: true})
	q := b.call("Plain")
	q.responses = accepts("ship", m{"trackingNumber": "1"})
	r := q.send(t)
	if !r.asks() || r.Result.RequestState == "" {
		t.Fatal(r.body)
	}
	if r = q.again(r, q.responses).send(t); r.text() != "Shipped as 1." {
		t.Error(r.body)
	}
}

func TestSecurity02ReplayedLastRound(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Transfer")
	last := q.again(q.send(t), yes)
	if r := last.send(t); r.text() != "done 1" {
		t.Fatal(r.body)
	}
	for range 3 {
		last.send(t).refused(t)
	}
	// In parallel.
	last = q.again(q.send(t), yes)
	var wg sync.WaitGroup
	var done atomic.Int32
	for range 16 {
		wg.Go(func() {
			if r := last.send(t); r.Error == nil && r.text() != "" {
				done.Add(1)
			} else {
				r.refused(t)
			}
		})
	}
	wg.Wait()
	if done.Load() != 1 || b.effects.Load() != 2 {
		t.Errorf("%d of 16 replays went through, %d effects in all", done.Load(), b.effects.Load())
	}
	// A round that asked again may be sent again: nothing has happened yet.
	q = b.call("Two")
	second := q.again(q.send(t), accepts("first", m{"input": "a"}))
	for range 2 {
		if r := second.send(t); !r.asks() {
			t.Fatal(r.body)
		}
	}
	// A refusal ends the call as well.
	q = b.call("Transfer")
	r := q.send(t)
	q.again(r, m{"sure": m{"action": "decline"}}).send(t)
	q.again(r, yes).send(t).refused(t)
}

// brokenSpender fails.
type brokenSpender struct{ elicit.Spender }

func (brokenSpender) Claim(context.Context, string, time.Time) (bool, error) {
	return false, errors.New("the database is away")
}

func TestSecurity02SpenderThatFailsFailsTheCall(t *testing.T) {
	b := newBank(t, elicit.Options{Spender: brokenSpender{}})
	q := b.call("Transfer")
	r := q.again(q.send(t), yes).send(t)
	if r.Error == nil || r.Error.Code != -32603 || strings.Contains(r.body, "database") || b.effects.Load() != 0 {
		t.Error(r.body)
	}
	if !strings.Contains(b.logs.String(), "the database is away") {
		t.Error("the log does not say why")
	}
}

func TestSecurity02SharedSecretsWithoutSharedSpenderAreLogged(t *testing.T) {
	for shared, spender := range map[bool]elicit.Spender{true: nil, false: elicit.NewMemorySpender(10)} {
		b := newBank(t, elicit.Options{Secrets: [][]byte{secretOf(1)}, Spender: spender})
		if got := strings.Count(b.logs.String(), "Options.Spender is not set"); got != map[bool]int{true: 1, false: 0}[shared] {
			t.Errorf("logged %d times", got)
		}
	}
}

func TestMemorySpenderIsBounded(t *testing.T) {
	s := elicit.NewMemorySpender(3)
	claim := func(id string, until time.Time) bool {
		ok, err := s.Claim(t.Context(), id, until)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	later := time.Now().Add(time.Hour)
	for _, id := range []string{"a", "b", "c"} {
		if !claim(id, later) || claim(id, later) {
			t.Fatal(id)
		}
	}
	if !claim("d", later) || !claim("a", later) || claim("d", later) {
		t.Error("over its bound, it forgets the oldest")
	}
	_ = s.Release(t.Context(), "d")
	if !claim("d", later) {
		t.Error("a released id is free")
	}
	_ = s.Spend(t.Context(), "d")
	if claim("d", later) {
		t.Error("a spent id is free")
	}
}

func TestSecurity05StateIsOpenedForEveryFeature(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Silent")
	q.state = "forged"
	q.send(t).refused(t)
	if b.effects.Load() != 0 {
		t.Error("the handler was entered")
	}
}

func TestSecurity06StateIsForOnePrincipal(t *testing.T) {
	b := newBank(t, elicit.Options{})
	people := []string{"iss|alice|app", "iss|bob|app", "other|alice|app", "iss|alice|other", ""}
	for _, asked := range people {
		for _, answers := range people {
			q := b.call("Transfer")
			q.token = asked
			q2 := q.again(q.send(t), yes)
			q2.token = answers
			r := q2.send(t)
			if asked == answers {
				if r.Error != nil || r.text() == "" {
					t.Errorf("%q is refused its own: %s", asked, r.body)
				}
				continue
			}
			r.refused(t)
		}
	}
}

func TestSecurity06TokenWithoutUserIsRefused(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Transfer")
	q.token = "iss||app"
	r := q.send(t)
	if r.Error == nil || r.Error.Code != -32603 {
		t.Error(r.body)
	}
	if !strings.Contains(b.logs.String(), "TokenInfo.UserID") || !strings.Contains(b.logs.String(), "Options.Principal") {
		t.Errorf("the log has no remedy: %s", b.logs.String())
	}
}

func TestSecurity06PrincipalComesFromTheRequest(t *testing.T) {
	b := newBank(t, elicit.Options{Principal: func(_ context.Context, extra *mcp.RequestExtra) (elicit.Principal, error) {
		if extra.TokenInfo == nil {
			return elicit.Principal{}, errors.New("nobody")
		}
		return elicit.Principal{Subject: extra.TokenInfo.UserID}, nil
	}})
	q := b.call("Transfer")
	if r := q.send(t); r.Error == nil || r.Error.Code != -32603 || strings.Contains(r.body, "nobody") {
		t.Error(r.body)
	}
	q.token = "a|alice|x"
	q2 := q.again(q.send(t), yes)
	q2.token = "b|alice|y" // the same for this function
	if r := q2.send(t); r.text() != "done 1" {
		t.Error(r.body)
	}
}

func TestSecurity07SessionsBelongToWhoOpenedThem(t *testing.T) {
	b := newBank(t, elicit.Options{})
	connect := func(token string) (*mcp.ClientSession, error) {
		return mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: b.url, HTTPClient: bearer(token), DisableStandaloneSSE: true, MaxRetries: -1},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	}
	alice, err := connect("iss|alice|app")
	if err != nil {
		t.Fatal(err)
	}
	defer alice.Close()
	own, status := legacyPing(t, b.url, alice.ID(), "iss|alice|app")
	if status != 200 {
		t.Fatal(own)
	}
	unknown, status := legacyPing(t, b.url, "no-such-session", "iss|alice|app")
	if status != 404 {
		t.Error(status, unknown)
	}
	for _, token := range []string{"iss|bob|app", "other|alice|app", "iss|alice|other", ""} {
		got, status := legacyPing(t, b.url, alice.ID(), token)
		if status != 404 || got != unknown {
			t.Errorf("%q: got %d %s, want the same as for an unknown session", token, status, got)
		}
	}
}

func TestSecurity09TokensOfAnotherPurposeDoNotOpen(t *testing.T) {
	b := newBank(t, elicit.Options{})
	for _, purpose := range []string{"ticket", "csrf", "oauth", "vault", "task"} {
		q := b.call("Transfer")
		q.state = elicit.Seal(b.shop, purpose, []byte("x"))
		q.send(t).refused(t)
	}
}

func TestSecurity10BadSecretsPanicWithTheRemedy(t *testing.T) {
	for name, secrets := range map[string][][]byte{"at least 32": {make([]byte, 31)}, "are the same": {secretOf(1), secretOf(1)}, "elicit keygen": {}} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, name) || !strings.Contains(r, "Options.Secrets") {
					t.Errorf("got %q, want a panic with %q", r, name)
				}
			}()
			elicit.New(newServer(), quiet(elicit.Options{Secrets: secrets}))
		}()
	}
}

func TestSecurity11Expiry(t *testing.T) {
	type order struct {
		Parcels int    `json:"parcels"`
		Note    string `json:"note"`
	}
	q := elicit.NewFormQuestion("order", "How many?", form.Build(func(o *order) []form.Field {
		return []form.Field{form.IntOf(&o.Parcels).Range(1, 10), form.StringOf(&o.Note)}
	})).Bound()
	for _, refuse := range []bool{false, true} {
		b := newBank(t, elicit.Options{RefuseExpired: refuse})
		addText(b.shop, "Order", func(ctx context.Context) (string, error) {
			o, err := q.Value(ctx)
			return fmt.Sprint(o, elicit.CallID(ctx)), err
		}, elicit.Asks(q))
		call := b.call("Order")
		r := call.send(t)
		b.clock.Add(601)
		late := call.again(r, accepts("order", m{"parcels": 77, "note": "typed"})).send(t)
		if refuse {
			late.refused(t)
			continue
		}
		if !late.asks() || late.Result.RequestState == "" {
			t.Fatal(late.body)
		}
		schema := string(late.Result.InputRequests["order"])
		if !strings.Contains(schema, `"default":"typed"`) || strings.Contains(schema, "77") || late.message("order") != "How many?" {
			t.Errorf("a late answer is asked afresh with its valid values offered: %s", schema)
		}
		if done := call.again(late, accepts("order", m{"parcels": 7, "note": "typed"})).send(t); !strings.HasPrefix(done.text(), "{7 typed}") {
			t.Error(done.body)
		}
	}
}

func TestSecurity11NothingOfAnExpiredStateIsBelieved(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Two")
	r := q.again(q.send(t), accepts("first", m{"input": "a"})).send(t)
	b.clock.Add(601)
	r = q.again(r, accepts("second", m{"input": "b"})).send(t)
	if !r.asks() || r.message("first") == "" || r.message("second") != "" {
		t.Errorf("the first question is asked again: %s", r.body)
	}
	// The same where no proof would be needed without a state.
	q = b.call("Plain")
	r = q.send(t)
	r = q.again(r, accepts("ship", m{"trackingNumber": 5})).send(t)
	b.clock.Add(601)
	if r = q.again(r, accepts("ship", m{"trackingNumber": "5"})).send(t); !r.asks() {
		t.Error(r.body)
	}
}

func TestSecurity11MaxAge(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Transfer")
	r := q.send(t)
	for range 7 { // never answers, in time
		b.clock.Add(540)
		r = q.again(r, m{}).send(t)
		if r.Error != nil {
			break
		}
	}
	r.refused(t)
	b = newBank(t, elicit.Options{})
	q = b.call("Transfer")
	b.clock.Add(120)
	r = q.send(t)
	b.clock.Add(-120)
	q.again(r, yes).send(t).refused(t) // issued in the future
}

func TestSecurity12ArgumentsAreComparedByWhatTheySay(t *testing.T) {
	b := newBank(t, elicit.Options{})
	same := [][2]string{
		{`{"a":1,"b":[1,2]}`, `{ "b" : [1 , 2], "a" : 1 }`},
		{`{"a":"\u0041"}`, `{"a":"A"}`},
		{`{}`, `null`},
	}
	different := [][2]string{
		{`{"n":9007199254740992}`, `{"n":9007199254740993}`},
		{`{"n":1}`, `{"n":1.0}`},
		{`{"n":1}`, `{"n":"1"}`},
		{`{"a":[1,2]}`, `{"a":[2,1]}`},
		{`{}`, `{"a":null}`},
		{`{"a":{"b":1}}`, `{"a":{"b":2}}`},
	}
	run := func(pair [2]string) reply {
		q := b.call("Transfer")
		q.args = json.RawMessage(pair[0])
		q2 := q.again(q.send(t), yes)
		q2.args = json.RawMessage(pair[1])
		return q2.send(t)
	}
	for _, p := range same {
		if r := run(p); r.text() == "" {
			t.Errorf("%s and %s are the same: %s", p[0], p[1], r.body)
		}
	}
	for _, p := range different {
		run(p).refused(t)
	}
	// Absent is the same as empty.
	q := b.call("Transfer")
	q2 := q.again(q.send(t), yes)
	q2.args = m{}
	if r := q2.send(t); r.text() == "" {
		t.Error(r.body)
	}
}

func TestSecurity12BindAddsToWhatMustBeTheSame(t *testing.T) {
	b := newBank(t, elicit.Options{Bind: func(_ context.Context, extra *mcp.RequestExtra) string { return extra.Header.Get("Authorization") },
		Principal: func(context.Context, *mcp.RequestExtra) (elicit.Principal, error) { return elicit.Principal{}, nil }})
	q := b.call("Transfer")
	q.token = "a|b|c"
	q2 := q.again(q.send(t), yes)
	q2.token = "x|b|c"
	q2.send(t).refused(t)
}

func TestSecurity13OneFrozenRefusal(t *testing.T) {
	b := newBank(t, elicit.Options{Secrets: [][]byte{secretOf(1)}})
	q := b.call("Transfer")
	good := q.send(t).Result.RequestState
	try := func(what, state string) {
		t.Helper()
		x := q
		x.state, x.responses = state, yes
		r := x.send(t)
		if t.Failed() {
			return
		}
		if r.refused(t); t.Failed() {
			t.Errorf("%s", what)
		}
	}
	for i := range good {
		c := byte('A')
		if good[i] == c {
			c = 'B'
		}
		try(fmt.Sprint("changed at ", i), good[:i]+string(c)+good[i+1:])
	}
	for _, n := range []int{1, 10, len(good) / 2, len(good) - 1} {
		try(fmt.Sprint("cut to ", n), good[:n])
	}
	try("newline", good[:20]+"\n"+good[20:])
	try("newline at the end", good+"\n")
	try("padding", good+"=")
	try("too long", strings.Repeat(good, 1000))
	// Another tool, server, retired key: the same words.
	other := b.call("Other")
	other.state, other.responses = good, yes
	other.send(t).refused(t)
	elsewhere := newBank(t, elicit.Options{Secrets: [][]byte{secretOf(2), secretOf(3)}})
	q.url, q.state, q.responses = elsewhere.url, good, yes
	q.send(t).refused(t)
	renamed := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "another", Version: "1"}, nil), quiet(elicit.Options{Secrets: [][]byte{secretOf(1)}}))
	addText(renamed, "Transfer", func(context.Context) (string, error) { t.Error("entered"); return "", nil })
	q.url = host(t, renamed)
	q.send(t).refused(t)
	if b.effects.Load()+elsewhere.effects.Load() != 0 {
		t.Error("something happened")
	}
	for _, line := range []string{b.logs.String(), elsewhere.logs.String()} {
		if strings.Contains(line, good) || !strings.Contains(line, "reason=") {
			t.Errorf("the log has the state, or no reason: %.300s", line)
		}
	}
}

func TestSecurity13StateIsForTheSameFeature(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	q := elicit.Input("who", "Who?").Bound()
	addText(shop, "same", func(ctx context.Context) (string, error) { return q.Value(ctx) })
	elicit.AddPrompt(shop, &mcp.Prompt{Name: "same"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		_, err := q.Value(ctx)
		return &mcp.GetPromptResult{}, err
	})
	call := request{url: host(t, shop), name: "same"}
	prompt := call.again(call.send(t), accepts("who", m{"input": "x"}))
	prompt.method = "prompts/get"
	prompt.send(t).refused(t)
}

func TestSecurity14NothingEnteredIsLogged(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Two")
	const entered = "correct horse"
	r := q.again(q.send(t), accepts("first", m{"input": entered})).send(t)
	r = q.again(r, accepts("second", m{"input": []string{entered}})).send(t)
	r = q.again(r, accepts("second", m{"input": ""})).send(t)
	r = q.again(r, accepts("second", m{"input": 5})).send(t)
	if !r.Result.IsError || strings.Contains(r.text(), entered) {
		t.Error(r.body)
	}
	log := b.logs.String()
	if strings.Contains(log, entered) || !strings.Contains(log, "second") || !strings.Contains(log, "Answer must") {
		t.Errorf("the log names fields and rules, never values: %s", log)
	}
}

func TestStateIsEncrypted(t *testing.T) {
	b := newBank(t, elicit.Options{})
	q := b.call("Two")
	r := q.again(q.send(t), accepts("first", m{"input": "correct horse"})).send(t)
	if r.Result.RequestState == "" || strings.Contains(decoded(r.Result.RequestState), "horse") {
		t.Error("an answer can be read in the state")
	}
}

func TestMaxStateNamesWhatIsLarge(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{MaxState: 4096}))
	addText(shop, "T", func(ctx context.Context) (string, error) {
		_, err := elicit.Step(ctx, "page", func(context.Context) (string, error) { return strings.Repeat("x", 5000), nil })
		if err != nil {
			return "", err
		}
		return shipOrder(ctx)
	})
	r := request{url: host(t, shop), name: "T"}.send(t)
	if r.Error == nil || r.Error.Code != -32603 || !strings.Contains(r.Error.Message, `step "page"`) || !strings.Contains(r.Error.Message, "MaxState") {
		t.Error(r.body)
	}
}

func TestStepsAndCallIDAreKept(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	var ran atomic.Int32
	var ids sync.Map
	type quote struct {
		Price float64 `json:"price"`
		Exact int64   `json:"exact"`
		hid   int
	}
	q := elicit.Confirm("ok", "Order?")
	addText(shop, "T", func(ctx context.Context) (string, error) {
		ids.Store(elicit.CallID(ctx), true)
		x, err := elicit.Step(ctx, "quote", func(context.Context) (quote, error) {
			ran.Add(1)
			return quote{Price: 1.25, Exact: 9007199254740993, hid: 5}, nil
		})
		if err != nil {
			return "", err
		}
		if x.hid != 0 {
			return "", errors.New("a round sees more of a step's result than the others")
		}
		if _, err := q.WithMessagef("Order for %v?", x.Price).Value(ctx); err != nil {
			return "", err
		}
		return fmt.Sprint(x.Exact), nil
	}, elicit.Asks(q))
	call := request{url: host(t, shop), name: "T"}
	r := call.send(t)
	r = call.again(r, m{"ok": m{"action": "accept"}}).send(t)
	if r.text() != "9007199254740993" || ran.Load() != 1 {
		t.Errorf("%s, step ran %d times", r.body, ran.Load())
	}
	if n := len(maps.Collect(func(yield func(any, any) bool) { ids.Range(yield) })); n != 1 {
		t.Errorf("%d call ids over the rounds of one call", n)
	}
}

// A handler that asks by itself, with a state of its own, keeps working, and its state is sealed.
func TestHandlersThatAskWithoutThisLibrary(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	shop.MCP().AddTool(&mcp.Tool{Name: "Bare", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if a, ok := r.Params.InputResponses["x"].(*mcp.ElicitResult); ok {
			return elicit.Text(r.Params.RequestState + " " + a.Action), nil
		}
		return &mcp.CallToolResult{RequestState: "my own", InputRequests: mcp.InputRequestMap{"x": &mcp.ElicitParams{Message: "Hm?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}}}, nil
	})
	q := request{url: host(t, shop), name: "Bare"}
	r := q.send(t)
	if !r.asks() || r.Result.RequestState == "" || strings.Contains(r.body, "my own") {
		t.Fatal(r.body)
	}
	last := q.again(r, m{"x": m{"action": "accept", "content": m{}}})
	if r := last.send(t); r.text() != "my own accept" {
		t.Error(r.body)
	}
	last.send(t).refused(t)
	last.state = "my own"
	last.send(t).refused(t)
}

// Words that differ in every round end, rather than being asked forever.
func TestChangingWordsEnd(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	var n atomic.Int32
	addText(shop, "T", func(ctx context.Context) (string, error) {
		_, err := elicit.Input("x", "x").WithMessagef("It is %d o'clock?", n.Add(1)).Value(ctx)
		return "", err
	})
	q := request{url: host(t, shop), name: "T"}
	r := q.send(t)
	for range 10 {
		if !r.asks() {
			break
		}
		r = q.again(r, accepts("x", m{"input": "y"})).send(t)
	}
	if !r.Result.IsError || !strings.Contains(r.text(), "different in each of 3 rounds") {
		t.Error(r.body)
	}
}

func TestOlderClientsAreAskedAnyNumberOfTimes(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	q := elicit.Input("x", "x")
	addText(shop, "T", func(ctx context.Context) (string, error) {
		var all []string
		for i := range 5 {
			s, err := q.WithKey(fmt.Sprint("x", i)).Value(ctx)
			if err != nil {
				return "", err
			}
			all = append(all, s)
		}
		return strings.Join(all, ""), nil
	})
	var answers []elicittest.Answer
	for i := range 5 {
		answers = append(answers, elicittest.Accept(q.WithKey(fmt.Sprint("x", i)), fmt.Sprint(i)))
	}
	for _, v := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		if tr := elicittest.Call(t, shop.MCP(), v, "T", nil, answers...); tr.Text() != "01234" || len(tr.Asked) != 5 {
			t.Errorf("%s: %s", v, tr.Text())
		}
	}
}

func TestOlderClientsGetTheirShape(t *testing.T) {
	type want struct {
		Size  string   `json:"size"`
		Ok    bool     `json:"ok,omitempty"`
		Extra []string `json:"extra,omitempty"`
	}
	titled := elicit.NewFormQuestion("w", "What?", form.Build(func(w *want) []form.Field {
		return []form.Field{form.ChoiceOf(&w.Size, form.Opt("s", "Small"), form.Opt("l", "Large")).Default("s"), form.BoolOf(&w.Ok).Default(true)}
	}))
	several := elicit.NewFormQuestion("w", "What?", form.Build(func(w *want) []form.Field {
		return []form.Field{form.ChoicesOf(&w.Extra, form.Options("a", "b")...)}
	}))
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "Titled", func(ctx context.Context) (string, error) { v, err := titled.Value(ctx); return v.Size, err })
	addText(shop, "Several", func(ctx context.Context) (string, error) {
		v, err := several.Value(ctx)
		return fmt.Sprint(v.Extra, several.CanAsk(ctx)), err
	})
	tr := elicittest.Call(t, shop.MCP(), "2025-06-18", "Titled", nil, elicittest.Accept(titled, want{Size: "l"}))
	schema := string(tr.Asked[0].Schema)
	if tr.Text() != "l" || !strings.Contains(schema, `"enum":["s","l"]`) || !strings.Contains(schema, `"enumNames":["Small","Large"]`) || strings.Contains(schema, "oneOf") || strings.Contains(schema, `"default":"s"`) || !strings.Contains(schema, `"default":true`) {
		t.Errorf("%s, %s", tr.Text(), schema)
	}
	tr = elicittest.Call(t, shop.MCP(), "2025-11-25", "Titled", nil, elicittest.Accept(titled, want{Size: "l"}))
	if schema := string(tr.Asked[0].Schema); !strings.Contains(schema, "oneOf") || strings.Contains(schema, "enumNames") {
		t.Error(schema)
	}
	tr = elicittest.Call(t, shop.MCP(), "2025-06-18", "Several", nil)
	if !tr.Result.IsError || !strings.Contains(tr.Text(), "2025-06-18") || len(tr.Asked) != 0 {
		t.Error(tr.Text())
	}
	tr = elicittest.Call(t, shop.MCP(), "2025-11-25", "Several", nil, elicittest.Accept(several, want{Extra: []string{"b"}}))
	if tr.Text() != "[b] true" {
		t.Error(tr.Text())
	}
}

func TestOlderClientsAreValidatedByUs(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "T", shipOrder, elicit.Asks(ship))
	for _, v := range []string{"2025-11-25", "2025-06-18"} {
		n := 0
		answers := []*mcp.ElicitResult{{Action: "accept", Content: m{"trackingNumber": 12}}, {Action: "accept", Content: m{"trackingNumber": "1Z", "extra": 1}}}
		var messages []string
		res := liveCall(t, shop.MCP(), v, "T", func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			messages = append(messages, r.Params.Message)
			n++
			return answers[n-1], nil
		})
		if res.Content[0].(*mcp.TextContent).Text != "Shipped as 1Z." || n != 2 || !strings.Contains(messages[1], "Tracking Number must be text") {
			t.Errorf("%s: %v, %q", v, res.Content, messages)
		}
		res = liveCall(t, shop.MCP(), v, "T", func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: m{}}, nil
		})
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.Contains(text, "after 3 attempts") {
			t.Errorf("%s: %s", v, text)
		}
		res = liveCall(t, shop.MCP(), v, "T", func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return nil, errors.New("no screen")
		})
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || text != `the user could not be asked "ship": the client answered with an error` {
			t.Errorf("%s: %s", v, text)
		}
		res = liveCall(t, shop.MCP(), v, "T", nil)
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.Contains(text, "did not declare the capability elicitation.form") {
			t.Errorf("%s: %s", v, text)
		}
	}
}

func liveCall(t *testing.T, server *mcp.Server, version, tool string, h func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)) *mcp.CallToolResult {
	t.Helper()
	st, ct := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), st, nil); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: h})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "elicitation/create" { // the SDK's client would check the answer
				return h(ctx, req.(*mcp.ElicitRequest))
			}
			return next(ctx, method, req)
		}
	})
	cs, err := client.Connect(t.Context(), ct, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Two instances with the same secrets serve one call, and a third that has a newer one too.
func TestInstancesShareSecrets(t *testing.T) {
	spender := elicit.NewMemorySpender(1000)
	a := newBank(t, elicit.Options{Secrets: [][]byte{secretOf(1)}, Spender: spender})
	b := newBank(t, elicit.Options{Secrets: [][]byte{secretOf(2), secretOf(1)}, Spender: spender})
	q := a.call("Two")
	r := q.send(t)
	q.url = b.url
	r = q.again(r, accepts("first", m{"input": "a"})).send(t)
	if !r.asks() {
		t.Fatal(r.body)
	}
	q.url = a.url // does not know the newer secret yet
	q.again(r, accepts("second", m{"input": "b"})).send(t).refused(t)
	q.url = b.url
	if r = q.again(r, accepts("second", m{"input": "b"})).send(t); r.text() != "ab" {
		t.Error(r.body)
	}
}

func TestRandomSecretIsSpokenOfOnce(t *testing.T) {
	b := newBank(t, elicit.Options{})
	b.call("Plain").send(t)
	if strings.Contains(b.logs.String(), "Options.Secrets") {
		t.Error("said before it matters")
	}
	for range 3 {
		b.call("Transfer").send(t)
	}
	if n := strings.Count(b.logs.String(), "Options.Secrets is not set"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

func TestPanicIsNotTheClientsBusiness(t *testing.T) {
	b := newBank(t, elicit.Options{})
	addText(b.shop, "Panics", func(ctx context.Context) (string, error) {
		if _, err := shipOrder(ctx); err != nil {
			return "", err
		}
		panic("s3cret detail")
	})
	q := b.call("Panics")
	last := q.again(q.send(t), accepts("ship", m{"trackingNumber": "1"}))
	r := last.send(t)
	if r.status != 500 || r.Error == nil || r.Error.Code != -32603 || r.Error.Message != "internal error" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if !strings.Contains(b.logs.String(), "s3cret detail") || !strings.Contains(b.logs.String(), "security_test.go") {
		t.Error("the log has no stack")
	}
	last.send(t).refused(t) // it has ended
	if r := b.call("Silent").send(t); r.text() != "ok" {
		t.Error("the server did not live on")
	}
}
