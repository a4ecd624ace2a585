// Package wire holds the raw bytes of MCP that the hosts and the root package share.
package wire

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Names of the members of _meta that are ours.
const (
	// KeyMeta carries the key of a question to an older client, whose elicitation/create has none.
	KeyMeta = "io.github.elicit-go/key"
	// ContentMeta carries the JSON text of an answer's content inside this process, from a host to Require, where the
	// SDK's map[string]any would lose something of it: digits of a number, a second member of the same name, a content
	// that is no object. It is the client's own content either way, so a client that sends this member gains nothing.
	ContentMeta = "io.github.elicit-go/content"
	// TaskIDsMeta carries the JSON text of the member taskIds of a subscriptions/listen filter, which the SDK drops, from
	// a host to package tasks. A client's own is removed.
	TaskIDsMeta = "io.github.elicit-go/taskIds"
)

// Content is the JSON text of an answer's content, nil if it has none.
func Content(r *mcp.ElicitResult) json.RawMessage {
	if s, ok := r.Meta[ContentMeta].(string); ok {
		return json.RawMessage(s)
	}
	if r.Content == nil {
		return nil
	}
	b, err := json.Marshal(r.Content)
	if err != nil { // only a value made in process can be like this
		return json.RawMessage(`"not JSON"`)
	}
	return b
}

// EncodeResponse is a response of the client's as JSON, with nothing of its content lost.
func EncodeResponse(r mcp.InputResponse) json.RawMessage {
	e, ok := r.(*mcp.ElicitResult)
	if !ok || e == nil {
		b, err := json.Marshal(r)
		if err != nil { // only a value made in process can be like this
			return json.RawMessage(cancelled)
		}
		return b
	}
	action, _ := json.Marshal(e.Action)
	b := append([]byte(`{"action":`), action...)
	if content := Content(e); content != nil {
		b = append(append(b, `,"content":`...), content...)
	}
	return append(b, '}')
}

// DecodeResponses decodes responses of clients, by key, as a request carries them.
func DecodeResponses(raw map[string]json.RawMessage) mcp.InputResponseMap {
	var out mcp.InputResponseMap
	for key, r := range raw {
		if Readable(r) {
			if out == nil {
				out = mcp.InputResponseMap{}
			}
			out[key] = inputResponse(r)
		}
	}
	return out
}

// Readable reports whether a response can be read in one way only. Others count as absent.
func Readable(r json.RawMessage) bool { return readable(r) }
