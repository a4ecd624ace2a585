package answer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A handServer speaks the tasks extension by hand. Every method has its replies, in turn, the last one for ever: a result, an
// error as {"code": …}, or an HTTP status such as "503"; "-" breaks the connection off, "hang" says nothing, "html" is a page.
type handServer struct {
	*httptest.Server
	mu      sync.Mutex
	replies map[string][]string
	bodies  map[string][]string // of the requests
	names   map[string]string   // Mcp-Name of the last
}

const handle = `{"resultType":"task","taskId":"t1","status":"working","createdAt":"2026-12-01T10:00:00Z","lastUpdatedAt":"2026-12-01T10:00:00Z","ttlMs":null,"pollIntervalMs":1}`

// task is what tasks/get tells.
func task(status, more string) string {
	return `{"resultType":"complete","taskId":"t1","status":"` + status + `","createdAt":"2026-12-01T10:00:00Z","lastUpdatedAt":"2026-12-01T10:00:00Z","ttlMs":null,"pollIntervalMs":1` + more + `}`
}

// asks is a task with questions, whose message is the same for one of the same key.
func asks(keys ...string) string {
	var requests []string
	for _, key := range keys {
		requests = append(requests, fmt.Sprintf("%q:%s", key, strings.Replace(oneQuestion, `"?"`, `"About `+key+`"`, 1)))
	}
	return task("input_required", `,"inputRequests":{`+strings.Join(requests, ",")+`}`)
}

var completed = task("completed", `,"result":{"content":[{"type":"text","text":"done"}],"structuredContent":{"n":9007199254740993}}`)

