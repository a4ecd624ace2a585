package form

import (
	"strings"
	"testing"
)

func TestEmail(t *testing.T) {
	label := strings.Repeat("a", 63)
	testRules(t, Email("x").MaxLength(254), []ruleTest{
		{`"name@example.com"`, ""}, {`"a@b"`, ""}, {`".a..b.@b-c.d1"`, ""}, {`"!#$%&'*+/=?^_{|}~-@x"`, ""}, {"\"`@x\"", ""}, {`"a@` + label + `.` + label + `"`, ""},
		{`"\u0061@b"`, ""}, {`null`, ""}, {`""`, ""},
		{`"a"`, "format"}, {`"@b"`, "format"}, {`"a@"`, "format"}, {`"a@b."`, "format"}, {`"a@.b"`, "format"}, {`"a@b..c"`, "format"},
		{`"a@-b"`, "format"}, {`"a@b-"`, "format"}, {`"a@` + label + `a"`, "format"}, {`"a@b@c"`, "format"}, {`"a b@c"`, "format"},
		{`"a@b c"`, "format"}, {`" a@b"`, "format"}, {`"é@b"`, "format"}, {`"a@é"`, "format"}, {`"a@b_c"`, "format"}, {`"\"a\"@b"`, "format"},
		{`"a@[1.2.3.4]"`, "format"}, {`"a@b\n"`, "format"}, {`1`, "type"}, {`"` + strings.Repeat("a", 253) + `@b"`, "maxLength"},
	})
	testRules(t, Email("x").Required(), []ruleTest{{`""`, "format"}, {`null`, "required"}})
	same(t, "schema", property(t, Email("x").MaxLength(9).Default("a@b")), `{"type":"string","title":"X","maxLength":9,"format":"email","default":"a@b"}`)
	same(t, "message", message(t, Email("contactEmail"), `"me"`), `Contact Email must be an e-mail address, such as name@example.com; you entered "me".`)
}

func TestURI(t *testing.T) {
	testRules(t, URI("x"), []ruleTest{
		// The examples of RFC 3986, section 1.1.2.
		{`"ftp://ftp.is.co.za/rfc/rfc1808.txt"`, ""}, {`"http://www.ietf.org/rfc/rfc2396.txt"`, ""}, {`"ldap://[2001:db8::7]/c=GB?objectClass?one"`, ""},
		{`"mailto:John.Doe@example.com"`, ""}, {`"news:comp.infosystems.www.servers.unix"`, ""}, {`"tel:+1-816-555-1212"`, ""},
		{`"telnet://192.0.2.16:80/"`, ""}, {`"urn:oasis:names:specification:docbook:dtd:xml:4.1.2"`, ""},

		{`"https://example.com"`, ""}, {`"https:\/\/example.com\/"`, ""}, {`"https://u:p@example.com:8080/a/b?c=d&e=%20#f?/"`, ""}, {`"https://example.com:"`, ""},
		{`"file:///etc/hosts"`, ""}, {`"x:"`, ""}, {`"a+b-c.d1:/"`, ""}, {`"HTTP://EXAMPLE.COM"`, ""}, {`"http://[::1]:80"`, ""}, {`"http://[::ffff:1.2.3.4]"`, ""},
		{`"http://[v1.fe80::a+en1]"`, ""}, {`"http://%C3%A9.example/"`, ""}, {`"http://a/@:"`, ""}, {`"x://"`, ""}, {`"a:b:c@d"`, ""}, {`""`, ""}, {`null`, ""},

		{`"example.com"`, "format"}, {`"/a"`, "format"}, {`"//a/b"`, "format"}, {`"?a"`, "format"}, {`":a"`, "format"}, {`"1a:b"`, "format"}, {`"a_b:c"`, "format"},
		{`"a b:c"`, "format"}, {`"http://a b"`, "format"}, {`"http://a/b c"`, "format"}, {`"http://a/%zz"`, "format"}, {`"http://a/%2"`, "format"}, {`"http://a/%"`, "format"},
		{`"http://a/é"`, "format"}, {`"http://a/<b>"`, "format"}, {`"http://a/\\b"`, "format"}, {`"http://a/{b}"`, "format"}, {`"http://a/^"`, "format"}, {`"http://a/|"`, "format"},
		{`"http://a/\"b\""`, "format"}, {`"http://a#b#c"`, "format"}, {`"http://a/[b]"`, "format"}, {`"http://a:80a/"`, "format"}, {`"http://a:b:c/"`, "format"},
		{`"http://[::1"`, "format"}, {`"http://[::1]a"`, "format"}, {`"http://[1.2.3.4]"`, "format"}, {`"http://[fe80::1%25eth0]"`, "format"}, {`"http://[fe80::1%eth0]"`, "format"},
		{`"http://[:::1]"`, "format"}, {`"http://[]"`, "format"}, {`"http://[v.a]"`, "format"}, {`"http://[v1.]"`, "format"}, {`"http://[vg.a]"`, "format"}, {`"http://[v1a]"`, "format"},
		{`"http://[v1.a@b]"`, "format"}, {`"http://[v1.%20]"`, "format"}, {`"http://a@b@c"`, "format"}, {`"http://a\"b@c"`, "format"}, {`"http://[` + strings.Repeat("1:", 40) + `1]"`, "format"},
		{`"http://a\n"`, "format"}, {`"http://a?b\u0000"`, "format"}, {`"a"`, "format"}, {`7`, "type"},
	})
	same(t, "schema", property(t, URI("homeURL")), `{"type":"string","title":"Home URL","format":"uri"}`)
	same(t, "message", message(t, URI("x"), `"example.com"`), `X must be a complete address that begins with its scheme, such as https; you entered "example.com".`)
}
