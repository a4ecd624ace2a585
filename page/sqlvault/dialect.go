package sqlvault

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/internal/tool"
)

// A Dialect is the SQL that a database understands.
type Dialect int

const (
	// SQLite is for SQLite 3.24 or newer, whatever the driver, and for what speaks its SQL.
	SQLite Dialect = iota + 1
	// PostgreSQL is for PostgreSQL 9.6 or newer, whatever the driver, and for what speaks its SQL.
	PostgreSQL
)

// parameter is the n-th parameter of a statement. SQLite has $1 too, but its drivers take it for a name.
func (d Dialect) parameter(n int) string {
	if d == SQLite {
		return "?" + strconv.Itoa(n)
	}
	return "$" + strconv.Itoa(n)
}

// bytes is the type of a column of bytes.
func (d Dialect) bytes() string {
	if d == SQLite {
		return "BLOB"
	}
	return "BYTEA"
}

// busy reports whether err says that another connection writes just now, and nothing was done. No driver is imported, so
// the text must do; it is SQLite's own.
func (d Dialect) busy(err error) bool {
	return d == SQLite && (strings.Contains(err.Error(), "database is locked") || strings.Contains(err.Error(), "database table is locked"))
}

// prepare writes the statements. Each is one, so that it is atomic without a transaction. Times are of this instance's
// clock: the clocks of instances differ by less than people notice.
func (v *Vault) prepare() {
	p := v.dialect.parameter
	v.add = "INSERT INTO " + v.table + " AS t (key, owner, secret, sealed, expires_at) VALUES (" + p(1) + ", " + p(2) + ", " + p(3) + ", " + p(4) + ", " + p(5) + ")" +
		" ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, secret = excluded.secret, sealed = excluded.sealed, expires_at = excluded.expires_at WHERE t.expires_at <= " + p(6)
	v.replace = "UPDATE " + v.table + " SET secret = " + p(1) + ", sealed = " + p(2) + ", expires_at = " + p(3) +
		" WHERE key = " + p(4) + " AND sealed = " + p(5) + " AND expires_at > " + p(6)
	v.remove = "DELETE FROM " + v.table + " WHERE key = " + p(1) + " AND expires_at > " + p(2)
	v.secrets = "SELECT DISTINCT secret FROM " + v.table + " WHERE expires_at > " + p(1)
	// No more rows are counted than decide.
	v.owned = "SELECT count(*), coalesce(sum(n), 0) FROM (SELECT length(sealed) AS n FROM " + v.table + " WHERE owner = " + p(1) + " AND expires_at > " + p(2) + " LIMIT " + strconv.Itoa(tool.OwnerEntries+1) + ") AS t"
	lock := ""
	if v.dialect == PostgreSQL {
		lock = " FOR UPDATE SKIP LOCKED" // two instances that tidy up do not wait for each other
	}
	// A row that was written anew meanwhile has not expired: hence the condition in both.
	v.tidy = "DELETE FROM " + v.table + " WHERE expires_at <= " + p(1) + " AND key IN (SELECT key FROM " + v.table + " WHERE expires_at <= " + p(1) + " LIMIT " + strconv.Itoa(maxTidied) + lock + ")"
}

// create makes the table and its index.
func (v *Vault) create(ctx context.Context) error {
	schema, name, qualified := strings.Cut(v.table, ".")
	if !qualified {
		name = v.table
	}
	index := func(column string) string {
		if v.dialect == SQLite && qualified { // there the schema is said of the index
			return "CREATE INDEX IF NOT EXISTS " + schema + "." + name + "_" + column + " ON " + name + " (" + column + ")"
		}
		return "CREATE INDEX IF NOT EXISTS " + name + "_" + column + " ON " + v.table + " (" + column + ")"
	}
	statements := []string{
		"CREATE TABLE IF NOT EXISTS " + v.table + " (key TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, secret TEXT NOT NULL, sealed " + v.dialect.bytes() + " NOT NULL, expires_at BIGINT NOT NULL)",
		index("expires_at"), index("owner"),
	}
	return v.try(ctx, &v.turns, func(ctx context.Context) error {
		tx, err := v.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // after a commit it does nothing
		if v.dialect == PostgreSQL {
			exists, err := v.exists(ctx, tx)
			if err != nil || exists { // a role that may not make tables can use one
				return err
			}
			// IF NOT EXISTS does not help against another session that makes the table at this moment.
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", createLock); err != nil {
				return err
			}
		}
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

// createLock is the key of the lock under which tables are made.
const createLock = 0x656c6963_69747661 // "elicitva"

func (v *Vault) exists(ctx context.Context, tx *sql.Tx) (bool, error) {
	var table sql.NullString
	err := tx.QueryRowContext(ctx, "SELECT to_regclass($1)::text", v.table).Scan(&table)
	return table.Valid, err
}
