package elicit004

import (
	"context"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/lint/testdata/elicit004/helpers"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func ownKeys(ctx context.Context, names []string) error {
	for _, n := range names {
		if _, err := remove.WithKey("delete:"+n).WithMessagef("Delete %s?", n).Value(ctx); err != nil {
			return err
		}
	}
	return nil
}

func sameTwice(ctx context.Context, n string) error {
	if _, err := agree.WithMessagef("Agree to %s?", n).Value(ctx); err != nil {
		return err
	}
	again, err := agree.WithMessagef("Agree to %s?", n).Require(ctx)
	if err != nil {
		return err
	}
	return again.Err()
}

func either(ctx context.Context, big bool) error {
	if big {
		if _, err := agree.WithMessagef("Agree to the big one?").Value(ctx); err != nil {
			return err
		}
	} else {
		if _, err := agree.WithMessagef("Agree to the small one?").Value(ctx); err != nil {
			return err
		}
	}
	return nil
}

func byCase(ctx context.Context, kind string) error {
	q := agree
	switch kind {
	case "terms":
		q = terms
	case "price":
		q = agree.WithMessagef("Agree to the price?")
	}
	_, err := q.Value(ctx)
	return err
}

func returnsEarly(ctx context.Context, old bool) error {
	if old {
		_, err := agree.Value(ctx)
		return err
	}
	_, err := terms.Value(ctx)
	return err
}

func inEachTurnTheSame(ctx context.Context, names []string) ([]string, error) {
	var out []string
	for _, n := range names {
		prefix, err := name.Value(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, prefix+n)
	}
	return out, nil
}

func outsideData(ctx context.Context, names []string, owner string) error {
	for range names {
		if _, err := agree.WithMessagef("Does %s agree?", owner).Value(ctx); err != nil {
			return err
		}
	}
	return nil
}

func constantKeys(ctx context.Context) error {
	if _, err := agree.WithKey("one").WithMessagef("One?").Value(ctx); err != nil {
		return err
	}
	_, err := agree.WithKey("two").WithMessagef("Two?").Value(ctx)
	return err
}

func registerRight(s *elicit.Server, h mcp.ToolHandlerFor[struct{}, any]) {
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, h, elicit.Asks(agree, name))
	elicit.AddTool(s, &mcp.Tool{Name: "B"}, h, elicit.Asks(terms))
}

func theSameByHelper(ctx context.Context) error {
	if err := helpers.AskAgree(ctx); err != nil {
		return err
	}
	_, err := helpers.Agree.Value(ctx)
	return err
}

func oneOfHelpers(ctx context.Context, old bool) error {
	if old {
		return helpers.AskAgree(ctx)
	}
	return askTerms(ctx)
}
