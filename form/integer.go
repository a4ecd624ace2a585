package form

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// Integer is what a whole number is kept in.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// IntegerField is a whole number, kept in a Go integer type I. It is exact over the whole range of I, and takes nothing
// outside it. 1.0 and 1e2 are whole numbers, as JSON Schema has it; 1.5 and "1" are not.
//
// A client is told the range of I where it has one that matters (as go-sdk's schemas do): 0 as the minimum of unsigned
// types, both ends of types of 32 bits and less.
type IntegerField[I Integer] struct {
	c common
	r integerRules
}

// Int is a field for a whole number called name, for [New].
func Int(name string) IntegerField[int64] {
	return IntegerField[int64]{common{name: name}, rangeOf[int64]()}
}

// IntOf is the [Int] field that fills a struct field of any integer type, for [Build].
func IntOf[I Integer](field *I) IntegerField[I] {
	return IntegerField[I]{pointTo(field), rangeOf[I]()}
}

// Title is what a person sees above the field. Without it, it is derived from the name: parcelCount is "Parcel Count".
func (f IntegerField[I]) Title(title string) IntegerField[I] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f IntegerField[I]) Titlef(format string, args ...any) IntegerField[I] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f IntegerField[I]) Description(words string) IntegerField[I] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f IntegerField[I]) Descriptionf(format string, args ...any) IntegerField[I] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid, and one with "" in it.
func (f IntegerField[I]) Required() IntegerField[I] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise. "" is then as good as left out.
func (f IntegerField[I]) Optional() IntegerField[I] { f.c.presence = optional; return f }

// NotCredential says that the field asks for no password, key, token or card, although its words look like it to [Form.Err].
func (f IntegerField[I]) NotCredential() IntegerField[I] { f.c.notCredential = true; return f }

// Default is what a client fills in beforehand, and the value of an optional field that is left out. None by default.
func (f IntegerField[I]) Default(value I) IntegerField[I] { f.c.def = integerOf(value); return f }

// Range is Min and Max in one.
func (f IntegerField[I]) Range(lo, hi I) IntegerField[I] { return f.Min(lo).Max(hi) }

// Min is the least value.
func (f IntegerField[I]) Min(lo I) IntegerField[I] {
	f.r.min, f.r.showMin, f.r.setMin = integerOf(lo), true, true
	return f
}

// Max is the greatest value.
func (f IntegerField[I]) Max(hi I) IntegerField[I] {
	f.r.max, f.r.showMax, f.r.setMax = integerOf(hi), true, true
	return f
}

// In reads the field out of an answer: its value, or its default, or 0.
func (f IntegerField[I]) In(values Values) I {
	n, _ := values.get(f.c.name).(integer)
	return intOf[I](n)
}

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f IntegerField[I]) Set(values *Values, value I) { values.set(f.c.name, integerOf(value)) }

func (f IntegerField[I]) spec() spec { return spec{f.c, &f.r} }

// integerRules bound a whole number: by what the author said and by the Go type.
type integerRules struct {
	min, max         integer
	showMin, showMax bool // to the client
	setMin, setMax   bool // by the author
	typeMin, typeMax integer
}

// rangeOf are the rules of a Go type.
func rangeOf[I Integer]() integerRules {
	var zero I
	bits := 8
	for one := I(1); bits < 64 && one<<bits != 0; bits *= 2 {
	}
	return integerRange(zero-1 > 0, bits)
}

func integerRange(unsigned bool, bits int) integerRules {
	end := uint64(1) << (bits - 1)
	r := integerRules{min: integer{true, end}, max: integer{false, end - 1}, showMin: unsigned || bits <= 32, showMax: bits <= 32}
	if unsigned {
		r.min, r.max = integer{}, integer{abs: math.MaxUint64 >> (64 - bits)}
	}
	r.typeMin, r.typeMax = r.min, r.max
	return r
}

