package tasks

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/lossy"
)

// NewMemoryStore returns a Store that lives in this process and ends with it: for tests, and for tasks that nobody misses
// when the process stops. Several servers of one process may share it; then each has its own worker.
func NewMemoryStore() Store {
	return &memoryStore{
		rows:    map[string]*memoryRow{},
		kept:    map[string]int{},
		open:    map[string]map[string]*memoryRow{},
		running: map[string]map[string]*memoryRow{},
		workers: map[string]time.Time{},
		hints:   lossy.New[Hint](1 << 10),
	}
}

type memoryStore struct {
	mu      sync.Mutex
	rows    map[string]*memoryRow
	kept    map[string]int                   // how many rows, by owner
	open    map[string]map[string]*memoryRow // unfinished rows, by owner
	running map[string]map[string]*memoryRow // by worker
	workers map[string]time.Time             // until when each is alive
	due     timeline                         // may hold entries of rows that are not due any more, or at another time
	expiry  timeline                         // the same
	closed  bool
	hints   *lossy.Chan[Hint]
}

type memoryRow struct {
	Row
	steps []Step
}

func (r *memoryRow) expired(now time.Time) bool {
	at := r.Expires()
	return !at.IsZero() && !at.After(now)
}

func (r *memoryRow) copy() Row {
	row := r.Row
	row.Record = bytes.Clone(row.Record)
	return row
}

// lock locks the store for a call. Whoever gets no error unlocks.
func (m *memoryStore) lock(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return now, ErrClosed
	}
	return time.Now(), nil
}

// row finds a row that is there.
func (m *memoryStore) row(id string, now time.Time) (*memoryRow, error) {
	if r := m.rows[id]; r != nil && !r.expired(now) {
		return r, nil
	}
	return nil, ErrNotFound
}

// fenced finds the row that a run has.
func (m *memoryStore) fenced(f Fence, now time.Time) (*memoryRow, error) {
	r, err := m.row(f.ID, now)
	if err == nil && r.Fence() != f {
		err = ErrFenced
	}
	return r, err
}

func (m *memoryStore) Create(ctx context.Context, row Row, next Next, limits Limits) (Row, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return Row{}, err
	}
	defer m.mu.Unlock()
	if r := m.rows[row.ID]; r != nil {
		switch {
		case r.Owner != row.Owner:
			return Row{}, ErrExists
		case r.expired(now):
			return Row{}, ErrNotFound
		}
		return r.copy(), nil
	}
	if limits.Total > 0 && len(m.rows) >= limits.Total {
		return Row{}, ErrTotalLimit
	}
	if limits.OwnerTotal > 0 && m.kept[row.Owner] >= limits.OwnerTotal {
		return Row{}, ErrOwnerTotalLimit
	}
	if open := m.open[row.Owner]; limits.Owner > 0 && len(open) >= limits.Owner {
		n := 0
		for _, r := range open {
			if !r.expired(now) {
				n++
			}
		}
		if n >= limits.Owner {
			return Row{}, ErrOwnerLimit
		}
	}
	r := &memoryRow{Row: Row{ID: row.ID, Owner: row.Owner, Status: row.Status, Record: bytes.Clone(row.Record),
		Attempts: row.Attempts, TTL: max(row.TTL, 0), Created: now}}
	m.rows[r.ID] = r
	m.kept[r.Owner]++
	m.count(r)
	m.expires(r)
	m.write(r, next, now)
	return r.copy(), nil
}

func (m *memoryStore) Get(ctx context.Context, id string) (Row, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return Row{}, err
	}
	defer m.mu.Unlock()
	r, err := m.row(id, now)
	if err != nil {
		return Row{}, err
	}
	return r.copy(), nil
}

func (m *memoryStore) Put(ctx context.Context, fence *Fence, row Row, next Next) (Row, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return Row{}, err
	}
	defer m.mu.Unlock()
	var r *memoryRow
	if fence != nil {
		r, err = m.fenced(Fence{row.ID, fence.Run, fence.Worker}, now)
	} else {
		r, err = m.row(row.ID, now)
	}
	if err != nil {
		return Row{}, err
	}
	if r.Version != row.Version {
		return Row{}, ErrConflict
	}
	r.Status, r.Record, r.Attempts = row.Status, bytes.Clone(row.Record), row.Attempts
	m.count(r)
	if ttl := max(row.TTL, 0); ttl != r.TTL {
		r.TTL = ttl
		m.expires(r)
	}
	m.write(r, next, now)
	return r.copy(), nil
}

// count counts a row as unfinished, or no longer.
func (m *memoryStore) count(r *memoryRow) {
	if r.Status.Finished() {
		remove(m.open, r.Owner, r)
	} else {
		add(m.open, r.Owner, r)
	}
}

// expires has Purge find the row.
func (m *memoryStore) expires(r *memoryRow) {
	if at := r.Expires(); !at.IsZero() {
		heap.Push(&m.expiry, moment{at, r})
	}
}

// write ends each write of a row: it puts it where next says.
func (m *memoryStore) write(r *memoryRow, next Next, now time.Time) {
	r.Version++
	r.Updated = now
	if next != (Next{}) {
		remove(m.running, r.Worker, r)
		r.Worker, r.Due = "", time.Time{}
	}
	if next.Due {
		r.Due = now.Add(max(next.After, 0))
		heap.Push(&m.due, moment{r.Due, r})
	}
	if next.Worker != "" {
		r.Worker = next.Worker
		r.Run++
		add(m.running, r.Worker, r)
	}
	m.hints.Send(Hint{ID: r.ID, Due: next.Due && next.After <= 0})
}

