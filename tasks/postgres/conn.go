package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/elicit-go/elicit/tasks"
)

const (
	// patience is how long a call tries again when the server cannot be reached: as long as it takes to restart.
	patience = 2 * time.Second
	// fresh is how long a connection may have been idle and be used without a look at it.
	fresh = time.Second
)

// call runs one call of the Store within its deadline. Where repeat is true, do may be done twice, and is when the first time's
// outcome is not known; else only when nothing has happened.
func (s *Store) call(ctx context.Context, name string, repeat bool, do func(context.Context, *pgx.Conn) error) error {
	switch {
	case s.ctx.Err() != nil:
		return fmt.Errorf("tasks/postgres: %s: %w", name, tasks.ErrClosed)
	case ctx.Err() != nil:
		return fmt.Errorf("tasks/postgres: %s: %w", name, context.Cause(ctx))
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	start := time.Now()
	for {
		err := s.with(bounded, do)
		var answer *pgconn.PgError
		switch {
		case err == nil || expected(err):
			return err
		case s.ctx.Err() != nil:
			return fmt.Errorf("tasks/postgres: %s: %w", name, tasks.ErrClosed)
		case ctx.Err() != nil:
			return fmt.Errorf("tasks/postgres: %s: %w", name, context.Cause(ctx)) // the caller has gone
		case bounded.Err() != nil:
			return s.noAnswer(name)
		case errors.As(err, &answer) && !passing(answer.Code):
			return fmt.Errorf("tasks/postgres: %s: %s: %w", name, s.where, err)
		case time.Since(start) > patience || !(repeat || pgconn.SafeToRetry(err) || answer != nil && rolledBack(answer.Code)):
			return fmt.Errorf("tasks/postgres: %s: %w: %s: %w", name, tasks.ErrUnavailable, s.where, err)
		}
		select {
		case <-bounded.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *Store) noAnswer(name string) error {
	return fmt.Errorf("tasks/postgres: %s: %w: no answer from %s within %v", name, tasks.ErrUnavailable, s.where, timeout)
}

// passing reports whether an error of the server is one that passes: connections, resources, conflicts, a server that starts,
// stops or is a replica.
func passing(code string) bool {
	switch code[:2] {
	case "08", "40", "53", "55", "57", "58":
		return true
	}
	return code == "25006" // read-only
}

// rolledBack reports whether an error of the server says that nothing has happened: a deadlock, say.
func rolledBack(code string) bool { return code[:2] == "40" && code != "40003" } // 40003: it does not know

// expected are the errors that leave everything as it was.
func expected(err error) bool {
	for _, e := range []error{tasks.ErrNotFound, tasks.ErrExists, tasks.ErrConflict, tasks.ErrFenced, tasks.ErrLeaseLost, tasks.ErrOwnerLimit, tasks.ErrOwnerTotalLimit, tasks.ErrTotalLimit} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// with runs do on a connection of the pool.
func (s *Store) with(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release(conn)
	return do(ctx, conn.Conn())
}

// acquire takes a connection that works, as far as can be told.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	for {
		conn, err := s.pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		used, ok := conn.Conn().PgConn().CustomData()[lastUse].(time.Time)
		if !ok || time.Since(used) < fresh {
			return conn, nil
		}
		pinging, cancel := context.WithTimeout(ctx, time.Second)
		err = conn.Ping(pinging)
		cancel()
		if err == nil {
			return conn, nil
		}
		release(conn)
	}
}

const lastUse = "elicit: last use"

// release gives a connection back. One that is broken leaves the pool at once, which would otherwise keep its place for
// as long as it takes to say farewell to a server that cannot be reached, a quarter of a minute.
func release(conn *pgxpool.Conn) {
	if c := conn.Conn(); c.IsClosed() {
		conn.Hijack()
		c.PgConn().Conn().Close()
		return
	}
	conn.Conn().PgConn().CustomData()[lastUse] = time.Now()
	conn.Release()
}
