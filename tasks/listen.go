package tasks

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxListened is how many tasks one stream listens to: the first that it names. The acknowledgment says which it got.
	maxListened = 100
	// maxStreams is how many such streams one principal may have on an instance, which looks after each task of each.
	maxStreams = 100
)

// listen serves the part of subscriptions/listen that is about tasks. The SDK drops the member taskIds, so our hosts repeat
// it in _meta. The SDK's handler acknowledges, and send adds our part to that. Then the stream is held here until the client
// ends it.
func (e *Engine) listen(ctx context.Context, req mcp.Request, next func(context.Context) (mcp.Result, error)) (mcp.Result, error) {
	p, ok := req.GetParams().(*mcp.SubscriptionsListenParams)
	if !ok || p == nil {
		return next(ctx)
	}
	raw, ok := p.Meta[wire.TaskIDsMeta].(string)
	if !ok || raw == "null" {
		return next(ctx)
	}
	var ids []string
	if rawjson.Kind([]byte(raw)) != '[' || json.Unmarshal([]byte(raw), &ids) != nil {
		return nil, invalid("params.notifications.taskIds must be an array of strings")
	}
	if !declares(p.Meta) {
		return nil, undeclared("params.notifications.taskIds")
	}
	l := &listener{e: e, extra: req.GetExtra(), acked: make(chan struct{}), signal: make(chan struct{}, 1), stop: make(chan struct{}), dirty: map[string]bool{}}
	l.session, _ = req.GetSession().(*mcp.ServerSession)
	var err error
	if l.caller, err = e.shop.Caller(ctx, l.extra); err != nil {
		return nil, err
	}
	looked := map[string]bool{} // each is a read of the store
	for _, id := range ids {
		if len(looked) == maxListened {
			break
		}
		if looked[id] {
			continue
		}
		looked[id] = true
		switch _, _, err := e.of(ctx, l.caller, l.extra, id); err {
		case nil:
			l.ids = append(l.ids, id)
			l.dirty[id] = true // what it is now comes first: it may have changed since the client asked
		case error(errUnknown):
		default:
			return nil, err
		}
	}
	if !e.subs.add(l) {
		return nil, internal("too many streams listen to tasks (%d): end some first", maxStreams)
	}
	defer e.subs.remove(l)
	ctx = context.WithValue(ctx, listenerKey{}, l)
	type outcome struct {
		res mcp.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() { // returns at once if there is nothing of the server's own to listen to
		out := outcome{err: internal("internal error")}
		defer func() { done <- out }()
		defer e.guard("", "middleware", &out.err)
		out.res, out.err = next(ctx)
	}()
	select {
	case <-l.acked:
	case out := <-done:
		done <- out
	}
	select {
	case <-l.acked:
		if len(l.ids) > 0 {
			l.serve(ctx)
		}
	default: // it was refused
	}
	out := <-done
	return out.res, out.err
}

type listenerKey struct{}

// A listener is a stream of subscriptions/listen with tasks in it.
type listener struct {
	e       *Engine
	session *mcp.ServerSession
	caller  tool.Caller
	owner   string
	extra   *mcp.RequestExtra
	ids     []string

	acked chan struct{} // closed when the stream was acknowledged; then the next two are set
	id    any           // of the subscription
	send  mcp.MethodHandler

	stop   chan struct{} // closed when the engine shuts down
	signal chan struct{} // has room for one: something is dirty
	mu     sync.Mutex
	dirty  map[string]bool // tasks that may have changed
}

// send is the sending middleware of the extension: it adds the tasks to the acknowledgment.
func (e *Engine) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		l, ok := ctx.Value(listenerKey{}).(*listener)
		p, is := req.GetParams().(*mcp.SubscriptionsAcknowledgedParams)
		if !ok || !is || p == nil || method != wire.SentAs || l.send != nil {
			return next(ctx, method, req)
		}
		l.id, l.send = p.Meta[mcp.MetaKeySubscriptionID], next
		ids := l.ids
		if ids == nil {
			ids = []string{}
		}
		res, err := next(ctx, method, l.request(&ackParams{p, ids}))
		close(l.acked)
		return res, err
	}
}

func (l *listener) request(p mcp.Params) mcp.Request {
	return &mcp.ServerRequest[mcp.Params]{Session: l.session, Params: p, Extra: l.extra}
}

