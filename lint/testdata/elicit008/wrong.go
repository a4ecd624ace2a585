package elicit008

import (
	"context"
	"database/sql"
	"sync"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var sure = elicit.Confirm("sure", "Sure?")

var all sync.Mutex

type shop struct {
	mu sync.RWMutex
	db *sql.DB
	sync.Mutex
	in inner
}

type inner struct{ lock sync.Mutex }

func ask(ctx context.Context) error {
	_, err := sure.Value(ctx)
	return err
}

func (s *shop) handle(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := sure.Value(ctx); err != nil { // want `the lock s.mu is held while the user is asked`
		return nil, nil, err
	}
	return elicit.Text("Done."), nil, nil
}

func (s *shop) reads(ctx context.Context) error {
	s.mu.RLock()
	err := ask(ctx) // want `the lock s.mu is held`
	s.mu.RUnlock()
	return err
}

func (s *shop) embedded(ctx context.Context) error {
	s.Lock()
	defer s.Unlock()
	return ask(ctx) // want `the lock s is held`
}

func (s *shop) deep(ctx context.Context) error {
	s.in.lock.Lock()
	defer s.in.lock.Unlock()
	var a elicit.Answer[bool]
	if err := elicit.RequireAll(ctx, sure.Into(&a)); err != nil { // want `the lock s.in.lock is held`
		return err
	}
	return a.Err()
}

func global(ctx context.Context) error {
	all.Lock()
	defer all.Unlock()
	return ask(ctx) // want `the lock all is held`
}

func local(ctx context.Context, names []string) error {
	var mu sync.Mutex
	for _, n := range names {
		mu.Lock()
		if _, err := sure.WithKey("sure:" + n).Value(ctx); err != nil { // want `the lock mu is held`
			mu.Unlock()
			return err
		}
		mu.Unlock()
	}
	return nil
}

func (s *shop) transaction(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE x SET y = 1"); err != nil {
		return err
	}
	if err := ask(ctx); err != nil { // want `the transaction of BeginTx is held while the user is asked`
		return err
	}
	return tx.Commit()
}

func withTx(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error { return nil }

func (s *shop) inTransaction(ctx context.Context) error {
	return withTx(ctx, s.db, func(tx *sql.Tx) error {
		return ask(ctx) // want `the transaction tx is open while the user is asked`
	})
}

func generic[K comparable](ctx context.Context, m map[K]int, mu *sync.Mutex) error {
	mu.Lock()
	defer mu.Unlock()
	return ask(ctx) // want `the lock mu is held`
}
