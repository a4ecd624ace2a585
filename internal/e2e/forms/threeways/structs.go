package threeways

import (
	"fmt"

	"github.com/elicit-go/elicit/form"
)

// Carrier is who brings the parcels.
type Carrier string

// ElicitOptions are the carriers to choose from.
func (Carrier) ElicitOptions() []form.Option[Carrier] {
	return []form.Option[Carrier]{form.Opt[Carrier]("ups", "UPS"), form.Opt[Carrier]("dhl", "DHL")}
}

// Shipment is what the form asks for.
type Shipment struct {
	TrackingNumber string  `json:"trackingNumber" jsonschema:"Printed on the label." elicit:"minLength=8"`
	Parcels        int     `json:"parcels,omitempty" elicit:"title=Number of parcels,min=1,max=10,default=1"`
	Carrier        Carrier `json:"carrier"`
	Note           *string `json:"note"`
}

var byStruct = form.For[Shipment]()

func shipByStruct(answer form.Decoded[Shipment]) string {
	v := answer.Value
	s := fmt.Sprintf("%d parcels, %s by %s", v.Parcels, v.TrackingNumber, v.Carrier)
	if v.Note != nil {
		s += ": " + *v.Note
	}
	return s
}
