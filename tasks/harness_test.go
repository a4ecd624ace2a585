package tasks_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var secrets = [][]byte{[]byte("0123456789abcdef0123456789abcdef")}

// An instance is one process that serves a shop: with others on the same store, one of several.
type instance struct {
	t      *testing.T
	shop   *elicit.Server
	engine *tasks.Engine
	url    string
	dead   atomic.Bool
	log    *logBuffer
}

// start serves a shop with the tools that add adds. Who calls is in the header X-User.
func start(t *testing.T, o tasks.Options, add func(*elicit.Server)) *instance {
	t.Helper()
	i := &instance{t: t, log: &logBuffer{}}
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	i.shop = elicit.New(server, &elicit.Options{Secrets: secrets, Logger: slog.New(slog.NewTextHandler(i.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Principal: func(_ context.Context, x *mcp.RequestExtra) (elicit.Principal, error) {
			if x == nil {
				return elicit.Principal{}, nil
			}
			user := x.Header.Get("X-User")
			if user == "nobody" {
				return elicit.Principal{}, errors.New("unknown user")
			}
			return elicit.Principal{Subject: user}, nil
		}})
	if o.Store == nil {
		o.Store = tasks.NewMemoryStore()
	}
	o.Store = &mortal{o.Store, &i.dead}
	i.engine = tasks.Enable(i.shop, tasks.Fast(o))
	if add != nil {
		add(i.shop)
	}
	ts := httptest.NewServer(i.shop.Handler(nil))
	i.url = ts.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		ts.CloseClientConnections()
		_ = i.engine.Shutdown(ctx)
		ts.Close()
		if t.Failed() {
			t.Logf("log:\n%s", i.log)
		}
	})
	return i
}

// kill makes an instance end as a process does that is killed: nothing of it reaches the store any more.
func (i *instance) kill() { i.dead.Store(true) }

// mortal is a store that an instance reaches until it is dead.
type mortal struct {
	tasks.Store
	dead *atomic.Bool
}

var errDead = fmt.Errorf("the process is dead: %w", tasks.ErrUnavailable)

func (m *mortal) Create(ctx context.Context, r tasks.Row, n tasks.Next, l tasks.Limits) (tasks.Row, error) {
	if m.dead.Load() {
		return r, errDead
	}
	return m.Store.Create(ctx, r, n, l)
}

func (m *mortal) Get(ctx context.Context, id string) (tasks.Row, error) {
	if m.dead.Load() {
		return tasks.Row{}, errDead
	}
	return m.Store.Get(ctx, id)
}

func (m *mortal) Put(ctx context.Context, f *tasks.Fence, r tasks.Row, n tasks.Next) (tasks.Row, error) {
	if m.dead.Load() {
		return r, errDead
	}
	return m.Store.Put(ctx, f, r, n)
}

func (m *mortal) PutStep(ctx context.Context, f tasks.Fence, s tasks.Step) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.PutStep(ctx, f, s)
}

func (m *mortal) Claim(ctx context.Context, w string, n int) ([]tasks.Row, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	return m.Store.Claim(ctx, w, n)
}

func (m *mortal) Running(ctx context.Context, w string) ([]tasks.Running, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	return m.Store.Running(ctx, w)
}

func (m *mortal) Join(ctx context.Context, w string, d time.Duration) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Join(ctx, w, d)
}

func (m *mortal) Renew(ctx context.Context, w string, d time.Duration) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Renew(ctx, w, d)
}

func (m *mortal) Leave(ctx context.Context, w string) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Leave(ctx, w)
}

func (m *mortal) Sweep(ctx context.Context) (int, error) {
	if m.dead.Load() {
		return 0, errDead
	}
	return m.Store.Sweep(ctx)
}

// object is a JSON object.
type object = map[string]any

