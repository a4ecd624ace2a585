package storetest_test

import (
	"testing"

	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/storetest"
)

func TestMemoryStore(t *testing.T) {
	storetest.Run(t, storetest.Config{New: func(*testing.T) func() tasks.Store { return tasks.NewMemoryStore }})
}
