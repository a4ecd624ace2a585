package lint

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/sensitive"
	"golang.org/x/tools/go/analysis"
)

// BareSchema reports schemas that are written by hand for an MCP library and that clients cannot show, or should not.
var BareSchema = rule("elicit009", `a requestedSchema must keep to the profile, and ask for no credential

MCP lets a form be a flat object of texts, numbers, yes or no, and choices (client/elicitation, "Requested Schema"). Clients show nothing else: a nested object,
a pattern, a list of texts is left out, or the request is refused. A form must not ask for passwords, keys, tokens or payment
credentials. This rule looks at the literals that are given to mcp.ElicitParams of the Go SDK, and to ElicitationParams of mcp-go.

Keep to the profile, or let package form write the schema. Ask for credentials on a page of your own (URL mode).`, runBareSchema)

func runBareSchema(r *reporter) error {
	if path := r.Pkg.Path(); path != sdkPath && path != mcpgoPath && !slices.ContainsFunc(r.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == sdkPath || p.Path() == mcpgoPath }) {
		return nil
	}
	s := &schemaReader{reporter: r, folder: newFolder(r)}
	for _, file := range r.Files {
		if isTest(r.Fset, file.Pos()) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				if t := r.TypesInfo.TypeOf(lit); isNamed(t, sdkPath, "ElicitParams") || isNamed(t, mcpgoPath, "ElicitationParams") {
					s.params(lit)
				}
			}
			return true
		})
	}
	return nil
}

// params looks at the parameters of an elicitation.
func (s *schemaReader) params(lit *ast.CompositeLit) {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		key, ok := kv.Key.(*ast.Ident)
		if !ok {
			return
		}
		switch key.Name {
		case "Mode":
			if tv := s.TypesInfo.Types[kv.Value]; tv.Value != nil && tv.Value.ExactString() == `"url"` {
				return
			}
		case "Message":
			v, ok := s.folder.eval(kv.Value)
			if !ok {
				continue
			}
			if word := sensitive.InText(v.String()); word != "" {
				s.reportf(kv.Value.Pos(), "the message asks for a credential (%q), which must not go through a form (MCP 2026-07-28, client/elicitation); ask for it in URL mode", word)
			} else if link := sensitive.URL(v.String()); link != "" {
				s.reportf(kv.Value.Pos(), "the message has a link (%s), which a form must not lead people to (MCP 2026-07-28, client/elicitation, Safe URL Handling)", link)
			}
		case "RequestedSchema":
			s.check(kv.Value)
		}
	}
}

// check looks at a schema, with the code that reads schemas of others when elicit asks on their behalf.
func (s *schemaReader) check(e ast.Expr) {
	s.at = map[string]token.Pos{}
	value := s.read(e, 0)
	schema, ok := value.(map[string]any)
	if !ok {
		return
	}
	if _, ok := schema["properties"].(unknown); ok {
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property, ok := p.(map[string]any)
		if _, typed := property["type"].(unknown); !ok || typed {
			delete(properties, name) // made at run time
			continue
		}
		for _, k := range []string{"enum", "oneOf", "anyOf", "items", "const"} {
			if hasUnknown(property[k]) {
				delete(properties, name)
			}
		}
		if list, ok := property["type"].([]any); ok {
			s.found(e, name, fmt.Sprintf("field %q: its type is a list; a form's field has one type, and may be left out where it is not required", name))
			delete(properties, name)
			_ = list
		}
	}
	if names, ok := schema["required"].([]any); ok {
		schema["required"] = slices.DeleteFunc(names, func(v any) bool { name, ok := v.(string); return !ok || properties[name] == nil })
	} else {
		delete(schema, "required")
	}
	raw, err := json.Marshal(clear(schema))
	if err != nil {
		return
	}
	f, ignored, err := form.Parse(raw)
	if err != nil {
		what := strings.TrimPrefix(err.Error(), "form: the schema cannot be used: ")
		s.found(e, fieldIn(what), "clients cannot use this schema: "+what)
		return
	}
	for _, i := range ignored {
		if i.Field == "" && (i.What == "title" || i.What == "description" || i.What == "default") {
			continue // words that do no harm
		}
		s.found(e, i.Field, i.String())
	}
	for name, p := range f.Fields() {
		if p.Credential != "" {
			s.found(e, name, fmt.Sprintf("field %q asks for a credential (%q), which must not go through a form (MCP 2026-07-28, client/elicitation); ask for it in URL mode", name, p.Credential))
		}
		for _, words := range []string{p.Title, p.Description} {
			if link := sensitive.URL(words); link != "" {
				s.found(e, name, fmt.Sprintf("field %q has a link (%s), which a form must not lead people to (MCP 2026-07-28, client/elicitation, Safe URL Handling)", name, link))
			}
		}
	}
}

