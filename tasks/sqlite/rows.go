package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/elicit-go/elicit/tasks"
)

const (
	columns = "id, owner, status, record, version, run, worker, due_at, attempts, ttl, created_at, updated_at"
	// there is what holds for a row that has not expired; it takes the time.
	there = "(expires_at IS NULL OR expires_at > ?)"
)

func scanRow(from scanner, row *tasks.Row) error {
	var worker sql.NullString
	var due sql.NullInt64
	var ttl, created, updated int64
	*row = tasks.Row{}
	err := from.Scan(&row.ID, &row.Owner, &row.Status, &row.Record, &row.Version, &row.Run, &worker, &due, &row.Attempts, &ttl, &created, &updated)
	row.Worker = worker.String
	if due.Valid {
		row.Due = time.UnixMicro(due.Int64).UTC()
	}
	row.TTL = time.Duration(ttl) * time.Microsecond
	row.Created, row.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	return err
}

// place is Next as columns: the worker, when the row is due, and one if it is claimed.
func place(next tasks.Next, now int64) (worker, due any, claimed int) {
	switch {
	case next.Due:
		due = now + max(next.After, 0).Microseconds()
	case next.Worker != "":
		worker, claimed = next.Worker, 1
	}
	return worker, due, claimed
}

// micros is a TTL as it is stored: 0 is forever.
func micros(ttl time.Duration) int64 {
	if ttl <= 0 {
		return 0
	}
	return max(ttl.Microseconds(), 1)
}

// blob is a record or result as it is stored, which is never NULL and not the caller's.
func blob(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }

// Create implements tasks.Store.
func (s *Store) Create(ctx context.Context, row tasks.Row, next tasks.Next, limits tasks.Limits) (tasks.Row, error) {
	row.Record = blob(row.Record)
	ttl := micros(row.TTL)
	var stored tasks.Row
	err := s.write(ctx, "create", len(row.Record), func(t *tx) error {
		worker, due, claimed := place(next, t.now)
		full := limits.Total > 0 && t.total+t.added >= limits.Total
		crowded, err := t.crowded(row.Owner, limits.OwnerTotal)
		if err != nil {
			return err
		}
		n, err := t.exec(`INSERT INTO task (`+columns+`, expires_at)
			SELECT ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ? > 0 THEN ? END
			WHERE NOT ? AND NOT ? AND (? = 0 OR ? > (SELECT count(*) FROM (SELECT 1 FROM task
				WHERE owner = ? AND status IN ('working', 'input_required') AND `+there+` LIMIT ?)))
			ON CONFLICT (id) DO NOTHING`,
			row.ID, row.Owner, row.Status, row.Record, claimed, worker, due, row.Attempts, ttl, t.now, t.now, ttl, t.now+ttl,
			full, crowded, limits.Owner, limits.Owner, row.Owner, t.now, limits.Owner)
		if err != nil {
			return err
		}
		if n == 0 {
			if err = t.get(row.ID, &stored); err == nil && stored.Owner != row.Owner {
				return tasks.ErrExists
			}
			if !errors.Is(err, tasks.ErrNotFound) {
				return err
			}
			// The row is not there. Either it has expired, or it is over a limit.
			expired := false
			switch err := t.query(func(scanner) error { expired = true; return nil }, "SELECT 1 FROM task WHERE id = ?", row.ID); {
			case err != nil:
				return err
			case expired:
				return tasks.ErrNotFound
			case full:
				return tasks.ErrTotalLimit
			case crowded:
				return tasks.ErrOwnerTotalLimit
			}
			return tasks.ErrOwnerLimit
		}
		t.added++
		t.kept.Add(row.Owner)
		now := time.UnixMicro(t.now).UTC()
		stored = tasks.Row{ID: row.ID, Owner: row.Owner, Status: row.Status, Record: row.Record, Version: 1, Run: int64(claimed), Worker: next.Worker,
			Attempts: row.Attempts, TTL: time.Duration(ttl) * time.Microsecond, Created: now, Updated: now}
		if due != nil {
			stored.Due = time.UnixMicro(due.(int64)).UTC()
		}
		t.hint(tasks.Hint{ID: row.ID, Due: next.Due && next.After <= 0})
		return nil
	})
	if err != nil {
		return tasks.Row{}, err
	}
	return stored, nil
}

// crowded reports whether an owner has as many rows as limit, if that is not 0.
func (t *tx) crowded(owner string, limit int) (bool, error) {
	if limit <= 0 {
		return false, nil
	}
	rows, known := t.kept.Rows(owner, limit)
	if !known {
		err := t.query(func(from scanner) error { return from.Scan(&rows) },
			`SELECT count(*) FROM (SELECT 1 FROM task WHERE owner = ?1 AND status IN ('working', 'input_required')
				UNION ALL SELECT 1 FROM task WHERE owner = ?1 AND status NOT IN ('working', 'input_required') LIMIT ?2)`, owner, limit)
		if err != nil {
			return false, err
		}
		t.kept.Counted(owner, rows)
	}
	return rows >= limit, nil
}

