package elicit009

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func literal(ctx context.Context, s *mcp.ServerSession, name string) {
	s.Elicit(ctx, &mcp.ElicitParams{
		Message: "Please enter your password", // want `the message asks for a credential \("password"\)`
		RequestedSchema: &jsonschema.Schema{
			Type: "object",
			Properties: map[string]*jsonschema.Schema{
				"name":    {Type: "string", Pattern: "^[a-z]+$"},                                                   // want `field "name": pattern: patterns are not checked`
				"address": {Type: "object", Properties: map[string]*jsonschema.Schema{"street": {Type: "string"}}}, // want `field "address": forms are flat, and it is an object`
				"tags":    {Type: "array", Items: &jsonschema.Schema{Type: "string"}},                              // want `field "tags": it is a list without options`
				"apiKey":  {Type: "string", Description: "from " + name},                                           // want `field "apiKey" asks for a credential`
				"phone":   {Type: "string", Format: "phone"},                                                       // want `field "phone": format: forms have no format "phone"`
				"maybe":   {Types: []string{"string", "null"}},                                                     // want `field "maybe": its type is a list`
				"count":   {Type: "integer", Minimum: jsonschema.Ptr(3.0), Default: json.RawMessage(`1`)},          // want `field "count": default: it breaks the rules of the field`
				"see":     {Type: "string", Description: "see https://docs.evil.io/x"},                             // want `field "see" has a link`
			},
		},
	})
}

func maps(ctx context.Context, s *mcp.ServerSession) {
	s.Elicit(ctx, &mcp.ElicitParams{
		Message: "What?",
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"when":  map[string]any{"type": "string", "format": "time"},
				"where": map[string]any{"type": "object"}, // want `clients cannot use this schema: field "where" is required, and cannot be asked for`
				"how":   map[string]any{"type": "string", "enum": []string{"a", "b"}},
			},
			"required": []string{"where"},
		},
	})
}

var schema = json.RawMessage(`{"type":"object","properties":{"token":{"type":"string"}}}`)

func raw(ctx context.Context, s *mcp.ServerSession) (*mcp.ElicitResult, error) {
	p := &mcp.ElicitParams{Message: "What?", RequestedSchema: schema} // want `field "token" asks for a credential`
	return s.Elicit(ctx, p)
}

var notObject = mcp.InputRequestMap{"x": &mcp.ElicitParams{Message: "What?", RequestedSchema: json.RawMessage(`{"type":"string"}`)}} // want `its type is not object`
