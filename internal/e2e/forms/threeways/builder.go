package threeways

import (
	"fmt"

	"github.com/elicit-go/elicit/form"
)

var (
	trackingNumber = form.String("trackingNumber").Description("Printed on the label.").MinLength(8).Required()
	parcels        = form.Int("parcels").Title("Number of parcels").Range(1, 10).Default(1)
	carrier        = form.Choice("carrier", form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")).Required()
	note           = form.String("note")

	byBuilder = form.New(trackingNumber, parcels, carrier, note)
)

func shipByBuilder(answer form.Decoded[form.Values]) string {
	v := answer.Value
	s := fmt.Sprintf("%d parcels, %s by %s", parcels.In(v), trackingNumber.In(v), carrier.In(v))
	if answer.Given("note") {
		s += ": " + note.In(v)
	}
	return s
}
