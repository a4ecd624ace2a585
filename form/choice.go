package form

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// An Option is one of the values that a person chooses from, of the Go type V that the field has.
//
// Over the wire goes a text: what MarshalText of V gives, else the string of a string type, else what String gives, else the
// digits of an integer type. It comes back as the value whose text it is, so V needs no way to read it.
type Option[V comparable] struct {
	Value V
	Title string // shown in place of the value; "" shows the value's text
}

// Opt is an option with a title: form.Opt("ups", "UPS").
func Opt[V comparable](value V, title string) Option[V] { return Option[V]{value, title} }

// Options are options that show their own values: form.Options("insurance", "signature").
func Options[V comparable](values ...V) []Option[V] {
	options := make([]Option[V], len(values))
	for i, v := range values {
		options[i].Value = v
	}
	return options
}

// ChoiceField is one of several options, kept in a Go type V: most often a string type, or an integer type whose constants have a
// String method; [Option] says how its values travel.
type ChoiceField[V comparable] struct {
	c common
	r choiceRules
}

// Choice is a field for one of the options, in their order, called name, for [New].
func Choice[V comparable](name string, options ...Option[V]) ChoiceField[V] {
	return ChoiceField[V]{common{name: name}, choiceRules{optionsOf(options)}}
}

// ChoiceOf is the [Choice] field that fills a struct field, for [Build]. Without options it takes those of the type's method
// ElicitOptions, as [For] does.
func ChoiceOf[V comparable](field *V, options ...Option[V]) ChoiceField[V] {
	return ChoiceField[V]{pointTo(field), choiceRules{optionsOf(options)}}
}

// Title is what a person sees above the field. Without it, it is derived from the name: shipVia is "Ship Via".
func (f ChoiceField[V]) Title(title string) ChoiceField[V] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f ChoiceField[V]) Titlef(format string, args ...any) ChoiceField[V] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f ChoiceField[V]) Description(words string) ChoiceField[V] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f ChoiceField[V]) Descriptionf(format string, args ...any) ChoiceField[V] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid, and one with "" in it.
func (f ChoiceField[V]) Required() ChoiceField[V] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise. "" is then as good as left out.
func (f ChoiceField[V]) Optional() ChoiceField[V] { f.c.presence = optional; return f }

// Default is what a client selects beforehand, and the value of an optional field that is left out. None by default.
func (f ChoiceField[V]) Default(value V) ChoiceField[V] {
	f.c.def, f.c.defMistake = nil, ""
	if s, ok := optionText(value); ok {
		f.c.def = s
	} else {
		f.c.defMistake = "has no text"
	}
	return f
}

// In reads the field out of an answer: the value of the option chosen, or the default, or the zero of V.
func (f ChoiceField[V]) In(values Values) (v V) {
	if s, ok := values.get(f.c.name).(string); ok {
		v = valueOf[V](&f.r.options, s)
	}
	return v
}

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f ChoiceField[V]) Set(values *Values, value V) {
	s, _ := optionText(value)
	values.set(f.c.name, s)
}

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

// emptyIsAbsent: only a form from elsewhere has "" among its options.
func (r *choiceRules) emptyIsAbsent() bool { return r.index([]byte(`""`)) < 0 }

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
	titled bool           // an author wrote a title
	byText map[string]int // nil for few options
}

// An option is an Option without its type: value is the text that travels, goValue the V.
type option struct {
	value, title string
	goValue      any
}

func optionsOf[V comparable](in []Option[V]) options {
	list := make([]option, len(in))
	for i, opt := range in {
		list[i] = opt.erased()
	}
	return optionList(list)
}

// erased is the option without its type. A value that has no text keeps an empty one.
func (o Option[V]) erased() option {
	value, _ := optionText(o.Value)
	return option{value, o.Title, o.Value}
}

// optionList settles the titles of options, "" where the author wrote none.
func optionList(list []option) (o options) {
	o.list = list
	for i := range list {
		opt := &list[i]
		title := clean(opt.title)
		switch {
		case !utf8.ValidString(opt.title): // left for mistakes to see
			continue
		case title != "":
			o.titled = true
		default:
			if title = clean(opt.value); title == "" {
				title = "(blank)"
			}
			// What clients would show as it is gets a title without what could rewrite the words around it.
			o.titled = o.titled || strings.ContainsFunc(opt.value, isHarmful)
		}
		opt.title = title
	}
	if len(list) > few {
		o.byText = make(map[string]int, len(list))
		for i, opt := range list {
			o.byText[opt.value] = i
		}
	}
	return o
}

// optionText is the text that stands for the value of an option.
func optionText(v any) (text string, ok bool) {
	defer func() {
		if recover() != nil { // a MarshalText or String that cannot do with this value
			text, ok = "", false
		}
	}()
	if m, ok := v.(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		return string(b), err == nil
	}
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.String {
		return r.String(), true
	}
	if s, ok := v.(fmt.Stringer); ok {
		return s.String(), true
	}
	switch {
	case r.CanInt():
		return strconv.FormatInt(r.Int(), 10), true
	case r.CanUint():
		return strconv.FormatUint(r.Uint(), 10), true
	}
	return "", false
}

// valueOf is the value that a text stands for; of a string type also one that is no option.
func valueOf[V comparable](o *options, text string) (v V) {
	if i := o.indexText(text); i >= 0 {
		v, _ = o.list[i].goValue.(V)
	} else if r := reflect.ValueOf(&v).Elem(); r.Kind() == reflect.String {
		r.SetString(text)
	}
	return v
}

func (o *options) mistakes() (out []string) {
	if len(o.list) == 0 {
		return []string{"it has no options to choose from: give it some"}
	}
	seen := make(map[string]bool, len(o.list))
	for i, opt := range o.list {
		switch {
		case opt.value == "" && opt.goValue != nil && !hasText(opt.goValue):
			out = append(out, fmt.Sprintf("option %d has no text: give %T a method MarshalText or String", i+1, opt.goValue))
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

func hasText(v any) bool { _, ok := optionText(v); return ok }

// index is the option that a raw value names, or -1.
func (o *options) index(v []byte) int {
	if o.byText != nil {
		var room [64]byte
		if text, ok := rawjson.Unquoted(room[:0], v); ok {
			if i, ok := o.byText[string(text)]; ok {
				return i
			}
		}
		return -1
	}
	for i := range o.list {
		if rawjson.NameIs(v, o.list[i].value) {
			return i
		}
	}
	return -1
}

// indexText is the option whose text is given, or -1.
func (o *options) indexText(text string) int {
	if o.byText != nil {
		if i, ok := o.byText[text]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(o.list, func(opt option) bool { return opt.value == text })
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
