package form

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/elicit-go/elicit/internal/rawjson"
)

var hostile = []string{
	wideAnswer, ``, `null`, `{}`, `[]`, `{"trackingNumber":"12345678","fragile":true}`, `{"parcels":1e400,"weight":-1e400}`, `{"parcels":"","day":"","at":""}`,
	`{"extras":["signature","signature"]}`, `{"trackingNumber":"\ud800"}`, "{\"trackingNumber\":\"\xff\"}", `{"parcels":1,"parcels":1}`, `{"parcels":-0,"weight":-0.0}`,
	`{"at":"1998-12-31T23:59:60Z"}`, `{"email":"a@b","homepage":"http://[::1]:1/%20"}`, `{"carrier":"\u0075ps"}`, `{"note":"x"`, `{"id":null}`, `{"trackingNumber":"\u202e\n\u0000"}`,
	`{"id":"7","trackingNumber":"12345678","parcels":2,"weight":0,"fragile":false,"carrier":"dhl","extras":["b"],"email":"a@b","site":"x:","at":"2026-07-28T14:30:00+02:00","due":"2026-07-28","floor":-3}`,
}

// FuzzValidate: whatever the bytes, the verdict is one that holds, and what is said about it may be shown.
func FuzzValidate(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
	}
	fm := wide()
	f.Fuzz(func(t *testing.T, content []byte) {
		problems := fm.Validate(content)
		for _, p := range problems {
			if p.Rule == "" || p.Message == "" || p.Requirement == "" || !utf8.ValidString(p.Message) || strings.ContainsFunc(p.Message, isHarmful) || len(p.Message) > 1000 {
				t.Fatalf("%+v", p)
			}
			if p.Field != "" && fm.m.find(rawjson.AppendString(nil, p.Field)) < 0 {
				t.Fatalf("%+v", p)
			}
		}
		again := fm.SchemaWithDefaults(content)
		if rawjson.Check(again, rawjson.MaxDepth) != nil {
			t.Fatalf("%s", again)
		}
		if problems != nil {
			return
		}
		// What a valid answer offers as defaults is what its author could have written.
		properties, _ := rawjson.Get(again, "properties")
		for i := range fm.m.fields {
			fd := &fm.m.fields[i]
			p, _ := rawjson.Get(properties, fd.name)
			if def, ok := rawjson.Get(p, "default"); ok {
				if rule, _ := fd.rules.check(def); rule != "" {
					t.Fatalf("%s: default %s breaks %s", fd.name, def, rule)
				}
			}
		}
	})
}

// FuzzDecode: decoding agrees with Validate, is stable, and gives what encoding/json would where both understand.
func FuzzDecode(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
	}
	untyped, typed := wide(), shipmentForm()
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzDecode(t, untyped, content)
		fuzzDecode(t, typed, content)
	})
}

func fuzzDecode[T any](t *testing.T, f *Form[T], content []byte) {
	d, problems := f.Decode(content)
	if !reflect.DeepEqual(problems, f.Validate(content)) {
		t.Fatal("Decode and Validate disagree")
	}
	if problems != nil {
		return
	}
	again, problems := f.Decode(d.Content())
	if problems != nil || string(again.Content()) != string(d.Content()) || !reflect.DeepEqual(again.given, d.given) || !equal(again.Value, d.Value) {
		t.Fatalf("%s is %+v, then %s is %+v (%+v)", content, d, d.Content(), again, problems)
	}
	var members map[string]any
	if err := json.Unmarshal(d.Content(), &members); err != nil || len(members) != len(d.given) {
		t.Fatalf("%s: %v, given %q", d.Content(), err, d.given)
	}
	encoded, err := f.Encode(d.Value)
	if err != nil {
		t.Fatal(err)
	}
	back, problems := f.Decode(encoded)
	if problems != nil || !equal(back.Value, d.Value) {
		t.Fatalf("%s decodes to %+v, which encodes as %s and decodes to %+v (%+v)", content, d.Value, encoded, back.Value, problems)
	}
}

