package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elicit-go/elicit/tasks"
)

// PutStep implements tasks.Store. It holds the row against a claim until the step is stored, so that the next run sees it.
func (s *Store) PutStep(ctx context.Context, fence tasks.Fence, step tasks.Step) error {
	return s.call(ctx, "put step", true, func(ctx context.Context, conn *pgx.Conn) error {
		var has int
		err := conn.QueryRow(ctx, `WITH fenced AS (SELECT id FROM elicit_task t WHERE id = $1 AND run = $2 AND worker = $3 AND `+there+` FOR SHARE),
			stored AS (INSERT INTO elicit_step (task_id, name, result) SELECT id, $4, $5 FROM fenced ON CONFLICT DO NOTHING)
			SELECT count(*) FROM fenced`, fence.ID, fence.Run, fence.Worker, step.Name, blob(step.Result)).Scan(&has)
		if err != nil || has > 0 {
			return err
		}
		var row tasks.Row
		if err := get(ctx, conn, fence.ID, &row); err != nil {
			return err
		}
		return tasks.ErrFenced
	})
}

// Steps implements tasks.Store.
func (s *Store) Steps(ctx context.Context, id string) (steps []tasks.Step, err error) {
	err = s.query(ctx, "steps", true, func(rows pgx.Rows) error {
		var step tasks.Step
		err := rows.Scan(&step.Name, &step.Result)
		steps = append(steps, step)
		return err
	}, func() { steps = nil }, "SELECT name, result FROM elicit_step s JOIN elicit_task t ON t.id = s.task_id WHERE t.id = $1 AND "+there+" ORDER BY seq", id)
	return steps, err
}

// query calls scan for each row of an answer, and start before the first.
func (s *Store) query(ctx context.Context, name string, repeat bool, scan func(pgx.Rows) error, start func(), sql string, args ...any) error {
	return s.call(ctx, name, repeat, func(ctx context.Context, conn *pgx.Conn) error {
		start()
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Claim implements tasks.Store.
func (s *Store) Claim(ctx context.Context, worker string, n int) ([]tasks.Row, error) {
	if n <= 0 {
		return nil, nil
	}
	type claimed struct {
		row tasks.Row
		due time.Time
	}
	var all []claimed
	err := s.query(ctx, "claim", false, func(rows pgx.Rows) error {
		var c claimed
		err := scanRow(rows, &c.row, &c.due)
		all = append(all, c)
		return err
	}, func() { all = nil }, `WITH due AS (SELECT id, due_at FROM elicit_task t WHERE due_at <= now() AND `+there+` ORDER BY due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED)
		UPDATE elicit_task t SET worker = $1, due_at = NULL, run = run + 1, version = version + 1, updated_at = now()
		FROM due WHERE t.id = due.id RETURNING `+columns+`, due.due_at`, worker, n)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b claimed) int { return a.due.Compare(b.due) })
	rows := make([]tasks.Row, len(all))
	for i, c := range all {
		rows[i] = c.row
		s.hint(tasks.Hint{ID: c.row.ID})
	}
	return rows, nil
}

// Running implements tasks.Store.
func (s *Store) Running(ctx context.Context, worker string) (running []tasks.Running, err error) {
	err = s.query(ctx, "running", true, func(rows pgx.Rows) error {
		r := tasks.Running{Fence: tasks.Fence{Worker: worker}}
		var ago float64
		err := rows.Scan(&r.ID, &r.Run, &ago)
		r.For = time.Duration(max(ago, 0) * float64(time.Second))
		running = append(running, r)
		return err
	}, func() { running = nil }, "SELECT id, run, extract(epoch FROM now() - updated_at)::float8 FROM elicit_task t WHERE worker = $1 AND "+there, worker)
	return running, err
}

// release runs a statement that makes rows due and returns their ids.
func (s *Store) release(ctx context.Context, name string, repeat bool, sql string, args ...any) (n int, err error) {
	var ids []string
	err = s.query(ctx, name, repeat, func(rows pgx.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, func() { ids = nil }, sql, args...)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		s.hint(tasks.Hint{ID: id, Due: true})
	}
	return len(ids), nil
}

// Release implements tasks.Store.
func (s *Store) Release(ctx context.Context, fences ...tasks.Fence) error {
	var ids, workers []string
	var runs []int64
	for _, f := range fences {
		ids, runs, workers = append(ids, f.ID), append(runs, f.Run), append(workers, f.Worker)
	}
	_, err := s.release(ctx, "release", true, `UPDATE elicit_task t SET worker = NULL, due_at = now(), version = version + 1, updated_at = now()
		FROM unnest($1::text[], $2::bigint[], $3::text[]) AS f (id, run, worker)
		WHERE t.id = f.id AND t.run = f.run AND t.worker = f.worker AND `+there+` RETURNING t.id`, ids, runs, workers)
	return err
}
