package streamable_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const withToken = metaBoth + `,"progressToken":"p"`

func wantStream(t *testing.T, x *exchange) {
	t.Helper()
	h := x.res.Header
	if x.res.StatusCode != 200 || !strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("got status %d, %s", x.res.StatusCode, h.Get("Content-Type"))
	}
	if h.Get("X-Accel-Buffering") != "no" {
		t.Errorf("X-Accel-Buffering is %q", h.Get("X-Accel-Buffering"))
	}
}

func wantProgress(t *testing.T, event any, token any, progress string) {
	t.Helper()
	if at(event, "method") != "notifications/progress" || at(event, "params", "progressToken") != token || at(event, "params", "progress") != json.Number(progress) {
		t.Errorf("got %v, want progress %s of %v", event, progress, token)
	}
	if _, has := event.(map[string]any)["id"]; has {
		t.Errorf("a notification with an id: %v", event)
	}
}

func wantEnd(t *testing.T, x *exchange) {
	t.Helper()
	if e, ok := x.event(); ok {
		t.Errorf("after the response came %s", e)
	}
}

// "JSON until a handler reports progress or logs, then SSE."
func TestProgressStreams(t *testing.T) {
	s := newSite(t, nil)
	x := open(t, s.addr, tool("progress", "").withMeta(withToken))
	wantStream(t, x)
	wantProgress(t, x.mustEvent(), "p", "1")
	wantProgress(t, x.mustEvent(), "p", "2")
	e := x.mustEvent()
	content, _ := at(e, "result", "content").([]any)
	if at(e, "id") != json.Number("1") || at(e, "result", "resultType") != "complete" || len(content) != 1 || at(content[0], "text") != "done" {
		t.Errorf("the response is %v", e)
	}
	wantEnd(t, x)
}

func TestWithoutProgressJSON(t *testing.T) {
	s := newSite(t, nil)
	wantText(t, do(t, s.addr, echo().withMeta(withToken)), `echo {"x":1}`)
	wantText(t, do(t, s.addr, tool("log", "")), "done") // nobody asked for logs
	wantText(t, do(t, s.addr, tool("log", "").withMeta(metaBoth+`,"io.modelcontextprotocol/logLevel":"error"`)), "done")
}

// The token comes back as the client wrote it.
func TestProgressToken(t *testing.T) {
	s := newSite(t, nil)
	for _, token := range []string{`"p"`, `"ü<&>"`, `7`, `0`, `-1`} {
		t.Run(token, func(t *testing.T) {
			x := open(t, s.addr, tool("progress", "").withMeta(metaBoth+`,"progressToken":`+token))
			wantStream(t, x)
			wantProgress(t, x.mustEvent(), decode(t, token), "1")
		})
	}
}

func TestLogsStream(t *testing.T) {
	s := newSite(t, nil)
	x := open(t, s.addr, tool("log", "").withMeta(metaBoth+`,"io.modelcontextprotocol/logLevel":"info"`))
	wantStream(t, x)
	e := x.mustEvent()
	if at(e, "method") != "notifications/message" || at(e, "params", "level") != "info" || at(e, "params", "data") != "packing" {
		t.Errorf("got %v", e)
	}
	if at(x.mustEvent(), "result", "resultType") != "complete" {
		t.Error("the response is no result")
	}
	wantEnd(t, x)
}

// "After SSE has begun, an error travels as the final event."
func TestErrorsAfterTheStreamBegan(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		tool string
		m    message
		want refusal
	}{
		{"progress_fail", tool("progress_fail", ""), refusal{0, "-32603", "1", []string{"the warehouse is closed"}}},
		{"progress_panic", tool("progress_panic", ""), refusal{0, "-32603", "1", nil}},
		{"progress_ask", tool("progress_ask", ""), refusal{0, "-32021", "1", []string{"elicitation"}}},
	} {
		t.Run(c.tool, func(t *testing.T) {
			meta := withToken
			if c.tool == "progress_ask" {
				meta = metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"`
			}
			x := open(t, s.addr, c.m.withMeta(meta))
			wantStream(t, x)
			wantProgress(t, x.mustEvent(), "p", "1")
			last, ok := x.event()
			if !ok {
				t.Fatal("there is no response")
			}
			wantErrorMessage(t, last, c.want)
			if strings.Contains(last, "secret") {
				t.Errorf("it tells of the panic: %s", last)
			}
			wantEnd(t, x)
		})
	}
	t.Run("asking", func(t *testing.T) {
		x := open(t, s.addr, tool("progress_ask", "").withMeta(withToken))
		wantStream(t, x)
		wantProgress(t, x.mustEvent(), "p", "1")
		if e := x.mustEvent(); at(e, "result", "resultType") != "input_required" {
			t.Errorf("the response is %v", e)
		}
		wantEnd(t, x)
	})
}

