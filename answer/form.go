package answer

import (
	"encoding/json"
	"fmt"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/rawjson"
)

// Form reads the question's form for showing it: its fields in the server's order by [form.Form.Fields], and the check of
// an answer by [form.Form.Validate], with the sentences that a server of this library would use. A question without a
// schema has a form without fields. A schema that no form can be made of is an error that says why: see [form.Parse].
func (r *Request) Form() (*form.Form[form.Values], error) {
	f, _, err := form.Parse(r.Schema)
	if err != nil {
		return nil, fmt.Errorf("the form of %s cannot be shown: %w", question(r.Key), err)
	}
	return f, nil
}

// Start is what a person starts from: for each field the value answered before where the server asks again, else its
// default. given, which may be nil, goes before both, as where flags have answered some of the fields. Texts are as [Plain]
// leaves them, so that what is shown can be sent.
func (r *Request) Start(f *form.Form[form.Values], given map[string]any) map[string]json.RawMessage {
	start := map[string]json.RawMessage{}
	for name, p := range f.Fields() {
		take := func(v any) {
			data, err := json.Marshal(v)
			if err != nil || rawjson.Kind(data) == 'n' {
				return
			}
			if text, ok := rawjson.String(data); ok && p.Options == nil {
				data = rawjson.AppendString(nil, Plain(text))
			}
			start[name] = data
		}
		if p.Default != nil {
			take(p.Default)
		}
		if r.Previous != nil {
			if v, ok := r.Previous.Content[name]; ok {
				take(v)
			}
		}
		if v, ok := given[name]; ok {
			take(v)
		}
	}
	return start
}
