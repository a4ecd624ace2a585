package tasks

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A run is one run of a task's handler, in a goroutine of this process.
type run struct {
	e      *Engine
	fence  Fence
	ctx    context.Context // of the handler
	cancel context.CancelCauseFunc

	mu      sync.Mutex // held while the row is written
	row     Row        // as last written or read
	rec     *record
	handed  bool            // what it asks was stored, so its result is nothing
	stored  map[string]bool // steps that have a row of their own
	message string
	writing bool      // a status message will be written
	wrote   time.Time // …was
}

// start runs a row that was claimed for this instance. The caller has reserved a slot.
func (e *Engine) start(row Row) {
	ctx, cancel := context.WithCancelCause(e.ctx)
	r := e.newRun(ctx, cancel, row)
	go func() {
		defer e.ended(r)
		r.fromRecord()
	}()
}

// newRun makes a run known, whose handler has ctx.
func (e *Engine) newRun(ctx context.Context, cancel context.CancelCauseFunc, row Row) *run {
	r := &run{e: e, fence: row.Fence(), ctx: ctx, cancel: cancel, row: row, stored: map[string]bool{}, wrote: time.Now()}
	e.mu.Lock()
	e.runs[r] = true
	e.mu.Unlock()
	return r
}

func (e *Engine) ended(r *run) {
	r.cancel(nil)
	e.mu.Lock()
	delete(e.runs, r)
	e.rest()
	e.mu.Unlock()
	e.kick()
}

// rest tells Shutdown when nothing runs, or is about to. The caller holds e.mu.
func (e *Engine) rest() {
	if e.closing && !e.rested && len(e.runs)+e.reserved == 0 {
		e.rested = true
		close(e.idle)
	}
}

// fromRecord runs the handler with what the record holds, through the server's middleware.
func (r *run) fromRecord() {
	e, id := r.e, r.fence.ID
	rec, err := e.decode(r.row)
	var steps []Step
	var req *mcp.CallToolRequest
	x := &tool.Run{Task: id, Until: r.row.Expires(), ID: func() string { return id }, Step: r.step, Status: r.status, Round: r.round}
	if err == nil {
		r.rec = rec
		steps, err = r.steps()
	}
	if err == nil {
		req, x.Record, err = r.rebuild(rec, steps)
	}
	if err == nil {
		defer req.Session.Close()
		err = r.authorize(rec)
	}
	over := func(ctx context.Context) { e.shop.Ended(ctx, x.Record.State) } // where the handler does not run
	switch {
	case err == errPanicked:
		r.finish(nil, err, over)
	case err == nil && r.row.Attempts >= e.opts.MaxAttempts:
		r.finish(nil, internal("the work was interrupted %d times", r.row.Attempts), over)
	case err == nil:
		res, err := r.call(tool.WithRun(r.ctx, x), req)
		r.finish(res, err, x.Over)
	default:
		if p, ok := errors.AsType[*refusal](err); ok {
			e.log(e.ctx, slog.LevelWarn, id, "tasks: refused a run", "tool", rec.call.Tool, "error", p.err)
			r.finish(nil, internal("the caller may no longer use the tool %q", rec.call.Tool), over)
			return
		}
		// Another instance may have the secrets, or the store answer again.
		e.log(e.ctx, slog.LevelError, id, "tasks: cannot begin a run; it will be tried again", "error", err)
		after := e.opts.timing.backoff
		if errors.Is(err, state.ErrUnknownKey) || errors.Is(err, errRecord) {
			after *= 30
		}
		r.put(func(*Row) (Next, error) { return Next{Due: true, After: after}, nil })
	}
}

// A refusal is an error of Options.Authorize that is not to be tried again.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }

func (r *run) authorize(rec *record) (err error) {
	if r.e.opts.Authorize == nil {
		return nil
	}
	defer r.e.guard(r.fence.ID, "Options.Authorize", &err) // or the task would end each process that runs it
	err = r.e.opts.Authorize(r.ctx, elicit.Principal(rec.call.principal()), rec.call.Tool)
	if _, again := errors.AsType[*retryable](err); err == nil || again || r.ctx.Err() != nil {
		return err
	}
	return &refusal{err}
}

// steps are those that earlier runs stored, opened.
func (r *run) steps() ([]Step, error) {
	if r.row.Run == 1 { // there were none
		return nil, nil
	}
	steps, err := r.e.store.Steps(r.ctx, r.fence.ID)
	for i := range steps {
		if err == nil {
			steps[i].Result, err = r.rec.open("step:"+steps[i].Name, steps[i].Result)
		}
		r.stored[steps[i].Name] = true
	}
	return steps, err
}

