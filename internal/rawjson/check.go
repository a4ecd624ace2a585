package rawjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is how deeply arrays and objects may nest where nothing asks for another limit. `[]` has depth 1.
const MaxDepth = 64

// Check reports whether data is exactly one JSON value (RFC 8259, white space around it allowed) that every reader
// understands alike: valid UTF-8, no escapes of unpaired surrogates, no bytes after the value, arrays and objects nested
// at most maxDepth deep. Duplicate names are [Duplicate]'s. The error is a *[SyntaxError]; success allocates nothing.
func Check(data []byte, maxDepth int) error { return Record(data, maxDepth, nil) }

// Record is [Check], and notes in the same pass the members of data, if it is an object, in into.
func Record(data []byte, maxDepth int, into *Object) error {
	c := checker{data: data, maxDepth: maxDepth}
	i := space(data, 0)
	if into != nil && i < len(data) && data[i] == '{' {
		i = c.object(i, 1, into)
	} else {
		i = c.value(i, 0)
	}
	if i < 0 {
		return &SyntaxError{c.at, c.reason}
	}
	if i = space(data, i); i < len(data) {
		return &SyntaxError{i, "bytes after the value"}
	}
	return nil
}

// A checker walks data; its methods take the index where something begins and return the index after it, or -1 after
// noting where and why.
type checker struct {
	data     []byte
	maxDepth int
	at       int
	reason   string
	plain    bool // the last string has ASCII alone, and no escapes
}

func (c *checker) fail(at int, reason string) int {
	c.at, c.reason = at, reason
	return -1
}

const endsEarly = "the text ends in the middle of a value"

func (c *checker) value(i, depth int) int {
	if i >= len(c.data) {
		if len(c.data) == 0 {
			return c.fail(i, "empty")
		}
		return c.fail(i, endsEarly)
	}
	switch b := c.data[i]; b {
	case '"':
		return c.string(i)
	case '{':
		return c.object(i, depth+1, nil)
	case '[':
		return c.array(i, depth+1)
	case 't':
		return c.word(i, "true")
	case 'f':
		return c.word(i, "false")
	case 'n':
		return c.word(i, "null")
	default:
		if b == '-' || '0' <= b && b <= '9' {
			end, reason := scanNumber(c.data, i)
			if reason != "" {
				return c.fail(end, reason)
			}
			return end
		}
	}
	return c.fail(i, "not the beginning of a value")
}

func (c *checker) object(i, depth int, into *Object) int {
	if depth > c.maxDepth {
		return c.fail(i, "nested too deeply")
	}
	d := c.data
	if i = space(d, i+1); i < len(d) && d[i] == '}' {
		return i + 1
	}
	for {
		switch {
		case i >= len(d):
			return c.fail(i, endsEarly)
		case d[i] != '"':
			return c.fail(i, "not a member name")
		}
		name := i
		if i = c.string(i); i < 0 {
			return -1
		}
		m := Member{Name: d[name:i:i], plain: c.plain}
		switch i = space(d, i); {
		case i >= len(d):
			return c.fail(i, endsEarly)
		case d[i] != ':':
			return c.fail(i, "no colon after a member name")
		}
		value := space(d, i+1)
		if in := into.inside(&m); in != nil && value < len(d) && d[value] == '{' {
			in.Members = in.Members[:0]
			i = c.object(value, depth+1, in)
		} else {
			i = c.value(value, depth)
		}
		if i < 0 {
			return -1
		}
		if into != nil {
			m.Value = d[value:i:i]
			into.Members = append(into.Members, m)
		}
		switch i = space(d, i); {
		case i >= len(d):
			return c.fail(i, endsEarly)
		case d[i] == '}':
			return i + 1
		case d[i] != ',':
			return c.fail(i, "neither comma nor closing brace after a member")
		}
		i = space(d, i+1)
	}
}

func (c *checker) array(i, depth int) int {
	if depth > c.maxDepth {
		return c.fail(i, "nested too deeply")
	}
	d := c.data
	if i = space(d, i+1); i < len(d) && d[i] == ']' {
		return i + 1
	}
	for {
		if i = c.value(i, depth); i < 0 {
			return -1
		}
		switch i = space(d, i); {
		case i >= len(d):
			return c.fail(i, endsEarly)
		case d[i] == ']':
			return i + 1
		case d[i] != ',':
			return c.fail(i, "neither comma nor closing bracket after an element")
		}
		i = space(d, i+1)
	}
}

func (c *checker) word(i int, word string) int {
	if len(c.data)-i < len(word) || string(c.data[i:i+len(word)]) != word {
		return c.fail(i, "not true, false or null")
	}
	return i + len(word)
}

func (c *checker) string(i int) int {
	d := c.data
	ascii, escaped := true, false
	for j := i + 1; ; {
		if j = skipPlain(d, j); j >= len(d) {
			break
		}
		switch b := d[j]; {
		case b == '"':
			// The bytes of a multi-byte character are all above ASCII, so escapes between them change nothing here.
			if !ascii && !utf8.Valid(d[i+1:j]) {
				return c.fail(i, "a string that is not valid UTF-8")
			}
			c.plain = ascii && !escaped
			return j + 1
		case b == '\\':
			escaped = true
			_, n := nextRune(d[j:])
			if n == 0 {
				return c.fail(j, "an escape that is malformed or an unpaired surrogate")
			}
			j += n
		case b < ' ':
			return c.fail(j, "a control character inside a string")
		default:
			ascii = false
			for j < len(d) && d[j] >= utf8.RuneSelf {
				j++
			}
		}
	}
	return c.fail(len(d), endsEarly)
}

// skipPlain is the index of the first byte at or after j that is not plain. It looks at eight bytes at a time: a byte's
// high bit is set in what is left of a subtraction where that byte was too small.
func skipPlain(d []byte, j int) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for j+8 <= len(d) {
		w := binary.LittleEndian.Uint64(d[j:])
		quote, slash := w^each*'"', w^each*'\\'
		if odd := (w | (w-each*' ')&^w | (quote-each)&^quote | (slash-each)&^slash) & high; odd != 0 {
			return j + bits.TrailingZeros64(odd)/8 // exact for the lowest: borrows go upwards
		}
		j += 8
	}
	for j < len(d) && plain[d[j]] {
		j++
	}
	return j
}

// scanNumber is the index after the number that starts at d[i]; with a reason, where it stops being one.
func scanNumber(d []byte, i int) (int, string) {
	const noDigit = "a digit is missing in a number"
	digits := func() bool {
		start := i
		for i < len(d) && '0' <= d[i] && d[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(d) && d[i] == '-' {
		i++
	}
	if i < len(d) && d[i] == '0' {
		if i++; i < len(d) && '0' <= d[i] && d[i] <= '9' {
			return i, "a number with a leading zero"
		}
	} else if !digits() {
		return i, noDigit
	}
	if i < len(d) && d[i] == '.' {
		if i++; !digits() {
			return i, noDigit
		}
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		if i++; i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		if !digits() {
			return i, noDigit
		}
	}
	return i, ""
}

// plain are the bytes that mean only themselves inside a string.
var plain = func() (t [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return
}()
