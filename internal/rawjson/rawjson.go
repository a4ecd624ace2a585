// Package rawjson reads JSON one way, straight from its bytes.
//
// Two readers of one text must never see two different things: a gateway that takes the first of two members with one
// name, and a handler that takes the last; a decoder that matches "Role" to role, and a policy that does not; a number
// that one side rounds. So foreign bytes pass [Check] once, and are then walked in place: [Members] and [Elements] give
// sub-slices, names are compared exactly ([NameIs]), numbers keep their literal text, and [Duplicate] finds what must be
// refused. Nothing here allocates unless it returns a new string or an error.
//
// Everything except [Check], [Canonical] and [NumberOK] expects bytes that passed Check. On other bytes the functions
// stay within bounds and end, but what they return means nothing.
package rawjson

import (
	"bytes"
	"iter"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Get returns the raw value of obj's first member called name. A caller to whom a second one matters asks [Duplicate].
func Get(obj []byte, name string) ([]byte, bool) {
	for n, v := range Members(obj) {
		if NameIs(n, name) {
			return v, true
		}
	}
	return nil, false
}

// Members iterates over the members of an object in the order written: the name as quoted in obj, and the raw value,
// both sub-slices of obj without white space around. It yields nothing when obj is not an object.
func Members(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		i := space(obj, 0)
		if i >= len(obj) || obj[i] != '{' {
			return
		}
		i = space(obj, i+1)
		for i < len(obj) && obj[i] == '"' {
			nameEnd := skipString(obj, i)
			if nameEnd < 0 {
				return
			}
			name := obj[i:nameEnd:nameEnd]
			if i = space(obj, nameEnd); i >= len(obj) || obj[i] != ':' {
				return
			}
			i = space(obj, i+1)
			end := skipValue(obj, i)
			if end < 0 || !yield(name, obj[i:end:end]) {
				return
			}
			if i = space(obj, end); i >= len(obj) || obj[i] != ',' {
				return
			}
			i = space(obj, i+1)
		}
	}
}

// Elements iterates over the raw elements of an array, sub-slices without white space around. It yields nothing when arr
// is not an array.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := space(arr, 0)
		if i >= len(arr) || arr[i] != '[' {
			return
		}
		i = space(arr, i+1)
		for i < len(arr) && arr[i] != ']' {
			end := skipValue(arr, i)
			if end < 0 || !yield(arr[i:end:end]) {
				return
			}
			if i = space(arr, end); i >= len(arr) || arr[i] != ',' {
				return
			}
			i = space(arr, i+1)
		}
	}
}

// Kind tells what v is by its first significant byte: '{' object, '[' array, '"' string, '0' number, 't' and 'f' the two
// booleans, 'n' null; 0 when v is empty or starts like nothing in JSON.
func Kind(v []byte) byte {
	i := space(v, 0)
	if i >= len(v) {
		return 0
	}
	switch c := v[i]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return '0'
	}
	return 0
}

// NameIs reports whether the raw quoted string stands for name, escapes resolved; exact, case and normalisation included.
func NameIs(quoted []byte, name string) bool {
	in, ok := inner(quoted)
	if !ok {
		return false
	}
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in) == name
	}
	for len(in) > 0 && len(name) > 0 {
		r, n := nextRune(in)
		if n == 0 {
			return false
		}
		q, m := utf8.DecodeRuneInString(name)
		if r != q || q == utf8.RuneError && m == 1 {
			return false
		}
		in, name = in[n:], name[m:]
	}
	return len(in) == 0 && len(name) == 0
}

// String unquotes a JSON string. It is false when v is not one, holds an unpaired surrogate or invalid UTF-8.
func String(v []byte) (string, bool) {
	in, ok := inner(trim(v))
	if !ok {
		return "", false
	}
	if bytes.IndexByte(in, '\\') < 0 {
		if bytes.IndexByte(in, '"') >= 0 || !utf8.Valid(in) {
			return "", false
		}
		return string(in), true
	}
	b, ok := appendUnescaped(make([]byte, 0, len(in)), in)
	return string(b), ok
}

// Unquoted is the text of a quoted string as UTF-8: a sub-slice of quoted where nothing is escaped, else appended to buf.
// It is false on what [String] refuses, except that invalid UTF-8 passes where nothing is escaped.
func Unquoted(buf, quoted []byte) ([]byte, bool) {
	in, ok := inner(quoted)
	if !ok || bytes.IndexByte(in, '\\') < 0 {
		return in, ok
	}
	return appendUnescaped(buf, in)
}

// RuneCount is the number of Unicode code points of a quoted string, an escape (or pair of surrogate escapes) being one.
// It is 0 when quoted is not a string.
func RuneCount(quoted []byte) int {
	in, _ := inner(quoted)
	if bytes.IndexByte(in, '\\') < 0 {
		return utf8.RuneCount(in)
	}
	count := 0
	for len(in) > 0 {
		_, n := nextRune(in)
		in = in[max(n, 1):]
		count++
	}
	return count
}

// few is how many members Duplicate compares pairwise before it builds a map.
const few = 16

// Duplicate finds a member name that obj holds twice, comparing names with their escapes resolved; with fold, also two
// names that differ only in case (Unicode simple case folding, as encoding/json matches struct fields). It looks at the
// members of obj itself, not deeper, and returns the later of the two names.
func Duplicate(obj []byte, fold bool) (name string, dup bool) {
	var seen [few][]byte
	n := 0
	for q := range Members(obj) {
		in, ok := inner(q)
		if !ok {
			continue
		}
		if n == few {
			return duplicateMany(obj, fold)
		}
		for _, p := range seen[:n] {
			if equalNames(p, in, fold) {
				name, _ = String(q)
				return name, true
			}
		}
		seen[n] = in
		n++
	}
	return "", false
}

