package wire

import (
	"encoding/json"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated sampling and roots (SEP-2577); they ride the same rounds while the SDK has them

// decodesOther reports whether the SDK can read an entry of inputResponses that has no action.
func decodesOther(r json.RawMessage) bool {
	if _, ok := rawjson.Get(r, "roots"); ok {
		return json.Unmarshal(r, &mcp.ListRootsResult{}) == nil
	}
	if _, ok := rawjson.Get(r, "role"); ok {
		return json.Unmarshal(r, &mcp.CreateMessageWithToolsResult{}) == nil
	}
	return false
}
