package forms

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A pair is a form and the same schema for the other validator, which judges each field by itself.
type pair struct {
	f      *form.Form[form.Values]
	fields []form.Property
	theirs map[string]*jsonschema.Schema
	whole  *jsonschema.Schema
}

func newPair(t testing.TB, f *form.Form[form.Values]) *pair {
	t.Helper()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(f.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("mem:form", doc); err != nil {
		t.Fatal(err)
	}
	p := &pair{f: f, theirs: map[string]*jsonschema.Schema{}}
	if p.whole, err = c.Compile("mem:form"); err != nil {
		t.Fatalf("%s: %v", f.Schema(), err)
	}
	for name, x := range f.Fields() {
		p.fields = append(p.fields, x)
		if p.theirs[name], err = c.Compile("mem:form#/properties/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// compare fails the test when the two part for no reason of the list in docs/forms.md. It returns the reasons that it met.
func (p *pair) compare(t testing.TB, content []byte) (reasons []string) {
	t.Helper()
	problems := p.f.Validate(content)
	if len(bytes.Trim(content, " \t\r\n")) == 0 || string(bytes.TrimSpace(content)) == "null" {
		content = []byte(`{}`)
		reasons = append(reasons, "no content")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if rawjson.Check(content, rawjson.MaxDepth) != nil {
		// Not JSON as everybody reads it. They may mend it; we must not.
		if len(problems) != 1 || problems[0].Field != "" {
			t.Fatalf("%q is not JSON as all read it, but we say %v", content, problems)
		}
		return append(reasons, "strict JSON")
	}
	if err != nil {
		t.Fatalf("%q: they cannot read it: %v", content, err)
	}
	members, isObject := doc.(map[string]any)
	if !isObject {
		if problems == nil || p.whole.Validate(doc) == nil {
			t.Fatalf("%q: no object, but we say %v, and they %v", content, problems, p.whole.Validate(doc))
		}
		return reasons
	}
	ours := map[string]form.Problem{}
	for _, x := range problems {
		ours[x.Field] = x
	}
	count := map[string]int{}
	raw := map[string]json.RawMessage{}
	for q, v := range rawjson.Members(content) {
		name, _ := rawjson.String(q)
		count[name]++
		raw[name] = v
	}
	for _, x := range p.fields {
		problem, refused := ours[x.Name]
		v, there := members[x.Name]
		if count[x.Name] > 1 {
			if !refused || problem.Rule != "duplicate" {
				t.Fatalf("%q: %s is there twice, and we say %v", content, x.Name, problems)
			}
			reasons = append(reasons, "a field twice")
			continue
		}
		if there && v == nil {
			there = false
			reasons = append(reasons, "null is absent")
		}
		if v == "" && !x.Required && (x.Type != "string" || x.Format != "" || x.Options != nil) && x.Type != "boolean" && x.Type != "array" {
			there = false
			reasons = append(reasons, `"" is absent`)
		}
		if !there {
			if refused != x.Required || refused && problem.Rule != "required" {
				t.Fatalf("%q: %s is absent, required is %t, and we say %v", content, x.Name, x.Required, problems)
			}
			continue
		}
		err := p.theirs[x.Name].Validate(v)
		if (err == nil) == !refused {
			continue
		}
		reason := documented(x, raw[x.Name], refused)
		if reason == "" {
			t.Fatalf("%q against %s: of %s we say %v, they say %v", content, p.f.Schema(), x.Name, problem, err)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

// documented is the reason of docs/forms.md for which we part from them on a value.
func documented(x form.Property, v json.RawMessage, weRefuse bool) string {
	text, isText := rawjson.String(v)
	switch {
	case x.Format != "" && isText:
		// We are right if the specification of the format says so.
		limits := x.Max == "" || utf8.RuneCountInString(text) <= integer(x.Max)
		if oracle(x.Format, text) == !weRefuse && limits {
			return x.Format
		}
	case x.Type == "array" && weRefuse:
		seen := map[string]bool{}
		for e := range rawjson.Elements(v) {
			s, _ := rawjson.String(e)
			if seen[s] {
				return "an option twice"
			}
			seen[s] = true
		}
	case rawjson.Kind(v) == '0' && weRefuse:
		if !rawjson.NumberOK(v) {
			return "an outsize number"
		}
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil || x.Type == "integer" && (n >= math.MaxInt64 || n <= math.MinInt64) {
			return "beyond the Go type"
		}
		if x.Type == "number" && (x.Min != "" && string(x.Min) == nearest(v) || x.Max != "" && string(x.Max) == nearest(v)) {
			return "rounded to the Go type"
		}
	case rawjson.Kind(v) == '0' && x.Type == "number":
		// 10.0000000000000000001 is 10 in a float64, and so no more than 10.
		if string(x.Min) == nearest(v) || string(x.Max) == nearest(v) {
			return "rounded to the Go type"
		}
	}
	return ""
}

func integer(n json.Number) int { i, _ := strconv.Atoi(string(n)); return i }

// nearest is the float64 nearest to a number, as our schemas write it.
func nearest(v json.RawMessage) string {
	x, _ := strconv.ParseFloat(string(v), 64)
	format := byte('f')
	if abs := math.Abs(x); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.FormatFloat(x, format, -1, 64)
}

// everyKind has a field of each kind, with rules.
func everyKind() *form.Form[form.Values] {
	return form.New(
		form.String("text").MinLength(2).MaxLength(5).Required(), form.String("any"),
		form.Email("email").MaxLength(20), form.URI("uri"), form.Date("date"), form.DateTime("at"), form.Email("must").Required(),
		form.Int("whole").Range(-5, 10), form.Int("free"), form.Number("number").Range(-0.5, 10), form.Number("real"),
		form.Bool("bool"), form.Choice("one", form.Options("a", "b", "ä")...), form.Choice("titled", form.Opt("a", "A"), form.Opt("b", "B")).Required(),
		form.Choices("some", form.Options("a", "b", "c", "d")...).AtLeast(1).AtMost(3), form.Choices("all", form.Opt("a", "A"), form.Opt("b", "B")),
	)
}

// The differences that docs/forms.md lists, one by one: they part, and for that reason.
func TestDocumentedDifferences(t *testing.T) {
	p := newPair(t, everyKind())
	const valid = `"text":"abc","must":"a@b","titled":"a"`
	for _, tt := range []struct{ content, reason string }{
		{``, "no content"}, {`null`, "no content"}, {" \n", "no content"},
		{`{` + valid + `,"whole":null,"bool":null,"some":null,"any":null}`, "null is absent"},
		{`{` + valid + `,"whole":"","number":"","one":"","email":"","date":""}`, `"" is absent`},
		{`{` + valid + `,"any":"x","any":"x"}`, "a field twice"},
		{`{` + valid + `} x`, "strict JSON"}, {"{" + valid + ",\"any\":\"\xff\"}", "strict JSON"}, {`{` + valid + `,"any":"\ud800"}`, "strict JSON"},
		{`{` + valid + `,"other":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, "strict JSON"},
		{`{` + valid + `,"free":1e400}`, "beyond the Go type"}, {`{` + valid + `,"free":9223372036854775808}`, "beyond the Go type"}, {`{` + valid + `,"real":1e309}`, "beyond the Go type"},
		{`{` + valid + `,"free":1e401}`, "an outsize number"}, {`{` + valid + `,"real":0.` + strings.Repeat("1", 500) + `}`, "an outsize number"},
		{`{` + valid + `,"number":10.0000000000000000001}`, "rounded to the Go type"},
		{`{` + valid + `,"some":["a","a"]}`, "an option twice"}, {`{` + valid + `,"all":["b","a","b"]}`, "an option twice"},
		{`{` + valid + `,"email":".a@b"}`, "email"}, {`{` + valid + `,"email":"a..b@c"}`, "email"}, {`{` + valid + `,"email":"\"a\"@b"}`, "email"}, {`{` + valid + `,"email":"a@[127.0.0.1]"}`, "email"},
		{`{` + valid + `,"email":"a@b."}`, "email"}, {`{` + valid + `,"email":"@b"}`, "email"}, {`{"text":"abc","titled":"a","must":"` + strings.Repeat("a", 65) + `@b"}`, "email"},
		{`{` + valid + `,"uri":"http://a/ä"}`, "uri"}, {`{` + valid + `,"uri":"http://a/b c"}`, "uri"}, {`{` + valid + `,"uri":"http://a/{b}"}`, "uri"}, {`{` + valid + `,"uri":"http://[v1.x]/"}`, "uri"}, {`{` + valid + `,"uri":"http://%41/"}`, "uri"},
		{`{` + valid + `,"at":"9999-12-31T23:59:60Z"}`, "date-time"}, {`{` + valid + `,"at":"2026-07-28T+1:00:00Z"}`, "date-time"},
	} {
		if reasons := p.compare(t, []byte(tt.content)); !slices.Contains(reasons, tt.reason) {
			t.Errorf("%.200s: they part for %q, want %q", tt.content, reasons, tt.reason)
		}
	}
}

// What is not on that list, we agree on.
func TestAgreement(t *testing.T) {
	p := newPair(t, everyKind())
	for _, content := range seeds {
		p.compare(t, []byte(content))
	}
}

var seeds = []string{
	`{"text":"abc","any":"","email":"a@example.com","uri":"https://example.com/a?b#c","date":"2026-07-28","at":"2026-07-28T14:30:00.5+02:00","must":"a@b","whole":3,"free":-9007199254740993,"number":1.5,"real":-1e-300,"bool":true,"one":"ä","titled":"b","some":["d","a"],"all":[],"other":{"a":[1]}}`,
	`{"text":"a","must":"a","titled":"c","whole":11,"number":10.5,"bool":"true","one":1,"some":[],"all":["c"],"email":1,"date":"2026-02-30","at":"2026-07-28","uri":"/a"}`,
	`{"text":"😀😀","must":"","titled":"","whole":1.0,"free":1e2,"number":-0,"some":["a","b","c","d"],"all":"a"}`,
	`{"text":"\u0061bc\n","must":"x@y","titled":"\u0061","whole":"3","free":1.5,"bool":0,"some":{"a":1},"one":["a"]}`,
	`[]`, `{}`, `"text"`, `7`, `{"text":{}}`, `{"at":"1998-12-31T23:59:60Z","date":"0000-01-01"}`, `{"some":["a",1]}`, `{"some":[["a"]]}`,
}

// FuzzAnswers: any bytes as an answer to a form with every kind.
func FuzzAnswers(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	p := newPair(f, everyKind())
	f.Fuzz(func(t *testing.T, content []byte) { p.compare(t, content) })
}

// FuzzFormats: any text for each format, by the specifications of the formats and by the other validator.
func FuzzFormats(f *testing.F) {
	formats := []form.Field{form.Email("x").Required(), form.URI("x").Required(), form.Date("x").Required(), form.DateTime("x").Required()}
	var pairs []*pair
	for i, x := range formats {
		pairs = append(pairs, newPair(f, form.New(x)))
		for _, s := range []string{"a@b", "http://[::1]:1/%20?a#b", "2026-07-28", "1998-12-31T23:59:60.1+00:00", "urn:a:b", "//", "[", "@", "http://[v1.x]/", "a.b@c.d", "2026-07-28t14:30:00-23:59", "mailto:a@b?c=d", "http://u:p@h:0/;a=b/./..//"} {
			f.Add(i, s)
		}
	}
	f.Fuzz(func(t *testing.T, which int, s string) {
		if which < 0 || which >= len(pairs) || !utf8.ValidString(s) {
			return
		}
		p := pairs[which]
		content := append(rawjson.AppendString([]byte(`{"x":`), s), '}')
		if got := p.f.Validate(content) == nil; got != oracle(p.fields[0].Format, s) {
			t.Fatalf("%s %q: we say %t, the specification says otherwise", p.fields[0].Format, s, got)
		}
		p.compare(t, content)
	})
}

// FuzzRules: forms with any rules, and values of every type.
func FuzzRules(f *testing.F) {
	f.Add(byte(0), 1, 3, "abc", "1.5", "a|b", true)
	f.Add(byte(3), -5, 10, "", "1e1", "a|a|c", false)
	f.Add(byte(5), 1, 2, "b", "-0.0", "c|b", true)
	f.Add(byte(1), 0, 0, "\u00e9", "10.00", "", false)
	f.Fuzz(func(t *testing.T, kind byte, lo, hi int, text, number, list string, required bool) {
		if !utf8.ValidString(text) || !utf8.ValidString(list) || strings.Count(list, "|") > 20 {
			return
		}
		options := form.Options("a", "b", "c", "ä", " ")
		if text != "" {
			options = append(options, form.Opt(text, "T"))
		}
		x := []form.Field{
			form.String("x").MinLength(lo).MaxLength(hi), form.String("x").MaxLength(hi), form.Email("x").MaxLength(hi), form.Int("x").Range(int64(lo), int64(hi)), form.Int("x").Min(int64(lo)),
			form.Number("x").Range(float64(lo), float64(hi)/3), form.Number("x").Max(float64(hi)), form.Bool("x"), form.Choice("x", options...), form.Choices("x", options...).AtLeast(lo).AtMost(hi), form.Choices("x", options...),
		}[int(kind)%11]
		if required {
			x = requiredField(x)
		}
		fm := form.New(x)
		if fm.Err() != nil {
			return
		}
		p := newPair(t, fm)
		elements := strings.Split(list, "|")
		listJSON, _ := json.Marshal(elements)
		values := []string{string(rawjson.AppendString(nil, text)), string(listJSON), "true", "null", `""`, "[]", "{}", "0"}
		if rawjson.Check([]byte(number), 1) == nil {
			values = append(values, number, `[`+number+`]`)
		}
		for _, v := range values {
			p.compare(t, []byte(`{"x":`+v+`}`))
		}
		p.compare(t, []byte(`{}`))
	})
}

func requiredField(x form.Field) form.Field {
	switch x := x.(type) {
	case form.StringField[string]:
		return x.Required()
	case form.FormatField[string]:
		return x.Required()
	case form.IntegerField[int64]:
		return x.Required()
	case form.NumberField[float64]:
		return x.Required()
	case form.BoolField[bool]:
		return x.Required()
	case form.ChoiceField[string]:
		return x.Required()
	case form.ChoicesField[string]:
		return x.Required()
	}
	return x
}
