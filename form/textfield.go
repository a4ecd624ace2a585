package form

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
)

// TextPointer is a pointer to a T that reads itself from a text, as *netip.Addr, *big.Int and *uuid.UUID do.
type TextPointer[T any] interface {
	*T
	encoding.TextUnmarshaler
}

// TextField is a text that becomes a Go type T by its own UnmarshalText, which decides what is valid.
type TextField[T any, P TextPointer[T]] struct {
	c common
	r textRules
}

// Text is a field called name for a type that reads itself from a text, for [New]: form.Text[netip.Addr]("address").
//
// What UnmarshalText refuses is not valid; its error, if it is short, is shown to who typed. It is called with bytes that come
// from outside, for each answer twice. For defaults and for [Form.Encode] the type needs MarshalText, too.
func Text[T any, P TextPointer[T]](name string) TextField[T, P] {
	return TextField[T, P]{common{name: name}, textRules{accept: acceptText[T, P], hidden: hiddenType(reflect.TypeFor[T]())}}
}

// TextOf is the [Text] field that fills a struct field, for [Build].
func TextOf[T any, P TextPointer[T]](field *T) TextField[T, P] {
	return TextField[T, P]{pointTo(field), textRules{accept: acceptText[T, P], hidden: hiddenType(reflect.TypeFor[T]())}}
}

func acceptText[T any, P TextPointer[T]](text []byte) error {
	var v T
	return P(&v).UnmarshalText(text)
}

// Title is what a person sees above the field. Without it, it is derived from the name: macAddress is "MAC Address".
func (f TextField[T, P]) Title(title string) TextField[T, P] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f TextField[T, P]) Titlef(format string, args ...any) TextField[T, P] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f TextField[T, P]) Description(words string) TextField[T, P] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f TextField[T, P]) Descriptionf(format string, args ...any) TextField[T, P] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid, and one with "" in it.
func (f TextField[T, P]) Required() TextField[T, P] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise. "" is then as good as left out.
func (f TextField[T, P]) Optional() TextField[T, P] { f.c.presence = optional; return f }

// NotCredential says that the field asks for no password, key, token or card, although its words look like it to [Form.Err].
func (f TextField[T, P]) NotCredential() TextField[T, P] { f.c.notCredential = true; return f }

// Default is what a client fills in beforehand, and the value of an optional field that is left out. None by default.
func (f TextField[T, P]) Default(value T) TextField[T, P] {
	f.c.def, f.c.defMistake = nil, ""
	if s, err := marshalText(value, P(&value)); err != nil {
		f.c.defMistake = err.Error()
	} else {
		f.c.def = s
	}
	return f
}

// MinLength is the least length, in Unicode code points. None by default.
func (f TextField[T, P]) MinLength(n int) TextField[T, P] { f.r.min = limit{n, true}; return f }

// MaxLength is the greatest length, in Unicode code points. None by default.
func (f TextField[T, P]) MaxLength(n int) TextField[T, P] { f.r.max = limit{n, true}; return f }

// In reads the field out of an answer: its value, or its default, or the zero of T.
func (f TextField[T, P]) In(values Values) (v T) {
	if s, ok := values.get(f.c.name).(string); ok && P(&v).UnmarshalText([]byte(s)) != nil {
		var zero T
		return zero
	}
	return v
}

// Set puts a value into an answer that is being made, for [Form.Encode]. A value without a text is put in as "".
func (f TextField[T, P]) Set(values *Values, value T) {
	s, _ := marshalText(value, P(&value))
	values.set(f.c.name, s)
}

func (f TextField[T, P]) spec() spec {
	if f.r.accept == nil {
		f.r.accept, f.r.hidden = acceptText[T, P], hiddenType(reflect.TypeFor[T]()) // the zero TextField
	}
	return spec{f.c, &f.r}
}

// marshalText is the text of a value, which it or its pointer knows.
func marshalText(value, pointer any) (string, error) {
	if r, ok := value.(revealed); ok {
		if _, hides := pointer.(hider); hides {
			return r.Reveal(), nil
		}
	}
	m, ok := value.(encoding.TextMarshaler)
	if !ok {
		if m, ok = pointer.(encoding.TextMarshaler); !ok {
			return "", errors.New("has no text, as its type has no MarshalText")
		}
	}
	b, err := m.MarshalText()
	if err != nil {
		return "", fmt.Errorf("has no text: %w", err)
	}
	return string(b), nil
}
