package streamable

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// namesModern reports whether the request's header names a revision without sessions.
func namesModern(r *http.Request) bool {
	for _, v := range r.Header["Mcp-Protocol-Version"] {
		if strings.TrimSpace(v) >= wire.Modern {
			return true
		}
	}
	return false
}

// checkContent checks that the body is JSON that nothing has encoded.
func checkContent(r *http.Request) *wire.Error {
	t := header(r, "Content-Type")
	if t != "application/json" {
		t, _, _ = mime.ParseMediaType(t)
	}
	if t != "application/json" || len(r.Header["Content-Type"]) > 1 {
		return &wire.Error{Status: http.StatusUnsupportedMediaType, Code: jsonrpc.CodeInvalidRequest, Message: "Content-Type must be application/json"}
	}
	if e := header(r, "Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return &wire.Error{Status: http.StatusUnsupportedMediaType, Code: jsonrpc.CodeInvalidRequest, Message: "Content-Encoding must be absent or identity"}
	}
	return nil
}

// accepts reports whether the client takes JSON and event streams (RFC 9110, section 12.5.1): of the ranges that match a
// type, the most specific counts.
func accepts(r *http.Request) (json, stream bool) {
	var j, s acceptance
	for _, v := range r.Header["Accept"] {
		for part := range strings.SplitSeq(v, ",") {
			media, params, _ := strings.Cut(part, ";")
			ok := !refused(params)
			switch strings.ToLower(strings.TrimSpace(media)) {
			case "*/*":
				j.say(1, ok)
				s.say(1, ok)
			case "application/*":
				j.say(2, ok)
			case "application/json":
				j.say(3, ok)
			case "text/*":
				s.say(2, ok)
			case "text/event-stream":
				s.say(3, ok)
			}
		}
	}
	return j.ok, s.ok
}

// acceptance is what the most specific range so far says of a type.
type acceptance struct {
	specific int
	ok       bool
}

func (a *acceptance) say(specific int, ok bool) {
	if specific > a.specific {
		*a = acceptance{specific, ok}
	} else if specific == a.specific {
		a.ok = a.ok || ok
	}
}

// refused reports whether the parameters say q=0, which means not acceptable.
func refused(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}

func notAcceptable(missing string) *wire.Error {
	return &wire.Error{Status: http.StatusNotAcceptable, Code: jsonrpc.CodeInvalidRequest, Message: "Accept must list application/json and text/event-stream; " + missing + " is missing"}
}

func mismatch(format string, args ...any) *wire.Error {
	return wire.Errf(mcp.CodeHeaderMismatch, format, args...)
}

// single is the value of a header, by its canonical name, that must be there once, in visible ASCII.
func single(r *http.Request, name string) (string, *wire.Error) {
	vs := r.Header[name]
	if name == "Mcp-Protocol-Version" {
		name = "MCP-Protocol-Version" // as the specification writes it
	}
	switch len(vs) {
	case 0:
		return "", mismatch("the request has no %s header", name)
	case 1:
		v := strings.Trim(vs[0], " \t")
		if v == "" {
			return "", mismatch("the %s header is empty", name)
		}
		return v, checkValue(name, v)
	default:
		return "", mismatch("the request has %d %s headers", len(vs), name)
	}
}

// checkValue checks a header's value (streamable-http, "Value Encoding").
func checkValue(name, v string) *wire.Error {
	for i := range len(v) {
		if c := v[i]; c != '\t' && (c < ' ' || c > '~') {
			return mismatch("the %s header has an invalid character at byte %d; encode the value as =?base64?…?=", name, i)
		}
	}
	return nil
}

const sentinelBegin, sentinelEnd = "=?base64?", "?="

// decodeSentinel undoes the Base64 encoding of a header value that says that it is encoded.
func decodeSentinel(name, v string) (string, *wire.Error) {
	enc, ok := strings.CutPrefix(v, sentinelBegin)
	if !ok {
		return v, nil
	}
	if enc, ok = strings.CutSuffix(enc, sentinelEnd); !ok {
		return v, nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(enc)
	if err != nil || strings.ContainsAny(enc, "\r\n") || !utf8.Valid(b) {
		return "", mismatch("the %s header is not valid Base64 of UTF-8 between %s and %s", name, sentinelBegin, sentinelEnd)
	}
	return string(b), nil
}

// checkVersion compares the header with the body's version.
func checkVersion(r *http.Request, version string) *wire.Error {
	v, e := single(r, "Mcp-Protocol-Version")
	if e == nil && v != version {
		e = mismatch("the MCP-Protocol-Version header is %q, but params._meta has %q", v, version)
	}
	return e
}

// checkHeaders compares Mcp-Method and Mcp-Name with the body. It gives the header in which Mcp-Name is decoded, nil if it
// was not encoded.
func (h *Handler) checkHeaders(r *http.Request, m *wire.Message) (http.Header, *wire.Error) {
	v, e := single(r, "Mcp-Method")
	if e != nil {
		return nil, e
	}
	if v != m.Method {
		return nil, mismatch("the Mcp-Method header is %q, but the method is %q", v, m.Method)
	}
	param, ok := h.names[m.Method]
	if !ok {
		return nil, nil
	}
	v, e = single(r, "Mcp-Name")
	if e != nil {
		return nil, e
	}
	name, e := decodeSentinel("Mcp-Name", v)
	if e != nil {
		return nil, e
	}
	raw := m.Param(param)
	if rawjson.Kind(raw) != '"' {
		return nil, wire.Errf(jsonrpc.CodeInvalidParams, "params.%s must be a string", param)
	}
	if !rawjson.NameIs(raw, name) {
		want, _ := rawjson.String(raw)
		return nil, mismatch("the Mcp-Name header is %q, but params.%s is %q", name, param, want)
	}
	if r.Header["Mcp-Name"][0] == name {
		return nil, nil
	}
	header := r.Header.Clone()
	header["Mcp-Name"] = []string{name}
	return header, nil
}

// checkParamValues looks at the Mcp-Param-* headers of a call whose tool is not known here: the SDK compares them.
func checkParamValues(r *http.Request) *wire.Error {
	for name, values := range r.Header {
		if !strings.HasPrefix(name, "Mcp-Param-") {
			continue
		}
		if len(values) > 1 {
			return mismatch("the request has %d %s headers", len(values), name)
		}
		if e := checkValue(name, values[0]); e != nil {
			return e
		}
		if _, e := decodeSentinel(name, values[0]); e != nil {
			return e
		}
	}
	return nil
}

func sizeText(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
