package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"strconv"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler makes a an elicitation handler for mcp.ClientOptions, where servers of older protocols (2025-06-18,
// 2025-11-25) ask while a request runs. While a [CallTool] runs on the session, the question belongs to it: its Answerer
// answers, and a failure is reported by it. Otherwise a answers, and when it fails the server is told "cancel".
// Questions are answered one after another, even when the server sends several at once.
//
// The key comes from _meta "io.github.elicit-go/key" where the server sends it, and is empty otherwise. The SDK checks
// the answer against the schema and fills in defaults before it goes out. [Connect] sets all of this up.
func Handler(a Answerer) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	h := newHandler(a)
	return func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		res, err := h.answer(ctx, req)
		if err != nil {
			return nil, err
		}
		out := *res
		out.Content = maps.Clone(res.Content)
		for name, v := range out.Content {
			out.Content[name] = goValue(v)
		}
		return &out, nil
	}
}

// A handler answers questions that reach the session by themselves.
type handler struct {
	answerer Answerer
	turn     chan struct{} // holds a token while nobody is being asked
}

func newHandler(a Answerer) *handler {
	h := &handler{answerer: a, turn: make(chan struct{}, 1)}
	h.turn <- struct{}{}
	return h
}

func (h *handler) answer(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if req == nil || req.Params == nil {
		return nil, fmt.Errorf("the question has no params")
	}
	params, note, exact := takeKept(req.Params)
	r := &Request{Key: note.Key, Server: note.Server, ServerName: serverName(req.Session), Params: params, Round: 1}
	if r.Key == "" {
		r.Key, _ = params.Meta[metaKey].(string)
	}
	if params.Mode == "" {
		params.Mode = "form"
	}
	switch {
	case exact && note.Schema != "":
		r.Schema, r.Exact = json.RawMessage(note.Schema), true
	case params.RequestedSchema != nil:
		schema, err := json.Marshal(params.RequestedSchema)
		if err != nil {
			return nil, fmt.Errorf("requestedSchema: %w", err)
		}
		r.Schema = schema
	}

	select {
	case <-h.turn:
		defer func() { h.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if c := findCall(req.Session, note.Call); c != nil {
		c.announce(r.Key)
		return c.ask(ctx, r, h.answerer), nil
	}
	res, _ := ask(ctx, h.answerer, r)
	return res, nil
}

// middleware answers before the SDK's own handling, which takes json.Number for a string and refuses whole forms for
// one format it does not know.
func (h *handler) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if elicit, ok := req.(*mcp.ElicitRequest); ok && method == methodElicit {
			res, err := h.answer(ctx, elicit)
			if err != nil {
				return nil, err
			}
			return res, nil
		}
		return next(ctx, method, req)
	}
}

// goValue is v as a Go value that the SDK's validation understands.
func goValue(v any) any {
	if raw, ok := v.(json.RawMessage); ok {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var decoded any
		if d.Decode(&decoded) != nil {
			return v
		}
		v = decoded
	}
	if n, ok := v.(json.Number); ok {
		return goNumber(n)
	}
	return v
}

// goNumber is n as a Go number that the SDK's validation understands, when one stands for it exactly; otherwise n.
func goNumber(n json.Number) any {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u
	}
	f, err := n.Float64()
	if err != nil || !rawjson.NumberOK([]byte(n)) {
		return n
	}
	a, ok1 := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	b, ok2 := new(big.Rat).SetString(n.String())
	if ok1 && ok2 && a.Cmp(b) == 0 {
		return f
	}
	return n
}
