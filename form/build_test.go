package form

import (
	"reflect"
	"testing"
	"time"
)

type carrier string

type Base struct {
	ID   string `json:"id" jsonschema:"of the order"`
	Hide string `json:"-"`
}

type address struct{ Street string }

type shipment struct {
	Base
	*Extra
	TrackingNumber string     `json:"trackingNumber"`
	Parcels        uint8      `json:"parcels,omitempty"`
	Weight         *float64   `json:"weight"`
	Fragile        bool       `json:"fragile,omitzero"`
	Carrier        carrier    `json:"carrier"`
	Extras         []carrier  `json:"extras,omitempty"`
	Email          string     `json:"email,omitempty"`
	Site           *string    `json:"site"`
	At             time.Time  `json:"at,omitzero"`
	Due            *time.Time `json:"due"`
	Address        address    `json:"address"`
	Bill           *address   `json:"bill"`
	Bad            string     `json:"bad" jsonschema:"required=true"`
	Empty          string     `json:"empty" jsonschema:""`
	secret         string
	Pair           [2]string
}

type Extra struct {
	Floor int8 `json:"floor"`
}

func shipmentForm() *Form[shipment] {
	return Build(func(s *shipment) []Field {
		return []Field{
			StringOf(&s.ID),
			StringOf(&s.TrackingNumber).MinLength(8).Description("mine"),
			IntOf(&s.Parcels).Range(1, 10).Default(1),
			NumberOf(s.Weight),
			BoolOf(&s.Fragile).Default(true),
			ChoiceOf(&s.Carrier, Opt[carrier]("ups", "UPS"), Opt[carrier]("dhl", "DHL")).Optional().Default("ups"),
			ChoicesOf(&s.Extras, Options[carrier]("a", "b")...),
			EmailOf(&s.Email),
			URIOf(s.Site),
			DateTimeOf(&s.At),
			DateOf(s.Due),
			IntOf(&s.Floor).Optional(),
		}
	})
}

