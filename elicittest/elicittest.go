// Package elicittest tests handlers that ask.
//
// # One handler, one round
//
// A handler is a function, and [Context] makes a context in which it can be called like one:
//
//	ctx := elicittest.Context(t, elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}))
//	res, _, err := shipOrder(ctx, nil, struct{}{})
//
// Without an answer the handler asks: errors.Is(err, elicit.ErrAsking), and [Asked] tells what. The same goes for an answer
// that is wrong, as one of [Raw] may be; the message then says what is wrong. [Decline] and [Cancel] are the other things
// that users do. Handlers of prompts and resources are tested like those of tools.
//
// # A server, all rounds
//
// [Call] calls a tool of a server, as a client of any protocol revision would, through as many rounds as it takes, with
// everything that a real call has: middleware, state, proof.
//
//	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
//		tr := elicittest.Call(t, shop.MCP(), version, "ShipOrder", nil,
//			elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}))
//		if tr.Text() != "Shipped as 1Z999." {
//			t.Errorf("%s: %s", version, tr.Text())
//		}
//	}
//
// A call that becomes a task (package tasks) is followed to its end, for the newest revision: the same line tests a tool of any
// mode, and [Transcript].Task says whether the call became one.
//
// A question that sends people to a page is accepted as a person would: the page is completed, and then the client says that
// it was opened. For one of elicit.NewURL, whose page is the author's own, it is the test that has to see to that.
//
// A question that the test has no answer for fails it, and is named. Clients before 2026-07-28 check what they send, so wrong
// answers are for the newest.
//
// What is between a server and the network (tokens, origins, routes) is tested with package answer, whose CallTool answers
// by a script.
package elicittest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An Answer is what the test's user does with the question of one key.
type Answer struct {
	key      string
	response mcp.InputResponse
	err      error
}

// Accept answers q with v. The compiler checks v against the question. For a question of elicit.Confirm, false declines; of
// elicit.NewURL, v is true.
func Accept[T any](q *elicit.Question[T], v T) Answer {
	r, err := tool.Encode(q, v)
	return Answer{q.Key(), r, err}
}

// Raw accepts with content as a client might send it, right or wrong.
func Raw(key string, content map[string]any) Answer {
	return Answer{key, &mcp.ElicitResult{Action: "accept", Content: content}, nil}
}

// Decline declines the question of that key.
func Decline(key string) Answer {
	return Answer{key, &mcp.ElicitResult{Action: "decline"}, nil}
}

// Cancel closes the question of that key without choosing.
func Cancel(key string) Answer {
	return Answer{key, &mcp.ElicitResult{Action: "cancel"}, nil}
}

func byKey(t testing.TB, answers []Answer) mcp.InputResponseMap {
	t.Helper()
	m := mcp.InputResponseMap{}
	for _, a := range answers {
		if a.err != nil {
			t.Fatalf("elicittest: the answer to %q cannot be given: %v", a.key, a.err)
		}
		if _, twice := m[a.key]; twice {
			t.Fatalf("elicittest: two answers to %q", a.key)
		}
		m[a.key] = a.response
	}
	return m
}

// Context is a context in which a handler can ask without a server, and is given these answers. It ends with the test.
// It stands for one round, whose client can show everything and whose answers need no proof.
func Context(t testing.TB, answers ...Answer) context.Context {
	t.Helper()
	return tool.TestContext(t.Context(), byKey(t, answers))
}

// A Question is what the user would see.
type Question struct {
	Key     string
	Message string
	Schema  json.RawMessage // of a form; properties in order
	URL     string          // of a page to open; in a Context, a made-up one
}

// Asked is what was asked in a context of [Context] so far, in the order of asking.
func Asked(ctx context.Context) []Question {
	keys, requests := tool.TestAsked(ctx)
	var qs []Question
	for _, k := range keys {
		qs = append(qs, question(k, requests[k]))
	}
	return qs
}

func question(key string, r mcp.InputRequest) Question {
	q := Question{Key: key}
	if p, ok := r.(*mcp.ElicitParams); ok {
		q.Message, q.URL = p.Message, p.URL
		if p.URL == "" {
			q.Schema, _ = json.Marshal(p.RequestedSchema)
		}
	}
	return q
}

// A Transcript is how a call of [Call] went.
type Transcript struct {
	Result *mcp.CallToolResult
	Asked  []Question // in the order of asking; questions of one round by key
	Rounds int        // requests sent: the call's, and those with answers
	Task   string     // the id of the task that the call became; "" if it became none
}

