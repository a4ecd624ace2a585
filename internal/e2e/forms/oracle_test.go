package forms

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Formats as their specifications write them. They are slow and say nothing about why; they are here to judge with.

// htmlEmail is the expression in the HTML standard, 4.10.5.1.5.
var htmlEmail = regexp.MustCompile("^[a-zA-Z0-9.!#$%&'*+\\/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$")

// rfc3986 is the rule URI of RFC 3986, appendix A, put together from its parts.
var rfc3986 = func() *regexp.Regexp {
	const (
		unreserved = `[A-Za-z0-9._~-]`
		pct        = `%[0-9A-Fa-f]{2}`
		sub        = `[!$&'()*+,;=]`
		pchar      = `(?:` + unreserved + `|` + pct + `|` + sub + `|[:@])`
		segment    = pchar + `*`
		abempty    = `(?:/` + segment + `)*`
		absolute   = `/(?:` + pchar + `+(?:/` + segment + `)*)?`
		rootless   = pchar + `+(?:/` + segment + `)*`
		decOctet   = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
		ipv4       = decOctet + `\.` + decOctet + `\.` + decOctet + `\.` + decOctet
		h16        = `[0-9A-Fa-f]{1,4}`
		ls32       = `(?:` + h16 + `:` + h16 + `|` + ipv4 + `)`
		ipv6       = `(?:(?:` + h16 + `:){6}` + ls32 +
			`|::(?:` + h16 + `:){5}` + ls32 +
			`|(?:` + h16 + `)?::(?:` + h16 + `:){4}` + ls32 +
			`|(?:(?:` + h16 + `:){0,1}` + h16 + `)?::(?:` + h16 + `:){3}` + ls32 +
			`|(?:(?:` + h16 + `:){0,2}` + h16 + `)?::(?:` + h16 + `:){2}` + ls32 +
			`|(?:(?:` + h16 + `:){0,3}` + h16 + `)?::` + h16 + `:` + ls32 +
			`|(?:(?:` + h16 + `:){0,4}` + h16 + `)?::` + ls32 +
			`|(?:(?:` + h16 + `:){0,5}` + h16 + `)?::` + h16 +
			`|(?:(?:` + h16 + `:){0,6}` + h16 + `)?::)`
		future    = `[vV][0-9A-Fa-f]+\.(?:` + unreserved + `|` + sub + `|:)+`
		regName   = `(?:` + unreserved + `|` + pct + `|` + sub + `)*`
		host      = `(?:\[(?:` + ipv6 + `|` + future + `)\]|` + ipv4 + `|` + regName + `)`
		userinfo  = `(?:` + unreserved + `|` + pct + `|` + sub + `|:)*`
		authority = `(?:` + userinfo + `@)?` + host + `(?::[0-9]*)?`
		hierPart  = `(?://` + authority + abempty + `|` + absolute + `|` + rootless + `|)`
		rest      = `(?:` + pchar + `|[/?])*`
	)
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:` + hierPart + `(?:\?` + rest + `)?(?:#` + rest + `)?$`)
}()

var rfc3339 = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$`)

// isDateTime is RFC 3339's date-time, 5.6, with the restrictions of 5.7: a leap second ends a UTC day.
func isDateTime(s string) bool {
	m := rfc3339.FindStringSubmatch(s)
	if m == nil || !isDate(m[1]) {
		return false
	}
	n := func(s string) int { i, _ := strconv.Atoi(s); return i }
	hour, minute, second, zh, zm := n(m[2]), n(m[3]), n(m[4]), n(m[6]), n(m[7])
	if hour > 23 || minute > 59 || second > 60 || zh > 23 || zm > 59 {
		return false
	}
	if second < 60 {
		return true
	}
	offset := zh*60 + zm
	if m[5] == "-" {
		offset = -offset
	}
	return (hour*60+minute-offset+2*24*60)%(24*60) == 23*60+59
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// oracle is whether a text is of a format.
func oracle(format, s string) bool {
	switch format {
	case "email":
		return htmlEmail.MatchString(s)
	case "uri":
		return rfc3986.MatchString(s)
	case "date":
		return isDate(s)
	case "date-time":
		return isDateTime(s) && !lastSecond(s)
	}
	return true
}

// lastSecond is the one leap second that Go cannot follow with another: that of the year 9999, in the zone that it is written in.
func lastSecond(s string) bool {
	return strings.HasPrefix(s, "9999-12-31") && strings.HasPrefix(s[11:], "23:59:60")
}

func TestOracle(t *testing.T) {
	for format, texts := range map[string]map[string]bool{
		"uri":       {"http://[::1]:80/a?b#c": true, "urn:a:b": true, "a:": true, "http://a b": false, "//a": false, "http://[::1": false, "http://[1::2::3]/": false, "http://[v1.x:y]/": true, "http://[::1.2.3.4]": true, "http://[::1.2.3.256]": false, "http://a:8a/": false},
		"email":     {"a@b": true, ".a@b": true, "a@b.": false, "a@-b": false, "\"a\"@b": false, "a@[127.0.0.1]": false},
		"date-time": {"1998-12-31T23:59:60Z": true, "1998-12-31T15:59:60.1-08:00": true, "1998-12-31T22:59:60Z": false, "2026-07-28t14:30:00z": true, "2026-07-28T24:00:00Z": false, "9999-12-31T23:59:60Z": false},
		"date":      {"2024-02-29": true, "2023-02-29": false, "2023-2-29": false},
	} {
		for s, want := range texts {
			if oracle(format, s) != want {
				t.Errorf("%s %s: %t", format, s, !want)
			}
		}
	}
}
