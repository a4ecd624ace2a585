package answer

import (
	"crypto/rand"
	"encoding/json"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// metaKey is where our servers tell clients of older protocols the key of a question.
const metaKey = "io.github.elicit-go/key"

// keptMember is where a transport of ours puts, into the _meta of a question on its way to the SDK, what the decoding
// would lose. No server can know the name and forge it.
var keptMember = "io.github.elicit-go/kept." + rand.Text()

// kept is what a question's handler is told beside what the SDK decodes.
type kept struct {
	Call   string `json:"call,omitempty"`
	Key    string `json:"key,omitempty"`
	Server string `json:"server,omitempty"`
	Schema string `json:"schema,omitempty"` // as text, so that nothing decodes it on the way
}

// takeKept takes what a transport of ours put into p's _meta out again; p stays as it is.
func takeKept(p *mcp.ElicitParams) (*mcp.ElicitParams, kept, bool) {
	q := *p
	q.Meta = nil
	for name, v := range p.Meta {
		if name != keptMember {
			if q.Meta == nil {
				q.Meta = mcp.Meta{}
			}
			q.Meta[name] = v
		}
	}
	var k kept
	data, err := json.Marshal(p.Meta[keptMember])
	if _, ok := p.Meta[keptMember]; !ok || err != nil || json.Unmarshal(data, &k) != nil {
		return &q, kept{}, false
	}
	return &q, k, true
}

// A keeper keeps, for one connection, what the SDK would lose of the messages that come in.
type keeper struct {
	server   string   // address; may be empty
	answerer Answerer // of the connection; may be nil
	sample   sampler  // may be nil
	roots    []*Root  // nil: not declared
	progress bool     // somebody wants to know
	task     func(*Task)
	streams  *streams // nil: tasks are not followed
}

// maxDepth is how deeply an incoming message may nest. The questions themselves are flat; tool output may be anything.
const maxDepth = 512

// message passes on a JSON-RPC message that came on behalf of a request: of c, when that is a CallTool's, else nil. A
// question in it belongs to the call with the id given, as [findCall] takes it.
func (k *keeper) message(msg []byte, c *call, id string) []byte {
	if rawjson.Check(msg, maxDepth) != nil {
		return msg // The SDK says what is wrong.
	}
	if method, ok := rawjson.Get(msg, "method"); ok {
		if !rawjson.NameIs(method, methodElicit) {
			return msg
		}
		return edit(msg, "params", func(params []byte) []byte { return k.params(params, "", id) })
	}
	return edit(msg, "result", func(result []byte) []byte { return k.result(result, c) })
}

// params passes on the params of an elicitation/create.
func (k *keeper) params(params []byte, key, id string) []byte {
	if rawjson.Kind(params) != '{' {
		return params
	}
	note := kept{Server: k.server, Key: key, Call: id}
	if schema, ok := rawjson.Get(params, "requestedSchema"); ok && rawjson.Kind(schema) == '{' {
		note.Schema = string(schema)
	}
	value, err := json.Marshal(note)
	if err != nil {
		return params
	}
	meta, _ := rawjson.Get(params, "_meta")
	if rawjson.Kind(meta) != '{' {
		meta = []byte("{}")
	}
	return set(params, "_meta", set(meta, keptMember, value))
}

// result passes on a result. CallTool reads the rounds it drives from the exact text; the SDK gets an empty result then,
// so that its own retries stay out of the way and no question of a kind it does not know fails the call.
func (k *keeper) result(result []byte, c *call) []byte {
	if rawjson.Kind(result) != '{' {
		if c != nil {
			c.keep(result)
		}
		return result
	}
	typ, err := resultType(result)
	complete := err == nil && (typ == "" || typ == "complete")
	if c != nil {
		c.keep(result)
		if !complete {
			return []byte(`{"content":[],"resultType":"input_required"}`)
		}
		return result
	}
	if complete {
		return result
	}
	return edit(result, "inputRequests", func(requests []byte) []byte {
		out := []byte{'{'}
		for name, value := range rawjson.Members(requests) {
			if method, _ := rawjson.Get(value, "method"); rawjson.NameIs(method, methodElicit) {
				key, _ := rawjson.String(name)
				value = edit(value, "params", func(params []byte) []byte { return k.params(params, key, noCall) })
			}
			out = appendMember(out, name, value)
		}
		return append(out, '}')
	})
}

// edit replaces the value of obj's first member called name by f of it; without one obj stays as it is.
func edit(obj []byte, name string, f func([]byte) []byte) []byte {
	value, ok := rawjson.Get(obj, name)
	if !ok {
		return obj
	}
	return set(obj, name, f(value))
}

// set gives obj exactly one member called name.
func set(obj []byte, name string, value []byte) []byte {
	out := []byte{'{'}
	done := false
	for n, v := range rawjson.Members(obj) {
		if rawjson.NameIs(n, name) {
			if done {
				continue
			}
			v, done = value, true
		}
		out = appendMember(out, n, v)
	}
	if !done {
		out = appendMember(out, rawjson.AppendString(nil, name), value)
	}
	return append(out, '}')
}

// appendMember appends a member to an object that is open at the end of dst.
func appendMember(dst, quotedName, value []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, quotedName...)
	dst = append(dst, ':')
	return append(dst, value...)
}

// rawParams is params for a message that the SDK has taken apart already.
func (k *keeper) rawParams(params []byte) []byte {
	if rawjson.Check(params, maxDepth) != nil {
		return params
	}
	return k.params(params, "", "")
}

// rawResult is result for a message that the SDK has taken apart already.
func (k *keeper) rawResult(result []byte, c *call) []byte {
	if rawjson.Check(result, maxDepth) != nil {
		return result
	}
	return k.result(result, c)
}