func TestBuild(t *testing.T) {
	f := shipmentForm()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	same(t, "schema", string(f.Schema()), `{"type":"object","properties":{"id":{"type":"string","title":"ID","description":"of the order"},`+
		`"trackingNumber":{"type":"string","title":"Tracking Number","description":"mine","minLength":8},`+
		`"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10,"default":1},"weight":{"type":"number","title":"Weight"},`+
		`"fragile":{"type":"boolean","title":"Fragile","default":true},`+
		`"carrier":{"type":"string","title":"Carrier","oneOf":[{"const":"ups","title":"UPS"},{"const":"dhl","title":"DHL"}],"default":"ups"},`+
		`"extras":{"type":"array","title":"Extras","items":{"type":"string","enum":["a","b"]}},"email":{"type":"string","title":"Email","format":"email"},`+
		`"site":{"type":"string","title":"Site","format":"uri"},"at":{"type":"string","title":"At","format":"date-time"},`+
		`"due":{"type":"string","title":"Due","format":"date"},"floor":{"type":"integer","title":"Floor","minimum":-128,"maximum":127}},`+
		`"required":["id","trackingNumber"]}`)

	got := decode(t, f, `{"id":"7","trackingNumber":"12345678"}`)
	if want := (shipment{Base: Base{ID: "7"}, TrackingNumber: "12345678", Parcels: 1, Fragile: true, Carrier: "ups"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	content := `{"id":"7","trackingNumber":"12345678","parcels":2,"weight":0,"fragile":false,"carrier":"dhl","extras":["b"],"email":"a@b","site":"x:","at":"2026-07-28T14:30:00+02:00","due":"2026-07-28","floor":-3}`
	got = decode(t, f, content)
	weight, site, due := 0.0, "x:", time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)
	want := shipment{Base: Base{ID: "7"}, Extra: &Extra{-3}, TrackingNumber: "12345678", Parcels: 2, Weight: &weight, Carrier: "dhl", Extras: []carrier{"b"}, Email: "a@b",
		Site: &site, At: time.Date(2026, 7, 28, 14, 30, 0, 0, time.FixedZone("", 7200)), Due: &due}
	if !got.At.Equal(want.At) {
		t.Error(got.At)
	}
	got.At, want.At = time.Time{}, time.Time{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	b, err := f.Encode(decode(t, f, content))
	same(t, "Encode", string(b), content)
	if err != nil {
		t.Error(err)
	}
}

// Nothing reaches the struct but the form's own fields, by their exact names.
func TestNoMassAssignment(t *testing.T) {
	type account struct {
		Name  string `json:"name"`
		Admin bool   `json:"admin"`
	}
	f := Build(func(a *account) []Field { return []Field{StringOf(&a.Name)} })
	if got := decode(t, f, `{"name":"n","admin":true,"Admin":true,"NAME":"x"}`); got != (account{Name: "n"}) {
		t.Errorf("%+v", got)
	}
}

// Decoding a nil embedded pointer's field only allocates where something was given.
func TestEncodeOfZero(t *testing.T) {
	b, err := shipmentForm().Encode(shipment{})
	same(t, "zero", string(b), `{"id":"","trackingNumber":"","parcels":0,"fragile":false}`)
	if err != nil {
		t.Error(err)
	}
	if got := decode(t, shipmentForm(), `{"id":"","trackingNumber":"12345678"}`); got.Extra != nil {
		t.Error("an embedded pointer was allocated for nothing")
	}
}

func TestErrOfBuild(t *testing.T) {
	testErr(t, Build(func(s *shipment) []Field {
		other := new(string)
		var none *string
		return []Field{
			StringOf(&s.Address.Street), StringOf(&s.Bill.Street), StringOf(&s.secret), StringOf(&s.Hide), StringOf(other), StringOf(none), String("trackingNumber"),
			StringOf(&s.TrackingNumber), StringOf(&s.TrackingNumber), nil, (*StringField[string])(nil), StringOf(&s.Bad), StringOf(&s.Empty), ChoiceOf(&s.Carrier), StringOf(&s.Pair[0]),
		}
	}),
		"Build[form.shipment]: field 1 points into shipment.Address; a form is flat: move the field up, or embed the struct",
		"Build[form.shipment]: field 2 points into shipment.Bill; a form is flat: move the field up, or embed the struct",
		"Build[form.shipment]: field 3 points to shipment.secret, which is not a field of the form: it must be exported, and not hidden from JSON by its tag or by another field of its name",
		"Build[form.shipment]: field 4 points to shipment.Base.Hide, which is not a field of the form: it must be exported, and not hidden from JSON by its tag or by another field of its name",
		"Build[form.shipment]: field 5 does not point into the form.shipment that the function gets",
		"Build[form.shipment]: field 6 is a nil pointer; the pointers that are exported fields of form.shipment are set",
		`Build[form.shipment]: field 7 ("trackingNumber") has a name; in Build a field is a pointer into the struct, as in form.StringOf(&s.TrackingNumber)`,
		"Build[form.shipment]: field 9: shipment.TrackingNumber is there twice",
		"Build[form.shipment]: field 10 is nil",
		"Build[form.shipment]: field 11 is nil",
		`shipment.Bad: its jsonschema tag "required=true" begins with WORD=, which go-sdk reserves; the tag is a description`,
		"shipment.Empty: its jsonschema tag is empty; write a description or leave the tag out",
		`field "carrier": it has no options to choose from: give it some`,
		"Build[form.shipment]: field 15 points to shipment.Pair, which is not a field of the form: it must be exported, and not hidden from JSON by its tag or by another field of its name",
	)
	testErr(t, Build(func(s *shipment) []Field { panic("boom") }),
		"Build[form.shipment]: the function panicked: boom; it may only take addresses of fields, and pointers that are fields")
	testErr(t, Build(func(s *struct{ P **struct{ A string } }) []Field { return []Field{StringOf(&(*s.P).A)} }),
		"Build[struct { P **struct { A string } }]: the function panicked: runtime error: invalid memory address or nil pointer dereference; it may only take addresses of fields, and pointers that are fields")
	testErr(t, Build[shipment](nil), "Build[form.shipment]: the function is nil")
	testErr(t, Build(func(*int) []Field { return nil }), "Build[int]: a form is made of a struct; put the int into a field of one, or use form.New")
	testErr(t, Build(func(**shipment) []Field { return nil }), "Build[*form.shipment]: a form is made of a struct, not of a pointer; write Build[form.shipment]")
	testErr(t, Build(func(*Values) []Field { return nil }), "Build[form.Values]: values without a struct are for form.New")
	testErr(t, Build(func(*time.Time) []Field { return nil }), "Build[time.Time]: a form is made of a struct; put the time.Time into a field of one, or use form.New")
}
