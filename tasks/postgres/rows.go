package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elicit-go/elicit/tasks"
)

const (
	columns = "t.id, t.owner, t.status, t.record, t.version, t.run, t.worker, t.due_at, t.attempts, t.ttl, t.created_at, t.updated_at"
	// there is what holds for a row that has not expired.
	there = "(t.expires_at IS NULL OR t.expires_at > now())"
)

func scanRow(from pgx.Row, row *tasks.Row, more ...any) error {
	var worker *string
	var due *time.Time
	var ttl int64
	*row = tasks.Row{}
	err := from.Scan(append([]any{&row.ID, &row.Owner, (*string)(&row.Status), &row.Record, &row.Version, &row.Run, &worker, &due, &row.Attempts, &ttl, &row.Created, &row.Updated}, more...)...)
	if worker != nil {
		row.Worker = *worker
	}
	if due != nil {
		row.Due = due.UTC()
	}
	row.TTL = time.Duration(ttl) * time.Microsecond
	row.Created, row.Updated = row.Created.UTC(), row.Updated.UTC()
	return err
}

// place is Next as parameters: whether the row stays, its worker, in how many microseconds it is due, and one if it is claimed.
func place(next tasks.Next) (stays bool, worker *string, due *int64, claimed int64) {
	switch {
	case next.Due:
		after := max(next.After, 0).Microseconds()
		due = &after
	case next.Worker != "":
		worker, claimed = &next.Worker, 1
	}
	return next == tasks.Next{}, worker, due, claimed
}

// micros is a TTL as it is stored: 0 is forever.
func micros(ttl time.Duration) int64 {
	if ttl <= 0 {
		return 0
	}
	return max(ttl.Microseconds(), 1)
}

// blob is a record or result as it is stored, which is never NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Create implements tasks.Store.
func (s *Store) Create(ctx context.Context, row tasks.Row, next tasks.Next, limits tasks.Limits) (stored tasks.Row, err error) {
	created := false
	if limits.Owner > 0 {
		// What an owner creates at once is counted one by one, also while each is not yet seen by the next.
		leave, err := s.owners.enter(ctx, row.Owner)
		if err != nil {
			return tasks.Row{}, fmt.Errorf("tasks/postgres: create: %w", context.Cause(ctx))
		}
		defer leave()
	}
	err = s.call(ctx, "create", true, func(ctx context.Context, conn *pgx.Conn) error {
		full, err := s.total.over(ctx, conn, limits.Total)
		if err != nil {
			return err
		}
		_, worker, due, claimed := place(next)
		err = scanRow(conn.QueryRow(ctx, `INSERT INTO elicit_task AS t
				(id, owner, status, record, version, run, worker, due_at, attempts, ttl, created_at, updated_at, expires_at)
			SELECT $1, $2, $3, $4, 1, $5::bigint, $6::text, now() + $7::bigint * interval '1 microsecond', $8::int, $9::bigint, now(), now(),
				CASE WHEN $9 > 0 THEN now() + $9 * interval '1 microsecond' END
			WHERE NOT $10::boolean AND ($11::int = 0 OR $11 > (SELECT count(*) FROM (SELECT FROM elicit_task t
				WHERE owner = $2 AND status IN ('working', 'input_required') AND `+there+` LIMIT $11) AS open))
			ON CONFLICT (id) DO NOTHING RETURNING `+columns,
			row.ID, row.Owner, string(row.Status), blob(row.Record), claimed, worker, due, row.Attempts, micros(row.TTL), full, limits.Owner), &stored)
		if created = err == nil; !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		var expired bool
		err = scanRow(conn.QueryRow(ctx, "SELECT "+columns+", NOT "+there+" FROM elicit_task t WHERE id = $1", row.ID), &stored, &expired)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && full:
			return tasks.ErrTotalLimit
		case errors.Is(err, pgx.ErrNoRows):
			return tasks.ErrOwnerLimit
		case err == nil && stored.Owner != row.Owner:
			return tasks.ErrExists
		case err == nil && expired:
			return tasks.ErrNotFound
		}
		return err
	})
	if err != nil {
		return tasks.Row{}, err
	}
	if created {
		s.total.add(1)
		s.hint(tasks.Hint{ID: row.ID, Due: next.Due && next.After <= 0})
	}
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

