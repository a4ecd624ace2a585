package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/sqlite"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "tasks")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	store, err := sqlite.Open(ctx, filepath.Join(dir, "tasks.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	row := tasks.Row{ID: "a1", Owner: "ada", Status: tasks.InputRequired, Record: []byte("sealed")}
	if _, err := store.Create(ctx, row, tasks.Next{Rest: true}, tasks.Limits{Owner: 100}); err != nil {
		log.Fatal(err)
	}
	stats, err := store.Stats(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Rows, "task")
	// Output: 1 task
}
