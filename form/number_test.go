package form

import (
	"math"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	testRules(t, Number("x"), []ruleTest{
		{`0`, ""}, {`-0`, ""}, {`-0.0`, ""}, {`1.5`, ""}, {`1e308`, ""}, {`1.7976931348623157e308`, ""}, {`5e-324`, ""}, {`1e-400`, ""}, {`9007199254740993`, ""}, {`""`, ""}, {`null`, ""},
		{`1e309`, "maximum"}, {`-1e309`, "minimum"}, {`1e400`, "maximum"}, {`1e401`, "type"}, {`"1.5"`, "type"}, {`true`, "type"}, {`[]`, "type"}, {strings.Repeat("1", 401), "type"},
		{`0.` + strings.Repeat("3", 300), ""},
	})
	testRules(t, Number("x").Range(0.1, 0.3), []ruleTest{{`0.1`, ""}, {`0.3`, ""}, {`0.30`, ""}, {`0.2`, ""}, {`0.09`, "minimum"}, {`0.31`, "maximum"}})
	testRules(t, Number("x").Required(), []ruleTest{{`""`, "type"}, {`null`, "required"}})
	same(t, "plain", property(t, Number("x")), `{"type":"number","title":"X"}`)
	same(t, "all", property(t, Number("x").Range(-0.5, 1e21).Default(1e-7)), `{"type":"number","title":"X","minimum":-0.5,"maximum":1e+21,"default":1e-07}`)
	same(t, "whole", property(t, Number("x").Min(18)), `{"type":"number","title":"X","minimum":18}`)
	same(t, "message", message(t, Number("netWeight").Range(0.5, 30), `31.25`), `Net Weight must be between 0.5 and 30; you entered 31.25.`)
	same(t, "message", message(t, Number("x"), `"much"`), `X must be a number; you entered "much".`)
	same(t, "message", message(t, Number("x"), `1e309`), `X must be at most 1.7976931348623157e+308; you entered 1e309.`)
	same(t, "message", message(t, Number("x").Min(1), `0`), `X must be at least 1; you entered 0.`)
}

func TestFloat32(t *testing.T) {
	type ratio float32
	type S struct{ R ratio }
	f := Build(func(s *S) []Field { return []Field{NumberOf(&s.R).Range(0.1, 3e38).Default(0.2)} })
	same(t, "schema", string(f.Schema()), `{"type":"object","properties":{"R":{"type":"number","title":"R","minimum":0.1,"maximum":3e+38,"default":0.2}},"required":["R"]}`)
	for in, rule := range map[string]string{"0.1": "", "3e38": "", "3.1e38": "maximum", "1e39": "maximum", "0.09999999": "minimum"} {
		problems := f.Validate([]byte(`{"R":` + in + `}`))
		if rule == "" && problems != nil || rule != "" && (len(problems) != 1 || problems[0].Rule != rule) {
			t.Errorf("%s: %+v", in, problems)
		}
	}
	s := decode(t, f, `{"R":0.1}`)
	if s.R != 0.1 {
		t.Error(s.R)
	}
	b, _ := f.Encode(s)
	same(t, "Encode", string(b), `{"R":0.1}`)
	if _, err := f.Encode(S{ratio(math.Inf(1))}); err == nil || err.Error() != `form: field "R": its value is +Inf, which JSON does not have` {
		t.Error(err)
	}
}

func TestNumberContent(t *testing.T) {
	x := Number("x")
	d, _ := New(x).Decode([]byte(`{"x": 9007199254740993.10 }`))
	same(t, "Content", string(d.Content()), `{"x":9007199254740993.10}`)
	if got := x.In(d.Value); got != 9007199254740993.10 {
		t.Error(got)
	}
	if got := x.In(decode(t, New(x), `{"x":-0}`)); got != 0 || !math.Signbit(got) {
		t.Error(got)
	}
}
