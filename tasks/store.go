package tasks

import (
	"context"
	"errors"
	"time"
)

// A Store keeps tasks. It is also the engine: what runs, what wants to run and whose process is still there is read from
// it alone, so that any instance can go on with what another one left.
//
// NewMemoryStore lives as long as its process; tasks/sqlite is a file for one process; tasks/postgres is for several
// instances. An implementation of your own passes tasks/storetest.
//
// What holds for every method:
//
//   - It is called by many goroutines at once.
//   - A write is durable when the method returns without an error: it survives a crash of the process and, but for the
//     memory store, of the machine.
//   - It ends within a deadline of the store's own (a few seconds), also where ctx has none. A store that could not be
//     reached or did not answer in time gives an error that is ErrUnavailable. Then a write may have happened or not;
//     each method says how that is found out.
//   - Times and leases go by the store's clock, not by that of the caller, whose clock may be wrong.
//   - A row past its expiry is not there, for any method but Purge, which removes it, and Stats.
//   - Rows are copies: neither side keeps or changes a Record that the other one holds.
type Store interface {
	// Create stores a new row. Of row it takes ID, Owner, Status, Record, Attempts and TTL. It returns the row as stored.
	// Over a limit it stores nothing and returns ErrOwnerLimit, ErrOwnerTotalLimit or ErrTotalLimit.
	//
	// Ids are random, so one that is there already is that of this creation, whose reply was lost: Create returns the row as
	// it is now, and stores nothing; ErrNotFound if it has expired since. If that row has another Owner, the error is ErrExists.
	Create(ctx context.Context, row Row, next Next, limits Limits) (Row, error)

	// Get returns a row, or ErrNotFound.
	Get(ctx context.Context, id string) (Row, error)

	// Put replaces Status, Record, Attempts and TTL of the row with row.ID, if its version still is row.Version, and does
	// what next says. It returns the row as stored.
	//
	// A run passes its fence; then Put also requires that the run still has the row, else ErrFenced: the row was taken
	// from it, or has been finished, and nothing that the run has to say counts any more. Others, who bring answers or cancel, pass nil.
	//
	// ErrConflict means that the row was written since it was read. Get it, apply the change to what is there now and Put
	// again. ErrNotFound means that there is no such row, or no longer.
	//
	// After an error that is ErrUnavailable, Put again: if the first one did happen the second gives ErrConflict or
	// ErrFenced, and Get shows the row with the change.
	Put(ctx context.Context, fence *Fence, row Row, next Next) (Row, error)

	// PutStep stores the result of a step, if the run still has the row (else ErrFenced) and no run has stored a step of
	// this name before (else nothing is changed, and the error is nil). It is not a write of the row: Version stays. A
	// run that is claimed after PutStep returned sees the step. PutStep may be repeated.
	PutStep(ctx context.Context, fence Fence, step Step) error

	// Steps returns the steps of a row, in the order in which they were stored; none if there is no such row.
	Steps(ctx context.Context, id string) ([]Step, error)

	// Claim gives up to n rows that are due to worker, longest due first, and returns them as claimed: Run is one more than
	// it was, and no other call gets them until they are due again. Claim waits for no other call: a row that one is
	// at just now is left to the next Claim. A claim whose reply was lost leaves rows that Running lists and nobody runs: Release
	// them.
	Claim(ctx context.Context, worker string, n int) ([]Row, error)

	// Running lists the rows that worker has. A run that it does not list has lost its row: by a cancellation, by expiry, or by a
	// lease that ran out.
	Running(ctx context.Context, worker string) ([]Running, error)

	// Release makes rows due now, each if the run that the fence names still has it. Attempts is unchanged.
	Release(ctx context.Context, fences ...Fence) error

	// Join makes worker alive for the time of lease. Worker names one incarnation of one process: a random id, never used again.
	Join(ctx context.Context, worker string, lease time.Duration) error

	// Renew keeps worker alive for lease from now. If worker is not alive any more, or never was, the error is
	// ErrLeaseLost and Renew changes nothing: its rows are others' by now, or will be. Join under a new id.
	Renew(ctx context.Context, worker string, lease time.Duration) error

	// Leave makes the rows of worker due now, with Attempts unchanged, and ends its lease. It may be repeated.
	Leave(ctx context.Context, worker string) error

	// Sweep makes rows due now whose worker is not alive, adding one to Attempts: these runs ended without a word. It returns
	// how many it found. Instances that sweep at once do not wait for each other.
	Sweep(ctx context.Context) (int, error)

	// Purge removes up to n rows that have expired, and their steps. It returns how many it removed.
	Purge(ctx context.Context, n int) (int, error)

	// Stats counts, for those who operate the store. It may read all rows.
	Stats(ctx context.Context) (Stats, error)

	// Hints returns the channel on which the store says that something has changed, here or in another instance. There is
	// one channel; one goroutine reads it. It is closed by Close. Hints may be lost, doubled and late: whoever waits for something
	// also looks from time to time.
	Hints() <-chan Hint

	// Close frees what the store holds. It does not Leave. Calls after it, and calls that it interrupts, fail with ErrClosed.
	Close() error
}

