package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds on what a server can make a client do. Rounds that only wait do not use up the rounds that ask.
const (
	maxRounds = 100  // rounds with questions
	maxWaits  = 1000 // rounds in a row without one: about 80 minutes
)

// Pauses between rounds without a question: the first, and what they grow to by half each time. Variables for tests.
var (
	firstPause = 200 * time.Millisecond
	lastPause  = 5 * time.Second
)

// CallTool calls a tool and drives the call to its end: it has a answer what the server asks, and retries with the
// answers until the result is complete (specification: basic/patterns/mrtr, Client Requirements). Every round is a
// request of its own with the same arguments and a new JSON-RPC id; requestState goes back exactly as it came, and not
// at all when none came. Several questions of one round are answered one after another in the server's order. When the
// server asks nothing but wants to be called again, CallTool waits (0.2 s at first, at most 5 s) and does so.
//
// On sessions of older protocols the server asks while the request runs: then the questions arrive at the session's
// [Handler], which passes them on to a while CallTool runs.
//
// When the call becomes a task (tasks extension), CallTool follows that to its end: it looks at the task as often as the
// server wants, and when the server tells of a change; has a answer its questions, each once; and returns the tool's
// result. [Options].Task is told what it sees. While the server cannot be reached, it tries again for 5 minutes. The task does
// not depend on this: when ctx ends, when a question cannot be answered or the server stays away, the task is left as it
// is, questions open, and the error is a [*TaskError] with its id. Go on with [WaitTask], or end the task with [CancelTask].
// Sessions of [Connect] and [ConnectTransport] declare the extension, on CallTool's requests alone.
//
// a may be nil: then [Options].Answerer answers, and without one a question is an [*AnswerError] with
// [ErrNoAnswerer]. p is not changed.
//
// Errors: an [*AnswerError] when a question could not be answered; the result the server ended the call with, having
// been told "cancel", is returned beside it when there is one. An [*UnsupportedError] when the server asks for
// something else than an answer of a person, a [*TaskError] for every end of a task but a result, a [*ResultTypeError]
// when it answers with a result type of the future, or with a task on a session from elsewhere, a [*RoundsError] after 100 rounds of questions or 1000 of waiting, a *jsonrpc.Error (with errors.As) when it
// refuses the call, an [*HTTPError] when an HTTP status is all that comes back. A tool that failed is not an error here but a result with IsError.
//
// The session should come from [Connect] or through [Wrap]: then StructuredContent is the server's own text, a
// json.RawMessage, so that no number in it is rounded. Forms work on any session whose
// ClientOptions.MultiRoundTrip is disabled, with their properties in alphabetical order and numbers beyond 2^53
// rounded; where it is not disabled, the SDK drives the rounds and its handler answers.
func CallTool(ctx context.Context, cs *mcp.ClientSession, p *mcp.CallToolParams, a Answerer) (*mcp.CallToolResult, error) {
	var params mcp.CallToolParams
	if p != nil {
		params = *p
	}
	// The same arguments in every round, whatever the caller does to the value meanwhile.
	if params.Arguments == nil {
		params.Arguments = map[string]any{}
	}
	arguments, err := json.Marshal(params.Arguments)
	if err != nil {
		return nil, fmt.Errorf("calling tool %q: its arguments: %w", params.Name, err)
	}
	params.Arguments = json.RawMessage(arguments)

	c := startCall(cs, params.Name, a)
	defer c.end()
	if k, ok := sessions.Load(cs); ok && k.(*keeper).progress && params.GetProgressToken() == nil {
		params.Meta = maps.Clone(params.Meta)
		params.SetProgressToken("call-" + c.id)
	}
	ctx = context.WithValue(ctx, callKey{}, c)

	rounds, waits, pause := 0, 0, firstPause
	for round := 1; ; round++ {
		res, err := send(ctx, cs, params)
		if pages := pagesOf(err); pages != nil && c.failed() == nil && waits < maxWaits {
			// 2025-11-25 has an error for "open these pages first" (client/elicitation, URL Elicitation Required Error).
			if err := c.openPages(ctx, pages, rounds >= maxRounds); err != nil {
				return nil, err
			}
			waits, rounds = waits+1, rounds+1
			continue
		}
		if err != nil {
			err = c.because(err)
			if f := c.failed(); f != nil {
				return nil, fmt.Errorf("%w; then the server ended the call: %w", f, err)
			}
			return nil, err
		}
		reply, err := replyOf(c, res)
		if err != nil {
			return nil, err
		}
		if reply.task != nil {
			return c.follow(ctx, reply.task)
		}
		if failure := c.failed(); failure != nil {
			if reply.complete {
				return res, failure
			}
			return nil, failure // The server keeps asking; it was told "cancel" once.
		}
		if reply.complete {
			return res, nil
		}

		params.RequestState = reply.state
		params.InputResponses = nil
		if len(reply.questions) == 0 {
			if waits++; waits > maxWaits {
				return nil, &RoundsError{Tool: params.Name, Rounds: waits - 1, Waiting: true}
			}
			if err := sleep(ctx, pause); err != nil {
				return nil, err
			}
			pause = min(pause*3/2, lastPause)
			continue
		}
		waiting := false
		if params.InputResponses, waiting, err = c.answerAll(ctx, reply, round, rounds >= maxRounds); err != nil {
			return nil, err
		}
		if waiting {
			if waits++; waits > maxWaits {
				return nil, &RoundsError{Tool: params.Name, Rounds: waits - 1, Waiting: true}
			}
			continue
		}
		waits, pause = 0, firstPause
		rounds++
	}
}

