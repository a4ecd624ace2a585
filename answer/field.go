package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// A Field is one property of a form, as far as an [Answerer] needs it. Its texts are the server's: pass them through
// [PlainLine] before they reach a terminal.
type Field struct {
	Name        string          // the property's name: where the value goes in the answer's content
	Title       string          // what people call it; empty when the server gave none
	Description string          // more about it; empty when there is none
	Type        string          // "string", "integer", "number", "boolean" or "array"; else what the server wrote
	Format      string          // of a string: "email", "uri", "date", "date-time"; empty for any
	Required    bool            // whether an answer must have it
	Options     []Option        // what to choose from; nil when any value will do
	Default     json.RawMessage // what to start from, exact; nil when there is none
	Schema      json.RawMessage // all of it
}

// An Option is one of the values a [Field] may have.
type Option struct {
	Value string // what goes into the answer
	Title string // what people call it; the value itself where the server gave no title
}

// Label is what to call the field: its title, else its name.
func (f *Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Fields reads the form's fields in the order of r.Schema (specification: client/elicitation, Requested Schema). A
// question without a schema, or with an empty one, has none. A schema that is no flat object is an error.
func (r *Request) Fields() ([]Field, error) {
	if len(bytes.TrimSpace(r.Schema)) == 0 {
		return nil, nil
	}
	broken := func(format string, args ...any) error {
		return fmt.Errorf("the form of %s is broken: %s", question(r.Key), fmt.Sprintf(format, args...))
	}
	if err := rawjson.Check(r.Schema, rawjson.MaxDepth); err != nil {
		return nil, broken("%v", err)
	}
	if rawjson.Kind(r.Schema) != '{' {
		return nil, broken("requestedSchema is not an object")
	}
	properties, ok := rawjson.Get(r.Schema, "properties")
	if !ok {
		return nil, nil
	}
	if rawjson.Kind(properties) != '{' {
		return nil, broken("properties is not an object")
	}
	if name, dup := rawjson.Duplicate(properties, false); dup {
		return nil, broken("the field %q is there twice", name)
	}
	required := map[string]bool{}
	list, _ := rawjson.Get(r.Schema, "required")
	for e := range rawjson.Elements(list) {
		if name, ok := rawjson.String(e); ok {
			required[name] = true
		}
	}
	var fields []Field
	for quotedName, schema := range rawjson.Members(properties) {
		name, _ := rawjson.String(quotedName)
		if rawjson.Kind(schema) != '{' {
			return nil, broken("the field %q is not described by an object", name)
		}
		f := readField(schema)
		f.Name, f.Required = name, required[name]
		fields = append(fields, f)
	}
	return fields, nil
}

func readField(schema []byte) Field {
	text := func(obj []byte, name string) string {
		v, _ := rawjson.Get(obj, name)
		s, _ := rawjson.String(v)
		return s
	}
	f := Field{
		Title: text(schema, "title"), Description: text(schema, "description"),
		Type: text(schema, "type"), Format: text(schema, "format"), Schema: bytes.Clone(schema),
	}
	if v, ok := rawjson.Get(schema, "default"); ok && rawjson.Kind(v) != 'n' {
		f.Default = bytes.Clone(v)
	}
	from := schema
	if f.Type == "array" {
		from, _ = rawjson.Get(schema, "items")
	}
	if enum, ok := rawjson.Get(from, "enum"); ok {
		var titles []string // 2025-06-18 had them beside the values.
		names, _ := rawjson.Get(from, "enumNames")
		for e := range rawjson.Elements(names) {
			s, _ := rawjson.String(e)
			titles = append(titles, s)
		}
		for e := range rawjson.Elements(enum) {
			if s, ok := rawjson.String(e); ok {
				o := Option{Value: s, Title: s}
				if i := len(f.Options); i < len(titles) && titles[i] != "" {
					o.Title = titles[i]
				}
				f.Options = append(f.Options, o)
			}
		}
		return f
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		list, _ := rawjson.Get(from, keyword)
		for e := range rawjson.Elements(list) {
			v, _ := rawjson.Get(e, "const")
			if s, ok := rawjson.String(v); ok {
				o := Option{Value: s, Title: text(e, "title")}
				if o.Title == "" {
					o.Title = s
				}
				f.Options = append(f.Options, o)
			}
		}
	}
	return f
}

// Parse turns text, as typed or given by a flag, into a value of the field: string, json.Number (by its literal text,
// however long), bool, or []string for a choice of several, which takes each text as one element. For a choice, the
// title of an option stands for its value. What it returns goes into an answer's Content as it is. The error says what
// was expected; the server's further rules (lengths, ranges, formats) are left to the server.
func (f *Field) Parse(texts ...string) (any, error) {
	if f.Type == "array" {
		values := []string{}
		for _, t := range texts {
			v, err := f.option(t)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		return values, nil
	}
	if len(texts) != 1 {
		return nil, fmt.Errorf("takes one value, not %d", len(texts))
	}
	text := texts[0]
	switch trimmed := strings.TrimSpace(text); f.Type {
	case "integer":
		n, ok := number(trimmed)
		if !ok || strings.ContainsAny(n, ".eE") {
			return nil, fmt.Errorf("%q is not an integer, such as 42", text)
		}
		return json.Number(n), nil
	case "number":
		n, ok := number(trimmed)
		if !ok {
			return nil, fmt.Errorf("%q is not a number, such as 3.14", text)
		}
		return json.Number(n), nil
	case "boolean":
		switch trimmed {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", text)
	}
	return f.option(text)
}

// option is the value that text stands for.
func (f *Field) option(text string) (string, error) {
	if len(f.Options) == 0 {
		return text, nil
	}
	match, matches := "", 0
	for _, o := range f.Options {
		if o.Value == text {
			return text, nil
		}
		if o.Title == text {
			match = o.Value
			matches++
		}
	}
	if matches == 1 {
		return match, nil
	}
	values := make([]string, len(f.Options))
	for i, o := range f.Options {
		values[i] = o.Value
	}
	return "", fmt.Errorf("%q is not one of %s", text, quoted(values))
}

// number is text as a JSON number, which has neither a plus sign nor leading zeros.
func number(text string) (string, bool) {
	sign, digits := "", strings.TrimPrefix(text, "+")
	if rest, ok := strings.CutPrefix(digits, "-"); ok && digits == text {
		sign, digits = "-", rest
	}
	for len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		digits = digits[1:]
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' || !rawjson.NumberOK([]byte(sign+digits)) {
		return "", false
	}
	return sign + digits, true
}

// check tells whether v, a Go or JSON value, is of the field's type.
func (f *Field) check(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	kind := rawjson.Kind(data)
	ok := true
	want := f.Type
	switch f.Type {
	case "string":
		ok, want = kind == '"', "text"
	case "integer":
		ok, want = kind == '0', "an integer"
	case "number":
		ok, want = kind == '0', "a number"
	case "boolean":
		ok, want = kind == 't' || kind == 'f', "true or false"
	case "array":
		ok, want = kind == '[', "a list"
	}
	if !ok {
		return fmt.Errorf("%s is not %s", data, want)
	}
	return nil
}