// A TaskStatus is what the specification calls a task's status.
type TaskStatus string

// The statuses of a task, as they go over the wire.
const (
	Working       TaskStatus = "working"
	InputRequired TaskStatus = "input_required"
	Completed     TaskStatus = "completed"
	Failed        TaskStatus = "failed"
	Cancelled     TaskStatus = "cancelled"
)

// Finished reports whether the status is final.
func (s TaskStatus) Finished() bool { return s != Working && s != InputRequired }

// A Row is a task as a Store keeps it. At any time it is in one of three places: it has a Worker, which runs it; or it is
// Due, and the next free worker claims it; or it rests, because it waits for an answer or is finished.
type Row struct {
	ID     string // random, unguessable; made by the caller
	Owner  string // digest of the principal; what Limits.Owner counts by
	Status TaskStatus
	Record []byte // all else; opaque to the store, and sealed

	Version  int64  // grows with every write of the row; the first is 1
	Run      int64  // grows with every claim; 0 if never claimed
	Worker   string // who runs it; "" if nobody does
	Due      time.Time
	Attempts int // runs that ended without a result, as the caller counts them; Sweep adds one

	TTL     time.Duration // how long the row is kept, from its creation; 0 is forever
	Created time.Time     // by the store's clock, to the millisecond or finer
	Updated time.Time     // last write of the row
}

// Fence names the run that has the row.
func (r Row) Fence() Fence { return Fence{r.ID, r.Run, r.Worker} }

// Expires is when the row stops being there; the zero time if it never does.
func (r Row) Expires() time.Time {
	if r.TTL <= 0 {
		return time.Time{}
	}
	return r.Created.Add(r.TTL)
}

// A Fence names one run of one row. Every write of a run carries it, so that a run that has lost its row changes nothing.
type Fence struct {
	ID     string
	Run    int64
	Worker string
}

// A Step is a remembered result: Result is opaque to the store, and sealed.
type Step struct {
	Name   string
	Result []byte
}

// Running is a row that a worker has.
type Running struct {
	Fence
	// For is how long ago the row was claimed or last written. One that no goroutine knows, for longer than a call of the
	// store takes, belongs to a claim whose reply was lost.
	For time.Duration
}

// Next says where a row goes with a write. At most one of Rest, Due and Worker is set. The zero Next leaves the row where
// it is (a run that goes on, an answer while others are outstanding); in Create it is as Rest.
type Next struct {
	// Rest takes the row from its run, if it has one: it waits for an answer or is finished.
	Rest bool
	// Due takes the row from its run, if it has one, and makes it due, after a time; 0 is now.
	Due   bool
	After time.Duration
	// Worker gives the row to a worker at once, as a Claim would: Run is one more than it was. Whoever sets it has a free
	// slot, and starts the run when the write has returned.
	Worker string
}

// Limits are what Create refuses to exceed. Zero is no limit. A store of several instances may exceed Owner by what the
// instances create in the same moment, and the other two, where it does not count each time, by what they create in a few
// seconds. These two count rows that have expired until Purge removes them.
type Limits struct {
	Owner      int // unfinished rows of the row's owner
	OwnerTotal int // all rows of the row's owner, finished or not
	Total      int // all rows, finished or not
}

// Stats says what a store holds. Rows that have expired and are not purged yet count.
type Stats struct {
	Rows      int           // all rows
	Due       int           // want a run now
	Running   int           // have a worker
	Workers   int           // are alive
	OldestDue time.Duration // how long the longest due row has waited for a worker
}

// A Hint says that a row has changed or wants a run. The zero Hint says that hints were lost: anything may have
// changed.
type Hint struct {
	ID  string // the row that was written
	Due bool   // Claim may find something
}

// Errors of a Store. Compare with errors.Is: an error of a store says more than these.
var (
	ErrNotFound        = errors.New("tasks: no such row")
	ErrExists          = errors.New("tasks: a row of another owner has this id")
	ErrConflict        = errors.New("tasks: the row was written since it was read")
	ErrFenced          = errors.New("tasks: the run has lost its row")
	ErrLeaseLost       = errors.New("tasks: the worker's lease has run out")
	ErrOwnerLimit      = errors.New("tasks: the owner has as many unfinished tasks as are allowed")
	ErrOwnerTotalLimit = errors.New("tasks: the owner has as many tasks as are allowed, finished ones included")
	ErrTotalLimit      = errors.New("tasks: the store holds as many tasks as are allowed")
	ErrUnavailable     = errors.New("tasks: the store cannot be reached, or did not answer in time")
	ErrClosed          = errors.New("tasks: the store is closed")
)
