package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/sqlite"
	"github.com/elicit-go/elicit/tasks/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Config{
		New: func(t *testing.T) func() tasks.Store {
			path := filepath.Join(t.TempDir(), "tasks.db")
			return func() tasks.Store { return openStore(t, path) }
		},
		Durable: true,
	})
}

func openStore(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
