package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The seam of package tasks: a call that is, or becomes, a task takes its answers and steps from the task's record rather
// than from a requestState, and what it asks goes there.

func init() {
	tool.EnableTasks = func(server any, connect func(tool.TaskShop) tool.Tasks) error {
		s, ok := server.(*Server)
		if !ok || s == nil {
			return errors.New("the server is nil: give it what elicit.New returned")
		}
		s.mu.Lock()
		again := s.hasTasks
		s.hasTasks = true
		s.mu.Unlock()
		if again {
			return errors.New("this server has tasks already: enable them once")
		}
		t := connect(tool.TaskShop{MCP: s.mcp, Ring: s.ring, OwnSecret: s.random, Logger: s.opts.Logger,
			Caller: func(ctx context.Context, extra *mcp.RequestExtra) (tool.Caller, error) {
				c := &call{shop: s, method: "tasks", extra: extra}
				return guard(ctx, s, "what says who makes a request", c.method, "", func() (tool.Caller, error) {
					if err := c.identify(ctx); err != nil {
						return tool.Caller{}, err
					}
					return c.caller(ctx), nil
				})
			},
			Ended: func(ctx context.Context, st state.State) { (&call{shop: s, st: st}).endLinks(ctx) }})
		s.mu.Lock()
		defer s.mu.Unlock()
		s.engine = t
		return nil
	}
	tool.CallRun = func(ctx context.Context) (*tool.Run, error) {
		c, err := from(ctx)
		if err != nil {
			return nil, err
		}
		defer c.mu.Unlock()
		return c.run, nil
	}
	tool.Begin = func(ctx context.Context) error {
		c, err := from(ctx)
		if err != nil {
			return err
		}
		defer c.mu.Unlock()
		if c.run == nil || !c.run.Begins || c.detached {
			return nil
		}
		if len(c.asked) > 0 {
			return misuse("%s begins a task while it asks %s: return the error of Require first", c.what(), quoted(c.order))
		}
		c.begun = true
		return errBegun
	}
}

// errBegun ends the part of a call that its client waits for.
var errBegun = errors.New("elicit: the call goes on as a task (return this error from the handler)")

// caller is who makes the call, which was identified.
func (c *call) caller(ctx context.Context) tool.Caller {
	x := tool.Caller{Principal: tool.Principal(c.principal)}
	if c.shop.opts.Bind != nil {
		x.Bound = c.shop.opts.Bind(ctx, c.extra)
	}
	return x
}

// declareTask keeps what the options of a tool say of its tasks. The caller holds s.mu.
func (s *Server) declareTask(f feature, c tool.Config) {
	var t tool.Task
	if f.method == "" {
		t = s.tasks[f]
	}
	if c.Task.Mode != tool.Unset || c.Task.ModeOf != nil {
		t.Mode, t.ModeOf = c.Task.Mode, c.Task.ModeOf
	}
	for _, q := range c.Asks {
		t.URLs, t.Asks = t.URLs || q.URL, t.Asks || !q.URL
	}
	if s.tasks == nil {
		s.tasks = map[feature]tool.Task{}
	}
	s.tasks[f] = t
}

// task is what was said of the tasks of a tool, by its registration or Declare.
func (s *Server) task(name string) tool.Task {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, d := s.tasks[feature{"tools/call", name}], s.tasks[feature{"", name}]
	if d.Mode != tool.Unset || d.ModeOf != nil {
		t.Mode, t.ModeOf = d.Mode, d.ModeOf
	}
	t.URLs, t.Asks = t.URLs || d.URLs, t.Asks || d.Asks
	return t
}

// takeRun is the run of a task that the call is, if it is one. A call within it is another.
func (c *call) takeRun(ctx context.Context) *tool.Run {
	if r := tool.RunOf(ctx); r != nil && c.method == "tools/call" && r.Taken.CompareAndSwap(false, true) {
		return r
	}
	return nil
}

// openRecord begins with what earlier runs left, as open does with what earlier rounds did.
func (c *call) openRecord() {
	r := c.run.Record
	c.principal, c.st, c.id, c.carried, c.token = Principal(r.Principal), r.State, r.CallID, true, ""
}

// mayBeTask runs a round by next, or lets package tasks decide when that is, and whether the client waits for it.
func (c *call) mayBeTask(ctx context.Context, req mcp.Request, next func(context.Context) (mcp.Result, error)) (mcp.Result, error) {
	c.shop.mu.RLock()
	engine := c.shop.engine
	c.shop.mu.RUnlock()
	r, ok := req.(*mcp.CallToolRequest)
	if !ok || c.run != nil {
		return next(ctx)
	}
	if engine == nil {
		t := c.shop.task(c.name)
		mode := t.Mode
		if t.ModeOf != nil {
			mode = t.ModeOf(ctx, r)
		}
		if mode == tool.Required {
			msg := fmt.Sprintf("server bug: %s is tasks.Required, and this server has no tasks: call tasks.Enable", c.what())
			c.log(ctx, slog.LevelError, "elicit: "+msg)
			return nil, internalError(msg)
		}
		return next(ctx)
	}
	c.run = &tool.Run{}
	var ran atomic.Bool
	res, err := engine.Call(ctx, &tool.Call{Request: r, Modern: c.modern, Caller: c.caller(ctx), Task: c.shop.task(c.name), Run: c.run,
		Snapshot: func() tool.Snapshot { return c.snapshot(c.st) },
		Detach: func() (tool.Snapshot, bool) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.closed || c.begun {
				return tool.Snapshot{}, false
			}
			c.detached = true
			return c.snapshot(c.st), true
		},
		Attach: func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.detached = false
		}}, func(ctx context.Context) (mcp.Result, error) {
		ran.Store(true)
		return next(ctx)
	})
	if ran.Load() {
		return res, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.settle(ctx, res, err, err != nil)
}

