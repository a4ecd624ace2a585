package form

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestContentAsAWhole(t *testing.T) {
	f := New(String("a"), Int("b"))
	for _, ok := range []string{``, ` `, "\n", `null`, ` null `, `{}`, `{"c":{"a":[1]},"A":true,"a ":1}`, `{"a":null,"b":null}`, ` { "b" : 1 , "a" : "x" } `, `{"c":1,"c":2}`} {
		if p := f.Validate([]byte(ok)); p != nil {
			t.Errorf("%q: %+v", ok, p)
		}
	}
	for content, want := range map[string]string{
		`[]`: notAnObject, `"a"`: notAnObject, `1`: notAnObject, `true`: notAnObject,
		`{`: notJSON, `x`: notJSON, `{"a":"x"}{}`: notJSON, `{"a":"x";"b":1}`: notJSON, `{"c":x}`: notJSON, "{\"a\":\"\xff\"}": notJSON, `{"a":"\ud800"}`: notJSON, "\u00a0": notJSON,
		`{"c":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`: notJSON, `{a:1}`: notJSON,
	} {
		p := f.Validate([]byte(content))
		if len(p) != 1 || p[0].Rule != "type" || p[0].Field != "" || p[0].Requirement != want || p[0].Message != want {
			t.Errorf("%q: %+v", content, p)
		}
	}
	if p := New(String("a").Required()).Validate(nil); len(p) != 1 || p[0].Rule != "required" || p[0].Message != "A is required." {
		t.Errorf("%+v", p)
	}
}

func TestDuplicateMembers(t *testing.T) {
	f := New(String("a"), Int("b"))
	for _, content := range []string{`{"a":"x","a":"x"}`, `{"a":"x","\u0061":"y"}`, `{"a":null,"a":"x"}`, `{"a":1,"c":1,"a":2,"a":3}`} {
		p := f.Validate([]byte(content))
		if len(p) != 1 || p[0].Field != "a" || p[0].Rule != "duplicate" || p[0].Message != "A must be answered only once." {
			t.Errorf("%s: %+v", content, p)
		}
	}
}

func TestProblemsInOrder(t *testing.T) {
	p := wide().Validate([]byte(`{"extras":["x"],"carrier":"x","fragile":"x","weight":0,"parcels":0,"at":"x","day":"x","homepage":"x","email":"x"}`))
	got := ""
	for _, p := range p {
		got += p.Field + ":" + p.Rule + " "
	}
	same(t, "problems", got, "trackingNumber:required email:format homepage:format day:format at:format parcels:minimum weight:minimum fragile:type carrier:enum extras:enum ")
}

func TestManyFields(t *testing.T) {
	var fields []Field
	content := "{"
	for i := range 100 {
		fields = append(fields, Int(fmt.Sprintf("field%d", i)).Required())
		content = fmt.Sprintf(`%s"field%d":%d,`, content, 99-i, 99-i)
	}
	f := New(fields...)
	if p := f.Validate([]byte(content + `"other":1}`)); p != nil {
		t.Error(p)
	}
	if p := f.Validate([]byte(content + `"\u0066ield7":1}`)); len(p) != 1 || p[0].Field != "field7" || p[0].Rule != "duplicate" {
		t.Error(p)
	}
	if p := f.Validate([]byte(`{}`)); len(p) != 100 {
		t.Error(len(p))
	}
}

func TestDefaultsAndGiven(t *testing.T) {
	note, parcels, fragile := String("note").Default("none"), Int("parcels").Default(3), Bool("fragile").Default(true)
	weight, carrier, email := Number("weight").Default(1.5), Choice("carrier", Options("ups")...).Default("ups"), Email("email").Default("a@b")
	day := Date("day").Default(time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC))
	extras, bare := Choices("extras", Options("a", "b")...).Default("b"), String("bare")
	f := New(note, parcels, fragile, weight, carrier, email, day, extras, bare)

	for _, absent := range []string{`{}`, ``, `{"note":null,"parcels":null,"fragile":null,"weight":null,"carrier":null,"email":null,"day":null,"extras":null,"bare":null}`,
		`{"parcels":"","weight":"","carrier":"","email":"","day":""}`, `{"parcels":"" , "day": null}`} {
		d, p := f.Decode([]byte(absent))
		if p != nil {
			t.Fatalf("%s: %+v", absent, p)
		}
		v := d.Value
		if note.In(v) != "none" || parcels.In(v) != 3 || !fragile.In(v) || weight.In(v) != 1.5 || carrier.In(v) != "ups" || email.In(v) != "a@b" ||
			day.In(v) != time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC) || !reflect.DeepEqual(extras.In(v), []string{"b"}) || bare.In(v) != "" {
			t.Errorf("%s: %+v", absent, v)
		}
		for name := range f.Fields() {
			if d.Given(name) || v.Given(name) {
				t.Errorf("%s: %s is Given", absent, name)
			}
		}
		same(t, "Content", string(d.Content()), `{}`)
		b, _ := f.Encode(v)
		same(t, "Encode", string(b), `{}`)
	}

	d, _ := f.Decode([]byte(`{ "extras":[], "note" : "" , "parcels":0,"fragile":false,"weight":0, "other":1 }`))
	v := d.Value
	if note.In(v) != "" || parcels.In(v) != 0 || fragile.In(v) || weight.In(v) != 0 || len(extras.In(v)) != 0 {
		t.Errorf("zero values became defaults: %+v", v)
	}
	for name := range f.Fields() {
		if want := strings.Contains("note parcels fragile weight extras", name); d.Given(name) != want || v.Given(name) != want {
			t.Errorf("Given(%s) = %v", name, d.Given(name))
		}
	}
	if d.Given("other") || v.Given("other") {
		t.Error("a member that is not a field is Given")
	}
	same(t, "Content", string(d.Content()), `{"note":"","parcels":0,"fragile":false,"weight":0,"extras":[]}`)
	b, _ := f.Encode(v)
	same(t, "Encode", string(b), string(d.Content()))
}

