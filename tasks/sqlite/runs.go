package sqlite

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/elicit-go/elicit/tasks"
)

// PutStep implements tasks.Store.
func (s *Store) PutStep(ctx context.Context, fence tasks.Fence, step tasks.Step) error {
	result := blob(step.Result)
	return s.write(ctx, "put step", len(result), func(t *tx) error {
		has := false
		err := t.query(func(scanner) error {
			has = true
			return nil
		}, "SELECT 1 FROM task WHERE id = ? AND run = ? AND worker = ? AND "+there, fence.ID, fence.Run, fence.Worker, t.now)
		if err == nil && !has {
			var row tasks.Row
			if err = t.get(fence.ID, &row); err == nil {
				err = tasks.ErrFenced
			}
		}
		if err != nil {
			return err
		}
		_, err = t.exec("INSERT INTO step (task_id, name, result) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", fence.ID, step.Name, result)
		return err
	})
}

// Steps implements tasks.Store.
func (s *Store) Steps(ctx context.Context, id string) (steps []tasks.Step, err error) {
	err = s.read(ctx, "steps", func(from scanner) error {
		var step tasks.Step
		err := from.Scan(&step.Name, &step.Result)
		steps = append(steps, step)
		return err
	}, "SELECT name, result FROM step WHERE task_id = (SELECT id FROM task WHERE id = ? AND "+there+") ORDER BY seq", id, time.Now().UnixMicro())
	return steps, err
}

// Claim implements tasks.Store.
func (s *Store) Claim(ctx context.Context, worker string, n int) ([]tasks.Row, error) {
	var rows []tasks.Row
	if n <= 0 {
		return nil, nil
	}
	err := s.write(ctx, "claim", 0, func(t *tx) error {
		rows = nil
		err := t.query(func(from scanner) error {
			var row tasks.Row
			err := scanRow(from, &row)
			rows = append(rows, row)
			return err
		}, "SELECT "+columns+" FROM task WHERE due_at <= ? AND "+there+" ORDER BY due_at, seq LIMIT ?", t.now, t.now, n)
		for i := range rows {
			row := &rows[i]
			if err == nil {
				_, err = t.exec("UPDATE task SET worker = ?, due_at = NULL, run = run + 1, version = version + 1, updated_at = ? WHERE id = ?", worker, t.now, row.ID)
			}
			row.Worker, row.Due, row.Updated = worker, time.Time{}, time.UnixMicro(t.now).UTC()
			row.Run++
			row.Version++
			t.hint(tasks.Hint{ID: row.ID})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// Running implements tasks.Store.
func (s *Store) Running(ctx context.Context, worker string) (running []tasks.Running, err error) {
	now := time.Now().UnixMicro()
	err = s.read(ctx, "running", func(from scanner) error {
		r := tasks.Running{Fence: tasks.Fence{Worker: worker}}
		var updated int64
		err := from.Scan(&r.ID, &r.Run, &updated)
		r.For = time.Duration(now-updated) * time.Microsecond
		running = append(running, r)
		return err
	}, "SELECT id, run, updated_at FROM task WHERE worker = ? AND "+there, worker, now)
	return running, err
}

// release makes rows due that a condition holds for.
func (t *tx) release(attempts int, condition string, args ...any) (n int, err error) {
	err = t.query(func(from scanner) error {
		var id string
		n++
		err := from.Scan(&id)
		t.hint(tasks.Hint{ID: id, Due: true})
		return err
	}, `UPDATE task SET worker = NULL, due_at = ?, version = version + 1, attempts = attempts + ?, updated_at = ?
		WHERE worker IS NOT NULL AND `+condition+` RETURNING id`, append([]any{t.now, attempts, t.now}, args...)...)
	return n, err
}

// Release implements tasks.Store.
func (s *Store) Release(ctx context.Context, fences ...tasks.Fence) error {
	fences = slices.Clone(fences)
	return s.write(ctx, "release", 0, func(t *tx) error {
		for _, f := range fences {
			if _, err := t.release(0, "id = ? AND run = ? AND worker = ? AND "+there, f.ID, f.Run, f.Worker, t.now); err != nil {
				return err
			}
		}
		return nil
	})
}

// workers are those that are alive. A file has one process, and they end with it, so they are not in the file.
type workers struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (w *workers) alive(worker string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.until[worker].After(time.Now())
}

func (w *workers) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, now := 0, time.Now()
	for worker, until := range w.until {
		if until.After(now) {
			n++
		} else {
			delete(w.until, worker)
		}
	}
	return n
}

// Join implements tasks.Store.
func (s *Store) Join(ctx context.Context, worker string, lease time.Duration) error {
	return s.lease(ctx, "join", worker, lease, true)
}

// Renew implements tasks.Store.
func (s *Store) Renew(ctx context.Context, worker string, lease time.Duration) error {
	return s.lease(ctx, "renew", worker, lease, s.workers.alive(worker))
}

func (s *Store) lease(ctx context.Context, call, worker string, lease time.Duration, allowed bool) error {
	select {
	case <-s.closed:
		return s.failed(ctx, call, tasks.ErrClosed)
	default:
	}
	if ctx.Err() != nil {
		return s.failed(ctx, call, ctx.Err())
	}
	if !allowed {
		return tasks.ErrLeaseLost
	}
	s.workers.mu.Lock()
	defer s.workers.mu.Unlock()
	s.workers.until[worker] = time.Now().Add(lease)
	return nil
}

// Leave implements tasks.Store.
func (s *Store) Leave(ctx context.Context, worker string) error {
	err := s.write(ctx, "leave", 0, func(t *tx) error {
		_, err := t.release(0, "worker = ?", worker)
		return err
	})
	if err == nil {
		s.workers.mu.Lock()
		defer s.workers.mu.Unlock()
		delete(s.workers.until, worker)
	}
	return err
}

// Sweep implements tasks.Store.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	found := 0
	err := s.write(ctx, "sweep", 0, func(t *tx) error {
		found = 0
		var dead []string
		err := t.query(func(from scanner) error {
			var worker string
			err := from.Scan(&worker)
			if !s.workers.alive(worker) {
				dead = append(dead, worker)
			}
			return err
		}, "SELECT DISTINCT worker FROM task WHERE worker IS NOT NULL")
		for _, worker := range dead {
			if err == nil {
				var n int
				n, err = t.release(1, "worker = ?", worker)
				found += n
			}
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	s.workers.count() // forgets the dead
	return found, nil
}
