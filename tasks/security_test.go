package tasks_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Two users: to one of them the other's tasks are as those that never were, and those that have expired, byte for byte.
func TestSecurity24AnothersTaskIsAsNone(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	anns := i.create("ann", "ShipOrder", `{}`)
	i.until("ann", anns, "input_required")
	never := strings.Repeat("A", len(anns))
	short := start(t, tasks.Options{TTL: time.Millisecond}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	expired := short.create("bob", "ShipOrder", `{}`)
	eventually(t, func() bool { return short.method("bob", "get", expired, "").Error != nil }, func() string { return "it does not expire" })

	for method, more := range map[string]string{"get": "", "cancel": "", "update": `,"inputResponses":{"ship":{"action":"accept","content":{"trackingNumber":"stolen"}}}`} {
		foreign, unknown := i.method("bob", method, anns, more), i.method("bob", method, never, more)
		gone := short.method("bob", method, expired, more)
		if foreign.code() != -32602 || foreign.status != 400 {
			t.Errorf("tasks/%s: %d %s", method, foreign.status, foreign.body)
		}
		if foreign.body != unknown.body || foreign.body != gone.body || foreign.status != gone.status {
			t.Errorf("tasks/%s tells them apart:\nforeign %s\nunknown %s\nexpired %s", method, foreign.body, unknown.body, gone.body)
		}
	}
	ack := fmt.Sprint(i.listen("bob", fmt.Sprintf(`{"taskIds":[%q]}`, anns)).next())
	if none := fmt.Sprint(i.listen("bob", fmt.Sprintf(`{"taskIds":[%q]}`, never)).next()); ack != none || strings.Contains(ack, anns) {
		t.Errorf("subscriptions/listen tells them apart:\n%s\n%s", ack, none)
	}
	if task := i.get("ann", anns); task["status"] != "input_required" || len(keys(task)) != 1 {
		t.Errorf("another user has changed the task: %v", task)
	}
	want := i.method("bob", "get", never, "").body
	for _, id := range []string{"", "ä", "a b", strings.Repeat("x", 10_000)} {
		name := "=?base64?" + base64.StdEncoding.EncodeToString([]byte(id)) + "?="
		if a := i.do(i.request("bob", capabilities, "tasks/get", name, fmt.Sprintf(`"taskId":%q`, id))); a.body != want {
			t.Errorf("the id %.10q: %s", id, a.body)
		}
	}
	if a := i.do(i.request("nobody", capabilities, "tasks/get", anns, fmt.Sprintf(`"taskId":%q`, anns))); a.code() != -32603 || strings.Contains(a.body, anns) {
		t.Errorf("a caller of whom nobody can tell who they are: %s", a.body)
	}
	if strings.Contains(i.log.String(), anns) {
		t.Error("the log has an id")
	}
}

// The caller may no longer use the tool when the answer comes.
func TestSecurity24AccessIsRevokedBeforeTheRun(t *testing.T) {
	var revoked, down atomic.Bool
	var asked sync.Map
	i := start(t, tasks.Options{Authorize: func(_ context.Context, p elicit.Principal, tool string) error {
		asked.Store(p.Subject+" "+tool, true)
		switch {
		case revoked.Load():
			return errors.New("ann has left")
		case down.CompareAndSwap(true, false):
			return tasks.Retryable(errors.New("the directory is down"))
		}
		return nil
	}}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	id := i.create("ann", "ShipOrder", `{}`)
	i.until("ann", id, "input_required")
	revoked.Store(true)
	i.update("ann", id, `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`)
	task := i.until("ann", id, "failed")
	if e := task["error"].(object); e["code"] != -32603.0 || strings.Contains(fmt.Sprint(e), "left") {
		t.Errorf("got %v", e)
	}
	if _, ok := asked.Load("ann ShipOrder"); !ok {
		t.Error("nobody asked about ann and ShipOrder")
	}
	revoked.Store(false)
	down.Store(true) // which refuses nobody
	id = i.create("ann", "ShipOrder", `{}`)
	i.until("ann", id, "input_required")
}

// What a store holds: nothing that a person or a model entered can be read in it, or moved to another task.
func TestSecurity24RowsAreSealed(t *testing.T) {
	store := &spying{Store: tasks.NewMemoryStore(), rows: map[string]tasks.Row{}}
	add := func(s *elicit.Server) {
		elicit.AddTool(s, &mcp.Tool{Name: "Ship"}, func(ctx context.Context, _ *mcp.CallToolRequest, in struct {
			Order string `json:"order"`
		}) (*mcp.CallToolResult, any, error) {
			if _, err := elicit.Step(ctx, "price", func(context.Context) (string, error) { return "step-secret", nil }); err != nil {
				return nil, nil, err
			}
			tasks.Status(ctx, "status-secret")
			v, err := ship.WithMessagef("Ship %s?", in.Order).Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			if _, err := region.Value(ctx); err != nil {
				return nil, nil, err
			}
			return elicit.Text("result-secret " + v.TrackingNumber), nil, nil
		}, tasks.Required)
	}
	i := start(t, tasks.Options{Store: store}, add)
	id := i.create("ann", "Ship", `{"order":"argument-secret"}`)
	i.until("ann", id, "input_required")
	i.update("ann", id, `{"ship":{"action":"accept","content":{"trackingNumber":"answer-secret"}}}`)
	eventually(t, func() bool { return strings.Contains(fmt.Sprint(i.get("ann", id)), "region") }, func() string { return "it does not go on" })
	other := i.create("ann", "Ship", `{"order":"another"}`)
	i.until("ann", other, "input_required")

	// Another task's row, by somebody who can write to the database.
	mine, err := store.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := store.Get(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	theirs.Record = mine.Record
	if theirs, err = store.Put(t.Context(), nil, theirs, tasks.Next{}); err != nil {
		t.Fatal(err)
	}
	if a := i.method("ann", "get", other, ""); a.code() != -32603 || strings.Contains(a.body, "argument") {
		t.Errorf("a record that was moved opens: %s", a.body)
	}
	// The same row for another principal.
	stolen, err := store.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	stolen.Record = []byte(strings.Replace(string(stolen.Record), `"subject":"ann"`, `"subject":"bob"`, 1))
	if _, err := store.Put(t.Context(), nil, stolen, tasks.Next{}); err != nil {
		t.Fatal(err)
	}
	if a := i.method("ann", "get", id, ""); a.code() != -32603 {
		t.Errorf("a record opens for another principal: %s", a.body)
	}

	third := i.create("ann", "Ship", `{"order":"argument-secret"}`)
	i.until("ann", third, "input_required")
	i.update("ann", third, `{"ship":{"action":"accept","content":{"trackingNumber":"answer-secret"}}}`)
	eventually(t, func() bool { return strings.Contains(fmt.Sprint(i.get("ann", third)), "region") }, func() string { return "it does not go on" })
	i.update("ann", third, `{"region":{"action":"accept","content":{"input":"north"}}}`)
	i.until("ann", third, "completed")
	for _, secret := range []string{"argument-secret", "answer-secret", "step-secret", "status-secret", "result-secret"} {
		if store.saw(secret) {
			t.Errorf("the store was given %q in the clear", secret)
		}
		if strings.Contains(i.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	if !store.saw("ann") {
		t.Error("the spy sees nothing")
	}
}

// spying sees what a store is given.
type spying struct {
	tasks.Store
	mu   sync.Mutex
	all  strings.Builder
	rows map[string]tasks.Row
}

func (s *spying) see(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Write(b)
}

func (s *spying) saw(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.all.String(), text)
}

func (s *spying) Create(ctx context.Context, r tasks.Row, n tasks.Next, l tasks.Limits) (tasks.Row, error) {
	s.see(r.Record)
	return s.Store.Create(ctx, r, n, l)
}

func (s *spying) Put(ctx context.Context, f *tasks.Fence, r tasks.Row, n tasks.Next) (tasks.Row, error) {
	s.see(r.Record)
	return s.Store.Put(ctx, f, r, n)
}

func (s *spying) PutStep(ctx context.Context, f tasks.Fence, step tasks.Step) error {
	s.see(step.Result)
	return s.Store.PutStep(ctx, f, step)
}

// A run has what the record says of the caller: no token, no header, nobody's session.
func TestSecurity24ARunHasNoTokenAndNoHeaders(t *testing.T) {
	type seen struct {
		header http.Header
		token  *auth.TokenInfo
		client *mcp.InitializeParams
		task   string
	}
	got := make(chan seen, 10)
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	shop := elicit.New(server, nil)
	engine := tasks.Enable(shop, tasks.Fast(tasks.Options{AllowAnonymous: true}))
	defer engine.Shutdown(t.Context())
	addTool(shop, "Work", func(context.Context) (string, error) { return "done", nil }, tasks.Required)
	elicit.AddTool(shop, &mcp.Tool{Name: "Reports"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return elicit.Text("done"), nil, req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Progress: 1})
	}, tasks.Required)
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if r, ok := req.(*mcp.CallToolRequest); ok {
				got <- seen{r.Extra.Header, r.Extra.TokenInfo, r.Session.InitializeParams(), tasks.ID(ctx)}
			}
			return next(ctx, method, req)
		}
	})
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token, Scopes: []string{"ship"}, Expiration: time.Now().Add(time.Hour), Extra: object{"iss": "https://login.example.com", "private": "x"}}, nil
	}
	ts := httptest.NewServer(auth.RequireBearerToken(verify, nil)(shop.Handler(nil)))
	defer ts.Close()
	i := &instance{t: t, url: ts.URL, log: &logBuffer{}}
	r := i.request("", capabilities+`,"io.modelcontextprotocol/clientInfo":{"name":"agent","version":"2"},"progressToken":"p"`, "tools/call", "Work", `"name":"Work","arguments":{}`)
	r.Header.Set("Authorization", "Bearer ann")
	r.Header.Set("X-Tenant", "t1")
	id, _ := i.do(r).Result["taskId"].(string)
	if call := <-got; call.task != "" || call.header.Get("X-Tenant") != "t1" {
		t.Errorf("the call: %+v", call)
	}
	run := <-got
	if run.task != id || len(run.header) > 0 {
		t.Errorf("the run of %s: %+v", id, run)
	}
	if run.token == nil || run.token.UserID != "ann" || fmt.Sprint(run.token.Scopes) != "[ship]" || run.token.Extra["iss"] != "https://login.example.com" || run.token.Extra["private"] != nil || !run.token.Expiration.IsZero() {
		t.Errorf("what the token said: %+v", run.token)
	}
	if run.client == nil || run.client.ClientInfo.Name != "agent" || run.client.ProtocolVersion != "2026-07-28" {
		t.Errorf("the client: %+v", run.client)
	}

	// Nor does what it reports go anywhere.
	r = i.request("", capabilities, "tools/call", "Reports", `"name":"Reports","arguments":{}`)
	r.Header.Set("Authorization", "Bearer ann")
	id, _ = i.do(r).Result["taskId"].(string)
	eventually(t, func() bool {
		r := i.request("", capabilities, "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id))
		r.Header.Set("Authorization", "Bearer ann")
		return i.do(r).Result["status"] == "completed"
	}, func() string { return "it does not end" })
}

