package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A Message is one JSON-RPC message, in the bytes of its sender.
type Message struct {
	ID     json.RawMessage // nil if there is none, or none that can be read
	Method string
	Params json.RawMessage // an object, or nil
	Meta   json.RawMessage // the object params._meta, or nil
	Result json.RawMessage // of a response

	Response     bool
	Notification bool

	body json.RawMessage
	// The members of the body's object, of its params, and of their _meta, in the order written.
	envelope, params, meta rawjson.Object
}

// Messages are reused: their members take a kilobyte.
var messagePool = sync.Pool{New: func() any {
	m := &Message{}
	m.envelope.Inside, m.envelope.In = "params", &m.params
	m.params.Inside, m.params.In = "_meta", &m.meta
	return m
}}

// Release lets m be reused. Nothing may use it afterwards; the bytes that its methods gave stay.
func (m *Message) Release() {
	for _, o := range []*rawjson.Object{&m.envelope, &m.params, &m.meta} {
		if cap(o.Members) > 16 {
			o.Members = nil
		}
		clear(o.Members)
	}
	*m = Message{envelope: m.envelope, params: m.params, meta: m.meta}
	messagePool.Put(m)
}

// Read checks that body is JSON as this module reads it, and notes where its members are. Parse the Message next.
func Read(body []byte) (*Message, *Error) {
	m := messagePool.Get().(*Message)
	m.body = body
	for _, o := range []*rawjson.Object{&m.envelope, &m.params, &m.meta} {
		o.Members = o.Members[:0]
	}
	if err := rawjson.Record(body, rawjson.MaxDepth, &m.envelope); err != nil {
		m.Release()
		return nil, notJSON(err)
	}
	return m, nil
}

// Check reports whether body is JSON as this module reads it.
func Check(body []byte) *Error {
	if err := rawjson.Check(body, rawjson.MaxDepth); err != nil {
		return notJSON(err)
	}
	return nil
}

func notJSON(err error) *Error {
	return Errf(jsonrpc.CodeParseError, "the body is not valid JSON: %v", err)
}

// IsArray reports whether body, which passed Check, is a JSON-RPC batch.
func IsArray(body []byte) bool { return rawjson.Kind(body) == '[' }

// IsArray reports whether the body is a JSON-RPC batch.
func (m *Message) IsArray() bool { return IsArray(m.body) }

// Parse reads and parses body. The Message it returns with an error still has the ID if that could be read.
func Parse(body []byte) (*Message, *Error) {
	m, e := Read(body)
	if e != nil {
		return &Message{}, e
	}
	return m, m.Parse()
}

// Parse reads the envelope. With an error, the Message still has the ID if that could be read.
func (m *Message) Parse() *Error {
	switch rawjson.Kind(m.body) {
	case '{':
	case '[':
		return Errf(jsonrpc.CodeInvalidRequest, "the body is a batch; send one JSON-RPC message")
	default:
		return Errf(jsonrpc.CodeInvalidRequest, "the body is no JSON-RPC message: it must be an object")
	}
	var version, method, params, result, failure json.RawMessage
	members := m.envelope.Members
	for i := range members {
		switch x := &members[i]; {
		case x.Is("jsonrpc"):
			version = x.Value
		case x.Is("id"):
			m.ID = x.Value
		case x.Is("method"):
			method = x.Value
		case x.Is("params"):
			params = x.Value
		case x.Is("result"):
			result = x.Value
		case x.Is("error"):
			failure = x.Value
		}
	}
	if name, dup := m.envelope.Duplicate(m.body); dup {
		if idTwice(members) || !validID(m.ID) {
			m.ID = nil
		}
		return Errf(jsonrpc.CodeInvalidRequest, "the message has the member %q twice", name)
	}
	hasID := m.ID != nil
	if hasID && !validID(m.ID) {
		m.ID = nil
		return Errf(jsonrpc.CodeInvalidRequest, "id must be a string or an integer")
	}
	if !rawjson.NameIs(version, "2.0") {
		return Errf(jsonrpc.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	if method == nil {
		if hasID && (result == nil) != (failure == nil) {
			m.Response, m.Result = true, result
			m.params.Members, m.meta.Members = m.params.Members[:0], m.meta.Members[:0]
			return nil
		}
		return Errf(jsonrpc.CodeInvalidRequest, "the message has no method")
	}
	name, ok := text(method)
	if !ok || name == "" {
		return Errf(jsonrpc.CodeInvalidRequest, "method must be a string that is not empty")
	}
	if result != nil || failure != nil {
		return Errf(jsonrpc.CodeInvalidRequest, "the message has a method, and a result or error: it must be either a request or a response")
	}
	m.Method, m.Notification = name, !hasID
	switch rawjson.Kind(params) {
	case 0, 'n':
		return nil
	case '{':
	default:
		return Errf(jsonrpc.CodeInvalidParams, "params must be an object")
	}
	meta := m.params.Find("_meta")
	if name, dup := m.params.Duplicate(params); dup {
		m.params.Members, m.meta.Members = m.params.Members[:0], m.meta.Members[:0]
		return Errf(jsonrpc.CodeInvalidRequest, "params has the member %q twice", name)
	}
	m.Params = params
	switch rawjson.Kind(meta) {
	case 0, 'n':
		return nil
	case '{':
	default:
		return Errf(jsonrpc.CodeInvalidParams, "params._meta must be an object")
	}
	if name, dup := m.meta.Duplicate(meta); dup {
		m.meta.Members = m.meta.Members[:0]
		return Errf(jsonrpc.CodeInvalidRequest, "params._meta has the member %q twice", name)
	}
	m.Meta = meta
	return nil
}

// text is rawjson.String, which takes no room for what comes in most requests.
func text(v json.RawMessage) (string, bool) {
	switch string(v) {
	case `"tools/call"`:
		return "tools/call", true
	case `"` + Modern + `"`:
		return Modern, true
	}
	return rawjson.String(v)
}

// idTwice reports whether an id comes twice, in whatever case, so that none of them can be echoed.
func idTwice(members []rawjson.Member) bool {
	n := 0
	for _, x := range members {
		if s, _ := rawjson.String(x.Name); strings.EqualFold(s, "id") {
			n++
		}
	}
	return n > 1
}

// validID reports whether id is a string or an integer (MCP 2026-07-28, basic, "Requests").
func validID(id json.RawMessage) bool {
	switch rawjson.Kind(id) {
	case '"':
		return true
	case '0':
		return rawjson.NumberOK(id) && !bytes.ContainsAny(id, ".eE")
	}
	return false
}