// duplicateMany is Duplicate for objects so wide that comparing every pair would let a hostile one cost its square.
func duplicateMany(obj []byte, fold bool) (string, bool) {
	seen := make(map[string]struct{}, 4*few)
	var key []byte
	for q := range Members(obj) {
		in, _ := inner(q)
		key = key[:0]
		for len(in) > 0 {
			r, n := nextRune(in)
			if n == 0 {
				break
			}
			if fold {
				r = foldRune(r)
			}
			key = utf8.AppendRune(key, r)
			in = in[n:]
		}
		if _, ok := seen[string(key)]; ok {
			name, _ := String(q)
			return name, true
		}
		seen[string(key)] = struct{}{}
	}
	return "", false
}

func equalNames(a, b []byte, fold bool) bool {
	if bytes.Equal(a, b) {
		return true
	}
	// Two plain characters that differ by more than case end it at once.
	if len(a) > 0 && len(b) > 0 && a[0]|0x20 != b[0]|0x20 && plain[a[0]] && plain[b[0]] {
		return false
	}
	for len(a) > 0 && len(b) > 0 {
		r, n := nextRune(a)
		q, m := nextRune(b)
		if n == 0 || m == 0 {
			return false
		}
		if r != q && (!fold || foldRune(r) != foldRune(q)) {
			return false
		}
		a, b = a[n:], b[m:]
	}
	return len(a) == 0 && len(b) == 0
}

// foldRune is the smallest rune that r equals under simple case folding.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		// The orbits of ASCII letters begin with the capital; K and S also hold U+212A and U+017F, which are larger.
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	for {
		next := unicode.SimpleFold(r)
		if next <= r { // the orbit is ascending and wraps around once, to its smallest
			return next
		}
		r = next
	}
}

// Most digits and largest exponent that NumberOK lets through.
const (
	maxDigits   = 400
	maxExponent = 400
)

// NumberOK reports whether v is a JSON number that is safe to compute with: at most 400 digits in all, and an exponent
// between -400 and 400. Arbitrary-precision arithmetic on "1e999999999" is an attack; ask this first.
func NumberOK(v []byte) bool {
	v = trim(v)
	if end, reason := scanNumber(v, 0); reason != "" || end != len(v) {
		return false
	}
	digits, exponent, inExponent := 0, 0, false
	for _, c := range v {
		switch {
		case c == 'e' || c == 'E':
			inExponent = true
		case '0' <= c && c <= '9':
			digits++
			if inExponent && exponent <= maxExponent {
				exponent = exponent*10 + int(c-'0')
			}
		}
	}
	return digits <= maxDigits && exponent <= maxExponent
}

// inner is what stands between the quotes.
func inner(quoted []byte) ([]byte, bool) {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return nil, false
	}
	return quoted[1 : n-1], true
}

// trim removes white space on both sides.
func trim(v []byte) []byte {
	v = v[space(v, 0):]
	for len(v) > 0 && isSpace(v[len(v)-1]) {
		v = v[:len(v)-1]
	}
	return v
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// space is the index of the first byte at or after i that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skipString is the index after the string that starts at b[i], or -1.
func skipString(b []byte, i int) int {
	for j := i + 1; ; {
		n := bytes.IndexByte(b[min(j, len(b)):], '"')
		if n < 0 {
			return -1
		}
		j += n
		slashes := 0
		for k := j - 1; k > i && b[k] == '\\'; k-- {
			slashes++
		}
		j++
		if slashes%2 == 0 {
			return j
		}
	}
}

// skipValue is the index after the value that starts at b[i], or -1.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for j := i; j < len(b); j++ {
			switch b[j] {
			case '"':
				if j = skipString(b, j) - 1; j < 0 {
					return -1
				}
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return j + 1
				}
			}
		}
		return -1
	}
	j := i
	for j < len(b) && !isSpace(b[j]) && b[j] != ',' && b[j] != ']' && b[j] != '}' {
		j++
	}
	if j == i {
		return -1
	}
	return j
}

// nextRune decodes the first character of a string's inside, escape or not, and how many bytes it takes; 0 bytes means
// that it is malformed or an unpaired surrogate.
func nextRune(s []byte) (rune, int) {
	c := s[0]
	if c >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			return 0, 0
		}
		return r, n
	}
	if c != '\\' {
		return rune(c), 1
	}
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := hex4(s, 2)
		switch {
		case !ok:
			return 0, 0
		case r < 0xD800 || r > 0xDFFF:
			return r, 6
		case r > 0xDBFF || len(s) < 12 || s[6] != '\\' || s[7] != 'u':
			return 0, 0
		}
		low, ok := hex4(s, 8)
		if !ok || low < 0xDC00 || low > 0xDFFF {
			return 0, 0
		}
		return (r-0xD800)<<10 | (low - 0xDC00) + 0x10000, 12
	}
	return 0, 0
}

// hex4 reads the four hexadecimal digits at s[i].
func hex4(s []byte, i int) (rune, bool) {
	if len(s) < i+4 {
		return 0, false
	}
	var r rune
	for _, c := range s[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func appendUnescaped(dst, in []byte) ([]byte, bool) {
	for len(in) > 0 {
		r, n := nextRune(in)
		if n == 0 || in[0] == '"' {
			return nil, false
		}
		dst = utf8.AppendRune(dst, r)
		in = in[n:]
	}
	return dst, true
}

// A SyntaxError says where a text stops being JSON as this package reads it, and why.
type SyntaxError struct {
	Offset int    // bytes before the place
	Reason string // a short phrase
}

func (e *SyntaxError) Error() string {
	return "invalid JSON at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}
