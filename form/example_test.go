package form_test

import (
	"fmt"
	"net/netip"
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
	// form: field "parcels": minimum 10 is above maximum 1, so that nothing is valid: change one of them
	// form: field "carrier": it has no options to choose from: give it some
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

// Speed is an enum with a String method, as Go programs have them.
type Speed int

const (
	Standard Speed = iota
	Express
)

func (s Speed) String() string { return [...]string{"standard", "express"}[s] }

// ElicitOptions makes Speed a choice.
func (Speed) ElicitOptions() []form.Option[Speed] {
	return []form.Option[Speed]{form.Opt(Standard, "Standard, 3 days"), form.Opt(Express, "Express")}
}

func ExampleFor_tags() {
	type Delivery struct {
		Recipient string      `json:"recipient" jsonschema:"who opens the door" elicit:"title='Name, as on the bell',maxLength=60"`
		Parcels   uint8       `json:"parcels" elicit:"min=1,max=10,default=1,optional"`
		Speed     Speed       `json:"speed"`
		Day       *form.Day   `json:"day"`
		Camera    *netip.Addr `json:"camera"`
	}
	f := form.For[Delivery]()
	for name, p := range f.Fields() {
		fmt.Println(name, p.Type, p.Format, p.Title, p.Required, p.Options)
	}
	d, problems := f.Decode([]byte(`{"recipient": "Ada", "speed": "express", "day": "2026-07-28"}`))
	fmt.Println(problems, d.Value.Parcels, d.Value.Speed, d.Value.Day, d.Value.Camera)
	// Output:
	// recipient string  Name, as on the bell true []
	// parcels integer  Parcels false []
	// speed string  Speed true [{standard Standard, 3 days} {express Express}]
	// day string date Day false []
	// camera string  Camera false []
	// [] 1 express 2026-07-28 <nil>
}

func ExampleText() {
	camera := form.Text[netip.Addr]("camera").Required()
	f := form.New(camera)
	d, _ := f.Decode([]byte(`{"camera": "2001:db8::1"}`))
	fmt.Println(camera.In(d.Value).Is6())
	fmt.Println(f.Validate([]byte(`{"camera": "upstairs"}`))[0].Requirement)
	// Output:
	// true
	// Camera is not valid.
}

func ExampleForm_WithWords() {
	parcels := form.New(form.Int("pakete").Range(1, 10)).WithWords(func(f form.Fault) string {
		if f.Rule == "minimum" || f.Rule == "maximum" {
			return fmt.Sprintf("%s: von %s bis %s.", f.Field.Title, f.Field.Min, f.Field.Max)
		}
		return "" // English
	})
	fmt.Println(parcels.Validate([]byte(`{"pakete": 12}`))[0].Message)
	fmt.Println(parcels.Validate([]byte(`{"pakete": 1.5}`))[0].Message)
	// Output:
	// Pakete: von 1 bis 10.
	// Pakete must be a whole number; you entered 1.5.
}

func ExampleParse() {
	f, ignored, err := form.Parse([]byte(`{"type": "object", "properties": {
		"size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
		"plate": {"type": "string", "pattern": "^[A-Z]+$"}
	}, "required": ["size"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, p := range f.Fields() {
		fmt.Println(name, p.Required, p.Options)
	}
	fmt.Println(ignored[0])
	fmt.Println(f.Validate([]byte(`{"size": "m"}`))[0].Message)
	// Output:
	// size true [{s Small} {l Large}]
	// plate false []
	// field "plate": pattern: patterns are not checked
	// Size must be Small or Large; you entered "m".
}

func ExampleProperty_FromText() {
	f := form.New(form.Int("parcels"), form.Bool("fragile"), form.Choice("carrier", form.Opt("dhl", "DHL Express")))
	typed := map[string]string{"parcels": " +07", "fragile": "yes", "carrier": "DHL Express"}
	for name, p := range f.Fields() {
		fmt.Println(name, string(p.FromText(typed[name])))
	}
	// Output:
	// parcels 7
	// fragile true
	// carrier "dhl"
}

func ExampleDay() {
	day := form.DayOf(time.Date(2026, 7, 28, 23, 30, 0, 0, time.UTC))
	fmt.Println(day, day.In(time.UTC).Weekday())
	// Output: 2026-07-28 Tuesday
}

// Crate has the method that elicit doc writes from doc comments.
type Crate struct {
	// Weight is the weight in kilograms.
	Weight float64 `json:"weight"`
}

func (Crate) ElicitDoc() form.Doc {
	return form.Doc{Type: "github.com/elicit-go/elicit/form_test.Crate", Fields: map[string]string{"Weight": "The weight in kilograms."}}
}

func ExampleDoc() {
	for _, p := range form.For[Crate]().Fields() {
		fmt.Println(p.Title+":", p.Description)
	}
	// Output: Weight: The weight in kilograms.
}
