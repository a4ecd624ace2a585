package main

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addSchemas adds the tools whose input schemas must reach the client as they are.
func addSchemas(server *mcp.Server) {
	for _, t := range []struct{ name, description, schema string }{
		{"json_schema_2020_12_tool", "Has an input schema with much of the vocabulary of JSON Schema 2020-12.", `{
			"$schema": "https://json-schema.org/draft/2020-12/schema",
			"type": "object",
			"properties": {
				"contact": {"enum": ["phone", "email"]},
				"phone": {"type": "string"},
				"email": {"type": "string"},
				"address": {"$ref": "#/$defs/address"}
			},
			"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
			"if": {"properties": {"contact": {"const": "phone"}}, "required": ["contact"]},
			"then": {"required": ["phone"]},
			"else": {"required": ["email"]},
			"additionalProperties": false,
			"$defs": {"address": {"$anchor": "address", "type": "object", "properties": {"street": {"type": "string"}}}}
		}`},
		{"test_header_parameter", "Has an argument that is also an HTTP header.", `{
			"type": "object",
			"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}
		}`},
	} {
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: json.RawMessage(t.schema)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
}
