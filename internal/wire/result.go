package wire

import (
	"encoding/json"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An Appender is a result that encodes itself, with the server's info in its _meta if there is one.
type Appender interface {
	AppendResult(b []byte, serverInfo json.RawMessage) ([]byte, error)
}

// AppendWithServerInfo appends a result, an object, with the server's info in its _meta unless it has one.
func AppendWithServerInfo(b []byte, result, serverInfo json.RawMessage) []byte {
	meta, has := rawjson.Get(result, "_meta")
	if _, named := rawjson.Get(meta, mcp.MetaKeyServerInfo); named || serverInfo == nil || has && rawjson.Kind(meta) != '{' {
		return append(b, result...)
	}
	b = append(b, '{')
	b = append(b, `"_meta":{`...)
	for name, value := range rawjson.Members(meta) {
		b = append(append(comma(b), name...), ':')
		b = append(b, value...)
	}
	b = append(append(comma(b), `"`+mcp.MetaKeyServerInfo+`":`...), serverInfo...)
	b = append(b, '}')
	for name, value := range rawjson.Members(result) {
		if !rawjson.NameIs(name, "_meta") {
			b = append(append(append(b, ','), name...), ':')
			b = append(b, value...)
		}
	}
	return append(b, '}')
}

// IsNil reports whether a handler returned no result. The SDK would panic on it.
func IsNil(res mcp.Result) bool {
	switch r := res.(type) {
	case nil:
		return true
	case *mcp.CallToolResult:
		return r == nil
	case *mcp.GetPromptResult:
		return r == nil
	case *mcp.ReadResourceResult:
		return r == nil
	}
	return false
}

// Encodable reports why a result cannot be encoded, nil if it can. The SDK would never answer the request: ask where
// it encodes results.
func Encodable(res mcp.Result) error {
	if !holdsAny(res) {
		return nil
	}
	_, err := json.Marshal(res)
	return err
}

// holdsAny reports whether a result holds values of whatever type, whose encoding may fail or panic.
func holdsAny(res mcp.Result) bool {
	if IsNil(res) {
		return false
	}
	// Only of types that are known here: GetMeta of the SDK's empty result panics.
	switch r := res.(type) {
	case *mcp.CallToolResult:
		if len(r.Meta) > 0 {
			return true
		}
		for _, c := range r.Content {
			if t, ok := c.(*mcp.TextContent); !ok || t == nil || len(t.Meta) > 0 {
				return true
			}
		}
		return r.StructuredContent != nil
	case *mcp.ReadResourceResult:
		if len(r.Meta) > 0 {
			return true
		}
		for _, c := range r.Contents {
			if c == nil || len(c.Meta) > 0 {
				return true
			}
		}
		return false
	case Appender:
		return false
	}
	return true
}
