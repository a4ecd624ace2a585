package form

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestInt(t *testing.T) {
	testRules(t, Int("x"), []ruleTest{
		{`0`, ""}, {`-0`, ""}, {`12`, ""}, {`1.0`, ""}, {`1e2`, ""}, {`1.5e1`, ""}, {`120e-1`, ""}, {`-9223372036854775808`, ""}, {`9223372036854775807`, ""},
		{`9007199254740993`, ""}, {`0.0e-400`, ""}, {`0e400`, ""}, {`1E+2`, ""}, {`9223372036854775807.000`, ""}, {`""`, ""}, {`null`, ""},
		{`1.5`, "type"}, {`1e-1`, "type"}, {`9223372036854775806.5`, "type"}, {`"1"`, "type"}, {`true`, "type"}, {`[1]`, "type"}, {`{}`, "type"},
		{`9223372036854775808`, "maximum"}, {`-9223372036854775809`, "minimum"}, {`1e400`, "maximum"}, {`-1e400`, "minimum"}, {`1e401`, "type"},
		{strings.Repeat("9", 400), "maximum"}, {strings.Repeat("9", 401), "type"}, {`100000000000000000000`, "maximum"},
	})
	testRules(t, Int("x").Range(1, 10), []ruleTest{
		{`1`, ""}, {`10`, ""}, {`10.0`, ""}, {`0`, "minimum"}, {`11`, "maximum"}, {`-1`, "minimum"}, {`10.5`, "type"}, {`1e1`, ""},
	})
	testRules(t, Int("x").Min(9007199254740993), []ruleTest{{`9007199254740993`, ""}, {`9007199254740992`, "minimum"}})
	testRules(t, Int("x").Required(), []ruleTest{{`""`, "type"}, {`null`, "required"}})

	same(t, "plain", property(t, Int("x")), `{"type":"integer","title":"X"}`)
	same(t, "all", property(t, Int("x").Range(-1, 9007199254740993).Default(0)), `{"type":"integer","title":"X","minimum":-1,"maximum":9007199254740993,"default":0}`)
	same(t, "message", message(t, Int("parcels").Range(1, 10), `12`), `Parcels must be between 1 and 10; you entered 12.`)
	same(t, "message", message(t, Int("x").Min(1), `0`), `X must be at least 1; you entered 0.`)
	same(t, "message", message(t, Int("x").Max(1), `2.0`), `X must be at most 1; you entered 2.0.`)
	same(t, "message", message(t, Int("x").Range(3, 3), `2`), `X must be 3; you entered 2.`)
	same(t, "message", message(t, Int("x"), `"12"`), `X must be a whole number; you entered "12".`)
	same(t, "message", message(t, Int("x"), `9223372036854775808`), `X must be at most 9223372036854775807; you entered 9223372036854775808.`)
	same(t, "message", message(t, Int("x"), strings.Repeat("9", 100)), `X must be at most 9223372036854775807; you entered `+strings.Repeat("9", 60)+`….`)
}

type (
	small8   int8
	unsigned uint64
)

