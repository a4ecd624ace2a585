package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// AppendString appends s as a JSON string: only what RFC 8259 demands is escaped (so `<` and U+2028 stay as they are),
// and each byte that is not UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			start = i + 1
		}
		i++
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendEscape appends a byte below U+0080, escaped if it must be.
func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if c < ' ' {
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(dst, c)
}

// Compact appends v without the white space between its tokens. Strings and numbers stay as they are written.
func Compact(dst, v []byte) []byte {
	for i := 0; i < len(v); {
		switch {
		case isSpace(v[i]):
			i++
		case v[i] == '"':
			end := skipString(v, i)
			if end < 0 {
				end = len(v)
			}
			dst = append(dst, v[i:end]...)
			i = end
		default:
			dst = append(dst, v[i])
			i++
		}
	}
	return dst
}

// Canonical appends v in the one form that digests are taken of: members sorted bytewise by their names (unescaped
// UTF-8) at every level, no white space, strings quoted as [AppendString] does, numbers by their literal text, so that
// 1 and 1.0 differ, as 2^53 and 2^53+1 do. It checks v first (to [MaxDepth]); two members of one name in one object, at
// any level, are an error that names them. The bytes appended to dst on an error mean nothing.
func Canonical(dst, v []byte) ([]byte, error) {
	if err := Check(v, MaxDepth); err != nil {
		return dst, err
	}
	return canonical(dst, trim(v))
}

func canonical(dst, v []byte) ([]byte, error) {
	var err error
	switch v[0] {
	case '{':
		return canonicalObject(dst, v)
	case '[':
		dst = append(dst, '[')
		first := true
		for e := range Elements(v) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if dst, err = canonical(dst, e); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case '"':
		return appendRequoted(dst, v)
	}
	return append(dst, v...), nil
}

type member struct{ name, value []byte } // name unescaped

func canonicalObject(dst, v []byte) ([]byte, error) {
	var room [8]member
	members := room[:0]
	for q, value := range Members(v) {
		name, _ := inner(q)
		if bytes.IndexByte(name, '\\') >= 0 {
			name, _ = appendUnescaped(make([]byte, 0, len(name)), name)
		}
		members = append(members, member{name, value})
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			if bytes.Equal(m.name, members[i-1].name) {
				return dst, fmt.Errorf("two members are called %q", m.name)
			}
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, string(m.name)), ':')
		var err error
		if dst, err = canonical(dst, m.value); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

var errString = errors.New("a malformed string")

// appendRequoted appends the string quoted the way AppendString does.
func appendRequoted(dst, quoted []byte) ([]byte, error) {
	in, ok := inner(quoted)
	if !ok {
		return dst, errString
	}
	if bytes.IndexByte(in, '\\') < 0 { // nothing escaped, and whatever must be is
		return append(dst, quoted...), nil
	}
	dst = append(dst, '"')
	for len(in) > 0 {
		r, n := nextRune(in)
		if n == 0 {
			return dst, errString
		}
		if r < utf8.RuneSelf {
			dst = appendEscape(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		in = in[n:]
	}
	return append(dst, '"'), nil
}
