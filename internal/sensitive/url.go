package sensitive

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// URL is the first web address in a text that leads somewhere, or "". "Servers SHOULD NOT include URLs intended to be clickable in
// any field of a form mode elicitation request" (MCP 2026-07-28, client/elicitation, Safe URL Handling), and clients make
// clickable what looks like one: http and https, in any case, and www.
//
// Examples pass, as they lead nowhere: the hosts that RFC 2606 and RFC 6761 keep for them (example.com, .net and .org, and what ends
// in .example, .invalid, .test), localhost, loopback addresses, and those for documentation (RFC 5737, RFC 3849).
func URL(text string) string {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		text = lower // lower case took other bytes; positions must agree
	}
	for at := 0; at < len(lower); {
		i := next(lower[at:])
		if i < 0 {
			return ""
		}
		at += i
		address := text[at:]
		if end := strings.IndexFunc(address, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>\"“”«»`", r)
		}); end >= 0 {
			address = address[:end]
		}
		address = strings.TrimRight(address, ".,;:!?)]}'’*_…")
		if !example(address) {
			return address
		}
		at += max(len(address), 1)
	}
	return ""
}

// next is where the next address begins, or -1.
func next(s string) int {
	best := -1
	for _, start := range []string{"http://", "https://", "www."} {
		for at := 0; ; {
			i := strings.Index(s[at:], start)
			if i < 0 {
				break
			}
			i += at
			if begins(s, i, start) {
				if best < 0 || i < best {
					best = i
				}
				break
			}
			at = i + len(start)
		}
	}
	return best
}

// begins reports whether an address begins at s[i]: www. only as a word of its own with a name after it.
func begins(s string, i int, start string) bool {
	if start != "www." {
		return len(s) > i+len(start)
	}
	if i > 0 && (isAlnum(s[i-1]) || s[i-1] == '/' || s[i-1] == '.' || s[i-1] == '-' || s[i-1] == '@') {
		return false
	}
	return len(s) > i+len(start) && isAlnum(s[i+len(start)])
}

func isAlnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// example reports whether an address leads nowhere.
func example(address string) bool {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || strings.Contains(address, "\\") {
		return false // what net/url does not read, others may
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" || host == "…" || host == "..." {
		return true
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback() || documentation(addr)
	}
	for _, name := range []string{"example.com", "example.net", "example.org", "example", "invalid", "test", "localhost"} {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}

func documentation(addr netip.Addr) bool {
	for _, p := range []string{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"} {
		if netip.MustParsePrefix(p).Contains(addr) {
			return true
		}
	}
	return false
}
