package form

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestChoice(t *testing.T) {
	testRules(t, Choice("x", Options("ups", "dhl", "é\"")...), []ruleTest{
		{`"ups"`, ""}, {`"\u0075ps"`, ""}, {`"\u00e9\""`, ""}, {`""`, ""}, {`null`, ""},
		{`"UPS"`, "enum"}, {`"up"`, "enum"}, {`"upss"`, "enum"}, {`1`, "enum"}, {`["ups"]`, "enum"}, {`true`, "enum"}, {`" ups"`, "enum"},
	})
	testRules(t, Choice("x", Options("a")...).Required(), []ruleTest{{`""`, "enum"}, {`null`, "required"}})
	same(t, "untitled", property(t, Choice("x", Options("a", "b")...).Default("b")), `{"type":"string","title":"X","enum":["a","b"],"default":"b"}`)
	same(t, "titled", property(t, Choice("x", Opt("a", "A <a>"), Opt("b", "")).Description("D")),
		`{"type":"string","title":"X","description":"D","oneOf":[{"const":"a","title":"A <a>"},{"const":"b","title":"b"}]}`)
	same(t, "message", message(t, Choice("carrier", Opt("ups", "UPS"), Opt("dhl", "DHL"), Opt("fedex", "")), `"xyz"`), `Carrier must be UPS, DHL or fedex; you entered "xyz".`)
	same(t, "message", message(t, Choice("x", Options("a")...), `"b"`), `X must be a; you entered "b".`)
	many := make([]string, 9)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	same(t, "message", message(t, Choice("x", Options(many...)...), `"b"`), `X must be one of the options offered; you entered "b".`)
}

func TestChoices(t *testing.T) {
	testRules(t, Choices("x", Options("a", "b", "c")...), []ruleTest{
		{`[]`, ""}, {`["a"]`, ""}, {` [ "c" , "a" ] `, ""}, {`["a","b","c"]`, ""}, {`["\u0061"]`, ""}, {`null`, ""},
		{`["d"]`, "enum"}, {`["a",1]`, "enum"}, {`["a",null]`, "enum"}, {`[["a"]]`, "enum"}, {`[""]`, "enum"},
		{`["a","a"]`, "uniqueItems"}, {`["a","\u0061"]`, "uniqueItems"}, {`["a","b","c","a"]`, "uniqueItems"},
		{`"a"`, "type"}, {`""`, "type"}, {`{"a":true}`, "type"}, {`1`, "type"},
	})
	testRules(t, Choices("x", Options("a", "b", "c")...).AtLeast(1).AtMost(2), []ruleTest{
		{`["a"]`, ""}, {`["a","b"]`, ""}, {`[]`, "minItems"}, {`["a","b","c"]`, "maxItems"}, {`null`, ""},
	})
	testRules(t, Choices("x", Options("a")...).Required(), []ruleTest{{`[]`, ""}, {`null`, "required"}})
	same(t, "untitled", property(t, Choices("x", Options("a", "b")...).AtLeast(1).AtMost(2).Default("b", "a")),
		`{"type":"array","title":"X","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]},"default":["b","a"]}`)
	same(t, "titled", property(t, Choices("x", Opt("a", "A"), Opt("b", "")).Title("T").Description("D")),
		`{"type":"array","title":"T","description":"D","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"b"}]}}`)

	x := Choices("x", Opt("a", "A"), Opt("b", "B"), Opt("c", "C"))
	for want, tt := range map[string]struct {
		x     Field
		value string
	}{
		`X needs between 1 and 2 choices.`:                        {x.AtLeast(1).AtMost(2), `[]`},
		`X needs at least 1 choice.`:                              {x.AtLeast(1), `[]`},
		`X needs exactly 2 choices.`:                              {x.AtLeast(2).AtMost(2), `[]`},
		`X needs at most 1 choice.`:                               {x.AtMost(1), `["a","b"]`},
		`X must not have the same choice twice; you entered "a".`: {x, `["a","a"]`},
		`X: each choice must be A, B or C; you entered "d".`:      {x, `["a","d"]`},
		`X must be a list of choices; you entered "a".`:           {x, `"a"`},
	} {
		same(t, "message", message(t, tt.x, tt.value), want)
	}
}

// TestChoicesBounded: however much a client sends, an answer costs no more than the options are worth.
func TestChoicesBounded(t *testing.T) {
	values := make([]string, 300)
	for i := range values {
		values[i] = fmt.Sprintf("option%d", i)
	}
	f := New(Choices("x", Options(values...)...))
	all := `{"x":["` + strings.Join(values, `","`) + `"]}`
	if problems := f.Validate([]byte(all)); problems != nil {
		t.Error(problems)
	}
	hostile := `{"x":[` + strings.Repeat(`"option299",`, 100_000) + `"option1"]}`
	if problems := f.Validate([]byte(hostile)); len(problems) != 1 || problems[0].Rule != "uniqueItems" {
		t.Error(problems)
	}
}

func TestChoicesIn(t *testing.T) {
	type extra string
	x := Choices[extra]("x", Options[extra]("a", "b")...)
	if got := x.In(decode(t, New(x), `{"x":["b","a"]}`)); !slices.Equal(got, []extra{"b", "a"}) {
		t.Error(got)
	}
	if got := x.In(decode(t, New(x), `{}`)); got != nil {
		t.Error(got)
	}
	if got := x.In(decode(t, New(x), `{"x":[]}`)); got == nil || len(got) != 0 {
		t.Error(got)
	}
	y := x.Default("a")
	got := y.In(decode(t, New(y), `{}`))
	if !slices.Equal(got, []extra{"a"}) {
		t.Error(got)
	}
	got[0] = "changed"
	if again := y.In(decode(t, New(y), `{}`)); again[0] != "a" {
		t.Error("the default of a form can be changed through a value")
	}
	type S struct{ X []extra }
	f := Build(func(s *S) []Field {
		return []Field{ChoicesOf(&s.X, Options[extra]("a", "b")...).Optional().Default("a")}
	})
	s := decode(t, f, `{}`)
	s.X[0] = "changed"
	if again := decode(t, f, `{}`); again.X[0] != "a" {
		t.Error("the default of a form can be changed through a value")
	}
}

// The value of an option that data brought along cannot rewrite the words around it.
func TestHarmfulOptions(t *testing.T) {
	f := New(Choice("x", Options("a\u202eb", "c")...), Choices("y", Options("d\n")...))
	same(t, "Schema", string(f.Schema()), `{"type":"object","properties":{"x":{"type":"string","title":"X","oneOf":[{"const":"a`+"\u202e"+`b","title":"ab"},{"const":"c","title":"c"}]},`+
		`"y":{"type":"array","title":"Y","items":{"anyOf":[{"const":"d\n","title":"d"}]}}}}`)
	same(t, "blank", property(t, Choice("x", Opt(" ", ""), Opt("a", "A"))), `{"type":"string","title":"X","oneOf":[{"const":" ","title":"(blank)"},{"const":"a","title":"A"}]}`)
}
