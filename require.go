package elicit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Require returns the user's answer. While there is none, it returns an error that [ErrAsking] matches: return it, and
// the handler runs again, from the top, when the user has answered. So do nothing before Require that must not happen
// twice, unless in [Step].
//
// To a client of a revision before 2026-07-28, Require asks over its live session and waits: hold no lock or
// transaction across it.
//
// Other errors say that the user cannot be asked ([*UnavailableError]), that the answers stayed wrong
// ([*InvalidAnswerError]), that the client did not declare the capability (JSON-RPC −32021), or what is wrong with the
// question or the use of it. Return them too.
func (q *Question[T]) Require(ctx context.Context) (Answer[T], error) {
	var a Answer[T]
	err := RequireAll(ctx, q.Into(&a))
	return a, err
}

// Value is Require for callers to whom a refusal is the end: its error is then a [*RefusedError].
func (q *Question[T]) Value(ctx context.Context) (T, error) {
	a, err := q.Require(ctx)
	if err == nil {
		err = a.Err()
	}
	return a.value, err
}

// CanAsk reports whether the client of this request can show the question. Outside a call it is false.
func (q *Question[T]) CanAsk(ctx context.Context) bool {
	c, err := from(ctx)
	if err != nil {
		return false
	}
	defer c.mu.Unlock()
	if c.modern || c.testing {
		return c.lacks(&q.ask) == ""
	}
	_, reason := c.older(&q.ask)
	return reason == ""
}

// Into pairs the question with the variable that [RequireAll] sets.
func (q *Question[T]) Into(a *Answer[T]) Pending {
	return Pending{ask: &q.ask, err: q.Err, take: func(action Action, content []byte) (Action, []byte, []form.Problem) {
		x, kept, problems := q.settle(q, action, content)
		if len(problems) == 0 {
			*a = x
		}
		return x.action, kept, problems
	}, given: func(v any) bool {
		x, ok := q.given(v)
		if ok {
			*a = x
		}
		return ok
	}}
}

// Pending is a question, and where its answer goes; see [Question.Into].
type Pending struct {
	ask  *ask
	err  func() error
	take func(Action, []byte) (Action, []byte, []form.Problem)

	given func(v any) bool // what the page of a URL question gave
}

// RequireAll is Require for several questions: it asks all that have no answer yet in one round. To older clients it
// asks one after the other.
func RequireAll(ctx context.Context, questions ...Pending) error {
	for _, p := range questions {
		if p.ask == nil {
			return misuse("RequireAll was given an empty Pending: make it with Question.Into")
		}
		if err := p.err(); err != nil {
			return err
		}
	}
	c, err := from(ctx)
	if err != nil {
		return err
	}
	defer c.mu.Unlock()
	var open []string
	for _, p := range questions {
		asks, err := c.require(ctx, p)
		if err != nil {
			return err
		}
		if asks {
			open = append(open, p.ask.key)
		}
	}
	if open != nil {
		return &askingError{open}
	}
	return nil
}

// require gets the answer of one question, or reports that this round asks it. The caller holds c.mu.
func (c *call) require(ctx context.Context, p Pending) (asks bool, err error) {
	q := p.ask
	if d, ok := c.required[q.key]; ok && d != q.digest {
		return false, misuse("%s uses the key %q for two different questions: give each its own (WithKey)", c.what(), q.key)
	}
	if c.required == nil {
		c.required = map[string]state.Digest{}
	}
	c.required[q.key] = q.digest
	if _, ok := c.asked[q.key]; ok || slices.Contains(c.waiting, q.key) {
		return true, nil
	}
	if a, ok := c.st.Answers[q.key]; ok {
		if a.Digest.Equal(q.digest) {
			if _, _, problems := p.take(actionOf(a.Action), a.Content); len(problems) == 0 {
				c.used = true
				return false, nil
			}
		}
		delete(c.st.Answers, q.key) // it answered other words
	}
	if q.kind == urlKind {
		return c.requireURL(ctx, p)
	}
	if !c.modern && !c.testing {
		return false, c.requireLive(ctx, p)
	}
	message, schema := q.message, q.schema
	if r, ok := c.responses[q.key]; ok {
		action, content := read(q.kind, r)
		switch {
		case c.expired:
			c.log(ctx, slog.LevelDebug, "elicit: an answer came after its round had expired", "key", q.key)
			if action == Accept && q.hints != nil {
				schema = q.hints(content)
			}
		case !c.proven(q):
			c.log(ctx, slog.LevelWarn, "elicit: an answer does not prove that it answers this question of this call; asking", "key", q.key, "reason", c.unproven(q))
			if _, asked := c.st.Asked[q.key]; asked { // in other words
				if n := c.attempt(q.key); n >= c.shop.opts.MaxAttempts {
					return false, misuse("the words of question %q of %s were different in each of %d rounds: they must not depend on anything that changes, such as a clock", q.key, c.what(), n)
				}
			}
		default:
			action, kept, problems := p.take(action, content)
			if len(problems) == 0 {
				c.record(ctx, q, action, kept)
				return false, nil
			}
			n := c.attempt(q.key)
			c.log(ctx, slog.LevelInfo, "elicit: an answer is not valid", "key", q.key, "attempt", n, "rules", rules(problems))
			if n >= c.shop.opts.MaxAttempts {
				return false, &InvalidAnswerError{Key: q.key, Attempts: n, Rules: rules(problems)}
			}
			message, schema = reask(q, problems), q.hints(content)
		}
	}
	if cap := c.lacks(q); cap != "" {
		return false, c.missing(ctx, q, cap)
	}
	if c.asked == nil {
		c.asked = map[string]*asking{}
	}
	a := &asking{digest: q.digest, proof: c.needsProof(q), wire: q.wire, request: q.request}
	if q.kind == formKind {
		a.request = &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: schema}
		if message != q.message || string(schema) != string(q.schema) {
			a.wire = encodeForm(message, schema)
		}
	}
	c.asked[q.key] = a
	c.order = append(c.order, q.key)
	c.log(ctx, slog.LevelDebug, "elicit: asking", "key", q.key)
	return true, nil
}

