package tasks

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// params are those of the methods of the extension, raw: what is wrong with them is said here.
type params struct {
	mcp.ParamsBase
	TaskID         json.RawMessage `json:"taskId"`
	InputResponses json.RawMessage `json:"inputResponses"`
}

// request makes the request of a method of the extension.
func request(session *mcp.ServerSession, extra *mcp.RequestExtra, meta mcp.Meta, m *wire.Message) mcp.Request {
	p := &params{TaskID: m.Param("taskId"), InputResponses: m.Param("inputResponses")}
	p.Meta = meta
	return &mcp.ServerRequest[*params]{Session: session, Extra: extra, Params: p}
}

type extraKey struct{}

// receive is the middleware of the extension. The handlers of its methods get no RequestExtra from the SDK, so it is here.
func (e *Engine) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		e.serving()
		switch method {
		case "tasks/get", "tasks/update", "tasks/cancel":
			p, ok := req.GetParams().(*params)
			if !ok || p == nil || !modern(p.Meta) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method " + method + " needs a request of revision " + wire.Modern}
			}
			if !declares(p.Meta) {
				return nil, undeclared(method)
			}
			ctx = context.WithValue(ctx, extraKey{}, req.GetExtra())
		case "server/discover":
			res, err := next(ctx, method, req)
			if d, ok := res.(*mcp.DiscoverResult); ok && err == nil && d != nil {
				res = advertise(d)
			}
			return res, err
		case "subscriptions/listen":
			return e.listen(ctx, req, func(ctx context.Context) (mcp.Result, error) { return next(ctx, method, req) })
		}
		return next(ctx, method, req)
	}
}

// advertise adds the extension to the server's capabilities.
func advertise(d *mcp.DiscoverResult) mcp.Result {
	caps := mcp.ServerCapabilities{}
	if d.Capabilities != nil {
		caps = *d.Capabilities
	}
	extensions := map[string]any{Extension: struct{}{}}
	for name, v := range caps.Extensions {
		extensions[name] = v
	}
	caps.Extensions = extensions
	d.Capabilities = &caps
	return d
}

// find is the task that a request names, if it is the caller's. Who is not told so learns nothing of it, not even whether
// it is there.
func (e *Engine) find(ctx context.Context, p *params) (Row, *record, error) {
	extra, _ := ctx.Value(extraKey{}).(*mcp.RequestExtra)
	caller, err := e.shop.Caller(ctx, extra)
	if err != nil {
		return Row{}, nil, err
	}
	id, ok := rawjson.String(p.TaskID)
	if !ok || rawjson.Kind(p.TaskID) != '"' {
		return Row{}, nil, invalid("params.taskId must be a string")
	}
	return e.of(ctx, caller, extra, id)
}

// of is the task of a caller.
func (e *Engine) of(ctx context.Context, c tool.Caller, extra *mcp.RequestExtra, id string) (Row, *record, error) {
	if len(id) > 128 || strings.ContainsRune(id, 0) {
		id = "" // no id of ours is as long, and a database may not take the other
	}
	row, err := e.store.Get(ctx, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		e.log(ctx, slog.LevelError, id, "tasks: cannot read a task", "error", err)
		return row, nil, internal("the task could not be read; try again")
	}
	mine := subtle.ConstantTimeCompare([]byte(owner(c)), []byte(row.Owner)) == 1
	if err != nil || !mine || !e.mayHave(ctx, c, extra) {
		if err == nil {
			e.log(ctx, slog.LevelWarn, id, "tasks: refused another principal's task")
		}
		return Row{}, nil, errUnknown
	}
	r, err := e.decode(row)
	if err != nil {
		e.log(ctx, slog.LevelError, id, "tasks: cannot read a task", "error", err)
		return row, nil, internal("the task could not be read")
	}
	return row, r, nil
}

// get serves tasks/get.
func (e *Engine) get(ctx context.Context, p *params) (*reply, error) {
	row, r, err := e.find(ctx, p)
	if err != nil {
		return nil, err
	}
	members, err := e.appendDetailed(nil, row, r)
	if err != nil {
		e.log(ctx, slog.LevelError, row.ID, "tasks: cannot read a task", "error", err)
		return nil, internal("the task could not be read")
	}
	return &reply{kind: "complete", members: members}, nil
}

// attempts is how often a write is tried when others write the same row.
const attempts = 100

