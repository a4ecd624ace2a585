package answer

import (
	"strings"
	"unicode"
)

// readable is a host with its labels in Punycode decoded, and whether there were any; "" when one cannot be decoded.
func readable(host string) (string, bool) {
	labels := strings.Split(host, ".")
	coded := false
	for i, label := range labels {
		rest, ok := strings.CutPrefix(strings.ToLower(label), "xn--")
		if !ok {
			continue
		}
		coded = true
		if labels[i], ok = punycode(rest); !ok {
			return "", true
		}
	}
	return PlainLine(strings.Join(labels, ".")), coded
}

// punycode decodes a label without its prefix (RFC 3492, section 6.2).
func punycode(s string) (string, bool) {
	const base, tMin, tMax, skew, damp, initialBias, initialN = 36, 1, 26, 38, 700, 72, 128
	var out []rune
	if i := strings.LastIndexByte(s, '-'); i >= 0 {
		out = []rune(s[:i])
		s = s[i+1:]
	}
	n, i, bias := initialN, 0, initialBias
	for len(s) > 0 {
		before, w := i, 1
		for k := base; ; k += base {
			if s == "" {
				return "", false
			}
			digit := 0
			switch c := s[0]; {
			case 'a' <= c && c <= 'z':
				digit = int(c - 'a')
			case '0' <= c && c <= '9':
				digit = int(c-'0') + 26
			default:
				return "", false
			}
			s = s[1:]
			if i += digit * w; i > unicode.MaxRune*64 {
				return "", false
			}
			t := min(max(k-bias, tMin), tMax)
			if digit < t {
				break
			}
			if w *= base - t; w > unicode.MaxRune*64 {
				return "", false
			}
		}
		length := len(out) + 1
		delta := i - before
		if before == 0 {
			delta /= damp
		} else {
			delta /= 2
		}
		delta += delta / length
		k := 0
		for ; delta > (base-tMin)*tMax/2; k += base {
			delta /= base - tMin
		}
		bias = k + (base-tMin+1)*delta/(delta+skew)
		n += i / length
		i %= length
		if n > unicode.MaxRune || 0xd800 <= n && n <= 0xdfff {
			return "", false
		}
		out = append(out, 0)
		copy(out[i+1:], out[i:])
		out[i] = rune(n)
		i++
	}
	return string(out), true
}

// mixesScripts tells whether a label of host has letters of more than one script. The scripts that Japanese and Korean are
// written in count as one.
func mixesScripts(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		found := ""
		for _, r := range label {
			script := scriptOf(r)
			if script == "" {
				continue
			}
			if found != "" && found != script {
				return true
			}
			found = script
		}
	}
	return false
}

// scriptOf names the script of a letter; "" of what belongs to all.
func scriptOf(r rune) string {
	switch {
	case !unicode.IsLetter(r) || unicode.Is(unicode.Common, r) || unicode.Is(unicode.Inherited, r):
		return ""
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo):
		return "East Asian"
	case unicode.Is(unicode.Latin, r):
		return "Latin"
	case unicode.Is(unicode.Cyrillic, r):
		return "Cyrillic"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
