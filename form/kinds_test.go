package form

import (
	"errors"
	"fmt"
	"math/big"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// size is an enum as Go programs have them: integer constants with a String method.
type size int

const (
	sizeS size = iota
	sizeL
)

func (s size) String() string { return [...]string{"small", "large"}[s] }

func (size) ElicitOptions() []Option[size] {
	return []Option[size]{Opt(sizeS, "Small"), Opt(sizeL, "Large")}
}

// color is an enum that is a string.
type color string

func (color) ElicitOptions() []Option[color] { return Options[color]("red", "green") }

// sku reads itself, and says what is wrong in words for people.
type sku struct{ letters, digits string }

func (s *sku) UnmarshalText(text []byte) error {
	l, d, ok := strings.Cut(string(text), "-")
	if !ok || l == "" || d == "" {
		return errors.New("an SKU is letters, a hyphen and digits")
	}
	*s = sku{l, d}
	return nil
}

func (s sku) MarshalText() ([]byte, error) {
	if s == (sku{}) {
		return nil, nil
	}
	return []byte(s.letters + "-" + s.digits), nil
}

// readOnly has no MarshalText.
type readOnly string

func (r *readOnly) UnmarshalText(text []byte) error { *r = readOnly(text); return nil }

type everything struct {
	Str    carrier        `json:"str"`
	I8     int8           `json:"i8"`
	U64    uint64         `json:"u64"`
	F32    float32        `json:"f32"`
	B      bool           `json:"b"`
	T      time.Time      `json:"t"`
	TD     time.Time      `json:"td" elicit:"format=date"`
	D      Day            `json:"d"`
	U      url.URL        `json:"u"`
	M      mail.Address   `json:"m"`
	A      netip.Addr     `json:"a"`
	Big    *big.Int       `json:"big"`
	S      sku            `json:"s"`
	Size   size           `json:"size"`
	Color  color          `json:"color"`
	Tagged string         `json:"tagged" elicit:"enum=a|b,enumTitles=A|B"`
	Sizes  []size         `json:"sizes"`
	Colors []color        `json:"colors"`
	List   []string       `json:"list" elicit:"enum=x|y|z,maxItems=2"`
	PU     *url.URL       `json:"pu"`
	PM     *mail.Address  `json:"pm"`
	PD     *Day           `json:"pd"`
	PA     *netip.Addr    `json:"pa"`
	PS     *size          `json:"ps"`
	PC     *color         `json:"pc"`
	OU     url.URL        `json:"ou,omitzero"`
	OD     Day            `json:"od,omitzero"`
	OM     mail.Address   `json:"om,omitzero"`
	OA     netip.Addr     `json:"oa,omitzero"`
	OS     size           `json:"os,omitempty"`
	OL     []size         `json:"ol,omitempty"`
	OC     color          `json:"oc,omitempty"`
	OT     time.Time      `json:"ot,omitzero"`
	Pre    netip.Prefix   `json:"pre,omitzero"`
	_      map[string]any `json:"-"`
}

const everyAnswer = `{"str":"s","i8":-128,"u64":18446744073709551615,"f32":0.1,"b":true,"t":"2026-07-28T14:30:00+02:00","td":"2026-07-28","d":"2024-02-29",` +
	`"u":"https://example.com/a?b#c","m":"a@example.com","a":"2001:db8::1","big":"123456789012345678901234567890","s":"AB-12","size":"large","color":"green","tagged":"b",` +
	`"sizes":["large","small"],"colors":["red"],"list":["z","x"],"pu":"mailto:a@example.com","pm":"b@example.com","pd":"2026-01-01","pa":"192.0.2.1","ps":"small","pc":"red",` +
	`"ou":"urn:a:b","od":"1999-12-31","om":"c@example.com","oa":"::1","os":"large","ol":["small"],"oc":"red","ot":"1969-07-20T20:17:40Z","pre":"10.0.0.0/8"}`

func TestEveryGoType(t *testing.T) {
	f := For[everything]()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"i8":{"type":"integer","title":"I 8","minimum":-128,"maximum":127}`, `"u64":{"type":"integer","title":"U64","minimum":0}`, `"f32":{"type":"number","title":"F32"}`,
		`"t":{"type":"string","title":"T","format":"date-time"}`, `"td":{"type":"string","title":"Td","format":"date"}`, `"d":{"type":"string","title":"D","format":"date"}`,
		`"u":{"type":"string","title":"U","format":"uri"}`, `"m":{"type":"string","title":"M","format":"email"}`, `"a":{"type":"string","title":"A"}`, `"big":{"type":"string","title":"Big"}`,
		`"size":{"type":"string","title":"Size","oneOf":[{"const":"small","title":"Small"},{"const":"large","title":"Large"}]}`, `"color":{"type":"string","title":"Color","enum":["red","green"]}`,
		`"tagged":{"type":"string","title":"Tagged","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`,
		`"sizes":{"type":"array","title":"Sizes","items":{"anyOf":[{"const":"small","title":"Small"},{"const":"large","title":"Large"}]}}`,
		`"list":{"type":"array","title":"List","maxItems":2,"items":{"type":"string","enum":["x","y","z"]}}`,
		`"required":["str","i8","u64","f32","b","t","td","d","u","m","a","s","size","color","tagged","sizes","colors","list"]`,
	} {
		if !strings.Contains(string(f.Schema()), strings.ReplaceAll(want, "I 8", "I8")) {
			t.Errorf("no %s in\n%s", want, f.Schema())
		}
	}
	v := decode(t, f, everyAnswer)
	if v.Str != "s" || v.I8 != -128 || v.U64 != 1<<64-1 || v.F32 != 0.1 || !v.B || !v.TD.Equal(time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)) || v.D != (Day{2024, 2, 29}) ||
		v.U.Host != "example.com" || v.M.Address != "a@example.com" || v.A != netip.MustParseAddr("2001:db8::1") || v.Big.String() != "123456789012345678901234567890" ||
		v.S != (sku{"AB", "12"}) || v.Size != sizeL || v.Color != "green" || v.Tagged != "b" || !reflect.DeepEqual(v.Sizes, []size{sizeL, sizeS}) || !reflect.DeepEqual(v.Colors, []color{"red"}) ||
		!reflect.DeepEqual(v.List, []string{"z", "x"}) || v.PU.Opaque != "a@example.com" || v.PM.Address != "b@example.com" || *v.PD != (Day{2026, 1, 1}) || v.PA.String() != "192.0.2.1" ||
		*v.PS != sizeS || *v.PC != "red" || v.OS != sizeL || v.OL[0] != sizeS || v.Pre.Bits() != 8 {
		t.Errorf("%+v", v)
	}
	if _, offset := v.T.Zone(); offset != 7200 || v.T.Hour() != 14 {
		t.Error("the time lost its zone:", v.T)
	}
	b, err := f.Encode(v)
	same(t, "Encode", string(b), everyAnswer)
	if err != nil {
		t.Error(err)
	}
}

