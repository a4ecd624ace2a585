package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	methodTaskGet    = "tasks/get"
	methodTaskUpdate = "tasks/update"
	methodTaskCancel = "tasks/cancel"
)

// How long requests may take. Variables for tests.
var (
	requestTimeout = 30 * time.Second // for one request of the extension; the server only looks something up
	outage         = 5 * time.Minute  // that a server may be out of reach: a restart, a deployment
	firstRetry     = 500 * time.Millisecond
	lastRetry      = 30 * time.Second
)

// taskParams are the parameters of the extension's methods.
type taskParams struct {
	mcp.ParamsBase
	TaskID         string               `json:"taskId"`
	InputResponses mcp.InputResponseMap `json:"inputResponses,omitempty"`
}

// taskResult is what the SDK makes of a result of the extension. The text that counts is kept by the transport.
type taskResult struct{ mcp.ResultBase }

func addTaskMethods(c *mcp.Client) {
	for _, method := range []string{methodTaskGet, methodTaskUpdate, methodTaskCancel} {
		if err := mcp.AddSendingCustomMethod[*taskParams, *taskResult](c, method); err != nil {
			panic(err) // Only for the SDK's own methods.
		}
	}
}

// deliver sends a request of the extension and returns the result as the server wrote it. All of them may be sent twice, so
// it tries again while the server is out of reach, with growing pauses, for a while.
func (f *follower) deliver(ctx context.Context, method string, p *taskParams) ([]byte, error) {
	p.TaskID = f.id
	for begun, pause := time.Now(), firstRetry; ; pause = min(2*pause, lastRetry) {
		raw, err := f.send(ctx, method, *p)
		switch {
		case err == nil:
			return raw, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !transient(err):
			return nil, err
		case time.Since(begun) > outage:
			return nil, fmt.Errorf("the server could not be reached for %v: %w", time.Since(begun).Round(time.Second), err)
		}
		if err := sleep(ctx, pause+rand.N(pause/4+1)); err != nil {
			return nil, err
		}
	}
}

func (f *follower) send(ctx context.Context, method string, p taskParams) ([]byte, error) {
	c := newCall(f.session, f.last.Tool, nil)
	c.id, c.task = noCall, true
	ctx, cancel := context.WithTimeoutCause(context.WithValue(ctx, callKey{}, c), requestTimeout, errSilent)
	defer cancel()
	_, err := mcp.CallCustomMethod[*taskParams, *taskResult](ctx, f.session, method, &p)
	raw := c.take()
	f.meta = c.meta
	switch {
	case raw != nil && rawjson.Kind(raw) != '{', raw == nil && err == nil:
		return nil, &brokenError{fmt.Sprintf("%s: the server's result is no object, or nests too deeply", method)}
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, c.because(err)
	}
	return raw, nil
}

// A brokenError reports a result that makes no sense.
type brokenError struct{ text string }

func (e *brokenError) Error() string { return e.text }

// rpcError is the JSON-RPC error that the server answered with; nil when that is not what went wrong.
func rpcError(err error) *jsonrpc.Error {
	var status *HTTPError
	var rpc *jsonrpc.Error
	if errors.As(err, &status) || !errors.As(err, &rpc) {
		return nil
	}
	return rpc
}

var errSilent = errors.New("the server did not answer in time")

// declareTasks is a middleware that declares the extension on the requests of calls, which [CallTool] follows, and not on
// others: their callers would not know what to do with a handle (tasks extension, Capability Negotiation).
func declareTasks(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if c := callOf(ctx); c != nil {
			meta := req.GetParams().GetMeta()
			if declared, ok := meta[mcp.MetaKeyClientCapabilities]; ok {
				caps, err := withTasks(declared)
				if err != nil {
					return nil, fmt.Errorf("the client's capabilities: %w", err)
				}
				meta[mcp.MetaKeyClientCapabilities] = caps
				c.noteMeta(meta)
			}
		}
		return next(ctx, method, req)
	}
}

// withTasks is capabilities with the extension added.
func withTasks(capabilities any) (map[string]any, error) {
	data, err := json.Marshal(capabilities)
	if err != nil {
		return nil, err
	}
	caps := map[string]any{}
	if err := json.Unmarshal(data, &caps); err != nil {
		return nil, err
	}
	extensions, _ := caps["extensions"].(map[string]any)
	if extensions == nil {
		extensions = map[string]any{}
		caps["extensions"] = extensions
	}
	if extensions[TasksExtension] == nil {
		extensions[TasksExtension] = struct{}{}
	}
	return caps, nil
}

// transient tells whether the same request may fare better later.
func transient(err error) bool {
	const rejected = -32005 // The SDK's word for what its transport could not send.
	var status *HTTPError
	var rpc *jsonrpc.Error
	var broken *brokenError
	switch {
	case errors.As(err, &broken):
		return false
	case errors.As(err, &status):
		return status.Status >= 500 || status.Status == http.StatusRequestTimeout || status.Status == http.StatusTooEarly || status.Status == http.StatusTooManyRequests
	case errors.Is(err, mcp.ErrConnectionClosed), errors.Is(err, mcp.ErrSessionMissing):
		return false
	case errors.As(err, &rpc):
		return rpc.Code == jsonrpc.CodeInternalError || rpc.Code == rejected
	}
	return true
}
