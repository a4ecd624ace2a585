package wire

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK reads ids and progress tokens as float64, so that it would echo others than it got. It is given a string that
// holds the digits instead, and what it writes gets them back. A client's own string that looks like one is held too.
const (
	heldNumber = `"elicit-number:`
	heldText   = `"elicit-text:`
)

// Hold is a raw id or progress token, or the string that stands for it.
func Hold(raw json.RawMessage) json.RawMessage {
	switch rawjson.Kind(raw) {
	case '0':
		if !SafeID(raw) {
			return slices.Concat([]byte(heldNumber), raw, []byte{'"'})
		}
	case '"':
		if bytes.IndexByte(raw, '\\') >= 0 { // the SDK writes the same string in another spelling
			s, _ := rawjson.String(raw)
			if plain := rawjson.AppendString(nil, s); isHeld(plain) {
				raw = plain
			}
		}
		if isHeld(raw) {
			return slices.Concat([]byte(heldText), raw[1:])
		}
	}
	return raw
}

func isHeld(v []byte) bool {
	return bytes.HasPrefix(v, []byte(heldNumber)) || bytes.HasPrefix(v, []byte(heldText))
}

// release is the value that v stands for, if it stands for one.
func release(v []byte) []byte {
	if text, ok := bytes.CutPrefix(v, []byte(heldText)); ok {
		return slices.Concat([]byte{'"'}, text)
	}
	if digits, ok := bytes.CutPrefix(v, []byte(heldNumber)); ok {
		if digits = bytes.TrimSuffix(digits, []byte{'"'}); rawjson.Kind(digits) == '0' && rawjson.Check(digits, 0) == nil {
			return digits
		}
	}
	return v
}

const idBegin = `{"jsonrpc":"2.0","id":`

// What the SDK writes after the id for an error that is none of JSON-RPC, and what it should be.
var noCode, internalCode = []byte(`,"error":{"code":0,`), []byte(`,"error":{"code":-32603,`)

// heldAt are the places, beside a message's id, where the SDK writes what it was given to hold.
var heldAt = [][]string{{"params", "progressToken"}, {"params", "_meta", mcp.MetaKeySubscriptionID}, {"result", "_meta", mcp.MetaKeySubscriptionID}}

// Restore gives a message that the SDK wrote, with line ends after it, its ids back: that of the message itself, and those
// in a notification or in the _meta of a result. Whatever else looks like one is a handler's.
func Restore(msg []byte) []byte {
	msg = renamed(msg)
	if rest, ok := bytes.CutPrefix(msg, []byte(idBegin)); ok {
		id, after := cutID(rest)
		isError := bytes.HasPrefix(after, noCode)
		if isHeld(id) || isError {
			if isError {
				after = slices.Concat(internalCode, after[len(noCode):])
			}
			msg = slices.Concat([]byte(idBegin), release(id), after)
		}
	}
	if bytes.Contains(msg, []byte(heldNumber)) || bytes.Contains(msg, []byte(heldText)) {
		for _, path := range heldAt {
			msg = releaseAt(msg, path)
		}
	}
	return msg
}

// cutID parts an id from what follows it.
func cutID(b []byte) (id, after []byte) {
	end := bytes.IndexAny(b, ",}")
	if len(b) > 0 && b[0] == '"' {
		for end = 1; end < len(b) && b[end] != '"'; end++ {
			if b[end] == '\\' {
				end++
			}
		}
		end++
	}
	if end < 0 || end > len(b) {
		return nil, b
	}
	return b[:end], b[end:]
}

// releaseAt is obj with the value at the path released.
func releaseAt(obj []byte, path []string) []byte {
	if len(path) == 0 {
		return release(obj)
	}
	old, ok := rawjson.Get(obj, path[0])
	if !ok {
		return obj
	}
	value := releaseAt(old, path[1:])
	if bytes.Equal(value, old) {
		return obj
	}
	b := []byte{'{'}
	for name, v := range rawjson.Members(obj) {
		if rawjson.NameIs(name, path[0]) {
			v = value
		}
		b = append(append(append(comma(b), name...), ':'), v...)
	}
	return append(append(b, '}'), obj[len(bytes.TrimRight(obj, "\r\n")):]...)
}

// AppendNotification encodes a notification, whose requestId may be an id that is held.
func (m *Message) AppendNotification(b, body []byte) []byte {
	id := m.Param("requestId")
	if m.Method != "notifications/cancelled" || id == nil {
		return append(b, body...)
	}
	b = append(b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{`...)
	for _, x := range m.params.Members {
		b = append(append(comma(b), x.Name...), ':')
		if rawjson.NameIs(x.Name, "requestId") {
			b = append(b, Hold(x.Value)...)
		} else {
			b = append(b, x.Value...)
		}
	}
	return append(b, "}}"...)
}

// heldToken is the progress token of _meta as it is held, nil if there is none or the SDK does not change it.
func (m *Message) heldToken() json.RawMessage {
	t := m.MetaValue("progressToken")
	if held := Hold(t); !bytes.Equal(held, t) {
		return held
	}
	return nil
}

// appendMeta encodes _meta with the progress token held, if it is not nil, and with what the SDK drops of the filter of
// subscriptions/listen.
func (m *Message) appendMeta(b []byte, held json.RawMessage) []byte {
	b = append(b, `"_meta":{`...)
	for _, x := range m.meta.Members {
		if rawjson.NameIs(x.Name, TaskIDsMeta) {
			continue // ours alone
		}
		b = append(append(comma(b), x.Name...), ':')
		if held != nil && rawjson.NameIs(x.Name, "progressToken") {
			b = append(b, held...)
		} else {
			b = append(b, x.Value...)
		}
	}
	if ids, ok := rawjson.Get(m.Param("notifications"), "taskIds"); ok && m.Method == "subscriptions/listen" {
		b = append(comma(b), `"`+TaskIDsMeta+`":`...)
		b = rawjson.AppendString(b, string(ids))
	}
	return append(b, '}')
}

// As is a notification that the SDK cannot send. It goes out as one that it can, with params that begin so, and Restore
// and Strict give it its name.
const As = `{"io.github.elicit-go/method":`

var sentAs = []byte(`{"jsonrpc":"2.0","method":"` + SentAs + `","params":` + As)

// SentAs is the method that it goes out as.
const SentAs = "notifications/subscriptions/acknowledged"

// renamed gives such a notification its method; it gives back others as they are.
func renamed(msg []byte) []byte {
	rest, ok := bytes.CutPrefix(msg, sentAs)
	if !ok {
		return msg
	}
	name, rest := cutID(rest)
	rest, ok = bytes.CutPrefix(rest, []byte{','})
	if !ok {
		return msg
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","method":`), name, []byte(`,"params":{`), rest)
}
