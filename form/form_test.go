package form

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

// testErr checks the lines of Err, each without its "form: ", and that a form that is wrong is of no use but harms nobody.
func testErr[T any](t *testing.T, f *Form[T], want ...string) {
	t.Helper()
	err := f.Err()
	if err == nil {
		t.Errorf("no error, want %q", want)
		return
	}
	got := strings.Split(err.Error(), "\n")
	for i, w := range want {
		if i < len(got) && got[i] != "form: "+w {
			t.Errorf("line %d:\n got %s\nwant form: %s", i+1, got[i], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d: %s", len(got), len(want), err)
	}
	useless(t, f)
}

func useless[T any](t *testing.T, f *Form[T]) {
	t.Helper()
	if f.Schema() != nil || f.SchemaWithDefaults([]byte(`{}`)) != nil {
		t.Error("a schema of a form that is wrong")
	}
	if s, err := f.LegacySchema(); s != nil || err == nil {
		t.Error("a legacy schema of a form that is wrong")
	}
	if p := f.Validate([]byte(`{}`)); len(p) != 1 || p[0].Rule != "form" || p[0].Message != "This form cannot be used." {
		t.Errorf("Validate: %+v", p)
	}
	if d, p := f.Decode([]byte(`{}`)); len(p) != 1 || p[0].Rule != "form" || d.Content() != nil || d.Given("x") {
		t.Errorf("Decode: %+v", p)
	}
	var zero T
	if b, err := f.Encode(zero); b != nil || err == nil {
		t.Error("Encode with a form that is wrong")
	}
	for range f.Fields() {
		t.Error("a field of a form that is wrong")
	}
}

func TestErrOfNew(t *testing.T) {
	type anything struct{ Field }
	bad := "a\xff"
	ab := Options("a", "b")
	for _, tt := range []struct {
		x    Field
		want string
	}{
		{String(""), "field 1 has no name"},
		{StringField[string]{}, "field 1 has no name"},
		{IntegerField[int8]{}, "field 1 has no name"},
		{NumberField[float32]{}, "field 1 has no name"},
		{BoolField[bool]{}, "field 1 has no name"},
		{FormatField[string]{}, "field 1 has no name"},
		{TimeField[time.Time]{}, "field 1 has no name"},
		{nil, "field 1 of New is nil"},
		{(*StringField[string])(nil), "field 1 of New is nil"},
		{anything{}, "field 1 of New is nil"},
		{StringOf(new(string)), `field 1 of New is bound to a struct field; that is for Build: here a field has a name, as in form.String("note")`},
		{String(bad), `field "a\xff": its name is not valid UTF-8`},
		{String("a\nb"), `field "a\nb": its name holds control characters`},
		{String("a\u202eb"), `field "a\u202eb": its name holds control characters`},
		{String("x").Title(bad), `field "x": its title is not valid UTF-8`},
		{String("x").Description(bad), `field "x": its description is not valid UTF-8`},
		{String("x").Default(bad), `field "x": its default is not valid UTF-8`},
		{String("x").MinLength(-1), `field "x": MinLength is negative`},
		{String("x").MaxLength(-1), `field "x": MaxLength is negative`},
		{String("x").MinLength(3).MaxLength(2), `field "x": MinLength 3 is above MaxLength 2`},
		{String("x").MinLength(3).Default("ab"), `field "x": its default breaks its own rules: X must be at least 3 characters long, not "ab".`},
		{Email("x").Default("me"), `field "x": its default breaks its own rules: X must be an e-mail address, such as name@example.com, not "me".`},
		{Email("x").Default(""), `field "x": its default breaks its own rules: X must be an e-mail address, such as name@example.com, not "".`},
		{Email("x").MaxLength(-2), `field "x": MaxLength is negative`},
		{URI("x").Default("a"), `field "x": its default breaks its own rules: X must be a complete address that begins with its scheme, such as https, not "a".`},
		{Date("x").Default(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), `field "x": its default breaks its own rules: X must be a date, such as 2026-07-28, not "10000-01-01".`},
		{DateTime("x").Default(time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)), `field "x": its default breaks its own rules: X must be a date and time with its zone, such as 2026-07-28T14:30:00Z, not "-0001-01-01T00:00:00Z".`},
		{Int("parcels").Range(10, 1), `field "parcels": minimum 10 is above maximum 1, so that nothing is valid: change one of them`},
		{Int("parcels").Range(1, 10).Default(11), `field "parcels": its default breaks its own rules: Parcels must be between 1 and 10, not 11.`},
		{Number("x").Range(2, 1.5), `field "x": minimum 2 is above maximum 1.5, so that nothing is valid: change one of them`},
		{Number("x").Min(math.NaN()), `field "x": its minimum is NaN, which JSON does not have`},
		{Number("x").Max(math.Inf(1)), `field "x": its maximum is +Inf, which JSON does not have`},
		{Number("x").Default(math.Inf(-1)), `field "x": its default is -Inf, which JSON does not have`},
		{Number("x").Min(1).Default(0.5), `field "x": its default breaks its own rules: X must be at least 1, not 0.5.`},
		{Choice[string]("x"), `field "x": it has no options to choose from: give it some`},
		{Choice[string]("x").Default("a"), `field "x": it has no options to choose from: give it some`},
		{Choice("x", Options("a", "b", "a")...), `field "x": option "a" is there twice`},
		{Choice("x", Options("a", "")...), `field "x": the value of option 2 is empty; "" is how clients leave a choice open`},
		{Choice("x", Options(bad)...), `field "x": option 1 is not valid UTF-8`},
		{Choice("x", Opt("a", bad)), `field "x": option 1 is not valid UTF-8`},
		{Choice("x", ab...).Default("c"), `field "x": its default breaks its own rules: X must be a or b, not "c".`},
		{Choices[string]("x"), `field "x": it has no options to choose from: give it some`},
		{Choices("x", Options("a", "a")...), `field "x": option "a" is there twice`},
		{Choices("x", ab...).AtLeast(-1), `field "x": AtLeast is negative`},
		{Choices("x", ab...).AtMost(-1), `field "x": AtMost is negative`},
		{Choices("x", ab...).AtMost(0), `field "x": AtMost(0) lets nothing be chosen`},
		{Choices("x", ab...).AtLeast(3), `field "x": AtLeast is more than there are options`},
		{Choices("x", ab...).AtLeast(2).AtMost(1), `field "x": AtLeast 2 is above AtMost 1`},
		{Choices("x", ab...).Default(), `field "x": its default is no option; leave Default out to select none`},
		{Choices("x", ab...).Default("c"), `field "x": its default breaks its own rules: X: each choice must be a or b, not "c".`},
		{Choices("x", ab...).Default("a", "a"), `field "x": its default breaks its own rules: X must not have the same choice twice, not "a".`},
		{Choices("x", ab...).Default(bad), `field "x": its default is not valid UTF-8`},
		{Choices("x", ab...).AtLeast(2).Default("a"), `field "x": its default breaks its own rules: X needs at least 2 choices.`},
	} {
		testErr(t, New(tt.x), tt.want)
	}
	testErr(t, New(String("a"), Int("b"), Bool("a"), String(""), Number("n").Range(2, 1).Title(bad)),
		`field "a": another field has the same name`,
		"field 4 has no name",
		`field "n": its title is not valid UTF-8`,
		`field "n": minimum 2 is above maximum 1, so that nothing is valid: change one of them`)
}

func TestZeroForm(t *testing.T) {
	testErr(t, (*Form[Values])(nil), "this form was not made by New, For or Build")
	testErr(t, new(Form[struct{ A string }]), "this form was not made by New, For or Build")
	var v Values
	if v.Given("x") || String("x").In(v) != "" || Choices("x", Options("a")...).In(v) != nil || !DateTime("x").In(v).IsZero() {
		t.Error("the zero Values hold something")
	}
	var d Decoded[int]
	if d.Given("x") || d.Content() != nil {
		t.Error("the zero Decoded holds something")
	}
}

func TestEmptyForm(t *testing.T) {
	for _, f := range []interface {
		Schema() json.RawMessage
		Validate([]byte) []Problem
	}{New(), For[struct{}](), Build(func(*struct{}) []Field { return nil })} {
		same(t, "schema", string(f.Schema()), `{"type":"object","properties":{}}`)
		for _, ok := range []string{`{}`, ``, `null`, ` `, `{"a":1}`} {
			if p := f.Validate([]byte(ok)); p != nil {
				t.Errorf("%q: %+v", ok, p)
			}
		}
	}
	b, err := New().Encode(Values{})
	if string(b) != "{}" || err != nil {
		t.Error(string(b), err)
	}
	d, _ := For[struct{}]().Decode(nil)
	same(t, "Content", string(d.Content()), "{}")
}

func TestFields(t *testing.T) {
	got := ""
	for name, p := range New(String("trackingNumber"), Bool("b").Title("Bee"), Int("c")).Fields() {
		got += name + "=" + p.Title + ";"
		if name == "b" {
			break
		}
	}
	same(t, "Fields", got, "trackingNumber=Tracking Number;b=Bee;")
}

func TestShownTextIsCleaned(t *testing.T) {
	f := New(Choice("x", Opt("a", "A\u202e\x00B")).Title("  Pay\u202e \r\n 5\u0000 € ").Description("one\n\ntwo\tthree\u200f\u2028four\x7f\x1b[31m"))
	same(t, "schema", propertyOf(t, f.Schema()), `{"type":"string","title":"Pay 5 €","description":"one two three four[31m","oneOf":[{"const":"a","title":"AB"}]}`)
	f = New(String("trackingNumber").Title("\u202e\n "))
	same(t, "a title of nothing", propertyOf(t, f.Schema()), `{"type":"string","title":"Tracking Number"}`)
	same(t, "joiners stay", clean("👩\u200d💻 می\u200cخواهم"), "👩\u200d💻 می\u200cخواهم")
}

func TestTypedTextIsCleaned(t *testing.T) {
	x := Choice("x", Options("a")...)
	same(t, "controls", message(t, x, `"b\u202e\n\u0000c\u001b[31m"`), `X must be a; you entered "b c[31m".`)
	same(t, "long", message(t, x, `"`+strings.Repeat("é", 61)+`"`), `X must be a; you entered "`+strings.Repeat("é", 60)+`…".`)
	same(t, "not so long", message(t, x, `"`+strings.Repeat("é", 60)+`"`), `X must be a; you entered "`+strings.Repeat("é", 60)+`".`)
	p := New(x).Validate([]byte(`{"x":"my secret"}`))[0]
	if strings.Contains(p.Requirement+p.Rule+p.Title, "secret") {
		t.Errorf("%+v", p)
	}
}

// Every kind has the four methods that every kind has.
func TestCommonMethods(t *testing.T) {
	ab := Options("a")
	for kind, x := range map[string][2]Field{
		`"string"`:                  {String("x").Title("T").Description("D").Required(), String("x").Title("T").Description("D").Required().Optional()},
		`"string","format":"email"`: {Email("x").Title("T").Description("D").Required(), Email("x").Title("T").Description("D").Required().Optional()},
		`"string","format":"date"`:  {Date("x").Title("T").Description("D").Required(), Date("x").Title("T").Description("D").Required().Optional()},
		`"integer"`:                 {Int("x").Title("T").Description("D").Required(), Int("x").Title("T").Description("D").Required().Optional()},
		`"number"`:                  {Number("x").Title("T").Description("D").Required(), Number("x").Title("T").Description("D").Required().Optional()},
		`"boolean"`:                 {Bool("x").Title("T").Description("D").Required(), Bool("x").Title("T").Description("D").Required().Optional()},
		`"string","enum":["a"]`:     {Choice("x", ab...).Title("T").Description("D").Required(), Choice("x", ab...).Title("T").Description("D").Required().Optional()},
		`"array","items":{"type":"string","enum":["a"]}`: {Choices("x", ab...).Title("T").Description("D").Required(), Choices("x", ab...).Title("T").Description("D").Required().Optional()},
	} {
		typ, rest, more := strings.Cut(kind, ",")
		if more {
			rest = "," + rest
		}
		want := `{"type":"object","properties":{"x":{"type":` + typ + `,"title":"T","description":"D"` + rest + `}}`
		same(t, kind, string(New(x[0]).Schema()), want+`,"required":["x"]}`)
		same(t, kind, string(New(x[1]).Schema()), want+`}`)
	}
}
