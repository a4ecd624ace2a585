package form

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// A tagItem is one part of an elicit tag.
type tagItem struct {
	key, value string
	valued     bool // there is a =
}

// tagKeys are the keys of an elicit tag, and whether they have a value. The documentation of [For] says what each does.
var tagKeys = map[string]bool{
	"title": true, "min": true, "max": true, "minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "format": true,
	"enum": true, "enumTitles": true, "default": true, "required": false, "optional": false, "notCredential": false,
}

// parseTag splits an elicit tag: items between commas, each a key with = and a value, or a key alone; a value within single
// quotes may hold commas, and a quote doubled. White space around keys and values is not part of them.
func parseTag(tag string) (items []tagItem, mistake string) {
	seen := map[string]bool{}
	for rest := tag; ; {
		var it tagItem
		var more bool
		key := rest
		if i := strings.IndexAny(rest, "=,"); i >= 0 {
			key, rest, it.valued, more = rest[:i], rest[i+1:], rest[i] == '=', true
		} else {
			rest = ""
		}
		it.key = strings.TrimSpace(key)
		if it.valued {
			rest = strings.TrimLeft(rest, " \t")
			if strings.HasPrefix(rest, "'") {
				var ok bool
				if it.value, rest, ok = quotedValue(rest); !ok {
					return nil, "the quote of " + it.key + " does not end"
				}
				rest = strings.TrimLeft(rest, " \t")
				if more = strings.HasPrefix(rest, ","); !more && rest != "" {
					return nil, "after the quoted value of " + it.key + " a comma is missing"
				}
				rest = strings.TrimPrefix(rest, ",")
			} else {
				it.value, rest, more = strings.Cut(rest, ",")
				it.value = strings.TrimSpace(it.value)
			}
		}
		valued, known := tagKeys[it.key]
		switch {
		case it.key == "" && !it.valued:
			return nil, "a part is empty"
		case !known:
			return nil, fmt.Sprintf("%q is not known; the keys are %s", it.key, strings.Join(slices.Sorted(keysOf(tagKeys)), ", "))
		case valued && !it.valued:
			return nil, it.key + " needs a value, as in " + it.key + "=…"
		case !valued && it.valued:
			return nil, it.key + " takes no value"
		case seen[it.key]:
			return nil, it.key + " is there twice"
		}
		seen[it.key] = true
		items = append(items, it)
		if !more {
			break
		}
	}
	if seen["required"] && seen["optional"] {
		return nil, "required and optional exclude each other"
	}
	return items, ""
}

func keysOf(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// quotedValue reads a value within single quotes, and returns what follows.
func quotedValue(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), s[i+1:], true
	}
	return "", "", false
}

// applyTag puts what an elicit tag says into a spec, where nothing said it before. t is the Go type of the value.
func applyTag(tag string, t reflect.Type, s *spec) (mistakes []string) {
	items, mistake := parseTag(tag)
	if mistake != "" {
		return []string{"its elicit tag: " + mistake}
	}
	wrong := func(format string, args ...any) {
		mistakes = append(mistakes, "its elicit tag: "+fmt.Sprintf(format, args...))
	}
	get := func(key string) (string, bool) {
		i := slices.IndexFunc(items, func(it tagItem) bool { return it.key == key })
		if i < 0 {
			return "", false
		}
		return items[i].value, true
	}
	// What decides on the kind comes first.
	if what := applyKind(get, t, s); what != "" {
		wrong("%s", what)
		return mistakes
	}
	for _, it := range items {
		switch it.key {
		case "title":
			if s.title.shown == "" {
				s.title = constant(it.value)
			}
			if it.value == "" {
				wrong("its title is empty; leave it out for one from the name")
			}
		case "required":
			if s.presence == unsaid {
				s.presence = required
			}
		case "optional":
			if s.presence == unsaid {
				s.presence = optional
			}
		case "notCredential":
			s.notCredential = true
		case "min", "max":
			if what := applyBound(it.key, it.value, s.rules); what != "" {
				wrong("%s", what)
			}
		case "minLength", "maxLength", "minItems", "maxItems":
			if what := applyLimit(it.key, it.value, s.rules); what != "" {
				wrong("%s", what)
			}
		case "default":
			if s.def == nil {
				var what string
				if s.def, what = defaultOf(it.value, s.rules); what != "" {
					wrong("%s", what)
				}
			}
		}
	}
	return mistakes
}

// applyKind makes the field one of a format or of options.
func applyKind(get func(string) (string, bool), t reflect.Type, s *spec) (mistake string) {
	if format, ok := get("format"); ok {
		if !slices.Contains([]string{"email", "uri", "date", "date-time"}, format) {
			return fmt.Sprintf("format %q is none; the formats are email, uri, date and date-time", format)
		}
		r, isText := s.rules.(*textRules)
		fits := isText
		switch t {
		case timeType:
			fits = strings.HasPrefix(format, "date")
		case dayType, urlType, mailType:
			fits = isText && format == r.format
		}
		if !fits {
			return fmt.Sprintf("format %s does not suit %s", format, kindName(s.rules, t))
		}
		if r.format == "" || t == timeType && s.to == nil {
			r.format = format
		}
	}
	enum, hasEnum := get("enum")
	titles, hasTitles := get("enumTitles")
	if !hasEnum {
		if hasTitles {
			return "enumTitles needs enum beside it"
		}
		return ""
	}
	list, mistake := enumOf(enum, titles, hasTitles)
	if mistake != "" {
		return mistake
	}
	o := optionList(list)
	switch r := s.rules.(type) {
	case *choiceRules:
		if len(r.list) > 0 {
			return ""
		}
		r.options = o
	case *choicesRules:
		if len(r.list) > 0 {
			return ""
		}
		r.options = o
	case *textRules:
		if r.format != "" || r.accept != nil || t.Kind() != reflect.String {
			return "enum does not suit " + kindName(s.rules, t) + "; it is for text without a format"
		}
		if r.min.set || r.max.set {
			return "enum does not suit a text with a length"
		}
		s.rules = &choiceRules{o}
	default:
		return "enum does not suit " + kindName(s.rules, t) + "; it is for text, and for lists of text"
	}
	return ""
}

