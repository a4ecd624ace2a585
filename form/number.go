package form

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// Float is what a number is kept in.
type Float interface{ ~float32 | ~float64 }

// NumberField is a number, kept in a Go float type F: the value of F that is nearest to what was typed, which must be in
// its range. For whole numbers there is [Int], which is exact.
type NumberField[F Float] struct {
	c common
	r numberRules
}

// Number is a field for a number called name, for [New].
func Number(name string) NumberField[float64] {
	return NumberField[float64]{common{name: name}, numberRules{bits: 64}}
}

// NumberOf is the [Number] field that fills a struct field, for [Build].
func NumberOf[F Float](field *F) NumberField[F] {
	return NumberField[F]{pointTo(field), numberRules{bits: reflect.TypeFor[F]().Bits()}}
}

// Title is what a person sees above the field. Without it, it is derived from the name: netWeight is "Net Weight".
func (f NumberField[F]) Title(title string) NumberField[F] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f NumberField[F]) Titlef(format string, args ...any) NumberField[F] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f NumberField[F]) Description(words string) NumberField[F] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f NumberField[F]) Descriptionf(format string, args ...any) NumberField[F] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid, and one with "" in it.
func (f NumberField[F]) Required() NumberField[F] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise. "" is then as good as left out.
func (f NumberField[F]) Optional() NumberField[F] { f.c.presence = optional; return f }

// NotCredential says that the field asks for no password, key, token or card, although its words look like it to [Form.Err].
func (f NumberField[F]) NotCredential() NumberField[F] { f.c.notCredential = true; return f }

// Default is what a client fills in beforehand, and the value of an optional field that is left out. None by default.
func (f NumberField[F]) Default(value F) NumberField[F] {
	f.c.def = real{float64(value), f.r.width()}
	return f
}

// Range is Min and Max in one.
func (f NumberField[F]) Range(lo, hi F) NumberField[F] { return f.Min(lo).Max(hi) }

// Min is the least value. None by default.
func (f NumberField[F]) Min(lo F) NumberField[F] {
	f.r.min, f.r.hasMin = positiveZero(float64(lo)), true
	return f
}

// Max is the greatest value. None by default.
func (f NumberField[F]) Max(hi F) NumberField[F] {
	f.r.max, f.r.hasMax = positiveZero(float64(hi)), true
	return f
}

// In reads the field out of an answer: its value, or its default, or 0.
func (f NumberField[F]) In(values Values) F {
	x, _ := values.get(f.c.name).(real)
	return F(x.value)
}

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f NumberField[F]) Set(values *Values, value F) {
	values.set(f.c.name, real{float64(value), f.r.width()})
}

func (f NumberField[F]) spec() spec { return spec{f.c, &f.r} }

// numberRules bound a number.
type numberRules struct {
	min, max       float64
	hasMin, hasMax bool
	bits           int // of the Go type
}

// width is the size of the Go type in bits, also for the zero NumberField.
func (r *numberRules) width() int {
	if r.bits == 32 {
		return 32
	}
	return 64
}

func (r *numberRules) mistakes() (out []string) {
	if r.hasMin && !finite(r.min) {
		out = append(out, "its minimum is "+unsendable(real{r.min, 64}))
	}
	if r.hasMax && !finite(r.max) {
		out = append(out, "its maximum is "+unsendable(real{r.max, 64}))
	}
	if r.hasMin && r.hasMax && r.min > r.max {
		out = append(out, "minimum "+real{r.min, r.width()}.String()+" is above maximum "+real{r.max, r.width()}.String()+", so that nothing is valid: change one of them")
	}
	return out
}

func (r *numberRules) typeName() string { return "number" }

func (r *numberRules) appendTo(b []byte, _ bool) ([]byte, bool) {
	if r.hasMin {
		b = real{r.min, r.width()}.append(append(b, `,"minimum":`...))
	}
	if r.hasMax {
		b = real{r.max, r.width()}.append(append(b, `,"maximum":`...))
	}
	return b, true
}

func (r *numberRules) emptyIsAbsent() bool { return true }

func (r *numberRules) check(v []byte) (string, []byte) {
	if !rawjson.NumberOK(v) {
		return "type", v
	}
	x, _ := strconv.ParseFloat(string(v), r.width()) // an error is one of range, and x infinite
	lo, hi := r.bounds()
	switch {
	case x < lo:
		return "minimum", v
	case x > hi:
		return "maximum", v
	}
	return "", nil
}

// bounds are the author's, or those of the Go type.
func (r *numberRules) bounds() (lo, hi float64) {
	hi = math.MaxFloat64
	if r.width() == 32 {
		hi = math.MaxFloat32
	}
	lo = -hi
	if r.hasMin {
		lo = r.min
	}
	if r.hasMax {
		hi = r.max
	}
	return lo, hi
}

func (r *numberRules) value(v []byte) any {
	x, _ := strconv.ParseFloat(string(v), r.width())
	return real{x, r.width()}
}

// A real is a float and the size in bits of the Go type that it came from, which decides how many digits it needs.
type real struct {
	value float64
	bits  int
}

func (x real) append(b []byte) []byte {
	format := byte('f')
	if abs := math.Abs(x.value); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e' // as encoding/json does
	}
	return strconv.AppendFloat(b, x.value, format, -1, x.bits)
}

func (x real) String() string { return string(x.append(nil)) }

// positiveZero is x, with -0 as 0.
func positiveZero(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
