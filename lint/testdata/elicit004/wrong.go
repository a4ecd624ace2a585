package elicit004

import (
	"context"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/lint/testdata/elicit004/helpers"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type id string

var (
	agree  = elicit.Confirm("agree", "Do you agree?")
	terms  = elicit.Confirm("agree", "Do you agree to the terms?")
	remove = elicit.Confirm("delete", "Delete it?")
	name   = elicit.Input("name", "What is it called?")
)

func twoQuestions(ctx context.Context) error {
	if _, err := agree.Value(ctx); err != nil {
		return err
	}
	if _, err := terms.Value(ctx); err != nil { // want `the key "agree" is used for two different questions`
		return err
	}
	return nil
}

func atOnce(ctx context.Context) (bool, error) {
	var a, b elicit.Answer[bool]
	err := elicit.RequireAll(ctx, agree.Into(&a), terms.Into(&b)) // want `the key "agree" is used for two different questions`
	return a.Err() == nil && b.Err() == nil, err
}

func twoWordings(ctx context.Context, price int) error {
	if _, err := agree.WithMessagef("Agree to the terms?").Value(ctx); err != nil {
		return err
	}
	if _, err := agree.WithMessagef("Agree to pay %d?", price).Value(ctx); err != nil { // want `the key "agree" is used for two different questions`
		return err
	}
	return nil
}

func twoData(ctx context.Context, from, to string) error {
	if _, err := agree.WithMessagef("Agree to %s?", from).Value(ctx); err != nil {
		return err
	}
	_, err := agree.WithMessagef("Agree to %s?", to).Value(ctx) // want `the key "agree" is used for two different questions`
	return err
}

func loop(ctx context.Context, names []string) error {
	for _, n := range names {
		if _, err := remove.WithMessagef("Delete %s?", n).Value(ctx); err != nil { // want `in each turn of the loop the key "delete" is for other words`
			return err
		}
	}
	return nil
}

func loopOfIDs(ctx context.Context, ids map[id]int) error {
	for i, n := range ids {
		_, err := remove.WithMessagef("Delete %d of %s?", n, i).Value(ctx) // want `in each turn of the loop the key "delete"`
		if err != nil {
			return err
		}
	}
	return nil
}

func loopInto(ctx context.Context, _ *mcp.CallToolRequest, in struct{ Names []string }) (*mcp.CallToolResult, any, error) {
	answers := make([]elicit.Answer[bool], len(in.Names))
	var all []elicit.Pending
	for i := range in.Names {
		all = append(all, remove.WithMessagef("Delete %s?", in.Names[i]).Into(&answers[i])) // want `in each turn of the loop`
	}
	if err := elicit.RequireAll(ctx, all...); err != nil {
		return nil, nil, err
	}
	return elicit.Text(fmt.Sprint(len(answers))), nil, nil
}

func loopNew(ctx context.Context, seats [][]string) error {
	for _, free := range seats {
		seat := form.Choice("seat", form.Options(free...)...)
		if _, err := elicit.NewFormQuestion("seat", "Which seat?", form.New(seat)).Value(ctx); err != nil { // want `in each turn of the loop the key "seat"`
			return err
		}
	}
	return nil
}

func retry(ctx context.Context) (string, error) {
	for attempt := 1; ; attempt++ {
		n, err := name.WithMessagef("Name it, attempt %d", attempt).Value(ctx) // want `in each turn of the loop the key "name"`
		if err != nil || len(n) > 3 {
			return n, err
		}
	}
}

func register(s *elicit.Server, h mcp.ToolHandlerFor[struct{}, any]) {
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, h, elicit.Asks(agree, terms)) // want `two of the declared questions have the key "agree"`
}

func askTerms(ctx context.Context) error {
	_, err := terms.Value(ctx)
	return err
}

func byHelper(ctx context.Context) error {
	if _, err := agree.Value(ctx); err != nil {
		return err
	}
	return askTerms(ctx) // want `the key "agree" is used for two different questions`
}

func byHelpers(ctx context.Context) error {
	if err := helpers.AskAgree(ctx); err != nil {
		return err
	}
	return askTerms(ctx) // want `the key "agree" is used for two different questions`
}
