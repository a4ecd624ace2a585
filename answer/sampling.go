//lint:file-ignore SA1019 MCP deprecates roots and sampling, and servers still ask for them.

package answer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Root is a folder that servers may be told of.
type Root = mcp.Root

const (
	methodSample = "sampling/createMessage"
	methodRoots  = "roots/list"
)

// A sampler answers what a server wants a model to be asked.
type sampler = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error)

func samplerOf(o *mcp.ClientOptions) sampler {
	if o == nil {
		return nil
	}
	return o.CreateMessageHandler
}

func declareRoots(caps *mcp.ClientCapabilities, roots []*Root) {
	if roots != nil {
		caps.RootsV2 = &mcp.RootCapabilities{}
	}
}

func addRoots(c *mcp.Client, roots []*Root) {
	if len(roots) > 0 {
		c.AddRoots(roots...)
	}
}

// answerOther answers a question that is not for a person; nil when the connection has nothing to answer it with.
func (c *call) answerOther(ctx context.Context, q asked) (mcp.InputResponse, error) {
	c.mu.Lock()
	sample, roots := c.sample, c.roots
	c.mu.Unlock()
	switch {
	case q.method == methodRoots && roots != nil:
		return &mcp.ListRootsResult{Roots: roots}, nil
	case q.method == methodSample && sample != nil:
		params := &mcp.CreateMessageParams{}
		if err := json.Unmarshal(q.params, params); err != nil {
			return nil, fmt.Errorf("calling tool %q: %s is broken: %w", c.tool, question(q.key), err)
		}
		res, err := sample(ctx, &mcp.CreateMessageRequest{Session: c.session, Params: params})
		if err != nil {
			return nil, &AnswerError{Tool: c.tool, Key: q.key, Err: err}
		}
		return res, nil
	}
	return nil, nil
}
