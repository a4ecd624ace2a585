// Package base is in another package than what embeds its structs.
package base

// Order is embedded elsewhere.
type Order struct {
	// ID is the number of the order, as [Order] has it.
	ID string `json:"id"`

	Note string // what the customer wrote

	// Not for people.
	hidden string

	// Not in JSON.
	Skipped string `json:"-"`
}

// Page is generic.
type Page[T any] struct {
	// The first element to show.
	First T `json:"first"`

	// How many to show.
	Count int `json:"count"`
}

var _ = Order{}.hidden
