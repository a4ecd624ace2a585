package forms

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "write the tables of docs/forms.md")

// kinds are the rows of the first table of docs/forms.md: every kind with every option, alone and together.
var kinds = map[string][]form.Field{
	"Text": {
		form.String("x"),
		form.String("x").Title("T"),
		form.String("x").Titlef("Note on %s", "7"),
		form.String("x").Description("D"),
		form.String("x").Descriptionf("For %s", "7"),
		form.String("x").Required(),
		form.String("x").Required().Optional(),
		form.String("x").Default("a"),
		form.String("x").MinLength(2),
		form.String("x").MaxLength(8),
		form.String("apiKey").NotCredential(),
		form.String("x").Title("T").Description("D").MinLength(2).MaxLength(8).Default("abc").Required(),
	},
	"E-mail address": {
		form.Email("x"),
		form.Email("x").Title("T").Description("D").MaxLength(50).Default("a@example.com").Required(),
		form.Email("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7"),
		form.Email("x").NotCredential().Optional(),
	},
	"URI": {
		form.URI("x"),
		form.URI("x").Title("T").Description("D").MaxLength(50).Default("https://example.com/").Required(),
		form.URI("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7"),
		form.URI("x").NotCredential().Optional(),
	},
	"Date": {
		form.Date("x"),
		form.Date("x").Title("T").Description("D").Default(time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)).Required(),
		form.Date("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7").Optional(),
	},
	"Date and time": {
		form.DateTime("x"),
		form.DateTime("x").Title("T").Description("D").Default(time.Date(2026, 7, 28, 14, 30, 0, 0, time.UTC)).Required(),
		form.DateTime("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7").Optional(),
	},
	"A type's own text": {
		form.Text[netip.Addr]("x"),
		form.Text[netip.Addr]("x").Title("T").Description("D").MinLength(3).MaxLength(40).Default(netip.IPv6Loopback()).Required(),
		form.Text[netip.Addr]("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7").NotCredential().Optional(),
	},
	"Whole number": {
		form.Int("x"),
		form.Int("x").Min(1),
		form.Int("x").Max(10),
		form.Int("x").Range(1, 10),
		form.Int("x").Default(3),
		form.Int("x").Title("T").Description("D").Range(-1, 9007199254740993).Default(0).Required(),
		form.Int("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7").NotCredential().Optional(),
	},
	"Number": {
		form.Number("x"),
		form.Number("x").Min(0.5),
		form.Number("x").Max(10),
		form.Number("x").Range(-1.5, 1e21),
		form.Number("x").Default(0.1),
		form.Number("x").Title("T").Description("D").Range(0, 1).Default(0.5).Required(),
		form.Number("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7").NotCredential().Optional(),
	},
	"Yes or no": {
		form.Bool("x"),
		form.Bool("x").Default(false),
		form.Bool("x").Title("T").Description("D").Default(true).Required(),
		form.Bool("x").Titlef("Of %s", "Ada").Descriptionf("For %s", "7").Optional(),
	},
	"One of several options": {
		form.Choice("x", form.Options("a", "b")...),
		form.Choice("x", form.Opt("a", "A"), form.Opt("b", "B")),
		form.Choice("x", form.Opt("a", "A"), form.Opt("b", "")),
		form.Choice("x", form.Opt("a", "A"), form.Opt("b", "B")).Title("T").Description("D").Default("b").Required(),
		form.Choice("x", form.Options("a", "b")...).Titlef("Of %s", "Ada").Descriptionf("For %s", "7").Optional(),
		form.Choice("x", form.Opt(time.Monday, "Mon"), form.Opt(time.Tuesday, "Tue")),
	},
	"Several of several options": {
		form.Choices("x", form.Options("a", "b")...),
		form.Choices("x", form.Opt("a", "A"), form.Opt("b", "B")),
		form.Choices("x", form.Options("a", "b")...).AtLeast(1),
		form.Choices("x", form.Options("a", "b", "c")...).AtMost(2),
		form.Choices("x", form.Opt("a", "A"), form.Opt("b", "B")).Title("T").Description("D").AtLeast(1).AtMost(2).Default("a", "b").Required(),
		form.Choices("x", form.Options("a", "b")...).Titlef("Of %s", "Ada").Descriptionf("For %s", "7").Optional(),
	},
}

// size is an enum as Go programs have them.
type size int

const (
	small size = iota
	large
)

func (s size) String() string { return [...]string{"small", "large"}[s] }

func (size) ElicitOptions() []form.Option[size] {
	return []form.Option[size]{form.Opt(small, "Small"), form.Opt(large, "Large")}
}