// send is one round. A server that misses a header mirrored from an argument gets its tool list read and the request
// again (specification: basic/transports/streamable-http, Client Behavior).
func send(ctx context.Context, cs *mcp.ClientSession, params mcp.CallToolParams) (*mcp.CallToolResult, error) {
	for first := true; ; first = false {
		p := params
		p.Meta = maps.Clone(params.Meta) // The SDK writes into it.
		res, err := cs.CallTool(ctx, &p)
		if err == nil {
			return res, nil
		}
		var rpc *jsonrpc.Error
		if status := (*HTTPError)(nil); errors.As(err, &status) || !errors.As(err, &rpc) {
			return nil, fmt.Errorf("calling tool %q: %w", params.Name, err)
		}
		switch {
		case rpc.Code == mcp.CodeHeaderMismatch && first:
			if readTools(ctx, cs) == nil {
				continue
			}
		case rpc.Code == mcp.CodeMissingRequiredClientCapabilities:
			return nil, fmt.Errorf("calling tool %q: the server needs a capability that this session does not declare (for questions: set answer.Options.Answerer, or mcp.ClientOptions.ElicitationHandler): %w", params.Name, err)
		}
		return nil, fmt.Errorf("calling tool %q: %w", params.Name, err)
	}
}

// readTools makes the SDK learn every tool's definition.
func readTools(ctx context.Context, cs *mcp.ClientSession) error {
	const maxPages = 100
	p := &mcp.ListToolsParams{}
	for range maxPages {
		res, err := cs.ListTools(ctx, p)
		if err != nil {
			return err
		}
		if res.NextCursor == "" {
			return nil
		}
		p = &mcp.ListToolsParams{Cursor: res.NextCursor}
	}
	return nil
}

// A reply is what one round brought: a complete result, or questions and a state.
type reply struct {
	complete  bool
	questions []asked
	state     string
	exact     bool  // the server's own text
	task      *Task // the server's handle
}

type asked struct {
	key    string
	method string
	params json.RawMessage
}

// replyOf reads a round's result: its exact text when our transport kept it, else what the SDK decoded.
func replyOf(c *call, res *mcp.CallToolResult) (reply, error) {
	raw := c.take()
	exact := raw != nil
	if exact {
		keepStructured(res, raw)
	} else {
		// Someone else's transport. Only an empty result can be of a type that the SDK does not know.
		if !res.NeedsInput() && (len(res.Content) > 0 || res.StructuredContent != nil || res.IsError) {
			return reply{complete: true}, nil
		}
		var err error
		if raw, err = json.Marshal(res); err != nil {
			return reply{}, fmt.Errorf("calling tool %q: %w", c.tool, err)
		}
	}
	if typ, err := resultType(raw); exact && err == nil && typ == "task" && c.follows() {
		t, err := readTask(raw, c.tool)
		if err != nil {
			return reply{}, fmt.Errorf("calling tool %q: the server's task is broken: %w", c.tool, err)
		}
		return reply{task: t}, nil
	}
	r, err := readReply(raw, c.tool)
	r.exact = exact
	return r, err
}

