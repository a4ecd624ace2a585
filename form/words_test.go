package form

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

func german(f Fault) string {
	typed := ""
	if f.Typed != "" {
		typed = " (Sie haben " + f.Typed + " eingegeben)"
	}
	switch f.Rule {
	case "required":
		return f.Field.Title + " fehlt."
	case "minimum", "maximum":
		return fmt.Sprintf("%s muss zwischen %s und %s liegen%s.", f.Field.Title, f.Field.Min, f.Field.Max, typed)
	case "enum":
		return f.Field.Title + " muss " + f.Field.Options[0].Title + " sein" + typed + "."
	}
	return ""
}

func TestWords(t *testing.T) {
	f := New(Int("parcels").Title("Pakete").Range(1, 10), Choice("carrier", Opt("ups", "UPS")).Title("Dienst"), String("name").Title("Name").Required(), Email("mail").Title("Adresse"))
	content := []byte(`{"parcels":12,"carrier":"dhl","mail":"me"}`)
	check := func(problems []Problem, want ...string) {
		t.Helper()
		var got []string
		for _, p := range problems {
			got = append(got, p.Message, p.Requirement)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %q", got)
		}
	}
	de := []string{"Pakete muss zwischen 1 und 10 liegen (Sie haben 12 eingegeben).", "Pakete muss zwischen 1 und 10 liegen.",
		`Dienst muss UPS sein (Sie haben "dhl" eingegeben).`, "Dienst muss UPS sein.", "Name fehlt.", "Name fehlt.",
		`Adresse must be an e-mail address, such as name@example.com; you entered "me".`, "Adresse must be an e-mail address, such as name@example.com."}
	en := []string{"Pakete must be between 1 and 10; you entered 12.", "Pakete must be between 1 and 10.",
		`Dienst must be UPS; you entered "dhl".`, "Dienst must be UPS.", "Name is required.", "Name is required.", de[6], de[7]}
	check(f.Validate(content), en...)
	check(f.WithWords(german).Validate(content), de...)
	check(f.WithWords(german).WithWords(nil).Validate(content), en...)
	check(f.Validate(content), en...)
	_, problems := f.WithWords(german).Decode(content)
	check(problems, de...)
	for i, p := range f.Validate(content) {
		if q := p.In(german); q.Message != de[2*i] || q.Requirement != de[2*i+1] || q.In(nil).Message != en[2*i] || q.Rule != p.Rule {
			t.Errorf("%+v", q)
		}
	}

	all := func(f Fault) string {
		return f.Rule + "|" + f.Field.Name + "|" + f.Typed + "|" + f.Detail + "|" + f.English
	}
	check(f.WithWords(all).Validate([]byte(`[]`)), "type||||"+notAnObject, "type||||"+notAnObject)
	check(f.WithWords(all).Validate([]byte(`{`)), "type||||"+notJSON, "type||||"+notJSON)
	check(New(Text[sku]("x")).WithWords(all).Validate([]byte(`{"x":"a"}`)),
		`format|x|"a"|an SKU is letters, a hyphen and digits|X is not valid: an SKU is letters, a hyphen and digits; you entered "a".`, "format|x|||X is not valid.")
	check(New(Text[netip.Addr]("x")).Validate([]byte(`{"x":"`+strings.Repeat("a", 200)+`"}`)), `X is not valid; you entered "`+strings.Repeat("a", 60)+`…".`, "X is not valid.")
	if (*Form[Values])(nil).WithWords(all) != nil || (Problem{Message: "m"}).In(all).Message != "m" {
		t.Error("nothing to say, but said")
	}
	if b, err := json.Marshal(f.Validate([]byte(`{}`))[0]); err != nil || string(b) != `{"Field":"name","Title":"Name","Rule":"required","Requirement":"Name is required.","Message":"Name is required."}` {
		t.Errorf("%s %v", b, err)
	}
}

