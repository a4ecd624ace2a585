package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/pgtest"
	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/postgres"
)

// proxied opens a database by way of a proxy.
func proxied(t *testing.T) (p *pgtest.Proxy, direct string) {
	t.Helper()
	direct = pgtest.URL(t)
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = pgtest.NewProxy(u.Host); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, direct
}

// The database is cut off while rows are created, answered, claimed and finished: calls fail in time and say why, what was
// acknowledged is there, each row is finished once, and all goes on when the database is back.
func TestCut(t *testing.T) {
	for name, cut := range map[string]func(*pgtest.Proxy){"refused": (*pgtest.Proxy).Refuse, "black hole": (*pgtest.Proxy).Hold} {
		for _, length := range []time.Duration{5 * time.Second, 30 * time.Second} {
			t.Run(fmt.Sprint(name, " for ", length), func(t *testing.T) {
				if length > 5*time.Second && os.Getenv("ELICIT_SOAK") != "1" {
					t.Skip("left to `make soak`")
				}
				t.Parallel()
				p, direct := proxied(t)
				s := openStore(t, p.URL(direct))
				defer s.Close()
				l := &load{t: t, s: s, stop: make(chan struct{}), finished: map[string]int{}}
				l.start()
				l.progress(50)
				cut(p)
				began := time.Now()
				l.failure()
				time.Sleep(length - time.Since(began)) // that is what is tested
				failed := l.failed.Load()
				healed := time.Now()
				if err := p.Heal(); err != nil {
					t.Fatal(err)
				}
				l.progress(50)
				t.Logf("%d calls failed while the database was cut off; the next 50 rows were finished %v after it was back", failed, time.Since(healed).Round(time.Millisecond))
				l.end(direct)
			})
		}
	}
}

// A load has rows go from their creation to their end, as an engine does.
type load struct {
	t      *testing.T
	s      *postgres.Store
	stop   chan struct{}
	wg     sync.WaitGroup
	failed atomic.Int64
	done   atomic.Int64 // rows finished

	mu       sync.Mutex
	created  []string       // acknowledged
	answered []string       // acknowledged
	finished map[string]int // acknowledged, how often
}

