package form

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func parse(t *testing.T, schema string) (*Form[Values], string) {
	t.Helper()
	f, ignored, err := Parse([]byte(schema))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	var lines []string
	for _, i := range ignored {
		lines = append(lines, i.String())
	}
	return f, strings.Join(lines, "\n")
}

// What this package writes, it reads back as it was.
func TestParseOwnSchemas(t *testing.T) {
	for _, schema := range []string{
		string(wide().Schema()), string(For[everything]().Schema()), string(shipmentForm().Schema()), string(New().Schema()), string(wide().SchemaWithDefaults([]byte(wideAnswer))),
	} {
		f, ignored := parse(t, schema)
		same(t, "Schema", string(f.Schema()), schema)
		same(t, "ignored", ignored, "")
	}
	legacy, err := New(Choice("c", Opt("a", "A"), Opt("b", "B")), Choice("d", Options("x")...).Required(), Bool("e").Default(true)).LegacySchema()
	if err != nil {
		t.Fatal(err)
	}
	f, ignored := parse(t, string(legacy))
	same(t, "ignored", ignored, "")
	again, _ := f.LegacySchema()
	same(t, "LegacySchema", string(again), string(legacy))
}

// The examples of the specification, client/elicitation, "Requested Schema".
func TestParseSpecification(t *testing.T) {
	for _, tt := range [][2]string{
		{`{"type":"string","title":"Display Name","description":"Description text","minLength":3,"maxLength":50,"format":"email","default":"user@example.com"}`, ""},
		{`{"type":"number","title":"Display Name","description":"Description text","minimum":0,"maximum":100,"default":50}`, ""},
		{`{"type":"integer","title":"T","minimum":0,"maximum":100,"default":50}`, ""},
		{`{"type":"boolean","title":"Display Name","description":"Description text","default":false}`, ""},
		{`{"type":"string","title":"Color Selection","description":"Choose your favorite color","enum":["Red","Green","Blue"],"default":"Red"}`, ""},
		{`{"type":"string","title":"Color Selection","description":"Choose your favorite color","oneOf":[{"const":"#FF0000","title":"Red"},{"const":"#00FF00","title":"Green"}],"default":"#FF0000"}`, ""},
		{`{"type":"array","title":"Color Selection","description":"Choose your favorite colors","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Red","Green","Blue"]},"default":["Red","Green"]}`, ""},
		{`{"type":"array","title":"Color Selection","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"#FF0000","title":"Red"},{"const":"#00FF00","title":"Green"}]},"default":["#FF0000","#00FF00"]}`, ""},
		{`{"type":"string","title":"T","enum":["r","g"],"enumNames":["Red","Green"]}`, `{"type":"string","title":"T","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}`},
		{`{"type":"string"}`, `{"type":"string","title":"X"}`},
	} {
		f, ignored := parse(t, `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"x":`+tt[0]+`},"required":["x"]}`)
		want := tt[1]
		if want == "" {
			want = tt[0]
		}
		same(t, "schema", propertyOf(t, f.Schema()), want)
		same(t, "ignored", ignored, "")
	}
}

func TestParseKeepsOrder(t *testing.T) {
	f, _ := parse(t, `{"properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"},"B":{"type":"string"},"b":{"type":"string"}},"required":["m","z"],"type":"object"}`)
	got := ""
	for name, p := range f.Fields() {
		got += fmt.Sprint(name, p.Required, " ")
	}
	same(t, "order", got, "ztrue afalse mtrue Bfalse bfalse ")
}