func newHandServer(t *testing.T, get ...string) *handServer {
	t.Helper()
	answer.SetTaskTimes(t, answer.TaskTimes{Retry: time.Millisecond})
	s := &handServer{bodies: map[string][]string{}, names: map[string]string{}, replies: map[string][]string{
		"server/discover": {`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
		"tools/call":      {handle}, "tasks/get": get, "tasks/update": {`{"resultType":"complete"}`}, "tasks/cancel": {`{"resultType":"complete"}`},
	}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *handServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var msg struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(body, &msg) != nil || msg.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.mu.Lock()
	s.bodies[msg.Method] = append(s.bodies[msg.Method], string(body))
	s.names[msg.Method] = r.Header.Get("Mcp-Name")
	replies := s.replies[msg.Method]
	reply := `{"code":-32601,"message":"no such method"}`
	if len(replies) > 0 {
		reply = replies[min(len(s.bodies[msg.Method]), len(replies))-1]
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	status := 0
	switch _, err := fmt.Sscanf(reply, "%d", &status); {
	case reply == "-":
		panic(http.ErrAbortHandler)
	case reply == "hang":
		<-r.Context().Done()
	case reply == "html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Back soon</html>")
	case err == nil:
		http.Error(w, "Back soon", status)
	case strings.HasPrefix(reply, `{"code"`):
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(msg.ID)+`,"error":`+reply+`}`)
	default:
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(msg.ID)+`,"result":`+reply+`}`)
	}
}

// sent are the answers that were sent, one text for each request.
func (s *handServer) sent(t *testing.T) (all []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.bodies["tasks/update"] {
		var msg struct {
			Params struct {
				TaskID         string
				InputResponses json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(body), &msg); err != nil || msg.Params.TaskID != "t1" {
			t.Errorf("%s: %v", body, err)
		}
		all = append(all, string(msg.Params.InputResponses))
	}
	return all
}

func (s *handServer) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies[method])
}

// follow calls the server's tool; who answers counts the questions and accepts.
func (s *handServer) follow(t *testing.T) (res *mcp.CallToolResult, asked int, err error) {
	t.Helper()
	a := answer.AnswererFunc(func(context.Context, *answer.Request) (*mcp.ElicitResult, error) {
		asked++
		return &mcp.ElicitResult{Action: "accept"}, nil
	})
	cs := connect(t, s.URL, &answer.Options{Answerer: a})
	res, err = answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Ship"}, nil)
	return res, asked, err
}

const accepted = `{"action":"accept"}`

// What a server may do, and what becomes of it.
func TestTaskAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		get, update []string
		asked       int
		sent        string // all answers
		err         string // "" where the call ends well
	}{
		"no question":                   {get: []string{task("working", ""), completed}},
		"a restart":                     {get: []string{"503", "502", "-", "429", "html", "hang", `{"code":-32603,"message":"no database"}`, completed}},
		"one question":                  {get: []string{asks("a"), completed}, asked: 1, sent: "[{a}]"},
		"shown on every look":           {get: []string{asks("a"), asks("a"), task("working", ""), completed}, asked: 1, sent: "[{a}]"},
		"several, one after another":    {get: []string{asks("a", "b"), completed}, asked: 2, sent: "[{a} {b}]"},
		"a new key":                     {get: []string{asks("a"), asks("a#2"), completed}, asked: 2, sent: "[{a} {a#2}]"},
		"the reply lost":                {get: []string{asks("a"), completed}, update: []string{"-", "503", `{"resultType":"complete"}`}, asked: 1, sent: "[{a} {a} {a}]"},
		"only all at once":              {get: []string{asks("a", "b"), asks("a", "b"), asks("a", "b"), completed}, asked: 2, sent: "[{a} {b} {a b}]"},
		"refused, and ended":            {get: []string{asks("a"), completed}, update: []string{`{"code":-32602,"message":"too late"}`}, asked: 1, sent: "[{a}]"},
		"refused":                       {get: []string{asks("a")}, update: []string{`{"code":-32602,"message":"too long"}`}, asked: 1, sent: "[{a}]", err: `the server refused the answer to question "a": `},
		"the same for ever":             {get: []string{asks("a")}, asked: 1, err: "acknowledged the answer 7 times and keeps asking"},
		"another question of that key":  {get: []string{asks("a"), strings.Replace(asks("a"), "About", "Now about", 1)}, asked: 1, sent: "[{a}]", err: "a key is good for one"},
		"new keys for ever":             {err: "it asked 1000 questions without an end", asked: 1000},
		"a thousand keys":               {get: []string{asks(strings.Fields(strings.Repeat("k ", 1) + numbers(1000))...)}, err: "more than 100 questions"},
		"another task":                  {get: []string{strings.Replace(completed, "t1", "t2", 1)}, err: `it is of another task, "t2"`},
		"an unknown status":             {get: []string{task("paused", "")}, err: `its status is "paused"`},
		"no result":                     {get: []string{task("completed", "")}, err: "completed without a result"},
		"a result that asks":            {get: []string{task("completed", `,"result":{"resultType":"input_required"}`)}, err: `a result of type "input_required"`},
		"a broken result":               {get: []string{task("completed", `,"result":{"content":[{"type":"noise"}]}`)}, err: "its result: "},
		"no error":                      {get: []string{task("failed", "")}, err: "failed without a JSON-RPC error"},
		"no questions":                  {get: []string{task("input_required", "")}, err: "no inputRequests"},
		"twice the same":                {get: []string{task("completed", `,"result":{},"result":{}`)}, err: `two members "result"`},
		"nothing":                       {get: []string{`[]`}, err: "is no object"},
		"gone":                          {get: []string{task("working", ""), `{"code":-32602,"message":"Unknown task"}`}, err: "knows no such task"},
		"refused for good":              {get: []string{"401"}, err: "HTTP 401"},
		"a message of 10 MB":            {get: []string{task("cancelled", `,"statusMessage":"\u001b[2J`+strings.Repeat("no ", 10<<20/3)+`"`)}, err: "it was cancelled ([2Jno no "},
		"a key that is no author's":     {get: []string{asks("a", "a#2"), completed}, asked: 2, sent: "[{a} {a#2}]"},
		"an unsupported question first": {get: []string{strings.Replace(asks("a", "model"), "elicitation/create", "sampling/createMessage", 1)}, err: "sampling/createMessage"},
	} {
		t.Run(name, func(t *testing.T) {
			get := tt.get
			if name == "new keys for ever" {
				for i := range 1002 {
					get = append(get, asks(fmt.Sprint("a", i)))
				}
			}
			answer.SetTaskTimes(t, answer.TaskTimes{MinPoll: 2 * time.Millisecond})
			s := newHandServer(t, get...)
			if name == "a restart" {
				answer.SetTaskTimes(t, answer.TaskTimes{Request: 200 * time.Millisecond})
			}
			if tt.update != nil {
				s.replies["tasks/update"] = tt.update
			}
			res, asked, err := s.follow(t)
			if tt.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				if n, _ := res.StructuredContent.(json.RawMessage); text(t, res) != "done" || string(n) != `{"n":9007199254740993}` {
					t.Errorf("%+v", res)
				}
			} else {
				var e *answer.TaskError
				if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.err) || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\x1b") {
					t.Errorf("%.2000v", err)
				}
			}
			if asked != tt.asked {
				t.Errorf("asked %d times", asked)
			}
			sent := s.sent(t)
			for _, body := range sent {
				if strings.Count(body, accepted) != strings.Count(body, `":{`) {
					t.Errorf("sent %s", body)
				}
			}
			shown := strings.NewReplacer(`":`+accepted, "", `"`, "", ",", " ").Replace(fmt.Sprint(sent))
			if tt.sent != "" && shown != tt.sent {
				t.Errorf("sent %s, want %s", shown, tt.sent)
			}
			if s.names["tasks/get"] != "t1" || len(sent) > 0 && s.names["tasks/update"] != "t1" {
				t.Errorf("Mcp-Name: %q", s.names)
			}
		})
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d ", i)
	}
	return b.String()
}

