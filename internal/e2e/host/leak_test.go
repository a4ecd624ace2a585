// Package host tests the HTTP host from outside: what it reads against another reader, and what hostile clients leave behind.
package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

const timeout = 30 * time.Second

// head and body are a call of a tool.
func head(tool string, length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\nContent-Length: %d\r\n\r\n", tool, length)
}

func body(tool, client string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, client)
}

// Clients that do not read, that send half of a request or one byte after the other, and that close half of their connection
// or all of it, leave nothing behind: no goroutine while the server goes on, and none, nor a session, when it is gone.
func TestHostileClientsLeaveNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	server := mcp.NewServer(&mcp.Implementation{Name: "host", Version: "1"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler), KeepAlive: 2 * time.Second})
	elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	add := func(name string, f func(context.Context, *mcp.CallToolRequest)) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f(ctx, r)
			return elicit.Text("done"), nil
		})
	}
	add("quick", func(context.Context, *mcp.CallToolRequest) {})
	add("wait", func(ctx context.Context, _ *mcp.CallToolRequest) { <-ctx.Done() })
	add("close", func(_ context.Context, r *mcp.CallToolRequest) { _ = r.Session.Close() })
	add("call", func(ctx context.Context, r *mcp.CallToolRequest) { _ = r.Session.Ping(ctx, nil) })
	add("stream", func(ctx context.Context, r *mcp.CallToolRequest) {
		for ctx.Err() == nil {
			if r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Message: strings.Repeat("x", 64<<10)}) != nil {
				return // the machine is so slow that the session's ping was not answered in time
			}
		}
	})
	func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		web := &http.Server{Handler: streamable.NewHandler(server, nil), ReadTimeout: 2 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
		go func() { _ = web.Serve(l) }()
		defer web.Close()
		dial := func() *net.TCPConn {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return nil
			}
			_ = c.SetDeadline(time.Now().Add(timeout))
			return c.(*net.TCPConn)
		}
		ask := func(tool string) {
			b := body(tool, "polite")
			for range 10 { // on a slow machine, our own requests may come too late, too
				c := dial()
				fmt.Fprint(c, strings.Replace(head(tool, len(b)), "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)+b)
				answer, err := io.ReadAll(c)
				c.Close()
				if len(answer) > 0 {
					if err != nil || !strings.Contains(string(answer), `"text":"done"`) {
						t.Errorf("%s: %v %s", tool, err, answer)
					}
					return
				}
			}
			t.Errorf("%s is not answered", tool)
		}
		ask("quick")
		ask("quick")
		var resting int
		settled(t, "goroutines rest", func() bool { n := runtime.NumGoroutine(); was := resting; resting = n; return n == was })

		hostile := map[string]func(c *net.TCPConn, client string){
			"says nothing": func(*net.TCPConn, string) {},
			"half a head":  func(c *net.TCPConn, _ string) { fmt.Fprint(c, head("quick", 10)[:60]) },
			"half a body":  func(c *net.TCPConn, s string) { b := body("quick", s); fmt.Fprint(c, head("quick", len(b))+b[:40]) },
			"half a body, half closed": func(c *net.TCPConn, s string) {
				b := body("quick", s)
				fmt.Fprint(c, head("quick", len(b))+b[:40])
				_ = c.CloseWrite()
			},
			"a body byte by byte": func(c *net.TCPConn, s string) { trickle(c, "quick", s) },
			"half closed while it waits": func(c *net.TCPConn, s string) {
				b := body("wait", s)
				fmt.Fprint(c, head("wait", len(b))+b)
				_ = c.CloseWrite()
				_, _ = io.ReadAll(c)
			},
			"gone while it waits": func(c *net.TCPConn, s string) { b := body("wait", s); fmt.Fprint(c, head("wait", len(b))+b); c.Close() },
			"gone in a stream": func(c *net.TCPConn, s string) {
				b := body("stream", s)
				fmt.Fprint(c, head("stream", len(b))+b)
				_, _ = c.Read(make([]byte, 1000))
				c.Close()
			},
			"half closed in a stream": func(c *net.TCPConn, s string) {
				b := body("stream", s)
				fmt.Fprint(c, head("stream", len(b))+b)
				_, _ = c.Read(make([]byte, 1000))
				_ = c.CloseWrite()
			},
			"many requests, reads none": func(c *net.TCPConn, s string) {
				b := body("quick", s)
				_ = c.SetDeadline(time.Now().Add(200 * time.Millisecond))
				fmt.Fprint(c, strings.Repeat(head("quick", len(b))+b, 2000))
			},
		}
		var wg sync.WaitGroup
		for what, f := range hostile {
			for i := range 10 {
				wg.Go(func() {
					c := dial()
					if c == nil {
						return
					}
					defer c.Close()
					f(c, fmt.Sprint("hostile", i%3))
					// The server ends the connection, at the latest when a request has not come in time.
					if !strings.HasPrefix(what, "gone") && what != "many requests, reads none" {
						_, _ = io.Copy(io.Discard, c)
					}
				})
			}
		}
		for range 20 { // others are served meanwhile
			ask("quick")
			ask("call")
			ask("close")
		}
		wg.Wait()
		// Three more clients have sessions that are kept, of three goroutines each at most.
		settled(t, "what is left", func() bool { return runtime.NumGoroutine() <= resting+3*3 })
	}()
	settled(t, "sessions of a handler that nobody has", func() bool {
		runtime.GC()
		return len(slices.Collect(server.Sessions())) == 0
	})
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

// trickle sends a request slower than the server waits.
func trickle(c *net.TCPConn, tool, client string) {
	b := body(tool, client)
	fmt.Fprint(c, head(tool, len(b)))
	for i := range b {
		if _, err := io.WriteString(c, b[i:i+1]); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// settled waits until a condition holds.
func settled(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(timeout); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%s: still not after %v\n%s", what, timeout, buf[:runtime.Stack(buf, true)])
		}
	}
}