// What is beyond the specification is left out and listed, or taken for what it plainly means.
func TestParseIsLenient(t *testing.T) {
	for _, tt := range []struct{ property, want, ignored string }{
		{`{}`, `{"type":"string","title":"X"}`, `type: it is missing; the field is taken for text`},
		{`{"type":["string","null"]}`, `{"type":"string","title":"X"}`, ``},
		{`{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"default":null,"title":"T"}`, `{"type":"integer","title":"T","minimum":1}`, ``},
		{`{"oneOf":[{"type":"null"},{"enum":["a"],"type":"string"}]}`, `{"type":"string","title":"X","enum":["a"]}`, ``},
		{`{"enum":["a","b"]}`, `{"type":"string","title":"X","enum":["a","b"]}`, `type: it is missing; the field is taken for text`},
		{`{"minimum":1}`, `{"type":"number","title":"X","minimum":1}`, `type: it is missing; minimum looks like number`},
		{`{"type":"string","pattern":"(a+)+$"}`, `{"type":"string","title":"X"}`, `pattern: patterns are not checked`},
		{`{"type":"string","format":"phone"}`, `{"type":"string","title":"X"}`, `format: forms have no format "phone"`},
		{`{"type":"string","format":7,"title":[],"description":{}}`, `{"type":"string","title":"X"}`, "format: it is not text\ntitle: it is not text\ndescription: it is not text"},
		{`{"type":"string","minLength":-1,"maxLength":1.5}`, `{"type":"string","title":"X"}`, "minLength: it is not a whole number from 0\nmaxLength: it is not a whole number from 0"},
		{`{"type":"string","minLength":2.0,"maxLength":3e0}`, `{"type":"string","title":"X","minLength":2,"maxLength":3}`, ``},
		{`{"type":"string","minLength":5,"maxLength":3}`, `{"type":"string","title":"X"}`, "minLength: it is above maxLength; both are left out"},
		{`{"type":"string","minLength":1e300}`, `{"type":"string","title":"X"}`, "minLength: it is too large"},
		{`{"type":"string","maxLength":99999999999}`, `{"type":"string","title":"X"}`, "maxLength: it is too large"},
		{`{"type":"string","default":7}`, `{"type":"string","title":"X"}`, "default: it breaks the rules of the field (type)"},
		{`{"type":"string","format":"email","default":""}`, `{"type":"string","title":"X","format":"email"}`, "default: it breaks the rules of the field (format)"},
		{`{"type":"string","enum":["a","a",1,null,"b"]}`, `{"type":"string","title":"X","enum":["a","b"]}`, "enum: an option of it is there twice\nenum: an option of it is not text\nenum: an option of it is not text"},
		{`{"type":"string","enum":["a","b"],"enumNames":["A"]}`, `{"type":"string","title":"X","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"b"}]}`, "enumNames: it has 1 names for 2 options"},
		{`{"type":"string","enum":["a","b"],"enumNames":"A"}`, `{"type":"string","title":"X","enum":["a","b"]}`, "enumNames: it has 0 names for 2 options"},
		{`{"type":"string","const":"a"}`, `{"type":"string","title":"X","enum":["a"]}`, ""},
		{`{"type":"string","oneOf":[{"const":"a","title":"A"},7,{"const":2}],"enum":["z"],"minLength":3}`, `{"type":"string","title":"X","oneOf":[{"const":"a","title":"A"}]}`,
			"oneOf: an option of it is not described by an object\noneOf: an option of it is not text\nenum: the options have titles, and count\nminLength: it does not apply to a field of this kind"},
		{`{"type":"string","anyOf":[{"const":"a"},{"const":"b"}]}`, `{"type":"string","title":"X","enum":["a","b"]}`, ""},
		{`{"type":"string","enum":["","a"]}`, `{"type":"string","title":"X","enum":["","a"]}`, ""},
		{`{"type":"integer","minimum":0.5,"maximum":2.5}`, `{"type":"integer","title":"X","minimum":1,"maximum":2}`, ""},
		{`{"type":"integer","minimum":-0.5,"maximum":-1e-3}`, `{"type":"integer","title":"X"}`, "minimum: it is above maximum; both are left out"},
		{`{"type":"integer","minimum":-1e30,"maximum":1e30}`, `{"type":"integer","title":"X"}`, ""},
		{`{"type":"integer","minimum":1e30,"maximum":1e999999}`, `{"type":"integer","title":"X"}`, "minimum: no number can meet it\nmaximum: it is not a number that can be computed with"},
		{`{"type":"integer","minimum":-18446744073709551615,"maximum":18446744073709551615}`, `{"type":"integer","title":"X","minimum":-18446744073709551615,"maximum":18446744073709551615}`, ""},
		{`{"type":"integer","enum":[1,2],"multipleOf":2}`, `{"type":"integer","title":"X"}`, "enum: it does not apply to a field of this kind\nmultipleOf: it is not a keyword of forms"},
		{`{"type":"number","minimum":2,"maximum":1}`, `{"type":"number","title":"X"}`, "minimum: it is above maximum; both are left out"},
		{`{"type":"number","minimum":1e400,"maximum":"1","exclusiveMinimum":0}`, `{"type":"number","title":"X"}`,
			"minimum: no number can meet it\nmaximum: it is not a number that can be computed with\nexclusiveMinimum: it is not a keyword of forms"},
		{`{"type":"number","default":0.10}`, `{"type":"number","title":"X","default":0.10}`, ""},
		{`{"type":"boolean","default":"true","$comment":"c"}`, `{"type":"boolean","title":"X"}`, "default: it breaks the rules of the field (type)"},
		{`{"type":"array","items":{"type":"string","enum":["a","b"],"x":1},"minItems":3,"maxItems":0,"uniqueItems":true,"default":[]}`, `{"type":"array","title":"X","items":{"type":"string","enum":["a","b"]}}`,
			"items.x: it is not a keyword of forms\nminItems: nothing can be so long\nmaxItems: it lets nothing be chosen"},
		{`{"type":"array","items":{"enum":["a","a"]},"uniqueItems":false}`, `{"type":"array","title":"X","items":{"type":"string","enum":["a"]}}`, "items.enum: an option of it is there twice\nuniqueItems: an option is chosen once at most"},
		{`{"type":"string","title":" \u202e\u0000 "}`, `{"type":"string","title":"X"}`, ""},
		{`{"type":"string","title":"` + strings.Repeat("é", 300) + `"}`, `{"type":"string","title":"` + strings.Repeat("é", 200) + `…"}`, ""},
	} {
		f, ignored := parse(t, `{"type":"object","properties":{"x":`+tt.property+`}}`)
		same(t, tt.property, propertyOf(t, f.Schema()), tt.want)
		same(t, tt.property, strings.ReplaceAll(ignored, `field "x": `, ""), tt.ignored)
	}
	f, ignored := parse(t, `{"title":"T","properties":{"a":{"type":"object","properties":{}},"b":{"type":"string"},"c":true,"d":{"$ref":"#/properties/d"},"e":{"type":["string","integer"]},"f":{"type":7},
		"g":{"type":"array","items":{"type":"integer"}},"h":{"type":"array"},"i":{"type":"array","items":{"type":"string"}},"j":{"type":"string","enum":[1]},"k":{"type":"string","enum":["a"],"enum":["b"]}},
		"required":["b","nobody",7,"b"],"additionalProperties":false,"allOf":[]}`)
	same(t, "schema", string(f.Schema()), `{"type":"object","properties":{"b":{"type":"string","title":"B"}},"required":["b"]}`)
	same(t, "ignored", ignored, `title: it is not a keyword of forms
required: a name in it is not text
allOf: it is not a keyword of forms
field "a": forms are flat, and it is an object
field "c": it is not described by an object
field "d": references are not followed
field "e": forms have no fields of type "several"
field "f": forms have no fields of type "unknown"
field "g": lists are only of options, which are text
field "h": it is a list, and does not say of what
field "i": it is a list without options
field "j": enum: an option of it is not text
field "j": it is a choice without an option that is text
field "k": it: two members are called "enum"
field "nobody": required: there is no such field`)
	for _, none := range []string{"", " ", "null", `{"type":"object"}`, `{}`} {
		f, ignored := parse(t, none)
		same(t, none, string(f.Schema()), `{"type":"object","properties":{}}`)
		same(t, none, ignored, "")
	}
}

