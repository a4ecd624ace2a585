// Package elicit lets an MCP server ask its user for a form in the middle of a call.
package elicit

import _ "github.com/modelcontextprotocol/go-sdk/mcp"