// Nothing that was not given is sent, and pointers stay nil.
func TestEveryGoTypeLeftOut(t *testing.T) {
	f := For[everything]()
	required, _, _ := strings.Cut(everyAnswer, `,"pu"`)
	required = strings.Replace(required, `"big":"123456789012345678901234567890",`, "", 1) + "}"
	for _, blank := range []string{"", `,"big":"","pu":"","pm":"","pd":"","pa":"","ps":"","pc":"","ou":"","od":"","om":"","oa":"","os":"","oc":"","ot":"","pre":""`, `,"big":null,"pu":null,"pd":null,"ol":null,"os":null`} {
		v := decode(t, f, strings.TrimSuffix(required, "}")+blank+"}")
		if v.Big != nil || v.PU != nil || v.PM != nil || v.PD != nil || v.PA != nil || v.PS != nil || v.PC != nil || v.OL != nil || v.OS != sizeS || v.OU != (url.URL{}) {
			t.Errorf("%s: %+v", blank, v)
		}
		b, err := f.Encode(v)
		same(t, "Encode", string(b), required)
		if err != nil {
			t.Error(err)
		}
	}
	if p := f.Validate([]byte(strings.Replace(required, `"AB-12"`, `""`, 1))); len(p) != 1 || p[0].Field != "s" || p[0].Rule != "format" {
		t.Errorf("%+v", p)
	}
}

