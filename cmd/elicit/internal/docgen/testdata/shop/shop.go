// Package shop has structs of every sort.
package shop

import (
	"time"

	"github.com/elicit-go/elicit/cmd/elicit/internal/docgen/testdata/base"
	"github.com/elicit-go/elicit/form"
)

//go:generate go run github.com/elicit-go/elicit/cmd/elicit doc -types=Named

// Shipment is asked for by For.
type Shipment struct {
	base.Order
	*Box

	// Tracking number printed on the label.
	TrackingNumber string `json:"trackingNumber"`

	// Weight is the weight
	// in kilograms.
	//
	//	code is left out
	//
	// It has "quotes" and a [base.Order].
	//
	// Deprecated: so is this.
	Weight float64 `json:"weight,omitempty"`

	// A comment that the tag goes before.
	Tagged string `json:"tagged,omitempty" jsonschema:"the tag"`

	// One comment for two fields.
	From, To time.Time

	Carrier string `json:"carrier,omitempty"` // who carries it
	Bare    string `json:"bare,omitempty"`

	// Never seen.
	unexported string
}

// Box is embedded.
type Box struct {
	// Height, in centimetres.
	Height int `json:"height,omitempty"`
}

// Paged is asked for by Build, as an instance.
type Paged[K comparable, V any] struct {
	base.Page[V]

	// Which shelf.
	Shelf string `json:"shelf"`
}

// Named is asked for elsewhere.
type Named struct {
	// The name.
	Name string `json:"name"`
}

// Unasked is asked for nowhere.
type Unasked struct {
	// Not seen.
	X string
}

// Written has a method of its own.
type Written struct {
	// Not seen.
	X string `json:"x"`
}

// ElicitDoc is written by hand.
func (Written) ElicitDoc() form.Doc {
	return form.Doc{Type: "github.com/elicit-go/elicit/cmd/elicit/internal/docgen/testdata/shop.Written", Fields: map[string]string{"X": "By hand."}}
}

// Outer has no comments of its own, but embeds a struct whose method Go promotes.
type Outer struct {
	Named
	Name2 string `json:"name2"`
}

// The forms.
var (
	ShipmentForm = form.For[Shipment]()
	PagedForm    = form.Build(func(p *Paged[string, int]) []form.Field {
		return []form.Field{form.IntOf(&p.First), form.IntOf(&p.Count), form.StringOf(&p.Shelf).Description("Mine.")}
	})
	WrittenForm = form.For[Written]()
	NamedForm   = form.For[named]()
	OuterForm   = form.For[Outer]()
)

type named = Named

var _ = Shipment{}.unexported
