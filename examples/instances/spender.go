package main

import (
	"context"
	"sync"
	"time"
)

// sharedSpender is the elicit.Spender of both instances, which here are in one process. Where they are not, it is a table
// of a database; see docs/instances.md.
type sharedSpender struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// Claim takes an id, if it is free.
func (s *sharedSpender) Claim(_ context.Context, id string, until time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for other, t := range s.until {
		if t.Before(now) { // no state of that call opens any more
			delete(s.until, other)
		}
	}
	if _, taken := s.until[id]; taken {
		return false, nil
	}
	if s.until == nil {
		s.until = map[string]time.Time{}
	}
	s.until[id] = until
	return true, nil
}

// Release gives an id back.
func (s *sharedSpender) Release(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.until, id)
	return nil
}

// Spend keeps an id taken: it is in the map already.
func (s *sharedSpender) Spend(context.Context, string) error { return nil }
