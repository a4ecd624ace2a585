package interop

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official client of the extension drives a task that asks, gets an answer which is not valid, and asks again.
func TestTypeScriptTasks(t *testing.T) {
	node := harness.Node(t)
	type shipment struct {
		TrackingNumber string `json:"trackingNumber" elicit:"minLength=5"`
	}
	ship := elicit.NewQuestion[shipment]("ship", "Ship this order")
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), nil)
	engine := tasks.Enable(shop, tasks.Options{PollInterval: 20 * time.Millisecond})
	defer engine.Shutdown(context.Background())
	handler := func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		s, err := ship.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		return elicit.Text("Shipped as " + s.TrackingNumber + "."), nil, nil
	}
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder"}, handler, elicit.Asks(ship), tasks.Required)
	elicit.AddTool(shop, &mcp.Tool{Name: "Now"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return elicit.Text("done"), nil, nil
	})
	server := httptest.NewServer(shop.Handler(nil))
	defer server.Close()

	drive := func(args ...string) (r struct {
		Kind     string
		Statuses []string
		Asked    []struct{ InputID, Message string }
		Status   string
		IsError  bool
		Text     string
	}) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, node, append([]string{filepath.Join(harness.NodeDir(), "tasks.mjs"), server.URL}, args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil {
			t.Fatalf("%v\n%s%s", err, out, &stderr)
		}
		return r
	}
	r := drive("ShipOrder", `{"trackingNumber":"1Z"}`, `{"trackingNumber":"1Z999"}`)
	if r.Kind != "task" || r.Status != "completed" || r.IsError || r.Text != "Shipped as 1Z999." {
		t.Errorf("got %+v", r)
	}
	if len(r.Asked) != 2 || r.Asked[0].InputID != "ship" || r.Asked[1].InputID != "ship#2" || r.Asked[0].Message != "Ship this order" || !strings.Contains(r.Asked[1].Message, "Tracking Number") {
		t.Errorf("asked %+v", r.Asked)
	}
	if !slices.Contains(r.Statuses, "input_required") || r.Statuses[len(r.Statuses)-1] != "completed" {
		t.Errorf("saw %v", r.Statuses)
	}
	if r := drive("Now"); r.Kind != "immediate" || r.Status != "completed" || r.Text != "done" {
		t.Errorf("got %+v", r)
	}
}
