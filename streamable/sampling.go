package streamable

import (
	"encoding/json"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated roots (SEP-2577); clients declare them while the SDK has them

// setRoots notes whether a client declared roots, which the SDK's type for capabilities does not decode.
func setRoots(c *mcp.ClientCapabilities, raw json.RawMessage) {
	if roots, ok := rawjson.Get(raw, "roots"); ok && rawjson.Kind(roots) == '{' {
		c.RootsV2 = &mcp.RootCapabilities{ListChanged: c.Roots.ListChanged}
	}
}