func TestParseErrors(t *testing.T) {
	for schema, want := range map[string]string{
		`[]`: "it is not an object", `{"type":"array"}`: "its type is not object", `{"type":["object"]}`: "its type is not object", `{"properties":[]}`: "its properties are not an object",
		`{`: "invalid JSON", `{} {}`: "bytes after the value", "{\"properties\":{\"a\xff\":{}}}": "not valid UTF-8", `{"properties":{"\ud800":{}}}`: "unpaired surrogate",
		`{"type":"object","type":"object"}`:                                                           `it: two members are called "type"`,
		`{"properties":{"a":{"type":"string"},"\u0061":{"type":"string"}}}`:                           `its properties: two members are called "a"`,
		`{"properties":{"a":{"type":"object"}},"required":["a"]}`:                                     `field "a" is required, and cannot be asked for: forms are flat, and it is an object`,
		`{"properties":{"a":{"$ref":"#"}},"required":["a"]}`:                                          `field "a" is required, and cannot be asked for: references are not followed`,
		strings.Repeat(`{"properties":`, 70) + "{}" + strings.Repeat("}", 70):                         "nested too deeply",
		`{"properties":{"a":{"type":"string","oneOf":[{"const":"a","const":"b"}]}},"required":["a"]}`: `two members called "const"`,
	} {
		f, ignored, err := Parse([]byte(schema))
		if f != nil || ignored != nil || err == nil || !strings.HasPrefix(err.Error(), "form: the schema cannot be used: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v", schema, err)
		}
	}
}

