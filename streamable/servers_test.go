package streamable_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Middleware that is added after the handler was made sees each request, on either path, and its panic is not the end of
// the server: the SDK runs it in a goroutine of its own.
func TestMiddlewareAddedLater(t *testing.T) {
	s := newSite(t, nil)
	warm(t, s)
	var mu sync.Mutex
	var seen []string
	boom := func(m message) message { m.meta += `,"boom":1`; return m }
	for _, name := range []string{"first", "second"} {
		s.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				mu.Lock()
				seen = append(seen, name+" "+method)
				mu.Unlock()
				if r, ok := req.(*mcp.CallToolRequest); ok && r.Params.Meta["boom"] != nil || method == "prompts/list" || method == "ping" {
					panic("secret of " + name)
				}
				return next(ctx, method, req)
			}
		})
		for _, m := range bothWays(echo()) {
			mu.Lock()
			seen = nil
			mu.Unlock()
			wantText(t, do(t, s.addr, m), `echo {"x":1}`)
			mu.Lock()
			if !slices.Contains(seen, name+" tools/call") {
				t.Errorf("%s saw %v", name, seen)
			}
			mu.Unlock()
		}
		for _, m := range append(bothWays(echo()), request("prompts/list", "", "")) {
			r := do(t, s.addr, boom(m))
			wantRefusal(t, r, refusal{500, "-32603", "1", nil})
			if strings.Contains(r.body, "secret") {
				t.Errorf("the client is told %s", r.body)
			}
		}
		id := openSession(t, s.addr, "2025-06-18", "{}")
		if r := do(t, s.addr, legacy("2025-06-18", id, "ping", "")); !strings.Contains(r.body, "-32603") || strings.Contains(r.body, "secret") {
			t.Errorf("an older client gets %d %s", r.status, r.body)
		}
		if logs := s.logs.String(); !strings.Contains(logs, "secret of "+name) {
			t.Errorf("the log does not tell the panic of %s: %s", name, logs)
		}
	}
}

// A handler that nobody has any more leaves nothing behind in its server: neither sessions nor what watches the tools.
func TestCollectedHandlerEndsItsSessions(t *testing.T) {
	s := newServer()
	func() {
		h := streamable.NewHandler(s.server, nil)
		for range 3 {
			if r := serveHere(h, echo()); r.status != 200 {
				t.Fatalf("%d %s", r.status, r.body)
			}
		}
	}()
	if n := len(slices.Collect(s.server.Sessions())); n == 0 {
		t.Fatal("the handler kept no sessions")
	}
	for end := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		n := len(slices.Collect(s.server.Sessions()))
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d sessions are left", n)
		}
	}
}

// A server of ten thousand tools is known after its first call, or when the machine has had the time.
func TestManyToolsAreKnown(t *testing.T) {
	s := newServer()
	for i := range 10_000 {
		mcp.AddTool(s.server, &mcp.Tool{Name: fmt.Sprint("other", i)}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
	}
	h := streamable.NewHandler(s.server, nil)
	// Two sessions: the one that watches, and the one that a call on the express path is given.
	for end := time.Now().Add(timeout); len(slices.Collect(s.server.Sessions())) != 2; {
		if r := serveHere(h, echo()); r.status != 200 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		if time.Now().After(end) {
			t.Fatal("no call took the express path")
		}
	}
}
