package elicit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	fastjson "github.com/segmentio/encoding/json"
)

// typedTool makes a tool and its handler of a typed handler, as mcp.AddTool does: schemas from the types, arguments and
// outputs validated, errors as results. It is here because mcp.AddTool decodes the arguments of each call three times,
// through a decoder that takes 32 KiB each time; a test keeps the two equal.
func typedTool[In, Out any](t *mcp.Tool, h mcp.ToolHandlerFor[In, Out]) (*mcp.Tool, mcp.ToolHandler, error) {
	tool := *t
	if reflect.TypeFor[In]() == reflect.TypeFor[any]() && tool.InputSchema == nil {
		tool.InputSchema = &jsonschema.Schema{Type: "object"}
	}
	input, _, err := newShape[In](&tool.InputSchema)
	if err != nil {
		return nil, nil, fmt.Errorf("input schema: %w", err)
	}
	var output *shape
	var zero any // what a nil pointer stands for, if Out is one
	if tool.OutputSchema != nil || reflect.TypeFor[Out]() != reflect.TypeFor[any]() {
		if output, zero, err = newShape[Out](&tool.OutputSchema); err != nil {
			return nil, nil, fmt.Errorf("output schema: %w", err)
		}
	}
	return &tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in, err := decodeArguments[In](input, req.Params.Arguments)
		if err != nil {
			return failedResult(err), nil
		}
		res, out, err := h(ctx, req, in)
		if err != nil {
			if wire, ok := err.(*jsonrpc.Error); ok {
				return nil, wire
			}
			return failedResult(err), nil
		}
		if res == nil {
			res = &mcp.CallToolResult{}
		}
		value := any(out)
		switch {
		case res.InputRequests != nil: // the handler asks by itself: content and questions exclude each other
			return res, nil
		case zero != nil && reflect.ValueOf(value).IsNil():
			value = zero
		}
		if value == nil {
			return res, nil
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("marshaling output: %w", err)
		}
		if raw, err = output.check(raw); err != nil {
			return nil, fmt.Errorf("validating tool output: %w", err)
		}
		res.StructuredContent = json.RawMessage(raw)
		// Clients that read no structured content get its JSON as text (server/tools, "Structured Content").
		if res.Content == nil {
			res.Content = []mcp.Content{&mcp.TextContent{Text: string(raw)}}
		} else if rawjson.Kind(raw) != '{' {
			res.Content = append(res.Content, &mcp.TextContent{Text: string(raw)})
		}
		return res, nil
	}, nil
}

func failedResult(err error) *mcp.CallToolResult {
	var r mcp.CallToolResult
	r.SetError(err)
	return &r
}

// shape is a schema, resolved, and what is known of it beforehand.
type shape struct {
	resolved *jsonschema.Resolved
	defaults bool // it has some, so that values change
	empty    bool // {} is valid, and decodes to the zero value
}

// newShape is the shape of T, or of the schema that the author gave, which it fills in if there is none. zero is the zero
// value of what a pointer T points to, if its schema was inferred.
func newShape[T any](field *any) (s *shape, zero any, err error) {
	rt := reflect.TypeFor[T]()
	pointer := rt.Kind() == reflect.Pointer
	if pointer {
		rt = rt.Elem()
	}
	var schema *jsonschema.Schema
	switch given := (*field).(type) {
	case nil:
		if schema, err = jsonschema.ForType(rt, &jsonschema.ForOptions{}); err != nil {
			return nil, nil, err
		}
		*field = schema
		if pointer {
			zero = reflect.Zero(rt).Interface()
		}
	case *jsonschema.Schema:
		schema = given
	default:
		raw, err := json.Marshal(given)
		if err == nil {
			err = json.Unmarshal(raw, &schema)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if schema == nil {
		return nil, nil, fmt.Errorf("the schema of %v is null", rt)
	}
	s = &shape{}
	if s.resolved, err = schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
		return nil, nil, err
	}
	s.defaults = hasDefaults(schema)
	s.empty = !s.defaults && rt.Kind() == reflect.Struct && !pointer && s.resolved.Validate(map[string]any{}) == nil
	return s, zero, nil
}

// hasDefaults reports whether a schema may say "default" anywhere.
func hasDefaults(schema *jsonschema.Schema) bool {
	raw, err := json.Marshal(schema)
	return err != nil || bytes.Contains(raw, []byte(`"default"`))
}

// maxDepth is how deep arguments may nest, as in the SDK.
const maxDepth = 1000

// decodeArguments validates arguments and decodes them.
func decodeArguments[In any](s *shape, args json.RawMessage) (in In, err error) {
	if s.empty && isEmptyObject(args) {
		return in, nil
	}
	m := map[string]any{}
	if len(args) > 0 {
		err := rawjson.Check(args, maxDepth)
		if err == nil {
			err = unmarshal(args, &m, fastjson.ZeroCopy) // what is validated lives no longer than args
		}
		if err != nil {
			return in, fmt.Errorf("validating \"arguments\": unmarshaling arguments: %w", err)
		}
	}
	value := any(m)
	if s.defaults {
		if err := s.resolved.ApplyDefaults(&value); err != nil {
			return in, fmt.Errorf("validating \"arguments\": applying schema defaults:\n%w", err)
		}
	}
	if err := s.resolved.Validate(&value); err != nil {
		return in, fmt.Errorf("validating \"arguments\": %w", err)
	}
	if !s.defaults && len(args) > 0 && unmarshal(args, &in, 0) == nil {
		return in, nil // with all digits
	}
	// What was validated, with its defaults, and 1.0 for an integer as 1.
	raw, err := json.Marshal(value)
	if err != nil {
		return in, err
	}
	var again In
	return again, parse(raw, &again)
}

// isEmptyObject reports whether args are {}, or absent.
func isEmptyObject(args json.RawMessage) bool {
	return len(args) == 0 || string(args) == "{}"
}

func parse(raw []byte, v any) error {
	if err := rawjson.Check(raw, maxDepth); err != nil {
		return err
	}
	return unmarshal(raw, v, 0)
}

// unmarshal decodes JSON that was checked. Names match exactly, as in the SDK.
func unmarshal(raw []byte, v any, flags fastjson.ParseFlags) error {
	rest, err := fastjson.Parse(raw, v, flags|fastjson.DontMatchCaseInsensitiveStructFields)
	if err == nil && len(rest) > 0 {
		return errors.New("trailing bytes")
	}
	return err
}

// check validates an output, and fills in its defaults.
func (s *shape) check(raw []byte) ([]byte, error) {
	if s == nil {
		return raw, nil
	}
	var value any
	if err := parse(raw, &value); err != nil {
		return nil, fmt.Errorf("unmarshaling output: %w", err)
	}
	if value == nil && s.resolved.Schema().Type == "object" {
		value = map[string]any{}
	}
	object, isObject := value.(map[string]any)
	if isObject {
		if err := s.resolved.ApplyDefaults(&value); err != nil {
			return nil, fmt.Errorf("applying schema defaults:\n%w", err)
		}
	}
	if err := s.resolved.Validate(&value); err != nil {
		return nil, err
	}
	if !isObject || !s.defaults && len(object) > 0 {
		return raw, nil
	}
	return json.Marshal(value)
}
