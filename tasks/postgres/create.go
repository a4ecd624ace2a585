package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elicit-go/elicit/tasks"
)

// A batch is the creations of one transaction, at most.
const (
	maxCreations = 64
	maxBytes     = 8 << 20
)

// A creation is a row on its way.
type creation struct {
	row     tasks.Row
	next    tasks.Next
	limits  tasks.Limits
	full    bool // there are as many rows as limits allow
	created bool
	stored  tasks.Row // if created
	err     error
	done    chan struct{}
}

// Create implements tasks.Store. What comes while a transaction is on its way goes into the next one, so that many share the
// way and the wait for the disk; and the rows of an owner are counted one after the other.
func (s *Store) Create(ctx context.Context, row tasks.Row, next tasks.Next, limits tasks.Limits) (tasks.Row, error) {
	if ctx.Err() != nil {
		return tasks.Row{}, fmt.Errorf("tasks/postgres: create: %w", context.Cause(ctx))
	}
	row.Record = slices.Clone(row.Record) // it may be read when the caller has gone
	c := &creation{row: row, next: next, limits: limits, done: make(chan struct{})}
	late := time.NewTimer(timeout)
	defer late.Stop()
	queue := s.creations
	for {
		select {
		case queue <- c:
			queue = nil
			continue
		case <-c.done:
			if c.err != nil {
				return tasks.Row{}, c.err
			}
			if !c.created {
				return s.notCreated(ctx, c)
			}
			return c.stored, nil
		case <-s.ctx.Done():
			return tasks.Row{}, fmt.Errorf("tasks/postgres: create: %w", tasks.ErrClosed)
		case <-ctx.Done():
			return tasks.Row{}, fmt.Errorf("tasks/postgres: create: %w", context.Cause(ctx))
		case <-late.C:
			return tasks.Row{}, s.noAnswer("create")
		}
	}
}

// create stores what comes to be created, until the Store is closed.
func (s *Store) create() {
	for {
		var first *creation
		select {
		case <-s.ctx.Done():
			return
		case first = <-s.creations:
		}
		batch, bytes := []*creation{first}, len(first.row.Record)
	gathering:
		for len(batch) < maxCreations && bytes < maxBytes {
			select {
			case c := <-s.creations:
				batch, bytes = append(batch, c), bytes+len(c.row.Record)
			default:
				break gathering
			}
		}
		s.store(batch)
	}
}

// store stores a batch. Where the server refuses it each creation is tried on its own, so that one does not fail for another.
func (s *Store) store(batch []*creation) {
	err := s.call(s.ctx, "create", true, func(ctx context.Context, conn *pgx.Conn) error { return s.insert(ctx, conn, batch) })
	if err != nil && len(batch) > 1 && !errors.Is(err, tasks.ErrUnavailable) && !errors.Is(err, tasks.ErrClosed) {
		for _, c := range batch {
			s.store([]*creation{c})
		}
		return
	}
	for _, c := range batch {
		if c.err = err; err == nil && c.created {
			s.total.add(1)
			s.hint(tasks.Hint{ID: c.row.ID, Due: c.next.Due && c.next.After <= 0})
		}
		close(c.done)
	}
}

// insert runs a batch in one transaction.
func (s *Store) insert(ctx context.Context, conn *pgx.Conn, batch []*creation) (err error) {
	var statements pgx.Batch
	for n, c := range batch {
		if c.full, err = s.total.over(ctx, conn, n, c.limits.Total); err != nil {
			return err
		}
		_, worker, due, claimed := place(c.next)
		statements.Queue(`INSERT INTO elicit_task AS t
				(id, owner, status, record, version, run, worker, due_at, attempts, ttl, created_at, updated_at, expires_at)
			SELECT $1, $2, $3, $4, 1, $5::bigint, $6::text, now() + $7::bigint * interval '1 microsecond', $8::int, $9::bigint, now(), now(),
				CASE WHEN $9 > 0 THEN now() + $9 * interval '1 microsecond' END
			WHERE NOT $10::boolean AND ($11::int = 0 OR $11 > (SELECT count(*) FROM (SELECT FROM elicit_task t
				WHERE owner = $2 AND status IN ('working', 'input_required') AND `+there+` LIMIT $11) AS open))
			ON CONFLICT (id) DO NOTHING RETURNING `+columns,
			c.row.ID, c.row.Owner, string(c.row.Status), blob(c.row.Record), claimed, worker, due, c.row.Attempts, micros(c.row.TTL), c.full, c.limits.Owner)
	}
	results := conn.SendBatch(ctx, &statements)
	for _, c := range batch {
		err := scanRow(results.QueryRow(), &c.stored)
		if c.created = err == nil; err != nil && !errors.Is(err, pgx.ErrNoRows) {
			results.Close()
			return err
		}
	}
	return results.Close() // the transaction ends here
}

// notCreated finds out why there is no new row.
func (s *Store) notCreated(ctx context.Context, c *creation) (stored tasks.Row, err error) {
	err = s.call(ctx, "create", true, func(ctx context.Context, conn *pgx.Conn) error {
		var expired bool
		err := scanRow(conn.QueryRow(ctx, "SELECT "+columns+", NOT "+there+" FROM elicit_task t WHERE id = $1", c.row.ID), &stored, &expired)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && c.full:
			return tasks.ErrTotalLimit
		case errors.Is(err, pgx.ErrNoRows):
			return tasks.ErrOwnerLimit
		case err == nil && stored.Owner != c.row.Owner:
			return tasks.ErrExists
		case err == nil && expired:
			return tasks.ErrNotFound
		}
		return err
	})
	if err != nil {
		return tasks.Row{}, err
	}
	s.hint(tasks.Hint{ID: stored.ID, Due: !stored.Due.IsZero()}) // the creation whose reply was lost gave none
	return stored, nil
}

// total knows about how many rows there are. It counts those of this Store exactly, and asks the database now and then.
type total struct {
	mu    sync.Mutex
	rows  int
	asked time.Time
}

const (
	askAgain = 5 * time.Second
	// exact is up to where rows are counted one by one; beyond it PostgreSQL's own estimate must do.
	exact = 10_000
)

// over reports whether there are, with those that are on their way, as many rows as limit, if that is not 0.
func (t *total) over(ctx context.Context, conn *pgx.Conn, coming, limit int) (bool, error) {
	if limit <= 0 {
		return false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.asked) > askAgain {
		var few, many int
		err := conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM (SELECT FROM elicit_task LIMIT $1) AS few),
			coalesce((SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = 'elicit_task'::regclass), 0)`, exact).Scan(&few, &many)
		if err != nil {
			return false, err
		}
		t.rows, t.asked = few, time.Now()
		if few == exact {
			t.rows = max(few, many)
		}
	}
	return t.rows+coming >= limit, nil
}

func (t *total) add(rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows += rows
}
