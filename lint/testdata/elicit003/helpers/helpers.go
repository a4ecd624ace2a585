// Package helpers asks for other packages.
package helpers

import (
	"context"

	"github.com/elicit-go/elicit"
)

var Which = elicit.Input("which", "Which one?")

func Name(ctx context.Context) (string, error) { return Which.Value(ctx) }

func Ask[T any](ctx context.Context, q *elicit.Question[T]) (T, error) { return q.Value(ctx) }

// Any asks what it is given at run time.
func Any(ctx context.Context, qs map[string]*elicit.Question[string]) (string, error) {
	return qs["x"].Value(ctx)
}

type Asker interface {
	Ask(ctx context.Context) (string, error)
}
