package tasks_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What an author gives to tasks may panic: the log is told where, the client that something failed, and the process lives.
func TestPanicsOfTheAuthorsFunctions(t *testing.T) {
	for _, transport := range []string{"express", "SDK", "stdio"} {
		t.Run(transport, func(t *testing.T) {
			var in atomic.Value
			may := func(name string) {
				if in.Load() == name {
					panic("secret detail")
				}
			}
			i := &instance{t: t, log: &logBuffer{}}
			server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
			i.shop = elicit.New(server, &elicit.Options{Secrets: secrets, Logger: slog.New(slog.NewTextHandler(i.log, nil)),
				Principal: func(context.Context, *mcp.RequestExtra) (elicit.Principal, error) {
					may("Principal")
					return elicit.Principal{Subject: "ann"}, nil
				},
				Bind: func(context.Context, *mcp.RequestExtra) string { may("Bind"); return "" }})
			server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler { // around elicit's, within that of tasks
				return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
					if method == "subscriptions/listen" || tasks.ID(ctx) != "" {
						may("middleware")
					}
					return next(ctx, method, req)
				}
			})
			i.engine = tasks.Enable(i.shop, tasks.Fast(tasks.Options{Authorize: func(context.Context, elicit.Principal, string) error { may("Authorize"); return nil }}))
			defer func() {
				if err := i.engine.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			done := func(context.Context) (string, error) { return "done", nil }
			addTool(i.shop, "Work", done, tasks.Required)
			addTool(i.shop, "Depends", done, tasks.ModeFunc(func(context.Context, *mcp.CallToolRequest) tasks.Mode { may("ModeFunc"); return tasks.Required }))
			proceed := make(chan struct{})
			sure := elicit.Confirm("sure", "Sure?").Bound()
			addTool(i.shop, "AsksSoon", func(ctx context.Context) (string, error) {
				in.Store("Bind") // not when it came, but when the state of the next round is bound
				_, err := sure.Value(ctx)
				return "done", err
			}, tasks.Optional)
			addTool(i.shop, "Waits", func(context.Context) (string, error) { <-proceed; return "done", nil }, tasks.Required)
			var send func(method, name, params string) string
			if transport == "stdio" {
				p, n := i.stdio(), 0
				send = func(method, _, params string) string {
					n++
					p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s},%s}}`, n, method, capabilities, params))
					return fmt.Sprint(p.response(n))
				}
			} else {
				wire.NoExpress = transport == "SDK"
				ts := httptest.NewServer(i.shop.Handler(nil))
				wire.NoExpress = false
				defer ts.Close()
				i.url = ts.URL
				send = func(method, name, params string) string {
					a := i.do(i.request("", capabilities, method, name, params))
					if a.Error != nil {
						return fmt.Sprint(object{"error": object{"code": a.code(), "message": a.Error.Message}})
					}
					return fmt.Sprint(a.Result)
				}
			}
			call := func(tool string) string {
				return send("tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":{}`, tool))
			}
			id := func(created string) string {
				_, rest, _ := strings.Cut(created, "taskId:")
				id, _, _ := strings.Cut(rest, " ")
				return strings.TrimRight(id, "]")
			}
			failed := func(what, got string, logged int) {
				t.Helper()
				if !strings.Contains(got, "code:-32603") || !strings.Contains(got, "message:internal error") || strings.Contains(got, "secret") {
					t.Errorf("%s: %s", what, got)
				}
				if log := i.log.String()[logged:]; !strings.Contains(log, "secret detail") || !strings.Contains(log, ".go:") {
					t.Errorf("%s: the log has no stack: %s", what, log)
				}
			}
			fails := func(where, what string, f func() string) {
				t.Helper()
				before := len(i.log.String())
				in.Store(where)
				got := f()
				in.Store("")
				failed(where+" in "+what, got, before)
			}
			ends := func(id string) (task string) {
				t.Helper()
				eventually(t, func() bool {
					task = send("tasks/get", id, fmt.Sprintf(`"taskId":%q`, id))
					return strings.Contains(task, "status:failed") || strings.Contains(task, "status:completed")
				}, func() string { return task })
				return task
			}

			waits := id(call("Waits"))
			fails("ModeFunc", "tools/call", func() string { return call("Depends") })
			fails("", "a call whose Bind panics when its handler has returned", func() string { return call("AsksSoon") })
			for _, where := range []string{"Principal", "Bind"} {
				fails(where, "tools/call", func() string { return call("Work") })
				for _, method := range []string{"get", "update", "cancel"} {
					fails(where, method, func() string {
						return send("tasks/"+method, waits, fmt.Sprintf(`"taskId":%q,"inputResponses":{}`, waits))
					})
				}
			}
			for _, where := range []string{"Principal", "Bind", "middleware"} {
				fails(where, "listen", func() string {
					return send("subscriptions/listen", "", fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, waits))
				})
			}
			for _, where := range []string{"Authorize", "middleware"} {
				fails(where, "a run", func() string { return ends(id(call("Work"))) })
			}
			close(proceed)
			if got := ends(waits); !strings.Contains(got, "status:completed") {
				t.Errorf("a task that had nothing to do with it: %s", got)
			}
			if got := ends(id(call("Depends"))); !strings.Contains(got, "status:completed") {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}
