package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/tasks"
)

// What holds for runs: who has a row, and what one who has it no longer can do.
var runTests = map[string]func(*testing.T, *place){
	// From each place a row goes to each place.
	"places": func(t *testing.T, p *place) {
		s := p.open()
		nexts := map[string]tasks.Next{"stay": {}, "rest": {Rest: true}, "due": {Due: true}, "later": {Due: true, After: time.Hour}, "run": {Worker: "new"}}
		starts := map[string]tasks.Next{"rest": {}, "due": {Due: true}, "later": {Due: true, After: time.Hour}, "run": {Worker: "old"}}
		for from, start := range starts {
			for to, next := range nexts {
				what := "from " + from + " to " + to
				row := s.create(newRow(what), start)
				if want := start.Worker; row.Worker != want || (row.Run == 1) != (want != "") || row.Due.IsZero() == start.Due {
					t.Fatalf("%s: created as %+v", what, row)
				}
				want := row
				want.Version++
				switch {
				case next.Rest:
					want.Worker, want.Due = "", time.Time{}
				case next.Due:
					want.Worker, want.Due = "", time.Now()
				case next.Worker != "":
					want.Worker, want.Due, want.Run = "new", time.Time{}, row.Run+1
				}
				got := s.put(nil, row, next)
				same(t, what, got, want)
				same(t, what+", read again", s.get(what), want)
				if next.Due {
					if in := got.Due.Sub(got.Updated); (in - next.After).Abs() > time.Millisecond {
						t.Errorf("%s: due in %v, want %v", what, in, next.After)
					}
				}
				for _, worker := range []string{"old", "new"} {
					if has := slices.ContainsFunc(s.fences(worker), func(f tasks.Fence) bool { return f == got.Fence() }); has != (got.Worker == worker) {
						t.Errorf("%s: Running of %q lists it: %v", what, worker, has)
					}
				}
				isDue := got.Worker == "" && !got.Due.IsZero() && to != "later" && !(to == "stay" && from == "later")
				claimed := slices.ContainsFunc(s.claim("claimer", 100), func(r tasks.Row) bool { return r.ID == what })
				if claimed != isDue {
					t.Errorf("%s: Claim returned it: %v, want %v", what, claimed, isDue)
				}
			}
		}
	},
	"Claim": func(t *testing.T, p *place) {
		s := p.open()
		var created []tasks.Row
		for n := range 5 {
			created = append(created, s.create(newRow(fmt.Sprint(n)), tasks.Next{Due: true}))
			for now := created[n].Created; n < 4; pause(t) { // the next one is due later
				if s.create(newRow("clock"+fmt.Sprint(n, time.Now().UnixNano())), tasks.Next{}).Created.After(now) {
					break
				}
			}
		}
		s.create(newRow("later"), tasks.Next{Due: true, After: time.Hour})
		if rows := s.claim("w", 0); len(rows) != 0 {
			t.Errorf("Claim of 0 rows returned %d", len(rows))
		}
		var rows []tasks.Row
		for _, n := range []int{2, 10, 10} {
			rows = append(rows, s.claim("w", n)...)
			if n == 2 && len(rows) != 2 {
				t.Errorf("Claim of 2 rows returned %d", len(rows))
			}
		}
		if len(rows) != len(created) {
			t.Fatalf("%d rows were claimed, of %d that were due", len(rows), len(created))
		}
		for n, row := range rows {
			want := created[n]
			want.Version, want.Run, want.Worker, want.Due = 2, 1, "w", time.Time{}
			same(t, "rows are claimed as they became due", row, want)
			same(t, "a row that was claimed, read again", s.get(row.ID), want)
		}
	},
	// However many workers claim at once, each row has one run.
	"Claim/at once": func(t *testing.T, p *place) {
		stores := p.instances(3)
		const rows, workers = 120, 6
		for n := range rows {
			stores[0].create(newRow(fmt.Sprint(n)), tasks.Next{Due: true})
		}
		var mu sync.Mutex
		runs := map[string][]string{}
		var wg sync.WaitGroup
		for n := range workers {
			s, worker := stores[n%len(stores)], fmt.Sprint("worker", n)
			wg.Go(func() {
				for {
					claimed, err := s.Claim(ctx(t), worker, 7)
					if err != nil {
						t.Errorf("Claim: %v", err)
						return
					}
					mu.Lock()
					for _, row := range claimed {
						runs[row.ID] = append(runs[row.ID], worker)
						if row.Worker != worker || row.Run != 1 {
							t.Errorf("%s claimed %+v", worker, row)
						}
					}
					done := len(runs) == rows
					mu.Unlock()
					if done {
						return
					}
					if len(claimed) == 0 {
						pause(t) // others are at it
					}
				}
			})
		}
		wg.Wait()
		for id, by := range runs {
			if len(by) != 1 {
				t.Errorf("row %s was claimed by %v", id, by)
			}
		}
	},
	"due later": func(t *testing.T, p *place) {
		s := p.open()
		row := s.create(newRow("a"), tasks.Next{Due: true, After: 300 * time.Millisecond})
		if rows := s.claim("w", 1); len(rows) != 0 && rows[0].Updated.Before(row.Due) {
			t.Errorf("claimed at %v, before it was due at %v", rows[0].Updated, row.Due)
		}
		for s.get("a").Worker == "" {
			for _, claimed := range s.claim("w", 1) {
				if claimed.Updated.Before(row.Due) {
					t.Errorf("claimed at %v, before it was due at %v", claimed.Updated, row.Due)
				}
			}
			pause(t)
		}
	},
	// A run that has lost its row changes nothing, however it lost it.
	"fence": func(t *testing.T, p *place) {
		s := p.open()
		for name, lose := range map[string]func(row tasks.Row){
			"finished":      func(row tasks.Row) { row.Status = tasks.Cancelled; s.put(nil, row, tasks.Next{Rest: true}) },
			"due":           func(row tasks.Row) { s.put(nil, row, tasks.Next{Due: true, After: time.Hour}) },
			"taken":         func(row tasks.Row) { s.put(nil, row, tasks.Next{Worker: "other"}) },
			"taken by same": func(row tasks.Row) { s.put(nil, row, tasks.Next{Worker: row.Worker}) },
			"released":      func(row tasks.Row) { s.ok("Release", s.Release(ctx(t), row.Fence())) },
			"claimed":       func(row tasks.Row) { s.ok("Release", s.Release(ctx(t), row.Fence())); s.claim("other", 100) },
			"left":          func(row tasks.Row) { s.ok("Leave", s.Leave(ctx(t), row.Worker)) },
			"finished by us": func(row tasks.Row) {
				f := row.Fence()
				row.Status = tasks.Completed
				s.put(&f, row, tasks.Next{Rest: true})
			},
		} {
			row := s.create(newRow(name), tasks.Next{Worker: "worker of " + name})
			fence := row.Fence()
			s.ok("PutStep", s.PutStep(ctx(t), fence, tasks.Step{Name: "kept", Result: []byte("r")}))
			lose(row)
			now := s.get(name)
			for _, version := range []int64{row.Version, now.Version} {
				late := tasks.Row{ID: name, Version: version, Status: tasks.Completed, Record: []byte("late")}
				_, err := s.Put(ctx(t), &fence, late, tasks.Next{Rest: true})
				wantErr(t, name+": Put of a run that lost its row", err, tasks.ErrFenced)
			}
			wantErr(t, name+": PutStep of a run that lost its row", s.PutStep(ctx(t), fence, tasks.Step{Name: "late"}), tasks.ErrFenced)
			s.ok("Release of a run that lost its row", s.Release(ctx(t), fence))
			same(t, name+": the row after all that", s.get(name), now)
			if steps := s.steps(name); len(steps) != 1 || steps[0].Name != "kept" {
				t.Errorf("%s: steps are %v, want the one that was stored in time", name, steps)
			}
		}
		row := s.create(newRow("stale"), tasks.Next{Worker: "w"})
		fence := row.Fence()
		s.put(nil, row, tasks.Next{}) // an answer comes
		_, err := s.Put(ctx(t), &fence, row, tasks.Next{Rest: true})
		wantErr(t, "Put of a run that has its row, but not an answer that came", err, tasks.ErrConflict)
	},
	"steps": func(t *testing.T, p *place) {
		s := p.open()
		row := s.create(newRow("a"), tasks.Next{Worker: "w"})
		fence := row.Fence()
		if steps := s.steps("a"); len(steps) != 0 {
			t.Errorf("steps of a new row: %v", steps)
		}
		want := []tasks.Step{{Name: "z", Result: []byte("1")}, {Name: "a", Result: []byte{0, 255}}, {Name: "Z"}, {Name: "é ' %", Result: []byte("4")}}
		for _, step := range want {
			s.ok("PutStep", s.PutStep(ctx(t), fence, step))
		}
		s.ok("PutStep, sent twice", s.PutStep(ctx(t), fence, tasks.Step{Name: "z", Result: []byte("other")}))
		s.ok("Release", s.Release(ctx(t), fence))
		again := s.claimOne("w2")
		s.ok("PutStep of a later run", s.PutStep(ctx(t), again.Fence(), tasks.Step{Name: "a", Result: []byte("other")}))
		got := s.steps("a")
		if !slices.EqualFunc(got, want, func(a, b tasks.Step) bool { return a.Name == b.Name && string(a.Result) == string(b.Result) }) {
			t.Errorf("steps are %v, want %v, as they were stored first", got, want)
		}
		if after := s.get("a"); after.Version != again.Version {
			t.Errorf("Version went from %d to %d with a step", again.Version, after.Version)
		}
		other := s.create(newRow("b"), tasks.Next{Worker: "w"})
		s.ok("PutStep of another row", s.PutStep(ctx(t), other.Fence(), tasks.Step{Name: "z", Result: []byte("b's")}))
		if got := s.steps("b"); len(got) != 1 || string(got[0].Result) != "b's" {
			t.Errorf("steps of another row: %v", got)
		}
		if got := s.steps("none"); len(got) != 0 {
			t.Errorf("steps of no row: %v", got)
		}
	},
	// No step is lost that was stored: whoever claims after PutStep returned sees it.
	"steps/at once": func(t *testing.T, p *place) {
		stores := p.instances(2)
		s, other := stores[0], stores[len(stores)-1]
		for n := range 20 {
			id := fmt.Sprint(n)
			fence := s.create(newRow(id), tasks.Next{Worker: "w"}).Fence()
			var stored int
			var wg sync.WaitGroup
			wg.Go(func() {
				for s.PutStep(ctx(t), fence, tasks.Step{Name: fmt.Sprint(stored)}) == nil {
					stored++
				}
			})
			if n%2 == 0 {
				s.ok("PutStep", s.PutStep(ctx(t), fence, tasks.Step{Name: "other"}))
			}
			other.ok("Release", other.Release(ctx(t), fence))
			other.claimOne("w2")
			seen := len(other.steps(id))
			wg.Wait()
			if after := len(other.steps(id)); after != seen || seen != stored+(n+1)%2 {
				t.Errorf("a run saw %d steps when it began; %d were acknowledged to the one before, and %d are there at the end", seen, stored+(n+1)%2, after)
			}
		}
	},
}
