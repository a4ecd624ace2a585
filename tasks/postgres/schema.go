package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// migrations make the tables of one version from those of the version before. Never change one that was released: add another.
var migrations = []string{
	`CREATE TABLE elicit_task (
		id         text PRIMARY KEY,
		owner      text NOT NULL,
		status     text NOT NULL,
		record     bytea NOT NULL,
		version    bigint NOT NULL,
		run        bigint NOT NULL,
		worker     text,            -- runs it
		due_at     timestamptz,     -- wants a run
		attempts   integer NOT NULL,
		ttl        bigint NOT NULL, -- microseconds; 0 is forever
		created_at timestamptz NOT NULL,
		updated_at timestamptz NOT NULL,
		expires_at timestamptz
	) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
	ALTER TABLE elicit_task ALTER COLUMN record SET STORAGE EXTERNAL; -- it is sealed, so it cannot be compressed
	-- A row that waits for a person, or is finished, is in neither of the first two.
	CREATE INDEX elicit_task_due     ON elicit_task (due_at) WHERE due_at IS NOT NULL;
	CREATE INDEX elicit_task_worker  ON elicit_task (worker) WHERE worker IS NOT NULL;
	CREATE INDEX elicit_task_open    ON elicit_task (owner) WHERE status IN ('working', 'input_required');
	CREATE INDEX elicit_task_expires ON elicit_task (expires_at) WHERE expires_at IS NOT NULL;
	CREATE TABLE elicit_step (
		task_id text NOT NULL,
		name    text NOT NULL,
		seq     bigint GENERATED ALWAYS AS IDENTITY,
		result  bytea NOT NULL,
		PRIMARY KEY (task_id, name)
	);
	ALTER TABLE elicit_step ALTER COLUMN result SET STORAGE EXTERNAL;
	CREATE TABLE elicit_instance (
		id    text PRIMARY KEY,
		until timestamptz NOT NULL
	)`,
	// For counts of an owner's rows: each is in this index or in elicit_task_open.
	`CREATE INDEX elicit_task_finished ON elicit_task (owner) WHERE status NOT IN ('working', 'input_required')`,
}

// migrating is the longest that a migration takes, with the wait for another instance's.
const migrating = 10 * time.Minute

// lockID is the advisory lock that a migration holds: "elicit" in ASCII.
const lockID = 0x656c69636974

// Migrate brings the tables up to date, as Open does too: for a role of its own that may create tables, or to see beforehand
// that it works. It returns the version that the database had, 0 if it was new, and the one it has.
func Migrate(ctx context.Context, connString string) (from, to int, err error) {
	config, err := parse(connString)
	if err != nil {
		return 0, 0, err
	}
	from, to, err = migrate(ctx, config.ConnConfig)
	if err != nil {
		err = fmt.Errorf("tasks/postgres: migrate %s: %w", where(config.ConnConfig), err)
	}
	return from, to, err
}

// migrate runs the migrations that the database lacks, all or none.
func migrate(ctx context.Context, config *pgx.ConnConfig) (from, to int, err error) {
	ctx, cancel := context.WithTimeout(ctx, migrating)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close(ctx)
	to = len(migrations)
	// Whoever may only read and write the tables must be able to start, so nothing is written where nothing lacks.
	if from, err = version(ctx, conn); err != nil || from == to {
		return from, to, err
	}
	// The lock comes before the transaction, which would not see what others did while it waited. It ends with the connection.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockID)); err != nil {
		return from, to, err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var err error
		if from, err = version(ctx, tx); err != nil || from == to { // another instance did it
			return err
		}
		if from > to {
			return fmt.Errorf("the database has tables of version %d, this program knows %d: use the newer program", from, to)
		}
		if from == 0 {
			if _, err := tx.Exec(ctx, "CREATE TABLE elicit_version (version integer NOT NULL); INSERT INTO elicit_version VALUES (0)"); err != nil {
				return err
			}
		}
		for _, m := range migrations[from:] {
			if _, err := tx.Exec(ctx, m); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, "UPDATE elicit_version SET version = $1", to)
		return err
	})
	return from, to, err
}

// version reads the version of the tables, 0 if there are none.
func version(ctx context.Context, conn interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}) (v int, err error) {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('elicit_version') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	err = conn.QueryRow(ctx, "SELECT version FROM elicit_version").Scan(&v)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == "42501" {
		err = fmt.Errorf("the role may not read elicit_version: %w", err)
	}
	return v, err
}