func (m *memoryStore) PutStep(ctx context.Context, fence Fence, step Step) error {
	now, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	r, err := m.fenced(fence, now)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(r.steps, func(s Step) bool { return s.Name == step.Name }) {
		r.steps = append(r.steps, Step{step.Name, bytes.Clone(step.Result)})
	}
	return nil
}

func (m *memoryStore) Steps(ctx context.Context, id string) ([]Step, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	r, err := m.row(id, now)
	if err != nil {
		return nil, nil
	}
	steps := slices.Clone(r.steps)
	for i := range steps {
		steps[i].Result = bytes.Clone(steps[i].Result)
	}
	return steps, nil
}

func (m *memoryStore) Claim(ctx context.Context, worker string, n int) ([]Row, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var rows []Row
	for len(rows) < n && len(m.due) > 0 && !m.due[0].at.After(now) {
		first := heap.Pop(&m.due).(moment)
		if r := first.row; m.rows[r.ID] == r && r.Due.Equal(first.at) && !r.expired(now) {
			m.write(r, Next{Worker: worker}, now)
			rows = append(rows, r.copy())
		}
	}
	return rows, nil
}

func (m *memoryStore) Running(ctx context.Context, worker string) ([]Running, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var running []Running
	for _, r := range m.running[worker] {
		if !r.expired(now) {
			running = append(running, Running{r.Fence(), now.Sub(r.Updated)})
		}
	}
	return running, nil
}

func (m *memoryStore) Release(ctx context.Context, fences ...Fence) error {
	now, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	for _, f := range fences {
		if r, err := m.fenced(f, now); err == nil {
			m.write(r, Next{Due: true}, now)
		}
	}
	return nil
}

func (m *memoryStore) Join(ctx context.Context, worker string, lease time.Duration) error {
	now, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.workers[worker] = now.Add(lease)
	return nil
}

func (m *memoryStore) Renew(ctx context.Context, worker string, lease time.Duration) error {
	now, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	if !m.workers[worker].After(now) {
		return ErrLeaseLost
	}
	m.workers[worker] = now.Add(lease)
	return nil
}

func (m *memoryStore) Leave(ctx context.Context, worker string) error {
	now, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.release(worker, now)
	delete(m.workers, worker)
	return nil
}

// release makes the rows of a worker due, and returns how many there were.
func (m *memoryStore) release(worker string, now time.Time) (n int) {
	for _, r := range m.running[worker] {
		m.write(r, Next{Due: true}, now)
		n++
	}
	return n
}

func (m *memoryStore) Sweep(ctx context.Context) (n int, err error) {
	now, err := m.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	for worker, rows := range m.running {
		if !m.workers[worker].After(now) {
			for _, r := range rows {
				r.Attempts++
			}
			n += m.release(worker, now)
		}
	}
	for worker, until := range m.workers {
		if !until.After(now) {
			delete(m.workers, worker)
		}
	}
	return n, nil
}

func (m *memoryStore) Purge(ctx context.Context, n int) (int, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	purged := 0
	for purged < n && len(m.expiry) > 0 && !m.expiry[0].at.After(now) {
		first := heap.Pop(&m.expiry).(moment)
		if r := first.row; m.rows[r.ID] == r && r.Expires().Equal(first.at) {
			remove(m.open, r.Owner, r)
			remove(m.running, r.Worker, r)
			delete(m.rows, r.ID)
			if m.kept[r.Owner]--; m.kept[r.Owner] == 0 {
				delete(m.kept, r.Owner)
			}
			purged++
		}
	}
	return purged, nil
}

func (m *memoryStore) Stats(ctx context.Context) (Stats, error) {
	now, err := m.lock(ctx)
	if err != nil {
		return Stats{}, err
	}
	defer m.mu.Unlock()
	s := Stats{Rows: len(m.rows)}
	for _, r := range m.rows {
		if r.Worker != "" {
			s.Running++
		}
		if !r.Due.IsZero() && !r.Due.After(now) {
			s.Due++
			s.OldestDue = max(s.OldestDue, now.Sub(r.Due))
		}
	}
	for _, until := range m.workers {
		if until.After(now) {
			s.Workers++
		}
	}
	return s, nil
}

func (m *memoryStore) Hints() <-chan Hint { return m.hints.C() }

func (m *memoryStore) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.hints.Close()
	return nil
}

// add and remove keep a set of rows for each name.
func add(sets map[string]map[string]*memoryRow, name string, r *memoryRow) {
	if sets[name] == nil {
		sets[name] = map[string]*memoryRow{}
	}
	sets[name][r.ID] = r
}

func remove(sets map[string]map[string]*memoryRow, name string, r *memoryRow) {
	if delete(sets[name], r.ID); len(sets[name]) == 0 {
		delete(sets, name)
	}
}

// A timeline is a heap of rows by time.
type timeline []moment

type moment struct {
	at  time.Time
	row *memoryRow
}

func (t timeline) Len() int { return len(t) }
func (t timeline) Less(i, j int) bool {
	return cmp.Or(t[i].at.Compare(t[j].at), cmp.Compare(t[i].row.ID, t[j].row.ID)) < 0
}
func (t timeline) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timeline) Push(x any)   { *t = append(*t, x.(moment)) }
func (t *timeline) Pop() any {
	old := *t
	last := old[len(old)-1]
	old[len(old)-1] = moment{}
	*t = old[:len(old)-1]
	return last
}
