package form

import (
	"strings"
	"unicode/utf8"
)

// Words say in a sentence what is wrong with an answer. They are the one hook for another language: [Form.WithWords] sets them for
// a form, [Problem.In] for one problem. "" keeps the English sentence.
//
// They are called twice for each problem: with Typed and Detail empty for [Problem.Requirement], which goes to logs and to the
// model, and with all there is for [Problem.Message], which goes to who typed.
type Words func(Fault) string

// A Fault is what [Words] put into a sentence.
type Fault struct {
	// Field is the field that is wrong, with its title, limits and options; zero when the answer as a whole is wrong. Do not
	// change what it points to.
	Field Property

	// Rule is what was broken, as in [Problem].
	Rule string

	// Typed is what a person entered, fit to be shown: without control characters, at most 60 code points, text in quotes. It is
	// "" where there is nothing to show.
	Typed string

	// Detail is why the field's Go type did not take the text, as the error of its UnmarshalText says, if that is short. It may
	// hold what was typed.
	Detail string

	// English is the sentence that is used when Words have none.
	English string
}

// WithWords is f with what is wrong with an answer said by w, in place of English; nil is English again. Titles and descriptions
// are the author's own, and stay.
func (f *Form[T]) WithWords(w Words) *Form[T] {
	if f == nil {
		return nil
	}
	c := *f
	c.m.words = w
	return &c
}

// In is the problem in other words, for a program that learns a person's language only after it has the answer.
func (p Problem) In(w Words) Problem {
	if p.fault != nil {
		p.Requirement, p.Message = p.fault.sentences(w)
	}
	return p
}

// sentences are the requirement and the message. English is the requirement.
func (f *Fault) sentences(w Words) (requirement, message string) {
	bare, full := *f, *f
	bare.Typed, bare.Detail = "", ""
	sentence := strings.TrimSuffix(f.English, ".")
	if f.Detail != "" {
		sentence += ": " + strings.TrimSuffix(f.Detail, ".")
	}
	if f.Typed != "" {
		sentence += "; you entered " + f.Typed
	}
	full.English = sentence + "."
	return say(w, bare), say(w, full)
}

func say(w Words, f Fault) string {
	if w != nil {
		if s := w(f); s != "" {
			return s
		}
	}
	return f.English
}

// problem describes what is wrong with a field. culprit is the raw JSON to show, nil for none.
func (m *model) problem(f *field, rule string, culprit []byte) Problem {
	if f.isHidden() {
		culprit = nil
	}
	fault := &Fault{Field: f.property(), Rule: rule, Typed: typedText(culprit), English: requirement(f, rule)}
	if r, ok := f.rules.(*textRules); ok && rule == "format" && culprit != nil {
		fault.Detail = r.detail(culprit)
	}
	p := Problem{Field: f.name, Title: f.title, Rule: rule, fault: fault}
	p.Requirement, p.Message = fault.sentences(m.words)
	return p
}

// detail is why the Go type does not take a text, if that is worth showing to a person.
func (r *textRules) detail(v []byte) string {
	const most = 120 // bytes
	if r.format != "" {
		return ""
	}
	err := r.refusal(v)
	if err == nil {
		return ""
	}
	s := clean(err.Error())
	if len(s) > most || !utf8.ValidString(s) {
		return ""
	}
	return s
}

// wholeProblem describes an answer that has no fields to speak of.
func (m *model) wholeProblem(rule, sentence string) []Problem {
	p := Problem{Rule: rule, fault: &Fault{Rule: rule, English: sentence}}
	p.Requirement, p.Message = p.fault.sentences(m.words)
	return []Problem{p}
}