func TestEveryGoTypeRefuses(t *testing.T) {
	f := For[everything]()
	for field, values := range map[string][]string{
		"i8": {`128`, `-129`, `1.5`, `"1"`}, "u64": {`-1`, `18446744073709551616`}, "t": {`"2026-07-28"`, `1`}, "td": {`"2026-07-28T00:00:00Z"`}, "d": {`"2026-02-30"`, `"today"`},
		"u": {`"/relative"`, `"http://[::1"`, `"http://a/%zz"`, `"http://%41:x/"`}, "m": {`"a"`, `"A <a@b>"`}, "a": {`"1.2.3"`, `1`, `"x"`}, "big": {`"12x"`}, "size": {`"medium"`, `1`}, "sizes": {`["small","small"]`, `"small"`},
		"tagged": {`"c"`}, "list": {`["x","y","z"]`, `["w"]`}, "pre": {`"10.0.0.0"`},
	} {
		for _, v := range values {
			p := f.Validate([]byte(`{"` + field + `":` + v + `}`))
			found := false
			for _, p := range p {
				found = found || p.Field == field && p.Rule != "required"
			}
			if !found {
				t.Errorf("%s takes %s", field, v)
			}
		}
	}
}

// The kinds of New and Build for these types.
func TestTextFieldAndOthers(t *testing.T) {
	addr := Text[netip.Addr]("addr").Default(netip.MustParseAddr("::1")).MaxLength(20)
	grade := Choice("grade", Opt(sizeS, "S"), Opt(sizeL, "L")).Default(sizeL)
	grades := Choices("grades", Options(sizeS, sizeL)...).Default(sizeS)
	numbers := Choice("numbers", Options(1, 2, 3)...)
	f := New(addr, grade, grades, numbers)
	d, problems := f.Decode(nil)
	if problems != nil || addr.In(d.Value).String() != "::1" || grade.In(d.Value) != sizeL || grades.In(d.Value)[0] != sizeS || numbers.In(d.Value) != 0 {
		t.Errorf("%+v %v", d.Value, problems)
	}
	d, problems = f.Decode([]byte(`{"addr":"192.0.2.1","grade":"small","grades":["large"],"numbers":"3"}`))
	if problems != nil || addr.In(d.Value).String() != "192.0.2.1" || grade.In(d.Value) != sizeS || grades.In(d.Value)[0] != sizeL || numbers.In(d.Value) != 3 {
		t.Errorf("%+v %v", d.Value, problems)
	}
	var v Values
	addr.Set(&v, netip.MustParseAddr("::2"))
	grade.Set(&v, sizeS)
	grades.Set(&v, sizeL, sizeS)
	numbers.Set(&v, 2)
	b, err := f.Encode(v)
	same(t, "Encode", string(b), `{"addr":"::2","grade":"small","grades":["large","small"],"numbers":"2"}`)
	if err != nil {
		t.Error(err)
	}
	if p := f.Validate([]byte(`{"addr":"x"}`)); len(p) != 1 || p[0].Rule != "format" || p[0].Field != "addr" {
		t.Errorf("%+v", p)
	}

	type S struct {
		A   netip.Addr
		P   *netip.Addr
		U   *url.URL
		M   mail.Address
		D   Day
		Z   size
		Zs  []size
		C   color
		Cs  []color
		Odd readOnly
	}
	g := Build(func(s *S) []Field {
		return []Field{TextOf(&s.A), TextOf(s.P), URIOf(s.U), EmailOf(&s.M), DateOf(&s.D).Default(Day{2026, 1, 2}), ChoiceOf(&s.Z, Opt(sizeL, "L")), ChoicesOf(&s.Zs), ChoiceOf(&s.C), ChoicesOf(&s.Cs), TextOf(&s.Odd).Optional()}
	})
	content := `{"A":"::1","P":"::2","U":"urn:x:y","M":"a@b","D":"2026-07-28","Z":"large","Zs":["small"],"C":"red","Cs":["green","red"],"Odd":"x"}`
	s := decode(t, g, content)
	if s.P.String() != "::2" || s.U.Scheme != "urn" || s.M.Address != "a@b" || s.D.Month != time.July || s.Z != sizeL || s.Zs[0] != sizeS || s.C != "red" || len(s.Cs) != 2 || s.Odd != "x" {
		t.Errorf("%+v", s)
	}
	if _, err := g.Encode(s); err == nil || err.Error() != `form: field "Odd": its value has no text, as its type has no MarshalText` {
		t.Error(err)
	}
	u := URI("u")
	if got := FormatField[url.URL](URIOf(new(url.URL))); got.r.accept == nil {
		t.Error("a url.URL that url.Parse need not take")
	}
	if got := u.In(decode(t, New(u), `{"u":"x:y"}`)); got != "x:y" {
		t.Error(got)
	}
}

