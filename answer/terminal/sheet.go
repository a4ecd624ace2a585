package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/form"
)

// A sheet is a form being filled in.
type sheet struct {
	form    *form.Form[form.Values]
	entries []*entry
}

// An entry is one field and what stands in it.
type entry struct {
	form.Property
	value  json.RawMessage // nil: left out
	labels []string        // of the options: titles, with the value where a title is there twice
}

func newSheet(r *answer.Request, given map[string]any) (*sheet, error) {
	f, err := r.Form()
	if err != nil {
		return nil, err
	}
	s := &sheet{form: f}
	start := r.Start(f, given)
	for name, p := range f.Fields() {
		e := &entry{Property: p, value: start[name]}
		e.Title, e.Description = answer.PlainLine(p.Title), answer.Plain(p.Description)
		for _, o := range p.Options {
			e.labels = append(e.labels, answer.PlainLine(o.Title))
		}
		for i, label := range e.labels {
			if label == "" || slices.Index(e.labels, label) != i {
				e.labels[i] = fmt.Sprintf("%s (%s)", label, answer.PlainLine(p.Options[i].Value))
			}
			if slices.Index(e.labels, e.labels[i]) != i { // Values can differ by what cannot be seen.
				e.labels[i] = fmt.Sprintf("%s #%d", e.labels[i], i+1)
			}
		}
		if e.isChoice() && e.value != nil && e.chosen() == nil {
			e.value = nil // What is none of the options cannot be shown as one.
		}
		if e.isText() && e.value != nil {
			e.value = e.read(e.text()) // What is sent is what is shown.
		}
		s.entries = append(s.entries, e)
	}
	return s, nil
}

func (e *entry) isBool() bool    { return e.Type == "boolean" }
func (e *entry) isSeveral() bool { return e.Type == "array" }
func (e *entry) isChoice() bool  { return e.isBool() || e.Options != nil }
func (e *entry) isText() bool    { return !e.isChoice() }

// choices are what a person chooses from.
func (e *entry) choices() []string {
	if e.isBool() {
		return []string{"Yes", "No"}
	}
	return e.labels
}

// chosen are the numbers of what is chosen, nil when nothing has been.
func (e *entry) chosen() []int {
	var one string
	var several []string
	switch {
	case e.value == nil:
		return nil
	case e.isBool():
		switch string(e.value) {
		case "true":
			return []int{0}
		case "false":
			return []int{1}
		}
		return nil
	case e.isSeveral():
		if json.Unmarshal(e.value, &several) != nil {
			return nil
		}
	case json.Unmarshal(e.value, &one) == nil:
		several = []string{one}
	}
	found := []int{}
	for _, v := range several {
		i := slices.IndexFunc(e.Options, func(o form.Option[string]) bool { return o.Value == v })
		if i < 0 {
			return nil
		}
		found = append(found, i)
	}
	return found
}

// choose is the value of these choices.
func (e *entry) choose(numbers ...int) json.RawMessage {
	if e.isBool() {
		return json.RawMessage(strconv.FormatBool(numbers[0] == 0))
	}
	values := []string{}
	for _, i := range numbers {
		values = append(values, e.Options[i].Value)
	}
	var data []byte
	if e.isSeveral() {
		data, _ = json.Marshal(values)
	} else {
		data, _ = json.Marshal(values[0])
	}
	return data
}

// text is the value as it is typed; "" where there is none.
func (e *entry) text() string {
	var s string
	if e.value == nil {
		return ""
	}
	if json.Unmarshal(e.value, &s) != nil {
		s = string(e.value)
	}
	return answer.Plain(s)
}

// read is typed text as a value. An empty text is no answer: people leave a field empty to say nothing.
func (e *entry) read(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return e.FromText(text)
}

// shown is the value for reading; "" where there is none.
func (e *entry) shown() string {
	if e.isText() {
		return e.text()
	}
	var parts []string
	for _, i := range e.chosen() {
		parts = append(parts, e.choices()[i])
	}
	if e.value != nil && len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// problem says what is wrong with a value of e; "" when nothing is.
func (s *sheet) problem(e *entry, value json.RawMessage) string {
	content := []byte("{}")
	if value != nil {
		content, _ = json.Marshal(map[string]json.RawMessage{e.Name: value})
	}
	for _, p := range s.form.Validate(content) {
		if p.Field == e.Name {
			return answer.PlainLine(p.Requirement)
		}
	}
	return ""
}

// faulty is the number of the first entry that will not do, or -1.
func (s *sheet) faulty() int {
	return slices.IndexFunc(s.entries, func(e *entry) bool { return s.problem(e, e.value) != "" })
}

// wrong is the number of the first entry that has a value that will not do, or -1.
func (s *sheet) wrong() int {
	return slices.IndexFunc(s.entries, func(e *entry) bool { return e.value != nil && s.problem(e, e.value) != "" })
}

// content is what is sent.
func (s *sheet) content() map[string]any {
	content := map[string]any{}
	for _, e := range s.entries {
		if e.value != nil {
			content[e.Name] = e.value
		}
	}
	return content
}

// credentials are the words by which fields seem to ask for a password, a key or a card.
func (s *sheet) credentials() []string {
	var words []string
	for _, e := range s.entries {
		if e.Credential != "" {
			words = append(words, fmt.Sprintf("%s (%s)", e.Title, answer.PlainLine(e.Credential)))
		}
	}
	return words
}

// hint says in words what a field takes.
func (e *entry) hint() string {
	switch {
	case e.isBool():
		return "yes or no"
	case e.isSeveral():
		return "any of these" + e.limits("choose ", "")
	case e.Options != nil:
		return "one of these"
	case e.Format == "date":
		return "a date, such as 2026-07-28"
	case e.Format == "date-time":
		return "a date and time with its zone, such as 2026-07-28T14:30:00Z"
	case e.Format == "email":
		return "an e-mail address, such as name@example.com"
	case e.Format == "uri":
		return "an address, such as https://example.com/"
	case e.Type == "integer":
		return "a whole number" + e.limits("", "")
	case e.Type == "number":
		return "a number" + e.limits("", "")
	}
	return "text" + e.limits("", " characters")
}

func (e *entry) limits(before, unit string) string {
	switch {
	case e.Min != "" && e.Min == e.Max:
		return ", " + before + "exactly " + e.Min.String() + unit
	case e.Min != "" && e.Max != "":
		return ", " + before + "from " + e.Min.String() + " to " + e.Max.String() + unit
	case e.Min != "":
		return ", " + before + "at least " + e.Min.String() + unit
	case e.Max != "":
		return ", " + before + "at most " + e.Max.String() + unit
	}
	return ""
}

// placeholder is an example of what to type, where one helps.
func (e *entry) placeholder() string {
	return map[string]string{"date": "2026-07-28", "date-time": "2026-07-28T14:30:00Z", "email": "name@example.com", "uri": "https://example.com/"}[e.Format]
}
