package elicit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
)

// The default Spender does what a list of what is taken, oldest first, would do.
func TestMemorySpenderIsAList(t *testing.T) {
	const bound = 20
	s := elicit.NewMemorySpender(bound)
	r := rand.New(rand.NewPCG(1, 2))
	var taken []string
	for i := range 20_000 {
		id := fmt.Sprintf("%032d", r.IntN(60))
		if r.IntN(10) == 0 {
			id = strings.Repeat("another length ", r.IntN(3)) + id
		}
		at := slices.Index(taken, id)
		switch r.IntN(4) {
		case 0:
			if err := s.Release(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if at >= 0 {
				taken = slices.Delete(taken, at, at+1)
			}
		case 1:
			if err := s.Spend(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		default:
			free, err := s.Claim(t.Context(), id, time.Now().Add(time.Hour))
			if err != nil || free != (at < 0) {
				t.Fatalf("step %d: %s is free: %v, %v; taken are %v", i, id, free, err, taken)
			}
			if free {
				if len(taken) == bound {
					taken = taken[1:]
				}
				taken = append(taken, id)
			}
		}
	}
}

// What need not be remembered any more makes room.
func TestMemorySpenderForgetsInTime(t *testing.T) {
	s := elicit.NewMemorySpender(10)
	for _, c := range []struct {
		until time.Duration
		free  bool // when it is claimed again
	}{{-time.Minute, true}, {time.Hour, false}} {
		if free, err := s.Claim(t.Context(), "id", time.Now().Add(c.until)); !free || err != nil {
			t.Fatal(free, err)
		}
		if free, err := s.Claim(t.Context(), "other", time.Now().Add(time.Hour)); !free || err != nil {
			t.Fatal(free, err)
		}
		if free, err := s.Claim(t.Context(), "id", time.Now().Add(time.Hour)); free != c.free || err != nil {
			t.Errorf("to be remembered for %v: free again: %v, %v", c.until, free, err)
		}
		for _, id := range []string{"id", "other"} {
			if err := s.Release(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
}
