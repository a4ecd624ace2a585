package elicit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type args struct {
	Name  string            `json:"name" jsonschema:"who"`
	N     int               `json:"n,omitempty"`
	Ratio float64           `json:"ratio,omitempty"`
	Tags  []string          `json:"tags,omitempty"`
	Sub   *args             `json:"-"`
	In    struct{ A int }   `json:"in,omitzero"`
	Map   map[string]int    `json:"map,omitempty"`
	When  time.Time         `json:"when,omitzero"`
	Raw   json.RawMessage   `json:"raw,omitempty"`
	Any   any               `json:"any,omitempty"`
	Ptr   *int              `json:"ptr,omitempty"`
	Deep  []map[string]bool `json:"deep,omitempty"`
}

// twins are a tool registered by the SDK, and one registered here.
type twins struct {
	add func(s *elicit.Server, sdk bool)
	in  []string
}

func twin[In, Out any](t mcp.Tool, out func(In) (*mcp.CallToolResult, Out, error), in ...string) twins {
	h := func(_ context.Context, _ *mcp.CallToolRequest, x In) (*mcp.CallToolResult, Out, error) { return out(x) }
	return twins{func(s *elicit.Server, sdk bool) {
		tool := t
		tool.Name = "T"
		if sdk {
			mcp.AddTool(s.MCP(), &tool, h)
		} else {
			elicit.AddTool(s, &tool, h)
		}
	}, in}
}

func show[In any](x In) (*mcp.CallToolResult, any, error) {
	b, err := json.Marshal(x)
	return elicit.Text(string(b)), nil, err
}

