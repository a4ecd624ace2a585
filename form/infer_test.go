//lint:file-ignore SA5008 odd json tags, as encoding/json reads them, are what is tested here

package form

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestFor(t *testing.T) {
	type yes bool
	type S struct {
		Text     carrier   `json:"text" jsonschema:"some text, with a comma"`
		Whole    int64     `json:"whole,omitempty"`
		Part     float32   `json:"part,omitzero"`
		Yes      yes       `json:"yes"`
		At       time.Time `json:"at"`
		Note     *string   `json:"note"`
		Dash     string    `json:"-,"`
		Skipped  string    `json:"-"`
		Untagged string
		Later    *time.Time `json:",string"`
		hidden   string
	}
	f := For[S]()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	same(t, "schema", string(f.Schema()), `{"type":"object","properties":{"text":{"type":"string","title":"Text","description":"some text, with a comma"},`+
		`"whole":{"type":"integer","title":"Whole"},"part":{"type":"number","title":"Part"},"yes":{"type":"boolean","title":"Yes"},`+
		`"at":{"type":"string","title":"At","format":"date-time"},"note":{"type":"string","title":"Note"},"-":{"type":"string","title":"-"},`+
		`"Untagged":{"type":"string","title":"Untagged"},"Later":{"type":"string","title":"Later","format":"date-time"}},"required":["text","yes","at","-","Untagged"]}`)
	content := `{"text":"t","whole":1,"part":0.5,"yes":true,"at":"2026-07-28T14:30:00Z","note":"n","-":"d","Untagged":"u","Later":"2026-07-28T14:30:00.25-05:00"}`
	s := decode(t, f, content)
	if s.Text != "t" || s.Whole != 1 || s.Part != 0.5 || !s.Yes || *s.Note != "n" || s.Dash != "d" || s.Untagged != "u" || s.Later.Nanosecond() != 25e7 || s.hidden+s.Skipped != "" {
		t.Errorf("%+v", s)
	}
	b, _ := f.Encode(s)
	same(t, "Encode", string(b), content)
	b, _ = f.Encode(S{})
	same(t, "Encode of zero", string(b), `{"text":"","yes":false,"at":"0001-01-01T00:00:00Z","-":"","Untagged":""}`)
}

type Inner struct {
	A string
	B string `json:"b"`
	C string
}
type Deep struct{ D string }
type Middle struct {
	Deep
	C string
}
type Left struct{ Same, OnlyLeft string }
type Right struct{ Same string }
type Tagged struct {
	Other string `json:"Same"`
}
type unexported struct{ E string }
type lowercase string

// TestForNames compares the names with those encoding/json uses, for structs that are embedded in every way.
func TestForNames(t *testing.T) {
	testNames[struct {
		Inner
		*Middle
		A string
		Z string `json:"z"`
	}](t)
	testNames[struct {
		Left
		Right
	}](t)
	testNames[struct {
		Left
		Right
		Tagged
	}](t)
	testNames[struct {
		unexported
		Inner Inner `json:"-"`
		lowercase
	}](t)
	testNames[struct {
		Left
		L2   struct{} `json:"-"`
		Same int
	}](t)
	testNames[struct {
		M1
		M2
	}](t)
	testNames[struct {
		Bad  string `json:"a\"b"`
		Good string `json:"a.b/c d"`
		Same string `json:"Good"`
	}](t)
	testNames[recursive](t)
}

// Two fields of one struct with one name hide each other, as in encoding/json; reflect makes what vet would refuse.
func TestForNamesTwice(t *testing.T) {
	x := reflect.StructTag(`json:"x"`)
	s := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[string](), Tag: x}, {Name: "B", Type: reflect.TypeFor[string](), Tag: x}, {Name: "C", Type: reflect.TypeFor[string]()},
	})
	var b builder
	if binds := bindsOf(s, &b); len(binds) != 1 || binds[0].name != "C" || b.errs != nil {
		t.Errorf("%+v %v", binds, b.errs)
	}
}