// update serves tasks/update: answers are stored before it is acknowledged. Those to nothing that is open are ignored.
func (e *Engine) update(ctx context.Context, p *params) (*reply, error) {
	if rawjson.Kind(p.InputResponses) != '{' {
		return nil, invalid("params.inputResponses must be an object")
	}
	for range attempts {
		row, r, err := e.find(ctx, p)
		if err != nil {
			return nil, err
		}
		if row.Status != InputRequired {
			return &reply{kind: "complete"}, nil
		}
		again, err := e.answer(ctx, row, r, p.InputResponses)
		if err != nil {
			return nil, err
		}
		if !again {
			return &reply{kind: "complete"}, nil
		}
	}
	return nil, internal("the answers could not be stored; send them again")
}

// answer stores the answers to what is open. It reports whether the row was written meanwhile.
func (e *Engine) answer(ctx context.Context, row Row, r *record, responses json.RawMessage) (again bool, err error) {
	w, err := r.openWork()
	if err != nil {
		e.log(ctx, slog.LevelError, row.ID, "tasks: cannot read a task", "error", err)
		return false, internal("the task could not be read")
	}
	given := map[string]json.RawMessage{}
	for name, v := range rawjson.Members(responses) {
		if key, ok := rawjson.String(name); ok {
			if _, twice := given[key]; twice {
				v = nil // which of them counts, nobody can say
			}
			given[key] = v
		}
	}
	open := w.Open[:0:0]
	for _, o := range w.Open {
		v, ok := given[o.Wire]
		if !ok || v == nil || !wire.Readable(v) {
			open = append(open, o)
			continue
		}
		if w.Answers == nil {
			w.Answers = map[string]json.RawMessage{}
		}
		w.Answers[o.Key] = rawjson.Compact(nil, v)
	}
	if len(open) == len(w.Open) {
		return false, nil
	}
	w.Open = open
	next, release := Next{}, func() {}
	if len(open) == 0 {
		row.Status = Working
		next, release = e.next()
	}
	defer release()
	if err := r.sealWork(w); err != nil {
		return false, internal("the answers could not be stored")
	}
	if n := len(r.work) + len(r.arguments); n > e.opts.MaxRecord {
		return false, invalid("params.inputResponses is too long: with it the task has %d bytes, over the limit of %d", n, e.opts.MaxRecord)
	}
	row.Record = r.encode()
	stored, err := e.store.Put(ctx, nil, row, next)
	switch {
	case errors.Is(err, ErrConflict):
		return true, nil
	case errors.Is(err, ErrNotFound):
		return false, errUnknown
	case err != nil: // sent again, what was stored is ignored
		e.log(ctx, slog.LevelError, row.ID, "tasks: cannot store answers", "error", err)
		return false, internal("the answers could not be stored; send them again")
	}
	e.subs.look(row.ID)
	if stored.Worker != "" {
		e.start(stored)
	}
	return false, nil
}

// cancel serves tasks/cancel. What a handler returns afterwards is discarded.
func (e *Engine) cancel(ctx context.Context, p *params) (*reply, error) {
	row, _, err := e.find(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := e.cancelRow(ctx, row.ID, row.Owner); err != nil {
		if errors.Is(err, ErrNotFound) {
			return nil, errUnknown
		}
		e.log(ctx, slog.LevelError, row.ID, "tasks: cannot cancel a task", "error", err)
		return nil, internal("the task could not be cancelled; try again")
	}
	return &reply{kind: "complete"}, nil
}

func (e *Engine) cancelRow(ctx context.Context, id, owner string) error {
	for range attempts {
		row, err := e.store.Get(ctx, id)
		if err != nil {
			return err
		}
		if row.Owner != owner {
			return ErrNotFound
		}
		if row.Status.Finished() {
			return nil
		}
		r, err := e.decode(row)
		if err != nil {
			return err
		}
		w, unread := r.openWork()
		if err := r.finish(&ending{Message: "cancelled by the client"}); err != nil {
			return err
		}
		row.Status, row.Record = Cancelled, r.encode()
		_, err = e.store.Put(ctx, nil, row, Next{Rest: true})
		if errors.Is(err, ErrConflict) {
			continue
		}
		if err == nil {
			if r := e.runOf(id); r != nil {
				r.cancel(errCancelled)
			}
			e.subs.look(id)
			e.log(ctx, slog.LevelDebug, id, "tasks: cancelled")
			if unread == nil {
				e.forget(ctx, id, w)
			}
		}
		return err
	}
	return ErrConflict
}

// forget forgets what was kept for a task alone, which was cancelled.
func (e *Engine) forget(ctx context.Context, id string, w *work) {
	st, err := state.Parse(w.State)
	if err != nil {
		return
	}
	defer e.guard(id, "what ends a call", &err) // such as a vault
	e.shop.Ended(context.WithoutCancel(ctx), *st)
}
