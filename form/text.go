package form

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean is text fit to be shown: without control and bidirectional characters, with which data could rewrite the words around
// it. Line breaks and tabs become spaces.
func clean(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return isHarmful(r) || r == utf8.RuneError }) < 0 {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	broken := false // by a line break or tab, which is one space with those around it
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			broken = true
		case isHarmful(r), broken && r == ' ':
		default:
			if broken && !strings.HasSuffix(b.String(), " ") {
				b.WriteByte(' ')
			}
			broken = false
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// isHarmful is C0, C1, DEL, the line separators, and the characters that set or end a direction of writing (Unicode's
// Bidi_Control).
func isHarmful(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// quote shows what a person typed, in a sentence.
func quote(s string) string {
	const most = 60 // code points
	s = clean(s)
	n := 0
	for i := range s {
		if n == most {
			return `"` + s[:i] + `…"`
		}
		n++
	}
	return `"` + s + `"`
}
