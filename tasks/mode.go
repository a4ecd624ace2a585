package tasks

import (
	"context"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Mode says when the calls of a tool become tasks. It is an option of the tool:
//
//	elicit.AddTool(shop, &mcp.Tool{Name: "Deploy"}, deploy, tasks.Required)
//
// A tool without a Mode that declares questions (elicit.Asks) which are forms is Synchronous, so that its rounds stay on
// tools/call; one that declares a question by URL, and every other tool, is Optional.
//
// Only clients of revision 2026-07-28 that declare the extension io.modelcontextprotocol/tasks on the request get tasks. To
// others a tool is Synchronous, whatever its mode, unless that is Required.
type Mode uint8

const (
	// Synchronous: a call is never a task.
	Synchronous = Mode(tool.Synchronous)

	// Optional: the handler runs on the call. If it has not finished after [Options.Grace], or asks by URL, the call
	// becomes a task: the client gets its handle, and the handler goes on. So a fast tool costs nothing more than it
	// would without tasks.
	Optional = Mode(tool.Optional)

	// Required: every call is a task from the start. A client that cannot have tasks is refused (JSON-RPC −32021), and so is
	// every call of a server without [Enable] (−32603).
	Required = Mode(tool.Required)

	// AtBegin: the handler runs on the call, and asks on it, until it calls [Begin].
	AtBegin = Mode(tool.AtBegin)
)

// Apply implements elicit.ToolOption.
func (m Mode) Apply(c *tool.Config) { c.Task.Mode, c.Task.ModeOf = tool.Mode(m), nil }

// ModeFunc is the option of a tool whose mode depends on the request. The zero Mode is that of a tool that does not say.
func ModeFunc(f func(context.Context, *mcp.CallToolRequest) Mode) elicit.ToolOption {
	return tool.OptionFunc(func(c *tool.Config) {
		c.Task.Mode = tool.Unset
		c.Task.ModeOf = func(ctx context.Context, r *mcp.CallToolRequest) tool.Mode { return tool.Mode(f(ctx, r)) }
	})
}

// Begin makes a task of a call whose tool is [AtBegin]. Return its error, and the handler runs again, from the top, as a
// task in which Begin is nil; answers and steps that the call has got so far are the task's. So what a person should decide
// while their agent waits comes before Begin, and what takes long after it:
//
//	if err := tasks.Begin(ctx); err != nil {
//		return nil, nil, err
//	}
//
// Begin is nil, too, where there is nothing to begin: to a client that cannot have tasks, in a tool of another mode, and
// on a server without tasks. The handler then goes on as it is.
func Begin(ctx context.Context) error { return tool.Begin(ctx) }

// maxStatus is how long a status is, in characters: it goes with each answer to tasks/get and each notification, and clients
// show it as a line.
const maxStatus = 1000

// Status says how far the work of a task is ("3 of 10"), to whoever asks for it. It may be called often: it is written once
// a second at most. Outside a task it does nothing.
//
// The text is sealed where it is stored, and shown to the user and the model. What is over 1,000 characters is cut off, and
// control characters and those that reorder text are taken out, as from a question's message.
func Status(ctx context.Context, message string) {
	r, err := tool.CallRun(ctx)
	if err != nil || r == nil || r.Status == nil {
		return
	}
	n := 0
	for i := range message {
		if n == maxStatus {
			message = message[:i] + "…"
			break
		}
		n++
	}
	r.Status(ctx, tool.CleanText(message))
}

// ID is the id of the task that a handler runs as, or that middleware sees the run of; "" for a call that is no task.
//
// Middleware that looks for a token or a header of the HTTP request finds none in the run of a task: ID tells it that the
// request was made from the task's record, whose principal was verified when the task was created.
func ID(ctx context.Context) string {
	r := tool.RunOf(ctx)
	if c, err := tool.CallRun(ctx); err == nil && c != nil {
		r = c
	}
	if r == nil || r.ID == nil {
		return ""
	}
	return r.ID()
}
