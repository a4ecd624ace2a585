package elicit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call is one round of a call: one request, from the time it is read until its handler has returned.
type call struct {
	shop      *Server
	method    string
	name      string          // of the tool or prompt, or the resource's URI
	arguments json.RawMessage // nil if there are none
	session   *mcp.ServerSession
	extra     *mcp.RequestExtra
	modern    bool // 2026-07-28 or later, where asking ends the round
	caps      clientCan
	token     string // requestState
	principal Principal
	testing   bool      // elicittest: no server, answers are believed
	run       *tool.Run // nil if the call is no task, and cannot become one
	meta      mcp.Meta

	idMu sync.Mutex // its own, so that a logger that is called under mu may ask for it
	id   [16]byte

	mu        sync.Mutex
	closed    bool // the handler has returned
	detached  bool // the call goes on as a task
	begun     bool // …from its Begin on
	passedOn  bool // …and will run again
	responses mcp.InputResponseMap
	bound     *state.Binding // what a state of this call is bound to, once it was needed
	carried   bool           // the request carried a state that is ours, expired or not
	expired   bool           // …expired: nothing in it was believed
	claimed   bool
	stepped   bool        // a step ran in this round
	used      bool        // an answer was used
	st        state.State // what is remembered; Asked is what the last round asked
	required  map[string]state.Digest
	order     []string // keys asked in this round
	waiting   []string // keys of questions whose page a task waits for
	asked     map[string]*asking
}

// asking is a question that this round asks.
type asking struct {
	digest  state.Digest
	proof   bool // its answer will need proof
	wire    json.RawMessage
	request mcp.InputRequest
}

type callKey struct{}

// from gives the call that a handler's context belongs to. It is locked: the caller unlocks it.
func from(ctx context.Context) (*call, error) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil, errors.New("elicit: not inside a call: use the context that the handler was given, of a server that elicit.New was given, in a tool, prompt or resource")
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, fmt.Errorf("elicit: %s has already returned: ask before the handler returns, not from a goroutine that outlives it", c.name)
	}
	return c, nil
}

// receive is the middleware that New installs.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		c, inner := s.newCall(method, req)
		if c == nil {
			return guard(ctx, s, "handler", method, "", func() (mcp.Result, error) { return next(ctx, method, req) })
		}
		// Around the handler there is more of the author's: Options.Principal, Bind and Spender, tasks.ModeFunc.
		return guard(ctx, s, "what is around the handler", method, c.name, func() (mcp.Result, error) {
			c.run = c.takeRun(ctx)
			if err := c.open(ctx); err != nil {
				return nil, err
			}
			req := inner(c.st.Foreign)
			return c.mayBeTask(ctx, req, func(ctx context.Context) (mcp.Result, error) {
				return guard(ctx, s, "what is around the handler", method, c.name, func() (mcp.Result, error) { // perhaps in a goroutine of a task
					res, err := guard(ctx, s, "handler", method, c.name, func() (mcp.Result, error) {
						res, err := next(context.WithValue(ctx, callKey{}, c), method, req)
						if bad := wire.Encodable(res); err == nil && bad != nil {
							return nil, internalError(fmt.Sprintf("server bug: the result of %s cannot be encoded: %v", c.what(), bad))
						}
						return res, err
					})
					if err == error(errPanicked) {
						err = &protocolError{errPanicked} // whatever else is wrong with the round
					}
					return c.finish(ctx, res, err)
				})
			})
		})
	}
}

// errPanicked is what a client gets in place of a panic.
var errPanicked = internalError("internal error")

// guard turns a panic of the author's code, which what names, into an error that says nothing about it to the client.
func guard[T any](ctx context.Context, s *Server, what, method, name string, f func() (T, error)) (res T, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.opts.Logger.ErrorContext(ctx, "elicit: "+what+" panicked", "method", method, "name", name, "panic", r, "stack", string(debug.Stack()))
			wire.Panicked(ctx)
			var none T
			res, err = none, errPanicked
		}
	}()
	return f()
}

