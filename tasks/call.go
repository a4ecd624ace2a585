package tasks

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// seam is the engine as the root package sees it.
type seam struct{ *Engine }

// Call implements tool.Tasks.
func (e seam) Call(ctx context.Context, c *tool.Call, next func(context.Context) (mcp.Result, error)) (mcp.Result, error) {
	mode := c.Task.Mode
	if c.Task.ModeOf != nil {
		mode = c.Task.ModeOf(ctx, c.Request)
	}
	if mode == tool.Unset {
		if mode = tool.Optional; c.Task.Asks && !c.Task.URLs {
			mode = tool.Synchronous
		}
	}
	can := c.Modern && declares(c.Request.Params.Meta)
	if mode != tool.Required && (mode == tool.Synchronous || !can || !e.mayHave(ctx, c.Caller, c.Request.Extra)) {
		return next(ctx)
	}
	c.Run.Task = rand.Text()
	if e.opts.TTL > 0 {
		c.Run.Until = time.Now().Add(e.opts.TTL)
	}
	switch {
	case mode == tool.Required && !can:
		return nil, undeclared("the tool \"" + c.Request.Params.Name + "\"")
	case mode == tool.Required:
		if !e.mayHave(ctx, c.Caller, c.Request.Extra) {
			e.log(ctx, slog.LevelWarn, "", "tasks: an anonymous caller cannot have tasks here: authenticate callers, or set Options.AllowAnonymous", "tool", c.Request.Params.Name)
			return nil, internal("the tool %q needs a caller who can be told from others", c.Request.Params.Name)
		}
		return e.create(ctx, c, c.Snapshot())
	}
	c.Run.ID = func() string { return "" }
	c.Run.Round = func(ctx context.Context, s tool.Snapshot) (mcp.Result, bool, error) {
		res, err := e.create(ctx, c, s)
		return res, err == nil || mode == tool.AtBegin, err
	}
	if mode == tool.AtBegin {
		c.Run.Begins = true
		return next(ctx)
	}
	c.Run.TakesURLs = true
	return e.optional(ctx, c, next)
}

// mayHave reports whether a caller may have tasks: one who can be told from others, or who is on this machine.
func (e *Engine) mayHave(ctx context.Context, c tool.Caller, extra *mcp.RequestExtra) bool {
	return c.Principal != tool.Principal{} || e.opts.AllowAnonymous || local(ctx, extra)
}

// local reports whether a request has come over stdio, or to a loopback listener and not through a proxy.
func local(ctx context.Context, extra *mcp.RequestExtra) bool {
	if extra == nil || extra.Header == nil {
		return true
	}
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
		if len(extra.Header.Values(name)) > 0 {
			return false
		}
	}
	switch addr := ctx.Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return addr.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// owner is what a row is bound to.
func owner(c tool.Caller) string {
	d := state.DigestOf("task owner", c.Issuer, c.Subject, c.Client, c.Bound)
	return hex.EncodeToString(d[:])
}

// create makes a task of a call whose handler does not run. It is stored when create returns.
func (e *Engine) create(ctx context.Context, c *tool.Call, s tool.Snapshot) (mcp.Result, error) {
	row, w, err := e.newRow(ctx, c, s)
	if err != nil {
		return nil, err
	}
	next, release := Next{Rest: true}, func() {}
	if row.Status == Working {
		next, release = e.next()
	}
	defer release()
	row, err = e.store1(ctx, row, next)
	if err != nil {
		return nil, err
	}
	if next.claimed(row) {
		e.start(row)
	}
	return e.handle(row, w.Message), nil
}

// claimed reports whether a new row that was stored with n is still with the run that n gave it. A creation whose reply was
// lost is asked for again, and the row may be another run's by then.
func (n Next) claimed(row Row) bool { return n.Worker != "" && row.Worker == n.Worker && row.Run == 1 }

// newRow is the row of a call that becomes a task.
func (e *Engine) newRow(ctx context.Context, c *tool.Call, s tool.Snapshot) (Row, *work, error) {
	row := Row{ID: c.Run.Task, Owner: owner(c.Caller), Status: Working, TTL: e.opts.TTL}
	rec, w, err := e.newRecord(ctx, c, s)
	if err != nil {
		return row, nil, err
	}
	if len(s.Asks) > 0 {
		w.ask(s.Asks)
		row.Status = InputRequired
	}
	if err := rec.sealWork(w); err != nil {
		return row, nil, err
	}
	row.Record = rec.encode()
	if n := len(row.Record); n > e.opts.MaxRecord {
		return row, nil, invalid("the task of tool %q would have %d bytes, over the limit of %d: send shorter arguments", rec.call.Tool, n, e.opts.MaxRecord)
	}
	return row, w, nil
}

// maxLost is how many creations may be on their way, or wait to be cancelled since nobody knows what became of them.
const maxLost = 10_000