type M1 struct{ Left }
type M2 struct{ Left }
type recursive struct {
	*recursive2
	A string
}
type recursive2 struct{ B string }

func testNames[T any](t *testing.T) {
	t.Helper()
	var v T
	f := For[T]()
	if err := f.Err(); err != nil {
		if !strings.Contains(err.Error(), "an embedded pointer to an unexported struct") {
			t.Error(err)
		}
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	_ = json.Unmarshal(b, &want)
	n := 0
	for name := range f.Fields() {
		n++
		if _, ok := want[name]; !ok && name != "D" && name != "C" { // of the nil *Middle
			t.Errorf("%T: field %s, but encoding/json has %s", v, name, b)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%T: no field for %v", v, want)
	}
}

func TestErrOfFor(t *testing.T) {
	type S struct {
		Ok       string
		Address  address
		Pointer  *address
		Extras   []carrier
		Bytes    []byte
		List     []int
		Array    [2]string
		Map      map[string]string
		Any      any
		Func     func()
		Chan     chan int
		Complex  complex128
		Uintptr  uintptr
		Double   **string
		Duration time.Duration
		Number   json.Number
		Lists    *[]carrier
		Raw      json.RawMessage
		Bad      string `jsonschema:"minLength=3"`
		Empty    string `jsonschema:""`
	}
	testErr(t, For[S](),
		"S.Address: a form is flat, so a field cannot be the struct form.address; move its fields up, or embed it",
		"S.Pointer: a form is flat, so a field cannot be the struct form.address; move its fields up, or embed it",
		"S.Extras: a []form.carrier needs options to choose from; write the tag elicit:\"enum=a|b\", give form.carrier a method ElicitOptions, or use form.Build with form.ChoicesOf",
		"S.Bytes: a form is flat and has no lists but of options, so not []uint8; ask for the elements one by one, or let several options be chosen (form.ChoicesOf)",
		"S.List: a form is flat and has no lists but of options, so not []int; ask for the elements one by one, or let several options be chosen (form.ChoicesOf)",
		"S.Array: a form is flat and has no lists but of options, so not [2]string; ask for the elements one by one, or let several options be chosen (form.ChoicesOf)",
		"S.Map: a form is flat and has fixed fields, so not map[string]string; write a field for each key",
		"S.Any: a form asks for one type, so not interface {}; use string, a number, bool or time.Time",
		"S.Func: a form cannot ask for func(); use string, a number, bool or time.Time",
		"S.Chan: a form cannot ask for chan int; use string, a number, bool or time.Time",
		"S.Complex: a form cannot ask for complex128; use string, a number, bool or time.Time",
		"S.Uintptr: a form cannot ask for uintptr; use string, a number, bool or time.Time",
		"S.Double: a form cannot ask for *string; use string, a number, bool or time.Time",
		"S.Duration: a time.Duration would be asked for in nanoseconds; use an int whose name says seconds or minutes",
		"S.Number: a json.Number may be anything; use a float64, or an integer type, which is exact",
		"S.Lists: a pointer to a list cannot be filled; use []form.carrier, which is nil where nothing was chosen",
		"S.Raw: a form is flat and has no lists but of options, so not json.RawMessage; ask for the elements one by one, or let several options be chosen (form.ChoicesOf)",
		`S.Bad: its jsonschema tag "minLength=3" begins with WORD=, which go-sdk reserves; the tag is a description`,
		"S.Empty: its jsonschema tag is empty; write a description or leave the tag out",
	)
	type E struct{ *unexported }
	testErr(t, For[E](), "E.unexported: an embedded pointer to an unexported struct cannot be filled; embed the struct itself")
	testErr(t, For[string](), "For[string]: a form is made of a struct; put the string into a field of one, or use form.New")
	testErr(t, For[*Inner](), "For[*form.Inner]: a form is made of a struct, not of a pointer; write For[form.Inner]")
	testErr(t, For[Values](), "For[form.Values]: values without a struct are for form.New")
	testErr(t, For[any](), "For[interface {}]: a form is made of a struct; put the interface {} into a field of one, or use form.New")
}