func (r *integerRules) mistakes() []string {
	if r.min.compare(r.max) > 0 {
		return []string{"minimum " + r.min.String() + " is above maximum " + r.max.String() + ", so that nothing is valid: change one of them"}
	}
	return nil
}

func (r *integerRules) typeName() string { return "integer" }

func (r *integerRules) appendTo(b []byte, _ bool) ([]byte, bool) {
	if r.showMin {
		b = r.min.append(append(b, `,"minimum":`...))
	}
	if r.showMax {
		b = r.max.append(append(b, `,"maximum":`...))
	}
	return b, true
}

func (r *integerRules) emptyIsAbsent() bool { return true }

func (r *integerRules) check(v []byte) (string, []byte) {
	n, whole := parseInteger(v)
	switch {
	case !whole:
		return "type", v
	case n.compare(r.min) < 0:
		return "minimum", v
	case n.compare(r.max) > 0:
		return "maximum", v
	}
	return "", nil
}

func (r *integerRules) value(v []byte) any { n, _ := parseInteger(v); return n.integer }

// An integer is a value of any Go integer type. Zero is not negative.
type integer struct {
	negative bool
	abs      uint64
}

func integerOf[I Integer](v I) integer {
	if v < 0 {
		return integer{true, -uint64(v)} // two's complement, so the least int64 comes out right, too
	}
	return integer{false, uint64(v)}
}

// intOf is the inverse of integerOf; 0 for what I cannot hold.
func intOf[I Integer](n integer) I {
	v := I(n.abs)
	if n.negative {
		v = I(-n.abs)
	}
	if integerOf(v) != n {
		return 0
	}
	return v
}

func (n integer) compare(m integer) int {
	switch {
	case n.negative && m.negative:
		return cmp.Compare(m.abs, n.abs)
	case n.negative:
		return -1
	case m.negative:
		return 1
	}
	return cmp.Compare(n.abs, m.abs)
}

func (n integer) append(b []byte) []byte {
	if n.negative {
		b = append(b, '-')
	}
	return strconv.AppendUint(b, n.abs, 10)
}

func (n integer) String() string { return string(n.append(nil)) }

// A parsed integer may be one that no Go type holds.
type parsedInteger struct {
	integer
	huge bool // beyond 64 bits
}

func (n parsedInteger) compare(m integer) int {
	switch {
	case n.huge && n.negative:
		return -1
	case n.huge:
		return 1
	}
	return n.integer.compare(m)
}

// parseInteger reads a JSON number whose value, however it is written, is whole. It computes with its digits, so that it is
// exact, and never with more than 400 of them.
func parseInteger(v []byte) (n parsedInteger, whole bool) {
	if !rawjson.NumberOK(v) {
		return n, false
	}
	n.negative = v[0] == '-'
	if n.negative {
		v = v[1:]
	}
	// The digits before the point, those after it, and by how much the exponent moves it.
	mantissa, point, exponent := len(v), -1, 0
	for i, c := range v {
		if c == '.' {
			point = i
		} else if c == 'e' || c == 'E' {
			mantissa = i
			exponent, _ = strconv.Atoi(string(v[i+1:]))
			break
		}
	}
	units := mantissa + exponent // how many of the digits are before the point
	if point >= 0 {
		units = point + exponent
	}
	seen := 0
	for i, c := range v[:mantissa] {
		if i == point {
			continue
		}
		seen++
		if seen > units {
			if c != '0' {
				return n, false
			}
			continue
		}
		n.push(c - '0')
	}
	for ; seen < units && (n.abs != 0 || n.huge); seen++ {
		n.push(0)
	}
	if n.abs == 0 && !n.huge {
		n.negative = false
	}
	return n, true
}

// push appends a decimal digit.
func (n *parsedInteger) push(digit byte) {
	d := uint64(digit)
	if n.huge || n.abs > (math.MaxUint64-d)/10 {
		n.huge, n.abs = true, 0
		return
	}
	n.abs = n.abs*10 + d
}
