package tasks

import (
	"encoding/json"
	"fmt"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Extension is the name of the tasks extension, among the capabilities of clients and servers.
const Extension = "io.modelcontextprotocol/tasks"

const methodPrefix, notification = "tasks/", "notifications/tasks"

// declares reports whether a request says that its client knows tasks.
func declares(meta mcp.Meta) bool {
	caps, _ := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := caps["extensions"].(map[string]any)
	_, ok := extensions[Extension].(map[string]any)
	return ok
}

// modern reports whether a request is of a revision that has tasks.
func modern(meta mcp.Meta) bool {
	v, _ := meta[mcp.MetaKeyProtocolVersion].(string)
	return v >= wire.Modern
}

// errUnknown is the one answer to an id that never was, is another's or has expired: the same bytes.
var errUnknown = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Unknown or expired task"}

func undeclared(what string) error {
	return &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities,
		Message: what + " needs a client that declares the extension " + Extension,
		Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + Extension + `":{}}}}`)}
}

func internal(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// A reply is the result of a method of the extension.
type reply struct {
	mcp.ResultBase
	kind    string // resultType
	members []byte // more of the object, each with a comma before it
}

// MarshalJSON implements json.Marshaler.
func (r *reply) MarshalJSON() ([]byte, error) { return encodeResult(r.kind, r.members, r.Meta) }

// AppendResult implements wire.Appender.
func (r *reply) AppendResult(b []byte, serverInfo json.RawMessage) ([]byte, error) {
	raw, err := r.MarshalJSON()
	return wire.AppendWithServerInfo(b, raw, serverInfo), err
}

// created is the CreateTaskResult: for middleware, a result of tools/call.
type created struct {
	*mcp.CallToolResult
	members []byte
}

// MarshalJSON implements json.Marshaler.
func (r created) MarshalJSON() ([]byte, error) {
	return encodeResult("task", r.members, r.CallToolResult.Meta)
}

// AppendResult implements wire.Appender.
func (r created) AppendResult(b []byte, serverInfo json.RawMessage) ([]byte, error) {
	raw, err := r.MarshalJSON()
	return wire.AppendWithServerInfo(b, raw, serverInfo), err
}

func encodeResult(kind string, members []byte, meta mcp.Meta) ([]byte, error) {
	b := []byte{'{'}
	if len(meta) > 0 {
		m, err := json.Marshal(meta)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, `"_meta":`...), m...), ',')
	}
	b = append(append(append(b, `"resultType":"`...), kind...), '"')
	return append(append(b, members...), '}'), nil
}

// handle is the result of a call that has become a task.
func (e *Engine) handle(row Row, message string) mcp.Result {
	return created{&mcp.CallToolResult{}, e.appendTask(nil, row, message)}
}

// appendTask appends the members that a task has at any time, each with a comma before it.
func (e *Engine) appendTask(b []byte, row Row, message string) []byte {
	b = rawjson.AppendString(append(b, `,"taskId":`...), row.ID)
	b = append(append(append(b, `,"status":"`...), row.Status...), '"')
	if message != "" {
		b = rawjson.AppendString(append(b, `,"statusMessage":`...), message)
	}
	const layout = "2006-01-02T15:04:05.000Z07:00"
	b = append(row.Created.UTC().AppendFormat(append(b, `,"createdAt":"`...), layout), '"')
	b = append(row.Updated.UTC().AppendFormat(append(b, `,"lastUpdatedAt":"`...), layout), '"')
	ttl := "null"
	if row.TTL > 0 {
		ttl = fmt.Sprint(max(row.TTL.Milliseconds(), 1))
	}
	return fmt.Appendf(b, `,"ttlMs":%s,"pollIntervalMs":%d`, ttl, e.opts.PollInterval.Milliseconds())
}

// appendDetailed appends what tasks/get and notifications say of a task.
func (e *Engine) appendDetailed(b []byte, row Row, r *record) ([]byte, error) {
	if row.Status.Finished() {
		x, err := r.openEnd()
		if err != nil {
			return nil, err
		}
		b = e.appendTask(b, row, x.Message)
		switch row.Status {
		case Completed:
			b = append(append(b, `,"result":`...), x.Result...)
		case Failed:
			b = append(append(b, `,"error":`...), x.Error...)
		}
		return b, nil
	}
	w, err := r.openWork()
	if err != nil {
		return nil, err
	}
	b = e.appendTask(b, row, w.Message)
	if row.Status == InputRequired {
		b = append(b, `,"inputRequests":{`...)
		for i, a := range w.Open {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(rawjson.AppendString(b, a.Wire), ':'), a.Request...)
		}
		b = append(b, '}')
	}
	return b, nil
}
