package forms

import (
	"flag"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/form"
	"pgregory.net/rapid"
)

// A failure prints the seed that repeats it; no files are left in the tree.
func init() { _ = flag.Set("rapid.nofailfile", "true") }

// A drawn is a field with what a test needs to fill it in and to read it back.
type drawn struct {
	field    form.Field
	required bool
	set      func(*form.Values)
	check    func(form.Values) error // that the value is the one set
}

func equals[T any](name string, in func(form.Values) T, want T, same func(a, b T) bool) func(form.Values) error {
	return func(v form.Values) error {
		if got := in(v); !same(got, want) {
			return fmt.Errorf("%s is %v, want %v", name, got, want)
		}
		return nil
	}
}

func eq[T comparable](a, b T) bool { return a == b }

var (
	words     = rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ 09_-<>\"\\é世😀\u200d")), 0, 12, -1)
	names     = rapid.StringMatching(`[a-z][a-zA-Z0-9_. é世"-]{0,10}`)
	addresses = rapid.StringMatching(`[a-z0-9.+]{1,8}@[a-z]{1,5}(\.[a-z0-9]{1,4}){0,2}`)
	uris      = rapid.StringMatching(`(https?|urn|x-y):(//[a-z.]{1,8}(:[0-9]{1,4})?)?(/[a-z0-9.~%]{0,5}/?)?(\?[a-z=&]{0,5})?(#[a-z]{0,3})?`).Filter(func(s string) bool { return oracle("uri", s) })
	moments   = rapid.Custom(func(t *rapid.T) time.Time {
		zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "offset"))
		return time.Unix(rapid.Int64Range(-62_000_000_000, 253_000_000_000).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).In(zone)
	})
	days = rapid.Map(moments, func(m time.Time) time.Time { y, mo, d := m.Date(); return time.Date(y, mo, d, 0, 0, 0, 0, time.UTC) })
)

func drawOptions(t *rapid.T) []form.Option[string] {
	values := rapid.SliceOfNDistinct(words.Filter(func(s string) bool { return s != "" }), 1, 20, rapid.ID).Draw(t, "options")
	titled := rapid.Bool().Draw(t, "titled")
	var options []form.Option[string]
	for _, v := range values {
		o := form.Option[string]{Value: v}
		if titled && rapid.Bool().Draw(t, "title") {
			o.Title = words.Draw(t, "title")
		}
		options = append(options, o)
	}
	return options
}

// drawField draws a field of any kind with any rules, and a value that is valid for it.
func drawField(t *rapid.T, name string) drawn {
	maybe := func(what string) bool { return rapid.Bool().Draw(t, what) }
	required := maybe("required")
	title, description := words.Draw(t, "title"), words.Draw(t, "description")
	d := drawn{required: required}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		x := form.String(name).Title(title).Description(description).NotCredential()
		v := words.Draw(t, "value")
		n := len([]rune(v))
		if maybe("min") {
			x = x.MinLength(rapid.IntRange(0, n).Draw(t, "min"))
		}
		if maybe("max") {
			x = x.MaxLength(rapid.IntRange(n, 50).Draw(t, "max"))
		}
		if maybe("default") {
			x = x.Default(v)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v) }, equals(name, x.In, v, eq)
	case 1, 2:
		x, v := form.Email(name), addresses.Draw(t, "value")
		if maybe("uri") {
			x, v = form.URI(name), uris.Draw(t, "value")
		}
		x = x.Title(title).NotCredential()
		if maybe("max") {
			x = x.MaxLength(rapid.IntRange(len(v), 100).Draw(t, "max"))
		}
		if maybe("default") {
			x = x.Default(v)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v) }, equals(name, x.In, v, eq)
	case 3, 4:
		x, v := form.Date(name), days.Draw(t, "value")
		if maybe("time") {
			x, v = form.DateTime(name), moments.Draw(t, "value")
		}
		x = x.Description(description)
		if maybe("default") {
			x = x.Default(v)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v) }, equals(name, x.In, v, sameMoment)
	case 5:
		x := form.Int(name).Title(title).NotCredential()
		v := rapid.Int64().Draw(t, "value")
		if maybe("min") {
			x = x.Min(rapid.Int64Max(v).Draw(t, "min"))
		}
		if maybe("max") {
			x = x.Max(rapid.Int64Min(v).Draw(t, "max"))
		}
		if maybe("default") {
			x = x.Default(v)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v) }, equals(name, x.In, v, eq)
	case 6:
		x := form.Number(name).Title(title).NotCredential()
		v := rapid.Float64().Draw(t, "value")
		if maybe("min") {
			x = x.Min(rapid.Float64Max(v).Draw(t, "min"))
		}
		if maybe("max") {
			x = x.Max(rapid.Float64Min(v).Draw(t, "max"))
		}
		if maybe("default") {
			x = x.Default(v)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v) }, equals(name, x.In, v, eq)
	case 7:
		x, v := form.Bool(name).Title(title), rapid.Bool().Draw(t, "value")
		if maybe("default") {
			x = x.Default(v)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v) }, equals(name, x.In, v, eq)
	case 8:
		options := drawOptions(t)
		x, v := form.Choice(name, options...).Title(title), rapid.SampledFrom(options).Draw(t, "value").Value
		if maybe("default") {
			x = x.Default(v)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v) }, equals(name, x.In, v, eq)
	default:
		options := drawOptions(t)
		x := form.Choices(name, options...).Description(description)
		var v []string
		for _, o := range rapid.Permutation(options).Draw(t, "order")[:rapid.IntRange(0, len(options)).Draw(t, "count")] {
			v = append(v, o.Value)
		}
		if maybe("min") {
			x = x.AtLeast(rapid.IntRange(0, len(v)).Draw(t, "min"))
		}
		if maybe("max") {
			x = x.AtMost(rapid.IntRange(max(len(v), 1), len(options)+1).Draw(t, "max"))
		}
		if maybe("default") && len(v) > 0 {
			x = x.Default(v...)
		}
		if required {
			x = x.Required()
		}
		d.field, d.set, d.check = x, func(vs *form.Values) { x.Set(vs, v...) }, equals(name, x.In, v, slices.Equal)
	}
	return d
}

