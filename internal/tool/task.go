package tool

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Mode says when the calls of a tool become tasks. Package tasks documents the modes.
type Mode uint8

// The modes of a tool. The zero Mode is for package tasks to choose.
const (
	Unset Mode = iota
	Synchronous
	Optional
	Required
	AtBegin
)

// Task is what a tool says of its tasks.
type Task struct {
	Mode   Mode
	ModeOf func(context.Context, *mcp.CallToolRequest) Mode // takes precedence
	URLs   bool                                             // it declares a question that asks by URL
	Asks   bool                                             // it declares another question
}

// Principal is elicit.Principal.
type Principal struct{ Issuer, Subject, Client string }

// Caller is who makes a request, and what elicit.Options.Bind adds to it.
type Caller struct {
	Principal
	Bound string
}

// Tasks is package tasks, as the root package sees it.
type Tasks interface {
	// Call serves a tools/call that is not itself the run of a task. Next runs the handler and
	// ends the round. Where Call does not call it, the round ends with what Call returns.
	Call(ctx context.Context, c *Call, next func(context.Context) (mcp.Result, error)) (mcp.Result, error)
	// Wake tells a task that what it waits for may have happened.
	Wake(ctx context.Context, id string)
	// Over reports whether a task is there and has ended.
	Over(ctx context.Context, id string) (bool, error)
}

// A Call is a call that may become a task.
type Call struct {
	Request *mcp.CallToolRequest // without our requestState
	Modern  bool                 // of 2026-07-28 or later
	Caller  Caller
	Task    Task // what the tool says
	Run     *Run // for Tasks to fill in before next

	// Snapshot is what the call knows before its handler runs.
	Snapshot func() Snapshot
	// Detach makes the handler, which runs, go on as a task: from then on what it asks and its steps go to Run. It is
	// false if the handler has returned.
	Detach func() (Snapshot, bool)
	// Attach undoes Detach, where there can be no task.
	Attach func()
}

// A Run is what a handler of a task is given in place of a requestState, and where what it asks goes.
type Run struct {
	// ID is the task's; empty while the call is none.
	ID func() string
	// Task is the id that the task has, or would have; empty if the call cannot become one.
	Task string
	// Until is when the task expires, or would expire at the earliest; zero if never.
	Until time.Time
	// Record is what the run starts from, nil if it began on a call.
	Record *Record
	Taken  atomic.Bool // by the call that it is

	// Begins reports whether Begin makes a task of the call.
	Begins bool
	// TakesURLs reports whether the call becomes a task when it asks by URL.
	TakesURLs bool

	// Step stores the result of a step before the handler goes on.
	Step func(ctx context.Context, name string, result []byte) error
	// Status says how far the work is.
	Status func(ctx context.Context, message string)
	// Over, set by the root package when the handler has returned, forgets what was kept for the call alone.
	Over func(ctx context.Context)
	// Round takes what the handler asked, or that it began, when it has returned. What it gives is what the client gets.
	// With taken false, the call stays one.
	Round func(ctx context.Context, s Snapshot) (res mcp.Result, taken bool, err error)
}

// Record is what earlier runs and the client left for a run.
type Record struct {
	Principal Principal
	Remote    bool // nobody in particular made the call, and perhaps not from this machine
	CallID    [16]byte
	State     state.State // Asked is what the answers in the request answer
}

// A Snapshot is what a call knows.
type Snapshot struct {
	CallID [16]byte
	State  state.State // Asked is what is asked in this round
	Asks   []Ask       // in their order

	Detached bool // by Call.Detach
	// Answers are what the client sent in this round, by key, and the handler has not taken yet.
	Answers map[string]json.RawMessage
	// Waiting is set if the handler waits for something other than an answer of the client, and says for what.
	Waiting string
}

// An Ask is a question of a round: its key, and {"method":…,"params":…}.
type Ask struct {
	Key     string
	Request json.RawMessage
}

// TaskShop is what package tasks gets of an elicit.Server.
type TaskShop struct {
	MCP       *mcp.Server
	Ring      *state.Ring
	OwnSecret bool // the ring is this process's own
	Logger    *slog.Logger
	// Caller says who makes a request. The error is a JSON-RPC error.
	Caller func(ctx context.Context, extra *mcp.RequestExtra) (Caller, error)
	// Ended forgets what was kept for a call alone, as Run.Over does, where no handler has returned.
	Ended func(ctx context.Context, st state.State)
}

type runKey struct{}

// WithRun is a context for the run of a task from its record. The first call in it is that run.
func WithRun(ctx context.Context, r *Run) context.Context { return context.WithValue(ctx, runKey{}, r) }

// RunOf is the run of a task from its record that ctx belongs to, or nil.
func RunOf(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// Hooks that the root package fills in for package tasks.
var (
	// EnableTasks gives an *elicit.Server its tasks. It fails if it has some.
	EnableTasks func(server any, connect func(TaskShop) Tasks) error
	// CallRun is the run of the call that ctx belongs to, nil if it is none that may be a task's. The error says that ctx
	// belongs to no call.
	CallRun func(ctx context.Context) (*Run, error)
	// Begin makes a task of the call that ctx belongs to: its error is to be returned. It is nil where there is nothing to begin.
	Begin func(ctx context.Context) error
)