// A server that stays away, or silent, is given up when that has lasted long enough, and the task is left. How often it was
// asked by then is the machine's to say: where it is slow, once.
func TestTaskServerStaysAway(t *testing.T) {
	const outage = 50 * time.Millisecond
	for _, reply := range []string{"503", "hang", "-"} {
		s := newHandServer(t, task("working", ""), reply)
		answer.SetTaskTimes(t, answer.TaskTimes{Request: 20 * time.Millisecond, Outage: outage})
		begun := time.Now()
		_, _, err := s.follow(t)
		var e *answer.TaskError
		if !errors.As(err, &e) || !e.Left() || e.Task.ID != "t1" || !strings.Contains(err.Error(), "the server could not be reached for ") {
			t.Errorf("%s: %v", reply, err)
		}
		if took := time.Since(begun); took < outage {
			t.Errorf("%s: given up after %v, want %v at least", reply, took, outage)
		}
	}
}

// A task that outlives the time its server gave it is given up; one that names none is looked at as long as the context lasts.
func TestTaskExpires(t *testing.T) {
	answer.SetTaskTimes(t, answer.TaskTimes{Grace: time.Millisecond})
	s := newHandServer(t, strings.Replace(task("working", ""), `"ttlMs":null`, `"ttlMs":1`, 1))
	_, _, err := s.follow(t)
	var e *answer.TaskError
	if !errors.Is(err, answer.ErrTaskExpired) || !errors.As(err, &e) || e.Left() {
		t.Errorf("%v", err)
	}

	s = newHandServer(t, task("working", ""))
	cs := connect(t, s.URL, nil)
	ctx, cancel := context.WithTimeout(testContext(t), 500*time.Millisecond)
	defer cancel()
	_, err = answer.CallTool(ctx, cs, &mcp.CallToolParams{Name: "Ship"}, nil)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || !e.Left() {
		t.Errorf("%v", err)
	}
	if n := s.count("tasks/get"); n == 0 || n > 5 { // No more than one in 100 ms, though the server wants one each.
		t.Errorf("%d looks", n)
	}
}

// The interval that the server names is kept to, within bounds.
func TestTaskPollInterval(t *testing.T) {
	for interval, want := range map[string]time.Duration{
		`0`: time.Second, `-5`: time.Second, `null`: time.Second, `"soon"`: time.Second, `0.001`: 100 * time.Millisecond, `99`: 100 * time.Millisecond,
		`250`: 250 * time.Millisecond, `5000`: 5 * time.Second, `1e300`: time.Hour, `9007199254740993`: time.Hour,
	} {
		s := newHandServer(t, strings.Replace(task("working", ""), `"pollIntervalMs":1`, `"pollIntervalMs":`+interval, 1))
		got, err := answer.GetTask(testContext(t), connect(t, s.URL, nil), "t1")
		if err != nil || got.PollInterval != want {
			t.Errorf("%s: %v, want %v; %v", interval, got.PollInterval, want, err)
		}
	}
}

// Cancelling survives a restart of the server, and says what it refused.
func TestCancelTask(t *testing.T) {
	s := newHandServer(t)
	s.replies["tasks/cancel"] = []string{"503", `{"resultType":"complete"}`, `{"code":-32021,"message":"declare it"}`}
	cs := connect(t, s.URL, nil)
	if err := answer.CancelTask(testContext(t), cs, "t1"); err != nil || s.names["tasks/cancel"] != "t1" {
		t.Errorf("%v", err)
	}
	var rpc *jsonrpc.Error
	if err := answer.CancelTask(testContext(t), cs, "t1"); !errors.As(err, &rpc) || rpc.Code != -32021 {
		t.Errorf("%v", err)
	}
	if body := s.bodies["tasks/cancel"][0]; !strings.Contains(body, `"extensions":{"io.modelcontextprotocol/tasks":{}}`) {
		t.Errorf("the extension is not declared: %s", body)
	}
}
