package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/elicit-go/elicit/internal/tally"
	"github.com/elicit-go/elicit/tasks"
)

// A batch is the writes of one transaction, at most.
const (
	maxWrites = 256
	maxBytes  = 8 << 20
)

// writer is the one connection that writes. What comes while a transaction is on its way to the disk goes into the next one, so
// that many writes share the wait for the disk.
type writer struct {
	store *Store
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	total int         // rows
	kept  tally.Tally // rows, by owner
	calls chan *call
	stop  func() error
}

// A call is one write. Its errors are those of tasks.Store and leave everything as it was, or the database's, after which
// nothing of its transaction happens.
type call struct {
	do    func(*tx) error
	bytes int
	err   error
	done  chan struct{}
}

// A tx is the transaction of a batch.
type tx struct {
	*writer
	now   int64 // microseconds
	added int   // rows
	hints []tasks.Hint
}

func newWriter(ctx context.Context, s *Store) (_ *writer, err error) {
	w := &writer{store: s, stmts: map[string]*sql.Stmt{}, calls: make(chan *call)}
	if w.db, err = open(s.path, "synchronous(FULL)"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.db.Close()
		}
	}()
	w.db.SetMaxOpenConns(1)
	if _, err = migrate(ctx, w.db); err != nil {
		return nil, err
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return nil, err
	}
	if err = w.conn.QueryRowContext(ctx, "SELECT count(*) FROM task").Scan(&w.total); err != nil {
		return nil, err
	}
	stopping, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case first := <-w.calls:
				w.run(w.gather(first))
			case <-stopping:
				return
			}
		}
	}()
	w.stop = sync.OnceValue(func() error {
		close(stopping)
		<-stopped
		return errors.Join(w.conn.Close(), w.db.Close())
	})
	return w, nil
}

// gather takes the calls that are waiting.
func (w *writer) gather(first *call) []*call {
	batch, bytes := []*call{first}, first.bytes
	for len(batch) < maxWrites && bytes < maxBytes {
		select {
		case c := <-w.calls:
			batch, bytes = append(batch, c), bytes+c.bytes
		default:
			return batch
		}
	}
	return batch
}

// run writes a batch. Where it fails each call is tried on its own, so that one does not fail for another.
func (w *writer) run(batch []*call) {
	t := &tx{writer: w, now: time.Now().UnixMicro()}
	err := w.transaction(t, batch)
	if err != nil {
		w.kept.Forget() // it counts what did not happen
	}
	if err != nil && len(batch) > 1 {
		for _, c := range batch {
			w.run([]*call{c})
		}
		return
	}
	if err == nil {
		w.total += t.added
		w.store.hints.Send(t.hints...)
	}
	for _, c := range batch {
		if err != nil {
			c.err = err
		}
		close(c.done)
	}
}

// transaction returns an error if nothing has happened, or if that is not known.
func (w *writer) transaction(t *tx, batch []*call) error {
	if _, err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, c := range batch {
		if c.err = c.do(t); c.err != nil && !expected(c.err) {
			return errors.Join(c.err, t.rollback())
		}
	}
	if _, err := t.exec("COMMIT"); err != nil {
		return errors.Join(err, t.rollback())
	}
	return nil
}

// rollback ends the transaction, which some errors of SQLite have done already.
func (t *tx) rollback() error {
	_, err := t.exec("ROLLBACK")
	if _, still := t.exec("BEGIN"); still != nil {
		return err
	}
	_, err = t.exec("ROLLBACK")
	return err
}

// expected are the errors that leave everything as it was.
func expected(err error) bool {
	for _, e := range []error{tasks.ErrNotFound, tasks.ErrExists, tasks.ErrConflict, tasks.ErrFenced, tasks.ErrOwnerLimit, tasks.ErrOwnerTotalLimit, tasks.ErrTotalLimit} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// stmt prepares each statement once. Only the writer's goroutine calls it.
func (w *writer) stmt(query string) (*sql.Stmt, error) {
	if s := w.stmts[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), query)
	if err == nil {
		w.stmts[query] = s
	}
	return s, err
}

func (t *tx) exec(query string, args ...any) (changed int, err error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// query calls scan for each row.
func (t *tx) query(scan func(scanner) error, query string, args ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	return each(rows, scan)
}

type scanner interface{ Scan(...any) error }

func each(rows *sql.Rows, scan func(scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// hint says what has changed, once the transaction is on the disk.
func (t *tx) hint(h tasks.Hint) { t.hints = append(t.hints, h) }

// write has the writer do something. It fails by itself where the writer does not answer in time; then do may still be done.
func (s *Store) write(ctx context.Context, name string, bytes int, do func(*tx) error) error {
	ctx, cancel := deadline(ctx)
	defer cancel()
	c := &call{do: do, bytes: bytes, done: make(chan struct{})}
	if ctx.Err() != nil {
		return s.failed(ctx, name, ctx.Err())
	}
	select {
	case s.writer.calls <- c:
	case <-s.closed:
		return s.failed(ctx, name, tasks.ErrClosed)
	case <-ctx.Done():
		return s.failed(ctx, name, ctx.Err())
	}
	select {
	case <-c.done:
		if c.err != nil && !expected(c.err) {
			return s.failed(ctx, name, c.err)
		}
		return c.err
	case <-ctx.Done():
		return s.failed(ctx, name, ctx.Err())
	}
}
