package elicit009

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type person struct{ Name string }

func right(ctx context.Context, s *mcp.ServerSession, sizes []any, property *jsonschema.Schema, kind, message string, more map[string]*jsonschema.Schema) error {
	inferred, err := jsonschema.For[person](nil)
	if err != nil {
		return err
	}
	built := map[string]any{"type": "object", "properties": map[string]any{}}
	built["properties"].(map[string]any)["x"] = 1
	for _, p := range []*mcp.ElicitParams{
		{Message: "Who are you?", RequestedSchema: inferred},
		{Message: message, RequestedSchema: built},
		{Message: "Sign in", Mode: "url", URL: "https://login.example.com"},
		{Message: "What?", RequestedSchema: &jsonschema.Schema{Type: "object", Properties: more}},
		{Message: "What?", RequestedSchema: json.RawMessage(message)},
		{Message: "What?", RequestedSchema: &jsonschema.Schema{
			Type:     "object",
			Required: []string{"name", "size", "other"},
			Properties: map[string]*jsonschema.Schema{
				"name":    {Type: "string", Title: "Name", Description: "As in https://example.com/x", MinLength: jsonschema.Ptr(1)},
				"mail":    {Type: "string", Format: "email"},
				"age":     {Type: "integer", Minimum: jsonschema.Ptr(0.0), Maximum: jsonschema.Ptr(150.0)},
				"share":   {Type: "number"},
				"agree":   {Type: "boolean", Default: json.RawMessage(`false`)},
				"size":    {Type: "string", Enum: sizes},
				"colour":  {Type: "string", OneOf: []*jsonschema.Schema{{Const: jsonschema.Ptr[any]("r"), Title: "Red"}}},
				"extras":  {Type: "array", Items: &jsonschema.Schema{Type: "string", Enum: []any{"a", "b"}}},
				"dynamic": property,
				"kind":    {Type: kind},
				"tokens":  {Type: "integer", Title: "Token count"},
			},
		}},
		{Message: "What?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string", "description": message}}}},
	} {
		if _, err := s.Elicit(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

var titled = &mcp.ElicitParams{Message: "What?", RequestedSchema: map[string]any{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Order", "description": "What to order", "type": "object",
	"properties": map[string]any{"size": map[string]any{"type": "string", "enum": []string{"s", "l"}}}, "additionalProperties": false,
}}
