package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Modern is the first revision without sessions: each request says in its _meta what older ones said in initialize.
const Modern = "2026-07-28"

// Legacy is the newest revision before Modern.
const Legacy = "2025-11-25"

// An Error refuses a message: an HTTP status, and a JSON-RPC error.
type Error struct {
	Status  int
	Code    int64
	Message string
	Data    json.RawMessage
}

func (e *Error) Error() string { return e.Message }

// Append encodes the JSON-RPC error response. An id that could not be read is left out, never null.
func (e *Error) Append(b []byte, id json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	return append(append(append(b, `,"error":`...), e.Object()...), '}')
}

// Object is the error object of the response.
func (e *Error) Object() json.RawMessage {
	b := fmt.Appendf(nil, `{"code":%d,"message":`, e.Code)
	b = rawjson.AppendString(b, e.Message)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, '}')
}

// ErrorOf is what the client is told of an error that a server's chain of middleware returned.
func ErrorOf(err error) *Error {
	var e *jsonrpc.Error
	switch {
	case !errors.As(err, &e):
		return &Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	case error(e) == err:
		x := &Error{Code: e.Code, Message: e.Message, Data: e.Data}
		if x.Code == 0 {
			x.Code = jsonrpc.CodeInternalError
		}
		return x
	default: // wrapped: its code, with the words of the whole
		return &Error{Code: e.Code, Message: err.Error()}
	}
}

