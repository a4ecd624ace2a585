package form

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// A ruleTest is an answer to a form of one field, x, and the rule that it breaks; "" for none. Value is the value as rules has it.
type ruleTest struct {
	value string // raw JSON of the member x
	rule  string
}

// testRules checks answers to the field, and that a default is held to the same rules.
func testRules(t *testing.T, x Field, tests []ruleTest) {
	t.Helper()
	f := New(x)
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		content := []byte(`{"x":` + tt.value + `}`)
		problems := f.Validate(content)
		d, same := f.Decode(content)
		if len(problems) != len(same) {
			t.Errorf("%s: Validate has %d problems, Decode %d", tt.value, len(problems), len(same))
		}
		if tt.rule == "" {
			if problems != nil {
				t.Errorf("%s: %+v", tt.value, problems)
				continue
			}
			again, problems := f.Decode(d.Content())
			if problems != nil || string(again.Content()) != string(d.Content()) {
				t.Errorf("%s: decoding Content() %s again: %s %v", tt.value, d.Content(), again.Content(), problems)
			}
			if encoded, err := f.Encode(d.Value); err != nil {
				t.Errorf("%s: Encode: %v", tt.value, err)
			} else if again, problems := f.Decode(encoded); problems != nil {
				t.Errorf("%s: Encode gives %s: %v", tt.value, encoded, problems)
			} else if b, err := f.Encode(again.Value); err != nil || string(b) != string(encoded) {
				t.Errorf("%s: %s encodes again as %s", tt.value, encoded, b)
			}
			continue
		}
		if len(problems) != 1 || problems[0].Rule != tt.rule || problems[0].Field != "x" || problems[0].Title != "X" {
			t.Errorf("%s: %+v, want the rule %s", tt.value, problems, tt.rule)
			continue
		}
		p := problems[0]
		if !strings.HasPrefix(p.Requirement, "X ") && !strings.HasPrefix(p.Requirement, "X: ") || !strings.HasSuffix(p.Requirement, ".") ||
			!strings.HasPrefix(p.Message, strings.TrimSuffix(p.Requirement, ".")) {
			t.Errorf("%s: %+v", tt.value, p)
		}
		if d.Content() != nil || d.Given("x") {
			t.Errorf("%s: a Decoded in spite of problems", tt.value)
		}
	}
}

// property is the schema of the one field of a form.
func property(t *testing.T, x Field) string {
	t.Helper()
	f := New(x)
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	return propertyOf(t, f.Schema())
}

func propertyOf(t *testing.T, schema json.RawMessage) string {
	t.Helper()
	if err := rawjson.Check(schema, rawjson.MaxDepth); err != nil {
		t.Fatalf("%v: %s", err, schema)
	}
	properties, _ := rawjson.Get(schema, "properties")
	for _, p := range rawjson.Members(properties) {
		return string(p)
	}
	return ""
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// decode is the value of a valid answer.
func decode[T any](t *testing.T, f *Form[T], content string) T {
	t.Helper()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	d, problems := f.Decode([]byte(content))
	if problems != nil {
		t.Fatalf("%s: %+v", content, problems)
	}
	return d.Value
}

func message(t *testing.T, x Field, value string) string {
	t.Helper()
	problems := New(x).Validate([]byte(`{"` + x.spec().name + `":` + value + `}`))
	if len(problems) != 1 {
		t.Fatalf("%s: %+v", value, problems)
	}
	return problems[0].Message
}