func readReply(raw []byte, tool string) (reply, error) {
	broken := func(what string) error {
		return fmt.Errorf("calling tool %q: the server's result is broken: %s", tool, what)
	}
	typ, err := resultType(raw)
	switch {
	case err != nil:
		return reply{}, broken(err.Error())
	case typ == "" || typ == "complete": // Absent means complete (specification: basic/patterns/mrtr).
		return reply{complete: true}, nil
	case typ != "input_required":
		return reply{}, &ResultTypeError{Tool: tool, Type: typ}
	}
	if name, dup := rawjson.Duplicate(raw, false); dup {
		return reply{}, broken(fmt.Sprintf("two members %q", name))
	}
	var r reply
	if v, ok := rawjson.Get(raw, "requestState"); ok && rawjson.Kind(v) != 'n' {
		if r.state, ok = rawjson.String(v); !ok {
			return reply{}, broken("requestState is not a string")
		}
	}
	requests, ok := rawjson.Get(raw, "inputRequests")
	if !ok || rawjson.Kind(requests) == 'n' {
		return r, nil
	}
	if r.questions, err = readQuestions(requests); err != nil {
		return reply{}, broken(err.Error())
	}
	return r, nil
}

// maxQuestions is how many questions a server may ask at once.
const maxQuestions = 100

// readQuestions reads inputRequests.
func readQuestions(requests []byte) ([]asked, error) {
	if rawjson.Kind(requests) != '{' {
		return nil, errors.New("inputRequests is not an object")
	}
	if name, dup := rawjson.Duplicate(requests, false); dup {
		return nil, fmt.Errorf("inputRequests has the key %q twice", name)
	}
	var questions []asked
	for name, value := range rawjson.Members(requests) {
		if len(questions) == maxQuestions {
			return nil, fmt.Errorf("inputRequests has more than %d questions", maxQuestions)
		}
		var q asked
		q.key, _ = rawjson.String(name)
		method, _ := rawjson.Get(value, "method")
		var ok bool
		if q.method, ok = rawjson.String(method); !ok {
			return nil, fmt.Errorf("%s has no method", question(q.key))
		}
		q.params, _ = rawjson.Get(value, "params")
		questions = append(questions, q)
	}
	return questions, nil
}

// resultType is the resultType of a raw result; "" when it has none.
func resultType(result []byte) (string, error) {
	v, ok := rawjson.Get(result, "resultType")
	if !ok || rawjson.Kind(v) == 'n' {
		return "", nil
	}
	s, ok := rawjson.String(v)
	if !ok {
		return "", errors.New("resultType is not a string")
	}
	return s, nil
}

// answerAll has a round's questions answered one after another. Nobody is asked in vain: a question that cannot be
// answered by a person at all ends the call first.
//
// A round that only asks again for pages that were agreed to is a wait; any other fails when it is one too many.
func (c *call) answerAll(ctx context.Context, reply reply, round int, tooMany bool) (responses mcp.InputResponseMap, waiting bool, err error) {
	responses = make(mcp.InputResponseMap, len(reply.questions))
	var requests []*Request
	waiting = true
	for _, q := range reply.questions {
		if q.method != methodElicit {
			waiting = false
			res, err := c.answerOther(ctx, q)
			if err == nil && res == nil {
				err = &UnsupportedError{Tool: c.tool, Key: q.key, Method: q.method}
			}
			if err != nil {
				return nil, false, err
			}
			responses[q.key] = res
			continue
		}
		r, err := newRequest(q.key, q.params)
		if err != nil {
			return nil, false, fmt.Errorf("calling tool %q: %s is broken: %w", c.tool, question(q.key), err)
		}
		c.mu.Lock()
		waiting = waiting && c.waitsFor(r)
		c.mu.Unlock()
		r.ServerName = serverName(c.session)
		r.Round, r.Exact = round, reply.exact
		requests = append(requests, r)
		c.announce(q.key)
	}
	if !waiting && tooMany {
		return nil, false, &RoundsError{Tool: c.tool, Rounds: maxRounds}
	}
	for _, r := range requests {
		responses[r.Key] = c.ask(ctx, r, nil)
		if err := ctx.Err(); err != nil {
			return nil, false, fmt.Errorf("calling tool %q: %w", c.tool, context.Cause(ctx))
		}
	}
	return responses, waiting, nil
}

// pagesOf are the questions of an error that wants pages opened before the call is tried again; nil of any other.
func pagesOf(err error) []asked {
	const urlElicitationRequired = -32042
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != urlElicitationRequired {
		return nil
	}
	var pages []asked
	list, _ := rawjson.Get(rpc.Data, "elicitations")
	for e := range rawjson.Elements(list) {
		id, _ := rawjson.Get(e, "elicitationId")
		key, _ := rawjson.String(id)
		pages = append(pages, asked{key: key, method: methodElicit, params: e})
	}
	return pages
}

