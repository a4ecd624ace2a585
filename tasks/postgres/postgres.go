// Package postgres keeps tasks in PostgreSQL (12 or newer), for a server of several instances:
//
//	store, err := postgres.Open(ctx, os.Getenv("DATABASE_URL"))
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer store.Close()
//
// The connection string is libpq's, as a URL or as words: host, sslmode, connect_timeout and the rest, and pgxpool's
// pool_max_conns, which is 10 if not said. The tables are elicit_task, elicit_step and elicit_instance, in the first
// schema of the search_path. Open makes them, which needs the right to create tables; once that is done (also by
// `elicit migrate`), the rights to read and write them do.
//
// Connect to the server itself or to a pooler that gives each client its session: notifications and prepared statements do
// not pass through PgBouncer's transaction mode.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/elicit-go/elicit/internal/lossy"
	"github.com/elicit-go/elicit/internal/tally"
	"github.com/elicit-go/elicit/tasks"
)

const (
	// timeout is the longest that a call takes, opening aside.
	timeout = 5 * time.Second
	// connectTimeout is how long a new connection may take, where the connection string does not say less.
	connectTimeout = 3 * time.Second
	// maxConns is the size of the pool, where the connection string does not say it.
	maxConns = 10
)

// Store is a tasks.Store. Open makes it.
type Store struct {
	pool      *pgxpool.Pool
	config    *pgx.ConnConfig
	where     string // for errors: host, port and database
	name      string // of this Store among those that listen
	creations queue
	puts      queue
	total     total
	kept      tally.Tally // rows, by owner
	hints     *lossy.Chan[tasks.Hint]
	notify    chan tasks.Hint

	ctx   context.Context // ends with Close
	close func() error
}

var _ tasks.Store = (*Store)(nil)

// Open connects, and makes the tables or brings those of an older version up to date: instances that start at the same time
// do it one after the other.
func Open(ctx context.Context, connString string) (*Store, error) {
	config, err := parse(connString)
	if err != nil {
		return nil, err
	}
	s := &Store{config: config.ConnConfig.Copy(), where: where(config.ConnConfig), name: rand.Text(), kept: tally.Tally{Age: askAgain},
		hints: lossy.New[tasks.Hint](1 << 10), notify: make(chan tasks.Hint, 1<<10)}
	if _, _, err := migrate(ctx, s.config); err != nil {
		return nil, fmt.Errorf("tasks/postgres: open %s: %w", s.where, err)
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("tasks/postgres: open %s: %w", s.where, err)
	}
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithCancel(context.Background())
	s.creations = queue{name: "create", repeat: true, store: s.insert, writes: make(chan *write)}
	s.puts = queue{name: "put", store: s.update, writes: make(chan *write)}
	var loops sync.WaitGroup
	loops.Go(func() { s.run(&s.creations) })
	loops.Go(func() { s.run(&s.puts) })
	loops.Go(s.tell)
	loops.Go(s.listen)
	s.close = sync.OnceValue(func() error {
		cancel()
		loops.Wait()
		closed := make(chan struct{})
		go func() {
			s.pool.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(timeout): // a server that cannot be reached is not waited for
		}
		s.hints.Close()
		return nil
	})
	return s, nil
}

// Close interrupts calls that have begun.
func (s *Store) Close() error { return s.close() }

// Hints implements tasks.Store.
func (s *Store) Hints() <-chan tasks.Hint { return s.hints.C() }

// parse reads a connection string.
func parse(connString string) (*pgxpool.Config, error) {
	if strings.TrimSpace(connString) == "" {
		return nil, errors.New("tasks/postgres: the connection string is empty: want something like postgres://user@host/database")
	}
	config, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, fmt.Errorf("tasks/postgres: %w", err) // pgx leaves passwords out of it
	}
	if t := config.ConnConfig.ConnectTimeout; t <= 0 || t > connectTimeout {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(connString, "pool_max_conns") {
		config.MaxConns = maxConns
	}
	// The pool would ping within Acquire and then be slow to give up the connection; acquire does it.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	config.AfterConnect = prepare
	return config, nil
}

// prepare has the server notice that a client is gone, whose locks would hold up others; wait no longer than a second for a
// lock, since a batch of writes waits together; use the indexes of tables that were empty when it last looked, which plans that
// are kept would not; count in an index alone, where it would look at each row; keep the plan of each statement, where it would
// make one with each creation, which takes longer than the creation; and compile no plans, which takes a second, and which it
// thinks worth it where it has no index to use.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, err := conn.Exec(ctx, "SET statement_timeout = '10s'; SET idle_in_transaction_session_timeout = '10s'; SET lock_timeout = '1s';"+
		"SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;"+
		"SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan; SET jit = off")
	return err
}

func where(c *pgx.ConnConfig) string {
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}
