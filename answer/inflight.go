package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A call is one CallTool at work. The transports find it in the context of a request and leave there what the SDK's
// decoding would lose; the handler for older protocols finds it by its session and answers with its Answerer.
type call struct {
	id      string
	session *mcp.ClientSession
	tool    string

	mu       sync.Mutex
	answerer Answerer        // the caller's; when nil, that of the connection
	server   string          // address, once a transport has told it
	sample   sampler         // of the connection, likewise
	roots    []*Root         // likewise
	result   json.RawMessage // of this round, exact, once a transport has told it
	fault    error           // what broke the response off, where the SDK only says that it ended
	ended    bool
	asked    []string
	previous map[string]*mcp.ElicitResult
	agreed   map[string]bool // the pages that were agreed to
	times    map[string]int  // how often each key was asked
	failure  *AnswerError    // the first; nothing is asked after it
	task     bool            // a request about a task, which the session outlives: the SDK ends it for what a proxy may say meanwhile
	meta     json.RawMessage // of the request
}

// sessions has the *keeper of each session that came from here and is open.
var sessions sync.Map

func opened(cs *mcp.ClientSession, k *keeper) {
	sessions.Store(cs, k)
	go func() {
		_ = cs.Wait()
		sessions.Delete(cs)
	}()
}

type callKey struct{}

// callOf is the call whose request ctx belongs to, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

var (
	inflightMu sync.Mutex
	inflight   = map[*mcp.ClientSession][]*call{}
	lastCall   atomic.Uint64
)

func newCall(cs *mcp.ClientSession, tool string, a Answerer) *call {
	return &call{session: cs, tool: tool, answerer: a,
		previous: map[string]*mcp.ElicitResult{}, agreed: map[string]bool{}, times: map[string]int{}}
}

func startCall(cs *mcp.ClientSession, tool string, a Answerer) *call {
	c := newCall(cs, tool, a)
	c.id = strconv.FormatUint(lastCall.Add(1), 10)
	inflightMu.Lock()
	defer inflightMu.Unlock()
	inflight[cs] = append(inflight[cs], c)
	return c
}

func (c *call) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	inflightMu.Lock()
	defer inflightMu.Unlock()
	rest := slices.DeleteFunc(inflight[c.session], func(other *call) bool { return other == c })
	if len(rest) == 0 {
		delete(inflight, c.session)
		return
	}
	inflight[c.session] = rest
}

// noCall is the id of what belongs to no call, as opposed to "", which is unknown.
const noCall = "-"

// findCall is the call of cs with this id; when that is unknown, the only call of cs. Nil when there is none or several.
func findCall(cs *mcp.ClientSession, id string) *call {
	inflightMu.Lock()
	defer inflightMu.Unlock()
	calls := inflight[cs]
	if id == "" && len(calls) == 1 {
		return calls[0]
	}
	for _, c := range calls {
		if id == c.id {
			return c
		}
	}
	return nil
}

// connected notes where the call goes and who answers there unless its caller does.
func (c *call) connected(k *keeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server, c.sample, c.roots = k.server, k.sample, k.roots
	if c.answerer == nil {
		c.answerer = k.answerer
	}
}

// noteMeta notes what describes the client in the _meta of the call's requests, for others about the same.
func (c *call) noteMeta(meta map[string]any) {
	about := map[string]any{}
	for _, name := range []string{mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities} {
		about[name] = meta[name]
	}
	if data, err := json.Marshal(about); err == nil {
		c.meta = data
	}
}

// follow drives the task that a call has become to its end.
func (c *call) follow(ctx context.Context, t *Task) (*mcp.CallToolResult, error) {
	if failure := c.failed(); failure != nil {
		return nil, &TaskError{Task: t, Err: failure}
	}
	f, err := follow(c.session, t.ID)
	if err != nil {
		return nil, err
	}
	f.call, f.meta = c, c.meta
	return f.wait(ctx, t)
}

// follows reports whether the call's session can follow tasks.
func (c *call) follows() bool {
	_, ok := sessions.Load(c.session)
	return ok
}

// keep stores a result's exact text until CallTool takes it.
func (c *call) keep(result []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result = slices.Clone(result)
}

// broke notes what broke a response off.
func (c *call) broke(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = err
}

// because is what broke the response off, if something did, else err: the SDK only says then that there was none.
func (c *call) because(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil {
		return err
	}
	return fmt.Errorf("calling tool %q: %w", c.tool, c.fault)
}

func (c *call) take() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	result := c.result
	c.result = nil
	return result
}

func (c *call) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// announce adds keys to those the call was asked.
func (c *call) announce(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		if !slices.Contains(c.asked, k) {
			c.asked = append(c.asked, k)
		}
	}
}

// ask has r answered, by other when the call has no Answerer of its own. Once an answer has failed, every question is
// cancelled without asking.
func (c *call) ask(ctx context.Context, r *Request, other Answerer) *mcp.ElicitResult {
	a := c.prepare(r, other)
	if c.failed() != nil {
		return &mcp.ElicitResult{Action: ActionCancel}
	}
	res, err := ask(ctx, a, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remember(r, res)
	if err != nil {
		c.failure = &AnswerError{Tool: c.tool, Key: r.Key, Err: err}
	}
	return res
}

// askTask has a question of a task answered. When that fails, the server is told nothing: the question stays open.
func (c *call) askTask(ctx context.Context, r *Request) (*mcp.ElicitResult, error) {
	res, err := ask(ctx, c.prepare(r, nil), r)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remember(r, res)
	return res, nil
}

// prepare completes r, and returns who answers it.
func (c *call) prepare(r *Request, other Answerer) Answerer {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.answerer
	if a == nil {
		a = other
	}
	if r.Server == "" {
		r.Server = c.server
	}
	r.Tool = c.tool
	r.Asked = slices.Clone(c.asked)
	r.Previous = c.previous[r.Key]
	r.Waiting = c.waitsFor(r)
	c.times[r.Key]++
	r.Time = c.times[r.Key]
	return a
}

// remember notes an answer. c.mu is held.
func (c *call) remember(r *Request, res *mcp.ElicitResult) {
	c.previous[r.Key] = res
	if r.Params.Mode == "url" && res.Action == ActionAccept {
		c.agreed[r.Params.URL] = true
	}
}

// waitsFor tells whether r only asks again for a page that was agreed to. c.mu is held.
func (c *call) waitsFor(r *Request) bool {
	return r.Params.Mode == "url" && c.agreed[r.Params.URL]
}

// failed is why an answer failed, or nil.
func (c *call) failed() *AnswerError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}