// A required field is not filled from its default: that is a proposal to a person, not an answer of one.
func TestRequiredWithDefault(t *testing.T) {
	if p := New(Bool("x").Default(true).Required()).Validate([]byte(`{}`)); len(p) != 1 || p[0].Rule != "required" {
		t.Error(p)
	}
}

func TestValuesSet(t *testing.T) {
	note, parcels, weight, fragile := String("note"), Int("parcels"), Number("weight"), Bool("fragile")
	carrier, extras, email, at := Choice("carrier", Options("ups")...), Choices("extras", Options("a", "b")...), Email("email"), DateTime("at")
	f := New(note, parcels, weight, fragile, carrier, extras, email, at)
	var v Values
	note.Set(&v, "n")
	parcels.Set(&v, 9007199254740993)
	weight.Set(&v, 0.1)
	fragile.Set(&v, true)
	carrier.Set(&v, "ups")
	extras.Set(&v, "b", "a")
	email.Set(&v, "a@b")
	at.Set(&v, time.Date(2026, 7, 28, 14, 30, 0, 0, time.FixedZone("", 7200)))
	before := v
	note.Set(&v, "changed")
	String("unknown").Set(&v, "x")
	if note.In(before) != "n" || note.In(v) != "changed" {
		t.Error("copies of Values share their values")
	}
	b, err := f.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "Encode", string(b), `{"note":"changed","parcels":9007199254740993,"weight":0.1,"fragile":true,"carrier":"ups","extras":["b","a"],"email":"a@b","at":"2026-07-28T14:30:00+02:00"}`)
	again, _ := f.Encode(decode(t, f, string(b)))
	same(t, "Encode again", string(again), string(b))

	note.Set(&v, "\xff")
	if _, err := f.Encode(v); err == nil || err.Error() != `form: field "note": its value is not valid UTF-8` {
		t.Error(err)
	}
	note.Set(&v, "")
	extras.Set(&v, "\xff")
	if _, err := f.Encode(v); err == nil || err.Error() != `form: field "extras": its value is not valid UTF-8` {
		t.Error(err)
	}
}

const wideAnswer = `{"trackingNumber":"1Z999AA10123456784","email":"name@example.com","homepage":"https://example.com/a?b=c#d","day":"2026-07-28","at":"2026-07-28T14:30:00.5+02:00","parcels":7,"weight":12.75,"fragile":true,"carrier":"dhl","extras":["signature","insurance"]}`

func TestValidateDoesNotAllocate(t *testing.T) {
	f := wide()
	escaped := strings.NewReplacer("1Z9", `\u0031Z9`, "name@", `n\u0061me@`, `"dhl"`, `"\u0064hl"`, `"parcels"`, `"\u0070arcels"`).Replace(wideAnswer)
	for _, answer := range []string{wideAnswer, escaped, strings.ReplaceAll(wideAnswer, `":`, `" : `), `{"unknown":{"a":[1,2,3]},` + wideAnswer[1:]} {
		content := []byte(answer)
		if p := f.Validate(content); p != nil {
			t.Fatalf("%+v", p)
		}
		if n := testing.AllocsPerRun(100, func() { f.Validate(content) }); n != 0 {
			t.Errorf("%v allocations for %s", n, answer)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	f, content := wide(), []byte(wideAnswer)
	b.ReportAllocs()
	for b.Loop() {
		if f.Validate(content) != nil {
			b.Fatal("not valid")
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	f, content := wide(), []byte(wideAnswer)
	b.ReportAllocs()
	for b.Loop() {
		if _, p := f.Decode(content); p != nil {
			b.Fatal("not valid")
		}
	}
}
