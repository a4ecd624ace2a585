package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations make the tables of one version from those of the version before. Times are microseconds since 1970. Never change
// one that was released: add another.
var migrations = []string{
	`CREATE TABLE task (
		seq        INTEGER PRIMARY KEY,
		id         TEXT NOT NULL UNIQUE,
		owner      TEXT NOT NULL,
		status     TEXT NOT NULL,
		record     BLOB NOT NULL,
		version    INTEGER NOT NULL,
		run        INTEGER NOT NULL,
		worker     TEXT,             -- runs it
		due_at     INTEGER,          -- wants a run
		attempts   INTEGER NOT NULL,
		ttl        INTEGER NOT NULL, -- 0 is forever
		created_at INTEGER NOT NULL,
		updated_at INTEGER NOT NULL,
		expires_at INTEGER
	) STRICT;
	-- A row that waits for a person, or is finished, is in neither of the first two.
	CREATE INDEX task_due     ON task (due_at) WHERE due_at IS NOT NULL;
	CREATE INDEX task_worker  ON task (worker) WHERE worker IS NOT NULL;
	CREATE INDEX task_open    ON task (owner) WHERE status IN ('working', 'input_required');
	CREATE INDEX task_expires ON task (expires_at) WHERE expires_at IS NOT NULL;
	CREATE TABLE step (
		seq     INTEGER PRIMARY KEY,
		task_id TEXT NOT NULL,
		name    TEXT NOT NULL,
		result  BLOB NOT NULL,
		UNIQUE (task_id, name)
	) STRICT;`,
	// For counts of an owner's rows: each is in this index or in task_open.
	`CREATE INDEX task_finished ON task (owner) WHERE status NOT IN ('working', 'input_required');`,
}

// Migrate brings the file at path up to date without serving from it, as Open does too: to see beforehand that it works. It
// returns the version that the file had, 0 if it was new, and the one it has.
func Migrate(ctx context.Context, path string) (from, to int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("tasks/sqlite: migrate %s: %w", path, err)
		}
	}()
	if err := private(path); err != nil {
		return 0, 0, err
	}
	l, err := lock(path)
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	db, err := open(path)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	from, err = migrate(ctx, db)
	return from, len(migrations), err
}

// migrate runs the migrations that the file lacks, all or none.
func migrate(ctx context.Context, db *sql.DB) (from int, err error) {
	// The journal mode stays with the file, and cannot be changed in a transaction.
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return 0, err
	}
	if mode != "wal" {
		return 0, fmt.Errorf("SQLite cannot have a write-ahead log here: journal mode is %s", mode)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&from); err != nil {
		return 0, err
	}
	if from > len(migrations) {
		return from, fmt.Errorf("the file has tables of version %d, this program knows %d: use the newer program", from, len(migrations))
	}
	for _, m := range migrations[from:] {
		if _, err := tx.ExecContext(ctx, m); err != nil {
			return from, err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return from, err
	}
	return from, tx.Commit()
}