// found reports something about a field, where that is written.
func (s *schemaReader) found(e ast.Expr, field, what string) {
	pos := e.Pos()
	if p, ok := s.at[field]; ok && field != "" {
		pos = p
	}
	s.report(analysis.Diagnostic{Pos: pos, Message: what})
}

// fieldIn is the field that a text of form.Parse is about.
func fieldIn(what string) string {
	if rest, ok := strings.CutPrefix(what, "field "); ok {
		if q, err := strconv.QuotedPrefix(rest); err == nil {
			name, _ := strconv.Unquote(q)
			return name
		}
	}
	return ""
}

// A schemaReader reads JSON from source.
type schemaReader struct {
	*reporter
	folder *folder
	at     map[string]token.Pos // of properties
}

// unknown is a value that is made at run time.
type unknown struct{}

func hasUnknown(v any) bool {
	switch v := v.(type) {
	case unknown:
		return true
	case []any:
		return slices.ContainsFunc(v, hasUnknown)
	case map[string]any:
		for _, x := range v {
			if hasUnknown(x) {
				return true
			}
		}
	}
	return false
}

// clear leaves out what is not known.
func clear(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, x := range v {
			if _, no := x.(unknown); !no {
				out = append(out, clear(x))
			}
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if _, no := x.(unknown); !no {
				out[k] = clear(x)
			}
		}
		return out
	}
	return v
}

// read is the JSON that an expression becomes.
func (s *schemaReader) read(e ast.Expr, depth int) any {
	if depth > 50 {
		return unknown{}
	}
	e = ast.Unparen(e)
	if tv := s.TypesInfo.Types[e]; tv.Value != nil {
		v, ok := constantOf(tv.Value, tv.Type)
		if !ok {
			return unknown{}
		}
		return v.Interface()
	}
	switch e := e.(type) {
	case *ast.Ident:
		if e.Name == "nil" {
			return nil
		}
		if rhs := s.folder.once[s.TypesInfo.Uses[e]]; rhs != nil {
			return s.read(rhs, depth+1)
		}
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return s.read(e.X, depth+1)
		}
	case *ast.CallExpr:
		if s.TypesInfo.Types[e.Fun].IsType() && len(e.Args) == 1 { // json.RawMessage(`…`)
			text, ok := s.read(e.Args[0], depth+1).(string)
			var v any
			if !ok || json.Unmarshal([]byte(text), &v) != nil {
				return unknown{}
			}
			return v
		}
		// jsonschema.Ptr(1.0), and what others call it
		if fn := s.folder.function(e); fn != nil && len(e.Args) == 1 && (strings.EqualFold(fn.Name(), "ptr") || strings.EqualFold(fn.Name(), "pointer") || strings.EqualFold(fn.Name(), "to")) {
			return s.read(e.Args[0], depth+1)
		}
	case *ast.CompositeLit:
		return s.literal(e, depth)
	}
	return unknown{}
}

func (s *schemaReader) literal(lit *ast.CompositeLit, depth int) any {
	t := s.TypesInfo.TypeOf(lit)
	if t == nil {
		return unknown{}
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // elements of a map of pointers
		t = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		list := []any{}
		for _, e := range lit.Elts {
			if _, keyed := e.(*ast.KeyValueExpr); keyed {
				return unknown{}
			}
			list = append(list, s.read(e, depth+1))
		}
		return list
	case *types.Map:
		m := map[string]any{}
		for _, e := range lit.Elts {
			kv := e.(*ast.KeyValueExpr)
			key, ok := s.read(kv.Key, depth+1).(string)
			if !ok {
				return unknown{}
			}
			if _, there := s.at[key]; !there || isObject(s.TypesInfo.TypeOf(kv.Value)) {
				s.at[key] = kv.Pos()
			}
			m[key] = s.read(kv.Value, depth+1)
		}
		return m
	case *types.Struct:
		m := map[string]any{}
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return unknown{}
			}
			name := jsonName(u, kv.Key.(*ast.Ident).Name)
			if name == "" {
				continue
			}
			m[name] = s.read(kv.Value, depth+1)
		}
		return m
	}
	return unknown{}
}

func isObject(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t.Underlying().(type) {
	case *types.Map, *types.Struct, *types.Interface:
		return true
	}
	return false
}

// jsonName is the name of a field in JSON, "" if it is not there. The fields of a jsonschema.Schema that its methods write are known.
func jsonName(s *types.Struct, field string) string {
	switch field {
	case "Type", "Types":
		return "type"
	case "Items", "ItemsArray":
		return "items"
	case "PropertyOrder", "Extra":
		return ""
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() != field {
			continue
		}
		tag, _, _ := strings.Cut(reflect.StructTag(s.Tag(i)).Get("json"), ",")
		switch tag {
		case "-":
			return ""
		case "":
			return field
		}
		return tag
	}
	return ""
}
