package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options of [Enable]. The zero value works for one process whose tasks nobody misses when it stops.
type Options struct {
	// Store keeps the tasks. All instances of a server share one, and no other server uses it. A store that outlives the
	// process needs elicit.Options.Secrets, as what it holds is sealed under them. Default: [NewMemoryStore], and a line
	// in the log.
	Store Store

	// TTL is how long a task is kept, from its creation, whether it has finished or not: a task that waits for a person
	// longer than that is gone. Default 7 days; negative: forever.
	TTL time.Duration

	// PollInterval is how often clients are told to poll. Default 1 second.
	PollInterval time.Duration

	// Grace is how long a client waits for an Optional tool before the call becomes a task. Default 500 milliseconds.
	Grace time.Duration

	// Authorize says whether a principal may still use a tool, before each run of a task from its record: days may have
	// passed since its token was verified. An error refuses the run, and the task fails; one made by [Retryable], such
	// as when the directory cannot be reached, is tried again. Default: all may.
	Authorize func(ctx context.Context, p elicit.Principal, tool string) error

	// AllowAnonymous lets callers without a principal have tasks where they cannot be told apart: on an address that is not
	// loopback, or behind a proxy. Whoever learns a task's id then has it. Over stdio and on loopback they always may.
	AllowAnonymous bool

	// MaxPerPrincipal is how many unfinished tasks one principal may have. Default 100; negative: no limit.
	MaxPerPrincipal int

	// MaxKeptPerPrincipal is how many tasks one principal may have, finished ones included: they are kept until TTL is over, as
	// their client was told, so that a principal who creates more is refused until then. Without it one principal could
	// fill MaxTasks, which are everybody's. Default a tenth of MaxTasks, but not less than MaxPerPrincipal; negative: no limit.
	MaxKeptPerPrincipal int

	// MaxTasks is how many tasks there may be, finished ones included. Default 1,000,000; negative: no limit.
	MaxTasks int

	// MaxRecord is the length, in bytes, of a task's arguments, and of its questions and answers, over which it is refused
	// or fails. Default 1 MiB.
	MaxRecord int

	// MaxResult is the length of a task's result, or of one step's, in bytes of JSON, over which it fails. Default 1 MiB.
	MaxResult int

	// Slots is how many tasks this instance runs at a time; others wait. Tasks that wait for an answer run nowhere.
	// Default 256.
	Slots int

	// MaxAttempts is how often a task's handler is run without getting on, by crashes or [Retryable] errors, before the
	// task fails. Default 5.
	MaxAttempts int

	timing timing // for tests
}

// timing is how often things happen.
type timing struct {
	lease, renew time.Duration // of this instance's lease
	sweep        time.Duration // for rows of instances that are gone, and rows that are due
	orphan       time.Duration // for which a row may be ours without running: a claim's reply was lost
	backoff      time.Duration // before the first retry
	purge        time.Duration
	status       time.Duration // between writes of a status message
	patience     time.Duration // for a store that cannot be reached, before Enable returns, and for handlers that do not end
	ready        time.Duration // before runs begin, on a server that serves nobody
}

var defaultTiming = timing{lease: 9 * time.Second, renew: 3 * time.Second, sweep: time.Second, orphan: 15 * time.Second,
	backoff: time.Second, purge: time.Minute, status: time.Second, patience: 2 * time.Second, ready: time.Second}

// An Engine serves the tasks of one server, in this process. Make one with [Enable].
type Engine struct {
	shop  tool.TaskShop
	opts  Options
	store Store

	ctx  context.Context // until the engine has been shut down
	stop context.CancelFunc
	done sync.WaitGroup // the loops

	wake  chan struct{} // has room for one: rows are due, or a slot is free
	once  sync.Once
	ready chan struct{} // closed when runs may begin

	mu         sync.Mutex
	worker     string // the name of this incarnation, "" while it has no lease
	closing    bool
	reserved   int                  // slots, by writes that may start a run
	runs       map[*run]bool        // whose goroutine is here
	idle       chan struct{}        // closed when nothing runs, or is about to, if closing
	rested     bool                 // idle is closed
	lost       map[string]int       // ids whose creation had no reply: not to be released
	complained map[string]time.Time // when, by what
	subs       subscriptions        // has a lock of its own
}

