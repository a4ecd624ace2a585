package form

import (
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// A Problem is one thing that is wrong with an answer.
type Problem struct {
	Field string // the field's name; "" when the answer as a whole is wrong
	Title string // the field's title

	// Rule is what was broken: a keyword of JSON Schema ("type", "required", "minLength", "maxLength", "format", "minimum",
	// "maximum", "enum", "minItems", "maxItems", "uniqueItems"), "duplicate" for a field that is there twice, or "form" when
	// the form itself is at fault.
	Rule string

	// Requirement is a sentence that says what the field must be: "Parcels must be between 1 and 10." It never holds what a
	// person typed, so it may go to logs and errors.
	Requirement string

	// Message is the sentence for who answered, with what they typed, shortened and cleaned of control characters: "Parcels
	// must be between 1 and 10; you entered 12."
	Message string

	fault *Fault
}

// Every English sentence that a person reads is in this file, but for what words.go puts after them.

const (
	notJSON      = "The answer is not valid JSON."
	notAnObject  = "The answer must be an object with a member for each field."
	unusableForm = "This form cannot be used."
)

func requirement(f *field, rule string) string {
	switch rule {
	case "required":
		return f.title + " is required."
	case "duplicate":
		return f.title + " must be answered only once."
	}
	switch r := f.rules.(type) {
	case *textRules:
		return f.title + textRequirement(r, rule)
	case *integerRules:
		if rule == "type" {
			return f.title + " must be a whole number."
		}
		return f.title + boundsRequirement(rule, r.showMin, r.showMax, r.min.String(), r.max.String())
	case *numberRules:
		if rule == "type" {
			return f.title + " must be a number."
		}
		lo, hi := r.bounds()
		return f.title + boundsRequirement(rule, r.hasMin, r.hasMax, real{lo, r.width()}.String(), real{hi, r.width()}.String())
	case *boolRules:
		return f.title + " must be yes or no (true or false)."
	case *choiceRules:
		return f.title + " must be " + oneOf(r.list) + "."
	case *choicesRules:
		return f.title + choicesRequirement(r, rule)
	}
	return f.title + " is not valid."
}

func textRequirement(r *textRules, rule string) string {
	switch rule {
	case "minLength", "maxLength":
		return " must be " + amount(r.min, r.max, rule == "minLength", "character", "characters") + " long."
	case "format":
		switch r.format {
		case "email":
			return " must be an e-mail address, such as name@example.com."
		case "uri":
			return " must be a complete address that begins with its scheme, such as https."
		case "date":
			return " must be a date, such as 2026-07-28."
		case "date-time":
			return " must be a date and time with its zone, such as 2026-07-28T14:30:00Z."
		}
		return " is not valid."
	}
	return " must be text."
}

func boundsRequirement(rule string, hasMin, hasMax bool, lo, hi string) string {
	switch {
	case hasMin && hasMax && lo == hi:
		return " must be " + lo + "."
	case hasMin && hasMax:
		return " must be between " + lo + " and " + hi + "."
	case rule == "minimum":
		return " must be at least " + lo + "."
	}
	return " must be at most " + hi + "."
}

func choicesRequirement(r *choicesRules, rule string) string {
	switch rule {
	case "minItems", "maxItems":
		return " needs " + amount(r.min, r.max, rule == "minItems", "choice", "choices") + "."
	case "uniqueItems":
		return " must not have the same choice twice."
	case "enum":
		return ": each choice must be " + oneOf(r.list) + "."
	}
	return " must be a list of choices."
}

// amount is "between 1 and 3 characters", "exactly 1 character", "at least 2 characters" or "at most 3 characters". least tells
// which of the two limits was missed.
func amount(lo, hi limit, least bool, one, many string) string {
	word := func(n int) string {
		if n == 1 {
			return " " + one
		}
		return " " + many
	}
	switch {
	case lo.set && hi.set && lo.n == hi.n:
		return "exactly " + strconv.Itoa(lo.n) + word(lo.n)
	case lo.set && hi.set && lo.n > 0:
		return "between " + strconv.Itoa(lo.n) + " and " + strconv.Itoa(hi.n) + word(hi.n)
	case least:
		return "at least " + strconv.Itoa(lo.n) + word(lo.n)
	}
	return "at most " + strconv.Itoa(hi.n) + word(hi.n)
}

// oneOf names the options, unless they are many.
func oneOf(list []option) string {
	const most = 8
	if len(list) > most {
		return "one of the options offered"
	}
	var b strings.Builder
	for i, opt := range list {
		switch {
		case i > 0 && i == len(list)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(opt.title)
	}
	return b.String()
}

// typedText shows a raw value: text in quotes, numbers and truth values as they are, anything else not at all.
func typedText(v []byte) string {
	switch rawjson.Kind(v) {
	case '"':
		s, _ := rawjson.String(v)
		return quote(s)
	case '0':
		return strings.Trim(quote(string(v)), `"`)
	case 't', 'f':
		return string(v)
	}
	return ""
}
