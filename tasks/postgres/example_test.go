package postgres_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/postgres"
)

// It has no output to compare, as it needs a database.
func Example() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, os.Getenv("DATABASE_URL")) // postgres://shop@db.example.com/shop
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
}
