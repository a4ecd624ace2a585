package tasks_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A stream is an open subscriptions/listen.
type stream struct {
	t      *testing.T
	events chan object
	close  func()
}

// listen opens a stream over HTTP.
func (i *instance) listen(user, filter string) *stream {
	i.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := i.request(user, capabilities, "subscriptions/listen", "", `"notifications":`+filter).WithContext(ctx)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatal(err)
	}
	s := &stream{i.t, make(chan object, 100), cancel}
	go func() {
		defer res.Body.Close()
		defer close(s.events)
		in := bufio.NewScanner(res.Body)
		for in.Scan() {
			data, ok := strings.CutPrefix(in.Text(), "data: ")
			if !ok && strings.HasPrefix(in.Text(), "{") { // one JSON body
				data, ok = in.Text(), true
			}
			if m := (object{}); ok && json.Unmarshal([]byte(data), &m) == nil {
				s.events <- m
			}
		}
	}()
	i.t.Cleanup(cancel)
	return s
}

func (s *stream) next() object {
	s.t.Helper()
	select {
	case m, ok := <-s.events:
		if !ok {
			s.t.Fatal("the stream has ended")
		}
		return m
	case <-time.After(20 * time.Second):
		s.t.Fatal("the stream says nothing")
	}
	return nil
}

// subscription is the id in a notification.
func subscription(m object) any {
	params, _ := m["params"].(object)
	meta, _ := params["_meta"].(object)
	return meta["io.modelcontextprotocol/subscriptionId"]
}

// until reads notifications of a task until one has the status.
func (s *stream) until(id, status string) object {
	s.t.Helper()
	for {
		m := s.next()
		params, _ := m["params"].(object)
		if m["method"] != "notifications/tasks" || params["taskId"] != id {
			s.t.Fatalf("got %v", m)
		}
		if subscription(m) != 7.0 {
			s.t.Errorf("the subscription id of %v is not the request's", m)
		}
		if params["status"] == status {
			return params
		}
	}
}

func TestListening(t *testing.T) {
	proceed := make(chan struct{})
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "ShipOrder", func(ctx context.Context) (string, error) {
			text, err := shipOrder(ctx)
			if err == nil {
				<-proceed
			}
			return text, err
		}, tasks.Required)
		addTool(s, "Breaks", func(context.Context) (string, error) {
			<-proceed
			return "", &jsonrpc.Error{Code: -32099, Message: "broken"}
		}, tasks.Required)
		addTool(s, "Waits", shipOrder, tasks.Required)
	})
	id, breaks, waits, bobs := i.create("ann", "ShipOrder", `{}`), i.create("ann", "Breaks", `{}`), i.create("ann", "Waits", `{}`), i.create("bob", "Waits", `{}`)
	i.until("ann", id, "input_required")
	i.until("ann", waits, "input_required")

	s := i.listen("ann", fmt.Sprintf(`{"taskIds":[%q,"never was",%q,%q]}`, id, bobs, id))
	ack := s.next()
	params := ack["params"].(object)
	agreed := params["notifications"].(object)["taskIds"]
	if ack["method"] != "notifications/subscriptions/acknowledged" || fmt.Sprint(agreed) != fmt.Sprintf("[%s]", id) || subscription(ack) != 7.0 {
		t.Fatalf("acknowledged: %v", ack)
	}
	task := s.until(id, "input_required")
	if now := i.get("ann", id); !sameTask(task, now) {
		t.Errorf("the notification says\n%v, tasks/get\n%v", task, now)
	}
	i.update("ann", id, `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`)
	s.until(id, "working")
	close(proceed)
	if task = s.until(id, "completed"); text(t, task) != "Shipped as 1Z999." || !sameTask(task, i.get("ann", id)) {
		t.Errorf("the notification says\n%v", task)
	}

	s = i.listen("ann", fmt.Sprintf(`{"taskIds":[%q]}`, waits))
	s.next()
	s.until(waits, "input_required")
	i.method("ann", "cancel", waits, "")
	s.until(waits, "cancelled")

	s = i.listen("ann", fmt.Sprintf(`{"taskIds":[%q]}`, breaks))
	s.next()
	if task = s.until(breaks, "failed"); task["error"].(object)["message"] != "broken" {
		t.Errorf("got %v", task)
	}
}

