package form

import (
	"encoding/json"
	"fmt"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// Schema is what goes to the client as requestedSchema: the restricted JSON Schema of the specification (client/elicitation,
// "Requested Schema"), compact, with the properties in declared order and each property's keywords in the order of the
// specification's examples. It is encoded once: do not change it. nil when the form is wrong.
func (f *Form[T]) Schema() json.RawMessage {
	if f.Err() != nil {
		return nil
	}
	return f.m.schema
}

// SchemaWithDefaults is the schema for asking again after an answer that was not valid, so that nothing typed is lost: each
// field whose value in content is valid by itself has it as its default, in place of the author's. Booleans keep the author's:
// a tick is given by a person and not by a form. content is the content of that answer, whatever it is.
func (f *Form[T]) SchemaWithDefaults(content []byte) json.RawMessage {
	if f.Err() != nil {
		return nil
	}
	var room [few][]byte
	raw := f.m.room(room[:])
	if rule := f.m.read(content, raw); rule != "" {
		return f.m.schema
	}
	for i := range f.m.fields {
		fd := &f.m.fields[i]
		_, isBool := fd.rules.(*boolRules)
		if isBool || fd.absent(raw[i]) || isTwice(raw[i]) {
			raw[i] = nil
		} else if rule, _ := fd.rules.check(raw[i]); rule != "" {
			raw[i] = nil
		}
	}
	schema, _ := f.m.appendSchema(nil, false, raw)
	return schema
}

// LegacySchema is the schema in the shape of revision 2025-06-18: a choice is enum, with enumNames where options have titles,
// and only booleans have a default. That revision has no field for several choices; a form that has one is an error that names
// it. So is a form that is wrong.
func (f *Form[T]) LegacySchema() (json.RawMessage, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	return f.m.appendSchema(nil, true, nil)
}

// appendSchema appends the schema. defaults are raw values to use as default, by field; nil for the author's.
func (m *model) appendSchema(b []byte, legacy bool, defaults [][]byte) ([]byte, error) {
	b = append(b, `{"type":"object","properties":{`...)
	for i := range m.fields {
		f := &m.fields[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendString(b, f.name), `:{"type":"`...)
		b = append(b, f.rules.typeName()...)
		b = rawjson.AppendString(append(b, `","title":`...), f.title)
		if f.description != "" {
			b = rawjson.AppendString(append(b, `,"description":`...), f.description)
		}
		var ok bool
		if b, ok = f.rules.appendTo(b, legacy); !ok {
			return nil, fmt.Errorf("form: field %q: protocol revision 2025-06-18 cannot ask for several choices in one field", f.name)
		}
		_, isBool := f.rules.(*boolRules)
		switch {
		case legacy && !isBool:
		case defaults != nil && defaults[i] != nil:
			b = f.appendGiven(append(b, `,"default":`...), defaults[i])
		case f.defJSON != nil:
			b = append(append(b, `,"default":`...), f.defJSON...)
		}
		b = append(b, '}')
	}
	b = append(b, '}')
	first := true
	for i := range m.fields {
		if !m.fields[i].required {
			continue
		}
		if first {
			b = append(b, `,"required":[`...)
		} else {
			b = append(b, ',')
		}
		first = false
		b = rawjson.AppendString(b, m.fields[i].name)
	}
	if !first {
		b = append(b, ']')
	}
	return append(b, '}'), nil
}
