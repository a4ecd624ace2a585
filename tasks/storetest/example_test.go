package storetest_test

import (
	"testing"

	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/storetest"
)

func ExampleRun() {
	// In the tests of a store of your own:
	_ = func(t *testing.T) {
		storetest.Run(t, storetest.Config{
			New: func(t *testing.T) func() tasks.Store {
				// Make a place for rows here, and open a store over it in what is returned, each time it is called.
				return tasks.NewMemoryStore
			},
		})
	}
}
