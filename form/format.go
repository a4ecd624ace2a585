package form

import (
	"bytes"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
)

// Address is what an e-mail address or a URI is kept in: a string type; mail.Address, of which only the address is asked for; or
// url.URL, which must also be able to read it.
type Address interface {
	~string | mail.Address | url.URL
}

// FormatField is a text of a format that is checked, an e-mail address or a URI, kept in a Go type S.
type FormatField[S Address] struct {
	c common
	r textRules
}

// Email is a field for an e-mail address, for [New]. It takes what browsers take in <input type=email> (HTML, section
// 4.10.5.1.5), which unlike RFC 5322 are addresses as people write them.
func Email(name string) FormatField[string] {
	return FormatField[string]{common{name: name}, textRules{format: "email"}}
}

// EmailOf is the [Email] field that fills a struct field, for [Build]: a string, or a mail.Address.
func EmailOf[S ~string | mail.Address](field *S) FormatField[S] {
	return FormatField[S]{pointTo(field), textRules{format: "email"}}
}

// URI is a field for an absolute URI, one with a scheme, for [New]. It takes what RFC 3986, section 3, takes: also mailto:
// and urn:, no spaces, nothing beyond ASCII.
func URI(name string) FormatField[string] {
	return FormatField[string]{common{name: name}, textRules{format: "uri"}}
}

// URIOf is the [URI] field that fills a struct field, for [Build]: a string, or a url.URL, which also has to be able to read
// it: form.URIOf(s.Site) where Site is a *url.URL and so optional.
func URIOf[S ~string | url.URL](field *S) FormatField[S] {
	f := FormatField[S]{pointTo(field), textRules{format: "uri"}}
	if _, isURL := any(*new(S)).(url.URL); isURL {
		f.r.accept = acceptURL
	}
	return f
}

func acceptURL(text []byte) error {
	_, err := url.Parse(string(text))
	return err
}

// Title is what a person sees above the field. Without it, it is derived from the name: homeURL is "Home URL".
func (f FormatField[S]) Title(title string) FormatField[S] { f.c.title = constant(title); return f }

// Titlef is Title with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format alone.
func (f FormatField[S]) Titlef(format string, args ...any) FormatField[S] {
	f.c.title = text{fmt.Sprintf(format, args...), format}
	return f
}

// Description says more about the field than its title does. None by default.
func (f FormatField[S]) Description(words string) FormatField[S] {
	f.c.description = constant(words)
	return f
}

// Descriptionf is Description with data of this call in it, as [fmt.Sprintf] puts it in. [Form.Err] judges the words of format
// alone, so a link of this call may stand in args.
func (f FormatField[S]) Descriptionf(format string, args ...any) FormatField[S] {
	f.c.description = text{fmt.Sprintf(format, args...), format}
	return f
}

// Required makes an answer without this field invalid, and one with "" in it.
func (f FormatField[S]) Required() FormatField[S] { f.c.presence = required; return f }

// Optional lets the field be left out, also where the struct of [Build] says otherwise. "" is then as good as left out.
func (f FormatField[S]) Optional() FormatField[S] { f.c.presence = optional; return f }

// NotCredential says that the field asks for no password, key, token or card, although its words look like it to [Form.Err].
func (f FormatField[S]) NotCredential() FormatField[S] { f.c.notCredential = true; return f }

// Default is what a client fills in beforehand, and the value of an optional field that is left out. None by default.
func (f FormatField[S]) Default(value S) FormatField[S] { f.c.def = addressText(value); return f }

// MaxLength is the greatest length, in Unicode code points. None by default.
func (f FormatField[S]) MaxLength(n int) FormatField[S] { f.r.max = limit{n, true}; return f }

// In reads the field out of an answer: its value, or its default, or the zero of S.
func (f FormatField[S]) In(values Values) (v S) {
	s, _ := values.get(f.c.name).(string)
	switch p := any(&v).(type) {
	case *mail.Address:
		p.Address = s
	case *url.URL:
		*p = urlOf(s)
	default:
		setString(&v, s)
	}
	return v
}

// Set puts a value into an answer that is being made, for [Form.Encode].
func (f FormatField[S]) Set(values *Values, value S) { values.set(f.c.name, addressText(value)) }

func (f FormatField[S]) spec() spec { return spec{f.c, &f.r} }

// addressText is an Address as it is sent.
func addressText(v any) string {
	switch v := v.(type) {
	case mail.Address:
		return v.Address
	case url.URL:
		return v.String()
	}
	return reflect.ValueOf(v).String()
}

// urlOf is a valid URI as net/url has it.
func urlOf(text string) url.URL {
	u, err := url.Parse(text)
	if err != nil {
		return url.URL{}
	}
	return *u
}