// sameTask reports whether a notification says what tasks/get does.
func sameTask(notified, got object) bool {
	a, b := object{}, object{}
	for k, v := range notified {
		if k != "_meta" {
			a[k] = v
		}
	}
	for k, v := range got {
		if k != "_meta" && k != "resultType" {
			b[k] = v
		}
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func TestListeningIsRefused(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	id := i.create("ann", "ShipOrder", `{}`)
	for _, c := range []struct {
		name, user, caps, filter string
		code                     int
	}{
		{"not declared", "ann", `{}`, fmt.Sprintf(`{"taskIds":[%q]}`, id), -32021},
		{"no list", "ann", capabilities, fmt.Sprintf(`{"taskIds":%q}`, id), -32602},
		{"no strings", "ann", capabilities, `{"taskIds":[1]}`, -32602},
		{"nobody", "nobody", capabilities, fmt.Sprintf(`{"taskIds":[%q]}`, id), -32603},
	} {
		a := i.do(i.request(c.user, c.caps, "subscriptions/listen", "", `"notifications":`+c.filter))
		if a.code() != c.code {
			t.Errorf("%s: got %s", c.name, a.body)
		}
		if c.code == -32021 && string(a.Error.Data) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}` {
			t.Errorf("%s: got %s", c.name, a.Error.Data)
		}
	}
	// What is not about tasks is as it was, and a stream may be about both.
	if a := i.do(i.request("ann", `{}`, "subscriptions/listen", "", `"notifications":{}`)); a.Error != nil || strings.Contains(a.body, "taskIds") {
		t.Errorf("got %s", a.body)
	}
	s := i.listen("ann", fmt.Sprintf(`{"toolsListChanged":true,"taskIds":[%q]}`, id))
	if ack := fmt.Sprint(s.next()); !strings.Contains(ack, "toolsListChanged:true") || !strings.Contains(ack, id) {
		t.Errorf("acknowledged: %s", ack)
	}
	s.until(id, "input_required")
	addTool(i.shop, "Another", shipOrder)
	if m := s.next(); m["method"] != "notifications/tools/list_changed" || subscription(m) != 7.0 {
		t.Errorf("got %v", m)
	}
}

// A change that another instance makes is seen, sooner or later.
func TestListeningToAnotherInstance(t *testing.T) {
	store := tasks.NewMemoryStore()
	add := func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) }
	one, two := start(t, tasks.Options{Store: store}, add), start(t, tasks.Options{Store: store}, add)
	id := one.create("ann", "ShipOrder", `{}`)
	s := two.listen("ann", fmt.Sprintf(`{"taskIds":[%q]}`, id))
	s.next()
	s.until(id, "input_required")
	one.update("ann", id, `{"ship":{"action":"decline"}}`)
	s.until(id, "completed")
}

func TestShutdownEndsStreams(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	id := i.create("ann", "ShipOrder", `{}`)
	i.until("ann", id, "input_required")
	s := i.listen("ann", fmt.Sprintf(`{"taskIds":[%q]}`, id))
	s.next()
	s.until(id, "input_required")
	if err := i.engine.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := s.next(); m["id"] != 7.0 || m["result"] == nil {
		t.Errorf("the stream ended with %v", m)
	}
}

func TestListeningOverStdio(t *testing.T) {
	i := start(t, tasks.Options{}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	p := i.stdio()
	send := func(id, method, params string) {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s},%s}}`, id, method, capabilities, params))
	}
	send("1", "tools/call", `"name":"ShipOrder","arguments":{}`)
	id, _ := p.response(1)["result"].(object)["taskId"].(string)
	send(`"listen 12345678901234567890"`, "subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q,"never was"]}`, id))
	ack := p.next()
	if ack["method"] != "notifications/subscriptions/acknowledged" || !strings.Contains(fmt.Sprint(ack), "taskIds:["+id+"]") || subscription(ack) != "listen 12345678901234567890" {
		t.Fatalf("acknowledged: %v", ack)
	}
	var statuses []string
	for !slices.Contains(statuses, "input_required") {
		m := p.next()
		if m["method"] != "notifications/tasks" || subscription(m) != "listen 12345678901234567890" {
			t.Fatalf("got %v", m)
		}
		statuses = append(statuses, m["params"].(object)["status"].(string))
	}
	send("2", "tasks/cancel", fmt.Sprintf(`"taskId":%q`, id))
	for !slices.Contains(statuses, "cancelled") {
		if m := p.next(); m["method"] == "notifications/tasks" {
			statuses = append(statuses, m["params"].(object)["status"].(string))
		}
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"listen 12345678901234567890"}}`)
	send("3", "tasks/get", fmt.Sprintf(`"taskId":%q`, id)) // the connection lives on
	p.response(3)
}

// reads counts what is read of a store.
type reads struct {
	tasks.Store
	n atomic.Int32
}

func (r *reads) Get(ctx context.Context, id string) (tasks.Row, error) {
	r.n.Add(1)
	return r.Store.Get(ctx, id)
}

// One request does not make many of the store, nor does a client that opens many streams.
func TestSecurity24ListeningIsBounded(t *testing.T) {
	store := &reads{Store: tasks.NewMemoryStore()}
	i := start(t, tasks.Options{Store: store}, func(s *elicit.Server) { addTool(s, "ShipOrder", shipOrder, tasks.Required) })
	ids := make([]string, 20_000)
	for n := range ids {
		ids[n] = fmt.Sprintf("%q", fmt.Sprint("UNKNOWN", n))
	}
	before := store.n.Load()
	i.do(i.request("ann", capabilities, "subscriptions/listen", "", `"notifications":{"taskIds":[`+strings.Join(ids, ",")+`]}`))
	if n := store.n.Load() - before; n > 200 {
		t.Errorf("one request reads %d rows", n)
	}

	id := i.create("ann", "ShipOrder", `{}`)
	i.until("ann", id, "input_required")
	filter := fmt.Sprintf(`{"taskIds":[%q]}`, id)
	var streams []*stream
	for range 100 {
		s := i.listen("ann", filter)
		s.next()
		streams = append(streams, s)
	}
	if a := i.do(i.request("ann", capabilities, "subscriptions/listen", "", `"notifications":`+filter)); a.code() != -32603 || !strings.Contains(a.body, "too many streams") {
		t.Errorf("got %s", a.body)
	}
	other := i.create("bob", "ShipOrder", `{}`)
	s := i.listen("bob", fmt.Sprintf(`{"taskIds":[%q]}`, other))
	s.next()
	s.until(other, "input_required")
	streams[0].close()
	eventually(t, func() bool {
		select {
		case _, open := <-streams[0].events:
			return !open
		default:
			return false
		}
	}, func() string { return "a stream does not end" })
	eventually(t, func() bool {
		s := i.listen("ann", filter)
		return s.next()["method"] == "notifications/subscriptions/acknowledged"
	}, func() string { return "a stream that has ended counts" })

	// A task that is finished is read no more.
	i.method("ann", "cancel", id, "")
	i.method("bob", "cancel", other, "")
	for _, s := range streams[1:] {
		s.until(id, "cancelled")
	}
	eventually(t, func() bool { return i.engine.Listened() == 0 }, func() string { return "finished tasks are looked at" })
}
