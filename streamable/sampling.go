package streamable

import (
	"encoding/json"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated roots and logging (SEP-2577); clients use them while the SDK has them

// logLevel is the member of _meta that says what log messages a request wants.
const logLevel = mcp.MetaKeyLogLevel

// setRoots notes whether a client declared roots, which the SDK's type for capabilities does not decode.
func setRoots(c *mcp.ClientCapabilities, raw json.RawMessage) {
	if roots, ok := rawjson.Get(raw, "roots"); ok && rawjson.Kind(roots) == '{' {
		c.RootsV2 = &mcp.RootCapabilities{ListChanged: c.Roots.ListChanged}
	}
}
