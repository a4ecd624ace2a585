package form

import (
	"strconv"
	"unicode/utf8"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// An Option is one of the values that a person chooses from, of the Go type V that the field has.
type Option[V ~string] struct {
	Value V
	Title string // shown in place of the value; "" shows the value
}

// Opt is an option with a title: form.Opt("ups", "UPS").
func Opt[V ~string](value V, title string) Option[V] { return Option[V]{value, title} }

// Options are options that show their own values: form.Options("insurance", "signature").
func Options[V ~string](values ...V) []Option[V] {
	options := make([]Option[V], len(values))
	for i, v := range values {
		options[i].Value = v
	}
	return options
}

// ChoiceField is one of several options, kept in a Go string type V.
type ChoiceField[V ~string] struct {
	c common
	r choiceRules
}

// Choice is a field for one of the options, in their order, called name, for [New].
func Choice[V ~string](name string, options ...Option[V]) ChoiceField[V] {
	return ChoiceField[V]{common{name: name}, choiceRules{optionsOf(options)}}
}

// ChoiceOf is the [Choice] field that fills a struct field, for [Build].
func ChoiceOf[V ~string](field *V, options ...Option[V]) ChoiceField[V] {
	return ChoiceField[V]{pointTo(field), choiceRules{optionsOf(options)}}
}

// Title is what a person sees above the field. Without it, it is derived from the name: shipVia is "Ship Via".
func (f ChoiceField[V]) Title(title string) ChoiceField[V] { f.c.title = title; return f }

// Description says more about the field than its title does. None by default.
func (f ChoiceField[V]) Description(text string) ChoiceField[V] { f.c.description = text; return f }

// Required makes an answer without this field invalid, and one with "" in it.
func (f ChoiceField[V]) Required() ChoiceField[V] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise. "" is then as good as left out.
func (f ChoiceField[V]) Optional() ChoiceField[V] { f.c.presence = optional; return f }

// Default is what a client selects beforehand, and the value of an optional field that is left out. None by default.
func (f ChoiceField[V]) Default(value V) ChoiceField[V] { f.c.def = string(value); return f }

// In reads the field out of an answer: the value of the option chosen, or the default, or "".
func (f ChoiceField[V]) In(values Values) V { s, _ := values.get(f.c.name).(string); return V(s) }

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f ChoiceField[V]) Set(values *Values, value V) { values.set(f.c.name, string(value)) }

func (f ChoiceField[V]) spec() spec { return spec{f.c, &f.r} }

// choiceRules take the value of an option.
type choiceRules struct{ options }

func (r *choiceRules) typeName() string { return "string" }

func (r *choiceRules) appendTo(b []byte, legacy bool) ([]byte, bool) {
	b = append(b, ',')
	if legacy || !r.titled {
		b = r.appendValues(append(b, `"enum":`...))
		if r.titled {
			b = r.appendTitles(append(b, `,"enumNames":`...))
		}
		return b, true
	}
	return r.appendBoth(append(b, `"oneOf":`...)), true
}

func (r *choiceRules) emptyIsAbsent() bool { return true }

func (r *choiceRules) check(v []byte) (string, []byte) {
	if r.index(v) < 0 {
		return "enum", v
	}
	return "", nil
}

func (r *choiceRules) value(v []byte) any { return r.list[r.index(v)].value }

// options are the options of a field, their Go type erased.
type options struct {
	list   []option
	titled bool // an author wrote a title
}

type option struct{ value, title string }

func optionsOf[V ~string](in []Option[V]) (o options) {
	o.list = make([]option, len(in))
	for i, opt := range in {
		o.list[i] = option{string(opt.Value), clean(opt.Title)}
		if o.list[i].title == "" {
			o.list[i].title = clean(string(opt.Value))
		} else {
			o.titled = true
		}
		if !utf8.ValidString(opt.Title) {
			o.list[i].title = opt.Title // for mistakes to see
		}
	}
	return o
}

func (o *options) mistakes() (out []string) {
	if len(o.list) == 0 {
		return []string{"it has no options to choose from"}
	}
	seen := make(map[string]bool, len(o.list))
	for i, opt := range o.list {
		switch {
		case opt.value == "":
			out = append(out, "the value of option "+strconv.Itoa(i+1)+` is empty; "" is how clients leave a choice open`)
		case !utf8.ValidString(opt.value) || !utf8.ValidString(opt.title):
			out = append(out, "option "+strconv.Itoa(i+1)+" is not valid UTF-8")
		case seen[opt.value]:
			out = append(out, "option "+strconv.Quote(opt.value)+" is there twice")
		}
		seen[opt.value] = true
	}
	return out
}

// index is the option that a raw value names, or -1.
func (o *options) index(v []byte) int {
	for i := range o.list {
		if rawjson.NameIs(v, o.list[i].value) {
			return i
		}
	}
	return -1
}

func (o *options) appendValues(b []byte) []byte {
	return appendList(b, o.list, func(b []byte, opt option) []byte { return rawjson.AppendString(b, opt.value) })
}

func (o *options) appendTitles(b []byte) []byte {
	return appendList(b, o.list, func(b []byte, opt option) []byte { return rawjson.AppendString(b, opt.title) })
}

func (o *options) appendBoth(b []byte) []byte {
	return appendList(b, o.list, func(b []byte, opt option) []byte {
		b = rawjson.AppendString(append(b, `{"const":`...), opt.value)
		b = rawjson.AppendString(append(b, `,"title":`...), opt.title)
		return append(b, '}')
	})
}

func appendList(b []byte, list []option, one func([]byte, option) []byte) []byte {
	b = append(b, '[')
	for i, opt := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, opt)
	}
	return append(b, ']')
}
