package elicit001

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/lint/testdata/elicit001/helpers"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func returned(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	answer, err := name.Require(ctx)
	if err != nil {
		return nil, nil, err
	}
	n, ok := answer.Value()
	if !ok {
		return elicit.Text("Cancelled."), nil, nil
	}
	return elicit.Text(n), nil, nil
}

func wrapped(ctx context.Context) (string, error) {
	n, err := name.Value(ctx)
	if err != nil {
		slog.Info("not yet", "error", err)
		return "", fmt.Errorf("naming %s: %w", "it", err)
	}
	return n, nil
}

func joined(ctx context.Context) error {
	_, one := sure.Value(ctx)
	_, two := sure.WithKey("two").Value(ctx)
	return errors.Join(one, two)
}

func oneByOne(ctx context.Context) (string, error) {
	n, first := name.Value(ctx)
	_, second := sure.Value(ctx)
	if first != nil {
		return "", first
	}
	if second != nil {
		return "", second
	}
	return n, nil
}

func direct(ctx context.Context) (string, error) { return name.Value(ctx) }

func bothAtOnce(ctx context.Context) (*mcp.CallToolResult, any, error) {
	n, err := name.Value(ctx)
	return elicit.Text("Hello " + n), nil, err
}

func toldApart(ctx context.Context) error {
	_, err := sure.Value(ctx)
	switch {
	case errors.Is(err, elicit.ErrAsking):
		return err
	case err != nil:
		log.Print(err)
		return errors.New("something went wrong")
	}
	return nil
}

func countsFailures(ctx context.Context) error {
	_, err := sure.Value(ctx)
	if err != nil && !errors.Is(err, elicit.ErrAsking) {
		log.Print(err)
	}
	return err
}

func withoutAsking(ctx context.Context) (string, error) {
	n, err := name.Value(ctx)
	if _, ok := errors.AsType[*elicit.UnavailableError](err); ok {
		n, err = "unnamed", nil
	}
	return "Created " + n, err
}

func refusalsAs(ctx context.Context) (string, error) {
	_, err := sure.Value(ctx)
	var refused *elicit.RefusedError
	if errors.As(err, &refused) {
		return "Kept, as you " + string(refused.Action) + "d.", nil
	}
	if err != nil {
		return "", err
	}
	return "Deleted.", nil
}

func setError(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if _, err := sure.Value(ctx); err != nil {
		var res mcp.CallToolResult
		res.SetError(err)
		return &res, nil
	}
	return elicit.Text("Done."), nil
}

func collected(ctx context.Context, names []string) error {
	var errs []error
	for _, n := range names {
		if _, err := sure.WithKey("sure:" + n).Value(ctx); err != nil {
			errs = append(errs, err)
			continue
		}
	}
	return errors.Join(errs...)
}

func collectedMap(ctx context.Context, names []string) error {
	errs := map[string]error{}
	for _, n := range names {
		_, err := sure.WithKey("sure:" + n).Value(ctx)
		errs[n] = err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func converted(ctx context.Context) error {
	if _, err := sure.Value(ctx); err != nil {
		return convert(err)
	}
	return nil
}

func convert(err error) error { return &opError{"converted", err} }

func deferred(ctx context.Context) (n string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("deferred: %w", err)
		}
	}()
	n, err = name.Value(ctx)
	if err != nil {
		return
	}
	return n + "!", nil
}

func fromClosure(ctx context.Context) error {
	var err error
	ask := func() { _, err = sure.Value(ctx) }
	ask()
	return err
}

func sent(ctx context.Context, errs chan<- error) {
	_, err := sure.Value(ctx)
	errs <- err
}

type state struct{ err error }

func (s *state) ask(ctx context.Context) {
	if s.err != nil {
		return
	}
	_, s.err = sure.Value(ctx)
}

func (s *state) keep(err error) { s.err = err }

func (s *state) askToo(ctx context.Context) {
	_, err := sure.Value(ctx)
	if err != nil {
		s.keep(err)
		return
	}
}

func canAsk(ctx context.Context) (string, error) {
	if !name.CanAsk(ctx) {
		return "unnamed", nil
	}
	n, err := helpers.Ask(ctx, name)
	if err != nil {
		return "", err
	}
	return n, nil
}

func doesNotAsk(ctx context.Context) int {
	n, _ := helpers.Length(ctx, "x")
	return n
}

func stepFails(ctx context.Context) (string, error) {
	price, err := elicit.Step(ctx, "price", func(context.Context) (int, error) { return 42, nil })
	if err != nil {
		return "The price is not known: " + err.Error(), nil // no question is in it
	}
	return fmt.Sprint(price), nil
}

func asksInStepAndReturns(ctx context.Context) (string, error) {
	return elicit.Step(ctx, "name", func(ctx context.Context) (string, error) { return name.Value(ctx) })
}

func panics(ctx context.Context) string {
	n, err := name.Value(ctx)
	if err != nil {
		panic(err)
	}
	return n
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func usesMust(ctx context.Context) string { return must(name.Value(ctx)) }

func sentinel(ctx context.Context) error {
	if _, err := sure.Value(ctx); errors.Is(err, elicit.ErrAsking) {
		return fmt.Errorf("please answer: %w", elicit.ErrAsking)
	}
	return nil
}

func prompt(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	n, err := name.Value(ctx)
	if err != nil {
		return nil, err
	}
	return &mcp.GetPromptResult{Description: n}, nil
}

func rangeFunc(ctx context.Context, each func(func(string) bool)) error {
	for n := range each {
		if _, err := sure.WithKey("sure:" + n).Value(ctx); err != nil {
			return err
		}
	}
	return nil
}

func byType(ctx context.Context) (string, error) {
	n, err := name.Value(ctx)
	if _, ok := err.(*elicit.UnavailableError); ok {
		return "unnamed", nil
	}
	switch err := err.(type) {
	case nil:
		return n, nil
	case *elicit.RefusedError:
		return "refused: " + err.Key, nil
	default:
		return "", err
	}
}

func isNotFound(err error) bool { return err != nil && err.Error() == "not found" }

func byPredicate(ctx context.Context) (string, error) {
	n, err := helpers.Name(ctx)
	if isNotFound(err) {
		return "nobody", nil
	}
	return n, err
}

func isAsking(err error) bool { return errors.Is(err, elicit.ErrAsking) }

func byOwnName(ctx context.Context) (string, error) {
	n, err := helpers.Name(ctx)
	if isAsking(err) {
		return "", err
	}
	if err != nil {
		return "", errors.New("something went wrong")
	}
	return n, nil
}
