package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long things may take. Variables for tests.
var (
	listenedPoll = 10 * time.Second // between two looks while the server tells of changes, which may get lost
	watchPoll    = 5 * time.Second  // while a person answers
	expiryGrace  = 10 * time.Second // after the time to live
)

// maxResends is how often an answer that was acknowledged is sent again while its question stays open.
const maxResends = 6

// A follower follows one task.
type follower struct {
	session *mcp.ClientSession
	keeper  *keeper
	call    *call // whose questions are answered; nil when nobody is asked
	id      string

	last     *Task
	since    time.Time         // when the task was first seen
	answered map[string]*given // by the key of the wire
	meta     json.RawMessage   // of a request of the session
	listener *listening
}

// given is an answer to a question of a task. A key is good for one (tasks extension, Task Update Requests).
type given struct {
	asked
	response mcp.InputResponse
	sent     int   // how often
	looks    int   // since then that showed the question open
	refused  error // what the server said to it
}

// wait drives the task to its end, from its handle or, when that has an id and no status, from a look at it.
func (f *follower) wait(ctx context.Context, handle *Task) (*mcp.CallToolResult, error) {
	f.last, f.since, f.answered = handle, time.Now(), map[string]*given{}
	f.listener = f.listen(ctx)
	defer f.listener.stop()
	if handle.Status != "" {
		f.tell(handle)
	}
	pause := handle.Status == TaskWorking
	for {
		if pause {
			if err := f.pause(ctx); err != nil {
				return nil, f.left(err)
			}
		}
		t, err := f.get(ctx)
		if err != nil {
			return nil, err
		}
		f.tell(t)
		switch t.Status {
		case TaskCompleted:
			return t.Result, nil
		case TaskFailed:
			return nil, &TaskError{Task: t, Err: t.Err}
		case TaskCancelled:
			return nil, &TaskError{Task: t, Err: ErrTaskCancelled}
		}
		if t.TTL > 0 && time.Since(f.since) > t.TTL+expiryGrace {
			return nil, &TaskError{Task: t, Err: ErrTaskExpired}
		}
		again, err := f.answer(ctx, t)
		if err != nil {
			return nil, f.left(err)
		}
		pause = !again // What an answer has set off may be done.
	}
}

// tell tells the caller what is new of the task.
func (f *follower) tell(t *Task) {
	if f.keeper.task != nil {
		f.keeper.task(t)
	}
}

// left is the error of leaving the task where it is.
func (f *follower) left(err error) error {
	var e *TaskError
	if errors.As(err, &e) {
		return err
	}
	return &TaskError{Task: f.last, Err: err}
}

// pause waits until it is time for the next look: until the server wants it, a little later for the case that many clients
// started at once, or until the server tells of a change.
func (f *follower) pause(ctx context.Context) error {
	f.listener.open(f.meta)
	interval := f.last.PollInterval
	if f.listener.on() {
		interval = max(interval, listenedPoll)
	}
	if f.last.TTL > 0 { // Not past its end.
		interval = min(interval, max(time.Until(f.since.Add(f.last.TTL+expiryGrace)), minPoll))
	}
	if err := sleep(ctx, minPoll); err != nil { // However often it tells of one.
		return err
	}
	timer := time.NewTimer(interval - minPoll + rand.N(interval/5))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-f.listener.wake:
	case <-timer.C:
	}
	return nil
}

// get looks at the task.
func (f *follower) get(ctx context.Context) (*Task, error) {
	raw, err := f.deliver(ctx, methodTaskGet, &taskParams{})
	if err != nil {
		return nil, f.refused(err)
	}
	broken := func(err error) error {
		return &TaskError{Task: f.last, Err: fmt.Errorf("what the server tells of the task is broken: %w", err)}
	}
	t, err := readTask(raw, f.last.Tool)
	if err == nil && t.ID != f.id {
		err = fmt.Errorf("it is of another task, %q", shortID(t.ID))
	}
	if err == nil {
		err = t.readEnd()
	}
	if err != nil {
		return nil, broken(err)
	}
	for _, r := range t.Requests {
		r.Server, r.ServerName = f.keeper.server, serverName(f.session)
	}
	f.last = t
	return t, nil
}

// refused is the error of a request about the task, for the caller.
func (f *follower) refused(err error) error {
	if err == nil {
		return nil
	}
	if rpc := rpcError(err); rpc != nil {
		switch rpc.Code {
		case jsonrpc.CodeInvalidParams:
			err = fmt.Errorf("%w: %w", ErrTaskUnknown, rpc)
		case jsonrpc.CodeMethodNotFound:
			err = fmt.Errorf("the server has no tasks: %w", rpc)
		default:
			err = rpc
		}
	}
	return &TaskError{Task: f.last, Err: err}
}