// Text is the text of the result's first content.
func (r *Transcript) Text() string {
	for _, c := range r.Result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

// response is what a client sends for an answer, after its user has done what a page asks for.
func response(ctx context.Context, server *mcp.Server, url string, a mcp.InputResponse) (mcp.InputResponse, error) {
	done, ok := a.(tool.Completed)
	switch {
	case !ok:
		return a, nil
	case url == "":
		return nil, errors.New("it is a form, and the answer is for a page")
	}
	return done.ElicitResult, tool.CompletePage(ctx, server, url, done.Value)
}

const maxRounds = 20

// Call calls a tool, as a client of protocolVersion would ("" is the newest that the SDK speaks), until it ends, on the call or
// as a task. It fails the test if a question has no answer here, if the call fails, if its task fails or is cancelled, or if it
// still asks after 20 rounds.
func Call(t testing.TB, server *mcp.Server, protocolVersion, toolName string, args any, answers ...Answer) *Transcript {
	t.Helper()
	if protocolVersion != "" && !slices.Contains(mcp.SupportedProtocolVersions(), protocolVersion) {
		t.Fatalf("elicittest: the SDK does not speak protocol revision %q; it speaks %q", protocolVersion, mcp.SupportedProtocolVersions())
	}
	m := byKey(t, answers)
	tr := &Transcript{}
	var mu sync.Mutex
	// The SDK's own loop does not tell an ElicitationHandler the key, so the rounds are driven here. To older clients the
	// key comes in _meta.
	opts := &mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			mu.Lock()
			defer mu.Unlock()
			key := fmt.Sprint(r.Params.Meta[wire.KeyMeta])
			tr.Asked = append(tr.Asked, question(key, r.Params))
			if len(tr.Asked) > maxRounds {
				return nil, fmt.Errorf("asked %d times", len(tr.Asked))
			}
			a, err := response(t.Context(), server, r.Params.URL, m[key])
			if err != nil {
				t.Errorf("elicittest: %q cannot be answered: %v", key, err)
				return &mcp.ElicitResult{Action: "cancel"}, nil
			}
			if a, ok := a.(*mcp.ElicitResult); ok {
				return a, nil
			}
			t.Errorf("elicittest: %q is asked (%q), and has no answer in this test", key, r.Params.Message)
			return &mcp.ElicitResult{Action: "cancel"}, nil
		}}
	if protocolVersion == "" || protocolVersion >= "2025-11-25" {
		//lint:ignore SA1019 MCP has deprecated roots (SEP-2577); servers may ask for them while the SDK has them
		opts.Capabilities = &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{ListChanged: true},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}}
	}
	if protocolVersion == "" || protocolVersion >= wire.Modern {
		opts.Capabilities.Extensions = map[string]any{tasksExtension: struct{}{}}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "elicittest", Version: "1"}, opts)
	addTaskMethods(client)
	st, ct := mcp.NewInMemoryTransports()
	tap := &handles{Transport: ct}
	ss, err := server.Connect(t.Context(), wire.Strict(st), nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := client.Connect(t.Context(), tap, &mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer ss.Wait()
	defer cs.Close()
	respond := func(key string, q Question) (mcp.InputResponse, error) {
		a, ok := m[key]
		if !ok {
			return nil, fmt.Errorf("%q is asked (%q), and has no answer in this test", key, q.Message)
		}
		r, err := response(t.Context(), server, q.URL, a)
		if err != nil {
			return nil, fmt.Errorf("%q cannot be answered: %w", key, err)
		}
		return r, nil
	}
	p := &mcp.CallToolParams{Name: toolName, Arguments: args}
	for {
		tr.Rounds++
		res, err := cs.CallTool(t.Context(), p)
		if err != nil {
			t.Fatalf("elicittest: round %d of %s: %v", tr.Rounds, toolName, err)
		}
		if tr.Task = tap.task(); tr.Task != "" {
			if err := tr.follow(t.Context(), cs, respond); err != nil {
				t.Fatalf("elicittest: %s: %v", toolName, err)
			}
			return tr
		}
		if !res.NeedsInput() {
			tr.Result = res
			return tr
		}
		if tr.Rounds == maxRounds {
			t.Fatalf("elicittest: %s still asks after %d rounds", toolName, maxRounds)
		}
		p = &mcp.CallToolParams{Name: toolName, Arguments: args, RequestState: res.RequestState, InputResponses: mcp.InputResponseMap{}}
		for _, k := range slices.Sorted(maps.Keys(res.InputRequests)) {
			q := question(k, res.InputRequests[k])
			tr.Asked = append(tr.Asked, q)
			if p.InputResponses[k], err = respond(k, q); err != nil {
				t.Fatalf("elicittest: round %d of %s: %v", tr.Rounds, toolName, err)
			}
		}
	}
}
