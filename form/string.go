package form

import (
	"errors"
	"fmt"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// StringField is a line of text, kept in a Go string type S.
type StringField[S ~string] struct {
	c common
	r textRules
}

// String is a text field called name, for [New].
func String(name string) StringField[string] { return StringField[string]{c: common{name: name}} }

// StringOf is the text field that fills a struct field, for [Build]: form.StringOf(&s.Note), or form.StringOf(s.Note) where
// Note is a *string and so optional.
func StringOf[S ~string](field *S) StringField[S] { return StringField[S]{c: pointTo(field)} }

// Title is what a person sees above the field. Without it, it is derived from the name: trackingNumber is "Tracking Number".
func (f StringField[S]) Title(title string) StringField[S] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f StringField[S]) Titlef(format string, args ...any) StringField[S] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f StringField[S]) Description(words string) StringField[S] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f StringField[S]) Descriptionf(format string, args ...any) StringField[S] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid. An empty text is an answer; MinLength(1) refuses it.
func (f StringField[S]) Required() StringField[S] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise.
func (f StringField[S]) Optional() StringField[S] { f.c.presence = optional; return f }

// NotCredential says that the field asks for no password, key, token or card, although its words look like it to [Form.Err].
func (f StringField[S]) NotCredential() StringField[S] { f.c.notCredential = true; return f }

// Default is what a client fills in beforehand, and the value of an optional field that is left out. None by default.
func (f StringField[S]) Default(value S) StringField[S] { f.c.def = string(value); return f }

// MinLength is the least length, in Unicode code points. None by default.
func (f StringField[S]) MinLength(n int) StringField[S] { f.r.min = limit{n, true}; return f }

// MaxLength is the greatest length, in Unicode code points. None by default.
func (f StringField[S]) MaxLength(n int) StringField[S] { f.r.max = limit{n, true}; return f }

// In reads the field out of an answer: its value, or its default, or "".
func (f StringField[S]) In(values Values) S { s, _ := values.get(f.c.name).(string); return S(s) }

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f StringField[S]) Set(values *Values, value S) { values.set(f.c.name, string(value)) }

func (f StringField[S]) spec() spec { return spec{f.c, &f.r} }

// textRules are those of every kind of text: lengths, and for some a format, or what the Go type takes.
type textRules struct {
	min, max limit
	format   string                  // "" for any text
	accept   func(text []byte) error // nil: the Go type takes any text
	hidden   hidden
}

func (r *textRules) mistakes() []string { return mistakesOf(r.min, r.max, "MinLength", "MaxLength") }

func (r *textRules) typeName() string { return "string" }

func (r *textRules) appendTo(b []byte, _ bool) ([]byte, bool) {
	b = appendLimit(b, `,"minLength":`, r.min)
	b = appendLimit(b, `,"maxLength":`, r.max)
	if r.format != "" {
		b = append(b, `,"format":"`+r.format+`"`...)
	}
	return b, true
}

func (r *textRules) emptyIsAbsent() bool { return r.format != "" || r.accept != nil }

func (r *textRules) check(v []byte) (string, []byte) {
	if v[0] != '"' {
		return "type", v
	}
	if r.format != "" {
		var room [128]byte
		if text, ok := rawjson.Unquoted(room[:0], v); !ok || !formatOK(r.format, text) {
			return "format", v
		}
	}
	if r.min.set || r.max.set {
		n := rawjson.RuneCount(v)
		if r.min.set && n < r.min.n {
			return "minLength", v
		}
		if r.max.set && n > r.max.n {
			return "maxLength", v
		}
	}
	if r.accept != nil && r.refusal(v) != nil {
		return "format", v
	}
	return "", nil
}

// refusal is why the Go type does not take a raw string, nil if it does.
func (r *textRules) refusal(v []byte) error {
	if r.accept == nil {
		return nil
	}
	var room [128]byte
	text, ok := rawjson.Unquoted(room[:0], v)
	if !ok {
		return errNotText
	}
	return r.accept(text)
}

var errNotText = errors.New("it is not text")

func (r *textRules) value(v []byte) any { s, _ := rawjson.String(v); return s }
