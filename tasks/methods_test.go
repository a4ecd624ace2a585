package tasks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods take the handler's express path, and what clients and middleware see of them is what they see through the
// SDK's handler.
func TestMethodsTakeTheExpressPath(t *testing.T) {
	proceed := make(chan struct{})
	defer close(proceed)
	i := start(t, tasks.Options{}, func(s *elicit.Server) {
		addTool(s, "Deploy", func(ctx context.Context) (string, error) {
			_, err := elicit.Confirm("approve", "Deploy?").Value(ctx)
			return "deployed", err
		}, tasks.Required)
		addTool(s, "Work", func(ctx context.Context) (string, error) {
			tasks.Status(ctx, "3 of 10")
			<-proceed
			return "", nil
		}, tasks.Required)
		addTool(s, "Fail", func(context.Context) (string, error) { panic("boom") }, tasks.Required)
	})
	var mu sync.Mutex
	var seen []string
	sessions := map[*mcp.ServerSession]bool{}
	i.shop.MCP().AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if strings.HasPrefix(method, "tasks/") {
				mu.Lock()
				defer mu.Unlock()
				sessions[req.GetSession().(*mcp.ServerSession)] = true
				meta := req.GetParams().GetMeta()
				seen = append(seen, fmt.Sprintf("%s %T %v %v %s %T %v", method, req, meta, req.GetExtra().TokenInfo, req.GetExtra().Header.Get("X-User"), res, err))
				meta["io.modelcontextprotocol/clientCapabilities"] = nil // its own
			}
			return res, err
		}
	})
	wire.NoExpress = true
	slow := httptest.NewServer(i.shop.Handler(nil))
	wire.NoExpress = false
	defer slow.Close()
	fast := i.url

	time := regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`)
	// ask makes a request and gives all that the client sees, and the middleware, but for ids and times.
	ask := func(method, id, more string, change func(*http.Request)) string {
		t.Helper()
		r := i.request("ann", capabilities, method, id, fmt.Sprintf(`"taskId":%q%s`, id, more))
		if change != nil {
			change(r)
		}
		mu.Lock()
		seen = nil
		mu.Unlock()
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		out := fmt.Sprintf("%d %s %s %s", res.StatusCode, res.Header.Get("Content-Type"), body, strings.Join(seen, "; "))
		return strings.ReplaceAll(time.ReplaceAllString(out, "TIME"), id, "ID")
	}
	deploy := func() string {
		id := i.create("ann", "Deploy", "{}")
		i.until("ann", id, "input_required")
		return id
	}
	work := func() string {
		id := i.create("ann", "Work", "{}")
		eventually(t, func() bool { return i.get("ann", id)["statusMessage"] == "3 of 10" }, func() string { return "no status" })
		return id
	}
	failed := func() string {
		id := i.create("ann", "Fail", "{}")
		i.until("ann", id, "failed")
		return id
	}
	done := func() string {
		id := deploy()
		i.update("ann", id, `{"approve":{"action":"accept","content":{}}}`)
		i.until("ann", id, "completed")
		return id
	}
	unknown := func() string { return "unknown" }
	const yes = `,"inputResponses":{"approve":{"action":"accept","content":{}}}`
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	body := func(old, new string) func(*http.Request) {
		return func(r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			b = []byte(strings.Replace(string(b), old, new, 1))
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(string(b))), int64(len(b))
		}
	}
	for _, x := range []struct {
		what, method string
		task         func() string
		more         string
		change       func(*http.Request)
		want         string
		refused      bool // before the middleware sees it
	}{
		{"get waiting", "tasks/get", deploy, "", nil, `"status":"input_required"`, false},
		{"get working", "tasks/get", work, "", nil, `"statusMessage":"3 of 10"`, false},
		{"get failed", "tasks/get", failed, "", nil, `"status":"failed"`, false},
		{"get completed", "tasks/get", done, "", nil, `"text":"deployed"`, false},
		{"get unknown", "tasks/get", unknown, "", nil, "Unknown or expired task", false},
		{"get another's", "tasks/get", deploy, "", header("X-User", "bob"), "Unknown or expired task", false},
		{"get of nobody", "tasks/get", deploy, "", header("X-User", "nobody"), `"error"`, false},
		{"get without the extension", "tasks/get", deploy, "", body(tasks.Extension, "other"), "-32021", false},
		{"get with more members", "tasks/get", deploy, `,"x":{"y":[1]},"name":"Deploy"`, nil, `"status":"input_required"`, false},
		{"get with a progress token", "tasks/get", deploy, "", body(`"_meta":{`, `"_meta":{"progressToken":7,`), `"status":"input_required"`, false},
		{"get with an id that is a number", "tasks/get", deploy, "", body(`"id":7`, `"id":123456789012345678`), `123456789012345678`, false},
		{"get of another name", "tasks/get", deploy, "", header("Mcp-Name", "other"), "Mcp-Name", true},
		{"get without a name", "tasks/get", deploy, "", func(r *http.Request) { r.Header.Del("Mcp-Name") }, "Mcp-Name", true},
		{"get with an id that is none", "tasks/get", deploy, "", body(`"taskId":"`, `"taskId":7,"x":"`), "taskId", true},
		{"get of an older revision", "tasks/get", deploy, "", body("2026-07-28", "2025-11-25"), `"error"`, true},
		{"update", "tasks/update", deploy, yes, nil, `"resultType":"complete"`, false},
		{"update of nothing open", "tasks/update", deploy, `,"inputResponses":{"other":{"action":"accept"}}`, nil, `"resultType":"complete"`, false},
		{"update without answers", "tasks/update", deploy, "", nil, "inputResponses", false},
		{"update of an ended task", "tasks/update", done, yes, nil, `"resultType":"complete"`, false},
		{"update of another's", "tasks/update", deploy, yes, header("X-User", "bob"), "Unknown or expired task", false},
		{"cancel", "tasks/cancel", deploy, "", nil, `"resultType":"complete"`, false},
		{"cancel of an ended task", "tasks/cancel", done, "", nil, `"resultType":"complete"`, false},
		{"cancel of another's", "tasks/cancel", deploy, "", header("X-User", "bob"), "Unknown or expired task", false},
	} {
		t.Run(x.what, func(t *testing.T) {
			first, second := x.task(), x.task()
			i.url = slow.URL
			want := ask(x.method, first, x.more, x.change)
			i.url = fast
			got := ask(x.method, second, x.more, x.change)
			if got != want {
				t.Errorf("on the express path\n%s\nthrough the SDK\n%s", got, want)
			}
			if !strings.Contains(got, x.want) || strings.Contains(got, "tasks/") == x.refused {
				t.Errorf("it is %s, without %s", got, x.want)
			}
		})
	}
	// It shares sessions, and the SDK's handler makes one for each request.
	id := deploy()
	for url, n := range map[string]int{fast: 1, slow.URL: 3} {
		i.url = url
		mu.Lock()
		clear(sessions)
		mu.Unlock()
		for range 3 {
			i.get("ann", id)
		}
		if len(sessions) != n {
			t.Errorf("3 requests had %d sessions, want %d", len(sessions), n)
		}
	}
}
