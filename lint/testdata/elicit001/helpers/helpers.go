// Package helpers asks for other packages, which know it by facts.
package helpers

import (
	"context"
	"fmt"

	"github.com/elicit-go/elicit"
)

var name = elicit.Input("name", "What is the project called?")

// Name returns the asking error.
func Name(ctx context.Context) (string, error) {
	n, err := name.Value(ctx)
	if err != nil {
		return "", fmt.Errorf("asking for a name: %w", err)
	}
	return n, nil
}

// Ask is generic, and returns it too.
func Ask[T any](ctx context.Context, q *elicit.Question[T]) (v T, err error) {
	a, err := q.Require(ctx)
	if err != nil {
		return v, err
	}
	v, ok := a.Value()
	if !ok {
		return v, a.Err()
	}
	return v, nil
}

// Length does not ask.
func Length(ctx context.Context, s string) (int, error) { return len(s), ctx.Err() }

// Asker asks by a method.
type Asker struct{ Prefix string }

func (a *Asker) Name(ctx context.Context) (string, error) {
	n, err := Name(ctx)
	return a.Prefix + n, err
}
