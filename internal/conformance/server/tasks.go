package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	confirmDelete = elicit.Confirm("confirm_delete", "Delete the file?").WithCheckbox("Delete it")
	firstInput    = elicit.NewFormQuestion("first", "What is the first name?", form.New(nameField))
	secondInput   = elicit.NewFormQuestion("second", "What is the second name?", form.New(nameField))
)

// addTasks adds the tools of the scenarios for the tasks extension.
func addTasks(s *elicit.Server) {
	tasks.Enable(s, tasks.Options{})
	// The first tool in the list is called by scenarios of other things, from clients that know no tasks.
	addTool(s, "about", "Says what this is.", about, tasks.Synchronous)
	elicit.AddTool(s, &mcp.Tool{Name: "greet", Description: "Greets."}, greet, tasks.Synchronous)
	elicit.AddTool(s, &mcp.Tool{Name: "slow_compute", Description: "Takes a while."}, slowCompute)
	elicit.AddTool(s, &mcp.Tool{Name: "confirm_delete", Description: "Asks, then deletes a file."}, deletesFile, elicit.Asks(confirmDelete), tasks.Required)
	addTool(s, "multi_input", "Asks two things at once.", asksTwo, elicit.Asks(firstInput, secondInput), tasks.Required)
	addTool(s, "failing_job", "Fails.", fails, tasks.Required)
	addTool(s, "protocol_error_job", "Fails with a JSON-RPC error.", failsBadly, tasks.Required)
	addTool(s, "test_tool_with_task", "Asks for a name, then works as a task.", asksThenWorks, elicit.Asks(userName), tasks.AtBegin)
}

func about(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return elicit.Text("The fixture of the conformance suite."), nil, nil
}

func greet(_ context.Context, _ *mcp.CallToolRequest, in struct {
	Name string `json:"name"`
}) (*mcp.CallToolResult, any, error) {
	return elicit.Text("Hello, " + in.Name + "!"), nil, nil
}

func slowCompute(ctx context.Context, _ *mcp.CallToolRequest, in struct {
	Seconds float64 `json:"seconds"`
	Label   string  `json:"label,omitempty"`
}) (*mcp.CallToolResult, any, error) {
	if err := work(ctx, time.Duration(in.Seconds*float64(time.Second))); err != nil {
		return nil, nil, err
	}
	return elicit.Text(fmt.Sprintf("%s: computed for %v seconds", in.Label, in.Seconds)), nil, nil
}

func work(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func deletesFile(ctx context.Context, _ *mcp.CallToolRequest, in struct {
	Filename string `json:"filename"`
}) (*mcp.CallToolResult, any, error) {
	yes, err := confirmDelete.WithMessagef("Delete %s?", in.Filename).Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(fmt.Sprintf("deleted %s: %t", in.Filename, yes)), nil, nil
}

func asksTwo(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	var first, second elicit.Answer[form.Values]
	if err := elicit.RequireAll(ctx, firstInput.Into(&first), secondInput.Into(&second)); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(first.Err(), second.Err()); err != nil {
		return nil, nil, err
	}
	return elicit.Text("Both are answered."), nil, nil
}

func fails(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if err := work(ctx, time.Second); err != nil {
		return nil, nil, err
	}
	return nil, nil, errors.New("the job failed")
}

func failsBadly(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the job broke"}
}

func asksThenWorks(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	values, err := userName.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := tasks.Begin(ctx); err != nil {
		return nil, nil, err
	}
	return elicit.Text("Worked for " + nameField.In(values) + "."), nil, nil
}