// Errf makes an Error of status 400.
func Errf(code int64, format string, args ...any) *Error {
	return &Error{Status: 400, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Param is a member of params, raw; nil if there is none.
func (m *Message) Param(name string) json.RawMessage { return m.params.Find(name) }

// MetaValue is a member of params._meta, raw; nil if there is none.
func (m *Message) MetaValue(name string) json.RawMessage { return m.meta.Find(name) }

// MetaMembers are the members of params._meta.
func (m *Message) MetaMembers() []rawjson.Member { return m.meta.Members }

// SafeID reports whether the SDK echoes id as it is: it reads numbers as float64.
func SafeID(id json.RawMessage) bool {
	return rawjson.Kind(id) == '"' || len(id) <= 15 && string(id) != "-0"
}

// Version is params._meta's protocolVersion, raw; nil if there is none.
func (m *Message) Version() json.RawMessage {
	return m.MetaValue(mcp.MetaKeyProtocolVersion)
}

// CheckVersion gives the revision that a modern request names.
func (m *Message) CheckVersion() (string, *Error) {
	v := m.Version()
	if v == nil {
		return "", Errf(jsonrpc.CodeInvalidParams, "params._meta has no %q", mcp.MetaKeyProtocolVersion)
	}
	s, ok := text(v)
	if !ok || s == "" {
		return "", Errf(jsonrpc.CodeInvalidParams, "params._meta: %q must be a string such as %q", mcp.MetaKeyProtocolVersion, Modern)
	}
	return s, nil
}

// CheckClient checks what a modern request says of its client.
func (m *Message) CheckClient() *Error {
	caps := m.MetaValue(mcp.MetaKeyClientCapabilities)
	if caps == nil {
		return Errf(jsonrpc.CodeInvalidParams, "params._meta has no %q", mcp.MetaKeyClientCapabilities)
	}
	if rawjson.Kind(caps) != '{' {
		return Errf(jsonrpc.CodeInvalidParams, "params._meta: %q must be an object", mcp.MetaKeyClientCapabilities)
	}
	for _, name := range []string{"elicitation", "sampling", "roots", "extensions", "experimental"} {
		if v, ok := rawjson.Get(caps, name); ok && rawjson.Kind(v) != '{' {
			return Errf(jsonrpc.CodeInvalidParams, "params._meta: %q: %s must be an object", mcp.MetaKeyClientCapabilities, name)
		}
	}
	if json.Unmarshal(caps, &mcp.ClientCapabilities{}) != nil {
		return Errf(jsonrpc.CodeInvalidParams, "params._meta: %q is malformed", mcp.MetaKeyClientCapabilities)
	}
	if info := m.MetaValue(mcp.MetaKeyClientInfo); info != nil {
		name, _ := rawjson.Get(info, "name")
		version, _ := rawjson.Get(info, "version")
		if rawjson.Kind(info) != '{' || rawjson.Kind(name) != '"' || rawjson.Kind(version) != '"' || json.Unmarshal(info, &mcp.Implementation{}) != nil {
			return Errf(jsonrpc.CodeInvalidParams, "params._meta: %q must be an object with a name and a version", mcp.MetaKeyClientInfo)
		}
	}
	return nil
}

// asks reports whether a result of method may ask for input (basic/patterns/mrtr, "Supported Requests").
func asks(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// CheckParams checks the params of the methods whose results may ask.
func (m *Message) CheckParams() *Error {
	if !asks(m.Method) {
		return nil
	}
	if m.Params == nil {
		return Errf(jsonrpc.CodeInvalidParams, "%s needs params", m.Method)
	}
	name := "name"
	if m.Method == "resources/read" {
		name = "uri"
	}
	if rawjson.Kind(m.Param(name)) != '"' {
		return Errf(jsonrpc.CodeInvalidParams, "params.%s must be a string", name)
	}
	for _, c := range []struct {
		name string
		kind byte
		what string
	}{{"arguments", '{', "an object"}, {"inputResponses", '{', "an object"}, {"requestState", '"', "a string"}} {
		if v := m.Param(c.name); v != nil && rawjson.Kind(v) != c.kind && rawjson.Kind(v) != 'n' {
			return Errf(jsonrpc.CodeInvalidParams, "params.%s must be %s", c.name, c.what)
		}
	}
	if m.Method != "prompts/get" {
		return nil
	}
	for name, value := range rawjson.Members(m.Param("arguments")) {
		if rawjson.Kind(value) != '"' {
			s, _ := rawjson.String(name)
			return Errf(jsonrpc.CodeInvalidParams, "params.arguments: %q must be a string", s)
		}
	}
	return nil
}

// Append encodes m under another id for the SDK, with its params normalised.
func (m *Message) Append(b []byte, id json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	b = append(b, `,"method":`...)
	b = rawjson.AppendString(b, m.Method)
	if m.Params != nil {
		b = append(b, `,"params":`...)
		b = m.appendParams(b)
	}
	return append(b, '}')
}

// appendParams encodes the params as the SDK can read them.
func (m *Message) appendParams(b []byte) []byte {
	modern, held := m.Version() != nil, m.heldToken()
	listens := m.Method == "subscriptions/listen" && m.Meta != nil
	if !asks(m.Method) && m.Method != "initialize" && held == nil && !listens {
		return append(b, m.Params...)
	}
	b = append(b, '{')
	for _, x := range m.params.Members {
		value := x.Value
		switch {
		case rawjson.NameIs(x.Name, "inputResponses") && asks(m.Method):
			if !modern || rawjson.Kind(value) == 'n' {
				continue
			}
			b = append(comma(b), `"inputResponses":`...)
			b = appendResponses(b, value)
			continue
		case rawjson.NameIs(x.Name, "requestState") && asks(m.Method):
			if !modern || rawjson.Kind(value) == 'n' {
				continue
			}
		case rawjson.NameIs(x.Name, "_meta") && (held != nil || listens):
			b = m.appendMeta(comma(b), held)
			continue
		case rawjson.NameIs(x.Name, "protocolVersion") && m.Method == "initialize":
			// A client of a newer revision that still shakes hands gets the newest one that has a handshake; the SDK
			// would note the newer one, and then refuse to ask over the session.
			if v, _ := rawjson.String(value); v >= Modern {
				value = json.RawMessage(`"` + Legacy + `"`)
			}
		}
		b = append(append(comma(b), x.Name...), ':')
		b = append(b, value...)
	}
	return append(b, '}')
}

func comma(b []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return b
}

// appendResponses encodes inputResponses so that the SDK, which fails a whole request for one odd entry, reads it: an
// entry that is no object, comes twice, or has a member twice is left out; one without an action is a cancel.
func appendResponses(b []byte, responses json.RawMessage) []byte {
	twice := namesTwice(responses)
	b = append(b, '{')
	for name, value := range rawjson.Members(responses) {
		if !readable(value) {
			continue
		}
		if twice != nil {
			if s, _ := rawjson.String(name); twice[s] {
				continue
			}
		}
		b = append(append(comma(b), name...), ':')
		b = appendResponse(b, value)
	}
	return append(b, '}')
}

// namesTwice are the names that obj has more than once; nil if none.
func namesTwice(obj json.RawMessage) map[string]bool {
	if _, dup := rawjson.Duplicate(obj, false); !dup {
		return nil
	}
	seen, twice := map[string]bool{}, map[string]bool{}
	for name := range rawjson.Members(obj) {
		s, _ := rawjson.String(name)
		twice[s] = twice[s] || seen[s]
		seen[s] = true
	}
	return twice
}

const cancelled = `{"action":"cancel"}`

// readable reports whether an entry can be read in one way only. Others count as absent.
func readable(r json.RawMessage) bool {
	_, dup := rawjson.Duplicate(r, false)
	return rawjson.Kind(r) == '{' && !dup
}

func appendResponse(b []byte, r json.RawMessage) []byte {
	action, ok := rawjson.Get(r, "action")
	if ok {
		return appendElicitResult(b, action, r)
	}
	if decodeOther(r) != nil {
		return append(b, r...)
	}
	return append(b, cancelled...)
}

// appendElicitResult encodes an elicitation result as the SDK can read it, without losing anything of its content.
func appendElicitResult(b []byte, action, r json.RawMessage) []byte {
	if rawjson.Kind(action) != '"' {
		return append(b, cancelled...)
	}
	b = append(append(b, `{"action":`...), action...)
	content, has := rawjson.Get(r, "content")
	lossy := has && rawjson.Kind(content) != 'n' && !lossless(content)
	if has && rawjson.Kind(content) != 'n' && !lossy {
		b = append(append(b, `,"content":`...), content...)
	}
	meta, _ := rawjson.Get(r, "_meta")
	if rawjson.Kind(meta) == '{' || lossy {
		b = append(b, `,"_meta":{`...)
		for name, value := range rawjson.Members(meta) {
			if !rawjson.NameIs(name, ContentMeta) {
				b = append(append(comma(b), name...), ':')
				b = append(b, value...)
			}
		}
		if lossy {
			b = append(comma(b), `"`+ContentMeta+`":`...)
			b = rawjson.AppendString(b, string(content))
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// lossless reports whether a content is an object that map[string]any keeps all of.
func lossless(v json.RawMessage) bool {
	if rawjson.Kind(v) != '{' {
		return false
	}
	if _, dup := rawjson.Duplicate(v, false); dup {
		return false
	}
	for _, value := range rawjson.Members(v) {
		if !losslessValue(value) {
			return false
		}
	}
	return true
}

func losslessValue(v json.RawMessage) bool {
	switch rawjson.Kind(v) {
	case '{':
		return lossless(v)
	case '[':
		for e := range rawjson.Elements(v) {
			if !losslessValue(e) {
				return false
			}
		}
	case '0':
		return safeNumber(v)
	}
	return true
}

// AppendResponseMessage encodes a client's response to a request of the server, with an elicitation result in it as
// above.
func (m *Message) AppendResponseMessage(b []byte, body []byte) []byte {
	action, ok := rawjson.Get(m.Result, "action")
	if !ok || rawjson.Kind(m.Result) != '{' {
		return append(b, body...)
	}
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), m.ID...)
	b = append(b, `,"result":`...)
	if _, dup := rawjson.Duplicate(m.Result, false); dup {
		b = append(b, cancelled...)
	} else {
		b = appendElicitResult(b, action, m.Result)
	}
	return append(b, '}')
}
