package postgres

import (
	"context"
	"errors"
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
func (s *Store) Put(ctx context.Context, fence *tasks.Fence, row tasks.Row, next tasks.Next) (tasks.Row, error) {
	w := &write{row: row, next: next, fence: fence}
	if err := s.do(ctx, &s.puts, w); err != nil {
		return tasks.Row{}, err
	}
	if w.done {
		return w.stored, nil
	}
	there, err := s.Get(ctx, row.ID)
	switch {
	case err != nil:
		return tasks.Row{}, err
	case fence != nil && there.Fence() != (tasks.Fence{ID: row.ID, Run: fence.Run, Worker: fence.Worker}):
		return tasks.Row{}, tasks.ErrFenced
	}
	return tasks.Row{}, tasks.ErrConflict
}

// update writes the rows of a batch that there are already.
func (s *Store) update(ctx context.Context, conn *pgx.Conn, batch []*write) error {
	var statements pgx.Batch
	for _, w := range batch {
		var by tasks.Fence
		if w.fence != nil {
			by = *w.fence
		}
		stays, worker, due, claimed := place(w.next)
		statements.Queue(`UPDATE elicit_task t SET status = $1, record = $2, attempts = $3, ttl = $4::bigint,
				expires_at = CASE WHEN $4 > 0 THEN t.created_at + $4 * interval '1 microsecond' END,
				version = t.version + 1, updated_at = now(),
				worker = CASE WHEN $5::boolean THEN t.worker ELSE $6 END,
				due_at = CASE WHEN $5 THEN t.due_at ELSE now() + $7::bigint * interval '1 microsecond' END,
				run = t.run + $8
			WHERE id = $9 AND version = $10 AND `+there+` AND ($11::boolean OR (run = $12 AND worker = $13))
			RETURNING `+columns,
			string(w.row.Status), blob(w.row.Record), w.row.Attempts, micros(w.row.TTL), stays, worker, due, claimed,
			w.row.ID, w.row.Version, w.fence == nil, by.Run, by.Worker)
	}
	return send(ctx, conn, batch, &statements)
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
	if purged > 0 {
		s.kept.Forget()
	}
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
