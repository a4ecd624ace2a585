package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// Validate says what is wrong with an answer's content, the first problem of each field in the order of the fields; nil when it
// is valid. It allocates nothing then.
//
// content is the raw JSON that the client sent, and may be anything. No content and null are the object without members. Names
// match exactly; members that are not fields of the form are ignored; a field that is there twice is a problem. null is as good
// as absent for every field, and so is "" for an optional choice, number, date, e-mail address or URI, where clients have no
// other way to say nothing.
func (f *Form[T]) Validate(content []byte) []Problem {
	if f.Err() != nil {
		return (&model{}).wholeProblem("form", unusableForm)
	}
	var room [few][]byte
	return f.m.validate(content, f.m.room(room[:]))
}

// Decoded is a valid answer.
type Decoded[T any] struct {
	// Value has each field that was given, the author's default for an optional one that was not, and the zero (nil for a
	// pointer) where there is no default.
	Value T

	given   []string
	content json.RawMessage
}

// Given reports whether the field called name carried a value that counted: it was not absent, not null, and not the "" that
// means absent.
func (d Decoded[T]) Given(name string) bool { return slices.Contains(d.given, name) }

// Content is the answer in one form: a compact object of the fields that were given, in the form's order. Decoding it again gives
// the same. It is for keeping; it holds what a person typed.
func (d Decoded[T]) Content() json.RawMessage { return d.content }

// Decode validates content as [Form.Validate] does and fills a T from it, field by field: nothing but the form's own fields
// reaches T, whatever content holds. With problems, the Decoded is empty.
func (f *Form[T]) Decode(content []byte) (Decoded[T], []Problem) {
	if f.Err() != nil {
		return Decoded[T]{}, (&model{}).wholeProblem("form", unusableForm)
	}
	var room [few][]byte
	raw := f.m.room(room[:])
	if problems := f.m.validate(content, raw); problems != nil {
		return Decoded[T]{}, problems
	}
	var d Decoded[T]
	values, untyped := any(&d.Value).(*Values)
	untyped = untyped && f.binds == nil
	into := unsafe.Pointer(&d.Value)
	d.given = make([]string, 0, len(f.m.fields))
	d.content = append(make([]byte, 0, len(content)+2), '{')
	if untyped {
		values.list = make([]namedValue, 0, len(f.m.fields))
	}
	for i := range f.m.fields {
		fd := &f.m.fields[i]
		value, given := fd.def, !fd.absent(raw[i])
		if given {
			value = fd.rules.value(raw[i])
			if len(d.given) > 0 {
				d.content = append(d.content, ',')
			}
			d.content = append(rawjson.AppendString(d.content, fd.name), ':')
			d.content = fd.appendGiven(d.content, raw[i])
			d.given = append(d.given, fd.name)
		}
		switch {
		case value == nil:
		case untyped:
			values.list = append(values.list, namedValue{fd.name, value, given})
		default:
			f.binds[i].set(into, value)
		}
	}
	d.content = append(d.content, '}')
	return d, nil
}

// Encode is v as a client would send it: the content of an answer. Left out are nil pointers, and optional fields that are zero
// where that says the same: plain text, numbers and truth values with a default are sent even when zero. Of [Values], the fields
// that are Given are sent. Encode does not validate, so a test can send what is not valid; it fails on values that JSON does not
// have, on those whose MarshalText fails, and on a form that is wrong.
func (f *Form[T]) Encode(v T) (json.RawMessage, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	values, untyped := any(&v).(*Values)
	untyped = untyped && f.binds == nil
	from := unsafe.Pointer(&v)
	b := []byte{'{'}
	for i := range f.m.fields {
		fd := &f.m.fields[i]
		var value any
		if untyped {
			if values.Given(fd.name) {
				value = values.get(fd.name)
			}
		} else {
			var err error
			if value, err = f.binds[i].get(from, fd); err != nil {
				return nil, fmt.Errorf("form: field %q: its value %w", fd.name, err)
			}
		}
		if value == nil {
			continue
		}
		if what := unsendable(value); what != "" {
			return nil, fmt.Errorf("form: field %q: its value is %s", fd.name, what)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendString(b, fd.name), ':')
		b = appendValue(b, value)
	}
	return append(b, '}'), nil
}

// unsendable says why a value has no JSON: what it is.
func unsendable(v any) string {
	const notUTF8 = "not valid UTF-8"
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return notUTF8
		}
	case []string:
		if slices.ContainsFunc(v, func(s string) bool { return !utf8.ValidString(s) }) {
			return notUTF8
		}
	case real:
		if !finite(v.value) {
			return v.String() + ", which JSON does not have"
		}
	}
	return ""
}

// room is space for a raw value per field, the given one if it is enough.
func (m *model) room(room [][]byte) [][]byte {
	if len(m.fields) > len(room) {
		return make([][]byte, len(m.fields))
	}
	return room[:len(m.fields)]
}

// twice stands for the value of a field that content holds more than once. No real value is empty.
var twice = []byte{}

func isTwice(v []byte) bool { return v != nil && len(v) == 0 }

// read finds the raw value of each field; absent ones stay nil. It returns the rule that content as a whole breaks.
func (m *model) read(content []byte, raw [][]byte) (rule string) {
	if len(bytes.Trim(content, " \t\r\n")) == 0 {
		return ""
	}
	if rawjson.Check(content, rawjson.MaxDepth) != nil {
		return "json"
	}
	switch rawjson.Kind(content) {
	case 'n':
		return ""
	case '{':
	default:
		return "type"
	}
	next := 0 // answers mostly come in the order of the form
	for name, v := range rawjson.Members(content) {
		i := next
		if i >= len(m.fields) || !rawjson.NameIs(name, m.fields[i].name) {
			if i = m.find(name); i < 0 {
				continue
			}
		}
		if raw[i] != nil {
			v = twice
		}
		raw[i] = v
		next = i + 1
	}
	return ""
}

// find is the field that a raw name names, or -1.
func (m *model) find(name []byte) int {
	if m.byName != nil {
		var room [64]byte
		if text, ok := rawjson.Unquoted(room[:0], name); ok {
			if i, ok := m.byName[string(text)]; ok {
				return i
			}
		}
		return -1
	}
	for i := range m.fields {
		if rawjson.NameIs(name, m.fields[i].name) {
			return i
		}
	}
	return -1
}

// validate fills raw as read does and checks each field.
func (m *model) validate(content []byte, raw [][]byte) (problems []Problem) {
	switch m.read(content, raw) {
	case "json":
		return m.wholeProblem("type", notJSON)
	case "type":
		return m.wholeProblem("type", notAnObject)
	}
	for i := range m.fields {
		f := &m.fields[i]
		v := raw[i]
		switch {
		case isTwice(v):
			problems = append(problems, m.problem(f, "duplicate", nil))
		case f.absent(v):
			if f.required {
				problems = append(problems, m.problem(f, "required", nil))
			}
		default:
			if rule, culprit := f.rules.check(v); rule != "" {
				problems = append(problems, m.problem(f, rule, culprit))
			}
		}
	}
	return problems
}

// absent reports whether a raw value says nothing.
func (f *field) absent(v []byte) bool {
	return v == nil || string(v) == "null" || !f.required && string(v) == `""` && f.rules.emptyIsAbsent()
}

// appendGiven appends a valid raw value in one form. The literal of a number that is not whole stays: it may be more exact than
// the Go type that holds it.
func (f *field) appendGiven(b, v []byte) []byte {
	if _, ok := f.rules.(*numberRules); ok {
		return append(b, v...)
	}
	return appendValue(b, f.rules.value(v))
}