// A form that was read validates and encodes as any other.
func TestParsedForm(t *testing.T) {
	f, _ := parse(t, `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string","minLength":2},"c":{"type":"string","enum":["","a"]},"r":{"type":"string","enum":["","a"]}},"required":["r"]}`)
	n, s := Int("n"), String("s")
	d, problems := f.Decode([]byte(`{"n":9007199254740993,"s":"ab","c":"","r":""}`))
	if problems != nil || n.In(d.Value) != 9007199254740993 || s.In(d.Value) != "ab" || !d.Given("c") || !d.Given("r") {
		t.Errorf("%+v %+v", d, problems)
	}
	b, err := f.Encode(d.Value)
	same(t, "Encode", string(b), `{"n":9007199254740993,"s":"ab","c":"","r":""}`)
	if err != nil {
		t.Error(err)
	}
	if p := f.Validate([]byte(`{"n":1.5,"s":"a"}`)); len(p) != 3 {
		t.Errorf("%+v", p)
	}
}

func TestParseFindsCredentials(t *testing.T) {
	f, _ := parse(t, `{"properties":{"a":{"type":"string","title":"API key"},"password":{"type":"string"},"b":{"type":"string","description":"Enter your PIN"},"name":{"type":"string"},"token":{"type":"boolean"}}}`)
	got := ""
	for name, p := range f.Fields() {
		got += name + "=" + p.Credential + " "
	}
	same(t, "credentials", got, "a=api key password=password b=pin name= token= ")
}

