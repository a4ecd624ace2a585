package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/tasks"
)

// long is a lease that does not run out while a test runs.
const long = time.Hour

// What holds for workers, which are alive or not.
var workerTests = map[string]func(*testing.T, *place){
	"lease": func(t *testing.T, p *place) {
		s := p.open()
		wantErr(t, "Renew of a worker that never joined", s.Renew(ctx(t), "w", long), tasks.ErrLeaseLost)
		s.ok("Join", s.Join(ctx(t), "w", long))
		s.ok("Renew", s.Renew(ctx(t), "w", long))
		s.ok("Renew, shorter", s.Renew(ctx(t), "w", time.Millisecond))
		for {
			// A renewal that comes in time would keep the worker alive, so there is none before the lease has run out.
			if stats := check2(t)(s.Stats(ctx(t))); stats.Workers == 0 {
				break
			}
			pause(t)
		}
		wantErr(t, "Renew after the lease has run out", s.Renew(ctx(t), "w", long), tasks.ErrLeaseLost)
		s.ok("Join of another worker", s.Join(ctx(t), "w2", long))
		s.ok("Leave", s.Leave(ctx(t), "w2"))
		wantErr(t, "Renew after Leave", s.Renew(ctx(t), "w2", long), tasks.ErrLeaseLost)
		s.ok("Leave, again", s.Leave(ctx(t), "w2"))
	},
	"Sweep": func(t *testing.T, p *place) {
		s := p.open()
		s.ok("Join", s.Join(ctx(t), "alive", long))
		s.ok("Join", s.Join(ctx(t), "dead", time.Millisecond))
		alive := s.create(newRow("alive"), tasks.Next{Worker: "alive"})
		rests := s.create(newRow("rests"), tasks.Next{})
		row := newRow("dead")
		row.Attempts = 4
		dead := s.create(row, tasks.Next{Worker: "dead"})
		stranger := s.create(newRow("stranger"), tasks.Next{Worker: "never joined"})
		n := 0
		for n < 2 {
			found, err := s.Sweep(ctx(t))
			s.ok("Sweep", err)
			n += found
			pause(t)
		}
		for _, row := range []tasks.Row{dead, stranger} {
			want := row
			want.Version, want.Attempts, want.Worker, want.Due = row.Version+1, row.Attempts+1, "", time.Now()
			same(t, "a row whose worker is dead", s.get(row.ID), want)
		}
		same(t, "a row whose worker is alive", s.get("alive"), alive)
		same(t, "a row that rests", s.get("rests"), rests)
		if found, err := s.Sweep(ctx(t)); found != 0 || err != nil {
			t.Errorf("Sweep once more found %d rows, %v", found, err)
		}
		if rows := s.claim("alive", 10); len(rows) != 2 {
			t.Errorf("%d rows were claimed after Sweep, want 2", len(rows))
		}
		wantErr(t, "Renew of a worker that was swept", s.Renew(ctx(t), "dead", long), tasks.ErrLeaseLost)
	},
	// Instances sweep at once; each row is found once.
	"Sweep/at once": func(t *testing.T, p *place) {
		stores := p.instances(3)
		const rows = 60
		for n := range rows {
			stores[0].create(newRow(fmt.Sprint(n)), tasks.Next{Worker: fmt.Sprint("dead", n%7)})
		}
		var mu sync.Mutex
		total := 0
		var wg sync.WaitGroup
		for n := range 6 {
			s := stores[n%len(stores)]
			wg.Go(func() {
				found, err := s.Sweep(ctx(t))
				if err != nil {
					t.Errorf("Sweep: %v", err)
				}
				mu.Lock()
				total += found
				mu.Unlock()
			})
		}
		wg.Wait()
		for total < rows { // one that another instance was at is left to it
			found, err := stores[0].Sweep(ctx(t))
			stores[0].ok("Sweep", err)
			total += found
			pause(t)
		}
		if total != rows {
			t.Errorf("%d rows were found, of %d", total, rows)
		}
		for n := range rows {
			if row := stores[0].get(fmt.Sprint(n)); row.Attempts != 1 || row.Worker != "" {
				t.Errorf("after Sweep: %+v", row)
			}
		}
	},
	"Leave": func(t *testing.T, p *place) {
		s := p.open()
		s.ok("Join", s.Join(ctx(t), "w", long))
		other := s.create(newRow("other"), tasks.Next{Worker: "other"})
		row := newRow("a")
		row.Attempts = 2
		row = s.create(row, tasks.Next{Worker: "w"})
		s.ok("Leave", s.Leave(ctx(t), "w"))
		want := row
		want.Version, want.Worker, want.Due = 2, "", time.Now()
		same(t, "a row whose worker left", s.get("a"), want)
		same(t, "a row of another worker", s.get("other"), other)
		s.claimOne("other")
	},
	// A claim whose reply was lost is found by what Running lists and no goroutine knows.
	"Running": func(t *testing.T, p *place) {
		s := p.open()
		s.create(newRow("known"), tasks.Next{Worker: "w"})
		s.create(newRow("lost"), tasks.Next{Due: true})
		s.create(newRow("other"), tasks.Next{Worker: "other"})
		lost := s.claimOne("w") // the reply goes nowhere
		if fences := s.fences("w"); len(fences) != 2 {
			t.Fatalf("Running lists %v, want two rows", fences)
		}
		for { // For grows
			running, err := s.Running(ctx(t), "w")
			s.ok("Running", err)
			if running[0].For > 5*time.Millisecond && running[1].For > 5*time.Millisecond {
				break
			}
			pause(t)
		}
		s.ok("Release", s.Release(ctx(t), lost.Fence(), tasks.Fence{ID: "none", Run: 1, Worker: "w"}))
		want := lost
		want.Version, want.Worker, want.Due = lost.Version+1, "", time.Now()
		same(t, "a row that was released", s.get("lost"), want)
		if again := s.claimOne("w"); again.Run != lost.Run+1 {
			t.Errorf("run %d follows run %d", again.Run, lost.Run)
		}
		s.ok("Release of a run that is over", s.Release(ctx(t), lost.Fence()))
		if fences := s.fences("w"); len(fences) != 2 {
			t.Errorf("Running lists %v, want two rows", fences)
		}
		s.ok("Release of nothing", s.Release(ctx(t)))
		if fences := s.fences("nobody"); len(fences) != 0 {
			t.Errorf("Running of nobody: %v", fences)
		}
	},
	"Stats": func(t *testing.T, p *place) {
		s := p.open()
		if stats := check2(t)(s.Stats(ctx(t))); stats != (tasks.Stats{}) {
			t.Errorf("Stats of an empty store: %+v", stats)
		}
		s.ok("Join", s.Join(ctx(t), "w", long))
		s.ok("Join", s.Join(ctx(t), "w2", long))
		for id, next := range map[string]tasks.Next{"rests": {}, "due": {Due: true}, "later": {Due: true, After: long}, "runs": {Worker: "w"}, "runs2": {Worker: "w"}} {
			s.create(newRow(id), next)
		}
		pause(t)
		stats := check2(t)(s.Stats(ctx(t)))
		if stats.OldestDue <= 0 || stats.OldestDue > time.Minute {
			t.Errorf("the row that is due has waited for %v", stats.OldestDue)
		}
		stats.OldestDue = 0
		if want := (tasks.Stats{Rows: 5, Due: 1, Running: 2, Workers: 2}); stats != want {
			t.Errorf("Stats are %+v, want %+v", stats, want)
		}
	},
}

func check2(t *testing.T) func(tasks.Stats, error) tasks.Stats {
	t.Helper()
	return func(stats tasks.Stats, err error) tasks.Stats {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return stats
	}
}