// newCall reads what a round needs of a request, or nil if a request of this method cannot ask. inner makes the request
// that the handler sees: without a state of ours, and, from older clients, which have none of these fields, without answers.
func (s *Server) newCall(method string, req mcp.Request) (c *call, inner func(foreign string) mcp.Request) {
	c = &call{shop: s, method: method, extra: req.GetExtra()}
	switch r := req.(type) {
	case *mcp.CallToolRequest:
		if r.Params == nil {
			return nil, nil
		}
		c.name, c.arguments = r.Params.Name, r.Params.Arguments
		c.came(r.Session, r.Params.Meta, r.ClientCapabilities, r.Params.InputResponses, r.Params.RequestState)
		inner = func(foreign string) mcp.Request {
			if c.modern && r.Params.RequestState == foreign {
				return r // nothing to take out
			}
			p, n := *r.Params, *r
			c.strip(&p.RequestState, &p.InputResponses, foreign)
			n.Params = &p
			return &n
		}
	case *mcp.GetPromptRequest:
		if r.Params == nil {
			return nil, nil
		}
		if len(r.Params.Arguments) > 0 {
			c.arguments, _ = json.Marshal(r.Params.Arguments)
		}
		c.name = r.Params.Name
		c.came(r.Session, r.Params.Meta, r.ClientCapabilities, r.Params.InputResponses, r.Params.RequestState)
		inner = func(foreign string) mcp.Request {
			p, n := *r.Params, *r
			c.strip(&p.RequestState, &p.InputResponses, foreign)
			n.Params = &p
			return &n
		}
	case *mcp.ReadResourceRequest:
		if r.Params == nil {
			return nil, nil
		}
		c.name = r.Params.URI
		c.came(r.Session, r.Params.Meta, r.ClientCapabilities, r.Params.InputResponses, r.Params.RequestState)
		inner = func(foreign string) mcp.Request {
			p, n := *r.Params, *r
			c.strip(&p.RequestState, &p.InputResponses, foreign)
			n.Params = &p
			return &n
		}
	default:
		return nil, nil
	}
	return c, inner
}

// came takes over what the requests of all three methods have. Older clients have no answers and no state in them.
func (c *call) came(session *mcp.ServerSession, meta mcp.Meta, can func() *mcp.ClientCapabilities, responses mcp.InputResponseMap, token string) {
	c.session, c.meta, c.modern, c.caps = session, meta, modern(meta), capabilities(meta, can)
	if c.modern {
		c.responses, c.token = responses, token
	}
}

// strip is what the handler's copy of a request has in place of a state and answers.
func (c *call) strip(token *string, responses *mcp.InputResponseMap, foreign string) {
	*token = foreign
	if !c.modern {
		*responses = nil
	}
}

// modern reports whether a request names a protocol revision that has no sessions. The session does not tell: over
// stdio it is pinned by the first request, and an older client may have asked for a revision it did not get.
func modern(meta mcp.Meta) bool {
	v, _ := meta[mcp.MetaKeyProtocolVersion].(string)
	return v >= wire.Modern
}

// capabilities are what a client can do, as far as asking it is concerned: from the request if it says so. The SDK would
// encode and decode them again for each request.
func capabilities(meta mcp.Meta, decode func() *mcp.ClientCapabilities) clientCan {
	raw, ok := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	if !ok {
		return canDo(decode())
	}
	has := func(path ...string) bool {
		v := raw
		for _, name := range path {
			if v, ok = v[name].(map[string]any); !ok {
				return false
			}
		}
		return true
	}
	return clientCan{elicit: has("elicitation"), form: has("elicitation", "form"), url: has("elicitation", "url"),
		sample: has("sampling"), tools: has("sampling", "tools"), roots: has("roots")}
}

// clientCan is what a client declared.
type clientCan struct{ elicit, form, url, sample, tools, roots bool }

// forms reports whether the client can show forms: "elicitation": {} is form mode alone (client/elicitation,
// "Capabilities").
func (c clientCan) forms() bool { return c.form || c.elicit && !c.url }

// hasArguments reports whether the call has any. Absent, null and {} are the same.
func (c *call) hasArguments() bool {
	switch rawjson.Kind(c.arguments) {
	case 0, 'n':
		return false
	case '{':
		for range rawjson.Members(c.arguments) {
			return true
		}
		return false
	}
	return true
}

// canonicalArguments are the arguments as canonical JSON: names sorted, numbers by their literal text.
func (c *call) canonicalArguments() []byte {
	if !c.hasArguments() {
		return []byte("{}")
	}
	b, err := rawjson.Canonical(nil, c.arguments)
	if err != nil { // a duplicate name: two spellings are two things
		return c.arguments
	}
	return b
}

// finish turns what the handler returned into what the client gets.
func (c *call) finish(ctx context.Context, res mcp.Result, err error) (mcp.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	res, err, goesOn := c.end(ctx, res, err)
	switch {
	case goesOn || c.passedOn:
	case c.isTask(): // whether it runs again is not decided here
		c.run.Over = func(ctx context.Context) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.endLinks(ctx)
		}
	default:
		c.endLinks(ctx)
	}
	return c.settle(ctx, res, err, goesOn)
}

