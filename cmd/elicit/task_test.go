package main

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// taskShop is a server whose tools run as tasks.
func taskShop(t *testing.T) string {
	t.Helper()
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	engine := tasks.Enable(shop, tasks.Options{PollInterval: 100 * time.Millisecond})
	tracking := form.String("trackingNumber").MinLength(4).Required()
	ship := elicit.NewFormQuestion("ship", "Ship this order", form.New(tracking))
	add := func(name string, f func(context.Context) (string, error), opts ...elicit.ToolOption) {
		elicit.AddTool(shop, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			text, err := f(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text(text), nil, nil
		}, append(opts, tasks.Required)...)
	}
	add("Ship", func(ctx context.Context) (string, error) {
		values, err := ship.Value(ctx)
		if err != nil {
			return "", err
		}
		return "shipped as " + tracking.In(values), nil
	}, elicit.Asks(ship))
	add("Fail", func(context.Context) (string, error) { return "", context.Canceled })
	add("Break", func(context.Context) (string, error) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the job broke"}
	})
	add("Wait", func(ctx context.Context) (string, error) {
		tasks.Status(ctx, "3 of 10")
		<-ctx.Done()
		return "", ctx.Err()
	})
	s := httptest.NewServer(shop.Handler(nil))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = engine.Shutdown(ctx)
	})
	return s.URL
}

var taskLine = regexp.MustCompile(`elicit task wait (http://\S+) (\S+)`)

// taskID is the id that a command told.
func (o outcome) taskID(t *testing.T, url string) string {
	t.Helper()
	m := taskLine.FindStringSubmatch(o.err)
	if m == nil || m[1] != url {
		t.Fatalf("stderr does not say how to go on:\n%s", o.err)
	}
	return m[2]
}

func TestTask(t *testing.T) {
	url := taskShop(t)
	try(t, "call", url, "Ship", "--answer", "ship.trackingNumber=1Z999").want(t, exitOK, "shipped as 1Z999\n", "Ship is task ")
	try(t, "call", url, "Fail").want(t, exitToolError, "", "Fail reported an error: ")
	try(t, "call", url, "Break").want(t, exitServer, "", "the job broke")

	// What nobody answers stays open, for another process.
	o := try(t, "call", url, "Ship")
	o.want(t, exitUnanswered, "", "--answer ship.trackingNumber=VALUE", "to go on with it: elicit task wait ")
	id := o.taskID(t, url)
	o = try(t, "task", "get", url, id)
	for _, line := range []string{"status:   input_required\n", "asks:     ship: Ship this order\n", "ship.trackingNumber, required\n", "created:  20", "expires:  20"} {
		if !strings.Contains(o.out, line) || o.code != exitOK {
			t.Errorf("exit %d; no %q in\n%s", o.code, line, o.out)
		}
	}
	if o = try(t, "task", "get", url, id, "--json"); o.code != exitOK || !strings.Contains(o.out, `"status": "input_required"`) || !strings.Contains(o.out, `"inputRequests": {`) {
		t.Errorf("%+v", o)
	}
	try(t, "task", "wait", url, id).want(t, exitUnanswered, "", "task "+id+" asks \"Ship this order\"")
	try(t, "task", "wait", url, id, "--answer", "ship.trackingNumber=1").want(t, exitUnanswered, "", "trackingNumber")
	try(t, "task", "wait", url, id, "--answer", "ship.trackingNumber=1Z998").want(t, exitOK, "shipped as 1Z998\n")
	o = try(t, "task", "wait", url, id, "--json")
	if o.code != exitOK || !strings.Contains(o.out, `"text": "shipped as 1Z998"`) {
		t.Errorf("%+v", o)
	}
	if o = try(t, "task", "get", url, id); !strings.Contains(o.out, "status:   completed\n") || !strings.Contains(o.out, "result:   shipped as 1Z998\n") {
		t.Errorf("%+v", o)
	}

	// Declined by the author's key.
	o = try(t, "call", url, "Ship", "--decline", "ship")
	if o.code != exitToolError {
		t.Errorf("%+v", o)
	}

	// Asked by the command at a terminal.
	typed(t, "f\n1Z997\ns\n", "call", url, "Ship").want(t, exitOK, "shipped as 1Z997\n", "Tracking Number")

	// Time runs out, the task does not.
	o = try(t, "call", url, "Wait", "--timeout", "2s")
	o.want(t, exitServer, "", "elicit: 3 of 10", "the server did not finish within 2s", "to go on with it: ")
	id = o.taskID(t, url)
	try(t, "task", "cancel", url, id).want(t, exitOK, "cancelled\n")
	try(t, "task", "wait", url, id).want(t, exitToolError, "", "it was cancelled")
	try(t, "task", "cancel", url, id).want(t, exitOK, "cancelled\n")

	for _, verb := range []string{"get", "wait", "cancel"} {
		try(t, "task", verb, url, "no-such").want(t, exitServer, "", "the server knows no such task")
		try(t, "task", verb, url).want(t, exitUsage, "", "which task?")
		try(t, "task", verb, "no-such").want(t, exitUsage, "", `"no-such" stands where the URL of the server does`)
		try(t, "task", verb, "nowhere", "x").want(t, exitUsage, "", "is not an http or https URL")
	}
	try(t, "task").want(t, exitUsage, "", "expected one of")
}

// The command that goes on takes the credentials from where they were taken, and shows none.
func TestTaskResumeCommand(t *testing.T) {
	t.Setenv("SHOP_TOKEN", "s3cret")
	url := taskShop(t)
	o := try(t, "call", url, "Ship", "--token-env", "SHOP_TOKEN", "--header", "X-Key: hidden")
	o.want(t, exitUnanswered, "", " --token-env SHOP_TOKEN --header 'X-Key: …'")
	if strings.Contains(o.err, "s3cret") || strings.Contains(o.err, "hidden") {
		t.Errorf("a credential is shown:\n%s", o.err)
	}
}

// A tool that runs as a task only is no fault of its server.
func TestCheckTaskOnly(t *testing.T) {
	o := try(t, "check", taskShop(t), "Ship")
	if o.code != exitOK || strings.Contains(o.out, "should") || strings.Count(o.out, "the tool runs as a task only") != 2 {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.err)
	}
}
