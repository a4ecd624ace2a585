package form

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// What Parse takes at most. A schema is what a stranger sends, and somebody waits for the form.
const (
	maxSchema      = 1 << 20 // bytes
	maxForeign     = 1000    // fields
	maxOptions     = 10_000  // of one field
	maxIgnored     = 100
	maxTitle       = 200 // code points
	maxDescription = 4000
)

// An Ignored is a part of a schema that [Parse] did not understand, or that makes no sense, and left out of the form.
type Ignored struct {
	Field string // the name of the field; "" for the schema as a whole
	What  string // the keyword: "pattern"; "" for the field itself
	Why   string // the end of a sentence: "patterns are not checked"
}

// String is "field "x": pattern: patterns are not checked". It may hold anything that the sender wrote.
func (i Ignored) String() string {
	var b strings.Builder
	if i.Field != "" {
		b.WriteString("field " + strconv.Quote(i.Field) + ": ")
	}
	if i.What != "" {
		b.WriteString(i.What + ": ")
	}
	return b.String() + i.Why
}

// Parse reads a requestedSchema that came from elsewhere, to show it, to check an answer before it is sent, and to encode it. It
// understands all of the specification's restricted JSON Schema (client/elicitation, "Requested Schema"), with enumNames of revision
// 2025-06-18, and keeps the properties in the sender's order.
//
// What is beyond that is left out, and listed: the server will check the answer itself. So a form that comes back may take more
// than the schema does, and never less, except that a choice counts once and that null and "" mean absent as in [Form.Validate].
// Titles and descriptions are cut to 200 and 4000 characters, and cleaned of control characters; a field without a title has one
// that is derived from its name.
//
// The error says why there is no usable form: the schema is no JSON that everybody reads alike (trailing bytes, invalid UTF-8,
// members of one name), is no object, is over 1 MiB, has over 1000 fields or a field of over 10,000 options, or requires a field that
// cannot be asked for, such as a nested object. Parse follows no reference, compiles no pattern and computes with no number of more
// than 400 digits, so that time and memory are bounded by the size.
//
// No schema at all, or null, is a form without fields.
func Parse(schema []byte) (*Form[Values], []Ignored, error) {
	f := &Form[Values]{m: model{made: true}}
	p := &parser{}
	if err := p.parse(schema, &f.m); err != nil {
		return nil, nil, fmt.Errorf("form: the schema cannot be used: %w", err)
	}
	f.m.index()
	f.m.schema, _ = f.m.appendSchema(nil, false, nil)
	return f, p.ignored, nil
}

type parser struct {
	ignored []Ignored
	field   string // that is being read
}

func (p *parser) ignore(what, why string) {
	switch n := len(p.ignored); {
	case n < maxIgnored:
		p.ignored = append(p.ignored, Ignored{p.field, what, why})
	case n == maxIgnored:
		p.ignored = append(p.ignored, Ignored{"", "", "there is more that was not understood"})
	}
}

