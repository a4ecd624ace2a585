package elicit008

import (
	"context"
)

func (s *shop) asksFirst(ctx context.Context) error {
	if err := ask(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil
}

func (s *shop) unlocksFirst(ctx context.Context) error {
	s.mu.RLock()
	n := len(s.in.name())
	s.mu.RUnlock()
	if n > 0 {
		return ask(ctx)
	}
	return nil
}

func (i *inner) name() string { return "x" }

func (s *shop) sometimes(ctx context.Context, big bool) error {
	if big {
		s.mu.Lock()
		s.mu.Unlock()
	}
	return ask(ctx)
}

func (s *shop) other(ctx context.Context, t *shop) error {
	s.mu.Lock()
	s.mu.Unlock()
	t.in.lock.Lock()
	t.in.lock.Unlock()
	return ask(ctx)
}

func (s *shop) inClosure(ctx context.Context) error {
	func() {
		s.mu.Lock()
		defer s.mu.Unlock()
	}()
	return ask(ctx)
}

func (s *shop) committed(ctx context.Context) error {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return ask(ctx)
}

func (s *shop) afterwards(ctx context.Context) error {
	if err := ask(ctx); err != nil {
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return tx.Commit()
}

func (s *shop) loops(ctx context.Context, names []string) error {
	for _, n := range names {
		if _, err := sure.WithKey("sure:" + n).Value(ctx); err != nil {
			return err
		}
		s.mu.Lock()
		s.in = inner{}
		s.mu.Unlock()
	}
	return nil
}
