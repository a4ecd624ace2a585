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
	switch {
	case rawjson.Kind(raw) == '0' && !SafeID(raw):
		return slices.Concat([]byte(heldNumber), raw, []byte{'"'})
	case bytes.HasPrefix(raw, []byte(heldNumber)), bytes.HasPrefix(raw, []byte(heldText)):
		return slices.Concat([]byte(heldText), raw[1:])
	}
	return raw
}

// restoreAt gives the value back that is held at b[i:], if there is one.
func restoreAt(b []byte, i int) []byte {
	rest := b[i:]
	if text, ok := bytes.CutPrefix(rest, []byte(heldText)); ok {
		return slices.Concat(b[:i], []byte{'"'}, text)
	}
	digits, ok := bytes.CutPrefix(rest, []byte(heldNumber))
	end := bytes.IndexByte(digits, '"')
	if !ok || end < 0 || rawjson.Kind(digits) != '0' || rawjson.Check(digits[:end], 0) != nil {
		return b
	}
	return slices.Concat(b[:i], digits[:end], digits[end+1:])
}

const idBegin = `{"jsonrpc":"2.0","id":`

var heldAfter = [][]byte{[]byte(`"progressToken":`), []byte(`"` + mcp.MetaKeySubscriptionID + `":`)}

// What the SDK writes for an error that is none of JSON-RPC, and what it should be.
var noCode, internalCode = []byte(`,"error":{"code":0,`), []byte(`,"error":{"code":-32603,`)

// Restore gives a message that the SDK wrote its ids back: that of the message itself, and those in a notification or in
// the _meta of a result.
func Restore(msg []byte) []byte {
	if bytes.HasPrefix(msg, []byte(idBegin+`"elicit-`)) {
		msg = restoreAt(msg, len(idBegin))
	}
	if i := bytes.Index(msg, noCode); i >= 0 && bytes.HasPrefix(msg, []byte(idBegin)) {
		msg = slices.Concat(msg[:i], internalCode, msg[i+len(noCode):])
	}
	for _, key := range heldAfter {
		if i := bytes.Index(msg, key); i >= 0 {
			msg = restoreAt(msg, i+len(key))
		}
	}
	return msg
}

// AppendNotification encodes a notification, whose requestId may be an id that is held.
func (m *Message) AppendNotification(b, body []byte) []byte {
	id := m.Param("requestId")
	if m.Method != "notifications/cancelled" || id == nil {
		return append(b, body...)
	}
	b = append(b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{`...)
	for _, x := range m.params {
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

// appendMeta encodes _meta with the progress token held.
func (m *Message) appendMeta(b []byte, held json.RawMessage) []byte {
	b = append(b, `"_meta":{`...)
	for _, x := range m.meta {
		b = append(append(comma(b), x.Name...), ':')
		if rawjson.NameIs(x.Name, "progressToken") {
			b = append(b, held...)
		} else {
			b = append(b, x.Value...)
		}
	}
	return append(b, '}')
}
