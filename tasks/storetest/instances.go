package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/tasks"
)

// What holds between stores: what one says to another, what one leaves, and what all do alike.
var instanceTests = map[string]func(*testing.T, *place){
	"hints": func(t *testing.T, p *place) {
		stores := p.instances(2)
		writer := stores[0]
		writer.ok("Join", writer.Join(ctx(t), "alive", long))
		for n, s := range stores {
			other := n > 0
			expect := func(what string, match func(tasks.Hint) bool) {
				t.Helper()
				for {
					select {
					case h, open := <-s.Hints():
						if !open {
							t.Fatal("Hints is closed")
						}
						if match(h) || h == (tasks.Hint{}) {
							return
						}
					case <-ctx(t).Done():
						t.Fatalf("no hint of %s; in another instance: %v", what, other)
					}
				}
			}
			isDue := func(h tasks.Hint) bool { return h.Due }
			id := fmt.Sprint("row", n)
			is := func(h tasks.Hint) bool { return h.ID == id }
			row := writer.create(newRow(id), tasks.Next{Due: true})
			expect("a row that is due", isDue)
			row = writer.put(nil, row, tasks.Next{})
			expect("a row that was written", is)
			row = writer.put(nil, row, tasks.Next{Worker: "dead"})
			expect("a row that was written", is)
			writer.ok("Release", writer.Release(ctx(t), row.Fence()))
			expect("a row that was released", isDue)
			writer.claim("leaves", 1)
			writer.ok("Leave", writer.Leave(ctx(t), "leaves"))
			expect("a row whose worker left", isDue)
			writer.claim("dead", 1)
			if n, err := writer.Sweep(ctx(t)); n != 1 || err != nil {
				t.Errorf("Sweep found %d rows, %v", n, err)
			}
			expect("a row that was swept", isDue)
			writer.claim("alive", 1)
		}
	},
	// A reader of hints that does not come never holds up a write, and learns that it missed some.
	"hints/lost": func(t *testing.T, p *place) {
		s := p.open()
		const rows, writes = 50, 40
		var wg sync.WaitGroup
		for n := range rows {
			wg.Go(func() {
				row, err := s.Create(ctx(t), newRow(fmt.Sprint(n)), tasks.Next{}, tasks.Limits{})
				for i := 0; i < writes && err == nil; i++ {
					row, err = s.Put(ctx(t), nil, row, tasks.Next{})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s.ok("Close", s.Close())
		hints := map[tasks.Hint]int{}
		for h := range s.Hints() {
			hints[h]++
		}
		if len(hints) != rows && hints[tasks.Hint{}] == 0 {
			t.Errorf("hints of %d rows, of %d that were written, and none of the loss", len(hints), rows)
		}
	},
	"Close": func(t *testing.T, p *place) {
		s := p.open()
		row := s.create(newRow("a"), tasks.Next{Worker: "w"})
		s.ok("Close", s.Close())
		s.ok("Close, again", s.Close())
		_, create := s.Create(ctx(t), newRow("b"), tasks.Next{}, tasks.Limits{})
		_, get := s.Get(ctx(t), "a")
		_, put := s.Put(ctx(t), nil, row, tasks.Next{})
		_, steps := s.Steps(ctx(t), "a")
		_, claim := s.Claim(ctx(t), "w", 1)
		_, running := s.Running(ctx(t), "w")
		_, sweep := s.Sweep(ctx(t))
		_, purge := s.Purge(ctx(t), 1)
		_, stats := s.Stats(ctx(t))
		for what, err := range map[string]error{
			"Create": create, "Get": get, "Put": put, "Steps": steps, "Claim": claim, "Running": running, "Sweep": sweep, "Purge": purge,
			"Stats": stats, "PutStep": s.PutStep(ctx(t), row.Fence(), tasks.Step{Name: "s"}), "Release": s.Release(ctx(t), row.Fence()),
			"Join": s.Join(ctx(t), "w", long), "Renew": s.Renew(ctx(t), "w", long), "Leave": s.Leave(ctx(t), "w"),
		} {
			wantErr(t, what+" after Close", err, tasks.ErrClosed)
		}
		for range s.Hints() {
		} // ends: it is closed
	},
	// What was there when a store was closed is there in the next one.
	"durable": func(t *testing.T, p *place) {
		if !p.Durable {
			t.Skip("Config.Durable is not set")
		}
		s := p.open()
		rests := s.create(newRow("rests"), tasks.Next{})
		due := s.create(newRow("due"), tasks.Next{Due: true})
		runs := s.create(newRow("runs"), tasks.Next{Worker: "w"})
		s.ok("PutStep", s.PutStep(ctx(t), runs.Fence(), tasks.Step{Name: "s", Result: []byte("result")}))
		s.ok("Close", s.Close())
		s = p.open()
		for _, row := range []tasks.Row{rests, due, runs} {
			got := s.get(row.ID)
			if row.ID == "runs" && got.Worker == "" { // a store of one process may know that the worker is dead
				row.Worker, row.Due, row.Version, row.Attempts = "", got.Due, row.Version+1, row.Attempts+1
			}
			same(t, "a row in the next store", got, row)
			if !got.Created.Equal(row.Created) {
				t.Errorf("%s was created at %v, in the next store at %v", row.ID, row.Created, got.Created)
			}
		}
		if _, err := s.Sweep(ctx(t)); err != nil {
			t.Errorf("Sweep: %v", err)
		}
		claimed := s.claim("new", 10)
		if len(claimed) != 2 || !slices.ContainsFunc(claimed, func(r tasks.Row) bool { return r.ID == "runs" && r.Run == 2 }) {
			t.Errorf("the next store claimed %v, want the row that was due and the one whose worker is dead", claimed)
		}
		if steps := s.steps("runs"); len(steps) != 1 || string(steps[0].Result) != "result" {
			t.Errorf("steps in the next store: %v", steps)
		}
		wantErr(t, "PutStep of a run of before", s.PutStep(ctx(t), runs.Fence(), tasks.Step{Name: "late"}), tasks.ErrFenced)
	},
	// Random calls do to the store what they do to the memory store.
	"as the memory store": func(t *testing.T, p *place) {
		times := p.Times
		if times == 0 {
			times = 20
		}
		s, model := p.open(), &store{Store: tasks.NewMemoryStore(), t: t}
		for seed := range times {
			prefix := fmt.Sprint(seed, "/") // rows of earlier sequences rest
			compareRandom(t, rand.New(rand.NewPCG(uint64(seed), 1)), prefix, s, model)
			if t.Failed() {
				t.Fatalf("sequence %d", seed)
			}
		}
	},
}

// compareRandom makes random calls on two stores.
func compareRandom(t *testing.T, r *rand.Rand, prefix string, stores ...*store) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var log []string
	rows := map[string]tasks.Row{}       // as some call returned them, so also stale ones
	fences := map[string][]tasks.Fence{} // of all runs so far
	for range 120 {
		id := prefix + pick("a", "b", "c", "d")
		worker := pick("w1", "w2")
		status := tasks.TaskStatus(pick(string(tasks.Working), string(tasks.InputRequired), string(tasks.Completed)))
		next := []tasks.Next{{}, {Rest: true}, {Due: true}, {Due: true, After: time.Hour}, {Worker: worker}}[r.IntN(5)]
		record := []byte(fmt.Sprint(r.Uint32()))
		attempts, owner := r.IntN(3), prefix+pick("o1", "o2")
		limits := tasks.Limits{Owner: 2, OwnerTotal: 3}
		version := rows[id].Version - int64(r.IntN(8)/7)
		var fence *tasks.Fence
		if f := fences[id]; len(f) > 0 && r.IntN(3) > 0 {
			fence = &f[len(f)-1-r.IntN(min(2, len(f)))]
		}
		op := pick("create", "get", "get", "put", "put", "put", "step", "claim", "claim", "release", "join", "leave", "sweep", "running")
		log = append(log, fmt.Sprintf("%s %s worker %s, version %d, fence %+v, next %+v", op, id, worker, version, fence, next))
		var results [2][]tasks.Row
		var said [2]string
		for n, s := range stores {
			var out []tasks.Row
			var err error
			say := ""
			var row tasks.Row
			switch op {
			case "create":
				row, err = s.Create(ctx(t), tasks.Row{ID: id, Owner: owner, Status: status, Record: record, Attempts: attempts}, next, limits)
				out = append(out, row)
			case "get":
				row, err = s.Get(ctx(t), id)
				out = append(out, row)
			case "put":
				row, err = s.Put(ctx(t), fence, tasks.Row{ID: id, Version: version, Status: status, Record: record, Attempts: attempts}, next)
				out = append(out, row)
			case "step":
				if fence != nil {
					err = s.PutStep(ctx(t), *fence, tasks.Step{Name: string(record[:1]), Result: record})
				}
				var steps []tasks.Step
				if err == nil {
					steps, err = s.Steps(ctx(t), id)
				}
				say = fmt.Sprintf("%q", steps)
			case "claim":
				out, err = s.Claim(ctx(t), worker, 10)
				slices.SortFunc(out, func(a, b tasks.Row) int { return strings.Compare(a.ID, b.ID) }) // due in the same instant
			case "release":
				if fence != nil {
					err = s.Release(ctx(t), *fence)
				}
			case "join":
				err = s.Join(ctx(t), worker, long)
			case "leave":
				err = s.Leave(ctx(t), worker)
			case "sweep":
				var n int
				n, err = s.Sweep(ctx(t))
				say = fmt.Sprint(n)
			case "running":
				var running []tasks.Running
				running, err = s.Running(ctx(t), worker)
				var ids []string
				for _, r := range running {
					ids = append(ids, fmt.Sprint(r.Fence))
				}
				slices.Sort(ids)
				say = fmt.Sprint(ids)
			}
			results[n], said[n] = out, say+sentinel(err)
			if err != nil && sentinel(err) == "" {
				t.Fatalf("%s: %v", op, err)
			}
		}
		differs := said[0] != said[1] || len(results[0]) != len(results[1])
		for n := 0; !differs && n < len(results[0]); n++ {
			differs = difference(results[0][n], results[1][n]) != ""
		}
		if differs {
			t.Fatalf("%s\ngave %q and\n%+v\nthe memory store %q and\n%+v", strings.Join(log, "\n"), said[0], results[0], said[1], results[1])
		}
		for _, row := range results[0] {
			if row.ID != "" {
				rows[row.ID] = row
				if row.Worker != "" && !slices.Contains(fences[row.ID], row.Fence()) {
					fences[row.ID] = append(fences[row.ID], row.Fence())
				}
			}
		}
	}
	for _, s := range stores { // whatever is left rests
		for id := range rows {
			s.put(nil, s.get(id), tasks.Next{Rest: true})
			row := s.get(id)
			row.Status = tasks.Completed
			s.put(nil, row, tasks.Next{})
		}
	}
}

// sentinel names the error that a store documents.
func sentinel(err error) string {
	for _, e := range []error{tasks.ErrNotFound, tasks.ErrExists, tasks.ErrConflict, tasks.ErrFenced, tasks.ErrLeaseLost, tasks.ErrOwnerLimit, tasks.ErrOwnerTotalLimit, tasks.ErrTotalLimit} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return ""
}
