package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCheck compares Check, and then the walk over what it accepts, with encoding/json.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		``, `{}`, ` [1, -2.5e+3, "a\ud83d\ude00", null, true, false] `, `{"a":{"b":[{}]},"\u0061":1}`, `"\ud800"`, `"\ude00\ud800"`,
		"\"\xff\"", `[1 2]`, `{"a" 1}`, `01`, `1.`, `-`, `1e`, `[[[[[]]]]]`, `{"a":1,"A":2}`, `{"k":1,"K":2}`, `"\\ud800"`, `"\b\f\n\r\t\/"`,
		"\"\\ufffd\"", `{"":0}`, "\"\u2028<\"",
	} {
		f.Add([]byte(s))
	}
	const depth = 5
	f.Fuzz(func(t *testing.T, data []byte) {
		// None of these may panic or hang, whatever the bytes are.
		walk(data)
		String(data)
		NameIs(data, "a")
		Get(data, "a")
		Duplicate(data, true)
		Compact(nil, data)
		NumberOK(data)
		Kind(data)
		RuneCount(data)
		Unquoted(nil, data)
		if _, err := Canonical(nil, data); err == nil && Check(data, MaxDepth) != nil {
			t.Fatal("Canonical took what Check refuses")
		}

		want := json.Valid(data) && utf8.Valid(data) && !unpaired(data) && nesting(data) <= depth
		err := Check(data, depth)
		if (err == nil) != want {
			t.Fatalf("Check(%q) = %v, want valid: %v", data, err, want)
		}
		if err != nil {
			se := err.(*SyntaxError)
			if se.Offset < 0 || se.Offset > len(data) || se.Reason == "" {
				t.Fatalf("%+v", se)
			}
			return
		}
		var buf bytes.Buffer
		if err := json.Compact(&buf, data); err != nil {
			t.Fatal(err)
		}
		if got := Compact(nil, data); !bytes.Equal(got, buf.Bytes()) {
			t.Fatalf("Compact(%q) = %q, want %q", data, got, buf.Bytes())
		}
		compare(t, data)

		canon, err := Canonical(nil, data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "two members") || !duplicates(data) {
				t.Fatalf("Canonical(%q): %v", data, err)
			}
			return
		}
		if duplicates(data) {
			t.Fatalf("Canonical(%q) took duplicates", data)
		}
		if again, err := Canonical(nil, canon); err != nil || !bytes.Equal(again, canon) {
			t.Fatalf("Canonical is not stable: %q, then %q (%v)", canon, again, err)
		}
		if !reflect.DeepEqual(decode(t, canon), decode(t, data)) {
			t.Fatalf("Canonical(%q) = %q means something else", data, canon)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00<é😀\u2028\xff")
	f.Fuzz(func(t *testing.T, s string) {
		q := AppendString(nil, s)
		if err := Check(q, 0); err != nil {
			t.Fatalf("AppendString(%q) = %s: %v", s, q, err)
		}
		want := string([]rune(s))
		if back, ok := String(q); !ok || back != want {
			t.Fatalf("String(%s) = %q, want %q", q, back, want)
		}
		if utf8.ValidString(s) && !NameIs(q, s) {
			t.Fatalf("NameIs(%s, %q)", q, s)
		}
		if canon, err := Canonical(nil, q); err != nil || !bytes.Equal(canon, q) {
			t.Fatalf("Canonical(%s) = %s, %v", q, canon, err)
		}
	})
}

func walk(v []byte) {
	for _, m := range Members(v) {
		walk(m)
	}
	for e := range Elements(v) {
		walk(e)
	}
}

// compareRecord compares what Record notes of an object with what a walk finds.
func compareRecord(t *testing.T, v []byte) {
	in := Object{}
	o := Object{Inside: "a", In: &in}
	if err := Record(v, 1<<20, &o); err != nil {
		t.Fatal(err)
	}
	i := 0
	var last []byte
	for name, value := range Members(v) {
		if i >= len(o.Members) || string(o.Members[i].Name) != string(name) || string(o.Members[i].Value) != string(value) {
			t.Fatalf("Record(%q) notes %v, not %s: %s at %d", v, o.Members, name, value, i)
		}
		s, _ := String(name)
		if m := o.Members[i]; !m.Is(s) || m.Is(s+"x") || m.Is("") != (s == "") {
			t.Fatalf("the member %s is not called %q", m.Name, s)
		}
		if NameIs(name, "a") && Kind(value) == '{' {
			last = value
		}
		i++
	}
	if i != len(o.Members) {
		t.Fatalf("Record(%q) notes %d members, not %d", v, len(o.Members), i)
	}
	n := 0
	for name := range Members(last) {
		if n >= len(in.Members) || string(in.Members[n].Name) != string(name) {
			t.Fatalf("Record(%q) notes %v inside", v, in.Members)
		}
		n++
	}
	if n != len(in.Members) {
		t.Fatalf("Record(%q) notes %d members inside, not %d", v, len(in.Members), n)
	}
	name, dup := o.Duplicate(v)
	if wantName, want := Duplicate(v, true); dup != want || name != wantName {
		t.Fatalf("the members of %q are twice there: %v %q, not %v %q", v, dup, name, want, wantName)
	}
}

// compare walks v and checks every step against encoding/json.
func compare(t *testing.T, v []byte) {
	var s string
	isString := json.Unmarshal(v, &s) == nil && Kind(v) == '"'
	got, ok := String(v)
	if ok != isString || got != s {
		t.Fatalf("String(%q) = %q, %v, want %q, %v", v, got, ok, s, isString)
	}
	if v := bytes.TrimSpace(v); isString {
		if text, ok := Unquoted(nil, v); !ok || string(text) != s || RuneCount(v) != utf8.RuneCountInString(s) {
			t.Fatalf("Unquoted(%q) = %q, RuneCount %d", v, text, RuneCount(v))
		}
	}
	switch Kind(v) {
	case '{':
		want := map[string]json.RawMessage{}
		if err := json.Unmarshal(v, &want); err != nil {
			t.Fatal(err)
		}
		compareRecord(t, v)
		last := map[string][]byte{}
		n := 0
		for q, value := range Members(v) {
			name, ok := String(q)
			if !ok || !NameIs(q, name) {
				t.Fatalf("name %q of %q", q, v)
			}
			n++
			last[name] = value
			compare(t, value)
		}
		if len(last) != len(want) {
			t.Fatalf("Members(%q): %d names, want %d", v, len(last), len(want))
		}
		for name, value := range want {
			if !bytes.Equal(last[name], value) {
				t.Fatalf("member %q of %q is %q, want %q", name, v, last[name], value)
			}
		}
		if _, dup := Duplicate(v, false); dup != (n > len(want)) {
			t.Fatalf("Duplicate(%q) = %v", v, dup)
		}
	case '[':
		var want []json.RawMessage
		if err := json.Unmarshal(v, &want); err != nil {
			t.Fatal(err)
		}
		i := 0
		for e := range Elements(v) {
			if i >= len(want) || !bytes.Equal(e, want[i]) {
				t.Fatalf("element %d of %q is %q", i, v, e)
			}
			compare(t, e)
			i++
		}
		if i != len(want) {
			t.Fatalf("Elements(%q): %d, want %d", v, i, len(want))
		}
	}
}

func duplicates(v []byte) bool {
	if _, dup := Duplicate(v, false); dup {
		return true
	}
	for _, m := range Members(v) {
		if duplicates(m) {
			return true
		}
	}
	for e := range Elements(v) {
		if duplicates(e) {
			return true
		}
	}
	return false
}

func decode(t *testing.T, data []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// unpaired finds a \u escape of a surrogate without its other half, in valid JSON; written unlike nextRune on purpose.
func unpaired(data []byte) bool {
	var units []int64 // of consecutive escapes
	bad := func() bool {
		for i := 0; i < len(units); i++ {
			high := units[i] >= 0xD800 && units[i] <= 0xDBFF
			low := units[i] >= 0xDC00 && units[i] <= 0xDFFF
			if low || high && (i+1 == len(units) || units[i+1] < 0xDC00 || units[i+1] > 0xDFFF) {
				return true
			}
			if high {
				i++
			}
		}
		units = nil
		return false
	}
	for i := 0; i < len(data); i++ {
		if data[i] == '\\' && data[i+1] == 'u' {
			var n int64
			for _, c := range strings.ToLower(string(data[i+2 : i+6])) {
				n = n*16 + int64(strings.IndexRune("0123456789abcdef", c))
			}
			units = append(units, n)
			i += 5
			continue
		}
		if data[i] == '\\' {
			i++
		}
		if bad() {
			return true
		}
	}
	return bad()
}

// nesting is the depth of valid JSON.
func nesting(data []byte) (deepest int) {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
