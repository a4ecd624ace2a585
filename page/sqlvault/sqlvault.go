package sqlvault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/page"
)

// Options of [New]. A nil *Options and the zero value work.
type Options struct {
	// Table is the table's name, which may be preceded by that of a schema: small letters, digits and underscores.
	// Default elicit_vault.
	Table string

	// Timeout is how long a statement may take, waiting for a connection included. Default 10 seconds.
	Timeout time.Duration
}

// A Vault is a [page.Vault] in a table. Make it with [New].
type Vault struct {
	db      *sql.DB
	dialect Dialect
	timeout time.Duration
	now     func() time.Time
	tidied  atomic.Int64 // Unix milliseconds
	turns   sync.RWMutex // SQLite: its own waiting is by chance, and may take long where many write

	add, replace, remove, secrets, tidy, owned string
	table                                      string
}

var _ page.Vault = (*Vault)(nil)

var tableName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$`)

// New keeps a vault in db, which stays the caller's, and makes the table and its index where they are missing. Several
// instances may do that at the same time.
func New(ctx context.Context, db *sql.DB, dialect Dialect, opts *Options) (*Vault, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Table == "" {
		o.Table = "elicit_vault"
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	switch {
	case db == nil:
		return nil, errors.New("sqlvault: the database is nil: give it what sql.Open returned")
	case !tableName.MatchString(o.Table):
		return nil, fmt.Errorf("sqlvault: Options.Table is %q: small letters, digits and underscores, after the name of a schema and a dot if need be", o.Table)
	case o.Timeout < 0:
		return nil, fmt.Errorf("sqlvault: Options.Timeout is %v: leave it 0 for 10 s", o.Timeout)
	}
	v := &Vault{db: db, dialect: dialect, timeout: o.Timeout, now: time.Now, table: o.Table}
	switch dialect {
	case SQLite, PostgreSQL:
		v.prepare()
	default:
		return nil, fmt.Errorf("sqlvault: there is no dialect %d: use SQLite or PostgreSQL; for another database, implement page.Vault", dialect)
	}
	if err := v.create(ctx); err != nil {
		return nil, fmt.Errorf("sqlvault: making table %s: %w", o.Table, err)
	}
	return v, nil
}

// Find implements [page.Vault].
func (v *Vault) Find(ctx context.Context, keys ...string) ([]page.Entry, error) {
	var found []page.Entry
	for len(keys) > 0 {
		n := min(len(keys), maxKeys)
		some, err := v.find(ctx, keys[:n])
		if err != nil {
			return nil, fmt.Errorf("sqlvault: %w", err)
		}
		found, keys = append(found, some...), keys[n:]
	}
	return found, nil
}

// maxKeys is how many keys one statement looks for.
const maxKeys = 512

func (v *Vault) find(ctx context.Context, keys []string) (found []page.Entry, err error) {
	// Drivers remember statements by their text, so there are few texts: the last key is repeated up to a power of two.
	n := 1
	for n < len(keys) {
		n *= 2
	}
	args := make([]any, 0, n+1)
	args = append(args, millis(v.now()))
	var in strings.Builder
	for i := range n {
		if i > 0 {
			in.WriteByte(',')
		}
		in.WriteString(v.dialect.parameter(i + 2))
		args = append(args, keys[min(i, len(keys)-1)])
	}
	query := "SELECT key, owner, secret, sealed, expires_at FROM " + v.table + " WHERE expires_at > " + v.dialect.parameter(1) + " AND key IN (" + in.String() + ")"
	err = v.try(ctx, v.turns.RLocker(), func(ctx context.Context) error {
		found = nil
		rows, err := v.db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e page.Entry
			var expires int64
			if err := rows.Scan(&e.Key, &e.Owner, &e.Secret, &e.Sealed, &expires); err != nil {
				return err
			}
			e.Expires = time.UnixMilli(expires)
			found = append(found, e)
		}
		return rows.Err()
	})
	return found, err
}

// Add implements [page.Vault].
func (v *Vault) Add(ctx context.Context, e page.Entry) (bool, error) {
	now := v.now()
	v.tidyUp(ctx, now)
	if err := v.room(ctx, e.Owner, 1, len(e.Sealed)); err != nil {
		return false, err
	}
	return v.exec(ctx, v.add, e.Key, e.Owner, e.Secret, sealed(e), millis(e.Expires), millis(now))
}

// room fails if an owner has no room for more. Those who add at the same time may get a little over it.
func (v *Vault) room(ctx context.Context, owner string, entries, bytes int) error {
	if owner == "" {
		return nil
	}
	var has, holds int
	err := v.try(ctx, v.turns.RLocker(), func(ctx context.Context) error {
		return v.db.QueryRowContext(ctx, v.owned, owner, millis(v.now())).Scan(&has, &holds)
	})
	switch {
	case err != nil:
		return fmt.Errorf("sqlvault: %w", err)
	case has+entries > tool.OwnerEntries, holds+bytes > tool.OwnerBytes:
		return fmt.Errorf("%w for this owner, who has %d entries in it", page.ErrVaultFull, has)
	}
	return nil
}

// Replace implements [page.Vault].
func (v *Vault) Replace(ctx context.Context, old, e page.Entry) (bool, error) {
	if old.Key != e.Key {
		return false, fmt.Errorf("sqlvault: entry %q cannot replace entry %q", e.Key, old.Key)
	}
	if more := len(e.Sealed) - len(old.Sealed); more > 0 {
		if err := v.room(ctx, e.Owner, 0, more); err != nil {
			return false, err
		}
	}
	return v.exec(ctx, v.replace, e.Secret, sealed(e), millis(e.Expires), e.Key, sealed(old), millis(v.now()))
}

// Delete implements [page.Vault].
func (v *Vault) Delete(ctx context.Context, key string) (bool, error) {
	return v.exec(ctx, v.remove, key, millis(v.now()))
}

// Secrets implements [page.Vault].
func (v *Vault) Secrets(ctx context.Context) (names []string, err error) {
	err = v.try(ctx, v.turns.RLocker(), func(ctx context.Context) error {
		names = nil
		rows, err := v.db.QueryContext(ctx, v.secrets, millis(v.now()))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("sqlvault: %w", err)
	}
	return names, nil
}

// exec runs a statement for at most one row, and reports whether there was one.
func (v *Vault) exec(ctx context.Context, query string, args ...any) (did bool, err error) {
	n, err := v.execMany(ctx, query, args...)
	return n == 1, err
}

// execMany runs a statement, and returns how many rows it changed.
func (v *Vault) execMany(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = v.try(ctx, &v.turns, func(ctx context.Context) error {
		res, err := v.db.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sqlvault: %w", err)
	}
	return n, nil
}

// try runs f within the time that a statement has; again, where the database only says that it is busy: nothing was done
// then.
func (v *Vault) try(ctx context.Context, turn sync.Locker, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	pause := time.Millisecond
	for {
		err := v.turn(turn, func() error { return f(ctx) })
		if err == nil || !v.dialect.busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
}

// turn runs f in its turn.
func (v *Vault) turn(turn sync.Locker, f func() error) error {
	if v.dialect == SQLite {
		turn.Lock()
		defer turn.Unlock()
	}
	return f()
}

const (
	// tidyEvery is how often an instance removes what has expired, and tidyAgain when there was more of it than maxTidied.
	tidyEvery = time.Minute
	tidyAgain = time.Second
	maxTidied = 1000
)

// tidyUp removes some of what has expired. What goes wrong with it matters to nobody: expired rows are as good as gone.
func (v *Vault) tidyUp(ctx context.Context, now time.Time) {
	last := v.tidied.Load()
	if now.UnixMilli()-last < tidyEvery.Milliseconds() || !v.tidied.CompareAndSwap(last, now.UnixMilli()) {
		return
	}
	if n, _ := v.execMany(ctx, v.tidy, millis(now)); n >= maxTidied {
		v.tidied.Store(now.Add(tidyAgain - tidyEvery).UnixMilli())
	}
}

// sealed is never NULL.
func sealed(e page.Entry) []byte {
	if e.Sealed == nil {
		return []byte{}
	}
	return e.Sealed
}

// millis is t in Unix milliseconds, rounded down.
func millis(t time.Time) int64 { return t.UnixMilli() }
