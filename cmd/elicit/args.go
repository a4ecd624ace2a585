package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// arguments puts the tool's arguments together: those of --args, with those of --arg over them.
func arguments(ctx context.Context, con *console, session *mcp.ClientSession, tool, whole string, single []string) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if whole != "" {
		data := []byte(whole)
		if !strings.HasPrefix(strings.TrimSpace(whole), "{") {
			var err error
			if data, err = con.readInput(whole); err != nil {
				return nil, usage("--args: %w", err)
			}
		}
		if err := json.Unmarshal(data, &args); err != nil || args == nil {
			return nil, usage("--args: not a JSON object such as {\"name\": \"value\"}: %v", err)
		}
	}
	if len(single) == 0 {
		return args, nil
	}
	var names []string
	texts := map[string][]string{}
	for _, s := range single {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usage("--arg %q is not of the form name=value", s)
		}
		if texts[name] == nil {
			names = append(names, name)
		}
		texts[name] = append(texts[name], value)
	}
	schemas, err := argumentSchemas(ctx, session, tool)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		value, err := argument(schemas[name], texts[name])
		if err != nil {
			return nil, usage("--arg %s: %w", name, err)
		}
		args[name] = value
	}
	return args, nil
}

// An argumentSchema is what of a property's schema decides how text becomes a value.
type argumentSchema struct {
	Type  json.RawMessage `json:"type"`
	Items struct {
		Type json.RawMessage `json:"type"`
	} `json:"items"`
}

// argumentSchemas looks up the tool's arguments. A server that has no list, or a list without the tool, has none to say.
func argumentSchemas(ctx context.Context, session *mcp.ClientSession, tool string) (map[string]argumentSchema, error) {
	const maxPages = 100
	p := &mcp.ListToolsParams{}
	for range maxPages {
		res, err := session.ListTools(ctx, p)
		var rpc *jsonrpc.Error
		switch {
		case errors.As(err, &rpc):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("listing the tools: %w", err)
		}
		for _, t := range res.Tools {
			if t.Name != tool {
				continue
			}
			var schema struct {
				Properties map[string]argumentSchema `json:"properties"`
			}
			data, err := json.Marshal(t.InputSchema)
			if err != nil || json.Unmarshal(data, &schema) != nil {
				return nil, nil // A schema of a kind we do not know: the values speak for themselves.
			}
			return schema.Properties, nil
		}
		if res.NextCursor == "" {
			break
		}
		p = &mcp.ListToolsParams{Cursor: res.NextCursor}
	}
	return nil, nil
}

// argument is texts as a value of the type that the schema names; of unknown type, what it is as JSON, else a string.
func argument(schema argumentSchema, texts []string) (json.RawMessage, error) {
	typ := typeName(schema.Type)
	if typ != "array" {
		if len(texts) > 1 {
			return nil, errors.New("is given twice, and the tool takes one value")
		}
		return convert(typ, texts[0])
	}
	if len(texts) == 1 && strings.HasPrefix(strings.TrimSpace(texts[0]), "[") && json.Valid([]byte(texts[0])) {
		return json.RawMessage(texts[0]), nil
	}
	values := []json.RawMessage{}
	for _, text := range texts {
		v, err := convert(typeName(schema.Items.Type), text)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return json.Marshal(values)
}

func convert(typ, text string) (json.RawMessage, error) {
	var value any = text
	switch typ {
	case "string":
	case "integer", "number", "boolean":
		var err error
		field := answer.Field{Type: typ}
		if value, err = field.Parse(text); err != nil {
			return nil, err
		}
	case "":
		if json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
	default:
		if !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%q is not JSON, and the tool takes a value of type %s", text, answer.PlainLine(typ))
		}
		return json.RawMessage(text), nil
	}
	return json.Marshal(value)
}

// typeName is a schema's type; of a list, the first that is not null.
func typeName(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		for _, t := range list {
			if t != "null" {
				return t
			}
		}
	}
	return ""
}