// rebuild makes the request, and what the handler is given, of the record: without a token, without headers, and with a
// session that drops progress and logs.
func (r *run) rebuild(rec *record, steps []Step) (*mcp.CallToolRequest, *tool.Record, error) {
	w, err := rec.openWork()
	if err != nil {
		return nil, nil, err
	}
	arguments, err := rec.open("arguments", rec.arguments)
	if err != nil {
		return nil, nil, err
	}
	st, err := state.Parse(w.State)
	if err != nil {
		return nil, nil, errRecord
	}
	if len(steps) > 0 && st.Steps == nil {
		st.Steps = map[string][]byte{}
	}
	for _, s := range steps {
		st.Steps[s.Name] = s.Result
	}
	in := &tool.Record{Principal: rec.call.principal(), Remote: rec.call.Remote, State: *st}
	if n, err := hex.Decode(in.CallID[:], []byte(rec.call.CallID)); err != nil || n != len(in.CallID) {
		return nil, nil, errRecord
	}
	session, err := r.e.session(&rec.call)
	if err != nil {
		return nil, nil, err
	}
	req := &mcp.CallToolRequest{Session: session, Extra: &mcp.RequestExtra{Header: http.Header{}}, Params: &mcp.CallToolParamsRaw{
		Meta: mcp.Meta{mcp.MetaKeyProtocolVersion: rec.call.Version, mcp.MetaKeyClientCapabilities: wire.Decode(rec.call.Capabilities)},
		Name: rec.call.Tool, Arguments: arguments, InputResponses: wire.DecodeResponses(w.Answers)}}
	if len(arguments) == 0 {
		req.Params.Arguments = nil
	}
	if rec.call.ClientInfo != nil {
		req.Params.Meta[mcp.MetaKeyClientInfo] = wire.Decode(rec.call.ClientInfo)
	}
	if h := &rec.call; h.Token {
		req.Extra.TokenInfo = &auth.TokenInfo{UserID: h.User, Scopes: h.Scopes, Extra: map[string]any{}}
		for name, v := range map[string]string{"iss": h.Issuer, "client_id": h.Client} {
			if v != "" {
				req.Extra.TokenInfo.Extra[name] = v
			}
		}
	}
	return req, in, nil
}

// session is one for a run: it says who the client is, and has no other end.
func (e *Engine) session(h *head) (*mcp.ServerSession, error) {
	p := &mcp.InitializeParams{ProtocolVersion: h.Version, Capabilities: &mcp.ClientCapabilities{}}
	if err := json.Unmarshal(h.Capabilities, p.Capabilities); err != nil {
		return nil, errRecord
	}
	if h.ClientInfo != nil && json.Unmarshal(h.ClientInfo, &p.ClientInfo) != nil {
		return nil, errRecord
	}
	return e.shop.MCP.Connect(context.Background(), &wire.Quiet{}, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{InitializeParams: p}})
}

// call runs the server's chain of middleware, as it is now.
func (r *run) call(ctx context.Context, req *mcp.CallToolRequest) (_ mcp.Result, err error) {
	defer r.e.guard(r.fence.ID, "middleware", &err) // that was added after elicit.New: what it wraps does this itself
	return wire.Chain(r.e.shop.MCP)(ctx, "tools/call", req)
}

