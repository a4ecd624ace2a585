package vaulttest_test

import (
	"testing"

	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/page/vaulttest"
)

func TestMemoryVault(t *testing.T) {
	vault := page.NewMemoryVault()
	vaulttest.Run(t, func(*testing.T) page.Vault { return vault })
}

// A test of a vault of one's own.
func ExampleRun() {
	_ = func(t *testing.T) {
		vaulttest.Run(t, func(t *testing.T) page.Vault {
			return page.NewMemoryVault() // here: connect to the store, as another instance of the program would
		})
	}
	// Output:
}
