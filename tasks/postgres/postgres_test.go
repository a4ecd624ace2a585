package postgres_test

import (
	"context"
	"testing"

	"github.com/elicit-go/elicit/internal/pgtest"
	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/postgres"
	"github.com/elicit-go/elicit/tasks/storetest"
)

func TestStore(t *testing.T) {
	pgtest.URL(t) // skips where there is no PostgreSQL
	storetest.Run(t, storetest.Config{
		New: func(t *testing.T) func() tasks.Store {
			url := pgtest.URL(t)
			return func() tasks.Store { return openStore(t, url) }
		},
		Durable: true,
		Shared:  true,
	})
}

func openStore(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
