package elicittest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasksExtension is by which a server may answer a call with a handle (package tasks).
const tasksExtension = "io.modelcontextprotocol/tasks"

// look is the time between two looks at a task. The test and its server are one process, so it need not be what the server says.
const look = 5 * time.Millisecond

// A handles transport keeps the handle that a call was answered with, of which the SDK makes an empty result.
type handles struct {
	mcp.Transport
	mu sync.Mutex
	id string
}

func (h *handles) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := h.Transport.Connect(ctx)
	return &handlesConn{c, h}, err
}

type handlesConn struct {
	mcp.Connection
	h *handles
}

func (c *handlesConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Response); ok && r.Error == nil {
		var t struct {
			ResultType string `json:"resultType"`
			TaskID     string `json:"taskId"`
		}
		if json.Unmarshal(r.Result, &t) == nil && t.ResultType == "task" {
			c.h.mu.Lock()
			c.h.id = t.TaskID
			c.h.mu.Unlock()
		}
	}
	return m, err
}

// task is the id of the task that the call has become, if it has.
func (h *handles) task() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.id
}

type taskParams struct {
	mcp.ParamsBase
	TaskID         string               `json:"taskId"`
	InputResponses mcp.InputResponseMap `json:"inputResponses,omitempty"`
}

type taskResult struct {
	mcp.ResultBase
	Status        string              `json:"status"`
	StatusMessage string              `json:"statusMessage"`
	InputRequests mcp.InputRequestMap `json:"inputRequests"`
	Result        json.RawMessage     `json:"result"`
	Error         json.RawMessage     `json:"error"`
}

func addTaskMethods(c *mcp.Client) {
	for _, method := range []string{"tasks/get", "tasks/update"} {
		if err := mcp.AddSendingCustomMethod[*taskParams, *taskResult](c, method); err != nil {
			panic(err) // only for the SDK's own methods
		}
	}
}

// follow drives the task of tr to its end. Respond gives the response to a question.
func (tr *Transcript) follow(ctx context.Context, cs *mcp.ClientSession, respond func(key string, q Question) (mcp.InputResponse, error)) error {
	for {
		t, err := mcp.CallCustomMethod[*taskParams, *taskResult](ctx, cs, "tasks/get", &taskParams{TaskID: tr.Task})
		switch {
		case err != nil:
			return fmt.Errorf("tasks/get: %w", err)
		case t.Status == "completed":
			tr.Result = &mcp.CallToolResult{}
			return json.Unmarshal(t.Result, tr.Result)
		case t.Status == "failed":
			return fmt.Errorf("its task failed: %s", t.Error)
		case t.Status == "cancelled":
			return fmt.Errorf("its task was cancelled: %s", t.StatusMessage)
		case len(t.InputRequests) == 0:
			select {
			case <-ctx.Done():
				return fmt.Errorf("its task is %s: %w", t.Status, context.Cause(ctx))
			case <-time.After(look):
			}
			continue
		}
		if tr.Rounds == maxRounds {
			return fmt.Errorf("its task still asks after %d requests", maxRounds)
		}
		p := &taskParams{TaskID: tr.Task, InputResponses: mcp.InputResponseMap{}}
		for _, wireKey := range slices.Sorted(maps.Keys(t.InputRequests)) {
			key := wireKey
			if n := strings.LastIndexByte(key, '#'); n >= 0 { // "ship" is asked again as "ship#2"
				key = key[:n]
			}
			q := question(key, t.InputRequests[wireKey])
			tr.Asked = append(tr.Asked, q)
			if p.InputResponses[wireKey], err = respond(key, q); err != nil {
				return err
			}
		}
		tr.Rounds++
		if _, err := mcp.CallCustomMethod[*taskParams, *taskResult](ctx, cs, "tasks/update", p); err != nil {
			return fmt.Errorf("tasks/update: %w", err)
		}
	}
}
