package form

import (
	"encoding"
	"fmt"
	"reflect"
)

// For is the form of struct T: a field for each one that encoding/json would send, in the order written.
//
// Its name is that of its json tag, its description that of its jsonschema tag; it is required unless its json tag has omitempty
// or omitzero or it is a pointer. Embedded structs are flattened. The kinds of Go types:
//
//	string types          text
//	integer types         a whole number in the range of the type
//	float types           a number
//	bool types            yes or no
//	time.Time             a date with time
//
// and pointers to them. Anything else is a mistake that [Form.Err] reports, with what to do instead. What types and tags cannot say,
// options and lengths and defaults, [Build] can.
func For[T any]() *Form[T] {
	f := &Form[T]{}
	var b builder
	if t, ok := structType[T](&b, "For"); ok {
		for _, bound := range bindsOf(t, &b) {
			r, mistake := rulesFor(bound.typ)
			if mistake != "" {
				b.errorf("%s: %s", bound.path, mistake)
				continue
			}
			s := spec{common{name: bound.name, presence: required}, r}
			if bound.optional {
				s.presence = optional
			}
			if s.description, mistake = bound.description(); mistake != "" {
				b.errorf("%s: %s", bound.path, mistake)
			}
			b.add(s)
			f.binds = append(f.binds, bound)
		}
	}
	f.m = b.model()
	return f
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// rulesFor are the rules of a Go type, or why it has none.
func rulesFor(t reflect.Type) (rules, string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == timeType:
		return &textRules{format: "date-time"}, ""
	case t == durationType:
		return nil, "a time.Duration would be asked for in nanoseconds; use an int whose name says seconds or minutes"
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return nil, fmt.Sprintf("%v has a text form of its own (UnmarshalText), which For does not read; use a string field and convert it, or bind the field in form.Build", t)
	}
	switch t.Kind() {
	case reflect.String:
		return &textRules{}, ""
	case reflect.Bool:
		return &boolRules{}, ""
	case reflect.Float32, reflect.Float64:
		return &numberRules{bits: t.Bits()}, ""
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		r := integerRange(t.Kind() >= reflect.Uint, t.Bits())
		return &r, ""
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String {
			return nil, fmt.Sprintf("a %v needs options to choose from; use form.Build with form.ChoicesOf", t)
		}
		return nil, fmt.Sprintf("a form is flat and has no lists but of options, so not %v; ask for the elements one by one, or for a []string with form.ChoicesOf in form.Build", t)
	case reflect.Struct:
		return nil, fmt.Sprintf("a form is flat, so a field cannot be the struct %v; move its fields up, or embed it", t)
	case reflect.Map:
		return nil, fmt.Sprintf("a form is flat and has fixed fields, so not %v; write a field for each key", t)
	case reflect.Interface:
		return nil, fmt.Sprintf("a form asks for one type, so not %v; use string, a number, bool or time.Time", t)
	}
	return nil, fmt.Sprintf("a form cannot ask for %v; use string, a number, bool or time.Time", t)
}