// openPages asks for pages, and fails unless all were agreed to.
func (c *call) openPages(ctx context.Context, pages []asked, tooMany bool) error {
	answers, _, err := c.answerAll(ctx, reply{questions: pages, exact: true}, 1, tooMany)
	if err != nil {
		return err
	}
	if failure := c.failed(); failure != nil {
		return failure
	}
	for key, res := range answers {
		if r, ok := res.(*mcp.ElicitResult); !ok || r.Action != ActionAccept {
			return &AnswerError{Tool: c.tool, Key: key, Err: errors.New("the page that the server needs was not agreed to")}
		}
	}
	return nil
}

const methodElicit = "elicitation/create"

// ReadInputRequests reads the inputRequests of a raw result, an object with a member for each question, in the server's
// order; for programs that show questions without calling a tool. A question that is not for a person, and one that is
// broken, is an error that names its key.
func ReadInputRequests(raw json.RawMessage) ([]*Request, error) {
	if err := rawjson.Check(raw, maxDepth); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	var requests []*Request
	for name, value := range rawjson.Members(raw) {
		key, _ := rawjson.String(name)
		if method, _ := rawjson.Get(value, "method"); !rawjson.NameIs(method, methodElicit) {
			return nil, fmt.Errorf("%s is not an %s", question(key), methodElicit)
		}
		params, _ := rawjson.Get(value, "params")
		r, err := newRequest(key, params)
		if err != nil {
			return nil, fmt.Errorf("%s is broken: %w", question(key), err)
		}
		r.Round, r.Exact = 1, true
		requests = append(requests, r)
	}
	return requests, nil
}

// newRequest reads the params of an elicitation/create that were kept exactly.
func newRequest(key string, params json.RawMessage) (*Request, error) {
	r := &Request{Key: key, Params: &mcp.ElicitParams{}}
	if rawjson.Kind(params) != '{' {
		return nil, errors.New("params is not an object")
	}
	for _, level := range []string{"", "requestedSchema"} {
		obj := []byte(params)
		if level != "" {
			obj, _ = rawjson.Get(params, level)
		}
		if name, dup := rawjson.Duplicate(obj, false); dup {
			return nil, fmt.Errorf("two members %q", name)
		}
	}
	d := json.NewDecoder(bytes.NewReader(params))
	d.UseNumber() // A schema may have numbers that no float holds.
	if err := d.Decode(r.Params); err != nil {
		return nil, err
	}
	if r.Params.Mode == "" {
		r.Params.Mode = "form" // Clients MUST treat requests without a mode as form mode (client/elicitation).
	}
	if schema, ok := rawjson.Get(params, "requestedSchema"); ok && rawjson.Kind(schema) != 'n' {
		r.Schema = bytes.Clone(schema)
	}
	return r, nil
}

// ask has a answer r and brings the answer into the shape the specification wants. With an error, the answer is cancel.
func ask(ctx context.Context, a Answerer, r *Request) (*mcp.ElicitResult, error) {
	cancel := &mcp.ElicitResult{Action: ActionCancel}
	if a == nil {
		return cancel, ErrNoAnswerer
	}
	res, err := a.Answer(ctx, r)
	switch {
	case err != nil:
		return cancel, err
	case res == nil:
		return cancel, nil
	}
	switch res.Action {
	case ActionAccept:
		out := &mcp.ElicitResult{Action: ActionAccept, Meta: res.Meta}
		if r.Params.Mode != "url" { // For a URL question the content is omitted (client/elicitation, Response Actions).
			out.Content = res.Content
		}
		if _, err := json.Marshal(out); err != nil {
			return cancel, fmt.Errorf("the answer cannot be sent: %w", err)
		}
		return out, nil
	case ActionDecline, ActionCancel:
		return &mcp.ElicitResult{Action: res.Action, Meta: res.Meta}, nil
	}
	return cancel, fmt.Errorf("the Answerer returned the action %q: use one of %s", res.Action, quoted([]string{ActionAccept, ActionDecline, ActionCancel}))
}

func serverName(cs *mcp.ClientSession) string {
	if cs == nil {
		return ""
	}
	init := cs.InitializeResult()
	if init == nil || init.ServerInfo == nil {
		return ""
	}
	if init.ServerInfo.Title != "" {
		return init.ServerInfo.Title
	}
	return init.ServerInfo.Name
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