func (p *parser) parse(schema []byte, m *model) error {
	if len(schema) > maxSchema {
		return fmt.Errorf("it has %d bytes; at most %d are read", len(schema), maxSchema)
	}
	if len(bytes.Trim(schema, " \t\r\n")) == 0 {
		return nil
	}
	if err := rawjson.Check(schema, rawjson.MaxDepth); err != nil {
		return err
	}
	switch rawjson.Kind(schema) {
	case 'n':
		return nil
	case '{':
	default:
		return errors.New("it is not an object")
	}
	root, err := membersOf(schema, "it")
	if err != nil {
		return err
	}
	var properties []member
	required := map[string]bool{}
	var names []string // that are required, in order
	for _, k := range root {
		switch k.name {
		case "type":
			if s, _ := rawjson.String(k.value); s != "object" {
				return errors.New("its type is not object")
			}
		case "properties":
			if rawjson.Kind(k.value) != '{' {
				return errors.New("its properties are not an object")
			}
			if properties, err = membersOf(k.value, "its properties"); err != nil {
				return err
			}
			if len(properties) > maxForeign {
				return fmt.Errorf("it has %d fields; at most %d are read", len(properties), maxForeign)
			}
		case "required":
			if rawjson.Kind(k.value) != '[' {
				p.ignore("required", "it is not a list")
			}
			for e := range rawjson.Elements(k.value) {
				s, ok := rawjson.String(e)
				switch {
				case !ok:
					p.ignore("required", "a name in it is not text")
				case !required[s]:
					required[s] = true
					names = append(names, s)
				}
			}
		case "$schema", "$id", "$comment", "additionalProperties", "unevaluatedProperties": // an answer has the form's fields alone
		default:
			p.ignore(k.name, unknownKeyword)
		}
	}
	for _, k := range properties {
		p.field = k.name
		f, why := p.property(k.name, k.value)
		if why != "" {
			if required[k.name] {
				return fmt.Errorf("field %s is required, and cannot be asked for: %s", quote(k.name), why)
			}
			p.ignore("", why)
			continue
		}
		f.required = required[k.name]
		m.fields = append(m.fields, f)
	}
	there := map[string]bool{}
	for _, k := range properties {
		there[k.name] = true
	}
	for _, name := range names {
		if !there[name] {
			p.field = name
			p.ignore("required", "there is no such field")
		}
	}
	return nil
}

const unknownKeyword = "it is not a keyword of forms"

type member struct {
	name  string
	value []byte
}

// membersOf are the members of an object; two of one name are an error.
func membersOf(obj []byte, what string) (list []member, err error) {
	if name, dup := rawjson.Duplicate(obj, false); dup {
		return nil, fmt.Errorf("%s: two members are called %s", what, quote(name))
	}
	for q, v := range rawjson.Members(obj) {
		name, _ := rawjson.String(q)
		list = append(list, member{name, v})
	}
	return list, nil
}

// A draft is what is known about a field while its keywords are read.
type draft struct {
	keywords map[string][]byte
	used     map[string]bool
	order    []string
}

// take is the value of a keyword, which counts as understood.
func (d *draft) take(keyword string) ([]byte, bool) {
	v, ok := d.keywords[keyword]
	d.used[keyword] = true
	return v, ok
}

func newDraft(schema []byte) (*draft, string) {
	list, err := membersOf(schema, "it")
	if err != nil {
		return nil, err.Error()
	}
	d := &draft{keywords: make(map[string][]byte, len(list)), used: map[string]bool{}}
	for _, k := range list {
		d.keywords[k.name] = k.value
		d.order = append(d.order, k.name)
	}
	return d, ""
}

// property reads a field, or says why it cannot be asked for.
func (p *parser) property(name string, schema []byte) (f field, why string) {
	if rawjson.Kind(schema) != '{' {
		return f, "it is not described by an object"
	}
	d, why := newDraft(schema)
	if why != "" {
		return f, why
	}
	if _, ok := d.take("$ref"); ok {
		return f, "references are not followed"
	}
	if why = d.unwrap(); why != "" {
		return f, why
	}
	f.name = name
	switch typ := p.typeOf(d); typ {
	case "string":
		f.rules, why = p.text(d)
	case "integer":
		f.rules = p.integer(d)
	case "number":
		f.rules = p.number(d)
	case "boolean":
		f.rules = &boolRules{}
	case "array":
		f.rules, why = p.choices(d)
	case "object":
		why = "forms are flat, and it is an object"
	default:
		why = "forms have no fields of type " + quote(typ)
	}
	if why != "" {
		return f, why
	}
	f.title = cut(clean(p.string(d, "title")), maxTitle)
	f.description = cut(clean(p.string(d, "description")), maxDescription)
	if f.title == "" {
		f.title = cut(shownTitle(cut(name, maxTitle)), maxTitle)
	}
	f.options = optionsFor(f.rules)
	p.defaultOf(d, &f)
	_, f.credential = credentialIn(f.rules, cut(name, maxTitle), f.title, f.description)
	for _, keyword := range d.order {
		if d.used[keyword] || annotations[keyword] {
			continue
		}
		switch {
		case keyword == "pattern":
			p.ignore(keyword, "patterns are not checked")
		case profile[keyword]:
			p.ignore(keyword, "it does not apply to a field of this kind")
		default:
			p.ignore(cut(keyword, maxTitle), unknownKeyword)
		}
	}
	return f, ""
}