// Hostile schemas cost bounded time and memory, and give an error or a form that can be used.
func TestParseHostile(t *testing.T) {
	many := func(n int, one func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(one(i))
		}
		return b.String()
	}
	x := func(property string) string { return `{"type":"object","properties":{"x":` + property + `}}` }
	digits := strings.Repeat("9", 500_000)
	for name, schema := range map[string]string{
		"huge":              x(`{"type":"string","title":"` + strings.Repeat("a", 2<<20) + `"}`),
		"a long title":      x(`{"type":"string","title":"` + strings.Repeat("a\\u202e", 100_000) + `"}`),
		"a long name":       `{"properties":{"` + strings.Repeat("aB", 400_000) + `":{"type":"string"}}}`,
		"a long pattern":    x(`{"type":"string","pattern":"` + strings.Repeat("(a+)+", 200_000) + `"}`),
		"many fields":       `{"properties":{` + many(30_000, func(i int) string { return fmt.Sprintf(`"f%d":{"type":"string"}`, i) }) + `}}`,
		"1000 fields":       `{"properties":{` + many(1000, func(i int) string { return fmt.Sprintf(`"f%d":{"type":"integer","default":%d}`, i, i) }) + `}}`,
		"many keywords":     x(`{` + many(60_000, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + `}`),
		"many options":      x(`{"type":"array","items":{"type":"string","enum":[` + many(100_000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }) + `]}}`),
		"10,000 options":    x(`{"type":"array","items":{"type":"string","enum":[` + many(10_000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }) + `]}}`),
		"one option often":  x(`{"type":"string","enum":[` + many(200_000, func(int) string { return `"a"` }) + `]}`),
		"many required":     `{"required":[` + many(100_000, func(i int) string { return fmt.Sprintf(`"r%d"`, i) }) + `]}`,
		"deep":              x(strings.Repeat(`{"anyOf":[`, 100_000)),
		"deep but balanced": x(strings.Repeat(`{"anyOf":[`, 20) + `{"type":"string"}` + strings.Repeat(`]}`, 20)),
		"a loop":            `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"},"y":{"type":"string"}}}`,
		"digits":            x(`{"type":"integer","minimum":` + digits + `,"maximum":1.` + digits + `}`),
		"exponents":         x(`{"type":"number","minimum":-1e999999999,"maximum":1e999999999,"default":1e999999999}`),
		"bad UTF-8":         "{\"properties\":{\"x\":{\"type\":\"string\",\"title\":\"\xff\"}}}",
		"duplicates":        `{"properties":{` + many(40_000, func(int) string { return `"a":{"type":"string"}` }) + `}}`,
		"nulls":             `{"properties":{"\u0000":{"type":"string"},"":{"type":"boolean"}}}`,
		"empty option":      x(`{"type":"string","enum":[""]}`),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			f, ignored, err := Parse([]byte(schema))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if limit := 64 * uint64(len(schema)+1<<16); after.TotalAlloc-before.TotalAlloc > limit {
				t.Errorf("%d bytes of schema took %d of memory", len(schema), after.TotalAlloc-before.TotalAlloc)
			}
			if took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			if len(ignored) > maxIgnored+1 {
				t.Errorf("%d ignored", len(ignored))
			}
			if err != nil {
				if f != nil || len(err.Error()) > 1000 {
					t.Errorf("%v and %.1000s", f, err)
				}
				return
			}
			for _, p := range f.Fields() {
				if p.Title == "" || utf8.RuneCountInString(p.Title) > maxTitle+1 || strings.ContainsFunc(p.Title+p.Description, isHarmful) {
					t.Errorf("title %q", p.Title)
				}
			}
			start = time.Now()
			f.Validate([]byte(`{"x":[` + many(10_000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }) + `]}`))
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("an answer took %v", took)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{string(wide().Schema()), `{"properties":{"x":{"type":["string","null"],"enum":["a"],"enumNames":["A"]}},"required":["x"]}`, `{"properties":{"x":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`,
		`{"properties":{"x":{"type":"array","items":{"oneOf":[{"const":"a","title":"A"}]},"minItems":1}}}`, `{"properties":{"x":{"type":"integer","minimum":1e30}}}`} {
		f.Add([]byte(s), []byte(wideAnswer))
	}
	f.Fuzz(func(t *testing.T, schema, content []byte) {
		fm, ignored, err := Parse(schema)
		if err != nil {
			if fm != nil || !utf8.ValidString(err.Error()) {
				t.Fatal(err)
			}
			return
		}
		if len(ignored) > maxIgnored+1 {
			t.Fatal(len(ignored))
		}
		// What was read is a form in the profile, so reading its schema gives it again, with nothing left to ignore.
		again, none, err := Parse(fm.Schema())
		if err != nil || string(again.Schema()) != string(fm.Schema()) || len(none) > 0 {
			t.Fatalf("%s\n%v\n%v", fm.Schema(), none, err)
		}
		d, problems := fm.Decode(content)
		if problems != nil {
			return
		}
		e, problems := again.Decode(d.Content())
		if problems != nil || string(e.Content()) != string(d.Content()) {
			t.Fatalf("%s is %s, then %s (%v)", content, d.Content(), e.Content(), problems)
		}
	})
}
