package form

import "testing"

func TestBool(t *testing.T) {
	testRules(t, Bool("x"), []ruleTest{
		{`true`, ""}, {`false`, ""}, {`null`, ""},
		{`"true"`, "type"}, {`"on"`, "type"}, {`1`, "type"}, {`0`, "type"}, {`""`, "type"}, {`[true]`, "type"},
	})
	testRules(t, Bool("x").Required(), []ruleTest{{`false`, ""}, {`null`, "required"}, {`""`, "type"}})
	same(t, "plain", property(t, Bool("x")), `{"type":"boolean","title":"X"}`)
	same(t, "default", property(t, Bool("x").Title("T").Description("D").Default(false)), `{"type":"boolean","title":"T","description":"D","default":false}`)
	same(t, "message", message(t, Bool("giftWrap"), `"yes"`), `Gift Wrap must be yes or no (true or false); you entered "yes".`)
	same(t, "message", message(t, Bool("x"), `{}`), `X must be yes or no (true or false).`)
}
