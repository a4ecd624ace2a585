package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/pgtest"
)

func TestMigrate(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	file := filepath.Join(t.TempDir(), "tasks.db")
	try(t, "migrate", file).want(t, exitOK, "", "tasks.db went from version 0 to 2.")
	try(t, "migrate", file).want(t, exitOK, "", "tasks.db is up to date, at version 2.")
	try(t, "migrate", filepath.Join(file, "no")).want(t, exitServer, "", "not a directory")
	try(t, "migrate").want(t, exitUsage, "", "or set DATABASE_URL")

	refused := "postgres://shop:pass-word@127.0.0.1:1/shop?sslmode=disable"
	for _, o := range []outcome{try(t, "migrate", refused), try(t, "migrate", "host=127.0.0.1 port=1 user=shop password=pass-word dbname=shop sslmode=disable")} {
		o.want(t, exitServer, "", "tasks/postgres: migrate 127.0.0.1:1/shop")
		if strings.Contains(o.err, "pass-word") {
			t.Errorf("the password is shown: %s", o.err)
		}
	}

	url := pgtest.URL(t)
	t.Setenv("DATABASE_URL", url)
	try(t, "migrate").want(t, exitOK, "", "the database went from version 0 to 2.")
	try(t, "migrate").want(t, exitOK, "", "the database is up to date, at version 2.")
}
