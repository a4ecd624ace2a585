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

// Create implements tasks.Store. Creations are written one after the other, so that the rows of an owner are counted right.
func (s *Store) Create(ctx context.Context, row tasks.Row, next tasks.Next, limits tasks.Limits) (tasks.Row, error) {
	w := &write{row: row, next: next, limits: limits}
	if err := s.do(ctx, &s.creations, w); err != nil {
		return tasks.Row{}, err
	}
	if !w.done {
		return s.notCreated(ctx, w)
	}
	return w.stored, nil
}

// countKept counts the rows of an owner up to a limit, by one index for those that are finished and one for the others. One
// index of (owner, status) would be read from end to end for a count of those that are open, until the server has statistics.
const countKept = `SELECT count(*)::int AS rows FROM (SELECT FROM elicit_task WHERE owner = %[1]s AND status IN ('working', 'input_required')
	UNION ALL SELECT FROM elicit_task WHERE owner = %[1]s AND status NOT IN ('working', 'input_required') LIMIT %[2]s::int) AS kept`

var insertRow = `WITH kept AS MATERIALIZED (` + fmt.Sprintf(countKept, "$2", "$12") + `)
	INSERT INTO elicit_task AS t
		(id, owner, status, record, version, run, worker, due_at, attempts, ttl, created_at, updated_at, expires_at)
	SELECT $1, $2, $3, $4, 1, $5::bigint, $6::text, now() + $7::bigint * interval '1 microsecond', $8::int, $9::bigint, now(), now(),
		CASE WHEN $9 > 0 THEN now() + $9 * interval '1 microsecond' END
	WHERE NOT $10::boolean AND ($12 = 0 OR $12 > (SELECT rows FROM kept)) AND ($11::int = 0 OR $11 > (SELECT count(*) FROM (SELECT FROM elicit_task t
		WHERE owner = $2 AND status IN ('working', 'input_required') AND ` + there + ` LIMIT $11) AS open))
	ON CONFLICT (id) DO NOTHING RETURNING ` + columns + `, (SELECT rows FROM kept)`

// insert creates the rows of a batch.
func (s *Store) insert(ctx context.Context, conn *pgx.Conn, batch []*write) (err error) {
	var statements pgx.Batch
	coming := map[string]int{} // rows, by owner
	for n, w := range batch {
		if w.full, err = s.total.over(ctx, conn, n, w.limits.Total); err != nil {
			return err
		}
		upTo := 0
		if w.limits.OwnerTotal > 0 {
			kept, known := s.kept.Rows(w.row.Owner, w.limits.OwnerTotal)
			w.crowded, w.counts = known && kept+coming[w.row.Owner] >= w.limits.OwnerTotal, !known
			coming[w.row.Owner]++
			if w.counts {
				upTo = w.limits.OwnerTotal
			}
		}
		w.also = []any{&w.counted}
		_, worker, due, claimed := place(w.next)
		statements.Queue(insertRow,
			w.row.ID, w.row.Owner, string(w.row.Status), blob(w.row.Record), claimed, worker, due, w.row.Attempts, micros(w.row.TTL), w.full || w.crowded, w.limits.Owner, upTo)
	}
	if err := send(ctx, conn, batch, &statements); err != nil {
		return err
	}
	for _, w := range batch {
		if w.done {
			s.total.add(1)
			if w.counts {
				s.kept.Counted(w.row.Owner, w.counted+1)
			} else {
				s.kept.Add(w.row.Owner)
			}
		}
	}
	return nil
}

// notCreated finds out why there is no new row.
func (s *Store) notCreated(ctx context.Context, w *write) (stored tasks.Row, err error) {
	err = s.call(ctx, "create", true, func(ctx context.Context, conn *pgx.Conn) error {
		var expired bool
		err := scanRow(conn.QueryRow(ctx, "SELECT "+columns+", NOT "+there+" FROM elicit_task t WHERE id = $1", w.row.ID), &stored, &expired)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && w.full:
			return tasks.ErrTotalLimit
		case errors.Is(err, pgx.ErrNoRows):
			if !w.crowded && w.counts {
				var rows int
				if err := conn.QueryRow(ctx, fmt.Sprintf(countKept, "$1", "$2"), w.row.Owner, w.limits.OwnerTotal).Scan(&rows); err != nil {
					return err
				}
				s.kept.Counted(w.row.Owner, rows)
				w.crowded = rows >= w.limits.OwnerTotal
			}
			if w.crowded {
				return tasks.ErrOwnerTotalLimit
			}
			return tasks.ErrOwnerLimit
		case err == nil && stored.Owner != w.row.Owner:
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