// get reads a row that is there.
func (t *tx) get(id string, row *tasks.Row) error {
	found := false
	err := t.query(func(from scanner) error {
		found = true
		return scanRow(from, row)
	}, "SELECT "+columns+" FROM task WHERE id = ? AND "+there, id, t.now)
	if err == nil && !found {
		err = tasks.ErrNotFound
	}
	return err
}

// read calls scan for each row that readers find.
func (s *Store) read(ctx context.Context, name string, scan func(scanner) error, query string, args ...any) error {
	ctx, cancel := deadline(ctx)
	defer cancel()
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err == nil {
		err = each(rows, scan)
	}
	return s.failed(ctx, name, err)
}

// Get implements tasks.Store.
func (s *Store) Get(ctx context.Context, id string) (row tasks.Row, err error) {
	found := false
	err = s.read(ctx, "get", func(from scanner) error {
		found = true
		return scanRow(from, &row)
	}, "SELECT "+columns+" FROM task WHERE id = ? AND "+there, id, time.Now().UnixMicro())
	if err == nil && !found {
		err = tasks.ErrNotFound
	}
	if err != nil {
		return tasks.Row{}, err
	}
	return row, nil
}

// Put implements tasks.Store.
func (s *Store) Put(ctx context.Context, fence *tasks.Fence, row tasks.Row, next tasks.Next) (tasks.Row, error) {
	row.Record = blob(row.Record)
	ttl := micros(row.TTL)
	by := tasks.Fence{}
	if fence != nil {
		by = *fence
	}
	var stored tasks.Row
	err := s.write(ctx, "put", len(row.Record), func(t *tx) error {
		worker, due, claimed := place(next, t.now)
		stays := next == tasks.Next{}
		found := false
		err := t.query(func(from scanner) error {
			found = true
			return scanRow(from, &stored)
		}, `UPDATE task SET status = ?, record = ?, attempts = ?, ttl = ?, expires_at = CASE WHEN ? > 0 THEN created_at + ? END,
				version = version + 1, updated_at = ?,
				worker = CASE WHEN ? THEN worker ELSE ? END, due_at = CASE WHEN ? THEN due_at ELSE ? END, run = run + ?
			WHERE id = ? AND version = ? AND `+there+` AND (? OR (run = ? AND worker = ?))
			RETURNING `+columns,
			row.Status, row.Record, row.Attempts, ttl, ttl, ttl, t.now,
			stays, worker, stays, due, claimed,
			row.ID, row.Version, t.now, fence == nil, by.Run, by.Worker)
		if err != nil {
			return err
		}
		if !found {
			if err := t.get(row.ID, &stored); err != nil {
				return err
			}
			if fence != nil && stored.Fence() != (tasks.Fence{ID: row.ID, Run: by.Run, Worker: by.Worker}) {
				return tasks.ErrFenced
			}
			return tasks.ErrConflict
		}
		t.hint(tasks.Hint{ID: row.ID, Due: next.Due && next.After <= 0})
		return nil
	})
	if err != nil {
		return tasks.Row{}, err
	}
	return stored, nil
}

// Purge implements tasks.Store.
func (s *Store) Purge(ctx context.Context, n int) (int, error) {
	purged := 0
	err := s.write(ctx, "purge", 0, func(t *tx) (err error) {
		const expired = "SELECT id FROM task WHERE expires_at <= ? ORDER BY expires_at, seq LIMIT ?"
		if _, err = t.exec("DELETE FROM step WHERE task_id IN ("+expired+")", t.now, n); err != nil {
			return err
		}
		purged, err = t.exec("DELETE FROM task WHERE id IN ("+expired+")", t.now, n)
		t.added -= purged
		if purged > 0 {
			t.kept.Forget()
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return purged, nil
}

// Stats implements tasks.Store.
func (s *Store) Stats(ctx context.Context) (stats tasks.Stats, err error) {
	now := time.Now().UnixMicro()
	var oldest sql.NullInt64
	err = s.read(ctx, "stats", func(from scanner) error {
		return from.Scan(&stats.Rows, &stats.Running, &stats.Due, &oldest)
	}, `SELECT (SELECT count(*) FROM task), (SELECT count(*) FROM task WHERE worker IS NOT NULL),
		(SELECT count(*) FROM task WHERE due_at <= ?), (SELECT min(due_at) FROM task WHERE due_at <= ?)`, now, now)
	if oldest.Valid {
		stats.OldestDue = time.Duration(now-oldest.Int64) * time.Microsecond
	}
	stats.Workers = s.workers.count()
	return stats, err
}
