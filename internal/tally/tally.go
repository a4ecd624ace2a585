// Package tally remembers how many rows of each owner a table has, so that a store need not count them with each write.
package tally

import (
	"sync"
	"time"
)

// most is how many owners are remembered: when there are more, all are counted anew.
const most = 4096

// A Tally knows the counts of some owners. The zero Tally knows none, and keeps what it learns until Forget.
type Tally struct {
	Age time.Duration // for how long a count holds, where others write the table too; 0: until Forget

	mu    sync.Mutex
	limit int // up to which rows were counted
	known map[string]count
}

type count struct {
	rows int
	at   time.Time
}

// Rows returns how many rows an owner has, if that is known. It is a count up to limit: those up to another one are of no use.
func (t *Tally) Rows(owner string, limit int) (rows int, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit != limit {
		t.limit = limit
		clear(t.known)
	}
	c, known := t.known[owner]
	if known && t.Age > 0 && time.Since(c.at) > t.Age {
		delete(t.known, owner)
		return 0, false
	}
	return c.rows, known
}

// Counted says how many rows an owner has, counted up to the limit of Rows.
func (t *Tally) Counted(owner string, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= most {
		clear(t.known)
	}
	if t.known == nil {
		t.known = map[string]count{}
	}
	t.known[owner] = count{rows, time.Now()}
}

// Add counts a row that was written, if its owner's are known.
func (t *Tally) Add(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, known := t.known[owner]; known {
		c.rows++
		t.known[owner] = c
	}
}

// Forget forgets all counts: rows were removed.
func (t *Tally) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.known)
}
