// Package lossy has a channel for hints: sending never blocks, and a reader that is slow learns that it missed some.
package lossy

import "sync"

// A Chan is a channel of hints. When its buffer is full, hints are dropped, and the last one in the buffer is the zero T.
type Chan[T any] struct {
	mu     sync.Mutex
	c      chan T
	lost   bool
	closed bool
}

// New returns a Chan whose buffer takes size hints, at least 2.
func New[T any](size int) *Chan[T] { return &Chan[T]{c: make(chan T, size)} }

// C is where the hints are read. It is closed by Close.
func (c *Chan[T]) C() <-chan T { return c.c }

// Send adds hints, or drops them.
func (c *Chan[T]) Send(hints ...T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	for _, h := range hints {
		// The zero hint was sent last, so it is still there while the buffer holds anything.
		switch room := cap(c.c) - len(c.c); {
		case room > 1:
			c.lost = false
			c.c <- h
		case !c.lost && room == 1:
			c.lost = true
			var zero T
			c.c <- zero
		}
	}
}

// Close closes C. It may be repeated.
func (c *Chan[T]) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.c)
	}
}