// answer has the open questions answered that were not answered before, one after another, each sent as soon as it is there:
// nothing is lost when this process ends between two. It reports whether it is worth looking again at once.
func (f *follower) answer(ctx context.Context, t *Task) (again bool, err error) {
	var fresh []taskQuestion
	var known []*given
	for _, q := range t.questions {
		switch g := f.answered[q.key]; {
		case g == nil:
			fresh = append(fresh, q)
		case g.method != q.method || !bytes.Equal(g.params, q.params):
			return false, &AnswerError{Tool: t.Tool, Key: q.key, Err: errors.New("the server asks something else under the key of a question that was answered: a key is good for one")}
		case g.refused != nil:
			return false, g.refused
		default:
			known = append(known, g)
		}
	}
	if len(f.answered)+len(fresh) > maxAsked {
		return false, fmt.Errorf("it asked %d questions without an end", len(f.answered))
	}
	var keys []string
	for i, q := range fresh { // Nobody is asked in vain.
		if q.request != nil {
			keys = append(keys, q.request.Key)
			continue
		}
		res, err := f.call.answerOther(ctx, q.asked)
		if err == nil && res == nil {
			err = &UnsupportedError{Tool: t.Tool, Key: q.key, Method: q.method}
		}
		if err != nil {
			return false, err
		}
		fresh[i].response = res
	}
	f.call.announce(keys...)
	for _, q := range fresh {
		if q.request != nil {
			if q.response, err = f.ask(ctx, q); errors.Is(err, errSettled) {
				return true, nil
			} else if err != nil {
				return false, err
			}
		}
		g := &given{asked: q.asked, response: q.response}
		f.answered[q.key] = g
		if err := f.update(ctx, g); err != nil {
			return false, err
		}
	}
	return len(fresh) > 0, f.resend(ctx, known)
}

// errSettled is the end of a question that needs no answer any more.
var errSettled = errors.New("the question was answered elsewhere, or its task has ended")

// ask has one question answered, and looks meanwhile whether it is still open: another process may answer it, and the task
// may end.
func (f *follower) ask(ctx context.Context, q taskQuestion) (mcp.InputResponse, error) {
	asking, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	watch := &follower{session: f.session, keeper: f.keeper, id: f.id, last: f.last, since: f.since}
	go func() {
		defer close(watched)
		for sleep(asking, watchPoll) == nil {
			t, err := watch.get(asking)
			var gone *TaskError
			switch {
			case err == nil && !t.open(q.key), errors.As(err, &gone) && errors.Is(err, ErrTaskUnknown):
				stop(errSettled)
			case err != nil: // What is wrong is found when the answer is sent.
				return
			}
		}
	}()
	res, err := f.call.askTask(asking, q.request)
	stop(nil)
	<-watched
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && context.Cause(asking) == errSettled:
		return nil, errSettled
	case err != nil:
		return nil, &AnswerError{Tool: f.call.tool, Key: q.request.Key, Err: err}
	}
	return res, nil
}

// update sends answers. What the server refuses is told when a look shows that the question is still open.
func (f *follower) update(ctx context.Context, answers ...*given) error {
	responses := mcp.InputResponseMap{}
	for _, g := range answers {
		responses[g.key] = g.response
	}
	_, err := f.deliver(ctx, methodTaskUpdate, &taskParams{InputResponses: responses})
	rpc := rpcError(err)
	if err != nil && (rpc == nil || transient(err)) {
		return err
	}
	for _, g := range answers {
		if g.sent, g.looks = g.sent+1, 0; rpc != nil {
			g.refused = fmt.Errorf("the server refused the answer to %s: %w", question(g.key), rpc)
		}
	}
	return nil
}

// resend sends answers again whose questions stay open though the server has acknowledged them. It may be slow to take
// them, or have wanted all of them at once.
func (f *follower) resend(ctx context.Context, known []*given) error {
	due := false
	for _, g := range known {
		g.looks++
		due = due || g.looks >= 1<<g.sent
		if g.looks >= 1<<g.sent && g.sent > maxResends {
			return &AnswerError{Tool: f.call.tool, Key: g.key, Err: fmt.Errorf("the server acknowledged the answer %d times and keeps asking", g.sent)}
		}
	}
	if !due {
		return nil
	}
	return f.update(ctx, known...)
}