// goTypes are the rows of the second table: what For makes of a Go type and a tag.
type goTypes struct {
	A  string
	B  string        `elicit:"title=T,minLength=2,maxLength=8,default=abc"`
	C  string        `elicit:"format=email"`
	D  string        `elicit:"format=uri,optional"`
	E  string        `elicit:"enum=a|b,enumTitles=A|B"`
	F  []string      `elicit:"enum=a|b|c,minItems=1,maxItems=2"`
	G  *string       `jsonschema:"said in the tag"`
	H  int           `json:"h,omitempty"`
	I  int8          `elicit:"min=1,max=10,default=3"`
	J  int32         `elicit:"required"`
	K  uint          `json:"k"`
	L  uint16        `json:"l"`
	M  uint64        `json:"m"`
	N  float32       `elicit:"min=0.5"`
	O  float64       `json:"o,omitzero"`
	P  bool          `elicit:"default=true"`
	Q  time.Time     `json:"q"`
	R  time.Time     `elicit:"format=date"`
	S  form.Day      `json:"s"`
	T  url.URL       `json:"t"`
	U  *url.URL      `json:"u"`
	V  mail.Address  `json:"v"`
	W  netip.Addr    `json:"w"`
	X  size          `json:"x"`
	Y  []size        `json:"y"`
	Z  *size         `elicit:"default=large"`
	AA *netip.Prefix `json:"aa"`
	AB *form.Day     `elicit:"notCredential"`
}

// A row is a line of a table.
type row struct {
	code   string
	schema json.RawMessage
	legacy json.RawMessage
	why    string // there is no legacy
}

func rowOf[T any](t *testing.T, code string, f *form.Form[T]) row {
	t.Helper()
	if err := f.Err(); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	r := row{code: code, schema: f.Schema()}
	var err error
	if r.legacy, err = f.LegacySchema(); err != nil {
		r.why = "cannot be asked"
	}
	return r
}

// source parses this file, whose own text is what the tables show.
func source(t *testing.T) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "table_test.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return fset, f
}

func text(t *testing.T, fset *token.FileSet, n ast.Node) string {
	t.Helper()
	var b bytes.Buffer
	if err := printer.Fprint(&b, fset, n); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

type section struct {
	title string
	rows  []row
}

// kindRows are the rows of kinds, in the order of this file.
func kindRows(t *testing.T) (sections []section) {
	fset, file := source(t)
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Names[0].Name != "kinds" {
			return true
		}
		for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
			kv := e.(*ast.KeyValueExpr)
			s := section{title: strings.Trim(text(t, fset, kv.Key), `"`)}
			exprs := kv.Value.(*ast.CompositeLit).Elts
			if len(exprs) != len(kinds[s.title]) {
				t.Fatalf("%s: %d expressions, %d fields", s.title, len(exprs), len(kinds[s.title]))
			}
			for i, x := range kinds[s.title] {
				s.rows = append(s.rows, rowOf(t, text(t, fset, exprs[i]), form.New(x)))
			}
			sections = append(sections, s)
		}
		return false
	})
	return sections
}

// typeRows are the rows of goTypes.
func typeRows(t *testing.T) (rows []row) {
	fset, file := source(t)
	f := form.For[goTypes]()
	all := rowOf(t, "", f)
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.TypeSpec)
		if !ok || s.Name.Name != "goTypes" {
			return true
		}
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(all.schema, &schema); err != nil {
			t.Fatal(err)
		}
		for i, fd := range s.Type.(*ast.StructType).Fields.List {
			sf := reflect.TypeFor[goTypes]().Field(i)
			name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
			if name == "" {
				name = sf.Name
			}
			// The shape of a whole form, so that all rows look alike.
			one := `{"type":"object","properties":{` + fmt.Sprintf("%q", name) + `:` + string(schema.Properties[name]) + `}`
			if slices.Contains(schema.Required, name) {
				one += `,"required":[` + fmt.Sprintf("%q", name) + `]`
			}
			code := text(t, fset, fd.Type)
			if fd.Tag != nil {
				code += " " + fd.Tag.Value
			}
			rows = append(rows, row{code: code, schema: json.RawMessage(one + "}")})
		}
		return false
	})
	return rows
}

var wrapper = regexp.MustCompile(`^\{"type":"object","properties":\{"\w+":(.*)\}(,"required":\["\w+"\])?\}$`)

// property is what the table shows of a schema: the property, and whether it is required.
func property(t *testing.T, schema json.RawMessage) string {
	t.Helper()
	m := wrapper.FindSubmatch(schema)
	if m == nil {
		t.Fatalf("%s is no form of one field", schema)
	}
	return string(m[1])
}

