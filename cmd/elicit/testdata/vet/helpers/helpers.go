// Package helpers asks for another package, which knows it by facts.
package helpers

import (
	"context"

	"github.com/elicit-go/elicit"
)

// Name is a question of this package.
var Name = elicit.Input("name", "What is it called?")

// Ask returns the asking error.
func Ask(ctx context.Context) (string, error) { return Name.Value(ctx) }
