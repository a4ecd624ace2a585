package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elicit-go/elicit/internal/sensitive"
)

// A Form is a flat form whose answers become a T: [Values] for a form of [New], a struct for one of [For] or [Build]. It never
// changes, so any number of goroutines may use it.
//
// Making one never fails; [Form.Err] says what is wrong with it. A form that is wrong has no schema and takes no answer.
type Form[T any] struct {
	m     model
	binds []bind // how each field gets into T, in the order of m.fields; nil for Values
}

// A model is a form without its Go type.
type model struct {
	fields []field
	byName map[string]int // nil for a form of few fields
	schema json.RawMessage
	err    error
	made   bool  // by a constructor
	words  Words // nil: English
}

// A field is a spec whose names are settled.
type field struct {
	name, title, description string
	required                 bool
	rules                    rules
	def                      any              // nil: none
	defJSON                  []byte           // def, encoded
	options                  []Option[string] // of the rules, for Property
	credential               string           // for Property
}

// MaxFields is how many fields a form may have. People do not fill in longer ones.
const MaxFields = 100

// few is how many fields are looked through one by one.
const few = 16

// New is a form without a struct. A field is optional unless it is Required, and reads its own value out of the answer:
//
//	tracking := form.String("trackingNumber").Required()
//	f := form.New(tracking)
//	…
//	tracking.In(decoded.Value)
func New(fields ...Field) *Form[Values] {
	f := &Form[Values]{}
	var b builder
	for i, x := range fields {
		s, ok := specOf(x)
		if !ok {
			b.errorf("field %d of New is nil", i+1)
			continue
		}
		if s.byPointer {
			b.errorf("field %d of New is bound to a struct field; that is for Build: here a field has a name, as in form.String(\"note\")", i+1)
			continue
		}
		b.add(s)
	}
	f.m = b.model()
	return f
}

// Err is what is wrong with the form, one line for each mistake, naming the field; nil when nothing is. A program checks it once,
// where forms are made: elicit does when a question is declared. Mistakes are:
//
//   - a Go type or a tag that makes no field, a pointer of [Build] that is not into the struct, or is there twice
//   - no name, a name twice, more than [MaxFields] fields
//   - no options, or one twice; a minimum above its maximum; a default that breaks the field's own rules
//   - text that is not UTF-8
//   - a field that seems to ask for a credential, by its name, title or description; NotCredential says that it does not. Fields
//     that cannot hold one are not judged: yes or no, choices, dates, e-mail addresses. (MCP 2026-07-28, client/elicitation,
//     User Interaction Model)
//   - a link in a title or a description: http, https or www. Those to hosts that lead nowhere, as https://example.com/, are
//     examples and may stand, and so may those that Titlef or Descriptionf get as data of a call. Options are data always.
//     (Safe URL Handling, there)
func (f *Form[T]) Err() error {
	if f == nil || !f.m.made {
		return errNotMade
	}
	return f.m.err
}

var errNotMade = errors.New("form: this form was not made by New, For or Build")

// Fields iterates over the fields, in order: the name of each, and all there is to know about it. A form that is wrong has none.
func (f *Form[T]) Fields() iter.Seq2[string, Property] {
	return func(yield func(string, Property) bool) {
		if f.Err() != nil {
			return
		}
		for i := range f.m.fields {
			if !yield(f.m.fields[i].name, f.m.fields[i].property()) {
				return
			}
		}
	}
}

// A builder collects fields and what is wrong with them.
type builder struct {
	fields []field
	errs   []error
}

func (b *builder) errorf(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("form: "+format, args...))
}

