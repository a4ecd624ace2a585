package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TasksExtension is the name of the extension by which a server answers a call with a handle instead of a result.
const TasksExtension = "io.modelcontextprotocol/tasks"

// A TaskStatus says where a task is (tasks extension, Task Status).
type TaskStatus string

// The last three are the end of a task.
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required" // has questions that are not answered
	TaskCompleted     TaskStatus = "completed"      // has a result, that of a tool which failed included
	TaskFailed        TaskStatus = "failed"         // has a JSON-RPC error
	TaskCancelled     TaskStatus = "cancelled"
)

// Ended reports whether the task has come to its end.
func (s TaskStatus) Ended() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// A Task is a call that goes on at the server without a request, as the server last told of it. Its texts were written by
// the server: pass them through [Plain] or [PlainLine] before they reach a terminal.
type Task struct {
	ID      string        // what [WaitTask], [GetTask] and [CancelTask] take, in this process or another
	Tool    string        // the tool that was called; empty where another process called it
	Status  TaskStatus    // where it is
	Message string        // what the server says of the status: "3 of 10"; may be empty, and may be long
	Created time.Time     // by the server's clock; zero when it does not tell
	Updated time.Time     // likewise
	TTL     time.Duration // how long after Created the server may forget it; 0 is never
	// PollInterval is how long the server wants clients to wait between two looks, within what this package keeps to: 100 ms
	// to 1 hour; 1 second when the server does not tell.
	PollInterval time.Duration
	// Requests are the questions that wait for a person's answer, in the server's order.
	Requests []*Request
	Result   *mcp.CallToolResult // of a task that has completed
	Err      *jsonrpc.Error      // of a task that has failed
	Raw      json.RawMessage     // all of this in the server's own words

	questions []taskQuestion // all of them
}

// A taskQuestion is a question of a task.
type taskQuestion struct {
	asked
	request  *Request          // nil when it is not for a person
	response mcp.InputResponse // then
}

// open tells whether the task waits for the answer to the question with this key.
func (t *Task) open(key string) bool {
	return slices.ContainsFunc(t.questions, func(q taskQuestion) bool { return q.key == key })
}

// What a [TaskError] wraps when a task has no result to give.
var (
	ErrTaskUnknown   = errors.New("the server knows no such task: it never was, is another caller's, or has expired")
	ErrTaskExpired   = errors.New("its time to live has passed, and the server has not ended it")
	ErrTaskCancelled = errors.New("it was cancelled")
)

// A TaskError reports that a task ended without a result, or that it was left while it goes on: the context ended, a question
// could not be answered, the server could not be reached. [TaskError.Left] tells which. A task that was left can be waited for
// with [WaitTask], by any process that the server takes for the same caller, until the server forgets it.
type TaskError struct {
	Task *Task // as last seen
	// Err is why: one of the errors above, the *jsonrpc.Error of a task that failed, the cause of the context's end, an
	// *[AnswerError], an *[UnsupportedError], or what kept the server from being reached.
	Err error
}

func (e *TaskError) Error() string {
	what := fmt.Sprintf("task %q", shortID(e.Task.ID))
	if e.Task.Tool != "" {
		what = fmt.Sprintf("calling tool %q: its %s", e.Task.Tool, what)
	}
	why := e.Err.Error()
	if message := shortLine(e.Task.Message); message != "" && e.Task.Status.Ended() && !strings.Contains(why, message) {
		why += fmt.Sprintf(" (%s)", message)
	}
	switch {
	case e.Task.Status == TaskFailed:
		return what + " failed: " + why
	case e.Left():
		return what + " goes on without this client: " + why
	}
	return what + ": " + why
}

func (e *TaskError) Unwrap() error { return e.Err }

// Left reports whether the task may still go on, so that [WaitTask] may bring its result and [CancelTask] end it.
func (e *TaskError) Left() bool {
	return !e.Task.Status.Ended() && !errors.Is(e.Err, ErrTaskUnknown) && !errors.Is(e.Err, ErrTaskExpired)
}

// GetTask looks at a task once (tasks extension, Task Polling). It asks nobody anything. The session must be one of [Connect]
// or [ConnectTransport]. An id the server does not know is a *[TaskError] with [ErrTaskUnknown].
func GetTask(ctx context.Context, cs *mcp.ClientSession, id string) (*Task, error) {
	f, err := follow(cs, id)
	if err != nil {
		return nil, err
	}
	return f.get(ctx)
}

