package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
)

var approve = elicit.Confirm("approve", "Deploy?")

// served is how many clients of the server create at once. Each waits for the disk, and they share its writes.
const served = 128

// engine measures a server over the store: what its clients see of it, over loopback.
func engine(s tasks.Store) (perSecond float64, gets, both latency) {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), &elicit.Options{Secrets: [][]byte{[]byte("0123456789abcdef0123456789abcdef")}, Logger: slog.New(slog.DiscardHandler)})
	e := tasks.Enable(shop, tasks.Options{Store: s, MaxPerPrincipal: -1, MaxTasks: limits.Total, TTL: time.Hour})
	elicit.AddTool(shop, &mcp.Tool{Name: "Deploy"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if _, err := approve.Value(ctx); err != nil {
			return nil, nil, err
		}
		return elicit.Text("Deployed."), nil, nil
	}, tasks.Required)
	ts := httptest.NewServer(shop.Handler(nil))
	defer ts.Close()
	defer func() { check(e.Shutdown(context.Background())) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: served}}

	post := func(method, name, params string) map[string]any {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, method, params)
		r, err := http.NewRequest("POST", ts.URL, strings.NewReader(body))
		check(err)
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
			r.Header.Set(k, v)
		}
		res, err := client.Do(r)
		check(err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		check(err)
		var x struct{ Result map[string]any }
		if err := json.Unmarshal(b, &x); err != nil || x.Result == nil {
			log.Fatalf("%s: %s", method, b)
		}
		return x.Result
	}
	get := func(id string) map[string]any { return post("tasks/get", id, fmt.Sprintf(`"taskId":%q`, id)) }

	var mu sync.Mutex
	var waiting []string
	var wg sync.WaitGroup
	start := time.Now()
	for range served {
		wg.Go(func() {
			for time.Since(start) < *seconds {
				id, _ := post("tools/call", "Deploy", `"name":"Deploy","arguments":{}`)["taskId"].(string)
				if id == "" {
					log.Fatal("a call became no task")
				}
				mu.Lock()
				waiting = append(waiting, id)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	perSecond = float64(len(waiting)) / time.Since(start).Seconds()
	for _, id := range waiting { // the last ones may still be on their way to their question
		for get(id)["status"] != "input_required" {
		}
	}
	for n := range 2000 {
		id := waiting[n*7919%len(waiting)]
		start := time.Now()
		x := get(id)
		gets = append(gets, time.Since(start))
		if x["status"] != "input_required" {
			log.Fatalf("a task that waits is %v", x)
		}
	}
	for _, id := range waiting[:min(500, len(waiting))] {
		start := time.Now()
		post("tasks/update", id, fmt.Sprintf(`"taskId":%q,"inputResponses":{"approve":{"action":"accept","content":{}}}`, id))
		x := get(id)
		for x["status"] != "completed" {
			time.Sleep(time.Millisecond) // the server and its database have two cores, and this client is on them too
			x = get(id)
		}
		both = append(both, time.Since(start))
		if b, _ := json.Marshal(x["result"]); !bytes.Contains(b, []byte("Deployed.")) {
			log.Fatalf("a task ended as %s", b)
		}
	}
	return perSecond, gets, both
}
