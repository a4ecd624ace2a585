package elicit007

import (
	"context"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type key struct{}

func passed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, key{}, 1), time.Minute)
	defer cancel()
	return ask(context.WithoutCancel(ctx))
}

func withoutAsking(ctx context.Context) error {
	done := make(chan struct{})
	go func() { close(done) }()
	defer func() { <-done }()
	return ask(ctx)
}

// What a goroutine serves may ask; the goroutine does not.
func serve(s *elicit.Server) {
	go func() {
		elicit.AddTool(s, &mcp.Tool{Name: "A"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			return elicit.Text("Done."), nil, ask(ctx)
		})
	}()
}

func otherWork(ctx context.Context, save func(context.Context) error) error {
	if err := ask(ctx); err != nil {
		return err
	}
	return save(context.Background())
}

// One value for each call has its context with it.
type request struct{ ctx context.Context }

func (r *request) ask() error { return ask(r.ctx) }

func run(ctx context.Context, each func(func(string) bool)) (err error) {
	each(func(n string) bool {
		_, err = sure.WithKey("sure:" + n).Value(ctx)
		return err == nil
	})
	return err
}