// snapshot is what the call knows. The caller holds c.mu, or is alone.
func (c *call) snapshot(st state.State) tool.Snapshot {
	c.callID()
	st.Answers, st.Steps, st.Attempts = maps.Clone(st.Answers), maps.Clone(st.Steps), maps.Clone(st.Attempts)
	s := tool.Snapshot{CallID: c.id, State: st}
	if len(st.Asked) > 0 {
		s.Answers = map[string]json.RawMessage{}
		for key := range st.Asked {
			if r, ok := c.responses[key]; ok {
				s.Answers[key] = wire.EncodeResponse(r)
			}
		}
	}
	return s
}

// nextState is the state that the next round starts from.
func (c *call) nextState(foreign string) state.State {
	st := c.st
	st.Foreign = foreign
	st.Round++
	st.Asked = map[string]state.Digest{}
	for k, a := range c.asked {
		st.Asked[k] = a.digest
	}
	return st
}

// isTask reports whether the call is a task already. The caller holds c.mu.
func (c *call) isTask() bool { return c.run != nil && (c.run.Record != nil || c.detached) }

// wakeTask tells a task that a page which it may wait for is done.
func (s *Server) wakeTask(ctx context.Context, id string) {
	s.mu.RLock()
	engine := s.engine
	s.mu.RUnlock()
	if engine != nil {
		engine.Wake(ctx, id)
	}
}

// taskOver reports whether a task is there and has ended.
func (s *Server) taskOver(ctx context.Context, id string) (bool, error) {
	s.mu.RLock()
	engine := s.engine
	s.mu.RUnlock()
	if engine == nil {
		return false, nil
	}
	return engine.Over(ctx, id)
}

// handsOver reports whether what the round asks goes to a task.
func (c *call) handsOver() bool {
	switch {
	case c.run == nil:
		return false
	case c.isTask():
		return true
	case !c.run.TakesURLs:
		return false
	}
	for _, a := range c.asked {
		if p, ok := a.request.(*mcp.ElicitParams); ok && p.Mode == "url" {
			return true
		}
	}
	return false
}

// handOver gives what the round asks to its task, which may decline to take it.
func (c *call) handOver(ctx context.Context, r round, foreign string) (mcp.Result, error, bool) {
	s := c.snapshot(c.nextState(foreign))
	s.Answers, s.Detached = map[string]json.RawMessage{}, c.detached
	for _, key := range c.waiting { // what the client agreed to stays agreed
		s.State.Asked[key] = c.required[key]
		s.Answers[key] = wire.EncodeResponse(c.responses[key])
		s.Waiting = "waiting for the page"
	}
	for _, key := range r.order {
		s.Asks = append(s.Asks, tool.Ask{Key: key, Request: r.asked[key].wire})
		s.State.Asked[key] = r.asked[key].digest
	}
	res, taken, err := c.run.Round(ctx, s)
	c.passedOn = taken && err == nil
	if !taken && c.run.Record != nil {
		return nil, internalError("internal error"), true // there is no call to go back to
	}
	if res == nil && err == nil && taken { // for middleware: the client sees the record
		res = c.inputRequired(r, mcp.InputRequestMap{}, nil)
	}
	return res, err, taken
}

// begin ends a call whose handler called Begin.
func (c *call) begin(ctx context.Context, cause error) (mcp.Result, error, bool) {
	if !errors.Is(cause, errBegun) {
		msg := fmt.Sprintf("server bug: %s began a task but did not return the error of tasks.Begin (return it, or wrap it with %%w)", c.what())
		c.log(ctx, slog.LevelError, "elicit: "+msg)
		return nil, internalError(msg), false
	}
	st := c.nextState("")
	st.Asked = nil
	s := c.snapshot(st)
	res, taken, err := c.run.Round(ctx, s)
	if err == nil && !taken {
		err = internalError("internal error")
	}
	c.passedOn = err == nil
	return res, err, err != nil
}

// keepStep stores the result of a step that a task made, before its handler goes on.
func (c *call) keepStep(ctx context.Context, name string, result []byte) error {
	c.mu.Lock()
	task := c.isTask()
	c.mu.Unlock()
	if !task {
		return nil
	}
	return c.run.Step(ctx, name, result)
}
