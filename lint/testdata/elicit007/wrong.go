package elicit007

import (
	"context"
	"sync"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var sure = elicit.Confirm("sure", "Sure?")

var background = context.Background()

func ask(ctx context.Context) error {
	_, err := sure.Value(ctx)
	return err
}

func goroutine(ctx context.Context) error {
	errs := make(chan error, 1)
	go func() { // want `a goroutine asks`
		_, err := sure.Value(ctx)
		errs <- err
	}()
	return <-errs
}

func goHelper(ctx context.Context) {
	go ask(ctx) // want `a goroutine asks`
}

func goInLoop(ctx context.Context, names []string) error {
	var wg sync.WaitGroup
	errs := make([]error, len(names))
	for i, n := range names {
		wg.Add(1)
		go func() { // want `a goroutine asks`
			defer wg.Done()
			_, errs[i] = sure.WithKey("sure:" + n).Value(ctx)
		}()
	}
	wg.Wait()
	return errs[0]
}

func deferred(ctx context.Context) error {
	defer ask(ctx) // want `a deferred call asks`
	defer func() { // want `a deferred call asks`
		_, _ = sure.Value(ctx)
	}()
	return nil
}

func timer(ctx context.Context) {
	time.AfterFunc(time.Minute, func() { _ = ask(ctx) }) // want `a timer asks`
}

func noContext(ctx context.Context) error {
	_, err := sure.Value(context.Background()) // want `context.Background\(\) is not the handler's context`
	return err
}

func withTimeout(_ context.Context) error {
	ctx, cancel := context.WithTimeout(context.TODO(), time.Minute)
	defer cancel()
	_, err := sure.Value(ctx) // want `context.TODO\(\) is not the handler's context`
	return err
}

func global(ctx context.Context) error {
	_, err := sure.Value(background) // want `context.Background\(\) is not the handler's context`
	return err
}

func helperToo(ctx context.Context) error {
	return ask(context.Background()) // want `context.Background\(\) is not the handler's context`
}

func step(ctx context.Context) (int, error) {
	return elicit.Step(context.Background(), "n", func(context.Context) (int, error) { return 1, nil }) // want `context.Background\(\) is not the handler's context`
}

type shop struct{ ctx context.Context }

func (s *shop) handle(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if _, err := sure.Value(s.ctx); err != nil { // want `the field ctx is not the handler's context`
		return nil, nil, err
	}
	return elicit.Text("Done."), nil, nil
}
