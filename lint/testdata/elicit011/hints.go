package elicit011

import (
	"context"

	"github.com/elicit-go/elicit"
)

var (
	name = elicit.Input("name", "What is it called?")
	sure = elicit.Confirm("sure", "Sure?")
)

func createProject(context.Context, string) error         { return nil }
func orderOnce(context.Context, string, string) error     { return nil }
func findProject(context.Context, string) (string, error) { return "", nil }

func effectAfter(ctx context.Context) error {
	n, err := name.Value(ctx)
	if err != nil {
		return err
	}
	return createProject(ctx, n) // want `createProject seems to change something, and happens again if the client sends the last round again`
}

func withID(ctx context.Context) error {
	n, err := name.Value(ctx)
	if err != nil {
		return err
	}
	return orderOnce(ctx, elicit.CallID(ctx), n)
}

func bound(ctx context.Context) error {
	n, err := name.Bound().Value(ctx)
	if err != nil {
		return err
	}
	return createProject(ctx, n)
}

func confirmed(ctx context.Context) error {
	if _, err := sure.Value(ctx); err != nil {
		return err
	}
	return createProject(ctx, "x")
}

func noEffect(ctx context.Context) (string, error) {
	n, err := name.Value(ctx)
	if err != nil {
		return "", err
	}
	return findProject(ctx, n)
}