// add settles a spec that has its name.
func (b *builder) add(s spec) {
	f := field{name: s.name, title: clean(s.title.shown), description: clean(s.description.shown), required: s.presence == required, rules: s.rules, def: s.def}
	before := len(b.errs)
	wrong := func(what string) { b.errorf("field %q: %s", s.name, what) }
	switch {
	case s.name == "":
		b.errorf("field %d has no name", len(b.fields)+1)
	case !utf8.ValidString(s.name):
		wrong("its name is not valid UTF-8")
	case strings.ContainsFunc(s.name, isHarmful):
		wrong("its name holds control characters")
	case slices.ContainsFunc(b.fields, func(other field) bool { return other.name == s.name }):
		wrong("another field has the same name")
	}
	if !utf8.ValidString(s.title.shown) {
		wrong("its title is not valid UTF-8")
	}
	if !utf8.ValidString(s.description.shown) {
		wrong("its description is not valid UTF-8")
	}
	if r, ok := s.rules.(*textRules); ok && r.hidden.set && (s.def != nil || s.defMistake != "") {
		wrong("its value is hidden, so it can have no default")
		s.def, s.defMistake = nil, ""
	}
	for _, what := range s.rules.mistakes() {
		wrong(what)
	}
	if s.defMistake != "" {
		wrong("its default " + s.defMistake)
	}
	if f.title == "" {
		f.title = shownTitle(s.name)
	}
	f.options = optionsFor(f.rules)
	if where, word := credentialIn(f.rules, s.name, s.title.constant, s.description.constant); word != "" && !s.notCredential {
		wrong(fmt.Sprintf("its %s asks for a credential (%s), which must not go through a form (MCP 2026-07-28, client/elicitation); ask for it on a page, with page.Secret and a page.Hidden as its type, or say NotCredential if it is none", where, strconv.Quote(word)))
	}
	for _, shown := range []struct{ where, words string }{{"title", s.title.constant}, {"description", s.description.constant}} {
		if link := sensitive.URL(shown.words); link != "" {
			wrong(fmt.Sprintf("its %s has a link (%s), which a form must not lead people to (MCP 2026-07-28, client/elicitation, Safe URL Handling); take it out, or give it to %sf as data of this call", shown.where, quote(link), goName(shown.where)))
		}
	}
	if f.def != nil && len(b.errs) == before {
		if what := f.setDefault(); what != "" {
			wrong(what)
		}
	}
	b.fields = append(b.fields, f)
}

// credentialIn finds a word of a field that asks for a credential. Fields that cannot hold one are not looked at: yes or no, one
// of given options, a date, an e-mail address.
func credentialIn(r rules, name, title, description string) (where, word string) {
	switch r := r.(type) {
	case *boolRules, *choiceRules, *choicesRules:
		return "", ""
	case *textRules:
		if r.format != "" && r.format != "uri" || r.hidden.set {
			return "", ""
		}
	}
	if word := sensitive.InName(name); word != "" {
		return "name", word
	}
	if word := sensitive.InTitle(title); word != "" {
		return "title", word
	}
	return "description", sensitive.InText(description)
}

// isList reports whether the field is one of several choices.
func (f *field) isList() bool { _, ok := f.rules.(*choicesRules); return ok }

// setDefault checks the default as an answer would be, and says what is wrong with it.
func (f *field) setDefault() string {
	if list, ok := f.def.([]string); ok && len(list) == 0 {
		return "its default is no option; leave Default out to select none"
	}
	if what := unsendable(f.def); what != "" {
		return "its default is " + what
	}
	f.defJSON = appendValue(nil, f.def)
	if rule, culprit := f.rules.check(f.defJSON); rule != "" {
		return "its default breaks its own rules: " + strings.Replace((&model{}).problem(f, rule, culprit).Message, "; you entered ", ", not ", 1)
	}
	return ""
}

// model is the finished form.
func (b *builder) model() model {
	if n := len(b.fields); n > MaxFields {
		b.errorf("the form has %d fields; at most %d are allowed: ask in several questions", n, MaxFields)
	}
	m := model{made: true, fields: b.fields, err: errors.Join(b.errs...)}
	if m.err != nil {
		m.fields = nil
		return m
	}
	m.index()
	m.schema, _ = m.appendSchema(nil, false, nil)
	return m
}

// index makes fields quick to find.
func (m *model) index() {
	if len(m.fields) > few {
		m.byName = make(map[string]int, len(m.fields))
		for i := range m.fields {
			m.byName[m.fields[i].name] = i
		}
	}
}

// goName is a Go identifier in exported form, for hints in errors.
func goName(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[n:]
}
