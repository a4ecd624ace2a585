package form

import (
	"encoding/json"
	"testing"
)

// wide has every kind.
func wide() *Form[Values] {
	return New(
		String("trackingNumber").MinLength(8).Required(),
		Email("email"),
		URI("homepage").Default("https://example.com/"),
		Date("day"),
		DateTime("at"),
		Int("parcels").Range(1, 10).Default(1),
		Number("weight").Min(0.5),
		Bool("fragile").Default(true).Required(),
		Choice("carrier", Opt("ups", "UPS"), Opt("dhl", "DHL")).Default("ups"),
		Choices("extras", Options("insurance", "signature")...).AtMost(2),
	)
}

// The answer shown in the seed of the design, byte by byte but for white space.
func TestSchemaOfOneField(t *testing.T) {
	want := `{"type":"object","properties":{"trackingNumber":{"type":"string","title":"Tracking Number"}},"required":["trackingNumber"]}`
	same(t, "New", string(New(String("trackingNumber").Required()).Schema()), want)
	type Shipment struct {
		TrackingNumber string `json:"trackingNumber"`
	}
	same(t, "For", string(For[Shipment]().Schema()), want)
	same(t, "Build", string(Build(func(s *Shipment) []Field { return []Field{StringOf(&s.TrackingNumber)} }).Schema()), want)
}

func TestSchema(t *testing.T) {
	f := wide()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	same(t, "Schema", string(f.Schema()), `{"type":"object","properties":{`+
		`"trackingNumber":{"type":"string","title":"Tracking Number","minLength":8},`+
		`"email":{"type":"string","title":"Email","format":"email"},`+
		`"homepage":{"type":"string","title":"Homepage","format":"uri","default":"https://example.com/"},`+
		`"day":{"type":"string","title":"Day","format":"date"},`+
		`"at":{"type":"string","title":"At","format":"date-time"},`+
		`"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10,"default":1},`+
		`"weight":{"type":"number","title":"Weight","minimum":0.5},`+
		`"fragile":{"type":"boolean","title":"Fragile","default":true},`+
		`"carrier":{"type":"string","title":"Carrier","oneOf":[{"const":"ups","title":"UPS"},{"const":"dhl","title":"DHL"}],"default":"ups"},`+
		`"extras":{"type":"array","title":"Extras","maxItems":2,"items":{"type":"string","enum":["insurance","signature"]}}`+
		`},"required":["trackingNumber","fragile"]}`)
	if !json.Valid(f.Schema()) {
		t.Error("not JSON")
	}
}

func TestSchemaWithDefaults(t *testing.T) {
	f := New(String("note").MinLength(3).Default("abc"), Int("parcels").Range(1, 10).Default(1), Number("weight"), Bool("fragile").Default(false),
		Choice("carrier", Options("ups", "dhl")...), Choices("extras", Options("a", "b")...), Email("email").Default("a@b"), Bool("agree"))
	plain := string(f.Schema())
	for _, unusable := range []string{``, `null`, `[]`, `"x"`, `{"note":`, `x`, `{}`, `{"unknown":1}`, `{"note":"x","parcels":0,"weight":"1","carrier":"x","extras":"a","email":""}`,
		`{"note":"abcd","note":"abcd"}`, `{"fragile":true,"agree":true}`, `{"note":null}`} {
		same(t, unusable, string(f.SchemaWithDefaults([]byte(unusable))), plain)
	}
	same(t, "all", string(f.SchemaWithDefaults([]byte(`{ "agree":true, "extras": [ "b" , "a" ], "note":"\u0061\u202e<\"", "parcels": 1e1,"weight":1.50, "fragile":true,"carrier":"d\u0068l","email":"c@d" }`))),
		`{"type":"object","properties":{"note":{"type":"string","title":"Note","minLength":3,"default":"a`+"\u202e"+`<\""},`+
			`"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10,"default":10},`+
			`"weight":{"type":"number","title":"Weight","default":1.50},`+
			`"fragile":{"type":"boolean","title":"Fragile","default":false},`+
			`"carrier":{"type":"string","title":"Carrier","enum":["ups","dhl"],"default":"dhl"},`+
			`"extras":{"type":"array","title":"Extras","items":{"type":"string","enum":["a","b"]},"default":["b","a"]},`+
			`"email":{"type":"string","title":"Email","format":"email","default":"c@d"},`+
			`"agree":{"type":"boolean","title":"Agree"}}}`)
	same(t, "the form is as before", string(f.Schema()), plain)
}

func TestLegacySchema(t *testing.T) {
	f := New(String("note").MinLength(3).Default("abc").Required(), Int("parcels").Range(1, 10).Default(1), Number("weight").Default(2), Bool("fragile").Default(false),
		Choice("carrier", Opt("ups", "UPS"), Opt("dhl", "")).Default("ups"), Choice("size", Options("s", "l")...).Default("s").Description("D"), Email("email").Default("a@b"), Bool("plain"))
	got, err := f.LegacySchema()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "LegacySchema", string(got), `{"type":"object","properties":{"note":{"type":"string","title":"Note","minLength":3},`+
		`"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10},"weight":{"type":"number","title":"Weight"},`+
		`"fragile":{"type":"boolean","title":"Fragile","default":false},`+
		`"carrier":{"type":"string","title":"Carrier","enum":["ups","dhl"],"enumNames":["UPS","dhl"]},`+
		`"size":{"type":"string","title":"Size","description":"D","enum":["s","l"]},"email":{"type":"string","title":"Email","format":"email"},`+
		`"plain":{"type":"boolean","title":"Plain"}},"required":["note"]}`)

	_, err = wide().LegacySchema()
	if err == nil || err.Error() != `form: field "extras": protocol revision 2025-06-18 cannot ask for several choices in one field` {
		t.Error(err)
	}
}
