package elicit010

import (
	"context"
	"database/sql"
	"os"

	"github.com/elicit-go/elicit"
)

var sure = elicit.Confirm("sure", "Sure?")

type store struct{ db *sql.DB }

func (*store) CreateDraft(context.Context, string) error { return nil }
func (*store) Draft(context.Context, string) error       { return nil }

func (s *store) effectFirst(ctx context.Context) error {
	if err := s.CreateDraft(ctx, "x"); err != nil { // want `CreateDraft seems to change something, and runs again in every round`
		return err
	}
	if _, err := s.db.ExecContext(ctx, "INSERT"); err != nil { // want `ExecContext seems to change something`
		return err
	}
	os.WriteFile("x", nil, 0o600) // want `WriteFile seems to change something`
	_, err := sure.Value(ctx)
	return err
}

func (s *store) inStep(ctx context.Context) error {
	if err := s.Draft(ctx, "x"); err != nil {
		return err
	}
	if _, err := elicit.Step(ctx, "draft", func(ctx context.Context) (bool, error) { return true, s.CreateDraft(ctx, "x") }); err != nil {
		return err
	}
	if _, err := sure.Value(ctx); err != nil {
		return err
	}
	return s.CreateDraft(ctx, "y")
}

func (s *store) asksNothing(ctx context.Context) error { return s.CreateDraft(ctx, "x") }
