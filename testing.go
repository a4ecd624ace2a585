package elicit

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The seams of elicittest.
func init() {
	tool.TestContext = func(ctx context.Context, answers mcp.InputResponseMap) context.Context {
		s := &Server{features: map[feature]map[string]state.Digest{}, opts: Options{MaxAttempts: 3, Logger: slog.New(slog.DiscardHandler)}}
		return context.WithValue(ctx, callKey{}, &call{shop: s, method: "tools/call", name: "test", testing: true, responses: answers})
	}
	tool.TestAsked = func(ctx context.Context) ([]string, map[string]mcp.InputRequest) {
		c, ok := ctx.Value(callKey{}).(*call)
		if !ok {
			return nil, nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		requests := map[string]mcp.InputRequest{}
		for k, a := range c.asked {
			requests[k] = a.request
		}
		return append([]string(nil), c.order...), requests
	}
	tool.Encode = func(question, v any) (mcp.InputResponse, error) {
		q, ok := question.(interface {
			encodeAny(any) (mcp.InputResponse, error)
		})
		if !ok {
			return nil, fmt.Errorf("%T is no question", question)
		}
		return q.encodeAny(v)
	}
}

func (q *Question[T]) encodeAny(v any) (mcp.InputResponse, error) {
	if err := q.Err(); err != nil {
		return nil, err
	}
	x, ok := v.(T)
	if !ok {
		return nil, fmt.Errorf("question %q takes %T, not %T", q.key, x, v)
	}
	return q.encode(x)
}
