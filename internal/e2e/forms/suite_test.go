package forms

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/form"

	// For their testdata; without these, go mod tidy would drop the modules.
	_ "github.com/google/jsonschema-go/jsonschema"
	_ "github.com/santhosh-tekuri/jsonschema"
)

// A suiteGroup is a schema of JSON-Schema-Test-Suite and what it says of some data.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// moduleDir is where a module's source is.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
		return dir
	}
	t.Fatalf("module %s is not there: %v", module, err)
	return ""
}

func suiteFile(t *testing.T, path string) []suiteGroup {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(b, &groups); err != nil {
		t.Fatal(err)
	}
	return groups
}

// jsonType is the JSON Schema type of a value.
func jsonType(v json.RawMessage) string {
	switch s := strings.TrimSpace(string(v)); s[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	case '[':
		return "array"
	case '{':
		return "object"
	}
	return "number"
}

// differ are the cases on which we do not agree with the suite, and why.
var differ = map[string]string{
	"uniqueItems: uniqueItems=false validation: non-unique array of integers is valid": "a choice is made or not, so each counts once, whatever the schema says",
}

// A suite counts what it ran, so that it cannot pass by running nothing.
type suite struct {
	t         *testing.T
	ran, left int
	seen      map[string]bool
}

// check runs one case against a form with the field x, or a whole form if object is set.
func (s *suite) check(name string, schema string, content string, valid bool) {
	s.t.Helper()
	f, ignored, err := form.Parse([]byte(schema))
	if err != nil {
		s.left++
		return
	}
	for _, i := range ignored {
		// A default is not a rule; all else that was ignored might be one.
		if i.What != "default" {
			s.left++
			return
		}
	}
	s.ran++
	problems := f.Validate([]byte(content))
	reason, documented := differ[name]
	s.seen[name] = true
	switch agree := (problems == nil) == valid; {
	case !agree && !documented:
		s.t.Errorf("%s: %s against %s: valid %t, we say %v", name, content, schema, valid, problems)
	case agree && documented:
		s.t.Errorf("%s: no longer differs (%s)", name, reason)
	}
}

// typed is a schema with a type, as forms need one.
func typed(schema json.RawMessage, typ string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(schema, &m) != nil {
		return string(schema)
	}
	if _, ok := m["type"]; !ok && typ != "" {
		m["type"] = json.RawMessage(`"` + typ + `"`)
	}
	delete(m, "$schema")
	b, _ := json.Marshal(m)
	return string(b)
}

