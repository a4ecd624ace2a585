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

var (
	name = elicit.Input("name", "What is it called?")
	sure = elicit.Confirm("sure", "Sure?")
)

type none = struct{}

func thrownAway(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, _ := name.Value(ctx) // want `the error of name.Value is thrown away`
	return elicit.Text(n), nil, nil
}

func statement(ctx context.Context) error {
	sure.Require(ctx) // want `the error of sure.Require is thrown away`
	return nil
}

func intoText(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, err := name.Value(ctx)
	if err != nil {
		return elicit.Text("Failed: " + err.Error()), nil, nil // want `the error of name.Value becomes text in a result`
	}
	return elicit.Text(n), nil, nil
}

func intoErrorResult(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	n, err := name.Value(ctx)
	if err != nil {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil // want `becomes text in a result`
	}
	return elicit.Text(n), nil
}

func notWrapped(ctx context.Context, id string) error {
	if _, err := sure.Value(ctx); err != nil {
		return fmt.Errorf("order %s: %v", id, err) // want `the error of sure.Value is not wrapped`
	}
	return nil
}

func quoted(ctx context.Context) (string, error) {
	n, err := name.Value(ctx)
	if err != nil {
		return "", fmt.Errorf("asking: %s", err) // want `is not wrapped`
	}
	return n, nil
}

func newError(ctx context.Context) error {
	_, err := sure.Value(ctx)
	if err != nil {
		return errors.New("cannot ask: " + err.Error()) // want `is not wrapped`
	}
	return nil
}

func another(ctx context.Context) error {
	if _, err := sure.Value(ctx); err != nil { // want `is not returned on every path`
		return errors.New("the user did not agree")
	}
	return nil
}

func logged(ctx context.Context) error {
	_, err := sure.Value(ctx) // want `is not returned on every path`
	if err != nil {
		slog.ErrorContext(ctx, "asking", "error", err)
	}
	return nil
}

func loggedToo(ctx context.Context) error {
	if _, err := sure.Value(ctx); err != nil { // want `is not returned on every path`
		log.Printf("asking: %v", err)
		return nil
	}
	return nil
}

func yesNo(ctx context.Context) bool {
	_, err := sure.Value(ctx) // want `is not returned on every path`
	return err == nil
}

func falls(ctx context.Context) (string, error) {
	n, err := name.Value(ctx) // want `is not returned on every path`
	if err != nil && !errors.Is(err, elicit.ErrAsking) {
		return "", err
	}
	return "Hello " + n, nil
}

func askingIsNothing(ctx context.Context) error {
	_, err := sure.Value(ctx) // want `is not returned on every path`
	if errors.Is(err, elicit.ErrAsking) {
		return nil
	}
	return err
}

func onlyRefusals(ctx context.Context) (string, error) {
	n, err := name.Value(ctx) // want `is not returned on every path`
	if refused, ok := errors.AsType[*elicit.RefusedError](err); ok {
		return "", refused
	}
	return n, nil
}

func place(ctx context.Context, what string) error { return nil }

func worksFirst(ctx context.Context) error {
	n, err := name.Value(ctx)
	if perr := place(ctx, n); perr != nil { // want `place uses the answer before the error of name.Value is checked`
		return perr
	}
	return err
}

func all(ctx context.Context) (string, error) {
	var n elicit.Answer[string]
	var s elicit.Answer[bool]
	if err := elicit.RequireAll(ctx, name.Into(&n), sure.Into(&s)); err != nil { // want `the error of elicit.RequireAll is not returned`
		log.Print(err)
	}
	v, ok := n.Value()
	yes, _ := s.Value()
	if !ok || !yes {
		return "", nil
	}
	return v, nil
}

func throughHelper(ctx context.Context) (string, error) {
	n, err := helpers.Name(ctx)
	if err != nil {
		return "sorry: " + err.Error(), nil // want `the error of helpers.Name becomes text`
	}
	return n, nil
}

func throughGeneric(ctx context.Context) string {
	n, _ := helpers.Ask(ctx, name) // want `the error of helpers.Ask is thrown away`
	return n
}

func throughMethod(ctx context.Context) string {
	a := &helpers.Asker{Prefix: "x"}
	n, _ := a.Name(ctx) // want `the error of Name is thrown away`
	return n
}

func local(ctx context.Context) error {
	return notWrapped2(ctx)
}

func notWrapped2(ctx context.Context) error {
	if err := wraps(ctx); err != nil {
		return fmt.Errorf("%q: %d%% %v", "x", 1, err) // want `the error of wraps is not wrapped`
	}
	return nil
}

func wraps(ctx context.Context) error {
	if _, err := sure.Value(ctx); err != nil {
		return &opError{"sure", err}
	}
	return nil
}

type opError struct {
	op  string
	err error
}

func (e *opError) Error() string { return e.op + ": " + e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

func thrownStep(ctx context.Context) int {
	n, _ := elicit.Step(ctx, "n", func(context.Context) (int, error) { return 1, nil }) // want `the error of elicit.Step is thrown away`
	return n
}

func asksInStep(ctx context.Context) (string, error) {
	n, err := elicit.Step(ctx, "name", func(ctx context.Context) (string, error) { return name.Value(ctx) })
	if err != nil {
		return err.Error(), nil // want `the error of elicit.Step becomes text`
	}
	return n, nil
}

func compares(ctx context.Context) error {
	_, err := sure.Value(ctx)
	if err == elicit.ErrAsking { // want `never equal to elicit.ErrAsking`
		return err
	}
	return err
}

type shop struct{ log *slog.Logger }

func (s *shop) register(server *elicit.Server) {
	elicit.AddTool(server, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		if _, err := sure.Value(ctx); err != nil { // want `is not returned on every path`
			s.log.Warn("no", "error", err)
			return elicit.Text("Not now."), nil, nil
		}
		return elicit.Text("Done."), nil, nil
	})
	for _, tool := range []struct {
		name    string
		handler mcp.ToolHandlerFor[none, any]
	}{
		{"A", func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			n, _ := name.Value(ctx) // want `is thrown away`
			return elicit.Text(n), nil, nil
		}},
		{"B", s.method},
	} {
		elicit.AddTool(server, &mcp.Tool{Name: tool.name}, tool.handler)
	}
}

func (s *shop) method(ctx context.Context, _ *mcp.CallToolRequest, _ none) (_ *mcp.CallToolResult, _ any, err error) {
	_, asked := sure.Value(ctx) // want `is not returned on every path`
	if asked != nil {
		s.log.Error("asked", "error", asked)
	}
	return elicit.Text("Done."), nil, err
}

func generic[T any](ctx context.Context, q *elicit.Question[T], otherwise T) T {
	v, err := q.Value(ctx) // want `the error of q.Value is not returned`
	if err != nil {
		return otherwise
	}
	return v
}

func predicateOrNot(ctx context.Context) string {
	n, err := helpers.Name(ctx) // want `the error of helpers.Name is not returned`
	if isNotFound(err) {
		return "nobody"
	}
	if err != nil {
		return "somebody"
	}
	return n
}

func byTypeWrong(ctx context.Context) string {
	n, err := name.Value(ctx) // want `is not returned on every path`
	switch err.(type) {
	case *elicit.RefusedError:
		return "refused"
	}
	return n
}
