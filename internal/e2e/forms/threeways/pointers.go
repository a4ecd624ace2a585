package threeways

import (
	"fmt"

	"github.com/elicit-go/elicit/form"
)

// Parcel is what the form asks for.
type Parcel struct {
	TrackingNumber string  `json:"trackingNumber"`
	Parcels        int     `json:"parcels,omitempty"`
	Carrier        string  `json:"carrier"`
	Note           *string `json:"note"`
}

var byPointer = form.Build(func(p *Parcel) []form.Field {
	return []form.Field{
		form.StringOf(&p.TrackingNumber).Description("Printed on the label.").MinLength(8),
		form.IntOf(&p.Parcels).Title("Number of parcels").Range(1, 10).Default(1),
		form.ChoiceOf(&p.Carrier, form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")),
		form.StringOf(p.Note), // a pointer: optional
	}
})

func shipByPointer(answer form.Decoded[Parcel]) string {
	v := answer.Value
	s := fmt.Sprintf("%d parcels, %s by %s", v.Parcels, v.TrackingNumber, v.Carrier)
	if v.Note != nil {
		s += ": " + *v.Note
	}
	return s
}
