package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		in     string
		reason string // "" is valid
		offset int
	}{
		{`null`, "", 0},
		{` true `, "", 0},
		{"\t\r\n false\n", "", 0},
		{`""`, "", 0},
		{`"a\"\\\/\b\f\n\r\tA\ud83d\ude00é😀"`, "", 0},
		{`0`, "", 0}, {`-0`, "", 0}, {`-0.0e+10`, "", 0}, {`12.5E-3`, "", 0}, {`1e400`, "", 0},
		{`[]`, "", 0}, {`[ ]`, "", 0}, {`[1 , 2]`, "", 0}, {`{}`, "", 0}, {`{ }`, "", 0},
		{`{"a":1,"a":2}`, "", 0},
		{`{ "a" : [ { } ] , "b" : "c" }`, "", 0},
		{nested(64), "", 0},
		{`"\u0000"`, "", 0},

		{``, "empty", 0},
		{`  `, endsEarly, 2},
		{`nul`, "not true, false or null", 0},
		{`truE`, "not true, false or null", 0},
		{`fals`, "not true, false or null", 0},
		{`1 2`, "bytes after the value", 2},
		{`{}x`, "bytes after the value", 2},
		{"null\x00", "bytes after the value", 4},
		{"\ufeffnull", "not the beginning of a value", 0},
		{`'a'`, "not the beginning of a value", 0},
		{`NaN`, "not the beginning of a value", 0},
		{`+1`, "not the beginning of a value", 0},
		{`.5`, "not the beginning of a value", 0},
		{`01`, "a number with a leading zero", 1},
		{`-01`, "a number with a leading zero", 2},
		{`-`, "a digit is missing in a number", 1},
		{`1.`, "a digit is missing in a number", 2},
		{`1.e5`, "a digit is missing in a number", 2},
		{`1e`, "a digit is missing in a number", 2},
		{`1e+`, "a digit is missing in a number", 3},
		{`0x10`, "bytes after the value", 1},
		{`[`, endsEarly, 1},
		{`[1`, endsEarly, 2},
		{`[1,`, endsEarly, 3},
		{`[1,]`, "not the beginning of a value", 3},
		{`[,1]`, "not the beginning of a value", 1},
		{`[1 2]`, "neither comma nor closing bracket after an element", 3},
		{`[1}`, "neither comma nor closing bracket after an element", 2},
		{`{`, endsEarly, 1},
		{`{"a"`, endsEarly, 4},
		{`{"a":`, endsEarly, 5},
		{`{"a":1`, endsEarly, 6},
		{`{"a":1,`, endsEarly, 7},
		{`{"a":1,}`, "not a member name", 7},
		{`{,}`, "not a member name", 1},
		{`{a:1}`, "not a member name", 1},
		{`{1:1}`, "not a member name", 1},
		{`{"a" 1}`, "no colon after a member name", 5},
		{`{"a":1 "b":2}`, "neither comma nor closing brace after a member", 7},
		{`{"a":1]`, "neither comma nor closing brace after a member", 6},
		{`"a`, endsEarly, 2},
		{`"a\`, "an escape that is malformed or an unpaired surrogate", 2},
		{`"\x"`, "an escape that is malformed or an unpaired surrogate", 1},
		{`"\u12"`, "an escape that is malformed or an unpaired surrogate", 1},
		{`"\u12g4"`, "an escape that is malformed or an unpaired surrogate", 1},
		{`"\ud83d"`, "an escape that is malformed or an unpaired surrogate", 1},
		{`"\ud83dx"`, "an escape that is malformed or an unpaired surrogate", 1},
		{`"\ud83d\n12345"`, "an escape that is malformed or an unpaired surrogate", 1},
		{`"\ud83d\ud83d"`, "an escape that is malformed or an unpaired surrogate", 1},
		{`"\ude00"`, "an escape that is malformed or an unpaired surrogate", 1},
		{"\"a\nb\"", "a control character inside a string", 2},
		{"\"\xff\"", "a string that is not valid UTF-8", 0},
		{"\"\xed\xa0\x80\"", "a string that is not valid UTF-8", 0}, // a surrogate written as UTF-8
		{"\"\xc0\x80\"", "a string that is not valid UTF-8", 0},     // overlong
		{"[\"é\xc3\"]", "a string that is not valid UTF-8", 1},
		{nested(65), "nested too deeply", 64},
		{strings.Repeat(`{"a":`, 65), "nested too deeply", 64 * 5},
	}
	for _, tt := range tests {
		err := Check([]byte(tt.in), MaxDepth)
		if tt.reason == "" {
			if err != nil {
				t.Errorf("Check(%q): %v", tt.in, err)
			}
			continue
		}
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("Check(%q) = %v, want a *SyntaxError", tt.in, err)
			continue
		}
		if se.Reason != tt.reason || se.Offset != tt.offset {
			t.Errorf("Check(%q) = %d %q, want %d %q", tt.in, se.Offset, se.Reason, tt.offset, tt.reason)
		}
		if want := fmt.Sprintf("invalid JSON at byte %d: %s", tt.offset, tt.reason); err.Error() != want {
			t.Errorf("Error() = %q, want %q", err.Error(), want)
		}
	}
}

func TestCheckDepth(t *testing.T) {
	for _, tt := range []struct {
		in    string
		depth int
		ok    bool
	}{
		{`1`, 0, true}, {`[]`, 0, false}, {`[]`, 1, true}, {`[[]]`, 1, false}, {`{"a":[1]}`, 2, true}, {`{"a":[1]}`, 1, false},
		{`[]`, -1, false},
	} {
		if err := Check([]byte(tt.in), tt.depth); (err == nil) != tt.ok {
			t.Errorf("Check(%s, %d) = %v", tt.in, tt.depth, err)
		}
	}
}

func pairs(obj string) (out []string) {
	for n, v := range Members([]byte(obj)) {
		out = append(out, string(n)+"="+string(v))
	}
	return
}

func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{`{}`, nil}, {` { } `, nil}, {`[]`, nil}, {`"{}"`, nil}, {`null`, nil}, {``, nil}, {`1`, nil},
		{` { "a" : 1 , "b\"}" : [ 1, "]" ] ,"c":{"d":{}} , "a": null } `,
			[]string{`"a"=1`, `"b\"}"=[ 1, "]" ]`, `"c"={"d":{}}`, `"a"=null`}},
		{`{"a":-1.5e3}`, []string{`"a"=-1.5e3`}},
		{`{"a":true}`, []string{`"a"=true`}},
		// Bytes that Check refuses: stay in bounds and end.
		{`{"a"`, nil}, {`{"a`, nil}, {`{"a":`, nil}, {`{"a":}`, nil}, {`{"a":[`, nil}, {`{"a":"`, nil}, {`{"a":["`, nil},
		{`{"a":1`, []string{`"a"=1`}}, {`{"a":1;"b":2}`, []string{`"a"=1;"b":2`}},
	} {
		if got := pairs(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("Members(%s) = %q, want %q", tt.in, got, tt.want)
		}
	}
	for n, v := range Members([]byte(`{"a":1,"b":2}`)) { // stopping is allowed, and appending does not overwrite
		n, v = append(n, 'x'), append(v, 'x')
		if string(n) != `"a"x` || string(v) != `1x` {
			t.Errorf("%s %s", n, v)
		}
		break
	}
}

func TestElements(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{`[]`, nil}, {` [ ] `, nil}, {`{}`, nil}, {``, nil}, {`"[]"`, nil},
		{`[ 1 , "a,]" , [2,[3]] , {"x":[]} , null ]`, []string{`1`, `"a,]"`, `[2,[3]]`, `{"x":[]}`, `null`}},
		{`[1`, []string{`1`}}, {`[`, nil}, {`[,`, nil}, {`["`, nil}, {`[1 2]`, []string{`1`}},
	} {
		var got []string
		for e := range Elements([]byte(tt.in)) {
			got = append(got, string(e))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("Elements(%s) = %q, want %q", tt.in, got, tt.want)
		}
	}
	for range Elements([]byte(`[1,2]`)) {
		break
	}
}

func TestKind(t *testing.T) {
	for in, want := range map[string]byte{
		`{}`: '{', ` []`: '[', `"x"`: '"', `1`: '0', `-1`: '0', `0`: '0', `9`: '0', "\n\ttrue": 't', `false`: 'f', `null`: 'n',
		``: 0, ` `: 0, `x`: 0, `+1`: 0, `}`: 0,
	} {
		if got := Kind([]byte(in)); got != want {
			t.Errorf("Kind(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNameIs(t *testing.T) {
	for _, tt := range []struct {
		quoted, name string
		want         bool
	}{
		{`"a"`, "a", true}, {`""`, "", true}, {`"a"`, "A", false}, {`"ab"`, "a", false}, {`"a"`, "ab", false},
		{`"\u0061b"`, "ab", true}, {`"a\u0062"`, "a", false}, {`"\u0061"`, "ab", false}, {`"\u0061\""`, `a"`, true},
		{`"\ud83d\ude00"`, "😀", true}, {`"é"`, "é", true}, {`"\u00e9"`, "é", true}, {`"e\u0301"`, "é", false},
		{`"\ufffd"`, "\xff", false}, {`"\ufffd"`, "\ufffd", true}, {`"\ud83d"`, "\ufffd", false},
		{`a`, "a", false}, {`"`, "", false}, {``, "", false},
	} {
		if got := NameIs([]byte(tt.quoted), tt.name); got != tt.want {
			t.Errorf("NameIs(%s, %q) = %v", tt.quoted, tt.name, got)
		}
	}
}

func TestString(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		ok       bool
	}{
		{`"a"`, "a", true}, {` "a" `, "a", true}, {`""`, "", true}, {`"\ud83d\ude00 \u0041\n\t\r\b\f\/\\\""`, "😀 A\n\t\r\b\f/\\\"", true},
		{`"\ud83d"`, "", false}, {"\"\xff\"", "", false}, {"\"\\n\xff\"", "", false}, {`a`, "", false}, {`1`, "", false}, {`null`, "", false},
		{`"a""`, "", false}, {`"\n""`, "", false}, {`"a\"`, "", false}, {``, "", false}, {`"`, "", false}, {`"\uZZZZ"`, "", false},
	} {
		got, ok := String([]byte(tt.in))
		if got != tt.want || ok != tt.ok {
			t.Errorf("String(%s) = %q, %v", tt.in, got, ok)
		}
	}
}

func TestUnquotedAndRuneCount(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		ok       bool
		runes    int
	}{
		{`"a"`, "a", true, 1}, {`""`, "", true, 0}, {`"é😀"`, "é😀", true, 2}, {`"\ud83d\ude00\n\u0041b"`, "😀\nAb", true, 4}, {`"\u00e9\\"`, `é\`, true, 2},
		{`"\ud83d"`, "", false, 6}, {`1`, "", false, 0}, {``, "", false, 0}, {`"`, "", false, 0},
	} {
		got, ok := Unquoted(nil, []byte(tt.in))
		if string(got) != tt.want || ok != tt.ok {
			t.Errorf("Unquoted(%s) = %q, %v", tt.in, got, ok)
		}
		if n := RuneCount([]byte(tt.in)); n != tt.runes {
			t.Errorf("RuneCount(%s) = %d, want %d", tt.in, n, tt.runes)
		}
	}
	quoted := []byte(`"text"`)
	if got, _ := Unquoted(nil, quoted); &got[0] != &quoted[1] {
		t.Error("Unquoted copied what it need not")
	}
}

func TestGet(t *testing.T) {
	obj := []byte(`{"a":1,"\u0062":[2],"a":3}`)
	for name, want := range map[string]string{"a": "1", "b": "[2]"} {
		if v, ok := Get(obj, name); !ok || string(v) != want {
			t.Errorf("Get(%s) = %s, %v", name, v, ok)
		}
	}
	if v, ok := Get(obj, "c"); ok || v != nil {
		t.Errorf("Get(c) = %s", v)
	}
	if _, ok := Get([]byte(`[]`), "a"); ok {
		t.Error("Get on an array")
	}
}

func TestDuplicate(t *testing.T) {
	wide := func(extra string) string {
		var b strings.Builder
		b.WriteString("{")
		for i := range 40 {
			fmt.Fprintf(&b, `"m%d":%d,`, i, i)
		}
		return b.String() + extra + "}"
	}
	for _, tt := range []struct {
		in   string
		fold bool
		name string
		dup  bool
	}{
		{`{}`, true, "", false},
		{`[1]`, true, "", false},
		{`{"a":1,"b":2}`, true, "", false},
		{`{"a":1,"a":2}`, false, "a", true},
		{`{"a":1,"\u0061":2}`, false, "a", true},
		{`{"a":1,"A":2}`, false, "", false},
		{`{"a":1,"A":2}`, true, "A", true},
		{`{"role":1,"x":0,"ROLE":2}`, true, "ROLE", true},
		{`{"k":1,"\u212a":2}`, false, "", false},
		{`{"k":1,"\u212a":2}`, true, "\u212a", true}, // KELVIN SIGN
		{`{"ſ":1,"s":2}`, true, "s", true},
		{`{"Σ":1,"ς":2}`, true, "ς", true},
		{`{"ß":1,"ss":2}`, true, "", false}, // simple folding, not full
		{`{"a":1,"ab":2,"abc":3}`, true, "", false},
		{`{"a":{"b":1,"b":2}}`, true, "", false}, // members of obj itself only
		{wide(`"z":1`), true, "", false},
		{wide(`"M7":1`), true, "M7", true},
		{wide(`"M7":1`), false, "", false},
		{wide(`"m\u0037":1`), false, "m7", true},
	} {
		name, dup := Duplicate([]byte(tt.in), tt.fold)
		if name != tt.name || dup != tt.dup {
			t.Errorf("Duplicate(%s, %v) = %q, %v", tt.in, tt.fold, name, dup)
		}
	}
}

func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"":                    `""`,
		"plain é 😀":           `"plain é 😀"`,
		"<b>&'/\u2028":        "\"<b>&'/\u2028\"",
		"\"\\\b\f\n\r\t":      `"\"\\\b\f\n\r\t"`,
		"\x00\x1f\x7f":        "\"\\u0000\\u001f\x7f\"",
		"a\xffb\xc3":          "\"a\ufffdb\ufffd\"",
		"\xed\xa0\x80":        "\"\ufffd\ufffd\ufffd\"",
		"a real \ufffd stays": "\"a real \ufffd stays\"",
	} {
		got := AppendString([]byte("x"), in)
		if string(got) != "x"+want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got[1:], want)
		}
		if back, ok := String(got[1:]); !ok || back != strings.ToValidUTF8(in, "\ufffd") && !strings.Contains(in, "\xed") {
			t.Errorf("String(%s) = %q, %v", got[1:], back, ok)
		}
	}
}

func TestCompact(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		" { \"a b\" : [ 1 ,\t2 ] ,\n\"c\\\" \" : null } ": `{"a b":[1,2],"c\" ":null}`,
		`"a`: `"a`,
	} {
		if got := Compact(nil, []byte(in)); string(got) != want {
			t.Errorf("Compact(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumberOK(t *testing.T) {
	for in, want := range map[string]bool{
		"0": true, "-0": true, "1.0": true, "1e400": true, "1e-400": true, "1e401": false, "1e-401": false, "1E+0400": true,
		" 12 ": true, "9007199254740993": true,
		strings.Repeat("9", 400): true, strings.Repeat("9", 401): false, "0." + strings.Repeat("1", 400): false,
		"1e" + strings.Repeat("0", 500): false, "1e99999999999999999999999": false,
		"": false, "1x": false, "x": false, `"1"`: false, "01": false, "1.": false, "--1": false, "1 2": false,
	} {
		if got := NumberOK([]byte(in)); got != want {
			t.Errorf("NumberOK(%.20q) = %v", in, got)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ in, want, err string }{
		{` { "b" : 1.0 , "a" : [ 9007199254740993 , "\u0041\/\u00e9" ] } `, `{"a":[9007199254740993,"A/é"],"b":1.0}`, ""},
		{`{"\u0062":1,"a":{"d":1,"c":2}}`, `{"a":{"c":2,"d":1},"b":1}`, ""},
		{`{"\ud83d\ude00":1,"\uffee":2}`, `{"` + "\uffee" + `":2,"😀":1}`, ""}, // by UTF-8, not by UTF-16 as RFC 8785 sorts
		{`{"ab":1,"a":2,"":3}`, `{"":3,"a":2,"ab":1}`, ""},
		{`"\u000a\u001f\"<"`, `"\n\u001f\"<"`, ""},
		{`-0.10e5`, `-0.10e5`, ""},
		{` null `, `null`, ""}, {`[]`, `[]`, ""}, {`{}`, `{}`, ""},
		{`{"a":1,"a":1}`, "", `two members are called "a"`},
		{`[{"x":{"a":1,"\u0061":2}}]`, "", `two members are called "a"`},
		{`{"a":1,"A":2}`, `{"A":2,"a":1}`, ""},
		{`{"a":1}x`, "", "invalid JSON at byte 7: bytes after the value"},
		{``, "", "invalid JSON at byte 0: empty"},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), "", "invalid JSON at byte 64: nested too deeply"},
	} {
		got, err := Canonical([]byte("x"), []byte(tt.in))
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("Canonical(%s): %v, want %q", tt.in, err, tt.err)
			}
			continue
		}
		if err != nil || string(got) != "x"+tt.want {
			t.Errorf("Canonical(%s) = %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	data := []byte(`{"jsonrpc":"2.0","id":1,"params":{"arguments":{"a":[1,2.5e3,"é\n😀"],"b":null,"\u0063":true}}}`)
	array := []byte(`[1,2,3]`)
	dst := make([]byte, 0, 1024)
	for name, fn := range map[string]func(){
		"Check": func() {
			if Check(data, MaxDepth) != nil {
				t.Error("invalid")
			}
		},
		"Get": func() {
			p, _ := Get(data, "params")
			a, _ := Get(p, "arguments")
			if v, ok := Get(a, "c"); !ok || Kind(v) != 't' {
				t.Error("no c")
			}
		},
		"Elements": func() {
			n := 0
			for range Elements(array) {
				n++
			}
			if n != 3 {
				t.Error(n)
			}
		},
		"Duplicate":    func() { Duplicate(data, true) },
		"NumberOK":     func() { NumberOK(array[1:2]) },
		"AppendString": func() { AppendString(dst, "a\n\xff<é") },
		"Compact":      func() { Compact(dst, data) },
	} {
		if n := testing.AllocsPerRun(100, fn); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	data := bytes.Repeat([]byte(`{"name":"ShipOrder","n":12345.5,"arguments":{"text":"some longer text as people type it"}},`), 20)
	data = append(append([]byte{'['}, data...), `null]`...)
	for name, check := range map[string]func() bool{
		"rawjson":       func() bool { return Check(data, MaxDepth) == nil },
		"encoding/json": func() bool { return json.Valid(data) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !check() {
					b.Fatal("invalid")
				}
			}
		})
	}
}
