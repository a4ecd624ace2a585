package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var approve = elicit.Confirm("approve", "Deploy?")

// Release is what to deploy.
type Release struct {
	Version string `json:"version"`
}

// A deployment waits for a person, however long that takes, and does each host once.
func deploy(ctx context.Context, _ *mcp.CallToolRequest, in Release) (*mcp.CallToolResult, any, error) {
	if _, err := approve.WithMessagef("Deploy %s?", in.Version).Value(ctx); err != nil {
		return nil, nil, err
	}
	hosts := []string{"red", "green", "blue"}
	for n, host := range hosts {
		tasks.Status(ctx, fmt.Sprintf("%d of %d", n+1, len(hosts)))
		if _, err := elicit.Step(ctx, "deploy:"+host, func(context.Context) (bool, error) { return true, nil }); err != nil {
			return nil, nil, err
		}
	}
	return elicit.Text(in.Version + " is deployed."), nil, nil
}

func ExampleEnable() {
	ops := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "ops", Version: "1.0.0"}, nil), nil)
	engine := tasks.Enable(ops, tasks.Options{}) // in memory; tasks/sqlite and tasks/postgres keep them
	elicit.AddTool(ops, &mcp.Tool{Name: "Deploy"}, deploy, elicit.Asks(approve), tasks.Required)

	server := &http.Server{Addr: "localhost:5280", Handler: ops.Handler(nil)}
	stop := func(ctx context.Context) error { // when the process is told to end
		ended := make(chan error, 1)
		go func() { ended <- server.Shutdown(ctx) }()
		return errors.Join(engine.Shutdown(ctx), <-ended)
	}
	_ = stop
	log.Print(server.ListenAndServe())
}

// A person decides on the call; what follows takes long, and is a task.
func ExampleBegin() {
	_ = func(ctx context.Context, _ *mcp.CallToolRequest, in Release) (*mcp.CallToolResult, any, error) {
		if _, err := approve.Value(ctx); err != nil {
			return nil, nil, err
		}
		if err := tasks.Begin(ctx); err != nil {
			return nil, nil, err // the client has its handle; the handler begins again as a task
		}
		return elicit.Text(in.Version + " is deployed."), nil, nil
	}
}

// Clients that say so get tasks of a tool that others wait for.
func ExampleModeFunc() {
	_ = tasks.ModeFunc(func(_ context.Context, r *mcp.CallToolRequest) tasks.Mode {
		if r.Extra != nil && r.Extra.Header.Get("X-Batch") != "" {
			return tasks.Required
		}
		return tasks.Optional
	})
}

func ExampleRetryable() {
	err := fmt.Errorf("fetching the report: %w", tasks.Retryable(errors.New("503 Service Unavailable")))
	fmt.Println(err) // to the model, when no attempt is left
	// Output: fetching the report: 503 Service Unavailable
}
