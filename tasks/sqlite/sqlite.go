// Package sqlite keeps tasks in a SQLite file, for a server that is one process:
//
//	store, err := sqlite.Open(ctx, "/var/lib/shop/tasks.db")
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer store.Close()
//
// A write is on the disk when the call returns: journal mode WAL, synchronous FULL. Writes that come at the same time share
// one transaction. The file, and those that SQLite puts beside it, can be read by their owner only.
//
// The file is of one process at a time, and on a disk of its machine: locks of network file systems cannot be relied on. For
// several instances there is tasks/postgres. To back the file up while it is used, let SQLite do it:
//
//	sqlite3 tasks.db "VACUUM INTO 'backup.db'"
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/elicit-go/elicit/internal/lossy"
	"github.com/elicit-go/elicit/tasks"
)

// timeout is the longest that a call takes, opening aside.
const timeout = 5 * time.Second

// Store is a tasks.Store. Open makes it.
type Store struct {
	path    string
	lock    io.Closer // of the file
	readers *sql.DB
	writer  *writer
	workers workers
	hints   *lossy.Chan[tasks.Hint]
	closed  chan struct{}
	close   func() error
}

var _ tasks.Store = (*Store)(nil)

// Open opens the file at path, or makes it; its directory must be there. It brings the tables of an older version up to date.
// Rows of a process that ended without a word are due at once. Open fails if another process, or another Store of this
// one, has the file open.
func Open(ctx context.Context, path string) (_ *Store, err error) {
	s := &Store{path: path, hints: lossy.New[tasks.Hint](1 << 10), closed: make(chan struct{})}
	s.workers.until = map[string]time.Time{}
	defer func() {
		if err != nil {
			if s.readers != nil {
				s.readers.Close()
			}
			if s.lock != nil {
				s.lock.Close()
			}
			err = fmt.Errorf("tasks/sqlite: open %s: %w", path, err)
		}
	}()
	if path == "" || strings.HasPrefix(path, ":memory:") || strings.HasPrefix(path, "file:") {
		return nil, errors.New("want the path of a file; tasks.NewMemoryStore is for tasks that end with the process")
	}
	if s.path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := private(s.path); err != nil {
		return nil, err
	}
	if s.lock, err = lock(s.path); err != nil {
		return nil, err
	}
	if s.writer, err = newWriter(ctx, s); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.writer.stop()
		}
	}()
	if s.readers, err = open(s.path, "query_only(1)"); err != nil {
		return nil, err
	}
	s.readers.SetMaxOpenConns(4)
	s.readers.SetMaxIdleConns(4)
	s.close = sync.OnceValue(func() error {
		close(s.closed)
		err := errors.Join(s.writer.stop(), s.readers.Close(), s.lock.Close())
		s.hints.Close()
		return err
	})
	if _, err := s.Sweep(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close waits for the calls that have begun to write.
func (s *Store) Close() error { return s.close() }

// Hints implements tasks.Store.
func (s *Store) Hints() <-chan tasks.Hint { return s.hints.C() }

// open opens a database, with pragmas for each of its connections.
func open(path string, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_pragma": append([]string{"busy_timeout(3000)"}, pragmas...)}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), OmitHost: true, RawQuery: query.Encode()}
	return sql.Open("sqlite", u.String())
}

// private makes a file that is not there, and has its owner alone read it. SQLite gives the files beside it the same mode. It
// must not open a file that is there: to close it again would end the locks that SQLite has of it in this process.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a file")
	}
	return os.Chmod(path, 0o600)
}

// failed says what went wrong in a call of ours, and that it may be repeated.
func (s *Store) failed(ctx context.Context, call string, err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.closed:
		return fmt.Errorf("tasks/sqlite: %s: %w", call, tasks.ErrClosed)
	default:
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTimeout) {
		return fmt.Errorf("tasks/sqlite: %s: %w", call, cause) // the caller has gone
	} else if cause != nil {
		err = cause
	}
	return fmt.Errorf("tasks/sqlite: %s: %w: %s: %w", call, tasks.ErrUnavailable, s.path, err)
}

var errTimeout = fmt.Errorf("no answer within %v", timeout)

// deadline bounds a call.
func deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, timeout, errTimeout)
}