func TestIntegerTypes(t *testing.T) {
	type S struct {
		I   int
		I8  small8
		I16 int16
		I32 int32
		I64 int64
		U   uint
		U8  uint8
		U16 uint16
		U32 uint32
		U64 unsigned
		Ptr *uint8
	}
	f := Build(func(s *S) []Field {
		return []Field{IntOf(&s.I), IntOf(&s.I8), IntOf(&s.I16), IntOf(&s.I32), IntOf(&s.I64), IntOf(&s.U), IntOf(&s.U8), IntOf(&s.U16), IntOf(&s.U32), IntOf(&s.U64), IntOf(s.Ptr)}
	})
	same(t, "For and Build agree", string(For[S]().Schema()), string(f.Schema()))
	same(t, "schema", string(f.Schema()), `{"type":"object","properties":{"I":{"type":"integer","title":"I"},`+
		`"I8":{"type":"integer","title":"I8","minimum":-128,"maximum":127},"I16":{"type":"integer","title":"I16","minimum":-32768,"maximum":32767},`+
		`"I32":{"type":"integer","title":"I32","minimum":-2147483648,"maximum":2147483647},"I64":{"type":"integer","title":"I64"},`+
		`"U":{"type":"integer","title":"U","minimum":0},"U8":{"type":"integer","title":"U8","minimum":0,"maximum":255},`+
		`"U16":{"type":"integer","title":"U16","minimum":0,"maximum":65535},"U32":{"type":"integer","title":"U32","minimum":0,"maximum":4294967295},`+
		`"U64":{"type":"integer","title":"U64","minimum":0},"Ptr":{"type":"integer","title":"Ptr","minimum":0,"maximum":255}},`+
		`"required":["I","I8","I16","I32","I64","U","U8","U16","U32","U64"]}`)

	lowest := `{"I":-9223372036854775808,"I8":-128,"I16":-32768,"I32":-2147483648,"I64":-9223372036854775808,"U":0,"U8":0,"U16":0,"U32":0,"U64":0,"Ptr":0}`
	zero := uint8(0)
	s := decode(t, f, lowest)
	if *s.Ptr != 0 {
		t.Error(*s.Ptr)
	}
	s.Ptr = nil
	if want := (S{math.MinInt, math.MinInt8, math.MinInt16, math.MinInt32, math.MinInt64, 0, 0, 0, 0, 0, nil}); s != want {
		t.Errorf("%+v", s)
	}
	s.Ptr = &zero
	b, _ := f.Encode(s)
	same(t, "Encode", string(b), lowest)

	highest := `{"I":9223372036854775807,"I8":127,"I16":32767,"I32":2147483647,"I64":9223372036854775807,"U":18446744073709551615,"U8":255,"U16":65535,"U32":4294967295,"U64":18446744073709551615}`
	s = decode(t, f, highest)
	if want := (S{math.MaxInt, math.MaxInt8, math.MaxInt16, math.MaxInt32, math.MaxInt64, math.MaxUint, math.MaxUint8, math.MaxUint16, math.MaxUint32, math.MaxUint64, nil}); s != want {
		t.Errorf("%+v", s)
	}
	b, _ = f.Encode(s)
	same(t, "Encode", string(b), highest)

	outside := `{"I":9223372036854775808,"I8":128,"I16":-32769,"I32":2147483648,"I64":1e19,"U":-1,"U8":256,"U16":65536,"U32":4294967296,"U64":18446744073709551616,"Ptr":-1}`
	rules := ""
	for _, p := range f.Validate([]byte(outside)) {
		rules += " " + p.Field + ":" + p.Rule
	}
	same(t, "outside", rules, " I:maximum I8:maximum I16:minimum I32:maximum I64:maximum U:minimum U8:maximum U16:maximum U32:maximum U64:maximum Ptr:minimum")
}

// TestParseInteger compares with math/big on many ways to write numbers.
func TestParseInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	digits := func(most int) string {
		b := make([]byte, 1+r.IntN(most))
		for i := range b {
			b[i] = "0009123"[r.IntN(7)]
		}
		return string(b)
	}
	for range 20000 {
		text := strings.TrimLeft(digits(22), "0")
		if text == "" {
			text = "0"
		}
		if r.IntN(2) == 0 {
			text = "-" + text
		}
		if r.IntN(2) == 0 {
			text += "." + digits(8)
		}
		if r.IntN(2) == 0 {
			text += fmt.Sprintf("e%d", r.IntN(50)-25)
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		got, whole := parseInteger([]byte(text))
		if whole != want.IsInt() {
			t.Fatalf("%s: whole %v", text, whole)
		}
		if !whole {
			continue
		}
		n := want.Num()
		if got.huge != !(new(big.Int).Abs(n).IsUint64()) || got.negative != (n.Sign() < 0) || !got.huge && got.String() != n.String() {
			t.Fatalf("%s: %+v, want %v", text, got, n)
		}
	}
}

func TestIntIn(t *testing.T) {
	x := Int("x")
	v := decode(t, New(x), `{"x":9007199254740993}`)
	if got := x.In(v); got != 9007199254740993 {
		t.Error(got)
	}
	if got := Int("other").In(v); got != 0 {
		t.Error(got)
	}
	if got := (IntegerField[int8]{c: common{name: "x"}}).In(v); got != 0 {
		t.Errorf("%d out of a value that int8 cannot hold", got)
	}
	if got := String("x").In(v); got != "" {
		t.Error(got)
	}
}