// Enable gives a server tasks: the methods tasks/get, tasks/update and tasks/cancel, the capability in server/discover, status
// notifications on subscriptions/listen, and calls that become tasks as their tools' [Mode] says. With the server's first
// request, or a second later, it begins to run tasks that its store holds: tools, pages and middleware may be added after it.
//
// Call it once. It panics if the options cannot work, saying what to change.
func Enable(s *elicit.Server, opts Options) *Engine {
	o := &opts
	for _, d := range []struct {
		name string
		v    *time.Duration
		def  time.Duration
	}{{"TTL", &o.TTL, 7 * 24 * time.Hour}, {"PollInterval", &o.PollInterval, time.Second}, {"Grace", &o.Grace, 500 * time.Millisecond}} {
		if *d.v == 0 {
			*d.v = d.def
		}
		if *d.v < 0 && d.name != "TTL" || *d.v > 0 && *d.v < time.Millisecond {
			panic(fmt.Sprintf("tasks.Enable: Options.%s is %v: give a millisecond or more, or leave it 0 for the default", d.name, *d.v))
		}
	}
	for _, d := range []struct {
		name   string
		v      *int
		def    int
		noneOK bool
	}{{"MaxPerPrincipal", &o.MaxPerPrincipal, 100, true}, {"MaxTasks", &o.MaxTasks, 1_000_000, true}, {"MaxRecord", &o.MaxRecord, 1 << 20, false},
		{"MaxResult", &o.MaxResult, 1 << 20, false}, {"Slots", &o.Slots, 256, false}, {"MaxAttempts", &o.MaxAttempts, 5, false}} {
		if *d.v == 0 {
			*d.v = d.def
		}
		if *d.v < 0 && !d.noneOK {
			panic(fmt.Sprintf("tasks.Enable: Options.%s is %d: leave it 0 for the default", d.name, *d.v))
		}
	}
	if o.timing == (timing{}) {
		o.timing = defaultTiming
	}
	if o.MaxKeptPerPrincipal == 0 {
		o.MaxKeptPerPrincipal = max(o.MaxTasks/10, o.MaxPerPrincipal)
		if o.MaxTasks < 0 || o.MaxPerPrincipal < 0 {
			o.MaxKeptPerPrincipal = -1
		}
	}
	o.TTL = max(o.TTL, 0) // for a store, 0 is forever
	e := &Engine{opts: opts, wake: make(chan struct{}, 1), ready: make(chan struct{}), runs: map[*run]bool{}, lost: map[string]int{}, complained: map[string]time.Time{}}
	e.ctx, e.stop = context.WithCancel(context.Background())
	err := tool.EnableTasks(s, func(shop tool.TaskShop) tool.Tasks {
		e.shop = shop
		switch {
		case o.Store == nil:
			o.Store = NewMemoryStore()
			shop.Logger.Info("tasks: Options.Store is not set: tasks are kept in memory, and lost when the process stops")
		case shop.OwnSecret:
			if _, memory := o.Store.(*memoryStore); !memory {
				panic("tasks.Enable: the store outlives the process, but elicit.Options.Secrets is not set, so what it holds could not be opened again: give elicit.New the same secrets each time (elicit keygen makes one)")
			}
		}
		e.store = o.Store
		if err := e.serve(shop.MCP); err != nil {
			panic("tasks.Enable: " + err.Error())
		}
		return seam{e}
	})
	if err != nil {
		panic("tasks.Enable: " + err.Error())
	}
	e.begin()
	return e
}

// Shutdown lets the runs of this instance finish, but no longer than ctx, then interrupts them, and gives what it has
// not finished to other instances, or to the next start. Before it returns nothing is lost, and after it nothing runs here. It
// ends all streams of subscriptions/listen that wait for tasks. It does not close the store.
//
// Call it at the same time as http.Server.Shutdown, which waits for the streams that this ends. The error is ctx's, or the
// store's.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	if e.idle == nil {
		e.idle = make(chan struct{})
		e.closing = true
		e.rest()
	}
	idle := e.idle
	e.mu.Unlock()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = ctx.Err()
		e.interrupt(errShutdown)
		select { // a handler that ignores its context does not hold this up for long
		case <-idle:
		case <-time.After(e.opts.timing.patience):
		}
	}
	e.stop()
	e.done.Wait()
	e.subs.end()
	e.mu.Lock()
	worker := e.worker
	e.mu.Unlock()
	if worker == "" {
		return err
	}
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.opts.timing.lease)
	defer cancel()
	if lerr := e.store.Leave(out, worker); lerr != nil { // its lease runs out
		e.log(ctx, slog.LevelError, "", "tasks: cannot give back what this instance has", "error", lerr)
		err = lerr
	}
	return err
}

// errPanicked is what a client gets in place of a panic.
var errPanicked error = internal("internal error")

// guard, deferred, keeps a panic of the author's code, which what names, from ending the process.
func (e *Engine) guard(id, what string, err *error) {
	if p := recover(); p != nil {
		e.log(e.ctx, slog.LevelError, id, "tasks: "+what+" panicked", "panic", p, "stack", string(debug.Stack()))
		*err = errPanicked
	}
}

// log logs, with a hash of the task's id if there is one: the id is all that an anonymous client has to show.
func (e *Engine) log(ctx context.Context, level slog.Level, id, msg string, args ...any) {
	if !e.shop.Logger.Enabled(ctx, level) {
		return
	}
	if id != "" {
		sum := sha256.Sum256([]byte(id))
		args = append([]any{"task", hex.EncodeToString(sum[:8])}, args...)
	}
	e.shop.Logger.Log(ctx, level, msg, args...)
}

// serve adds the methods of the extension to a server.
func (e *Engine) serve(server *mcp.Server) error {
	for method, f := range map[string]func(context.Context, *params) (*reply, error){"get": e.get, "update": e.update, "cancel": e.cancel} {
		if err := mcp.AddReceivingCustomMethod(server, methodPrefix+method, func(ctx context.Context, _ *mcp.ServerSession, p *params) (*reply, error) {
			return f(ctx, p)
		}); err != nil {
			return err
		}
		wire.AddCustom(server, methodPrefix+method, request)
	}
	server.AddReceivingMiddleware(e.receive)
	server.AddSendingMiddleware(e.send)
	return nil
}
