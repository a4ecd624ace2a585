// Package helpers asks for another package.
package helpers

import (
	"context"

	"github.com/elicit-go/elicit"
)

var Agree = elicit.Confirm("agree", "Do you agree to the privacy policy?")

func AskAgree(ctx context.Context) error {
	_, err := Agree.Value(ctx)
	return err
}