// try repeats what the store says may be repeated. It returns false when the load is to stop.
func (l *load) try(what string, do func() error) bool {
	for {
		start := time.Now()
		err := do()
		if took := time.Since(start); took > 20*time.Second { // four deadlines
			l.t.Errorf("%s took %v", what, took)
		}
		if err == nil {
			return true
		}
		if !errors.Is(err, tasks.ErrUnavailable) {
			l.t.Errorf("%s: %v", what, err)
			return false
		}
		l.failed.Add(1)
		select {
		case <-l.stop:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (l *load) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

func (l *load) start() {
	ctx := context.Background()
	if err := l.s.Join(ctx, "worker", time.Hour); err != nil {
		l.t.Fatal(err)
	}
	for n := range 4 { // creators, who also bring the answer
		l.wg.Go(func() {
			for i := 0; !l.stopped(); i++ {
				id := fmt.Sprint(n, "-", i)
				var row tasks.Row
				if !l.try("Create", func() (err error) {
					row, err = l.s.Create(ctx, tasks.Row{ID: id, Owner: "o", Status: tasks.InputRequired}, tasks.Next{}, tasks.Limits{})
					return err
				}) {
					return
				}
				l.mu.Lock()
				l.created = append(l.created, id)
				l.mu.Unlock()
				if !l.try("Put of an answer", func() (err error) {
					row.Status, row.Record = tasks.Working, []byte("answer")
					if _, err = l.s.Put(ctx, nil, row, tasks.Next{Due: true}); !errors.Is(err, tasks.ErrConflict) {
						return err
					}
					// The Put before this one did happen, though its reply was lost; or else a conflict would be a bug.
					if row, err = l.s.Get(ctx, id); err == nil && string(row.Record) != "answer" {
						err = fmt.Errorf("%s: a conflict, and the answer is not there", id)
					}
					return err
				}) {
					return
				}
				l.mu.Lock()
				l.answered = append(l.answered, id)
				l.mu.Unlock()
			}
		})
	}
	for range 2 {
		l.wg.Go(func() {
			for !l.stopped() {
				var rows []tasks.Row
				if !l.try("Claim", func() (err error) { rows, err = l.s.Claim(ctx, "worker", 5); return err }) {
					return
				}
				for _, row := range rows {
					fence := row.Fence()
					if !l.try("PutStep", func() error { return l.s.PutStep(ctx, fence, tasks.Step{Name: "s", Result: []byte(row.ID)}) }) {
						return
					}
					row.Status = tasks.Completed
					lost := false
					if !l.try("Put of a result", func() error {
						_, err := l.s.Put(ctx, &fence, row, tasks.Next{Rest: true})
						if lost && errors.Is(err, tasks.ErrFenced) {
							return nil // the one before did happen
						}
						lost = lost || errors.Is(err, tasks.ErrUnavailable)
						return err
					}) {
						return
					}
					l.mu.Lock()
					l.finished[row.ID]++
					l.mu.Unlock()
					l.done.Add(1)
				}
				if len(rows) == 0 {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
}

// progress waits until n more rows are finished.
func (l *load) progress(n int64) {
	l.t.Helper()
	want := l.done.Load() + n
	for start := time.Now(); l.done.Load() < want; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > time.Minute || l.t.Failed() {
			l.t.Fatalf("%d of %d rows finished after a minute", l.done.Load()-want+n, n)
		}
	}
}

// failure waits until a call has failed.
func (l *load) failure() {
	for l.failed.Load() == 0 && !l.t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
}

// end looks at what is there in the end.
func (l *load) end(direct string) {
	close(l.stop)
	l.wg.Wait()
	s := openStore(l.t, direct)
	defer s.Close()
	ctx := context.Background()
	// Claims whose reply was lost, and runs that were interrupted.
	running, err := s.Running(ctx, "worker")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, r := range running {
		if l.finished[r.ID] > 0 {
			l.t.Errorf("%s is finished and has a run", r.ID)
		}
		if err := s.Release(ctx, r.Fence); err != nil {
			l.t.Fatal(err)
		}
	}
	for _, id := range l.created {
		if _, err := s.Get(ctx, id); err != nil {
			l.t.Errorf("%s was created: %v", id, err)
		}
	}
	for _, id := range l.answered {
		row, err := s.Get(ctx, id)
		if err != nil || string(row.Record) != "answer" {
			l.t.Errorf("%s was answered; now %+v, %v", id, row, err)
		}
		steps, err := s.Steps(ctx, id)
		if err != nil {
			l.t.Fatal(err)
		}
		switch n := l.finished[id]; {
		case n > 1:
			l.t.Errorf("%s was finished %d times", id, n)
		case n == 1 && (row.Status != tasks.Completed || len(steps) != 1):
			l.t.Errorf("%s was finished; now %+v, with %d steps", id, row, len(steps))
		case n == 0 && row.Status != tasks.Completed && row.Due.IsZero():
			l.t.Errorf("%s is not finished, and will not be: %+v", id, row)
		}
	}
}

// A claim whose reply was lost: the row is the worker's, who does not know of it. Running shows it.
func TestLostClaim(t *testing.T) {
	t.Parallel()
	p, direct := proxied(t)
	s := openStore(t, p.URL(direct)+"&pool_max_conns=1")
	defer s.Close()
	ctx := t.Context()
	if rows, err := s.Claim(ctx, "w", 1); err != nil || len(rows) != 0 { // prepares the statement, which takes replies
		t.Fatal(rows, err)
	}
	if _, err := s.Create(ctx, tasks.Row{ID: "a", Status: tasks.Working}, tasks.Next{Due: true}, tasks.Limits{}); err != nil {
		t.Fatal(err)
	}
	p.HoldReplies()
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if rows, err := s.Claim(short, "w", 1); err == nil {
		t.Fatalf("Claim without a reply returned %v", rows)
	}
	if err := p.Heal(); err != nil {
		t.Fatal(err)
	}
	running, err := s.Running(ctx, "w")
	if err != nil || len(running) != 1 || running[0].ID != "a" {
		t.Fatalf("Running lists %v, %v; want the row whose claim had no reply", running, err)
	}
	if err := s.Release(ctx, running[0].Fence); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Claim(ctx, "w", 1)
	if err != nil || len(rows) != 1 || rows[0].Run != 2 || rows[0].Attempts != 0 {
		t.Errorf("Claim after Release: %+v, %v", rows, err)
	}
}

// A creation whose reply was lost is repeated by itself, and makes one row.
func TestLostCreation(t *testing.T) {
	t.Parallel()
	p, direct := proxied(t)
	s, other := openStore(t, p.URL(direct)+"&pool_max_conns=1"), openStore(t, direct)
	defer s.Close()
	defer other.Close()
	ctx := t.Context()
	row := tasks.Row{ID: "prepares the statement, which takes replies", Owner: "other", Status: tasks.Working}
	if _, err := s.Create(ctx, row, tasks.Next{}, tasks.Limits{}); err != nil {
		t.Fatal(err)
	}
	p.HoldReplies()
	row.ID, row.Owner = "a", "o"
	created := make(chan error, 1)
	go func() {
		_, err := s.Create(ctx, row, tasks.Next{Worker: "w"}, tasks.Limits{Owner: 1})
		created <- err
	}()
	for {
		if _, err := other.Get(ctx, "a"); err == nil {
			break
		} else if !errors.Is(err, tasks.ErrNotFound) {
			t.Fatal(err)
		}
		if len(created) > 0 {
			t.Fatalf("Create: %v, and no row", <-created)
		}
		time.Sleep(time.Millisecond)
	}
	p.Refuse()
	if err := p.Heal(); err != nil {
		t.Fatal(err)
	}
	if err := <-created; err != nil {
		t.Errorf("Create: %v", err)
	}
	got, err := other.Get(ctx, "a")
	if err != nil || got.Version != 1 || got.Worker != "w" {
		t.Errorf("the row is %+v, %v", got, err)
	}
}

// Connections that the server has ended are replaced, and hints are heard again.
func TestConnectionsEnded(t *testing.T) {
	t.Parallel()
	p, direct := proxied(t)
	s, other := openStore(t, p.URL(direct)), openStore(t, direct)
	defer s.Close()
	defer other.Close()
	ctx := t.Context()
	hear := func(id string) {
		t.Helper()
		row, err := other.Create(ctx, tasks.Row{ID: id, Status: tasks.Working}, tasks.Next{}, tasks.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			select {
			case h := <-s.Hints():
				if h.ID == id {
					return
				}
			case <-time.After(100 * time.Millisecond):
				if row, err = other.Put(ctx, nil, row, tasks.Next{}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	hear("a")
	for n := range 3 {
		p.Refuse()
		if err := p.Heal(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(ctx, "a"); err != nil { // what may be repeated is, by itself
			t.Errorf("Get: %v", err)
		}
		hear(fmt.Sprint("b", n))
	}
}

// Instances that start at once on an empty database make its tables once.
func TestStartAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var wg sync.WaitGroup
	var migrated atomic.Int64
	for n := range 8 {
		wg.Go(func() {
			if n%4 == 3 {
				from, to, err := postgres.Migrate(context.Background(), url)
				if err != nil || to != 2 || from > to {
					t.Errorf("Migrate: from %d to %d, %v", from, to, err)
				}
				return
			}
			s, err := postgres.Open(context.Background(), url)
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			defer s.Close()
			if _, err := s.Create(context.Background(), tasks.Row{ID: fmt.Sprint(n), Status: tasks.Working}, tasks.Next{}, tasks.Limits{}); err != nil {
				t.Errorf("Create: %v", err)
			}
			migrated.Add(1)
		})
	}
	wg.Wait()
	s := openStore(t, url)
	defer s.Close()
	if stats, err := s.Stats(t.Context()); err != nil || stats.Rows != 6 || migrated.Load() != 6 {
		t.Errorf("%+v, %v", stats, err)
	}
}
