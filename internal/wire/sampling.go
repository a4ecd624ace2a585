package wire

import (
	"encoding/json"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated sampling and roots (SEP-2577); they ride the same rounds while the SDK has them

// decodeOther is an entry of inputResponses that has no action, as the SDK reads it; nil if it would not.
func decodeOther(r json.RawMessage) mcp.InputResponse {
	if _, ok := rawjson.Get(r, "roots"); ok {
		if x := new(mcp.ListRootsResult); json.Unmarshal(r, x) == nil {
			return x
		}
		return nil
	}
	if _, ok := rawjson.Get(r, "role"); ok {
		if x := new(mcp.CreateMessageWithToolsResult); json.Unmarshal(r, x) == nil {
			return x
		}
	}
	return nil
}
