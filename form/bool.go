package form

import "fmt"

// BoolField is yes or no, kept in a Go bool type B.
type BoolField[B ~bool] struct {
	c common
	r boolRules
}

// Bool is a field for yes or no called name, for [New].
func Bool(name string) BoolField[bool] { return BoolField[bool]{c: common{name: name}} }

// BoolOf is the [Bool] field that fills a struct field, for [Build]. A pointer to a bool tells "no" from "left out".
func BoolOf[B ~bool](field *B) BoolField[B] { return BoolField[B]{c: pointTo(field)} }

// Title is what a person sees beside the field. Without it, it is derived from the name: signOnDelivery is "Sign on Delivery".
func (f BoolField[B]) Title(title string) BoolField[B] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f BoolField[B]) Titlef(format string, args ...any) BoolField[B] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f BoolField[B]) Description(words string) BoolField[B] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f BoolField[B]) Descriptionf(format string, args ...any) BoolField[B] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid. No is an answer.
func (f BoolField[B]) Required() BoolField[B] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise.
func (f BoolField[B]) Optional() BoolField[B] { f.c.presence = optional; return f }

// Default is what a client ticks beforehand, and the value of an optional field that is left out. None by default. Do not let
// it agree to something for a person.
func (f BoolField[B]) Default(value B) BoolField[B] { f.c.def = bool(value); return f }

// In reads the field out of an answer: its value, or its default, or false.
func (f BoolField[B]) In(values Values) B { b, _ := values.get(f.c.name).(bool); return B(b) }

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f BoolField[B]) Set(values *Values, value B) { values.set(f.c.name, bool(value)) }

func (f BoolField[B]) spec() spec { return spec{f.c, &f.r} }

// boolRules take JSON's true and false, and nothing that resembles them.
type boolRules struct{}

func (*boolRules) mistakes() []string { return nil }

func (*boolRules) typeName() string { return "boolean" }

func (*boolRules) appendTo(b []byte, _ bool) ([]byte, bool) { return b, true }

func (*boolRules) emptyIsAbsent() bool { return false }

func (*boolRules) check(v []byte) (string, []byte) {
	if s := string(v); s != "true" && s != "false" {
		return "type", v
	}
	return "", nil
}

func (*boolRules) value(v []byte) any { return v[0] == 't' }