func isRequired(schema json.RawMessage) bool {
	return bytes.Contains(schema, []byte(`,"required":[`))
}

// cell is text as code in a Markdown table.
func cell(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

func kindTable(t *testing.T) string {
	var b strings.Builder
	for _, s := range kindRows(t) {
		fmt.Fprintf(&b, "\n### %s\n\n| Go | `properties.x` | in `required` | to clients of 2025-06-18, where it differs |\n| - | - | - | - |\n", s.title)
		for _, r := range s.rows {
			p, req, old := property(t, r.schema), "", r.why
			if isRequired(r.schema) {
				req = "yes"
			}
			if r.legacy != nil {
				if q := property(t, r.legacy); q != p {
					old = cell(q)
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(r.code), cell(p), req, old)
		}
	}
	return b.String()
}

func typeTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n| Go type and tag | property | in `required` |\n| - | - | - |\n")
	for _, r := range typeRows(t) {
		req := ""
		if isRequired(r.schema) {
			req = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.code), cell(property(t, r.schema)), req)
	}
	return b.String()
}

// TestTables: docs/forms.md shows what the code does.
func TestTables(t *testing.T) {
	path := filepath.Join(harness.Root(), "docs", "forms.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := string(page)
	for name, table := range map[string]string{"kinds": kindTable(t), "types": typeTable(t)} {
		begin, end := "<!-- "+name+": generated -->\n", "\n<!-- "+name+": end -->"
		i, j := strings.Index(now, begin), strings.Index(now, end)
		if i < 0 || j < i {
			t.Fatalf("docs/forms.md has no place for the table %s", name)
		}
		now = now[:i+len(begin)] + table + now[j:]
	}
	if now == string(page) {
		return
	}
	if !*update {
		t.Fatal("the tables of docs/forms.md are not what the code gives: run go test ./internal/e2e/forms -run TestTables -update")
	}
	if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every method of every kind is in the table.
func TestTableIsComplete(t *testing.T) {
	for _, s := range kindRows(t) {
		typ := reflect.TypeOf(kinds[s.title][0])
		for i := range typ.NumMethod() {
			name := typ.Method(i).Name
			if name == "In" || name == "Set" {
				continue
			}
			if !slices.ContainsFunc(s.rows, func(r row) bool { return strings.Contains(r.code, "."+name+"(") }) {
				t.Errorf("%s: no row has %s", s.title, name)
			}
		}
	}
}

// schemas are those of the whole table, in both shapes, with what they are of.
func schemas(t *testing.T) (list []json.RawMessage, code []string) {
	for _, s := range kindRows(t) {
		for _, r := range s.rows {
			list, code = append(list, r.schema), append(code, r.code)
			if r.legacy != nil {
				list, code = append(list, r.legacy), append(code, r.code+" (2025-06-18)")
			}
		}
	}
	for _, r := range typeRows(t) {
		list, code = append(list, r.schema), append(code, r.code)
	}
	all := form.For[goTypes]()
	list, code = append(list, all.Schema(), form.New().Schema()), append(code, "all Go types", "no fields")
	return list, code
}

// The TypeScript SDK accepts every row of the table, and knows every keyword in it.
func TestTypeScriptAccepts(t *testing.T) {
	node := harness.Node(t)
	list, code := schemas(t)
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join(harness.NodeDir(), "form-params.mjs"))
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []*string
	if err := json.Unmarshal(out, &verdicts); err != nil || len(verdicts) != len(list) {
		t.Fatalf("%d verdicts: %v", len(verdicts), err)
	}
	for i, v := range verdicts {
		if v != nil {
			t.Errorf("%s: %s: %s", code[i], list[i], *v)
		}
	}
	t.Logf("%d schemas accepted", len(verdicts))
}

// go-sdk's client lets every row of the table through to its handler.
func TestGoClientAccepts(t *testing.T) {
	ctx := t.Context()
	asked := 0
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	// 2025-11-25 is the latest revision in which a server asks a client directly.
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	ct, st := mcp.NewInMemoryTransports()
	ss, err := server.Connect(ctx, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ss.Close()
	cs, err := client.Connect(ctx, ct, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	list, code := schemas(t)
	for i, schema := range list {
		if _, err := ss.Elicit(ctx, &mcp.ElicitParams{Message: "Please answer.", RequestedSchema: schema}); err != nil {
			t.Errorf("%s: %s: %v", code[i], schema, err)
		}
	}
	if asked != len(list) {
		t.Errorf("%d of %d schemas reached the client's handler", asked, len(list))
	}
}