// finish ends the run with what its handler returned. Over, if it is not nil, is called when the task has ended.
func (r *run) finish(res mcp.Result, err error, over func(context.Context)) {
	ended := func() {
		if over != nil {
			var err error
			defer r.e.guard(r.fence.ID, "what ends a call", &err) // such as a vault
			over(r.e.ctx)
		}
	}
	r.mu.Lock()
	handed := r.handed
	r.mu.Unlock()
	cause := err
	tool, _ := res.(*mcp.CallToolResult)
	if tool != nil && tool.IsError {
		cause = tool.GetError()
	}
	switch why := context.Cause(r.ctx); {
	case handed:
		return
	case why == errCancelled:
		ended() // what the record does not have yet
		return
	case why == errLost && (err != nil || cause != nil):
		return // it failed because it was interrupted
	case why == errShutdown && (err != nil || cause != nil):
		return // Leave gives the row to others
	}
	e, id := r.e, r.fence.ID
	if j, ok := errors.AsType[*jsonrpc.Error](err); ok && j.Code == jsonrpc.CodeInvalidParams && j.Message == fmt.Sprintf("unknown tool %q", r.rec.call.Tool) {
		r.missing()
		return
	}
	if again, ok := errors.AsType[*retryable](cause); ok && r.attempts()+1 < e.opts.MaxAttempts {
		after := again.after
		if after == 0 {
			after = backoff(e.opts.timing.backoff, r.attempts())
		}
		e.log(e.ctx, slog.LevelWarn, id, "tasks: the work will be tried again", "tool", r.rec.call.Tool, "attempts", r.attempts()+1, "after", after)
		r.put(func(row *Row) (Next, error) {
			row.Attempts++
			return Next{Due: true, After: after}, nil
		})
		return
	}
	end, status := &ending{}, Completed
	if err == nil {
		if end.Result, err = e.encode(id, res); err == nil && len(end.Result) > e.opts.MaxResult {
			e.log(e.ctx, slog.LevelError, id, "tasks: a result is too long", "tool", r.rec.call.Tool, "bytes", len(end.Result), "limit", e.opts.MaxResult)
			err = internal("server bug: the result of tool %q has %d bytes, over Options.MaxResult (%d) of its tasks", r.rec.call.Tool, len(end.Result), e.opts.MaxResult)
		}
	}
	if err != nil {
		x := wire.ErrorOf(err)
		status, end.Message = Failed, x.Message
		end.Result, end.Error = nil, x.Object()
	}
	e.log(e.ctx, slog.LevelDebug, id, "tasks: finished", "tool", r.rec.call.Tool, "status", status)
	if r.put(func(row *Row) (Next, error) {
		row.Status = status
		return Next{Rest: true}, r.rec.finish(end)
	}) == nil {
		ended()
	}
}

// missing leaves the task to another instance, or to a later time: this one has no such tool (yet).
func (r *run) missing() {
	r.e.log(r.e.ctx, slog.LevelWarn, r.fence.ID, "tasks: the tool of a task is not registered here; another instance may have it", "tool", r.rec.call.Tool)
	_ = r.put(func(*Row) (Next, error) {
		w, err := r.rec.openWork()
		if err != nil {
			return Next{}, err
		}
		w.Missing++
		return Next{Due: true, After: backoff(r.e.opts.timing.backoff, w.Missing)}, r.rec.sealWork(w)
	})
}

func (r *run) attempts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.row.Attempts
}

// backoff is the time before a retry: twice as long after each, up to a minute, give or take a fifth.
func backoff(first time.Duration, attempts int) time.Duration {
	d := min(first<<min(attempts, 10), time.Minute)
	return d - d/5 + rand.N(2*d/5+1)
}

// encode encodes a result, which may be of a type of middleware's.
func (e *Engine) encode(id string, res mcp.Result) (b json.RawMessage, err error) {
	defer func() {
		if err != nil && err != errPanicked {
			err = internal("server bug: the result cannot be encoded: %v", err)
		}
	}()
	defer e.guard(id, "the encoding of a result", &err)
	return json.Marshal(res)
}

// round stores what the handler asks. Its row then rests until the client has answered all of it.
func (r *run) round(_ context.Context, s tool.Snapshot) (mcp.Result, bool, error) {
	r.mu.Lock()
	for name := range s.State.Steps {
		if r.stored[name] {
			delete(s.State.Steps, name)
		}
	}
	r.mu.Unlock()
	var tooLong error
	err := r.put(func(row *Row) (Next, error) {
		w, err := r.rec.openWork()
		if err != nil {
			return Next{}, err
		}
		w.ask(s.Asks)
		w.State, w.Answers, w.Message = s.State.Append(nil), s.Answers, s.Waiting
		row.Attempts, row.Status = 0, InputRequired
		next := Next{Rest: true}
		if len(s.Asks) > 0 {
			w.Waits = 0
		} else { // until it is woken; but whoever is to do that may have died
			row.Status = Working
			next = Next{Due: true}
			if w.Waits++; !w.Woken {
				next.After = backoff(2*r.e.opts.timing.backoff, w.Waits)
			}
		}
		w.Woken = false
		if err := r.rec.sealWork(w); err != nil {
			return Next{}, err
		}
		if n := len(r.rec.work) + len(r.rec.arguments); n > r.e.opts.MaxRecord {
			tooLong = internal("server bug: what the task of tool %q must remember has %d bytes, over Options.MaxRecord (%d) of its tasks", r.rec.call.Tool, n, r.e.opts.MaxRecord)
			return Next{}, tooLong
		}
		return next, nil
	})
	if tooLong != nil {
		return nil, true, tooLong // which finish stores
	}
	r.mu.Lock()
	r.handed = true // or the row is lost
	r.mu.Unlock()
	return nil, true, err
}