func sameMoment(a, b time.Time) bool {
	_, x := a.Zone()
	_, y := b.Zone()
	return a.Equal(b) && x == y
}

func drawForm(t *rapid.T) (*form.Form[form.Values], []drawn) {
	var fields []form.Field
	var all []drawn
	for _, name := range rapid.SliceOfNDistinct(names, 0, 25, rapid.ID).Draw(t, "names") {
		d := drawField(t, name)
		fields, all = append(fields, d.field), append(all, d)
	}
	f := form.New(fields...)
	if err := f.Err(); err != nil {
		if strings.Contains(err.Error(), "credential") {
			t.Skip("a name that looks like a credential")
		}
		t.Fatal(err)
	}
	return f, all
}

// Built, sent as JSON and parsed, a form is the same: to people, to clients of both revisions, and to answers.
func TestBuildParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, all := drawForm(t)
		g, ignored, err := form.Parse(f.Schema())
		if err != nil || len(ignored) > 0 {
			t.Fatalf("%s: %v %v", f.Schema(), ignored, err)
		}
		if string(g.Schema()) != string(f.Schema()) {
			t.Fatalf("\n%s\nbecame\n%s", f.Schema(), g.Schema())
		}
		a, errA := f.LegacySchema()
		b, errB := g.LegacySchema()
		if string(a) != string(b) || (errA == nil) != (errB == nil) {
			t.Fatalf("\n%s\nbecame\n%s", a, b)
		}
		var ours, theirs []form.Property
		for _, p := range f.Fields() {
			ours = append(ours, p)
		}
		for _, p := range g.Fields() {
			p.Credential = "" // the author may know better
			theirs = append(theirs, p)
		}
		if !reflect.DeepEqual(ours, theirs) {
			t.Fatalf("\n%+v\nbecame\n%+v", ours, theirs)
		}
		// Whatever is typed, both say the same.
		typed := map[string]bool{}
		content := "{"
		for _, p := range ours {
			raw := p.FromText(rapid.OneOf(words, rapid.StringMatching(`-?[0-9]{1,3}(\.[05])?`), rapid.Just("true")).Draw(t, "typed"))
			if raw == nil || typed[p.Name] {
				continue
			}
			if len(content) > 1 {
				content += ","
			}
			content += fmt.Sprintf("%s:%s", quoted(p.Name), raw)
		}
		content += "}"
		if x, y := fmt.Sprint(f.Validate([]byte(content))), fmt.Sprint(g.Validate([]byte(content))); stripPointers(x) != stripPointers(y) {
			t.Fatalf("%s:\n%s\n%s", content, x, y)
		}
		_ = all
	})
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// stripPointers drops what is after a problem's sentences in fmt's view of it.
func stripPointers(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, " 0x")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		s = strings.TrimLeft(s[i+3:], "0123456789abcdef")
	}
}

