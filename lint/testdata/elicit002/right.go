package elicit002

import (
	"cmp"
	"context"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func value(ctx context.Context) error {
	if _, err := sure.Value(ctx); err != nil {
		return err
	}
	drop()
	return nil
}

func looked(ctx context.Context) (string, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return "", err
	}
	s, ok := answer.Value()
	if !ok {
		return "Cancelled.", nil
	}
	return send(ctx, s), nil
}

func byAction(ctx context.Context) (string, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return "", err
	}
	if answer.Action() != elicit.Accept {
		return "Cancelled.", nil
	}
	s, _ := answer.Value()
	return send(ctx, s), nil
}

func byErr(ctx context.Context) (string, error) {
	answer, err := ship.Require(ctx)
	if err == nil {
		err = answer.Err()
	}
	if err != nil {
		return "", err
	}
	s, _ := answer.Value()
	return send(ctx, s), nil
}

func confirm(ctx context.Context) (string, error) {
	answer, err := sure.Require(ctx)
	if err != nil {
		return "", err
	}
	if yes, _ := answer.Value(); !yes {
		return "Kept.", nil
	}
	return "Deleted.", nil
}

func onlyOK(ctx context.Context) (bool, error) {
	answer, err := sure.Require(ctx)
	_, ok := answer.Value()
	return ok, err
}

func zero(ctx context.Context) (string, error) {
	answer, err := region.Require(ctx)
	if err != nil {
		return "", err
	}
	where, _ := answer.Value()
	if where == "" {
		where = "eu"
	}
	return where, nil
}

func or(ctx context.Context) (string, error) {
	answer, err := region.Require(ctx)
	if err != nil {
		return "", err
	}
	where, _ := answer.Value()
	return cmp.Or(where, "eu"), nil
}

func field(ctx context.Context) (string, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return "", err
	}
	s, _ := answer.Value()
	if s.Number == "" {
		return "Nothing to ship.", nil
	}
	return send(ctx, s), nil
}

func accepted(a elicit.Answer[shipment]) bool { return a.Action() == elicit.Accept }

func helper(ctx context.Context) (string, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return "", err
	}
	if !accepted(answer) {
		return "", answer.Err()
	}
	s, _ := answer.Value()
	return send(ctx, s), nil
}

func given(ctx context.Context, answer elicit.Answer[shipment]) string {
	s, _ := answer.Value() // who calls this has looked
	return send(ctx, s)
}

func returnsAnswer(ctx context.Context) (elicit.Answer[bool], error) { return sure.Require(ctx) }

func many(ctx context.Context, names []string) (int, error) {
	answers := make([]elicit.Answer[shipment], len(names))
	var all []elicit.Pending
	for i, n := range names {
		all = append(all, ship.WithKey("ship:"+n).Into(&answers[i]))
	}
	if err := elicit.RequireAll(ctx, all...); err != nil {
		return 0, err
	}
	count := 0
	for _, a := range answers {
		if _, ok := a.Value(); ok {
			count++
		}
	}
	return count, nil
}

func asksAgain(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	_, err := sure.WithMessagef("Really?").Require(ctx)
	return nil, nil, err
}

func asksAgainAfterAll(ctx context.Context, _ *mcp.CallToolRequest, in struct{ Known bool }) (*mcp.CallToolResult, any, error) {
	defer drop()
	if !in.Known {
		_, err := sure.WithMessagef("Really?").Require(ctx)
		return nil, nil, err
	}
	return elicit.Text("Done."), nil, nil
}
