package form

import "testing"

func TestString(t *testing.T) {
	testRules(t, String("x"), []ruleTest{
		{`"1Z999"`, ""}, {`""`, ""}, {`null`, ""}, {`"\u00e9\n\ud83d\ude00"`, ""}, {`" "`, ""},
		{`1`, "type"}, {`true`, "type"}, {`["a"]`, "type"}, {`{"a":"b"}`, "type"},
	})
	testRules(t, String("x").MinLength(2).MaxLength(3), []ruleTest{
		{`"ab"`, ""}, {`"abc"`, ""}, {`"😀é"`, ""}, {`"\ud83d\ude00\u00e9\n"`, ""},
		{`"a"`, "minLength"}, {`""`, "minLength"}, {`"abcd"`, "maxLength"}, {`"😀"`, "minLength"}, {`"\ud83d\ude00"`, "minLength"},
		{`"\u0061\u0062\u0063\u0064"`, "maxLength"},
	})
	testRules(t, String("x").MinLength(1).Required(), []ruleTest{{`""`, "minLength"}, {`null`, "required"}, {`"a"`, ""}})
	testRules(t, String("x").Required(), []ruleTest{{`""`, ""}})
	testRules(t, String("x").MinLength(1), []ruleTest{{`""`, "minLength"}}) // "" is text, so not absent

	same(t, "plain", property(t, String("trackingNumber")), `{"type":"string","title":"Tracking Number"}`)
	same(t, "all", property(t, String("x").Title("A <b>").Description("d & é").MinLength(0).MaxLength(9).Default("q\"")),
		`{"type":"string","title":"A <b>","description":"d & é","minLength":0,"maxLength":9,"default":"q\""}`)
	same(t, "empty default", property(t, String("x").Default("")), `{"type":"string","title":"X","default":""}`)

	for want, x := range map[string]Field{
		`X must be between 2 and 3 characters long; you entered "abcdef".`: String("x").MinLength(2).MaxLength(3),
		`X must be exactly 2 characters long; you entered "abcdef".`:       String("x").MinLength(2).MaxLength(2),
		`X must be exactly 1 character long; you entered "abcdef".`:        String("x").MinLength(1).MaxLength(1),
		`X must be at most 1 character long; you entered "abcdef".`:        String("x").MaxLength(1),
		`X must be at most 3 characters long; you entered "abcdef".`:       String("x").MinLength(0).MaxLength(3),
		`X must be at least 9 characters long; you entered "abcdef".`:      String("x").MinLength(9),
	} {
		same(t, "message", message(t, x, `"abcdef"`), want)
	}
	same(t, "message", message(t, String("x"), `12`), `X must be text; you entered 12.`)
	same(t, "message", message(t, String("x"), `[]`), `X must be text.`)
}

func TestCopies(t *testing.T) {
	base := String("x")
	_ = base.Title("T").Required().MinLength(3).Default("abc")
	same(t, "a method changed its receiver", property(t, base), `{"type":"string","title":"X"}`)
}
