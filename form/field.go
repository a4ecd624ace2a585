package form

import (
	"strconv"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// A Field is one property of a form. The kinds of this package are all there are, because they are all that the
// specification lets a form ask for: [String], [Email], [URI], [Date], [DateTime], [Text], [Int], [Number], [Bool], [Choice]
// and [Choices], and the same with Of for [Build].
type Field interface{ spec() spec }

// A spec is what every kind boils down to.
type spec struct {
	common
	rules rules
}

// common is what every kind of field has.
type common struct {
	name               string
	to                 any  // the pointer of XOf
	byPointer          bool // made by XOf
	title, description text
	presence           presence
	def                any    // a value as rules has it; nil: none
	defMistake         string // why the default is none
	notCredential      bool   // the author says so
}

// A text is shown to people. What of it is in the program, and not data that a call put in, is judged by Err.
type text struct{ shown, constant string }

func constant(s string) text { return text{s, s} }

// specOf is the spec of a field; false when it is nil, as itself or inside of what carries it.
func specOf(f Field) (s spec, ok bool) {
	defer func() { _ = recover() }() // a nil pointer to a kind, or a struct that embeds a nil Field
	s = f.spec()
	return s, true
}

func pointTo[T any](p *T) common { return common{to: p, byPointer: true} }

// presence is whether a field must be answered.
type presence byte

const (
	unsaid presence = iota // as the struct says; optional where there is none
	required
	optional
)

// rules are what distinguishes a kind: how it is described to a client, which values it takes, and what they become.
//
// A value is raw JSON on the wire, and in memory one of string (dates and times, too), [integer], [real], bool and
// []string.
type rules interface {
	// mistakes are what is wrong with the rules themselves, each the end of a sentence about the field.
	mistakes() []string

	// typeName is the JSON Schema type.
	typeName() string

	// appendTo appends the schema's keywords after type, title and description, each with a comma before it. legacy asks
	// for the shape of revision 2025-06-18; false means that it has none.
	appendTo(b []byte, legacy bool) ([]byte, bool)

	// emptyIsAbsent is whether "" says nothing: the input of a client that has no other way to leave it out.
	emptyIsAbsent() bool

	// check says what is wrong with a value: the name of a rule, and the part of v to show to who typed it. The rule is ""
	// for a value that is fine. It must not allocate for those, where that is in our hands.
	check(v []byte) (rule string, culprit []byte)

	// value reads a value that check let through.
	value(v []byte) any
}

// A limit is a number of characters or choices that may be set.
type limit struct {
	n   int
	set bool
}

// mistakesOf are the mistakes in a pair of limits.
func mistakesOf(lo, hi limit, loName, hiName string) (out []string) {
	if lo.set && lo.n < 0 {
		out = append(out, loName+" is negative")
	}
	if hi.set && hi.n < 0 {
		out = append(out, hiName+" is negative")
	}
	if lo.set && hi.set && lo.n > hi.n {
		out = append(out, loName+" "+strconv.Itoa(lo.n)+" is above "+hiName+" "+strconv.Itoa(hi.n))
	}
	return out
}

// appendLimit appends the keyword if the limit is set.
func appendLimit(b []byte, keyword string, l limit) []byte {
	if !l.set {
		return b
	}
	return append(append(b, keyword...), strconv.Itoa(l.n)...)
}

// appendValue appends a value, as rules has it, as JSON.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return rawjson.AppendString(b, v)
	case integer:
		return v.append(b)
	case real:
		return v.append(b)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case []string:
		b = append(b, '[')
		for i, s := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = rawjson.AppendString(b, s)
		}
		return append(b, ']')
	}
	return append(b, "null"...)
}
