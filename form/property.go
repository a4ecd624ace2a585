package form

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// A Property is a field as a client sees it: what there is to know for asking a person. It is what the form's schema says, in Go.
type Property struct {
	Name        string // where its value goes in the answer's content
	Title       string // never empty; fit to be shown, as Description is
	Description string // "" for none

	Type     string // of JSON Schema: "string", "integer", "number", "boolean", or "array" for several choices
	Format   string // of a string: "email", "uri", "date", "date-time", or "" for any text
	Required bool

	Options []Option[string] // what to choose from, each with a title; nil when any value will do. Do not change them.

	// Min and Max are the least and greatest number, length of a text in code points, or number of choices, by Type; "" where
	// there is no limit.
	Min, Max json.Number

	Default json.RawMessage // what to start from; nil for nothing. Do not change it.

	// Hidden says that the value must not be seen: it is typed as a password is, and never filled in. Lines says that it may
	// have several lines, as a key or a certificate does. Such a field is for a page of the server's own (package page); a
	// schema does not say it.
	Hidden, Lines bool

	// Credential is the word by which the field seems to ask for a password, a key, a token or a card, and "" where it does not.
	// Of one's own forms it is always "": [Form.Err] reports it.
	Credential string
}

// property is the field as others see it.
func (f *field) property() Property {
	p := Property{Name: f.name, Title: f.title, Description: f.description, Type: f.rules.typeName(), Required: f.required, Default: f.defJSON, Options: f.options, Credential: f.credential}
	limits := func(lo, hi limit) {
		if lo.set {
			p.Min = json.Number(strconv.Itoa(lo.n))
		}
		if hi.set {
			p.Max = json.Number(strconv.Itoa(hi.n))
		}
	}
	switch r := f.rules.(type) {
	case *textRules:
		p.Format, p.Hidden, p.Lines = r.format, r.hidden.set, r.hidden.lines
		limits(r.min, r.max)
	case *choicesRules:
		limits(r.min, r.max)
	case *integerRules:
		if r.showMin {
			p.Min = json.Number(r.min.String())
		}
		if r.showMax {
			p.Max = json.Number(r.max.String())
		}
	case *numberRules:
		if r.hasMin {
			p.Min = json.Number(real{r.min, r.width()}.String())
		}
		if r.hasMax {
			p.Max = json.Number(real{r.max, r.width()}.String())
		}
	}
	return p
}

// optionsFor are the options as a Property has them.
func optionsFor(r rules) []Option[string] {
	var list []option
	switch r := r.(type) {
	case *choiceRules:
		list = r.list
	case *choicesRules:
		list = r.list
	}
	if list == nil {
		return nil
	}
	out := make([]Option[string], len(list))
	for i, opt := range list {
		out[i] = Opt(opt.value, opt.title)
	}
	return out
}

// FromText is what a person typed, or an HTML form sent, as a raw value for the answer's content; nil where it says nothing, so that
// the member is left out. It reads text generously and leaves the verdict to [Form.Validate]: what cannot be read as the field's
// type becomes a string, of which Validate says what is wrong.
//
// Of numbers, a plus sign and leading zeros are dropped; yes and no are true, yes, on, y or 1 and false, no, off, n or 0, in any
// case; the title of an option stands for its value. White space around is dropped, but not from plain text. A field of several
// choices takes each text as one choice; of others, the last text counts.
func (p Property) FromText(texts ...string) json.RawMessage {
	if p.Type == "array" {
		if len(texts) == 0 {
			return nil
		}
		b := []byte{'['}
		for i, s := range texts {
			if i > 0 {
				b = append(b, ',')
			}
			b = rawjson.AppendString(b, p.option(s))
		}
		return append(b, ']')
	}
	if len(texts) == 0 {
		return nil
	}
	s := texts[len(texts)-1]
	trimmed := strings.TrimSpace(s)
	if p.Type == "string" && p.Options == nil && p.Format == "" {
		trimmed = s
		if s == "" && !p.Required {
			return nil
		}
	} else if trimmed == "" {
		return nil
	}
	switch p.Type {
	case "integer", "number":
		if n := numberText(trimmed); rawjson.NumberOK([]byte(n)) {
			return json.RawMessage(n)
		}
	case "boolean":
		switch strings.ToLower(trimmed) {
		case "true", "yes", "on", "y", "1":
			return json.RawMessage("true")
		case "false", "no", "off", "n", "0":
			return json.RawMessage("false")
		}
	default:
		trimmed = p.option(trimmed)
	}
	return rawjson.AppendString(nil, trimmed)
}

// numberText is a number as people type it, as JSON has it: without plus sign and leading zeros, with a digit before the point.
func numberText(s string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	} else if rest, ok := strings.CutPrefix(s, "+"); ok && !strings.HasPrefix(rest, "-") {
		s = rest
	}
	for len(s) > 1 && s[0] == '0' && isDigit(s[1]) {
		s = s[1:]
	}
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	return sign + s
}

// option is the value that a text stands for: an option's own, or of the one option with that title.
func (p Property) option(text string) string {
	value, matches := text, 0
	for _, o := range p.Options {
		if o.Value == text {
			return text
		}
		if strings.TrimSpace(text) == o.Title {
			value = o.Value
			matches++
		}
	}
	if matches > 1 {
		return text
	}
	return value
}
