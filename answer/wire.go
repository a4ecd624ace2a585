package answer

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/elicit-go/elicit/internal/rawjson"
)

// A WireKind tells what a [WireMessage] is.
type WireKind int

// What passes over the wire.
const (
	WireRequest  WireKind = iota // a request, complete
	WireResponse                 // a response: complete, or its headers when its body is a stream of events
	WireEvent                    // one message of such a stream
	WireFailure                  // the request did not get through, or its response broke off: Body says why
	WireSent                     // a message of ours over a transport that is not HTTP
	WireReceived                 // a message of the server over such a transport
)

// A WireMessage is what [Options].Wire sees. Nothing in it is redacted.
type WireMessage struct {
	Exchange int         // counts the HTTP requests of a session from 1, the same for a request and its response; else the messages
	Kind     WireKind    // what it is
	Method   string      // of a request: POST
	URL      string      // of a request
	Status   int         // of a response: 200
	Header   http.Header // of a request or response; for reading only
	Body     []byte      // as sent; for reading only
}

// WireFormat configures [WireTo].
type WireFormat struct {
	// Raw prints secrets as they are. Otherwise credentials (Authorization, Cookie and their kin), session ids,
	// requestState and what follows the host in the URL of a question (where its ticket is) are replaced by "[redacted]".
	Raw bool
	// Hide names more headers whose values are secret.
	Hide []string
}

// WireTo makes a wire tap for [Options] that prints to w, one message after another: the first line, the headers in
// alphabetical order, the body as indented JSON with its order and numbers kept. Characters that would drive a terminal
// are printed as JSON escapes. f may be nil. It may be called from several goroutines.
func WireTo(w io.Writer, f *WireFormat) func(WireMessage) {
	p := wirePrinter{}
	if f != nil {
		p.raw = f.Raw
		for _, name := range f.Hide {
			p.hide = append(p.hide, http.CanonicalHeaderKey(name))
		}
	}
	var mu sync.Mutex
	return func(m WireMessage) {
		text := p.print(m)
		mu.Lock()
		defer mu.Unlock()
		_, _ = w.Write(text) // There is nobody to tell.
	}
}

const redacted = "[redacted]"

// secretHeaders are the headers whose values let another one act as the caller.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Mcp-Session-Id"}

type wirePrinter struct {
	raw  bool
	hide []string
}

func (p *wirePrinter) print(m WireMessage) []byte {
	var b bytes.Buffer
	switch m.Kind {
	case WireRequest:
		fmt.Fprintf(&b, "--- request %d\n", m.Exchange)
		target, host := "/", ""
		if u, err := url.Parse(m.URL); err == nil {
			if host = u.Host; u.RawQuery != "" && !p.raw {
				u.RawQuery = redacted
			}
			target = u.EscapedPath()
			if target == "" {
				target = "/"
			}
			if u.RawQuery != "" {
				target += "?" + u.RawQuery
			}
		}
		fmt.Fprintf(&b, "%s %s HTTP/1.1\nHost: %s\n", PlainLine(m.Method), PlainLine(target), PlainLine(host))
		p.header(&b, m.Header)
	case WireResponse:
		fmt.Fprintf(&b, "--- response %d\nHTTP/1.1 %d %s\n", m.Exchange, m.Status, http.StatusText(m.Status))
		p.header(&b, m.Header)
	case WireEvent:
		fmt.Fprintf(&b, "--- event of response %d\n", m.Exchange)
	case WireSent:
		fmt.Fprintf(&b, "--- message %d, sent\n", m.Exchange)
	case WireReceived:
		fmt.Fprintf(&b, "--- message %d, received\n", m.Exchange)
	case WireFailure:
		fmt.Fprintf(&b, "--- request %d failed: %s\n\n", m.Exchange, PlainLine(string(m.Body)))
		return b.Bytes()
	}
	if len(bytes.TrimSpace(m.Body)) > 0 {
		if m.Kind == WireRequest || m.Kind == WireResponse {
			b.WriteByte('\n')
		}
		b.Write(p.body(m.Body))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func (p *wirePrinter) header(b *bytes.Buffer, h http.Header) {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range h[name] {
			if !p.raw && (slices.Contains(secretHeaders, name) || slices.Contains(p.hide, name)) {
				value = redacted
			}
			fmt.Fprintf(b, "%s: %s\n", PlainLine(name), PlainLine(value))
		}
	}
}

func (p *wirePrinter) body(data []byte) []byte {
	if rawjson.Check(data, maxDepth) == nil {
		return p.value(nil, data, "\n")
	}
	const most = 4 << 10
	if !p.raw && bytes.Contains(data, []byte("requestState")) {
		return fmt.Appendf(nil, "[%d bytes that are not JSON]", len(data))
	}
	text := Plain(string(data[:min(len(data), most)]))
	if len(data) > most {
		text += fmt.Sprintf("\n[%d more bytes]", len(data)-most)
	}
	return []byte(text)
}

// value appends v, what is short on one line and else every member and element on a line of its own; newline is "\n" and the indentation.
func (p *wirePrinter) value(dst, v []byte, newline string) []byte {
	deeper := newline + "  "
	start, first := len(dst), true
	next := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, deeper...)
	}
	var closing byte
	switch rawjson.Kind(v) {
	case '{':
		mode, _ := rawjson.Get(v, "mode")
		isURL := rawjson.NameIs(mode, "url")
		dst, closing = append(dst, '{'), '}'
		for name, value := range rawjson.Members(v) {
			next()
			dst = appendVisible(dst, name)
			dst = append(dst, ": "...)
			text, isText := rawjson.String(value)
			switch {
			case !p.raw && isText && text != "" && rawjson.NameIs(name, "requestState"):
				dst = rawjson.AppendString(dst, redacted)
			case !p.raw && isText && isURL && rawjson.NameIs(name, "url"):
				dst = appendVisible(dst, rawjson.AppendString(nil, withoutTicket(text)))
			default:
				dst = p.value(dst, value, deeper)
			}
		}
	case '[':
		dst, closing = append(dst, '['), ']'
		for e := range rawjson.Elements(v) {
			next()
			dst = p.value(dst, e, deeper)
		}
	case '"':
		return appendVisible(dst, bytes.TrimSpace(v))
	default:
		return append(dst, bytes.TrimSpace(v)...)
	}
	if first {
		return append(dst, closing)
	}
	return append(onOneLine(dst, start, newline), closing)
}

// onOneLine ends the members or elements that begin at start: on the same line when they are short and none of them has
// lines of its own, else on the next.
func onOneLine(dst []byte, start int, newline string) []byte {
	const most = 72
	inner := dst[start+1:]
	lines := bytes.Split(inner, []byte(newline+"  "))[1:]
	if len(inner)-len(lines)*len(newline) > most || bytes.Count(inner, []byte("\n")) != len(lines) {
		return append(dst, newline...)
	}
	joined := bytes.Join(lines, []byte(" "))
	dst = dst[:start+1]
	if dst[start] == '{' {
		return append(append(append(dst, ' '), joined...), ' ')
	}
	return append(dst, joined...)
}

// withoutTicket is a question's URL up to its host.
func withoutTicket(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return redacted
	}
	return u.Scheme + "://" + u.Host + "/" + redacted
}

// appendVisible appends a quoted string with the characters that do something else than show escaped.
func appendVisible(dst, quoted []byte) []byte {
	text := string(quoted)
	if !strings.ContainsFunc(text, hidden) {
		return append(dst, text...)
	}
	for _, r := range text {
		switch {
		case !hidden(r):
			dst = append(dst, string(r)...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, hi, lo)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return dst
}
