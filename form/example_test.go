package form_test

import (
	"fmt"
	"time"

	"github.com/elicit-go/elicit/form"
)

func ExampleNew() {
	tracking := form.String("trackingNumber").MinLength(8).Required()
	parcels := form.Int("parcels").Range(1, 10).Default(1)
	shipping := form.New(
		tracking,
		parcels,
		form.Choice("carrier", form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")).Default("ups"),
		form.Choices("extras", form.Options("insurance", "signature")...).AtMost(2),
		form.Bool("fragile"),
	)
	if err := shipping.Err(); err != nil {
		panic(err)
	}

	answer, problems := shipping.Decode([]byte(`{"trackingNumber": "1Z999AA1", "fragile": true}`))
	if problems != nil {
		panic(problems)
	}
	fmt.Println(tracking.In(answer.Value), parcels.In(answer.Value), answer.Given("parcels"))
	// Output: 1Z999AA1 1 false
}

func ExampleFor() {
	type Shipment struct {
		TrackingNumber string    `json:"trackingNumber" jsonschema:"printed on the label"`
		Parcels        uint8     `json:"parcels,omitempty"`
		Note           *string   `json:"note"`
		PickUp         time.Time `json:"pickUp,omitzero"`
	}
	shipping := form.For[Shipment]()
	fmt.Println(string(shipping.Schema()))

	answer, _ := shipping.Decode([]byte(`{"trackingNumber": "1Z999", "pickUp": "2026-07-28T14:30:00+02:00"}`))
	fmt.Println(answer.Value.TrackingNumber, answer.Value.Note, answer.Value.PickUp)
	// Output:
	// {"type":"object","properties":{"trackingNumber":{"type":"string","title":"Tracking Number","description":"printed on the label"},"parcels":{"type":"integer","title":"Parcels","minimum":0,"maximum":255},"note":{"type":"string","title":"Note"},"pickUp":{"type":"string","title":"Pick Up","format":"date-time"}},"required":["trackingNumber"]}
	// 1Z999 <nil> 2026-07-28 14:30:00 +0200 +0200
}

func ExampleBuild() {
	type Carrier string
	const (
		UPS Carrier = "ups"
		DHL Carrier = "dhl"
	)
	type Shipment struct {
		TrackingNumber string  `json:"trackingNumber"`
		Parcels        int     `json:"parcels,omitempty"`
		Carrier        Carrier `json:"carrier"`
		Note           *string `json:"note"`
	}
	shipping := form.Build(func(s *Shipment) []form.Field {
		return []form.Field{
			form.StringOf(&s.TrackingNumber).MinLength(8),
			form.IntOf(&s.Parcels).Range(1, 10).Default(1),
			form.ChoiceOf(&s.Carrier, form.Opt(UPS, "UPS"), form.Opt(DHL, "DHL")).Default(UPS),
			form.StringOf(s.Note).Title("Note to the driver"),
		}
	})
	answer, _ := shipping.Decode([]byte(`{"trackingNumber": "1Z999AA1", "carrier": "dhl"}`))
	fmt.Printf("%+v\n", answer.Value)
	// Output: {TrackingNumber:1Z999AA1 Parcels:1 Carrier:dhl Note:<nil>}
}

func ExampleStringField_In() {
	name, born := form.String("name").Required(), form.Date("dateOfBirth")
	person := form.New(name, born)
	answer, _ := person.Decode([]byte(`{"name": "Ada", "dateOfBirth": "1815-12-10"}`))
	fmt.Println(name.In(answer.Value), born.In(answer.Value).Year())
	// Output: Ada 1815
}

func ExampleForm_Validate() {
	shipping := form.New(form.String("trackingNumber").Required(), form.Int("parcels").Range(1, 10), form.Email("contact"))
	for _, p := range shipping.Validate([]byte(`{"parcels": 12, "contact": "me"}`)) {
		fmt.Println(p.Field, p.Rule)
		fmt.Println("  to the person:", p.Message)
		fmt.Println("  to a log:     ", p.Requirement)
	}
	// Output:
	// trackingNumber required
	//   to the person: Tracking Number is required.
	//   to a log:      Tracking Number is required.
	// parcels maximum
	//   to the person: Parcels must be between 1 and 10; you entered 12.
	//   to a log:      Parcels must be between 1 and 10.
	// contact format
	//   to the person: Contact must be an e-mail address, such as name@example.com; you entered "me".
	//   to a log:      Contact must be an e-mail address, such as name@example.com.
}

func ExampleForm_SchemaWithDefaults() {
	shipping := form.New(form.String("city").Required(), form.Int("parcels").Range(1, 10).Default(1))
	fmt.Println(string(shipping.SchemaWithDefaults([]byte(`{"city": "Oslo", "parcels": 12}`))))
	// Output: {"type":"object","properties":{"city":{"type":"string","title":"City","default":"Oslo"},"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10,"default":1}},"required":["city"]}
}

func ExampleForm_Err() {
	fmt.Println(form.New(form.Int("parcels").Range(10, 1), form.Choice[string]("carrier")).Err())
	// Output:
	// form: field "parcels": minimum 10 is above maximum 1
	// form: field "carrier": it has no options to choose from
}

func ExampleForm_Encode() {
	tracking := form.String("trackingNumber").Required()
	shipping := form.New(tracking, form.Bool("fragile"))

	var answer form.Values
	tracking.Set(&answer, "1Z999")
	content, err := shipping.Encode(answer)
	fmt.Println(string(content), err)
	// Output: {"trackingNumber":"1Z999"} <nil>
}