// store1 stores a new row. When the store does not say whether it did, the row is cancelled as soon as that can be done: the
// client has no handle.
func (e *Engine) store1(ctx context.Context, row Row, next Next) (Row, error) {
	limits := Limits{Owner: max(e.opts.MaxPerPrincipal, 0), OwnerTotal: max(e.opts.MaxKeptPerPrincipal, 0), Total: max(e.opts.MaxTasks, 0)}
	e.mu.Lock()
	e.lost[row.ID]++
	waiting := len(e.lost)
	e.mu.Unlock()
	known := func() {
		e.mu.Lock()
		delete(e.lost, row.ID)
		e.mu.Unlock()
	}
	if waiting > maxLost {
		known()
		return row, internal("the task could not be stored; try again later")
	}
	stored, err := e.store.Create(ctx, row, next, limits)
	if errors.Is(err, ErrUnavailable) && ctx.Err() == nil {
		stored, err = e.store.Create(ctx, row, next, limits)
	}
	switch {
	case err == nil:
		known()
		return stored, nil
	case errors.Is(err, ErrOwnerLimit):
		known()
		e.log(ctx, slog.LevelWarn, "", "tasks: a principal has as many unfinished tasks as are allowed", "limit", limits.Owner)
		return row, internal("too many unfinished tasks (%d): finish or cancel some first", limits.Owner)
	case errors.Is(err, ErrOwnerTotalLimit):
		known()
		e.log(ctx, slog.LevelWarn, "", "tasks: a principal has as many tasks as are allowed, finished ones included", "limit", limits.OwnerTotal)
		return row, internal("too many tasks (%d), finished ones included: try again when some have expired", limits.OwnerTotal)
	case errors.Is(err, ErrTotalLimit):
		known()
		e.log(ctx, slog.LevelError, "", "tasks: there are as many tasks as are allowed", "limit", limits.Total)
		return row, internal("the server holds as many tasks as it can; try again later")
	}
	e.log(ctx, slog.LevelError, row.ID, "tasks: cannot store a new task", "error", err)
	id, owner := row.ID, row.Owner // and not the record, which may be long
	go func() {
		defer known()
		for wait := time.Second; e.ctx.Err() == nil; wait = min(2*wait, 10*time.Second) {
			if err := e.cancelRow(e.ctx, id, owner); err == nil || errors.Is(err, ErrNotFound) {
				return
			}
			select {
			case <-e.ctx.Done():
			case <-time.After(wait):
			}
		}
	}()
	return row, internal("the task could not be stored; try again")
}

// optional runs the handler of an Optional tool on the call, as long as the client waits.
func (e *Engine) optional(ctx context.Context, c *tool.Call, next func(context.Context) (mcp.Result, error)) (mcp.Result, error) {
	o := &onCall{known: make(chan struct{})}
	c.Run.ID, c.Run.Step, c.Run.Status = o.id, o.step, o.status
	byURL := c.Run.Round
	c.Run.Round = func(ctx context.Context, s tool.Snapshot) (mcp.Result, bool, error) {
		if !s.Detached {
			return byURL(ctx, s)
		}
		if r := o.wait(); r != nil {
			return r.round(ctx, s)
		}
		return nil, false, nil
	}
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	leave := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	type outcome struct {
		res mcp.Result
		err error
	}
	answered, release := e.outlive(ctx, c)
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: internal("internal error")}
		defer func() { done <- out }() // also when the handler ends its goroutine
		out.res, out.err = next(run)
	}()
	finish := func() (mcp.Result, error) {
		out := <-done
		leave()
		cancel(nil)
		release()
		return out.res, out.err
	}
	grace := time.NewTimer(e.opts.Grace)
	defer grace.Stop()
	select {
	case out := <-done:
		done <- out
		return finish()
	case <-grace.C:
	}
	worker := e.hold()
	if worker == "" { // this instance runs no tasks now
		return finish()
	}
	held := sync.OnceFunc(func() { e.release(1) })
	defer held()
	if !leave() { // the client has gone
		held()
		return finish()
	}
	s, running := c.Detach()
	if !running {
		held()
		return finish()
	}
	row, w, err := e.newRow(ctx, c, s)
	if err == nil {
		row, err = e.store1(context.WithoutCancel(ctx), row, Next{Worker: worker})
	}
	if err != nil {
		held()
		o.is(nil)
		c.Attach()
		leave = context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		return finish()
	}
	answered()
	row.Worker, row.Run = worker, 1 // if it is another run's by now, this one is not to write as that one
	r := e.newRun(run, cancel, row)
	r.rec, _ = e.decode(row)
	o.is(r)
	go func() {
		defer e.ended(r)
		defer release()
		out := <-done
		r.finish(out.res, out.err, c.Run.Over)
	}()
	return e.handle(row, w.Message), nil
}

// onCall is the run of an Optional tool, which is a task's from the time that the client has waited long enough.
type onCall struct {
	known chan struct{} // closed when it is known whether the call has become a task

	mu      sync.Mutex
	run     *run
	message string
}

// is says whether the call has become a task.
func (o *onCall) is(r *run) {
	o.mu.Lock()
	o.run = r
	message := o.message
	o.mu.Unlock()
	close(o.known)
	if r != nil && message != "" {
		r.status(r.ctx, message)
	}
}

// wait waits until that is known. The root package has detached the call.
func (o *onCall) wait() *run {
	<-o.known
	return o.run
}

func (o *onCall) id() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.run == nil {
		return ""
	}
	return o.run.fence.ID
}

func (o *onCall) step(ctx context.Context, name string, result []byte) error {
	if r := o.wait(); r != nil {
		return r.step(ctx, name, result)
	}
	return nil
}

func (o *onCall) status(ctx context.Context, message string) {
	o.mu.Lock()
	o.message = message
	r := o.run
	o.mu.Unlock()
	if r != nil {
		r.status(ctx, message)
	}
}