// setString sets a variable of a string type.
func setString(pointer any, text string) {
	if p, ok := pointer.(*string); ok {
		*p = text
		return
	}
	reflect.ValueOf(pointer).Elem().SetString(text)
}

// formatOK reports whether text is of a format of the specification.
func formatOK(format string, text []byte) bool {
	switch format {
	case "email":
		return isEmail(text)
	case "uri":
		return isURI(text)
	case "date":
		_, ok := parseDate(text)
		return ok
	case "date-time":
		_, _, ok := parseDateTime(text)
		return ok
	}
	return true
}

// isEmail is HTML's valid e-mail address: atext and dots, "@", then labels of letters, digits and inner hyphens, each of at
// most 63.
func isEmail(s []byte) bool {
	at := bytes.IndexByte(s, '@')
	if at < 1 {
		return false
	}
	for _, c := range s[:at] {
		if !isAlnum(c) && !contains(".!#$%&'*+/=?^_`{|}~-", c) {
			return false
		}
	}
	for host, more := s[at+1:], true; more; {
		var label []byte
		label, host, more = bytes.Cut(host, []byte("."))
		n := len(label)
		if n < 1 || n > 63 || label[0] == '-' || label[n-1] == '-' {
			return false
		}
		for _, c := range label {
			if !isAlnum(c) && c != '-' {
				return false
			}
		}
	}
	return true
}

// isURI is RFC 3986's URI: scheme ":" hier-part [ "?" query ] [ "#" fragment ].
func isURI(s []byte) bool {
	scheme, rest, ok := bytes.Cut(s, []byte(":"))
	if !ok || len(scheme) == 0 || !isAlpha(scheme[0]) {
		return false
	}
	for _, c := range scheme {
		if !isAlnum(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	rest, fragment, _ := bytes.Cut(rest, []byte("#"))
	rest, query, _ := bytes.Cut(rest, []byte("?"))
	if !isPchars(fragment, "/?") || !isPchars(query, "/?") {
		return false
	}
	if path, ok := bytes.CutPrefix(rest, []byte("//")); ok {
		authority := path
		if i := bytes.IndexByte(path, '/'); i >= 0 {
			authority, path = path[:i], path[i:]
		} else {
			path = nil
		}
		return isAuthority(authority) && isPchars(path, "/")
	}
	return isPchars(rest, "/")
}

// isAuthority is RFC 3986's [ userinfo "@" ] host [ ":" port ].
func isAuthority(s []byte) bool {
	if i := bytes.LastIndexByte(s, '@'); i >= 0 {
		// pchar has the colon of userinfo, and "@", which userinfo has not.
		if bytes.IndexByte(s[:i], '@') >= 0 || !isPchars(s[:i], "") {
			return false
		}
		s = s[i+1:]
	}
	host, port := s, []byte(nil)
	if len(s) > 0 && s[0] == '[' {
		end := bytes.IndexByte(s, ']')
		if end < 0 || !isIPLiteral(s[1:end]) {
			return false
		}
		host, port = nil, s[end+1:]
		if len(port) > 0 && port[0] != ':' {
			return false
		}
		port = bytes.TrimPrefix(port, []byte(":"))
	} else if i := bytes.IndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	for _, c := range port {
		if !isDigit(c) {
			return false
		}
	}
	return isPchars(host, "") // host has no "@" or ":" any more
}

// isIPLiteral is what RFC 3986 allows between brackets: an IPv6 address without zone, or "v" and a future version.
func isIPLiteral(s []byte) bool {
	if len(s) > 0 && (s[0] == 'v' || s[0] == 'V') {
		version, rest, ok := bytes.Cut(s[1:], []byte("."))
		for _, c := range version {
			if !isHex(c) {
				return false
			}
		}
		return ok && len(version) > 0 && len(rest) > 0 && bytes.IndexByte(rest, '%') < 0 && bytes.IndexByte(rest, '@') < 0 && isPchars(rest, "")
	}
	if len(s) > len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255") || bytes.IndexByte(s, '%') >= 0 {
		return false
	}
	addr, err := netip.ParseAddr(string(s))
	return err == nil && addr.Is6()
}

// isPchars reports whether s is made of RFC 3986's pchar and the bytes of also.
func isPchars(s []byte, also string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isAlnum(c):
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return false
			}
			i += 2
		default:
			if !contains("-._~!$&'()*+,;=:@", c) && !contains(also, c) {
				return false
			}
		}
	}
	return true
}

func contains(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlnum(c byte) bool { return isDigit(c) || isAlpha(c) }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