// over reports whether there are as many rows as limit, if that is not 0.
func (t *total) over(ctx context.Context, conn *pgx.Conn, limit int) (bool, error) {
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
	return t.rows >= limit, nil
}

func (t *total) add(rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows += rows
}

// Get implements tasks.Store.
func (s *Store) Get(ctx context.Context, id string) (row tasks.Row, err error) {
	err = s.call(ctx, "get", true, func(ctx context.Context, conn *pgx.Conn) error { return get(ctx, conn, id, &row) })
	if err != nil {
		return tasks.Row{}, err
	}
	return row, nil
}

func get(ctx context.Context, conn *pgx.Conn, id string, row *tasks.Row) error {
	err := scanRow(conn.QueryRow(ctx, "SELECT "+columns+" FROM elicit_task t WHERE id = $1 AND "+there, id), row)
	if errors.Is(err, pgx.ErrNoRows) {
		return tasks.ErrNotFound
	}
	return err
}

// Put implements tasks.Store.
func (s *Store) Put(ctx context.Context, fence *tasks.Fence, row tasks.Row, next tasks.Next) (stored tasks.Row, err error) {
	by := tasks.Fence{ID: row.ID}
	if fence != nil {
		by.Run, by.Worker = fence.Run, fence.Worker
	}
	err = s.call(ctx, "put", false, func(ctx context.Context, conn *pgx.Conn) error {
		stays, worker, due, claimed := place(next)
		err := scanRow(conn.QueryRow(ctx, `UPDATE elicit_task t SET status = $1, record = $2, attempts = $3, ttl = $4::bigint,
				expires_at = CASE WHEN $4 > 0 THEN t.created_at + $4 * interval '1 microsecond' END,
				version = t.version + 1, updated_at = now(),
				worker = CASE WHEN $5::boolean THEN t.worker ELSE $6 END,
				due_at = CASE WHEN $5 THEN t.due_at ELSE now() + $7::bigint * interval '1 microsecond' END,
				run = t.run + $8
			WHERE id = $9 AND version = $10 AND `+there+` AND ($11::boolean OR (run = $12 AND worker = $13))
			RETURNING `+columns,
			string(row.Status), blob(row.Record), row.Attempts, micros(row.TTL), stays, worker, due, claimed,
			row.ID, row.Version, fence == nil, by.Run, by.Worker), &stored)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		switch err := get(ctx, conn, row.ID, &stored); {
		case err != nil:
			return err
		case fence != nil && stored.Fence() != by:
			return tasks.ErrFenced
		}
		return tasks.ErrConflict
	})
	if err != nil {
		return tasks.Row{}, err
	}
	s.hint(tasks.Hint{ID: row.ID, Due: next.Due && next.After <= 0})
	return stored, nil
}

// Purge implements tasks.Store.
func (s *Store) Purge(ctx context.Context, n int) (purged int, err error) {
	err = s.call(ctx, "purge", true, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `WITH gone AS (SELECT id FROM elicit_task WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED),
			steps AS (DELETE FROM elicit_step s USING gone WHERE s.task_id = gone.id),
			rows AS (DELETE FROM elicit_task t USING gone WHERE t.id = gone.id RETURNING 1)
			SELECT count(*) FROM rows`, n).Scan(&purged)
	})
	if err != nil {
		return 0, err
	}
	s.total.add(-purged)
	return purged, nil
}

// Stats implements tasks.Store.
func (s *Store) Stats(ctx context.Context) (stats tasks.Stats, err error) {
	var oldest float64
	err = s.call(ctx, "stats", true, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM elicit_task), (SELECT count(*) FROM elicit_task WHERE worker IS NOT NULL),
			(SELECT count(*) FROM elicit_task WHERE due_at <= now()), (SELECT count(*) FROM elicit_instance WHERE until > now()),
			(SELECT coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 FROM elicit_task WHERE due_at <= now())`).
			Scan(&stats.Rows, &stats.Running, &stats.Due, &stats.Workers, &oldest)
	})
	stats.OldestDue = time.Duration(oldest * float64(time.Second))
	return stats, err
}