// Encoded and decoded, a value is the same, of the form and of the one that was parsed from it.
func TestEncodeDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, all := drawForm(t)
		g, _, err := form.Parse(f.Schema())
		if err != nil {
			t.Fatal(err)
		}
		var values form.Values
		var given []drawn
		for _, d := range all {
			if d.required || rapid.Bool().Draw(t, "given") {
				d.set(&values)
				given = append(given, d)
			}
		}
		content, err := f.Encode(values)
		if err != nil {
			t.Fatal(err)
		}
		for which, form := range []*form.Form[form.Values]{f, g} {
			d, problems := form.Decode(content)
			if problems != nil {
				t.Fatalf("%d: %s against %s: %v", which, content, form.Schema(), problems)
			}
			for _, x := range given {
				if err := x.check(d.Value); err != nil {
					t.Fatalf("%d: %s: %v", which, content, err)
				}
			}
			again, err := form.Encode(d.Value)
			if err != nil || string(again) != string(content) || string(d.Content()) != string(content) {
				t.Fatalf("%d: %s is then %s and %s (%v)", which, content, again, d.Content(), err)
			}
		}
	})
}

// The same for a struct with every Go type.
func TestEncodeDecodeStruct(t *testing.T) {
	f := form.For[goTypes]()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	day := rapid.Map(days, form.DayOf)
	addr := rapid.Map(rapid.SliceOfN(rapid.Byte(), 4, 4), func(b []byte) netip.Addr { return netip.AddrFrom4([4]byte(b)) })
	site := rapid.Map(uris.Filter(func(s string) bool { u, err := url.Parse(s); return err == nil && u.String() == s }), func(s string) url.URL { u, _ := url.Parse(s); return *u })
	sizes := rapid.SampledFrom([]size{small, large})
	rapid.Check(t, func(t *rapid.T) {
		v := goTypes{
			A: words.Draw(t, "A"), B: rapid.StringN(2, 8, -1).Draw(t, "B"), C: addresses.Draw(t, "C"), D: uris.Draw(t, "D"), E: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "E"),
			F: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 2, rapid.ID).Draw(t, "F"), G: rapid.Ptr(words, true).Draw(t, "G"), H: rapid.Int().Draw(t, "H"), I: rapid.Int8Range(1, 10).Draw(t, "I"),
			J: rapid.Int32().Draw(t, "J"), K: rapid.Uint().Draw(t, "K"), L: rapid.Uint16().Draw(t, "L"), M: rapid.Uint64().Draw(t, "M"), N: rapid.Float32Min(0.5).Draw(t, "N"), O: rapid.Float64().Draw(t, "O"),
			P: rapid.Bool().Draw(t, "P"), Q: moments.Draw(t, "Q"), R: days.Draw(t, "R"), S: day.Draw(t, "S"), T: site.Draw(t, "T"), U: rapid.Ptr(site, true).Draw(t, "U"), V: mail.Address{Address: addresses.Draw(t, "V")},
			W: addr.Draw(t, "W"), X: sizes.Draw(t, "X"), Y: rapid.SliceOfNDistinct(sizes, 0, 2, rapid.ID).Draw(t, "Y"), Z: rapid.Ptr(sizes, false).Draw(t, "Z"), AB: rapid.Ptr(day, true).Draw(t, "AB"),
		}
		if rapid.Bool().Draw(t, "AA") {
			p := netip.PrefixFrom(addr.Draw(t, "AA"), rapid.IntRange(0, 32).Draw(t, "bits"))
			v.AA = &p
		}
		content, err := f.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		d, problems := f.Decode(content)
		if problems != nil {
			t.Fatalf("%s: %v", content, problems)
		}
		got := d.Value
		if !sameMoment(got.Q, v.Q) || !sameMoment(got.R, v.R) {
			t.Fatalf("%s: %v %v", content, got.Q, got.R)
		}
		got.Q, got.R, v.Q, v.R = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		if !reflect.DeepEqual(got, v) {
			t.Fatalf("%s:\n got %+v\nwant %+v", content, got, v)
		}
	})
}
