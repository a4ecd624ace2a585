package elicit003

import (
	"context"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/lint/testdata/elicit003/helpers"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var bound = elicit.Input("bound", "What?").Bound()

func asksBound(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, err := bound.Value(ctx)
	return elicit.Text(n), nil, err
}

func asksOrder(ctx context.Context, _ *mcp.CallToolRequest, in order) (*mcp.CallToolResult, any, error) {
	n, err := name.Value(ctx)
	return elicit.Text(n + in.Name), nil, err
}

func asksInWords(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, err := name.WithMessagef("What is %s called?", "it").Value(ctx)
	return elicit.Text(n), nil, err
}

func asksByKey(ctx context.Context, _ *mcp.CallToolRequest, in struct{ Names []string }) (*mcp.CallToolResult, any, error) {
	for _, n := range in.Names {
		if _, err := size.WithKey("size:" + n).Value(ctx); err != nil {
			return nil, nil, err
		}
	}
	return elicit.Text("Done."), nil, nil
}

func asksAll(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	var n elicit.Answer[string]
	var s elicit.Answer[string]
	if err := elicit.RequireAll(ctx, name.Into(&n), size.Into(&s)); err != nil {
		return nil, nil, err
	}
	v, _ := n.Value()
	w, _ := s.Value()
	return elicit.Text(v + w), nil, nil
}

func asksSometimes(ctx context.Context, _ *mcp.CallToolRequest, in order) (*mcp.CallToolResult, any, error) {
	n := in.Name
	if n == "" && name.CanAsk(ctx) {
		var err error
		if n, err = name.Value(ctx); err != nil {
			return nil, nil, err
		}
	}
	return elicit.Text(n), nil, nil
}

func asksAny(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, err := helpers.Any(ctx, map[string]*elicit.Question[string]{"x": name})
	return elicit.Text(n), nil, err
}

func asksInClosure(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	ask := func() (string, error) { return name.Value(ctx) }
	n, err := twice(ask)
	return elicit.Text(n), nil, err
}

func twice(f func() (string, error)) (string, error) {
	if _, err := f(); err != nil {
		return "", err
	}
	return f()
}

type service struct {
	asker helpers.Asker
	q     *elicit.Question[string]
}

func (s *service) byInterface(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, err := s.asker.Ask(ctx)
	return elicit.Text(n), nil, err
}

func (s *service) byField(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	n, err := s.q.Value(ctx)
	return elicit.Text(n), nil, err
}

func asksDynamic(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	seat := form.Choice("seat", form.Options("12A", "12F")...).Required()
	v, err := elicit.NewFormQuestion("seat", "Which seat?", form.New(seat)).Value(ctx)
	return elicit.Text(fmt.Sprint(seat.In(v))), nil, err
}

func asksPrompt(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	n, err := name.Value(ctx)
	return &mcp.GetPromptResult{Description: n}, err
}

func logged[In any](h mcp.ToolHandlerFor[In, any]) mcp.ToolHandlerFor[In, any] { return h }

func asks(s *service) elicit.ToolOption { return elicit.Asks(s.q) }

func registerRight(s *elicit.Server, sv *service, more []elicit.ToolOption) {
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, asksBound)
	elicit.AddTool(s, &mcp.Tool{Name: "B"}, asksOrder)
	elicit.AddTool(s, &mcp.Tool{Name: "C"}, asksInWords, elicit.Asks(name))
	elicit.AddTool(s, &mcp.Tool{Name: "D"}, asksByKey, elicit.Asks(size))
	elicit.AddTool(s, &mcp.Tool{Name: "E"}, asksAll, elicit.Asks(name, size))
	elicit.AddTool(s, &mcp.Tool{Name: "F"}, asksSometimes, elicit.Asks(name))
	elicit.AddTool(s, &mcp.Tool{Name: "G"}, asksAny, elicit.Asks(name, size))
	elicit.AddTool(s, &mcp.Tool{Name: "H"}, asksInClosure, elicit.Asks(name))
	elicit.AddTool(s, &mcp.Tool{Name: "I"}, sv.byInterface, elicit.Asks(name))
	elicit.AddTool(s, &mcp.Tool{Name: "J"}, sv.byField, elicit.Asks(name))
	elicit.AddTool(s, &mcp.Tool{Name: "K"}, asksDynamic)
	elicit.AddTool(s, &mcp.Tool{Name: "L"}, logged(asksName))
	elicit.AddTool(s, &mcp.Tool{Name: "M"}, asksName, more...)
	elicit.AddTool(s, &mcp.Tool{Name: "N"}, asksName, asks(sv))
	elicit.AddTool(s, &mcp.Tool{Name: "O", InputSchema: map[string]any{"type": "object"}}, asksName)
	elicit.AddPrompt(s, &mcp.Prompt{Name: "P", Arguments: []*mcp.PromptArgument{{Name: "x"}}}, asksPrompt)
	for _, t := range []struct {
		name    string
		handler mcp.ToolHandlerFor[none, any]
		asks    elicit.ToolOption
	}{
		{"Q", asksName, elicit.Asks(name)},
		{"R", asksAll, elicit.Asks(name, size)},
	} {
		elicit.AddTool(s, &mcp.Tool{Name: t.name}, t.handler, t.asks)
	}
}

type flow struct{ next func() error }

func (f *flow) handle(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	return elicit.Text("Done."), nil, f.next() // who knows
}

func registerFlow(s *elicit.Server, f *flow) {
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, f.handle, elicit.Asks(name))
}

var (
	boxes = elicit.NewQuestion[struct{ Fragile, Insured bool }]("boxes", "What applies?") // its answer needs proof
	box   = elicit.NewFormQuestion("box", "What applies?", form.New(form.Bool("fragile")))
)

func asksBoxes(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	if _, err := boxes.Value(ctx); err != nil {
		return nil, nil, err
	}
	_, err := box.Value(ctx)
	return elicit.Text("Done."), nil, err
}

func registerBoxes(s *elicit.Server) { elicit.AddTool(s, &mcp.Tool{Name: "A"}, asksBoxes) }
