package elicit

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The type of a result is an unexported field of the SDK's result types, which their UnmarshalJSON sets.
var (
	toolAsks     = asks[mcp.CallToolResult](`{"resultType":"input_required","content":[]}`)
	promptAsks   = asks[mcp.GetPromptResult](`{"resultType":"input_required","messages":[]}`)
	resourceAsks = asks[mcp.ReadResourceResult](`{"resultType":"input_required","contents":[]}`)
)

func asks[R any](s string) R {
	var r R
	if err := json.Unmarshal([]byte(s), &r); err != nil {
		panic(err)
	}
	return r
}

// The input_required results. Each is the SDK's result type, for middleware, with an encoding of its own: the SDK's
// writes "content": null beside the questions, caching hints, and the questions in any order.
type (
	toolRequired struct {
		*mcp.CallToolResult
		round
	}
	promptRequired struct {
		*mcp.GetPromptResult
		round
	}
	resourceRequired struct {
		*mcp.ReadResourceResult
		round
	}
)

// round is what an input_required result says.
type round struct {
	order []string
	asked map[string]*asking
	state string
}

func (r toolRequired) MarshalJSON() ([]byte, error)     { return r.encode(r.CallToolResult.Meta) }
func (r promptRequired) MarshalJSON() ([]byte, error)   { return r.encode(r.GetPromptResult.Meta) }
func (r resourceRequired) MarshalJSON() ([]byte, error) { return r.encode(r.ReadResourceResult.Meta) }

// AppendResult implements wire.Appender.
func (r toolRequired) AppendResult(b []byte, serverInfo json.RawMessage) ([]byte, error) {
	if len(r.CallToolResult.Meta) > 0 {
		raw, err := r.MarshalJSON()
		return wire.AppendWithServerInfo(b, raw, serverInfo), err
	}
	b = append(b, '{')
	if serverInfo != nil {
		b = append(append(append(b, `"_meta":{"`+mcp.MetaKeyServerInfo+`":`...), serverInfo...), "},"...)
	}
	return append(r.append(b), '}'), nil
}

func (r round) encode(meta mcp.Meta) ([]byte, error) {
	b := r.append([]byte{'{'})
	if len(meta) > 0 {
		m, err := json.Marshal(meta)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"_meta":`...), m...)
	}
	return append(b, '}'), nil
}

func (r round) append(b []byte) []byte {
	b = append(b, `"resultType":"input_required","inputRequests":{`...)
	for i, k := range r.order {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendString(b, k), ':')
		b = append(b, r.asked[k].wire...)
	}
	b = append(b, '}')
	if r.state != "" {
		b = append(append(append(b, `,"requestState":"`...), r.state...), '"') // base64url, in which nothing is escaped
	}
	return b
}

// ask is the result of a round that asks, with a state if there is something to remember.
func (c *call) ask(ctx context.Context) (_ mcp.Result, _ error, goesOn bool) {
	if c.handsOver() {
		if res, err, taken := c.handOver(ctx, round{order: c.order, asked: c.asked}, ""); taken {
			return res, err, err != nil
		}
	}
	remember := c.remembers()
	requests := mcp.InputRequestMap{}
	for k, a := range c.asked {
		remember = remember || a.proof
		requests[k] = a.request
	}
	r := round{order: c.order, asked: c.asked}
	if remember {
		token, err := c.seal(ctx, "")
		if err != nil {
			return nil, err, false
		}
		r.state = token
	}
	return c.inputRequired(r, requests, nil), nil, true
}

// remembers reports whether there is something to tell the next round, beside what is asked.
func (c *call) remembers() bool {
	return c.carried || len(c.st.Answers)+len(c.st.Steps)+len(c.st.Attempts) > 0
}

// asksByItself is the result of a handler that asks without this library. What it keeps in a requestState of its own, and
// what the handler has got through this library, is sealed within ours.
func (c *call) asksByItself(ctx context.Context, res mcp.Result) (_ mcp.Result, _ error, goesOn bool) {
	var requests mcp.InputRequestMap
	var own string
	switch r := res.(type) {
	case *mcp.CallToolResult:
		requests, own = r.InputRequests, r.RequestState
	case *mcp.GetPromptResult:
		requests, own = r.InputRequests, r.RequestState
	case *mcp.ReadResourceResult:
		requests, own = r.InputRequests, r.RequestState
	default:
		return res, nil, true
	}
	r := round{asked: map[string]*asking{}}
	for _, k := range slices.Sorted(maps.Keys(requests)) {
		// The SDK encodes a map with its requests' methods.
		b, err := json.Marshal(mcp.InputRequestMap{k: requests[k]})
		if err != nil {
			return nil, internalError("server bug: " + err.Error()), false
		}
		raw, _ := rawjson.Get(b, k)
		r.order = append(r.order, k)
		r.asked[k] = &asking{wire: raw}
	}
	if c.handsOver() {
		if res, err, taken := c.handOver(ctx, r, own); taken {
			return res, err, err != nil
		}
	}
	if own != "" || c.remembers() {
		token, err := c.seal(ctx, own)
		if err != nil {
			return nil, err, false
		}
		r.state = token
	}
	return c.inputRequired(r, requests, res.GetMeta()), nil, true
}

// inputRequired is the input_required result of the call's method.
func (c *call) inputRequired(r round, requests mcp.InputRequestMap, meta mcp.Meta) mcp.Result {
	switch c.method {
	case "tools/call":
		x := toolAsks
		x.Meta, x.InputRequests, x.RequestState = meta, requests, r.state
		return toolRequired{&x, r}
	case "prompts/get":
		x := promptAsks
		x.Meta, x.InputRequests, x.RequestState = meta, requests, r.state
		return promptRequired{&x, r}
	default:
		x := resourceAsks
		x.Meta, x.InputRequests, x.RequestState = meta, requests, r.state
		return resourceRequired{&x, r}
	}
}