func TestSecurity24AnonymousTasks(t *testing.T) {
	add := func(s *elicit.Server) {
		addTool(s, "Work", func(context.Context) (string, error) { return "done", nil }, tasks.Required)
		addTool(s, "Slow", func(context.Context) (string, error) { time.Sleep(100 * time.Millisecond); return "done", nil })
	}
	i := start(t, tasks.Options{}, add)
	id := i.create("", "Work", `{}`) // on loopback
	i.until("", id, "completed")
	i.create("", "Slow", `{}`)

	proxied := func(r *http.Request) *http.Request { r.Header.Set("X-Forwarded-For", "192.0.2.1"); return r }
	if a := i.do(proxied(i.request("", capabilities, "tools/call", "Work", `"name":"Work","arguments":{}`))); a.code() != -32603 || !strings.Contains(i.log.String(), "AllowAnonymous") {
		t.Errorf("through a proxy: %s", a.body)
	}
	if a := i.do(proxied(i.request("", capabilities, "tools/call", "Slow", `"name":"Slow","arguments":{}`))); a.Result["resultType"] != "complete" {
		t.Errorf("through a proxy: %s", a.body)
	}
	if a := i.do(proxied(i.request("", capabilities, "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id)))); a.code() != -32602 {
		t.Errorf("through a proxy: %s", a.body)
	}
	if a := i.do(proxied(i.request("ann", capabilities, "tools/call", "Work", `"name":"Work","arguments":{}`))); a.Result["taskId"] == nil {
		t.Errorf("ann through a proxy: %s", a.body)
	}

	// On an address that is not loopback.
	w := httptest.NewRecorder()
	r := i.request("", capabilities, "tools/call", "Work", `"name":"Work","arguments":{}`)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}))
	i.shop.Handler(nil).ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "-32603") {
		t.Errorf("on a public address: %s", w.Body)
	}

	open := start(t, tasks.Options{AllowAnonymous: true}, add)
	if a := open.do(proxied(open.request("", capabilities, "tools/call", "Work", `"name":"Work","arguments":{}`))); a.Result["taskId"] == nil {
		t.Errorf("with AllowAnonymous: %s", a.body)
	}
}