// profile are the keywords of the specification.
var profile = set("minLength maxLength format minimum maximum enum enumNames oneOf anyOf items minItems maxItems uniqueItems const")

// unwrap makes a field that may also be null one that may not: {"anyOf":[{"type":"string"},{"type":"null"}]} is what some
// libraries write for an optional field, for which null is as good as absent.
func (d *draft) unwrap() (why string) {
	if _, typed := d.keywords["type"]; typed {
		return ""
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		var inner []byte
		n, null := 0, false
		for e := range rawjson.Elements(d.keywords[keyword]) {
			t, _ := rawjson.Get(e, "type")
			if s, _ := rawjson.String(t); s == "null" {
				null = true
				continue
			}
			inner = e
			n++
		}
		if !null || n != 1 || rawjson.Kind(inner) != '{' {
			continue
		}
		list, err := membersOf(inner, "it")
		if err != nil {
			return err.Error()
		}
		delete(d.keywords, keyword)
		d.order = slices.DeleteFunc(d.order, func(k string) bool { return k == keyword })
		for _, k := range list {
			if _, there := d.keywords[k.name]; !there {
				d.keywords[k.name] = k.value
				d.order = append(d.order, k.name)
			}
		}
		return ""
	}
	return ""
}

// annotations are keywords of JSON Schema that say nothing about which answers are valid.
var annotations = map[string]bool{"$schema": true, "$id": true, "$comment": true, "examples": true, "deprecated": true, "readOnly": true, "writeOnly": true}

// typeOf is the type of a field, also where it is not said.
func (p *parser) typeOf(d *draft) string {
	v, ok := d.take("type")
	if s, isString := rawjson.String(v); isString {
		return s
	}
	if rawjson.Kind(v) == '[' {
		// A type that may also be null: null is as good as absent.
		types := []string{}
		for e := range rawjson.Elements(v) {
			if s, _ := rawjson.String(e); s != "null" {
				types = append(types, s)
			}
			if len(types) > 1 {
				return "several"
			}
		}
		if len(types) == 1 {
			return types[0]
		}
	}
	if ok {
		return "unknown"
	}
	for _, k := range []struct{ keyword, typ string }{{"items", "array"}, {"properties", "object"}, {"minimum", "number"}, {"maximum", "number"}} {
		if _, ok := d.keywords[k.keyword]; ok {
			p.ignore("type", "it is missing; "+k.keyword+" looks like "+k.typ)
			return k.typ
		}
	}
	p.ignore("type", "it is missing; the field is taken for text")
	return "string"
}

// string is the value of a keyword that is text.
func (p *parser) string(d *draft, keyword string) string {
	v, ok := d.take(keyword)
	s, isString := rawjson.String(v)
	if ok && !isString {
		p.ignore(keyword, "it is not text")
	}
	return s
}

// text reads a string: a choice if there are options, else any text.
func (p *parser) text(d *draft) (rules, string) {
	o, isChoice, why := p.options(d, "")
	if why != "" {
		return nil, why
	}
	if isChoice {
		return &choiceRules{o}, ""
	}
	r := &textRules{}
	r.min, r.max = p.limits(d, "minLength", "maxLength", math.MaxInt32)
	switch format := p.string(d, "format"); format {
	case "", "email", "uri", "date", "date-time":
		r.format = format
	default:
		p.ignore("format", "forms have no format "+quote(format))
	}
	return r, ""
}

