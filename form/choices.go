package form

import (
	"fmt"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// ChoicesField is any number of several options, each at most once, kept in a slice of a Go type V, which is
// as in [Choice].
type ChoicesField[V comparable] struct {
	c common
	r choicesRules
}

// Choices is a field for several of the options, in their order, called name, for [New]. Revision 2025-06-18 of the protocol
// has no such field: an older client cannot be asked.
func Choices[V comparable](name string, options ...Option[V]) ChoicesField[V] {
	return ChoicesField[V]{common{name: name}, choicesRules{options: optionsOf(options)}}
}

// ChoicesOf is the [Choices] field that fills a struct field, for [Build]. Without options it takes those of the element type's
// method ElicitOptions, as [For] does.
func ChoicesOf[V comparable](field *[]V, options ...Option[V]) ChoicesField[V] {
	return ChoicesField[V]{pointTo(field), choicesRules{options: optionsOf(options)}}
}

// Title is what a person sees above the field. Without it, it is derived from the name: giftWraps is "Gift Wraps".
func (f ChoicesField[V]) Title(title string) ChoicesField[V] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f ChoicesField[V]) Titlef(format string, args ...any) ChoicesField[V] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f ChoicesField[V]) Description(words string) ChoicesField[V] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f ChoicesField[V]) Descriptionf(format string, args ...any) ChoicesField[V] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid. Choosing nothing is an answer; AtLeast(1) refuses it.
func (f ChoicesField[V]) Required() ChoicesField[V] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise.
func (f ChoicesField[V]) Optional() ChoicesField[V] { f.c.presence = optional; return f }

// Default is what a client selects beforehand, and the value of an optional field that is left out. None by default.
func (f ChoicesField[V]) Default(values ...V) ChoicesField[V] {
	f.c.def = textsOf(values)
	return f
}

// AtLeast is how many must be chosen, if the field is answered. None by default.
func (f ChoicesField[V]) AtLeast(n int) ChoicesField[V] { f.r.min = limit{n, true}; return f }

// AtMost is how many may be chosen. By default all.
func (f ChoicesField[V]) AtMost(n int) ChoicesField[V] { f.r.max = limit{n, true}; return f }

// In reads the field out of an answer: the values of the options chosen, in the order sent, or the default, or nil.
func (f ChoicesField[V]) In(values Values) []V {
	chosen, ok := values.get(f.c.name).([]string)
	if !ok {
		return nil
	}
	out := make([]V, len(chosen))
	for i, s := range chosen {
		out[i] = valueOf[V](&f.r.options, s)
	}
	return out
}

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f ChoicesField[V]) Set(values *Values, chosen ...V) { values.set(f.c.name, textsOf(chosen)) }

func (f ChoicesField[V]) spec() spec { return spec{f.c, &f.r} }

func textsOf[V comparable](values []V) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i], _ = optionText(v)
	}
	return out
}

// choicesRules take a list of values of options.
type choicesRules struct {
	options
	min, max limit
}

func (r *choicesRules) mistakes() []string {
	out := append(r.options.mistakes(), mistakesOf(r.min, r.max, "AtLeast", "AtMost")...)
	if r.min.set && len(r.list) > 0 && r.min.n > len(r.list) {
		out = append(out, "AtLeast is more than there are options")
	}
	if r.max.set && r.max.n == 0 {
		out = append(out, "AtMost(0) lets nothing be chosen")
	}
	return out
}

func (r *choicesRules) typeName() string { return "array" }

func (r *choicesRules) appendTo(b []byte, legacy bool) ([]byte, bool) {
	b = appendLimit(b, `,"minItems":`, r.min)
	b = appendLimit(b, `,"maxItems":`, r.max)
	if r.titled {
		b = r.appendBoth(append(b, `,"items":{"anyOf":`...))
	} else {
		b = r.appendValues(append(b, `,"items":{"type":"string","enum":`...))
	}
	return append(b, '}'), !legacy
}

func (r *choicesRules) emptyIsAbsent() bool { return false }

func (r *choicesRules) check(v []byte) (string, []byte) {
	if v[0] != '[' {
		return "type", v
	}
	// Each option counts once, so this ends after one element more than there are options, however many were sent.
	var few [4]uint64
	seen := few[:]
	if n := (len(r.list) + 63) / 64; n > len(seen) {
		seen = make([]uint64, n)
	}
	count := 0
	for e := range rawjson.Elements(v) {
		i := r.index(e)
		if i < 0 {
			return "enum", e
		}
		if seen[i/64]&(1<<(i%64)) != 0 {
			return "uniqueItems", e
		}
		seen[i/64] |= 1 << (i % 64)
		count++
	}
	switch {
	case r.min.set && count < r.min.n:
		return "minItems", v
	case r.max.set && count > r.max.n:
		return "maxItems", v
	}
	return "", nil
}

func (r *choicesRules) value(v []byte) any {
	chosen := []string{}
	for e := range rawjson.Elements(v) {
		chosen = append(chosen, r.list[r.index(e)].value)
	}
	return chosen
}
