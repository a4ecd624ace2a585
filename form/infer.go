package form

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// For is the form of struct T: a field for each one that encoding/json would send, in the order written; embedded structs are
// flattened as there.
//
// # Go types
//
//	string types               text
//	integer types              a whole number in the range of the type
//	float types                a number
//	bool types                 yes or no
//	time.Time                  a date with time; a date with the tag format=date
//	Day                        a date
//	url.URL, mail.Address      a URI, an e-mail address
//	with UnmarshalText         what that takes, as in Text
//	… and ElicitHidden         the same, but never shown, as page.Hidden: for the pages of package page alone
//	with ElicitOptions         a choice
//	slices of such, and []S    several choices; of a string type S with the tag enum
//
// and pointers to all but slices. The method of an enum type T that lists its options, in order, is
//
//	func (T) ElicitOptions() []form.Option[T]
//
// T is a string type, or has MarshalText or String, or is an integer; see [Option]. Anything else is a mistake that [Form.Err]
// reports, with what to do instead.
//
// # Tags
//
// The field's name is that of its json tag, its description that of its jsonschema tag, else its doc comment's (see [Doc]). It is
// required unless its json tag has omitempty or omitzero or it is a pointer. The elicit tag says the rest:
//
//	Parcels uint8 `json:"parcels" elicit:"title=Number of parcels,max=10,default=1"`
//
//	tag    = item *( "," item )
//	item   = key "=" value / flag
//	value  = *( any character but "," ), not beginning with a single quote
//	       / "'" *( any character but "'" / "''" ) "'"
//
//	title=T                what a person sees above the field
//	min=N, max=N           the least and greatest number
//	minLength=N, maxLength=N   of a text, in Unicode code points
//	minItems=N, maxItems=N     of a list of choices
//	format=F               email, uri, date or date-time, of a text; the last two also of a time.Time
//	enum=A|B               the options of a string, or of a []string
//	enumTitles=X|Y         their titles
//	default=V              as the value is typed; A|B for a list of choices
//	required, optional     whatever json tag and type say
//	notCredential          the field asks for no credential, although its words look like it
//
// White space around keys, values and options is ignored. There is no escape for | in an option: [Build] or ElicitOptions can
// have it.
func For[T any]() *Form[T] {
	f := &Form[T]{}
	var b builder
	f.binds = infer(reflect.TypeFor[T](), &b)
	f.m = b.model()
	return f
}

// infer makes a field of each that a struct has.
func infer(t reflect.Type, b *builder) (binds []bind) {
	if !isForm(t, b, "For") {
		return nil
	}
	for _, bound := range bindsOf(t, b) {
		r, mistake := rulesFor(bound.typ, bound.tag)
		if mistake != "" {
			b.errorf("%s: %s", bound.path, mistake)
			continue
		}
		s := spec{common{name: bound.name}, r}
		bound.describe(&s, b)
		b.add(s)
		bound.finish(t, s.rules)
		binds = append(binds, bound)
	}
	return binds
}

// describe adds to a spec what the struct says: in its tags, else in its comments.
func (bound *bind) describe(s *spec, b *builder) {
	if tag, ok := bound.tag.Lookup("elicit"); ok {
		for _, mistake := range applyTag(tag, bound.valueType(), s) {
			b.errorf("%s: %s", bound.path, mistake)
		}
	}
	if s.presence == unsaid {
		s.presence = required
		if bound.optional {
			s.presence = optional
		}
	}
	if s.description.shown == "" {
		words, mistake := bound.description()
		if mistake != "" {
			b.errorf("%s: %s", bound.path, mistake)
		}
		if words == "" {
			words = bound.doc
		}
		s.description = constant(words)
	}
}

// valueType is the Go type of the field's value; of a slice, that of an element.
func (bound *bind) valueType() reflect.Type {
	t := bound.elem()
	if t.Kind() == reflect.Slice && !reflect.PointerTo(t).Implements(textUnmarshaler) {
		return t.Elem()
	}
	return t
}