func TestUndeclaredClients(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", shipOrder, tasks.Required)
		addTool(s, "Slow", func(context.Context) (string, error) { time.Sleep(100 * time.Millisecond); return "done", nil })
	})
	id := i.create("ann", "ShipOrder", `{}`)
	const without = `{"elicitation":{}}`
	for _, r := range []*http.Request{
		i.request("ann", without, "tools/call", "ShipOrder", `"name":"ShipOrder","arguments":{}`),
		i.request("ann", without, "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id)),
		i.request("ann", without, "tasks/cancel", id, fmt.Sprintf(`"taskId":%q`, id)),
		i.request("ann", without, "tasks/update", id, fmt.Sprintf(`"taskId":%q,"inputResponses":{}`, id)),
	} {
		if a := i.do(r); a.status != 400 || a.code() != -32021 || string(a.Error.Data) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}` {
			t.Errorf("%s: %d %s", r.Header.Get("Mcp-Method"), a.status, a.body)
		}
	}
	if a := i.do(i.request("ann", without, "tools/call", "Slow", `"name":"Slow","arguments":{}`)); a.Result["resultType"] != "complete" {
		t.Errorf("got %s", a.body)
	}
	for _, params := range []string{`"taskId":7`, `"other":1`, `"taskId":null`} {
		if a := i.do(i.request("ann", capabilities, "tasks/get", "7", params)); a.code() != -32602 || !strings.Contains(a.body, "taskId") {
			t.Errorf("%s: %s", params, a.body)
		}
	}
	for _, responses := range []string{`[]`, `null`, `"x"`} {
		if a := i.method("ann", "update", id, `,"inputResponses":`+responses); a.code() != -32602 {
			t.Errorf("inputResponses %s: %s", responses, a.body)
		}
	}
	for _, method := range []string{"tasks/result", "tasks/list"} {
		if a := i.do(i.request("ann", capabilities, method, id, fmt.Sprintf(`"taskId":%q`, id))); a.status != 404 || a.code() != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: %d %s", method, a.status, a.body)
		}
	}
	d := i.do(i.request("ann", capabilities, "server/discover", "", ""))
	if caps := fmt.Sprint(d.Result["capabilities"]); !strings.Contains(caps, "extensions:map[io.modelcontextprotocol/tasks:map[]") {
		t.Errorf("server/discover: %s", caps)
	}
}

// What elicit.Options.Bind adds, such as a tenant, binds a task as it binds a state.
func TestSecurity24AnotherTenantsTaskIsAsNone(t *testing.T) {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{
		Principal: func(context.Context, *mcp.RequestExtra) (elicit.Principal, error) {
			return elicit.Principal{Subject: "ann"}, nil
		},
		Bind: func(_ context.Context, x *mcp.RequestExtra) string { return x.Header.Get("X-Tenant") }})
	engine := tasks.Enable(shop, tasks.Fast(tasks.Options{}))
	defer engine.Shutdown(t.Context())
	addTool(shop, "ShipOrder", shipOrder, tasks.Required)
	ts := httptest.NewServer(shop.Handler(nil))
	defer ts.Close()
	i := &instance{t: t, url: ts.URL, log: &logBuffer{}}
	send := func(tenant, method, name, params string) answered {
		r := i.request("", capabilities, method, name, params)
		r.Header.Set("X-Tenant", tenant)
		return i.do(r)
	}
	id, _ := send("one", "tools/call", "ShipOrder", `"name":"ShipOrder","arguments":{}`).Result["taskId"].(string)
	if a := send("one", "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id)); a.Result["taskId"] != id {
		t.Errorf("its own tenant: %s", a.body)
	}
	never := strings.Repeat("A", len(id))
	if a, b := send("two", "tasks/get", id, fmt.Sprintf(`"taskId":%q`, id)), send("two", "tasks/get", never, fmt.Sprintf(`"taskId":%q`, never)); a.code() != -32602 || a.body != b.body {
		t.Errorf("another tenant: %s", a.body)
	}
}
