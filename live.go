package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Clients of the revisions before 2026-07-28 are asked over their live session, while the handler waits.

const (
	revision2025November = "2025-11-25" // the newest of them
	revision2025June     = "2025-06-18" // the first with elicitation: enumNames, no several-choices, no defaults but booleans'
)

// requireLive asks q over the session until the answer is valid. The caller holds c.mu, which is free while waiting.
func (c *call) requireLive(ctx context.Context, p Pending) error {
	q := p.ask
	schema, reason := c.older(q)
	if reason != "" {
		c.log(ctx, slog.LevelInfo, "elicit: the user cannot be asked", "key", q.key, "reason", reason)
		return &UnavailableError{Key: q.key, Reason: reason}
	}
	message := q.message
	for {
		var r mcp.InputResponse
		err := c.unlocked(func() (err error) {
			r, err = c.askLive(ctx, q, message, schema)
			return err
		})
		if err := c.liveFailed(ctx, q, err); err != nil {
			return err
		}
		action, content := read(q.kind, r)
		action, kept, problems := p.take(action, content)
		if len(problems) == 0 {
			c.record(ctx, q, action, kept)
			return nil
		}
		n := c.attempt(q.key)
		c.log(ctx, slog.LevelInfo, "elicit: an answer is not valid", "key", q.key, "attempt", n, "rules", rules(problems))
		if n >= c.shop.opts.MaxAttempts {
			return &InvalidAnswerError{Key: q.key, Attempts: n, Rules: rules(problems)}
		}
		message = reask(q, problems)
		if c.revision() > revision2025June { // that one has no defaults
			schema = q.hints(content)
		}
	}
}

// liveFailed is the error of a question that was asked over the session, with err.
func (c *call) liveFailed(ctx context.Context, q *ask, err error) error {
	switch {
	case c.closed:
		return fmt.Errorf("elicit: %s has already returned", c.name)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errTooLong):
		c.log(ctx, slog.LevelInfo, "elicit: the user did not answer in time", "key", q.key)
		return &UnavailableError{Key: q.key, Reason: fmt.Sprintf("there was no answer within %v", c.shop.opts.Expiry)}
	case err != nil:
		c.log(ctx, slog.LevelWarn, "elicit: the client answered a question with an error", "key", q.key, "error", err)
		return &UnavailableError{Key: q.key, Reason: "the client answered with an error"}
	}
	return nil
}

// unlocked runs f without c.mu, which the caller holds, and holds again whatever f does.
func (c *call) unlocked(f func() error) error {
	c.mu.Unlock()
	defer c.mu.Lock()
	return f()
}

// revision is the protocol revision of the session: what the client asked for, if the SDK speaks it, else what it got.
func (c *call) revision() string {
	if c.session == nil {
		return ""
	}
	p := c.session.InitializeParams()
	if p == nil {
		return ""
	}
	if p.ProtocolVersion >= wire.Modern {
		return revision2025November
	}
	return p.ProtocolVersion
}

// older is the schema of q in the shape of the session's revision, or why q cannot be asked.
func (c *call) older(q *ask) (schema json.RawMessage, reason string) {
	v := c.revision()
	if v == "" {
		return nil, "there is no session with the client"
	}
	if c.session.InitializeParams().Capabilities == nil { // made up by a host without sessions
		return nil, "the server keeps no session with clients of older protocol revisions"
	}
	if lacks := c.lacks(q); lacks != "" {
		return nil, fmt.Sprintf("this client cannot be asked: it did not declare the capability %s", lacks)
	}
	if q.kind == urlKind && v < revision2025November {
		return nil, fmt.Sprintf("the client speaks protocol revision %s, which cannot send people to a page", v)
	}
	if q.kind != formKind {
		return nil, ""
	}
	if v < revision2025June {
		return nil, fmt.Sprintf("the client speaks protocol revision %s, which has no forms", v)
	}
	if v > revision2025June {
		return q.schema, ""
	}
	schema, err := q.legacy()
	if err != nil {
		return nil, fmt.Sprintf("the client speaks protocol revision %s, whose forms cannot show it: %v", v, err)
	}
	return schema, ""
}

var errTooLong = errors.New("the user took too long")

// askLive asks once.
func (c *call) askLive(ctx context.Context, q *ask, message string, schema json.RawMessage) (mcp.InputResponse, error) {
	return c.live(ctx, func(ctx context.Context) (mcp.InputResponse, error) {
		if q.kind != formKind {
			return askOther(ctx, c.session, q)
		}
		return c.session.Elicit(context.WithValue(ctx, schemaKey{}, schema), &mcp.ElicitParams{
			Meta: mcp.Meta{wire.KeyMeta: q.key}, Mode: "form", Message: message})
	})
}

// live runs f, which waits for the user. It ends when the user takes longer than Expiry, or the session ends: the SDK would
// wait for the handler to end a session, and the handler for the client.
func (c *call) live(ctx context.Context, f func(context.Context) (mcp.InputResponse, error)) (r mcp.InputResponse, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.shop.opts.Expiry, errTooLong)
	defer cancel()
	stop := wire.OnSessionEnd(ctx, cancel)
	defer stop()
	defer func() {
		if err != nil && context.Cause(ctx) == errTooLong {
			err = errTooLong
		}
	}()
	return f(ctx)
}

type schemaKey struct{}

// send is the sending middleware that New installs. It puts the schema on the wire of elicitation/create:
// ServerSession.Elicit is called without one, as with one it would validate and fill in defaults by itself, and a wrong
// answer would be lost.
func (s *Server) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if schema, ok := ctx.Value(schemaKey{}).(json.RawMessage); ok {
			if r, ok := req.GetParams().(*mcp.ElicitParams); ok {
				p := *r
				p.RequestedSchema = schema
				session, _ := req.GetSession().(*mcp.ServerSession)
				req = &mcp.ServerRequest[*mcp.ElicitParams]{Session: session, Params: &p, Extra: req.GetExtra()}
			}
		}
		return next(ctx, method, req)
	}
}