func TestKeepAlive(t *testing.T) {
	s := newSite(t, &streamable.Options{KeepAlive: 5 * time.Millisecond})
	x := open(t, s.addr, tool("progress_hold", "").withMeta(withToken))
	wantStream(t, x)
	wantProgress(t, x.mustEvent(), "p", "1")
	for comments := 0; comments < 3; {
		l, ok := x.line()
		if !ok {
			t.Fatal("the stream has ended")
		}
		switch {
		case strings.HasPrefix(l, ":"):
			comments++
		case l != "":
			t.Fatalf("got %q, want a comment", l)
		}
	}
	close(s.free)
	if at(x.mustEvent(), "result", "resultType") != "complete" {
		t.Error("the response is no result")
	}
	wantEnd(t, x)
}

// "A closed connection cancels the handler's context."
func TestClosedConnectionCancels(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		name string
		m    message
	}{
		{"tool", tool("wait", "")},
		{"with a big id", tool("wait", "").withID("9007199254740993")},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := send(t, s.addr, c.m)
			wait(t, "the handler runs", s.started)
			x.conn.Close()
			wait(t, "its context ends", s.ended)
		})
	}
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)
}

const listen = "subscriptions/listen"

func TestListen(t *testing.T) {
	for _, id := range []string{`1`, `"sub"`, `9007199254740993`} {
		t.Run(id, func(t *testing.T) {
			s := newSite(t, &streamable.Options{KeepAlive: 5 * time.Millisecond})
			sessions := func() int { return len(slices.Collect(s.server.Sessions())) }
			before := sessions()
			x := open(t, s.addr, request(listen, "", `"notifications":{"toolsListChanged":true}`).withID(id))
			wantStream(t, x)
			subscription := func(e any) any { return at(e, "params", "_meta", mcp.MetaKeySubscriptionID) }
			e := x.mustEvent()
			if at(e, "method") != "notifications/subscriptions/acknowledged" || at(e, "params", "notifications", "toolsListChanged") != true {
				t.Fatalf("the first event is %v", e)
			}
			if subscription(e) != decode(t, id) {
				t.Errorf("the subscription id is %v", subscription(e))
			}
			s.server.AddTool(&mcp.Tool{Name: "new", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return elicit.Text("new"), nil
			})
			e = x.mustEvent()
			if at(e, "method") != "notifications/tools/list_changed" || subscription(e) != decode(t, id) {
				t.Errorf("got %v", e)
			}
			// A quiet stream is kept alive.
			for l, ok := x.line(); !strings.HasPrefix(l, ":"); l, ok = x.line() {
				if !ok || l != "" {
					t.Fatalf("got %q, want a comment", l)
				}
			}
			x.conn.Close()
			for deadline := time.Now().Add(timeout); sessions() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("closing the connection does not end the subscription")
				}
			}
		})
	}
}

// The subscription's stream is no place for what belongs to a request.
func TestListenGetsNoProgressOfOthers(t *testing.T) {
	s := newSite(t, nil)
	x := open(t, s.addr, request(listen, "", `"notifications":{"toolsListChanged":true}`))
	x.mustEvent()
	y := open(t, s.addr, tool("progress", "").withMeta(withToken))
	for _, ok := y.event(); ok; _, ok = y.event() {
	}
	s.server.RemoveTools("log")
	if e := x.mustEvent(); at(e, "method") != "notifications/tools/list_changed" {
		t.Errorf("got %v", e)
	}
}

// One client's events and answers never show up in another's, however many there are at a time.
func TestConcurrentRequests(t *testing.T) {
	s := newSite(t, nil)
	const n = 16
	xs := make([]*exchange, n)
	for i := range xs {
		id, _ := json.Marshal(i)
		xs[i] = send(t, s.addr, tool("progress", "").withMeta(metaBoth+`,"progressToken":"p`+string(id)+`"`).withID(string(id)))
	}
	for i, x := range xs {
		id, _ := json.Marshal(i)
		x.begin()
		wantProgress(t, x.mustEvent(), "p"+string(id), "1")
		wantProgress(t, x.mustEvent(), "p"+string(id), "2")
		if e := x.mustEvent(); at(e, "id") != json.Number(id) {
			t.Errorf("request %d got %v", i, e)
		}
		wantEnd(t, x)
	}
}