// CancelTask asks the server to end a task (tasks extension, Task Cancellation). The server may take its time, and may finish
// the task all the same: [GetTask] tells what became of it. Cancelling a task that has ended does nothing. Errors and
// sessions are as with [GetTask].
func CancelTask(ctx context.Context, cs *mcp.ClientSession, id string) error {
	f, err := follow(cs, id)
	if err != nil {
		return err
	}
	_, err = f.deliver(ctx, methodTaskCancel, &taskParams{})
	return f.refused(err)
}

// WaitTask drives a task to its end, as [CallTool] does with the tasks of its own calls, and returns the result of the tool. It
// is for tasks that another process, or an earlier call, was left with: questions that are open are asked again. a may be
// nil: then [Options].Answerer answers. The session must be one of [Connect] or [ConnectTransport].
//
// Every error about the task is a *[TaskError].
func WaitTask(ctx context.Context, cs *mcp.ClientSession, id string, a Answerer) (*mcp.CallToolResult, error) {
	f, err := follow(cs, id)
	if err != nil {
		return nil, err
	}
	f.call = startCall(cs, "", a)
	defer f.call.end()
	f.call.connected(f.keeper)
	return f.wait(ctx, &Task{ID: id})
}

// maxTaskID bounds the ids of tasks, which travel in a header.
const maxTaskID = 4 << 10

// follow is a follower of the task with this id.
func follow(cs *mcp.ClientSession, id string) (*follower, error) {
	k, ok := sessions.Load(cs)
	switch {
	case !ok:
		return nil, errors.New("following a task needs a session of answer.Connect or answer.ConnectTransport that is open")
	case !k.(*keeper).modern(cs):
		return nil, fmt.Errorf("task %q: the server speaks an older protocol, which has no tasks: they came with 2026-07-28", shortID(id))
	case id == "" || len(id) > maxTaskID:
		return nil, fmt.Errorf("the id of a task has 1 to %d bytes, and this one %d", maxTaskID, len(id))
	}
	return &follower{session: cs, keeper: k.(*keeper), id: id, last: &Task{ID: id}}, nil
}

// modern tells whether the session speaks a protocol that has tasks.
func (k *keeper) modern(cs *mcp.ClientSession) bool {
	init := cs.InitializeResult()
	return init != nil && init.ProtocolVersion >= "2026-07-28"
}

// Bounds on what a server can make a client do for one task, beside those on rounds.
const (
	maxPoll     = time.Hour
	defaultPoll = time.Second // the extension names none
	maxAsked    = 1000        // questions of one task
)

// minPoll is the least time between two looks. A variable for tests.
var minPoll = 100 * time.Millisecond

// readTask reads a handle or what tasks/get returns.
func readTask(raw []byte, tool string) (*Task, error) {
	t := &Task{Tool: tool, Raw: raw}
	for _, obj := range []string{"", "result", "error"} {
		v := raw
		if obj != "" {
			v, _ = rawjson.Get(raw, obj)
		}
		if name, dup := rawjson.Duplicate(v, false); dup {
			return nil, fmt.Errorf("two members %q", name)
		}
	}
	text := func(name string) string {
		v, _ := rawjson.Get(raw, name)
		s, _ := rawjson.String(v)
		return s
	}
	switch t.ID = text("taskId"); {
	case t.ID == "":
		return nil, errors.New("it has no taskId")
	case len(t.ID) > maxTaskID:
		return nil, fmt.Errorf("its taskId is longer than %d bytes", maxTaskID)
	}
	t.Status, t.Message = TaskStatus(text("status")), text("statusMessage")
	t.Created, _ = time.Parse(time.RFC3339Nano, text("createdAt"))
	t.Updated, _ = time.Parse(time.RFC3339Nano, text("lastUpdatedAt"))
	t.TTL = milliseconds(raw, "ttlMs", 0)
	t.PollInterval = min(max(milliseconds(raw, "pollIntervalMs", defaultPoll), minPoll), maxPoll)

	switch t.Status {
	case TaskWorking, TaskInputRequired, TaskCompleted, TaskFailed, TaskCancelled:
	default:
		return nil, fmt.Errorf("its status is %q, which this client does not know", shortLine(string(t.Status)))
	}
	return t, nil
}

