package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated sampling and roots (SEP-2577); they ride the same rounds while the SDK has them

// NewSampling asks the client's model, through the client, by sampling/createMessage. Its answer is always accepted, or
// cancelled if the client sent something else. Sampling is deprecated since 2026-07-28 (SEP-2577): call a model from the
// server instead.
func NewSampling(key string, params *mcp.CreateMessageWithToolsParams) *Question[*mcp.CreateMessageWithToolsResult] {
	q := other[mcp.CreateMessageWithToolsResult](samplingKind, key)
	if params == nil {
		q.err = errors.New("no sampling parameters")
		return q.sealed()
	}
	if params.Messages == nil {
		p := *params
		p.Messages = []*mcp.SamplingMessageV2{} // the field is required on the wire
		params = &p
	}
	q.request = params
	return q.sealed()
}

// NewRoots asks the client for its roots, by roots/list. Roots are deprecated since 2026-07-28 (SEP-2577): take paths as
// tool arguments or configuration instead.
func NewRoots(key string) *Question[*mcp.ListRootsResult] {
	q := other[mcp.ListRootsResult](rootsKind, key)
	q.request = &mcp.ListRootsParams{}
	return q.sealed()
}

// other is a question that is no form: the client's result is the value.
func other[R any](k kind, key string) *Question[*R] {
	q := &Question[*R]{ask: ask{kind: k, key: key, bound: true}}
	q.settle = func(q *Question[*R], a Action, content []byte) (Answer[*R], []byte, []form.Problem) {
		r := new(R)
		if a != Accept || json.Unmarshal(content, r) != nil {
			return Answer[*R]{key: q.key, action: Cancel}, nil, nil
		}
		return Answer[*R]{key: q.key, action: Accept, value: r}, content, nil
	}
	q.encode = func(r *R) (mcp.InputResponse, error) {
		if v, ok := any(r).(mcp.InputResponse); ok {
			return v, nil
		}
		return nil, fmt.Errorf("%T is no answer", r)
	}
	return q
}

// otherKind is the kind of question that a response answers, if not a form.
func otherKind(r mcp.InputResponse) kind {
	switch r.(type) {
	case *mcp.CreateMessageWithToolsResult:
		return samplingKind
	case *mcp.ListRootsResult:
		return rootsKind
	}
	return ""
}

// lacksOther names the capability that q needs and caps does not have, or "".
func lacksOther(q *ask, caps clientCan) string {
	switch p := q.request.(type) {
	case *mcp.CreateMessageWithToolsParams:
		if !caps.sample {
			return "sampling"
		}
		if len(p.Tools) > 0 && !caps.tools {
			return "sampling.tools"
		}
	case *mcp.ListRootsParams:
		if !caps.roots {
			return "roots"
		}
	}
	return ""
}

// canDo is what capabilities say.
func canDo(caps *mcp.ClientCapabilities) clientCan {
	if caps == nil {
		return clientCan{}
	}
	c := clientCan{sample: caps.Sampling != nil, tools: caps.Sampling != nil && caps.Sampling.Tools != nil, roots: caps.RootsV2 != nil}
	if e := caps.Elicitation; e != nil {
		c.elicit, c.form, c.url = true, e.Form != nil, e.URL != nil
	}
	return c
}

// askOther asks q over the session of an older client.
func askOther(ctx context.Context, session *mcp.ServerSession, q *ask) (mcp.InputResponse, error) {
	switch p := q.request.(type) {
	case *mcp.CreateMessageWithToolsParams:
		return session.CreateMessageWithTools(ctx, p)
	case *mcp.ListRootsParams:
		return session.ListRoots(ctx, p)
	}
	return nil, errors.New("nothing to ask")
}