type broken int

func (broken) ElicitOptions() []string { return nil }

type panicking int

func (panicking) ElicitOptions() []Option[panicking] { panic("boom") }

type none string

func (none) ElicitOptions() []Option[none] { return nil }

type textless struct{ a int }

func TestErrOfKinds(t *testing.T) {
	type S struct {
		Broken    broken
		Panicking []panicking
		None      none
		Pointer   *[]size
		Sized     size `elicit:"enum=a|b"`
	}
	testErr(t, For[S](),
		"S.Broken: the method ElicitOptions of form.broken must be func() []form.Option[form.broken], not func() []string",
		"S.Panicking: the method ElicitOptions of form.panicking panicked: boom",
		`field "None": it has no options to choose from: give it some`,
		"S.Pointer: a pointer to a list cannot be filled; use []form.size, which is nil where nothing was chosen",
	)
	testErr(t, New(Choice("x", Options(textless{1})...)), `field "x": option 1 has no text: give form.textless a method MarshalText or String`)
	testErr(t, New(Choice("x", Opt(size(7), "S"))), `field "x": option 1 has no text: give form.size a method MarshalText or String`)
	testErr(t, New(Choice("x", Options(sizeS)...).Default(size(9))), `field "x": its default has no text`)
	testErr(t, New(Text[readOnly]("x").Default("a")), `field "x": its default has no text, as its type has no MarshalText`)
	testErr(t, New(Text[sku]("x").Default(sku{"", "x"})), `field "x": its default breaks its own rules: X is not valid: an SKU is letters, a hyphen and digits, not "-x".`)
	testErr(t, New(TextField[sku, *sku]{}), "field 1 has no name")
	testErr(t, For[netip.Addr](), "For[netip.Addr]: a form is made of a struct; put the netip.Addr into a field of one, or use form.New")
}

func TestDay(t *testing.T) {
	d := DayOf(time.Date(2026, 7, 28, 23, 59, 0, 0, time.FixedZone("", -3600)))
	if d != (Day{2026, time.July, 28}) || d.String() != "2026-07-28" || d.IsZero() || !d.In(time.UTC).Equal(time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)) {
		t.Error(d)
	}
	var zero Day
	if zero.String() != "" || !zero.IsZero() || !zero.In(time.UTC).IsZero() || zero.UnmarshalText([]byte("2026-13-01")) == nil {
		t.Error(zero)
	}
	b, err := Day{2026, 2, 30}.MarshalText()
	if err == nil {
		t.Errorf("%s", b)
	}
	var back Day
	if err := back.UnmarshalText([]byte("0001-01-01")); err != nil || fmt.Sprint(back) != "0001-01-01" || back.UnmarshalText(nil) != nil || !back.IsZero() {
		t.Error(back, err)
	}
}

type shout string

