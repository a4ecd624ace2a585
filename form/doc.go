// Package form describes what a server asks a person for: a flat form of named fields, as the elicitation of the Model Context
// Protocol knows it. A [Form] is written in Go, goes out as a JSON Schema, and brings the answer back as Go values.
//
// # Three ways to write one
//
// [New] lists fields by name. It suits one or two fields, and forms that depend on data:
//
//	tracking := form.String("trackingNumber").MinLength(8).Required()
//	carrier := form.Choice("carrier", form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")).Default("ups")
//	f := form.New(tracking, carrier)
//
// [For] takes the fields of a struct. It suits forms whose types and tags say all there is to say:
//
//	type Shipment struct {
//		TrackingNumber string  `json:"trackingNumber" jsonschema:"printed on the label" elicit:"minLength=8"`
//		Parcels        uint8   `json:"parcels" elicit:"max=10,default=1"`
//		Note           *string `json:"note"` // a pointer: may be left out
//	}
//	f := form.For[Shipment]()
//
// [Build] lists fields of a struct, by pointer, with rules:
//
//	f := form.Build(func(s *Shipment) []form.Field {
//		return []form.Field{
//			form.StringOf(&s.TrackingNumber).MinLength(8),
//			form.IntOf(&s.Parcels).Range(1, 10).Default(1),
//			form.StringOf(s.Note),
//		}
//	})
//
// All three give a [Form], and none can fail: [Form.Err] says what is wrong, and package elicit asks for it when a question is
// declared. Each field has a title, derived from its name if nobody writes one: trackingNumber is "Tracking Number". Descriptions of
// struct fields may come from their doc comments; see [Doc].
//
// # Kinds of fields
//
//	String            text; lengths count Unicode code points
//	Email, URI        text of a format that is checked
//	Date, DateTime    RFC 3339, in Go a time.Time, a Day or a string
//	Text              what the Go type reads by UnmarshalText
//	Int, Number       whole numbers, exact to the last digit, and others
//	Bool              yes or no
//	Choice, Choices   one, or several, of a list of options, of a string type or any other that has a text
//
// There is no field for a password, and a form is no place for one: what a person fills in passes through the client. [Form.Err]
// reports fields that look like it, and links.
//
// # Answers
//
// [Form.Decode] takes the raw JSON of an answer, which may be anything, and gives either a [Decoded] with all fields in place or the
// list of [Problem]s, each with a sentence to show. What was left out, and may be, has the author's default; [Decoded.Given] tells
// the difference. [Form.SchemaWithDefaults] is the form for asking again with what was valid filled in. Making a form costs something,
// checking an answer next to nothing: keep forms in variables. [Words] say what is wrong in another language.
//
// # On the other side
//
// [Parse] reads a schema that another server sent, as a form: [Form.Fields] is what to show, [Property.FromText] reads what a person
// types, [Form.Validate] says what is wrong with it before it is sent.
package form
