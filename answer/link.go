package answer

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"
)

// longLink is from how many bytes on a link is marked as very long.
const longLink = 300

// A Link is the page that a URL question wants opened, taken apart for a person to judge. All its texts are fit to be
// shown; nothing is fetched to make it.
type Link struct {
	// Before, Host and After make up the whole URL: set Host apart, since it alone says where the page is. Host has the port.
	Before, Host, After string
	// Warnings are sentences about what looks suspicious; nil when nothing does.
	Warnings []string
	// Refused is why the page is never opened; nil when it may be.
	Refused error

	opened string
}

// Link takes the URL of r, a URL question, apart (specification: client/elicitation, Safe URL Handling). Refused is what
// is not https, or http to this machine; what has no host, or user info, or characters beyond ASCII. Warned of are
// internationalised names (Punycode), with what they read, and such that mix scripts; IP addresses in place of a name;
// addresses of this machine or of a private network that a server from elsewhere names; odd ports; very long URLs.
func (r *Request) Link() Link {
	raw := ""
	if r.Params != nil {
		raw = r.Params.URL
	}
	l := Link{After: PlainLine(raw)}
	if u, err := url.Parse(raw); err == nil && u.Host != "" {
		if before, after, ok := strings.Cut(l.After, PlainLine(u.Host)); ok {
			l.Before, l.Host, l.After = before, PlainLine(u.Host), after
		}
	}
	u, err := checkLink(raw)
	if err != nil {
		l.Refused = err
		return l
	}
	l.opened = u.String()
	// What is shown is what is opened.
	if before, after, ok := strings.Cut(l.opened, "://"+u.Host); ok {
		l.Before, l.Host, l.After = before+"://", u.Host, after
	}
	l.Warnings = warnings(u, isElsewhere(r.Server))
	return l
}

// String is the whole URL.
func (l Link) String() string { return l.Before + l.Host + l.After }

// Opened is the URL as it may be handed to a browser, as a single argument and not through a shell; empty when Refused.
func (l Link) Opened() string { return l.opened }

// checkLink parses what may be opened.
func checkLink(raw string) (*url.URL, error) {
	for _, c := range raw {
		if c > '~' {
			return nil, errors.New("it has characters beyond ASCII, which can look like others")
		}
		if c <= ' ' {
			return nil, errors.New("it has control characters or spaces")
		}
	}
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, errors.New("it is no valid URL")
	case u.Scheme != "https" && u.Scheme != "http":
		if u.Scheme == "" {
			return nil, errors.New("it is not a complete URL")
		}
		return nil, fmt.Errorf("it begins with %s: where https: is needed", PlainLine(u.Scheme))
	case u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("it names no host")
	case u.User != nil:
		return nil, errors.New("it has a user name before the host, which can pass for the host")
	case strings.ContainsAny(u.Hostname(), `"<>^|{}%\`+"`"):
		return nil, errors.New("its host is not a valid name")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, errors.New("it is not encrypted: it begins with http and not with https")
	}
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

func warnings(u *url.URL, elsewhere bool) (w []string) {
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	isIP := err == nil
	switch {
	case isLoopback(host):
		if elsewhere {
			w = append(w, "It is a page on this machine, but the server that asks is not.")
		}
	case isIP && (ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast()):
		w = append(w, "It is an address of a private network in place of a name.")
	case isIP:
		w = append(w, "It is an IP address in place of a name.")
	case isNumeric(host):
		w = append(w, "It is an IP address written as a number.")
	case !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal"):
		w = append(w, "It is a name of a private network.")
	}
	if read, coded := readable(host); coded {
		switch {
		case read == "":
			w = append(w, "Its name is written in Punycode that nothing can read.")
		case mixesScripts(read):
			w = append(w, fmt.Sprintf("Its name reads %q, which mixes letters of different scripts: it may be made to look like another.", read))
		default:
			w = append(w, fmt.Sprintf("Its name reads %q: some of its letters may look like others.", read))
		}
	}
	if p := u.Port(); p != "" && p != "443" && p != "8443" && !isLoopback(host) {
		w = append(w, "It goes to the unusual port "+p+".")
	}
	if len(u.String()) > longLink {
		w = append(w, fmt.Sprintf("It is very long: %d characters.", utf8.RuneCountInString(u.String())))
	}
	return w
}

// isLoopback tells whether a host, without its port, is this machine by its own name or number.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.Unmap().IsLoopback()
}

// isNumeric tells whether a browser would read a host as an IPv4 address, such as 2130706433 or 0x7f.1, that no program of
// ours takes for one.
func isNumeric(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// isElsewhere tells whether a server's address is of another machine.
func isElsewhere(server string) bool {
	u, err := url.Parse(server)
	return err == nil && u.Host != "" && !isLoopback(u.Hostname())
}
