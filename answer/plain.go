package answer

import (
	"strings"
	"unicode"
)

// Plain makes foreign text safe to print: it drops control characters (C0 but newline and tab, C1: escape sequences
// lose their teeth), bidirectional and zero-width characters and other invisible ones, so that a server can neither
// drive the terminal nor show other words than it sends. Line and paragraph separators become newlines, bytes that are
// no UTF-8 become U+FFFD.
func Plain(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case hidden(r):
			return -1
		}
		return r
	}, s)
}

// PlainLine is [Plain] for titles and other text that has to stay on its line: white space of every kind becomes one
// space.
func PlainLine(s string) string {
	return strings.Join(strings.Fields(Plain(s)), " ")
}

// hidden tells whether printing r would do something else than show a character.
func hidden(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u3164', '\uffa0': // letters and marks without a shape
		return true
	}
	// Cf is where Unicode keeps bidirectional controls, zero-width characters, tags and the byte order mark.
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