const capabilities = `{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// answered is a response, whole.
type answered struct {
	status int
	body   string
	Result object
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (a answered) code() int {
	if a.Error == nil {
		return 0
	}
	return a.Error.Code
}

// request is one of 2026-07-28.
func (i *instance) request(user, caps, method, name, params string) *http.Request {
	i.t.Helper()
	if params != "" {
		params = "," + params
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}%s}}`, method, caps, params)
	r, err := http.NewRequest("POST", i.url, strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	if user != "" {
		r.Header.Set("X-User", user)
	}
	return r
}

func (i *instance) do(r *http.Request) (a answered) {
	i.t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	a.status, a.body = res.StatusCode, string(b)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		s := bufio.NewScanner(bytes.NewReader(b))
		for s.Scan() {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok && !strings.Contains(data, `"method"`) {
				b = []byte(data)
			}
		}
	}
	if err := json.Unmarshal(b, &a); err != nil {
		i.t.Fatalf("%v in %s", err, b)
	}
	return a
}

// call calls a tool.
func (i *instance) call(user, tool, arguments string) answered {
	i.t.Helper()
	return i.do(i.request(user, capabilities, "tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)))
}

// create calls a tool, whose call becomes a task, and gives the id.
func (i *instance) create(user, tool, arguments string) string {
	i.t.Helper()
	a := i.call(user, tool, arguments)
	id, _ := a.Result["taskId"].(string)
	if a.Result["resultType"] != "task" || id == "" {
		i.t.Fatalf("%s became no task: %s", tool, a.body)
	}
	return id
}

// method calls a method of the extension.
func (i *instance) method(user, method, id, more string) answered {
	i.t.Helper()
	return i.do(i.request(user, capabilities, "tasks/"+method, id, fmt.Sprintf(`"taskId":%q%s`, id, more)))
}

func (i *instance) get(user, id string) object {
	i.t.Helper()
	a := i.method(user, "get", id, "")
	if a.Error != nil {
		i.t.Fatalf("tasks/get: %s", a.body)
	}
	return a.Result
}

// until polls a task until it has a status.
func (i *instance) until(user, id string, statuses ...string) object {
	i.t.Helper()
	var task object
	eventually(i.t, func() bool {
		task = i.get(user, id)
		for _, s := range statuses {
			if task["status"] == s {
				return true
			}
		}
		return false
	}, func() string { return fmt.Sprintf("the task is not %v but %v", statuses, task) })
	return task
}

// update sends answers, by the keys of the wire.
func (i *instance) update(user, id, responses string) {
	i.t.Helper()
	a := i.method(user, "update", id, `,"inputResponses":`+responses)
	if a.Error != nil || a.Result["resultType"] != "complete" || len(a.Result) > 2 {
		i.t.Fatalf("tasks/update: %s", a.body)
	}
}

// text is the text of a finished task's result.
func text(t *testing.T, task object) string {
	t.Helper()
	result, _ := task["result"].(object)
	content, _ := result["content"].([]any)
	if len(content) == 0 {
		t.Fatalf("no content: %v", task)
	}
	return content[0].(object)["text"].(string)
}

// keys are those of the open questions.
func keys(task object) (out []string) {
	requests, _ := task["inputRequests"].(object)
	for k := range requests {
		out = append(out, k)
	}
	return out
}

func eventually(t *testing.T, f func() bool, what func() string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatal(what())
}

// addTool adds a tool without arguments.
func addTool(s *elicit.Server, name string, f func(ctx context.Context) (string, error), opts ...elicit.ToolOption) {
	elicit.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		text, err := f(ctx)
		if err != nil {
			return nil, nil, err
		}
		return elicit.Text(text), nil, nil
	}, opts...)
}

// stdio connects a client over pipes.
func (i *instance) stdio() *pipe {
	i.t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = i.shop.Run(ctx, &mcp.IOTransport{Reader: inR, Writer: outW})
	}()
	p := &pipe{t: i.t, in: bufio.NewWriter(inW), out: make(chan object, 100)}
	go func() {
		s := bufio.NewScanner(outR)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			var m object
			if json.Unmarshal(s.Bytes(), &m) == nil {
				p.out <- m
			}
		}
	}()
	i.t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
		<-done
	})
	return p
}
