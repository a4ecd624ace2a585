package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit/tasks/postgres"
	"github.com/elicit-go/elicit/tasks/sqlite"
)

type migrateCmd struct {
	Store string `arg:"" optional:"" env:"DATABASE_URL" help:"Where tasks are kept: the URL of a PostgreSQL database, or the path of a SQLite file. Default: $DATABASE_URL, which no list of processes shows."`
}

func (*migrateCmd) Help() string {
	return `Makes the tables that tasks are kept in, or brings those of an older version up to date. A server does the same when it starts; this
is for a role of its own that may create tables, or to see beforehand that it works. Instances may be running.

Examples:

  DATABASE_URL=postgres://owner@db.example.com/shop elicit migrate
  elicit migrate /var/lib/shop/tasks.db`
}

func (c *migrateCmd) Run(ctx context.Context, con *console) error {
	if c.Store == "" {
		return usage("elicit migrate: say where tasks are kept, or set DATABASE_URL")
	}
	migrate, name := sqlite.Migrate, c.Store
	if isPostgres(c.Store) {
		migrate, name = postgres.Migrate, "the database"
	}
	from, to, err := migrate(ctx, c.Store)
	switch {
	case err != nil:
		return err
	case from == to:
		con.say(fmt.Sprintf("%s is up to date, at version %d.", name, to))
	default:
		con.say(fmt.Sprintf("%s went from version %d to %d.", name, from, to))
	}
	return nil
}

// isPostgres tells libpq's two forms of a connection string from a path.
func isPostgres(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://") || strings.Contains(store, "host=") || strings.Contains(store, "dbname=")
}
