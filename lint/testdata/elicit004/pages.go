package elicit004

import (
	"context"

	"github.com/elicit-go/elicit/page"
)

var account = page.SecretInput("account", "Your key at weather.example.com")

func forgets(ctx context.Context, works func(string) bool) error {
	key, err := account.Value(ctx)
	if err != nil || works(key.Reveal()) {
		return err
	}
	if err := page.Forget(ctx, account); err != nil {
		return err
	}
	_, err = account.WithMessagef("That key is not known. Your key at weather.example.com").Value(ctx)
	return err
}

func keeps(ctx context.Context) error {
	if _, err := account.Value(ctx); err != nil {
		return err
	}
	_, err := account.WithMessagef("Again").Value(ctx) // want `the key "account" is used for two different questions`
	return err
}
