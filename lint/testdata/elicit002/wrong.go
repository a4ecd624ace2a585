package elicit002

import (
	"context"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type shipment struct {
	Number string `json:"number"`
	Rush   bool   `json:"rush"`
}

var (
	ship   = elicit.NewQuestion[shipment]("ship", "Ship this order")
	sure   = elicit.Confirm("sure", "Sure?")
	region = elicit.Choose("region", "Where?", form.Options("eu", "us")...)
)

func send(context.Context, shipment) string { return "" }

func unusedConfirm(ctx context.Context) error {
	_, err := sure.Require(ctx) // want `the answer of sure is never looked at`
	if err != nil {
		return err
	}
	drop()
	return nil
}

func drop() {}

func unusedInIf(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if _, err := sure.WithMessagef("Really?").Require(ctx); err != nil { // want `the answer of sure is never looked at`
		return nil, nil, err
	}
	return elicit.Text("Deleted."), nil, nil
}

func unusedReturned(ctx context.Context) error {
	_, err := ship.Require(ctx) // want `the answer of ship is never looked at`
	return err
}

func droppedOK(ctx context.Context) (string, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return "", err
	}
	s, _ := answer.Value() // want `the second result of Value is dropped`
	return send(ctx, s), nil
}

func into(ctx context.Context) error {
	var a elicit.Answer[shipment]
	var yes elicit.Answer[bool]
	if err := elicit.RequireAll(ctx, ship.Into(&a), sure.Into(&yes)); err != nil { // want `the answer of sure is never looked at`
		return err
	}
	s, _ := a.Value() // want `the second result of Value is dropped`
	send(ctx, s)
	return nil
}

type shop struct{ all map[string]bool }

func (s *shop) handle(ctx context.Context, _ *mcp.CallToolRequest, in struct{ Names []string }) (*mcp.CallToolResult, any, error) {
	answers := make([]elicit.Answer[shipment], len(in.Names))
	var all []elicit.Pending
	for i, n := range in.Names {
		all = append(all, ship.WithKey("ship:"+n).Into(&answers[i]))
	}
	if err := elicit.RequireAll(ctx, all...); err != nil {
		return nil, nil, err
	}
	for i := range in.Names {
		v, _ := answers[i].Value() // want `the second result of Value is dropped`
		send(ctx, v)
	}
	return elicit.Text("Sent."), nil, nil
}

func generic[T any](ctx context.Context, q *elicit.Question[T]) (v T, err error) {
	a, err := q.Require(ctx)
	if err != nil {
		return v, err
	}
	v, _ = a.Value() // want `the second result of Value is dropped`
	return v, nil
}

func unusedWithDefer(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	defer drop()
	_, err := sure.Require(ctx) // want `the answer of sure is never looked at`
	return elicit.Text("Deleted."), nil, err
}