// AddTool is mcp.AddTool, but for the decoding.
func TestAddToolIsTheSDKs(t *testing.T) {
	inputs := []string{`{}`, `null`, ``, `{"name":"a"}`, `{"name":5}`, `{"name":null}`, `{"NAME":"a"}`, `{"name":"a","Name":"b"}`, `{"name":"a","extra":1}`,
		`{"name":"a","n":1}`, `{"name":"a","n":1.0}`, `{"name":"a","n":1.5}`, `{"name":"a","n":1e2}`, `{"name":"a","n":"1"}`, `{"name":"a","ratio":1e300}`,
		`{"name":"a","tags":["x","y"]}`, `{"name":"a","tags":null}`, `{"name":"a","tags":[1]}`, `{"name":"a","in":{"A":3}}`, `{"name":"a","in":{"a":3}}`,
		`{"name":"a","map":{"x":1}}`, `{"name":"a","when":"2026-07-28T10:00:00Z"}`, `{"name":"a","when":"no"}`, `{"name":"a","any":{"x":[1,2,{"y":null}]}}`,
		`{"name":"a","ptr":7}`, `{"name":"a","ptr":null}`, `{"name":"\u0041\ud83d\ude00 <&>"}`, `{"name":"a","deep":[{"x":true}]}`}
	type out struct {
		Sum int    `json:"sum"`
		S   string `json:"s,omitempty"`
	}
	cases := map[string]twins{
		"struct":       twin(mcp.Tool{}, show[args], inputs...),
		"empty struct": twin(mcp.Tool{}, show[struct{}], `{}`, `null`, ``, `{"a":1}`),
		"map":          twin(mcp.Tool{}, show[map[string]any], inputs...),
		"any":          twin(mcp.Tool{}, show[any], inputs...),
		"pointer":      twin(mcp.Tool{}, show[*args], inputs...),
		"own schema":   twin(mcp.Tool{InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","default":"d"},"n":{"type":"integer","minimum":3}}}`)}, show[args], inputs...),
		"own schema without defaults": twin(mcp.Tool{InputSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"n": {Type: "integer"}}}},
			show[args], inputs...),
		"own schema as map": twin(mcp.Tool{InputSchema: map[string]any{"type": "object", "required": []string{"name"}}}, show[args], inputs...),
		"output":            twin(mcp.Tool{}, func(x args) (*mcp.CallToolResult, out, error) { return nil, out{len(x.Name), "<&>"}, nil }, `{"name":"abc"}`),
		"output and content": twin(mcp.Tool{}, func(x args) (*mcp.CallToolResult, out, error) { return elicit.Text("x"), out{1, ""}, nil },
			`{"name":"abc"}`),
		"nil pointer output":      twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, *out, error) { return nil, nil, nil }, `{"name":"abc"}`),
		"pointer output":          twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, *out, error) { return nil, &out{Sum: 3}, nil }, `{"name":"abc"}`),
		"list output":             twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, []int, error) { return nil, []int{1, 2}, nil }, `{"name":"abc"}`),
		"list output and content": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, []int, error) { return elicit.Text("x"), []int{1}, nil }, `{"name":"abc"}`),
		"nil list output":         twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, []int, error) { return nil, nil, nil }, `{"name":"abc"}`),
		"map output": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, map[string]int, error) {
			return nil, map[string]int{"b": 1, "a": 2}, nil
		}, `{"name":"abc"}`),
		"nil map output": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, map[string]int, error) { return nil, nil, nil }, `{"name":"abc"}`),
		"text output":    twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, string, error) { return nil, "s", nil }, `{"name":"abc"}`),
		"output of own schema": twin(mcp.Tool{OutputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer","default":5}}}`)},
			func(args) (*mcp.CallToolResult, any, error) { return nil, map[string]any{"y": 1}, nil }, `{"name":"abc"}`),
		"wrong output": twin(mcp.Tool{OutputSchema: json.RawMessage(`{"type":"object","required":["x"]}`)},
			func(args) (*mcp.CallToolResult, any, error) { return nil, map[string]any{"y": 1}, nil }, `{"name":"abc"}`),
		"no result": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, any, error) { return nil, nil, nil }, `{"name":"abc"}`),
		"error":     twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, any, error) { return nil, nil, errors.New("no") }, `{"name":"abc"}`),
		"JSON-RPC error": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, any, error) {
			return nil, nil, &jsonrpc.Error{Code: -32000, Message: "x"}
		}, `{"name":"abc"}`),
		"wrapped JSON-RPC": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, any, error) {
			return nil, nil, fmt.Errorf("w: %w", &jsonrpc.Error{Code: -32000, Message: "x"})
		}, `{"name":"abc"}`),
		"asks by itself": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, out, error) {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "?"}}}, out{}, nil
		}, `{"name":"abc"}`),
		"unmarshalable": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, any, error) { return nil, func() {}, nil }, `{"name":"abc"}`),
		"content but no text": twin(mcp.Tool{}, func(args) (*mcp.CallToolResult, int, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}}, 7, nil
		}, `{"name":"abc"}`),
	}
	for name, c := range cases {
		var tools, results [2][]string
		for i := range 2 {
			shop := elicit.New(newServer(), quiet(elicit.Options{}))
			c.add(shop, i == 0)
			st, ct := mcp.NewInMemoryTransports()
			if _, err := shop.MCP().Connect(t.Context(), st, nil); err != nil {
				t.Fatal(err)
			}
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}).Connect(t.Context(), ct, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			list, err := cs.ListTools(t.Context(), nil)
			b, _ := json.Marshal(list.Tools)
			tools[i] = append(tools[i], fmt.Sprint(string(b), err))
			for _, in := range c.in {
				p := &mcp.CallToolParams{Name: "T"}
				if in != "" {
					p.Arguments = json.RawMessage(in)
				}
				res, err := cs.CallTool(t.Context(), p)
				if res != nil { // JSON is the same in any order
					for _, c := range res.Content {
						var v any
						if text := c.(*mcp.TextContent); json.Unmarshal([]byte(text.Text), &v) == nil {
							b, _ := json.Marshal(v)
							text.Text = string(b)
						}
					}
				}
				b, _ := json.Marshal(res)
				results[i] = append(results[i], fmt.Sprint(string(b), err))
			}
		}
		if tools[0][0] != tools[1][0] {
			t.Errorf("%s: the tool is\n%s, want\n%s", name, tools[1][0], tools[0][0])
		}
		for i := range results[0] {
			if results[0][i] != results[1][i] {
				t.Errorf("%s: %s gives\n%s, want\n%s", name, c.in[i], results[1][i], results[0][i])
			}
		}
	}
}

// Where it is not: numbers keep their digits.
func TestAddToolKeepsDigits(t *testing.T) {
	type big struct {
		N int64 `json:"n"`
	}
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	elicit.AddTool(shop, &mcp.Tool{Name: "T"}, func(_ context.Context, _ *mcp.CallToolRequest, in big) (*mcp.CallToolResult, any, error) {
		return elicit.Text(fmt.Sprint(in.N)), nil, nil
	})
	r := request{url: host(t, shop), name: "T", args: json.RawMessage(`{"n":9007199254740993}`)}.send(t)
	if r.text() != "9007199254740993" {
		t.Error(r.body)
	}
}

func TestAddToolPanicsOnABadSchema(t *testing.T) {
	for name, add := range map[string]func(*elicit.Server){
		"no object": func(s *elicit.Server) {
			elicit.AddTool(s, &mcp.Tool{Name: "T"}, func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
		},
		"a function": func(s *elicit.Server) {
			elicit.AddTool(s, &mcp.Tool{Name: "T"}, func(context.Context, *mcp.CallToolRequest, struct{ F func() }) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			add(elicit.New(newServer(), quiet(elicit.Options{})))
		}()
	}
}