// enumOf are the options of the keys enum and enumTitles.
func enumOf(enum, titles string, hasTitles bool) (list []option, mistake string) {
	values := strings.Split(enum, "|")
	names := make([]string, len(values))
	if hasTitles {
		if names = strings.Split(titles, "|"); len(names) != len(values) {
			return nil, fmt.Sprintf("enumTitles has %d titles for %d options", len(names), len(values))
		}
	}
	for i, v := range values {
		list = append(list, option{value: strings.TrimSpace(v), title: strings.TrimSpace(names[i])})
	}
	return list, ""
}

// applyBound sets the least or greatest number.
func applyBound(key, value string, r rules) (mistake string) {
	isMin := key == "min"
	switch r := r.(type) {
	case *integerRules:
		n, whole := parseInteger([]byte(value))
		if !whole {
			return fmt.Sprintf("%s %q is not a whole number", key, value)
		}
		if n.compare(r.typeMin) < 0 || n.compare(r.typeMax) > 0 {
			return fmt.Sprintf("%s %s is outside the range of the Go type, %s to %s", key, value, r.typeMin, r.typeMax)
		}
		if isMin && !r.setMin {
			r.min, r.setMin, r.showMin = n.integer, true, true
		}
		if !isMin && !r.setMax {
			r.max, r.setMax, r.showMax = n.integer, true, true
		}
	case *numberRules:
		x, what := floatOf(key, value, r)
		if what != "" {
			return what
		}
		if isMin && !r.hasMin {
			r.min, r.hasMin = positiveZero(x), true
		}
		if !isMin && !r.hasMax {
			r.max, r.hasMax = positiveZero(x), true
		}
	case *textRules:
		if r.format == "date" || r.format == "date-time" {
			return key + " does not suit a date: the specification has no bounds for dates"
		}
		return key + " is for numbers; the length of a text is " + key + "Length"
	case *choicesRules:
		return key + " is for numbers; the number of choices is " + key + "Items"
	default:
		return key + " is for numbers"
	}
	return ""
}

func floatOf(key, value string, r *numberRules) (float64, string) {
	if !rawjson.NumberOK([]byte(value)) {
		return 0, fmt.Sprintf("%s %q is not a number, as JSON writes them", key, value)
	}
	x, err := strconv.ParseFloat(value, r.width())
	if err != nil {
		return 0, fmt.Sprintf("%s %s is outside the range of the Go type", key, value)
	}
	return x, ""
}

// applyLimit sets the least or greatest length, or number of choices.
func applyLimit(key, value string, r rules) (mistake string) {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return fmt.Sprintf("%s %q is not a number between 0 and %d", key, value, math.MaxInt32)
	}
	var lo, hi *limit
	switch r := r.(type) {
	case *textRules:
		if strings.HasSuffix(key, "Length") && !strings.HasPrefix(r.format, "date") {
			lo, hi = &r.min, &r.max
		}
	case *choicesRules:
		if strings.HasSuffix(key, "Items") {
			lo, hi = &r.min, &r.max
		}
	}
	switch {
	case lo == nil && strings.HasSuffix(key, "Length"):
		return key + " is for text"
	case lo == nil:
		return key + " is for lists of options"
	case strings.HasPrefix(key, "min") && !lo.set:
		*lo = limit{int(n), true}
	case strings.HasPrefix(key, "max") && !hi.set:
		*hi = limit{int(n), true}
	}
	return ""
}

// defaultOf reads a default, which builder checks further.
func defaultOf(value string, r rules) (def any, mistake string) {
	switch r := r.(type) {
	case *integerRules:
		n, whole := parseInteger([]byte(value))
		if !whole || n.huge {
			return nil, fmt.Sprintf("default %q is not a whole number of the Go type", value)
		}
		return n.integer, ""
	case *numberRules:
		x, what := floatOf("default", value, r)
		if what != "" {
			return nil, what
		}
		return real{x, r.width()}, ""
	case *boolRules:
		if value != "true" && value != "false" {
			return nil, fmt.Sprintf("default %q is neither true nor false", value)
		}
		return value == "true", ""
	case *choicesRules:
		list := strings.Split(value, "|")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return list, ""
	}
	return value, ""
}

// kindName says what a field is, in an error.
func kindName(r rules, t reflect.Type) string {
	switch r := r.(type) {
	case *integerRules:
		return "a whole number"
	case *numberRules:
		return "a number"
	case *boolRules:
		return "yes or no"
	case *choiceRules:
		return "a choice"
	case *choicesRules:
		return "a list of choices"
	case *textRules:
		if r.format == "" && t.Kind() == reflect.String {
			return "a text"
		}
	}
	return "a " + t.String()
}