// readEnd reads what a task has come to, where it has.
func (t *Task) readEnd() error {
	switch t.Status {
	case TaskInputRequired:
		requests, _ := rawjson.Get(t.Raw, "inputRequests")
		if rawjson.Kind(requests) != '{' {
			return errors.New("its status is input_required, and it has no inputRequests")
		}
		questions, err := readQuestions(requests)
		if err != nil {
			return err
		}
		return t.readRequests(questions)
	case TaskCompleted:
		result, _ := rawjson.Get(t.Raw, "result")
		if rawjson.Kind(result) != '{' {
			return errors.New("it has completed without a result")
		}
		if typ, err := resultType(result); err != nil || typ != "" && typ != "complete" {
			return fmt.Errorf("it has completed with a result of type %q", shortLine(typ))
		}
		t.Result = &mcp.CallToolResult{}
		if err := json.Unmarshal(result, t.Result); err != nil {
			return fmt.Errorf("its result: %w", err)
		}
		keepStructured(t.Result, result)
	case TaskFailed:
		rpc, _ := rawjson.Get(t.Raw, "error")
		t.Err = &jsonrpc.Error{}
		if rawjson.Kind(rpc) != '{' || json.Unmarshal(rpc, t.Err) != nil {
			return errors.New("it has failed without a JSON-RPC error")
		}
	}
	return nil
}

// readRequests reads the questions, those for a person as they are shown.
func (t *Task) readRequests(questions []asked) error {
	keys := authorKeys(questions)
	for i, q := range questions {
		tq := taskQuestion{asked: q}
		if q.method == methodElicit {
			r, err := newRequest(keys[i], q.params)
			if err != nil {
				return fmt.Errorf("%s is broken: %w", question(q.key), err)
			}
			r.Tool, r.Round, r.Exact, r.TaskID = t.Tool, 1, true, t.ID
			t.Requests = append(t.Requests, r)
			tq.request = r
		}
		t.questions = append(t.questions, tq)
	}
	return nil
}

// keepStructured puts the server's own text in the place of what the SDK decoded, so that no number in it is rounded.
func keepStructured(res *mcp.CallToolResult, raw []byte) {
	if v, ok := rawjson.Get(raw, "structuredContent"); ok && res.StructuredContent != nil {
		res.StructuredContent = json.RawMessage(bytes.Clone(v))
	}
}

// authorKeys are the keys as the tool's author wrote them. In a task, where a key is good for one asking (tasks extension,
// Task Update Requests), servers count the askings: ship, ship#2, ship#3. Where that would give two questions one key, they
// keep those of the wire.
func authorKeys(questions []asked) []string {
	keys, times := make([]string, len(questions)), map[string]int{}
	for i, q := range questions {
		keys[i] = q.key
		if name, n, ok := strings.Cut(q.key, "#"); ok && name != "" && count(n) {
			keys[i] = name
		}
		times[keys[i]]++
	}
	for i, q := range questions {
		if times[keys[i]] > 1 {
			keys[i] = q.key
		}
	}
	return keys
}

// count tells whether s is a number from 2.
func count(s string) bool {
	return s != "" && s != "1" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// milliseconds is a member of raw as a duration; absent when there is none that means something.
func milliseconds(raw []byte, name string, absent time.Duration) time.Duration {
	v, ok := rawjson.Get(raw, name)
	if !ok || rawjson.Kind(v) != '0' {
		return absent
	}
	var ms float64
	if json.Unmarshal(v, &ms) != nil || ms <= 0 {
		return absent
	}
	const most = 100 * 365 * 24 * time.Hour
	return time.Duration(min(ms, float64(most.Milliseconds())) * float64(time.Millisecond))
}

// shortID is an id fit to be shown whole.
func shortID(id string) string { return cut(PlainLine(id), 100) }

// shortLine is the beginning of a text of the server, fit to be shown on a line.
func shortLine(s string) string {
	const most = 200
	return cut(PlainLine(cut(s, 4*most)), most)
}

// cut keeps at most n runes of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
