package wire

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Decode is a JSON value as encoding/json decodes it into an any, but numbers that float64 does not hold, which keep
// their text.
func Decode(raw json.RawMessage) any {
	switch rawjson.Kind(raw) {
	case '"':
		s, _ := rawjson.String(raw)
		return s
	case '{':
		o := map[string]any{}
		for name, value := range rawjson.Members(raw) {
			n, _ := rawjson.String(name)
			o[n] = Decode(value)
		}
		return o
	case '[':
		a := []any{}
		for e := range rawjson.Elements(raw) {
			a = append(a, Decode(e))
		}
		return a
	case 't':
		return true
	case 'f':
		return false
	case '0':
		if safeNumber(raw) {
			if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
				return f
			}
		}
		return json.Number(raw)
	}
	return nil
}

// safeNumber reports whether a number stays itself as a float64: it has 15 significant digits at most, and a moderate size.
func safeNumber(v json.RawMessage) bool {
	if string(v) == "-0" || !rawjson.NumberOK(v) {
		return false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
	digits := strings.TrimLeft(strings.Replace(strings.TrimPrefix(mantissa, "-"), ".", "", 1), "0")
	e, err := strconv.Atoi(exponent)
	return len(digits) <= 15 && (exponent == "" || err == nil && e > -290 && e < 290)
}

// InputResponses decodes params.inputResponses, as the SDK would what Append writes; nil if there are none.
func (m *Message) InputResponses() mcp.InputResponseMap {
	raw := m.Param("inputResponses")
	if rawjson.Kind(raw) != '{' {
		return nil
	}
	twice := namesTwice(raw)
	out := mcp.InputResponseMap{}
	for name, value := range rawjson.Members(raw) {
		key, _ := rawjson.String(name)
		if !readable(value) || twice[key] {
			continue
		}
		out[key] = inputResponse(value)
	}
	return out
}

func inputResponse(r json.RawMessage) mcp.InputResponse {
	action, ok := rawjson.Get(r, "action")
	if !ok {
		if other := decodeOther(r); other != nil {
			return other
		}
		return &mcp.ElicitResult{Action: "cancel"}
	}
	e := &mcp.ElicitResult{Action: "cancel"}
	switch {
	case rawjson.Kind(action) != '"':
		return e
	case string(action) == `"accept"`:
		e.Action = "accept"
	default:
		e.Action, _ = rawjson.String(action)
	}
	if meta, ok := rawjson.Get(r, "_meta"); ok && rawjson.Kind(meta) == '{' {
		e.Meta = mcp.Meta{}
		for name, value := range rawjson.Members(meta) {
			if !rawjson.NameIs(name, ContentMeta) {
				n, _ := rawjson.String(name)
				e.Meta[n] = Decode(value)
			}
		}
	}
	content, ok := rawjson.Get(r, "content")
	switch {
	case !ok || rawjson.Kind(content) == 'n':
	case lossless(content):
		e.Content = Decode(content).(map[string]any)
	default:
		if e.Meta == nil {
			e.Meta = mcp.Meta{}
		}
		e.Meta[ContentMeta] = string(content)
	}
	return e
}