// settle tells the Spender whether the call goes on in another round.
func (c *call) settle(ctx context.Context, res mcp.Result, err error, goesOn bool) (mcp.Result, error) {
	if c.claimed {
		ctx := context.WithoutCancel(ctx)
		settle := c.shop.spender.Spend
		if goesOn {
			settle = c.shop.spender.Release
		}
		if serr := settle(ctx, c.callID()); serr != nil {
			c.log(ctx, slog.LevelError, "elicit: the Spender failed", "error", serr)
			return nil, internalError("internal error")
		}
	}
	return res, err
}

func (c *call) end(ctx context.Context, res mcp.Result, err error) (_ mcp.Result, _ error, goesOn bool) {
	cause := err
	tool, _ := res.(*mcp.CallToolResult)
	if tool != nil && tool.IsError {
		cause = tool.GetError() // mcp.AddTool packed the handler's error, and kept it
	}
	if pe, ok := errors.AsType[*protocolError](cause); ok {
		return nil, pe.wire, false
	}
	if ue, ok := errors.AsType[*usageError](cause); ok && len(c.asked) > 0 {
		msg := "server bug: " + ue.text
		c.log(ctx, slog.LevelError, "elicit: "+msg)
		return nil, internalError(msg), false
	}
	if c.begun {
		return c.begin(ctx, cause)
	}
	if len(c.asked)+len(c.waiting) > 0 {
		if !errors.Is(cause, ErrAsking) {
			msg := fmt.Sprintf("server bug: %s asked %s but did not return the error of Require (return it, or wrap it with %%w)", c.what(), quoted(append(c.order, c.waiting...)))
			c.log(ctx, slog.LevelError, "elicit: "+msg)
			return nil, internalError(msg), false
		}
		return c.ask(ctx)
	}
	if errors.Is(cause, ErrAsking) {
		msg := fmt.Sprintf("server bug: %s returned an asking error, but asked nothing in this round", c.what())
		c.log(ctx, slog.LevelError, "elicit: "+msg)
		return nil, internalError(msg), false
	}
	if err != nil {
		return c.failed(err)
	}
	if wire.IsNil(res) {
		msg := fmt.Sprintf("server bug: %s returned neither a result nor an error", c.what())
		c.log(ctx, slog.LevelError, "elicit: "+msg)
		return nil, internalError(msg), false
	}
	if needsInput(res) && c.modern {
		return c.asksByItself(ctx, res)
	}
	if r, ok := res.(*mcp.ReadResourceResult); ok && r != nil && c.used {
		r.TTLMs, r.CacheScope = 0, "private" // made of an answer: nobody else's
	}
	return res, nil, needsInput(res)
}

// failed is what the client gets for an error that a handler returned and that no SDK function has packed yet.
func (c *call) failed(err error) (mcp.Result, error, bool) {
	if c.method == "tools/call" && readable(err) {
		r := &mcp.CallToolResult{}
		r.SetError(err)
		return r, nil, false
	}
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil, err, false
	}
	return nil, internalError(err.Error()), false
}

func needsInput(res mcp.Result) bool {
	r, ok := res.(interface{ NeedsInput() bool })
	return ok && r.NeedsInput()
}

// what names the feature for people: tool "ShipOrder".
func (c *call) what() string {
	kind := map[string]string{"tools/call": "tool", "prompts/get": "prompt", "resources/read": "resource"}[c.method]
	return fmt.Sprintf("%s %q", kind, c.name)
}

func quoted(keys []string) string {
	q := make([]string, len(keys))
	for i, k := range keys {
		q[i] = fmt.Sprintf("%q", k)
	}
	return strings.Join(q, ", ")
}

func (c *call) log(ctx context.Context, level slog.Level, msg string, args ...any) {
	if !c.shop.opts.Logger.Enabled(ctx, level) {
		return
	}
	c.shop.opts.Logger.Log(ctx, level, msg, append([]any{"method", c.method, "name", c.name, "round", c.st.Round + 1}, args...)...)
}

// callID is the id of the call, made when first needed.
func (c *call) callID() string {
	c.idMu.Lock()
	defer c.idMu.Unlock()
	if c.id == [16]byte{} {
		rand.Read(c.id[:])
	}
	return hex.EncodeToString(c.id[:])
}

// CallID is an idempotency key for the effects of a call: pass it to whatever must not happen twice. It is constant over
// the rounds of a call that carries state, or runs as a task, and new in each request otherwise: declare the question
// [Question.Bound] where an effect must not repeat. Outside a call it is "".
func CallID(ctx context.Context) string {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return ""
	}
	return c.callID()
}
