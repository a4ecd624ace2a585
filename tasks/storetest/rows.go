package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/tasks"
)

// What holds for one row.
var rowTests = map[string]func(*testing.T, *place){
	"Create": func(t *testing.T, p *place) {
		s := p.open()
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		for i, row := range []tasks.Row{
			{ID: "plain", Owner: "o", Status: tasks.Working, Record: []byte("{}")},
			{ID: "bytes", Owner: "o", Status: tasks.InputRequired, Record: every, Attempts: 3, TTL: time.Hour},
			{ID: "empty", Owner: "", Status: tasks.Completed, Record: nil},
			{ID: "large", Owner: "o", Status: tasks.Failed, Record: []byte(strings.Repeat("x", 3<<20)), TTL: 24 * 365 * time.Hour},
			{ID: "Plain", Owner: "%_' \"é", Status: tasks.Cancelled, Record: []byte("not plain")},
			{ID: "%_' \"é漢-", Owner: "o", Status: tasks.Working},
		} {
			stored := s.create(row, tasks.Next{Rest: i%2 == 0})
			want := row
			want.Version = 1
			same(t, "Create of "+row.ID, stored, want)
			got := s.get(row.ID)
			same(t, "Get of "+row.ID, got, want)
			if !got.Created.Equal(stored.Created) || !got.Updated.Equal(stored.Updated) || !got.Created.Equal(got.Updated) {
				t.Errorf("%s: created %v and updated %v, later created %v and updated %v", row.ID, stored.Created, stored.Updated, got.Created, got.Updated)
			}
			if age := time.Since(got.Created); age.Abs() > time.Minute {
				t.Errorf("created %v ago", age) // a time zone gone wrong
			}
		}
		_, err := s.Get(ctx(t), "other")
		wantErr(t, "Get of an unknown id", err, tasks.ErrNotFound)
	},
	"Put/together": func(t *testing.T, p *place) {
		// Each write has its own outcome, whatever comes with it.
		s := p.open()
		const n = 100
		rows := make([]tasks.Row, n)
		for i := range rows {
			rows[i] = s.create(newRow(fmt.Sprint("row", i)), tasks.Next{Worker: "w"})
		}
		errs := make([]error, n)
		stored := make([]tasks.Row, n)
		var wg sync.WaitGroup
		for i, row := range rows {
			wg.Go(func() {
				row.Status, row.Record = tasks.Completed, []byte(fmt.Sprint("result", i))
				fence := row.Fence()
				switch i % 5 {
				case 1:
					row.ID = "unknown" + row.ID
					fence.ID = row.ID
				case 2:
					row.Version++
				case 3:
					fence.Worker = "other"
				case 4: // twice at once, of which one is too late
					again := make(chan error)
					go func() {
						_, err := s.Put(ctx(t), &fence, row, tasks.Next{Rest: true})
						again <- err
					}()
					stored[i], errs[i] = s.Put(ctx(t), &fence, row, tasks.Next{Rest: true})
					if err := <-again; (err == nil) == (errs[i] == nil) {
						t.Errorf("two writes at once of %s: %v and %v", row.ID, errs[i], err)
					} else if err == nil {
						stored[i], errs[i] = s.get(row.ID), nil
					}
					return
				}
				stored[i], errs[i] = s.Put(ctx(t), &fence, row, tasks.Next{Rest: true})
			})
		}
		wg.Wait()
		for i, row := range rows {
			got := s.get(row.ID)
			switch i % 5 {
			case 0, 4:
				s.ok("Put of "+row.ID, errs[i])
				same(t, "what Put returned of "+row.ID, stored[i], got)
				if got.Status != tasks.Completed || string(got.Record) != fmt.Sprint("result", i) || got.Version != row.Version+1 {
					t.Errorf("after Put, %s is %+v", row.ID, got)
				}
				continue
			case 1:
				wantErr(t, "Put of an unknown id", errs[i], tasks.ErrNotFound)
			case 2:
				wantErr(t, "Put of a version that is not the row's", errs[i], tasks.ErrConflict)
			case 3:
				wantErr(t, "Put of another worker", errs[i], tasks.ErrFenced)
			}
			same(t, "after a Put that failed", got, row)
		}
	},
	"Create/repeated": func(t *testing.T, p *place) {
		s := p.open()
		first := s.create(newRow("a"), tasks.Next{Worker: "w"})
		fence := first.Fence()
		changed := s.put(&fence, tasks.Row{ID: "a", Version: first.Version, Status: tasks.InputRequired, Record: []byte("changed")}, tasks.Next{Rest: true})
		same(t, "a creation sent twice gives the row as it is", s.create(newRow("a"), tasks.Next{Worker: "w"}), changed)
		same(t, "and changes nothing", s.get("a"), changed)
		row, err := s.Create(ctx(t), newRow("a"), tasks.Next{}, tasks.Limits{Owner: 1, OwnerTotal: 1, Total: 1})
		s.ok("a creation sent twice is not over a limit", err)
		same(t, "a creation sent twice, at the limits", row, changed)
		stranger := newRow("a")
		stranger.Owner = "stranger"
		row, err = s.Create(ctx(t), stranger, tasks.Next{}, tasks.Limits{})
		wantErr(t, "Create with an id of another owner's row", err, tasks.ErrExists)
		same(t, "and with that error nothing of the row", row, tasks.Row{})
	},
	"Create/limits": func(t *testing.T, p *place) {
		s := p.open()
		create := func(owner, id string, limits tasks.Limits) error {
			row := newRow(id)
			row.Owner = owner
			_, err := s.Create(ctx(t), row, tasks.Next{}, limits)
			return err
		}
		const owners, each, limit = 4, 25, 10
		var wg sync.WaitGroup
		var mu sync.Mutex
		created := map[string][]string{}
		for n := range owners * each {
			wg.Go(func() {
				owner, id := fmt.Sprint("owner", n%owners), fmt.Sprint("row", n)
				switch err := create(owner, id, tasks.Limits{Owner: limit}); {
				case err == nil:
					mu.Lock()
					created[owner] = append(created[owner], id)
					mu.Unlock()
				case !errors.Is(err, tasks.ErrOwnerLimit):
					t.Errorf("Create: %v", err)
				}
			})
		}
		wg.Wait()
		for owner, ids := range created {
			if len(ids) != limit {
				t.Errorf("%s has created %d rows at once, want %d, the limit", owner, len(ids), limit)
			}
		}
		// A finished row makes room, and one that has expired too.
		row := s.get(created["owner0"][0])
		row.Status = tasks.Completed
		s.put(nil, row, tasks.Next{Rest: true})
		s.ok("Create after one has finished", create("owner0", "more", tasks.Limits{Owner: limit}))
		wantErr(t, "Create at the limit again", create("owner0", "too many", tasks.Limits{Owner: limit}), tasks.ErrOwnerLimit)
		row = s.get("more")
		row.TTL = time.Millisecond
		s.put(nil, row, tasks.Next{})
		s.gone("more")
		s.ok("Create after one has expired", create("owner0", "again", tasks.Limits{Owner: limit}))
		_, err := s.Get(ctx(t), "too many")
		wantErr(t, "Get of a row that was refused", err, tasks.ErrNotFound)
	},
	// Finished rows count too, until they have expired and are removed.
	"Create/owner total": func(t *testing.T, p *place) {
		s := p.open()
		const owners, each, limit = 3, 25, 10
		create := func(s *store, owner, id string, ttl time.Duration) error {
			row := newRow(id)
			row.Owner, row.Status, row.TTL = owner, tasks.Completed, ttl
			_, err := s.Create(ctx(t), row, tasks.Next{Rest: true}, tasks.Limits{Owner: 2, OwnerTotal: limit, Total: 1000})
			return err
		}
		var wg sync.WaitGroup
		for n := range owners {
			wg.Go(func() { // the first few of each by themselves
				for i := range limit / 2 {
					s.ok("Create", create(s, fmt.Sprint("owner", n), fmt.Sprint("first", n, ".", i), 0))
				}
			})
		}
		wg.Wait()
		var mu sync.Mutex
		created := map[string]int{}
		for n := range owners * each {
			wg.Go(func() {
				owner := fmt.Sprint("owner", n%owners)
				switch err := create(s, owner, fmt.Sprint("row", n), 0); {
				case err == nil:
					mu.Lock()
					created[owner]++
					mu.Unlock()
				case !errors.Is(err, tasks.ErrOwnerTotalLimit):
					t.Errorf("Create: %v", err)
				}
			})
		}
		wg.Wait()
		for n := range owners {
			owner := fmt.Sprint("owner", n)
			if created[owner] != limit-limit/2 {
				t.Errorf("%s, who had %d rows, has created %d more, want %d in all, the limit", owner, limit/2, created[owner], limit)
			}
		}
		wantErr(t, "Create at the limit", create(s, "owner0", "too many", 0), tasks.ErrOwnerTotalLimit)
		s.ok("Create of another owner", create(s, "other", "other", 0))
		if p.Shared {
			wantErr(t, "Create in another instance", create(p.open(), "owner0", "too many", 0), tasks.ErrOwnerTotalLimit)
		}
		_, err := s.Get(ctx(t), "too many")
		wantErr(t, "Get of a row that was refused", err, tasks.ErrNotFound)

		for i := range limit - 1 {
			s.ok("Create", create(s, "short", fmt.Sprint("kept", i), 0))
		}
		s.ok("Create of a row that expires", create(s, "short", "short", time.Millisecond))
		s.gone("short")
		n, err := s.Purge(ctx(t), 10)
		s.ok("Purge", err)
		if n != 1 {
			t.Errorf("Purge removed %d rows, want the one that has expired", n)
		}
		s.ok("Create after one has been removed", create(s, "short", "again", 0))
		wantErr(t, "Create at the limit again", create(s, "short", "too many", 0), tasks.ErrOwnerTotalLimit)
	},
	"Create/total": func(t *testing.T, p *place) {
		s := p.open()
		limits := tasks.Limits{Total: 30}
		refused := 0
		for n := range 40 {
			row := newRow(fmt.Sprint(n))
			row.Owner = row.ID
			switch _, err := s.Create(ctx(t), row, tasks.Next{}, limits); {
			case errors.Is(err, tasks.ErrTotalLimit):
				refused++
			case err != nil:
				t.Fatalf("Create: %v", err)
			}
		}
		if refused != 10 {
			t.Errorf("%d of 40 rows were refused at a limit of 30", refused)
		}
	},
	"Put": func(t *testing.T, p *place) {
		s := p.open()
		row := s.create(newRow("a"), tasks.Next{})
		other := s.create(newRow("b"), tasks.Next{})
		change := row
		change.Status, change.Record, change.Attempts, change.TTL = tasks.InputRequired, []byte("changed"), 2, time.Hour
		change.Owner, change.Run, change.Worker, change.Due = "ignored", 9, "ignored", time.Now() // not the caller's to say
		want := row
		want.Status, want.Record, want.Attempts, want.TTL, want.Version = change.Status, change.Record, 2, time.Hour, 2
		stored := s.put(nil, change, tasks.Next{})
		same(t, "Put", stored, want)
		same(t, "Get after Put", s.get("a"), want)
		if !stored.Created.Equal(row.Created) || stored.Updated.Before(row.Updated) {
			t.Errorf("created %v and updated %v; after Put created %v and updated %v", row.Created, row.Updated, stored.Created, stored.Updated)
		}
		for name, stale := range map[string]int64{"the version before": 1, "a version to come": 3, "no version": 0} {
			change.Version = stale
			change.Record = []byte("stale")
			_, err := s.Put(ctx(t), nil, change, tasks.Next{Rest: true})
			wantErr(t, "Put with "+name, err, tasks.ErrConflict)
		}
		same(t, "Get after writes that came too late", s.get("a"), want)
		_, err := s.Put(ctx(t), nil, tasks.Row{ID: "none", Version: 1}, tasks.Next{})
		wantErr(t, "Put of an unknown id", err, tasks.ErrNotFound)
		_, err = s.Put(ctx(t), &tasks.Fence{ID: "none", Run: 1, Worker: "w"}, tasks.Row{ID: "none", Version: 1}, tasks.Next{})
		wantErr(t, "Put of a run of an unknown id", err, tasks.ErrNotFound)
		same(t, "another row", s.get("b"), other)
	},
	// Nobody's change is lost, though many write at once, and each while a run goes on.
	"Put/at once": func(t *testing.T, p *place) {
		stores := p.instances(3)
		row := stores[0].create(tasks.Row{ID: "a", Owner: "o", Status: tasks.Working}, tasks.Next{Worker: "w"})
		fence := row.Fence()
		const writers, each = 8, 10
		var wg sync.WaitGroup
		for n := range writers {
			s := stores[n%len(stores)]
			by := &fence
			if n > 0 {
				by = nil // others bring answers
			}
			wg.Go(func() {
				for range each {
					for {
						row, err := s.Get(ctx(t), "a")
						if err != nil {
							t.Errorf("Get: %v", err)
							return
						}
						row.Record = append(row.Record, byte(n))
						_, err = s.Put(ctx(t), by, row, tasks.Next{})
						if err == nil {
							break
						}
						if !errors.Is(err, tasks.ErrConflict) {
							t.Errorf("Put: %v", err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		counts := map[byte]int{}
		row = stores[0].get("a")
		for _, b := range row.Record {
			counts[b]++
		}
		for n := range writers {
			if counts[byte(n)] != each {
				t.Errorf("of %d changes of writer %d, %d are there", each, n, counts[byte(n)])
			}
		}
		if want := int64(1 + writers*each); row.Version != want {
			t.Errorf("Version is %d after %d writes", row.Version, want)
		}
	},
	"copies": func(t *testing.T, p *place) {
		s := p.open()
		record := []byte("record")
		scribble := func(b []byte) { copy(b, "SCRIBBLE") }
		row := s.create(tasks.Row{ID: "a", Owner: "o", Status: tasks.Working, Record: record}, tasks.Next{Worker: "w"})
		fence := row.Fence()
		scribble(record)
		scribble(row.Record)
		scribble(s.get("a").Record)
		row = s.get("a")
		if string(row.Record) != "record" {
			t.Errorf("Record is %q, for somebody wrote to another copy of it", row.Record)
		}
		row = s.put(&fence, row, tasks.Next{})
		scribble(row.Record)
		result := []byte("result")
		s.ok("PutStep", s.PutStep(ctx(t), fence, tasks.Step{Name: "s", Result: result}))
		scribble(result)
		scribble(s.steps("a")[0].Result)
		s.ok("Release", s.Release(ctx(t), fence))
		scribble(s.claimOne("w").Record)
		if got := s.get("a").Record; string(got) != "record" {
			t.Errorf("Record is %q, for somebody wrote to another copy of it", got)
		}
		if got := s.steps("a"); string(got[0].Result) != "result" {
			t.Errorf("a step's result is %q, for somebody wrote to another copy of it", got[0].Result)
		}
	},
	// A row past its expiry is not there, whether it rests, is due or has a run.
	"expiry": func(t *testing.T, p *place) {
		s := p.open()
		kept := s.create(newRow("kept"), tasks.Next{})
		places := map[string]tasks.Next{"rests": {}, "due": {Due: true}, "runs": {Worker: "w"}}
		for id, next := range places {
			row := newRow(id)
			row.TTL = time.Hour
			row = s.create(row, next)
			if got := row.Expires().Sub(row.Created); got != time.Hour {
				t.Errorf("%s expires %v after its creation", id, got)
			}
			fence := row.Fence()
			if next.Worker != "" {
				s.ok("PutStep", s.PutStep(ctx(t), fence, tasks.Step{Name: "s"}))
			}
			row.TTL = time.Nanosecond // never forever
			row = s.put(nil, row, tasks.Next{})
			s.gone(id)
			_, err := s.Put(ctx(t), nil, row, tasks.Next{Due: true})
			wantErr(t, "Put of an expired row", err, tasks.ErrNotFound)
			_, err = s.Put(ctx(t), &fence, row, tasks.Next{Rest: true})
			wantErr(t, "Put of a run of an expired row", err, tasks.ErrNotFound)
			if next.Worker != "" {
				err := s.PutStep(ctx(t), fence, tasks.Step{Name: "late"})
				if !errors.Is(err, tasks.ErrFenced) && !errors.Is(err, tasks.ErrNotFound) {
					t.Errorf("PutStep of an expired row: %v", err)
				}
			}
			s.ok("Release of an expired row", s.Release(ctx(t), fence))
			if steps := s.steps(id); len(steps) != 0 {
				t.Errorf("an expired row has steps: %v", steps)
			}
			_, err = s.Create(ctx(t), newRow(id), tasks.Next{}, tasks.Limits{})
			wantErr(t, "Create with the id of a row that has expired", err, tasks.ErrNotFound)
		}
		if rows := s.claim("w", 10); len(rows) != 0 {
			t.Errorf("Claim returned rows that have expired: %v", rows)
		}
		if fences := s.fences("w"); len(fences) != 0 {
			t.Errorf("Running lists rows that have expired: %v", fences)
		}
		purged := 0
		for _, want := range []int{2, 1, 0} {
			n, err := s.Purge(ctx(t), 2)
			s.ok("Purge", err)
			if n != want {
				t.Errorf("Purge(2) removed %d rows, want %d, after %d of %d", n, want, purged, len(places))
			}
			purged += n
		}
		stats, err := s.Stats(ctx(t))
		s.ok("Stats", err)
		if stats.Rows != 1 {
			t.Errorf("%d rows are left after Purge, want the one that does not expire", stats.Rows)
		}
		same(t, "a row that does not expire", s.get("kept"), kept)
	},
	// An id that expired and was purged starts anew: nothing of the old row comes back.
	"expiry/steps": func(t *testing.T, p *place) {
		s := p.open()
		row := s.create(newRow("a"), tasks.Next{Worker: "w"})
		s.ok("PutStep", s.PutStep(ctx(t), row.Fence(), tasks.Step{Name: "s", Result: []byte("old")}))
		row.TTL = time.Millisecond
		s.put(nil, row, tasks.Next{})
		s.gone("a")
		n, err := s.Purge(ctx(t), 10)
		s.ok("Purge", err)
		if n != 1 {
			t.Errorf("Purge removed %d rows, want 1", n)
		}
		s.create(newRow("a"), tasks.Next{})
		if steps := s.steps("a"); len(steps) != 0 {
			t.Errorf("a new row has the steps of one that was purged: %v", steps)
		}
	},
	"cancelled context": func(t *testing.T, p *place) {
		s := p.open()
		row := s.create(newRow("a"), tasks.Next{Worker: "w"})
		ctx, cancel := context.WithCancel(ctx(t))
		cancel()
		_, err := s.Create(ctx, newRow("b"), tasks.Next{}, tasks.Limits{})
		wantErr(t, "Create", err, context.Canceled)
		_, err = s.Get(ctx, "a")
		wantErr(t, "Get", err, context.Canceled)
		_, err = s.Put(ctx, nil, row, tasks.Next{})
		wantErr(t, "Put", err, context.Canceled)
		wantErr(t, "PutStep", s.PutStep(ctx, row.Fence(), tasks.Step{Name: "s"}), context.Canceled)
		_, err = s.Claim(ctx, "w", 1)
		wantErr(t, "Claim", err, context.Canceled)
	},
}
