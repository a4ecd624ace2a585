package lossy_test

import (
	"testing"

	"github.com/elicit-go/elicit/internal/lossy"
)

// However the reader and the sender take turns, a hint that the reader does not get is followed by the zero hint.
func TestLossIsTold(t *testing.T) {
	for size := 2; size < 6; size++ {
		for pattern := range 1 << 12 {
			c := lossy.New[int](size)
			next, seen, told := 1, 0, true
			read := func() {
				select {
				case h := <-c.C():
					if h == 0 {
						seen, told = next-1, true // told after the hints sent so far
					} else {
						told = told && h <= seen+1
						seen = max(seen, h)
					}
				default:
				}
			}
			for bit := range 12 {
				if pattern>>bit&1 == 0 {
					c.Send(next)
					next++
				} else {
					read()
				}
			}
			for range size {
				read()
			}
			if !told || seen != next-1 {
				t.Fatalf("size %d, pattern %012b: the reader saw up to %d of %d, and was not told of a loss", size, pattern, seen, next-1)
			}
			c.Close()
			c.Close()
			c.Send(next) // must not panic
			if _, open := <-c.C(); open {
				t.Fatal("C is open after Close")
			}
		}
	}
}