// missing is the error of a question that needs a capability which the client did not declare.
func (c *call) missing(ctx context.Context, q *ask, cap string) error {
	c.log(ctx, slog.LevelInfo, "elicit: the client did not declare the capability that a question needs", "key", q.key, "capability", cap)
	return &protocolError{&jsonrpc.Error{
		Code:    codeMissingCapability,
		Message: fmt.Sprintf("%s asks the user (%q), which needs the client capability %s", c.what(), q.key, cap),
		Data:    json.RawMessage(`{"requiredCapabilities":` + capability(cap) + `}`),
	}}
}

// reask is the message that asks again, and says what was wrong.
func reask(q *ask, problems []form.Problem) string {
	b := []string{q.message, ""}
	for _, p := range problems {
		b = append(b, p.Message)
	}
	return strings.Join(b, "\n")
}

// needsProof reports whether an answer to q must come with a state that says q was asked. Not so only where there is
// nothing to move an answer from or to.
func (c *call) needsProof(q *ask) bool {
	return c.shop.opts.Strict || c.shop.opts.Bind != nil || q.bound || c.carried || c.stepped || c.hasArguments() || !c.shop.fixed(feature{c.method, c.name}, q.key, q.digest)
}

func (c *call) proven(q *ask) bool {
	if c.testing {
		return true
	}
	if d, ok := c.st.Asked[q.key]; ok && d.Equal(q.digest) {
		return true
	}
	return !c.needsProof(q)
}

// unproven says why an answer to q is not proven.
func (c *call) unproven(q *ask) string {
	switch _, asked := c.st.Asked[q.key]; {
	case asked:
		return "it was asked in other words"
	case c.carried:
		return "the requestState that came with it did not ask it"
	}
	return "it came without a requestState"
}

// attempt counts an answer that did not count.
func (c *call) attempt(key string) int {
	if c.st.Attempts == nil {
		c.st.Attempts = map[string]int{}
	}
	c.st.Attempts[key]++
	return c.st.Attempts[key]
}

// record remembers an answer for the rounds that follow.
func (c *call) record(ctx context.Context, q *ask, action Action, content []byte) {
	if c.st.Answers == nil {
		c.st.Answers = map[string]state.Answer{}
	}
	c.st.Answers[q.key] = state.Answer{Digest: q.digest, Action: storedAction(action), Content: content}
	delete(c.st.Attempts, q.key)
	c.used = true
	c.log(ctx, slog.LevelDebug, "elicit: answered", "key", q.key, "action", action)
}

func storedAction(a Action) state.Action {
	switch a {
	case Accept:
		return state.Accept
	case Decline:
		return state.Decline
	default:
		return state.Cancel
	}
}

func actionOf(a state.Action) Action {
	switch a {
	case state.Accept:
		return Accept
	case state.Decline:
		return Decline
	default:
		return Cancel
	}
}

// read is what a client's response to a question of kind k says. What is no answer to such a question is a cancel.
func read(k kind, r mcp.InputResponse) (Action, []byte) {
	switch r := r.(type) {
	case *mcp.ElicitResult:
		if (k == formKind || k == urlKind) && r != nil {
			a := Action(strings.ToLower(r.Action))
			if a == Accept || a == Decline {
				return a, wire.Content(r)
			}
		}
	default:
		if b, err := json.Marshal(r); k == otherKind(r) && err == nil {
			return Accept, b
		}
	}
	return Cancel, nil
}

// lacks names the capability that q needs and the client of this request did not declare, or "".
func (c *call) lacks(q *ask) string {
	if c.testing {
		return ""
	}
	switch q.kind {
	case formKind:
	case urlKind:
		if !c.caps.url {
			return "elicitation.url"
		}
		return ""
	default:
		return lacksOther(q, c.caps)
	}
	if !c.caps.forms() {
		return "elicitation.form"
	}
	return ""
}

// capability is {"a":{"b":{}}} for a.b.
func capability(path string) string {
	s := "{}"
	parts := strings.Split(path, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		s = fmt.Sprintf("{%q:%s}", parts[i], s)
	}
	return s
}