// The suite's cases for the keywords of forms. A case says what a schema without a type makes of any value; forms have a type, so
// those for values of another type do not apply.
func TestSuiteKeywords(t *testing.T) {
	dir := filepath.Join(moduleDir(t, "github.com/google/jsonschema-go"), "jsonschema", "testdata", "draft2020-12")
	s := &suite{t: t, seen: map[string]bool{}}
	types := map[string][]string{
		"type": {""}, "minLength": {"string"}, "maxLength": {"string"}, "minimum": {"number", "integer"}, "maximum": {"number", "integer"}, "const": {"string"}, "enum": {"string"}, "oneOf": {"string"}, "anyOf": {"string"},
	}
	for _, keyword := range []string{"type", "minLength", "maxLength", "minimum", "maximum", "const", "enum", "oneOf", "anyOf"} {
		before := s.ran
		for _, g := range suiteFile(t, filepath.Join(dir, keyword+".json")) {
			for _, typ := range types[keyword] {
				schema := `{"type":"object","properties":{"x":` + typed(g.Schema, typ) + `},"required":["x"]}`
				for _, c := range g.Tests {
					switch jt := jsonType(c.Data); {
					case typ == "integer" && jt == "number" && strings.ContainsAny(string(c.Data), ".eE"), typ != "" && jt != typ && !(jt == "number" && typ == "integer"):
						s.left++
						continue
					}
					s.check(keyword+": "+g.Description+": "+c.Description, schema, `{"x":`+string(c.Data)+`}`, c.Valid)
				}
			}
		}
		if s.ran == before && keyword != "oneOf" && keyword != "anyOf" {
			t.Errorf("no case of %s ran", keyword)
		}
	}
	// Lists of forms hold options, so numbers become the options that they are written as.
	for _, keyword := range []string{"minItems", "maxItems", "uniqueItems"} {
		before := s.ran
		for _, g := range suiteFile(t, filepath.Join(dir, keyword+".json")) {
			for _, c := range g.Tests {
				var list, options []json.RawMessage
				if jsonType(c.Data) != "array" || json.Unmarshal(c.Data, &list) != nil || slices.ContainsFunc(list, func(v json.RawMessage) bool {
					return jsonType(v) != "string" && (jsonType(v) != "number" || strings.ContainsAny(string(v), ".eE"))
				}) {
					s.left++
					continue
				}
				for i, v := range list {
					list[i] = json.RawMessage(fmt.Sprintf("%q", v))
					if !slices.ContainsFunc(options, func(o json.RawMessage) bool { return string(o) == string(list[i]) }) {
						options = append(options, list[i])
					}
				}
				for i := range 3 { // so that minItems can be met
					options = append(options, json.RawMessage(fmt.Sprintf("%q", fmt.Sprint("option", i))))
				}
				var m map[string]json.RawMessage
				if json.Unmarshal(g.Schema, &m) != nil {
					s.left++
					continue
				}
				if len(list) == 0 {
					list = []json.RawMessage{}
				}
				if _, ok := m["items"]; ok {
					s.left++
					continue
				}
				m["items"], _ = json.Marshal(map[string]any{"type": "string", "enum": options})
				if keyword == "uniqueItems" {
					delete(m, "uniqueItems") // forms have no such keyword, and are unique always
				}
				b, _ := json.Marshal(m)
				content, _ := json.Marshal(map[string]any{"x": list})
				s.check(keyword+": "+g.Description+": "+c.Description, `{"type":"object","properties":{"x":`+typed(b, "array")+`},"required":["x"]}`, string(content), c.Valid)
			}
		}
		if s.ran == before {
			t.Errorf("no case of %s ran", keyword)
		}
	}
	// Whole objects.
	for _, keyword := range []string{"required", "properties", "default", "enum"} {
		before := s.ran
		for _, g := range suiteFile(t, filepath.Join(dir, keyword+".json")) {
			for _, c := range g.Tests {
				if jsonType(c.Data) != "object" {
					s.left++
					continue
				}
				var m map[string]json.RawMessage
				var properties, data map[string]json.RawMessage
				if json.Unmarshal(g.Schema, &m) != nil || json.Unmarshal(m["properties"], &properties) != nil || json.Unmarshal(c.Data, &data) != nil {
					s.left++
					continue
				}
				// A property without a type has that of the data.
				for name, p := range properties {
					typ := "string"
					if v, ok := data[name]; ok && !strings.Contains(string(p), "enum") {
						typ = jsonType(v)
					}
					properties[name] = json.RawMessage(typed(p, typ))
				}
				m["properties"], _ = json.Marshal(properties)
				b, _ := json.Marshal(m)
				s.check(keyword+": "+g.Description+": "+c.Description, typed(b, "object"), string(c.Data), c.Valid)
			}
		}
		if s.ran == before {
			t.Errorf("no whole object of %s ran", keyword)
		}
	}
	s.finish("uniqueItems", 100)
}

// The suite's cases for the formats of forms.
func TestSuiteFormats(t *testing.T) {
	dir := filepath.Join(moduleDir(t, "github.com/santhosh-tekuri/jsonschema"), "testdata", "draft7", "optional", "format")
	s := &suite{t: t, seen: map[string]bool{}}
	for _, format := range []string{"email", "uri", "date", "date-time"} {
		for _, g := range suiteFile(t, filepath.Join(dir, format+".json")) {
			for _, c := range g.Tests {
				if jsonType(c.Data) != "string" {
					s.left++
					continue
				}
				s.check(format+": "+g.Description+": "+c.Description, `{"type":"object","properties":{"x":`+typed(g.Schema, "string")+`},"required":["x"]}`, `{"x":`+string(c.Data)+`}`, c.Valid)
			}
		}
	}
	s.finish("format", 30)
}

func (s *suite) finish(what string, least int) {
	s.t.Helper()
	s.t.Logf("%d cases agree, or differ for a documented reason; %d are about what forms do not have", s.ran, s.left)
	if s.ran < least {
		s.t.Errorf("only %d cases ran", s.ran)
	}
	for name := range differ {
		if strings.HasPrefix(name, what) && !s.seen[name] {
			s.t.Errorf("there is no case %q", name)
		}
	}
}
