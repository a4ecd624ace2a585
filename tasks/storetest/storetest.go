// Package storetest tests an implementation of tasks.Store: it does what the documentation of that interface says, or the
// test fails and names the rule.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Config{
//			New: func(t *testing.T) func() tasks.Store {
//				path := filepath.Join(t.TempDir(), "tasks.db")
//				return func() tasks.Store { … opens path … }
//			},
//			Durable: true,
//		})
//	}
//
// Run it with -race. What a store does when its process is killed, or its database cut off, is for tests of its own.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/elicit-go/elicit/tasks"
)

// Config says what is tested.
type Config struct {
	// New makes an empty place for rows: a file, a database. It returns a function that opens a store over it, and fails
	// t if that fails. It is called for each test. The stores are closed for you.
	New func(t *testing.T) (open func() tasks.Store)
	// Durable: what one store wrote is there for another one, opened when the first is closed.
	Durable bool
	// Shared: several stores may be open over one place at once, as in several instances.
	Shared bool
	// Times is how many random sequences of calls are compared with the memory store; 0 is 20.
	Times int
}

// Run runs all tests, in parallel.
func Run(t *testing.T, c Config) {
	for _, group := range []map[string]func(*testing.T, *place){rowTests, runTests, workerTests, instanceTests} {
		for _, name := range slices.Sorted(keys(group)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				group[name](t, &place{Config: c, t: t, new: c.New(t)})
			})
		}
	}
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// A place is where the stores of one test have their rows.
type place struct {
	Config
	t   *testing.T
	new func() tasks.Store
}

// open opens a store that is closed with the test.
func (p *place) open() *store {
	s := &store{Store: p.new(), t: p.t}
	p.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			p.t.Errorf("Close: %v", err)
		}
	})
	return s
}

// instances opens stores over the same place: several where it is shared, else one.
func (p *place) instances(n int) []*store {
	stores := []*store{p.open()}
	for p.Shared && len(stores) < n {
		stores = append(stores, p.open())
	}
	return stores
}

// A store fails the test on errors that nothing explains.
type store struct {
	tasks.Store
	t *testing.T
}

// newRow is a row as an engine creates it.
func newRow(id string) tasks.Row {
	return tasks.Row{ID: id, Owner: "owner", Status: tasks.Working, Record: []byte("record of " + id)}
}

func (s *store) create(row tasks.Row, next tasks.Next) tasks.Row {
	s.t.Helper()
	return check(s.t)(s.Create(ctx(s.t), row, next, tasks.Limits{}))
}

func (s *store) get(id string) tasks.Row {
	s.t.Helper()
	return check(s.t)(s.Get(ctx(s.t), id))
}

func (s *store) put(fence *tasks.Fence, row tasks.Row, next tasks.Next) tasks.Row {
	s.t.Helper()
	return check(s.t)(s.Put(ctx(s.t), fence, row, next))
}

func (s *store) claim(worker string, n int) []tasks.Row {
	s.t.Helper()
	rows, err := s.Claim(ctx(s.t), worker, n)
	if err != nil {
		s.t.Fatalf("Claim: %v", err)
	}
	return rows
}

// claimOne claims the only row that is due. Another call may be at it just now.
func (s *store) claimOne(worker string) tasks.Row {
	s.t.Helper()
	rows := s.claim(worker, 10)
	for ; len(rows) == 0; rows = s.claim(worker, 10) {
		pause(s.t)
	}
	if len(rows) != 1 {
		s.t.Fatalf("Claim returned %d rows, want the one that is due", len(rows))
	}
	return rows[0]
}

func (s *store) fences(worker string) []tasks.Fence {
	s.t.Helper()
	running, err := s.Running(ctx(s.t), worker)
	if err != nil {
		s.t.Fatalf("Running: %v", err)
	}
	var fences []tasks.Fence
	for _, r := range running {
		if r.For < 0 || r.For > time.Hour {
			s.t.Errorf("Running says that %s was claimed %v ago", r.ID, r.For)
		}
		fences = append(fences, r.Fence)
	}
	return fences
}

func (s *store) steps(id string) []tasks.Step {
	s.t.Helper()
	steps, err := s.Steps(ctx(s.t), id)
	if err != nil {
		s.t.Fatalf("Steps: %v", err)
	}
	return steps
}

func (s *store) ok(what string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

// gone waits until a row has expired.
func (s *store) gone(id string) {
	s.t.Helper()
	for {
		_, err := s.Get(ctx(s.t), id)
		if errors.Is(err, tasks.ErrNotFound) {
			return
		}
		s.ok("Get of a row that expires", err)
		pause(s.t)
	}
}

// ctx ends before the test's own time-out, so that a store that hangs is named.
func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return c
}

// pause is for what only the store's clock brings about.
func pause(t *testing.T) {
	t.Helper()
	if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 5*time.Second {
		t.Fatal("waited in vain")
	}
	time.Sleep(2 * time.Millisecond)
}

func check(t *testing.T) func(tasks.Row, error) tasks.Row {
	t.Helper()
	return func(row tasks.Row, err error) tasks.Row {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// same compares all of two rows but their times, whose precision is the store's.
func same(t *testing.T, what string, got, want tasks.Row) {
	t.Helper()
	if d := difference(got, want); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

func difference(got, want tasks.Row) string {
	if len(got.Record) == 0 && len(want.Record) == 0 {
		got.Record, want.Record = nil, nil
	}
	if got.Due.IsZero() != want.Due.IsZero() {
		return fmt.Sprintf("Due is %v, want %v", got.Due, want.Due)
	}
	got.Due, got.Created, got.Updated = want.Due, want.Created, want.Updated
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("got  %+v\nwant %+v", got, want)
}