// ackParams are those of the acknowledgment, with the tasks.
type ackParams struct {
	*mcp.SubscriptionsAcknowledgedParams
	ids []string
}

// MarshalJSON implements json.Marshaler.
func (p *ackParams) MarshalJSON() ([]byte, error) {
	type filter struct {
		mcp.NotificationSubscriptions
		TaskIDs []string `json:"taskIds"`
	}
	return json.Marshal(struct {
		Meta          mcp.Meta `json:"_meta"`
		Notifications filter   `json:"notifications"`
	}{p.Meta, filter{p.Notifications, p.ids}})
}

// taskParams are those of notifications/tasks, which goes out under another name (wire.As).
type taskParams struct {
	*mcp.SubscriptionsAcknowledgedParams // for its methods
	members                              []byte
}

// MarshalJSON implements json.Marshaler.
func (p *taskParams) MarshalJSON() ([]byte, error) {
	meta, err := json.Marshal(p.Meta)
	if err != nil {
		return nil, err
	}
	b := append([]byte(wire.As), `"`+notification+`","_meta":`...)
	b = append(append(b, meta...), p.members...)
	return append(b, '}'), nil
}

// serve sends the tasks of the stream as they change, until it ends. A stream that is slow misses what lies between.
func (l *listener) serve(ctx context.Context) {
	sent := map[string]int64{} // versions
	for {
		l.mu.Lock()
		ids := slices.Sorted(maps.Keys(l.dirty))
		clear(l.dirty)
		l.mu.Unlock()
		for _, id := range ids {
			row, r, err := l.e.of(ctx, l.caller, l.extra, id)
			if err == error(errUnknown) {
				l.e.subs.drop(l, id) // it has expired
				continue
			}
			if err != nil || row.Version <= sent[id] {
				continue // out of reach: the sweep looks again
			}
			members, err := l.e.appendDetailed(nil, row, r)
			if err != nil {
				l.e.log(ctx, slog.LevelError, id, "tasks: cannot read a task", "error", err)
				continue
			}
			meta := mcp.Meta{mcp.MetaKeySubscriptionID: l.id}
			if _, err := l.send(ctx, wire.SentAs, l.request(&taskParams{&mcp.SubscriptionsAcknowledgedParams{Meta: meta}, members})); err != nil {
				return // the client has gone
			}
			sent[id] = row.Version
			if row.Status.Finished() {
				l.e.subs.drop(l, id)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-l.stop:
			return
		case <-l.signal:
		}
	}
}

// subscriptions are the streams that listen to tasks of this server, by task.
type subscriptions struct {
	mu     sync.Mutex
	byTask map[string]map[*listener]bool
	of     map[string]map[*listener]bool // by owner; all that have a task
	ended  bool
}

// add reports whether the owner may have one more.
func (s *subscriptions) add(l *listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(l.ids) == 0 {
		return true
	}
	if s.byTask == nil {
		s.byTask, s.of = map[string]map[*listener]bool{}, map[string]map[*listener]bool{}
	}
	l.owner = owner(l.caller)
	if len(s.of[l.owner]) >= maxStreams {
		return false
	}
	if s.of[l.owner] == nil {
		s.of[l.owner] = map[*listener]bool{}
	}
	s.of[l.owner][l] = true
	for _, id := range l.ids {
		if s.byTask[id] == nil {
			s.byTask[id] = map[*listener]bool{}
		}
		s.byTask[id][l] = true
	}
	if s.ended {
		close(l.stop)
	}
	return true
}

func (s *subscriptions) remove(l *listener) {
	s.drop(l, l.ids...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.of[l.owner], l); len(s.of[l.owner]) == 0 {
		delete(s.of, l.owner)
	}
}

// drop ends the looking at tasks that will not change any more.
func (s *subscriptions) drop(l *listener, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.byTask[id], l)
		if len(s.byTask[id]) == 0 {
			delete(s.byTask, id)
		}
	}
}

// look makes those who listen to a task look at it; without an id, all.
func (s *subscriptions) look(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" {
		for l := range s.byTask[id] {
			l.look(id)
		}
		return
	}
	for id, ls := range s.byTask {
		for l := range ls {
			l.look(id)
		}
	}
}

func (l *listener) look(id string) {
	l.mu.Lock()
	l.dirty[id] = true
	l.mu.Unlock()
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

// end ends all streams.
func (s *subscriptions) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	for _, ls := range s.of {
		for l := range ls {
			close(l.stop)
		}
	}
}
