package tool

import (
	"strings"
	"unicode"
)

// CleanText takes out what could make a message read as another: control characters but line feed and tab, and the
// characters that reorder text (Unicode Standard Annex 9).
func CleanText(s string) string {
	bad := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}
	if !strings.ContainsFunc(s, bad) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return -1
		}
		return r
	}, s)
}