func (s shout) MarshalText() ([]byte, error) {
	if s == "" {
		return nil, errors.New("silent")
	}
	return []byte(strings.ToUpper(string(s))), nil
}

func (shout) ElicitOptions() []Option[shout] { return Options[shout]("hey", "you") }

// Forms with long lists of options find them by their text, escaped or not.
func TestManyOptions(t *testing.T) {
	var numbers []uint16
	var texts []string
	for i := range 300 {
		numbers, texts = append(numbers, uint16(i)), append(texts, fmt.Sprintf("é%d", i))
	}
	type S struct {
		One   uint16   `json:"one"`
		Some  []uint16 `json:"some"`
		Text  string   `json:"text"`
		Texts []string `json:"texts"`
		Shout shout    `json:"shout"`
		Loud  []shout  `json:"loud"`
		Quiet *shout   `json:"quiet"`
	}
	f := Build(func(s *S) []Field {
		return []Field{ChoiceOf(&s.One, Options(numbers...)...), ChoicesOf(&s.Some, Options(numbers...)...).AtMost(300), ChoiceOf(&s.Text, Options(texts...)...), ChoicesOf(&s.Texts, Options(texts...)...),
			ChoiceOf(&s.Shout), ChoicesOf(&s.Loud), ChoiceOf(s.Quiet)}
	})
	content := `{"one":"299","some":["7","250"],"text":"é299","texts":["é0"],"shout":"HEY","loud":["YOU","HEY"],"quiet":"YOU"}`
	s := decode(t, f, strings.ReplaceAll(content, "é", `\u00e9`))
	if s.One != 299 || s.Some[1] != 250 || s.Text != "é299" || s.Texts[0] != "é0" || s.Shout != "hey" || s.Loud[0] != "you" || *s.Quiet != "you" {
		t.Errorf("%+v", s)
	}
	b, err := f.Encode(s)
	same(t, "Encode", string(b), content)
	if err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{`{"one":"300"}`, `{"one":299}`, `{"some":["7","7"]}`, `{"text":"e1"}`, `{"shout":"hey"}`} {
		found := false
		for _, p := range f.Validate([]byte(wrong)) {
			found = found || p.Rule != "required"
		}
		if !found {
			t.Error(wrong)
		}
	}
	s.Loud = []shout{""}
	if b, err := f.Encode(s); err == nil || err.Error() != `form: field "loud": its value has no text` {
		t.Errorf("%s %v", b, err)
	}
	one := Choice("one", Options(numbers...)...)
	var v Values
	one.Set(&v, 299)
	if one.In(v) != 299 {
		t.Error(one.In(v))
	}
	one.Set(&v, 7000)
	if one.In(v) != 0 {
		t.Error("an option that there is not")
	}
	loose := Choice("loose", Options(texts...)...)
	loose.Set(&v, "other")
	if loose.In(v) != "other" {
		t.Error("a test cannot set what is not valid")
	}
}

func TestKindsInErrors(t *testing.T) {
	type S struct {
		A string     `elicit:"format=email,enum=a"`
		B bool       `elicit:"format=date"`
		C float32    `elicit:"enum=a"`
		D color      `elicit:"format=uri"`
		E []color    `elicit:"format=uri"`
		F string     `elicit:"enum=a,format=uri"`
		G sku        `elicit:"enum=a"`
		H color      `elicit:"min=1"`
		I sku        `elicit:"format=date"`
		J netip.Addr `elicit:"minLength=2,maxLength=45"`
	}
	testErr(t, For[S](),
		"S.A: its elicit tag: enum does not suit a string; it is for text without a format",
		"S.B: its elicit tag: format date does not suit yes or no",
		"S.C: its elicit tag: enum does not suit a number; it is for text, and for lists of text",
		"S.D: its elicit tag: format uri does not suit a choice",
		"S.E: its elicit tag: format uri does not suit a list of choices",
		"S.F: its elicit tag: enum does not suit a string; it is for text without a format",
		"S.G: its elicit tag: enum does not suit a form.sku; it is for text without a format",
		"S.H: its elicit tag: min is for numbers",
	)
}