func TestProperty(t *testing.T) {
	want := []Property{
		{Name: "name", Title: "Name", Description: "D", Type: "string", Min: "2", Max: "5", Required: true, Default: json.RawMessage(`"Ada"`)},
		{Name: "mail", Title: "Mail", Type: "string", Format: "email"},
		{Name: "n", Title: "N", Type: "integer", Min: "1", Max: "9007199254740993"},
		{Name: "plain", Title: "Plain", Type: "integer"},
		{Name: "x", Title: "X", Type: "number", Min: "0.5"},
		{Name: "b", Title: "B", Type: "boolean", Default: json.RawMessage("true")},
		{Name: "c", Title: "C", Type: "string", Options: []Option[string]{{"ups", "UPS"}, {"dhl", "dhl"}}, Default: json.RawMessage(`"dhl"`)},
		{Name: "cs", Title: "Cs", Type: "array", Options: []Option[string]{{"a", "a"}}, Min: "0", Max: "1", Default: json.RawMessage(`["a"]`)},
	}
	f := New(String("name").Description("D").MinLength(2).MaxLength(5).Required().Default("Ada"), Email("mail"), Int("n").Range(1, 9007199254740993), Int("plain"), Number("x").Min(0.5),
		Bool("b").Default(true), Choice("c", Opt("ups", "UPS"), Opt("dhl", "")).Default("dhl"), Choices("cs", Options("a")...).AtLeast(0).AtMost(1).Default("a"))
	var got []Property
	for name, p := range f.Fields() {
		if name != p.Name {
			t.Error(name)
		}
		got = append(got, p)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestFromText(t *testing.T) {
	of := func(x Field) Property {
		for _, p := range New(x).Fields() {
			return p
		}
		t.Fatal("no field")
		return Property{}
	}
	ab := []Option[string]{Opt("a", "Alpha"), Opt("b", "Beta"), Opt("c", "Same"), Opt("d", "Same")}
	for _, tt := range []struct {
		x     Field
		texts []string
		want  string
	}{
		{String("x"), nil, ""}, {String("x"), []string{""}, ""}, {String("x").Required(), []string{""}, `""`}, {String("x"), []string{" a\n\"b\" "}, `" a\n\"b\" "`},
		{String("x"), []string{"a", "b"}, `"b"`},
		{Email("x"), []string{" a@b "}, `"a@b"`}, {Email("x").Required(), []string{" "}, ""},
		{Int("x"), []string{" +007 "}, "7"}, {Int("x"), []string{"-0"}, "-0"}, {Int("x"), []string{"-012"}, "-12"}, {Int("x"), []string{"1.5"}, "1.5"}, {Int("x"), []string{"seven"}, `"seven"`}, {Int("x"), []string{""}, ""},
		{Int("x"), []string{"1e999999"}, `"1e999999"`}, {Int("x"), []string{"9007199254740993"}, "9007199254740993"}, {Number("x"), []string{".5"}, "0.5"}, {Number("x"), []string{"-.5e1"}, "-0.5e1"}, {Number("x"), []string{"1,5"}, `"1,5"`},
		{Number("x"), []string{"+-1"}, `"+-1"`}, {Number("x"), []string{"-"}, `"-"`},
		{Bool("x"), []string{"ON"}, "true"}, {Bool("x"), []string{" n "}, "false"}, {Bool("x"), []string{"maybe"}, `"maybe"`}, {Bool("x"), []string{""}, ""}, {Bool("x"), []string{"false", "true"}, "true"},
		{Choice("x", ab...), []string{"a"}, `"a"`}, {Choice("x", ab...), []string{" Beta "}, `"b"`}, {Choice("x", ab...), []string{"Same"}, `"Same"`}, {Choice("x", ab...), []string{"z"}, `"z"`}, {Choice("x", ab...), []string{""}, ""},
		{Choices("x", ab...), nil, ""}, {Choices("x", ab...), []string{"Alpha", "b", "z"}, `["a","b","z"]`},
	} {
		if got := of(tt.x).FromText(tt.texts...); string(got) != tt.want {
			t.Errorf("%T %q: %s, want %s", tt.x, tt.texts, got, tt.want)
		}
	}
}
