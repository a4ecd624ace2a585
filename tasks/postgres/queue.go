package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/elicit-go/elicit/tasks"
)

// A batch is the writes of one transaction, at most.
const (
	maxWrites = 256
	maxBytes  = 8 << 20
)

// lockNotAvailable is the code of an error of the server: a lock was not to be had in time.
const lockNotAvailable = "55P03"

// A write is a statement on its way, and what came of it.
type write struct {
	row    tasks.Row
	next   tasks.Next
	limits tasks.Limits // of a creation
	fence  *tasks.Fence // of a put, if it has one

	full    bool  // there are as many rows as limits allow
	crowded bool  // …of the owner
	counts  bool  // has the database count those of the owner…
	counted int   // …of which there were so many, if the row was written
	also    []any // where to put what the statement returns besides the row

	done   bool // it has written
	stored tasks.Row
	err    error
	ended  chan struct{}
}

// A queue writes what comes while a transaction is on its way in the next one, so that many share the way and the wait for
// the disk.
type queue struct {
	name   string // of the call
	repeat bool   // as in Store.call
	store  func(context.Context, *pgx.Conn, []*write) error
	writes chan *write
}

// do waits for a write, which may happen though the caller has gone.
func (s *Store) do(ctx context.Context, q *queue, w *write) error {
	if ctx.Err() != nil {
		return fmt.Errorf("tasks/postgres: %s: %w", q.name, context.Cause(ctx))
	}
	w.row.Record = slices.Clone(w.row.Record) // it may be read when the caller has gone
	w.ended = make(chan struct{})
	late := time.NewTimer(timeout)
	defer late.Stop()
	writes := q.writes
	for {
		select {
		case writes <- w:
			writes = nil
		case <-w.ended:
			return w.err
		case <-s.ctx.Done():
			return fmt.Errorf("tasks/postgres: %s: %w", q.name, tasks.ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("tasks/postgres: %s: %w", q.name, context.Cause(ctx))
		case <-late.C:
			return s.noAnswer(q.name)
		}
	}
}

// run writes what comes, until the Store is closed.
func (s *Store) run(q *queue) {
	for {
		var first *write
		select {
		case <-s.ctx.Done():
			return
		case first = <-q.writes:
		}
		batch, bytes := []*write{first}, len(first.row.Record)
	gathering:
		for len(batch) < maxWrites && bytes < maxBytes {
			select {
			case w := <-q.writes:
				batch, bytes = append(batch, w), bytes+len(w.row.Record)
			default:
				break gathering
			}
		}
		// Two instances that lock the same rows do it in the same order.
		slices.SortStableFunc(batch, func(a, b *write) int { return strings.Compare(a.row.ID, b.row.ID) })
		s.write(q, batch)
	}
}

// write writes a batch. Where the server refuses it, or somebody holds one of its rows, each write is tried on its own, so
// that one does not fail for another.
func (s *Store) write(q *queue, batch []*write) {
	err := s.call(s.ctx, q.name, q.repeat, func(ctx context.Context, conn *pgx.Conn) error { return q.store(ctx, conn, batch) })
	var answer *pgconn.PgError
	held := errors.As(err, &answer) && answer.Code == lockNotAvailable
	if err != nil && len(batch) > 1 && (held || !errors.Is(err, tasks.ErrUnavailable)) && !errors.Is(err, tasks.ErrClosed) {
		for _, w := range batch {
			s.write(q, []*write{w})
		}
		return
	}
	for _, w := range batch {
		if w.err = err; err == nil && w.done {
			s.hint(tasks.Hint{ID: w.row.ID, Due: w.next.Due && w.next.After <= 0})
		}
		close(w.ended)
	}
}

// send runs the statements of a batch in one transaction.
func send(ctx context.Context, conn *pgx.Conn, batch []*write, statements *pgx.Batch) error {
	results := conn.SendBatch(ctx, statements)
	for _, w := range batch {
		err := scanRow(results.QueryRow(), &w.stored, w.also...)
		if w.done = err == nil; err != nil && !errors.Is(err, pgx.ErrNoRows) {
			results.Close()
			return err
		}
	}
	return results.Close() // the transaction ends here
}
