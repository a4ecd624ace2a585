package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/elicit-go/elicit/answer"
)

// A target is the server being checked.
type target struct {
	o        Options
	ctx      context.Context
	url      string
	client   *http.Client
	sent     atomic.Int32
	id       int
	results  []Result
	taskOnly bool // the tool is there only for clients that know tasks
}

// A request is what is sent: a right one, but for what a check changes.
type request struct {
	method string
	header http.Header
	body   string
}

const (
	version = "2026-07-28"
	meta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"elicit-check","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`
	asking  = `{"elicitation":{"form":{},"url":{}}}`
)

// rpc is a right request for a method.
func (t *target) rpc(method, name, capabilities, params string) request {
	t.id++
	h := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {version}, "Mcp-Method": {method},
	}
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	if params != "" {
		params += ","
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s`+meta+`}}`, t.id, method, params, capabilities)
	return request{http.MethodPost, h, body}
}

// older is the version before, in which a session comes first.
const older = "2025-11-25"

// initialize opens a session.
func (t *target) initialize() request {
	t.id++
	return request{http.MethodPost, http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{}},"clientInfo":{"name":"elicit-check","version":"1"}}}`, t.id, older)}
}

func (t *target) list() request { return t.rpc("tools/list", "", asking, "") }

// call is a round of the tool's.
func (t *target) call(rest string) request {
	return t.rpc("tools/call", t.o.Tool, asking, t.params(rest))
}

func (t *target) params(rest string) string {
	name, _ := json.Marshal(t.o.Tool)
	params := `"name":` + string(name) + `,"arguments":{}`
	if rest != "" {
		params += "," + rest
	}
	return params
}

func (r request) with(name, value string) request {
	h := r.header.Clone()
	if value == "" {
		h.Del(name)
	} else {
		h.Set(name, value)
	}
	r.header = h
	return r
}

func (r request) change(old, new string) request {
	r.body = strings.Replace(r.body, old, new, 1)
	return r
}

// A response is what came back.
type response struct {
	err     error
	status  int
	message rpcMessage
	raw     []byte
}

// needsTasks tells whether the server has the tool only for clients that know tasks (tasks extension, Capability Negotiation).
func (r response) needsTasks() bool {
	e := r.message.Error
	return e != nil && e.Code == -32021 && bytes.Contains(e.Data, []byte(answer.TasksExtension))
}

type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	Result *result `json:"result"`
}

type result struct {
	ResultType    string                     `json:"resultType"`
	IsError       bool                       `json:"isError"`
	Content       []struct{ Text string }    `json:"content"`
	InputRequests json.RawMessage            `json:"inputRequests"`
	RequestState  *string                    `json:"requestState"`
	Members       map[string]json.RawMessage `json:"-"`
}

func (r *result) UnmarshalJSON(data []byte) error {
	type plain result
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	return json.Unmarshal(data, &r.Members)
}

// maxBody bounds a response, in bytes.
const maxBody = 4 << 20

func (t *target) send(r request) response {
	if t.sent.Add(1) > maxRequests {
		return response{err: errEnough}
	}
	req, err := http.NewRequestWithContext(t.ctx, r.method, t.url, strings.NewReader(r.body))
	if err != nil {
		return response{err: err}
	}
	req.Header = r.header.Clone()
	for name, values := range t.o.Header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "elicit-check")
	res, err := t.client.Do(req)
	if err != nil {
		return response{err: err}
	}
	defer res.Body.Close()
	out := response{status: res.StatusCode}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		out.raw = event(res.Body)
	} else {
		out.raw, _ = io.ReadAll(io.LimitReader(res.Body, maxBody))
	}
	_ = json.Unmarshal(out.raw, &out.message)
	return out
}

// event is the message of a stream that answers the request: the first with a result or an error.
func event(body io.Reader) []byte {
	all, _ := io.ReadAll(io.LimitReader(body, maxBody))
	var last []byte
	for block := range bytes.SplitSeq(bytes.ReplaceAll(all, []byte("\r\n"), []byte("\n")), []byte("\n\n")) {
		var data []byte
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			if d, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(data, bytes.TrimPrefix(d, []byte(" "))...)
			}
		}
		var m rpcMessage
		if len(data) > 0 && json.Unmarshal(data, &m) == nil && (m.Result != nil || m.Error != nil) {
			last = data
		}
	}
	return last
}

// String is the response in short.
func (r response) String() string {
	if r.err != nil {
		return r.err.Error()
	}
	text := fmt.Sprintf("HTTP %d", r.status)
	switch m := r.message; {
	case m.Error != nil:
		text += fmt.Sprintf(", error %d %q", m.Error.Code, short(m.Error.Message))
	case m.Result != nil && m.Result.ResultType == "input_required":
		text += ", asks"
	case m.Result != nil && len(m.Result.Content) > 0:
		text += fmt.Sprintf(", result %q", short(m.Result.Content[0].Text))
		if m.Result.IsError {
			text += " (isError)"
		}
	case m.Result != nil:
		text += ", result"
	case len(r.raw) > 0:
		text += fmt.Sprintf(", %q", short(string(r.raw)))
	}
	return text
}

func short(s string) string {
	const most = 240
	runes := []rune(strings.TrimSpace(s))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

func (r response) asks() bool {
	return r.message.Result != nil && r.message.Result.ResultType == "input_required"
}

// names tells whether the error's data has this member, with something in it.
func (r response) names(member string) bool {
	var data map[string]json.RawMessage
	if r.message.Error == nil || json.Unmarshal(r.message.Error.Data, &data) != nil {
		return false
	}
	v := string(bytes.TrimSpace(data[member]))
	return v != "" && v != "null" && v != "[]" && v != "{}"
}

// refused says what keeps the response from being a refusal with this status and code; 0 is any.
func (r response) refused(status, code int) string {
	switch m := r.message; {
	case r.err != nil:
		return "no response"
	case status != 0 && r.status != status:
		return fmt.Sprintf("not HTTP %d", status)
	case code != 0 && m.Error == nil:
		return "no JSON-RPC error"
	case code != 0 && m.Error.Code != code:
		return fmt.Sprintf("not code %d", code)
	case code == 0 && (r.status < 400 || m.Result != nil):
		return "served"
	}
	return ""
}