// choices reads an array, which must be one of options.
func (p *parser) choices(d *draft) (rules, string) {
	v, ok := d.take("items")
	if !ok || rawjson.Kind(v) != '{' {
		return nil, "it is a list, and does not say of what"
	}
	items, why := newDraft(v)
	if why != "" {
		return nil, why
	}
	if t, ok := items.take("type"); ok {
		if s, _ := rawjson.String(t); s != "string" {
			return nil, "lists are only of options, which are text"
		}
	}
	o, isChoice, why := p.options(items, "items.")
	if why != "" {
		return nil, why
	}
	if !isChoice {
		return nil, "it is a list without options"
	}
	for _, keyword := range items.order {
		if !items.used[keyword] && !annotations[keyword] && keyword != "title" && keyword != "description" {
			p.ignore("items."+cut(keyword, maxTitle), unknownKeyword)
		}
	}
	r := &choicesRules{options: o}
	r.min, r.max = p.limits(d, "minItems", "maxItems", len(o.list))
	if r.max.set && r.max.n == 0 {
		p.ignore("maxItems", "it lets nothing be chosen")
		r.max = limit{}
	}
	if v, ok := d.take("uniqueItems"); ok && rawjson.Kind(v) != 't' {
		p.ignore("uniqueItems", "an option is chosen once at most")
	}
	return r, ""
}

// options reads enum with enumNames, oneOf, anyOf or const.
func (p *parser) options(d *draft, where string) (o options, isChoice bool, why string) {
	var list []option
	titled := false
	seen := map[string]bool{}
	add := func(keyword string, value []byte, title string) bool {
		s, ok := rawjson.String(value)
		switch {
		case !ok:
			p.ignore(where+keyword, "an option of it is not text")
		case seen[s]:
			p.ignore(where+keyword, "an option of it is there twice")
		case len(list) >= maxOptions:
			return false
		default:
			seen[s] = true
			list = append(list, option{value: s, title: cut(clean(title), maxTitle)})
		}
		return true
	}
	tooMany := fmt.Sprintf("it has more than %d options", maxOptions)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		v, ok := d.take(keyword)
		if !ok || isChoice {
			continue
		}
		isChoice = true
		for e := range rawjson.Elements(v) {
			if rawjson.Kind(e) != '{' {
				p.ignore(where+keyword, "an option of it is not described by an object")
				continue
			}
			if name, dup := rawjson.Duplicate(e, false); dup {
				return o, false, "an option of it has two members called " + quote(name)
			}
			value, _ := rawjson.Get(e, "const")
			raw, _ := rawjson.Get(e, "title")
			title, _ := rawjson.String(raw)
			titled = titled || title != ""
			if !add(keyword, value, title) {
				return o, false, tooMany
			}
		}
	}
	if v, ok := d.take("enum"); ok {
		if isChoice {
			p.ignore(where+"enum", "the options have titles, and count")
		} else {
			isChoice = true
			var titles []string
			names, hasNames := d.take("enumNames")
			for e := range rawjson.Elements(names) {
				s, _ := rawjson.String(e)
				titles = append(titles, s)
			}
			i := 0
			for e := range rawjson.Elements(v) {
				title := ""
				if i < len(titles) {
					title = titles[i]
				}
				i++
				if !add("enum", e, title) {
					return o, false, tooMany
				}
			}
			titled = hasNames && len(titles) > 0
			if hasNames && len(titles) != i {
				p.ignore(where+"enumNames", fmt.Sprintf("it has %d names for %d options", len(titles), i))
			}
		}
	}
	if v, ok := d.take("const"); ok && !isChoice {
		isChoice = true
		add("const", v, "")
	}
	if isChoice && len(list) == 0 {
		return o, false, "it is a choice without an option that is text"
	}
	o = optionList(list)
	o.titled = titled
	return o, isChoice, ""
}

