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

func startCall(cs *mcp.ClientSession, tool string, a Answerer) *call {
	c := &call{
		id: strconv.FormatUint(lastCall.Add(1), 10), session: cs, tool: tool, answerer: a,
		previous: map[string]*mcp.ElicitResult{}, agreed: map[string]bool{}, times: map[string]int{},
	}
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
	c.mu.Lock()
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
	failed := c.failure != nil
	c.mu.Unlock()

	if failed {
		return &mcp.ElicitResult{Action: ActionCancel}
	}
	res, err := ask(ctx, a, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.previous[r.Key] = res
	if r.Params.Mode == "url" && res.Action == ActionAccept {
		c.agreed[r.Params.URL] = true
	}
	if err != nil {
		c.failure = &AnswerError{Tool: c.tool, Key: r.Key, Err: err}
	}
	return res
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