// rulesFor are the rules of a Go type, or why it has none.
func rulesFor(t reflect.Type, tag reflect.StructTag) (rules, string) {
	isPointer := t.Kind() == reflect.Pointer
	if isPointer {
		t = t.Elem()
	}
	switch t {
	case timeType:
		return &textRules{format: "date-time"}, ""
	case dayType:
		return &textRules{format: "date"}, ""
	case urlType:
		return &textRules{format: "uri", accept: acceptURL}, ""
	case mailType:
		return &textRules{format: "email"}, ""
	case durationType:
		return nil, "a time.Duration would be asked for in nanoseconds; use an int whose name says seconds or minutes"
	case numberType:
		return nil, "a json.Number may be anything; use a float64, or an integer type, which is exact"
	}
	if list, has, mistake := elicitOptions(t); has || mistake != "" {
		return &choiceRules{optionList(list)}, mistake
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		return &textRules{accept: acceptType(t), hidden: hiddenType(t)}, ""
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
		return listRules(t, tag, isPointer)
	case reflect.Struct:
		return nil, fmt.Sprintf("a form is flat, so a field cannot be the struct %v; move its fields up, or embed it", t)
	case reflect.Map:
		return nil, fmt.Sprintf("a form is flat and has fixed fields, so not %v; write a field for each key", t)
	case reflect.Interface:
		return nil, fmt.Sprintf("a form asks for one type, so not %v; use string, a number, bool or time.Time", t)
	}
	return nil, fmt.Sprintf("a form cannot ask for %v; use string, a number, bool or time.Time", t)
}

// listRules are those of a list, which can only be one of choices.
func listRules(t reflect.Type, tag reflect.StructTag, isPointer bool) (rules, string) {
	if t.Kind() == reflect.Slice && !isPointer {
		list, has, mistake := elicitOptions(t.Elem())
		if has || mistake != "" {
			return &choicesRules{options: optionList(list)}, mistake
		}
		if t.Elem().Kind() == reflect.String {
			items, _ := parseTag(tag.Get("elicit"))
			for _, it := range items {
				if it.key == "enum" {
					return &choicesRules{}, "" // applyTag fills it
				}
			}
			return nil, fmt.Sprintf("a %v needs options to choose from; write the tag elicit:\"enum=a|b\", give %v a method ElicitOptions, or use form.Build with form.ChoicesOf", t, t.Elem())
		}
	}
	if isPointer {
		return nil, fmt.Sprintf("a pointer to a list cannot be filled; use %v, which is nil where nothing was chosen", t)
	}
	return nil, fmt.Sprintf("a form is flat and has no lists but of options, so not %v; ask for the elements one by one, or let several options be chosen (form.ChoicesOf)", t)
}

// acceptType is what a type that reads itself takes.
func acceptType(t reflect.Type) func([]byte) error {
	return func(text []byte) error {
		return reflect.New(t).Interface().(textReader).UnmarshalText(text)
	}
}

type textReader interface{ UnmarshalText([]byte) error }

// elicitOptions are the options that a type's method ElicitOptions lists.
func elicitOptions(t reflect.Type) (list []option, has bool, mistake string) {
	m := reflect.New(t).MethodByName("ElicitOptions")
	if !m.IsValid() {
		return nil, false, ""
	}
	mt := m.Type()
	ok := mt.NumIn() == 0 && mt.NumOut() == 1 && mt.Out(0).Kind() == reflect.Slice && mt.Out(0).Elem().Implements(eraser)
	if !ok || mt.Out(0).Elem().Field(0).Type != t {
		return nil, false, fmt.Sprintf("the method ElicitOptions of %v must be func() []form.Option[%v], not %v", t, t, mt)
	}
	defer func() {
		if p := recover(); p != nil {
			list, has, mistake = nil, false, fmt.Sprintf("the method ElicitOptions of %v panicked: %v", t, p)
		}
	}()
	values := m.Call(nil)[0]
	for i := range values.Len() {
		list = append(list, values.Index(i).Interface().(interface{ erased() option }).erased())
	}
	return list, true, ""
}

var (
	eraser     = reflect.TypeFor[interface{ erased() option }]()
	numberType = reflect.TypeFor[json.Number]()
)