// limits reads a pair of limits. Those that nothing can meet are left out.
func (p *parser) limits(d *draft, loName, hiName string, most int) (lo, hi limit) {
	read := func(keyword string) (l limit) {
		v, ok := d.take(keyword)
		if !ok {
			return l
		}
		n, whole := parseInteger(v)
		switch {
		case !whole || n.negative:
			p.ignore(keyword, "it is not a whole number from 0")
		case n.huge || n.abs > math.MaxInt32:
			p.ignore(keyword, "it is too large")
		default:
			l = limit{int(n.abs), true}
		}
		return l
	}
	lo, hi = read(loName), read(hiName)
	if lo.set && lo.n > most {
		p.ignore(loName, "nothing can be so long")
		lo = limit{}
	}
	if lo.set && hi.set && lo.n > hi.n {
		p.ignore(loName, "it is above "+hiName+"; both are left out")
		return limit{}, limit{}
	}
	return lo, hi
}

// integer reads a whole number. Its values are those of all Go integer types together.
func (p *parser) integer(d *draft) rules {
	r := &integerRules{min: integer{true, math.MaxUint64}, max: integer{false, math.MaxUint64}}
	r.typeMin, r.typeMax = r.min, r.max
	if n, ok := p.bound(d, "minimum"); ok {
		r.min, r.showMin = p.wholeBound(n, "minimum", r.min)
	}
	if n, ok := p.bound(d, "maximum"); ok {
		r.max, r.showMax = p.wholeBound(n, "maximum", r.max)
	}
	if r.min.compare(r.max) > 0 {
		p.ignore("minimum", "it is above maximum; both are left out")
		r.min, r.max, r.showMin, r.showMax = r.typeMin, r.typeMax, false, false
	}
	return r
}

// bound reads a bound, exactly.
func (p *parser) bound(d *draft, keyword string) (*big.Rat, bool) {
	v, ok := d.take(keyword)
	if !ok {
		return nil, false
	}
	if rawjson.NumberOK(v) {
		if n, ok := new(big.Rat).SetString(string(v)); ok {
			return n, true
		}
	}
	p.ignore(keyword, "it is not a number that can be computed with")
	return nil, false
}

// wholeBound is the whole number that a bound comes to: 1 for a minimum of 0.5.
func (p *parser) wholeBound(n *big.Rat, keyword string, none integer) (integer, bool) {
	whole, rest := new(big.Int).DivMod(n.Num(), n.Denom(), new(big.Int)) // rounds down
	if keyword == "minimum" && rest.Sign() != 0 {
		whole.Add(whole, big.NewInt(1))
	}
	abs := new(big.Int).Abs(whole)
	if !abs.IsUint64() {
		// A bound far out bounds nothing, unless it is on the wrong side.
		if whole.Sign() < 0 != (keyword == "minimum") {
			p.ignore(keyword, "no number can meet it")
		}
		return none, false
	}
	return integer{whole.Sign() < 0, abs.Uint64()}, true
}

func (p *parser) number(d *draft) rules {
	r := &numberRules{bits: 64}
	read := func(keyword string) (float64, bool) {
		n, ok := p.bound(d, keyword)
		if !ok {
			return 0, false
		}
		x, _ := n.Float64()
		if math.IsInf(x, 0) {
			if math.Signbit(x) != (keyword == "minimum") {
				p.ignore(keyword, "no number can meet it")
			}
			return 0, false
		}
		return x, true
	}
	r.min, r.hasMin = read("minimum")
	r.max, r.hasMax = read("maximum")
	if r.hasMin && r.hasMax && r.min > r.max {
		p.ignore("minimum", "it is above maximum; both are left out")
		return &numberRules{bits: 64}
	}
	return r
}

// defaultOf reads the default, which must be valid.
func (p *parser) defaultOf(d *draft, f *field) {
	v, ok := d.take("default")
	if !ok || rawjson.Kind(v) == 'n' {
		return
	}
	if rule, _ := f.rules.check(v); rule != "" {
		p.ignore("default", "it breaks the rules of the field ("+rule+")")
		return
	}
	def := f.rules.value(v)
	if list, ok := def.([]string); ok && len(list) == 0 {
		return // the same as none
	}
	f.def, f.defJSON = def, f.appendGiven(nil, v)
}

// cut is at most n code points of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