// equal is DeepEqual but for times, which compare as moments; and for what Encode leaves out.
func equal(a, b any) bool {
	if s, ok := a.(shipment); ok {
		o := b.(shipment)
		if !s.At.Equal(o.At) || s.Due != nil && !s.Due.Equal(*o.Due) {
			return false
		}
		s.At, o.At, s.Due, o.Due = time.Time{}, time.Time{}, nil, nil
		if s.Extra != nil && *s.Extra == (Extra{}) {
			s.Extra = nil
		}
		if o.Extra != nil && *o.Extra == (Extra{}) {
			o.Extra = nil
		}
		return reflect.DeepEqual(s, o)
	}
	va, vb := a.(Values), b.(Values)
	for i := range va.list {
		x, y := va.list[i], vb.list[i]
		if x.name == "at" && x.given {
			p, _, _ := parseDateTime([]byte(x.value.(string)))
			q, _, _ := parseDateTime([]byte(y.value.(string)))
			if !p.Equal(q) {
				return false
			}
			continue
		}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return len(va.list) == len(vb.list)
}

// FuzzNew: a form of any words is either refused or has a schema, and never panics.
func FuzzNew(f *testing.F) {
	f.Add("name", "Title", "description", "a", "b", "a", 0, 3)
	f.Add("", "\xff", "\u202e", "", "x", "y", -1, -2)
	f.Add("a\nb", "<b>\"", "\u2028", "a", "a", "c", 5, 1)
	f.Fuzz(func(t *testing.T, name, title, description, one, two, def string, lo, hi int) {
		for _, x := range []Field{
			String(name).Title(title).Description(description).MinLength(lo).MaxLength(hi).Default(def),
			Email(name).Title(title).Default(def), URI(name).Description(description).Default(def),
			Int(name).Title(title).Range(int64(lo), int64(hi)).Default(int64(lo)),
			Number(name).Range(float64(lo)/3, float64(hi)/7).Default(float64(hi)),
			Choice(name, Opt(one, title), Opt(two, description)).Default(def),
			Choices(name, Options(one, two)...).AtLeast(lo).AtMost(hi).Default(def),
		} {
			fm := New(x)
			if fm.Err() != nil {
				if fm.Schema() != nil {
					t.Fatal("a schema in spite of", fm.Err())
				}
				continue
			}
			if err := rawjson.Check(fm.Schema(), rawjson.MaxDepth); err != nil || strings.ContainsFunc(title, isHarmful) && strings.Contains(string(fm.Schema()), "\u202e") && !strings.Contains(one+two+def, "\u202e") {
				t.Fatalf("%s: %v", fm.Schema(), err)
			}
			if _, problems := fm.Decode(nil); problems != nil {
				t.Fatalf("%+v", problems)
			}
		}
	})
}

func FuzzFormats(f *testing.F) {
	for _, s := range []string{"a@b", "http://[::1]:1/%20?a#b", "2026-07-28", "1998-12-31T23:59:60.1+00:00", "urn:a:b", "//", "[", "@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		isEmail([]byte(s))
		isURI([]byte(s))
		if got, ok := parseDate([]byte(s)); ok {
			if want, err := time.Parse(time.DateOnly, s); err != nil || !got.Equal(want) {
				t.Fatalf("date %q: %v, %v", s, got, err)
			}
		} else if _, err := time.Parse(time.DateOnly, s); err == nil {
			t.Fatalf("date %q is one to package time", s)
		}
		// Package time has no leap seconds, wants capitals, and takes a comma and more offsets; what both take is the same.
		if got, _, ok := parseDateTime([]byte(s)); ok && !strings.Contains(s, ":60") {
			want, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
			if err != nil || !got.Equal(want) {
				t.Fatalf("date-time %q: %v, %v", s, got, err)
			}
		}
	})
}
