package elicit_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Require tells accepting, declining and closing apart.
func ExampleQuestion_Require() {
	backup := elicit.Confirm("backup", "Make a backup first?")
	upgrade := func(ctx context.Context) (string, error) {
		answer, err := backup.Require(ctx)
		if err != nil {
			return "", err // not answered yet, or cannot be
		}
		switch answer.Action() {
		case elicit.Accept:
			return "Upgraded, with a backup.", nil
		case elicit.Decline:
			return "Upgraded, without a backup.", nil
		default: // elicit.Cancel: closed without a choice
			return "Nothing done.", nil
		}
	}

	_, err := upgrade(inCall())
	fmt.Println(errors.Is(err, elicit.ErrAsking))
	fmt.Println(upgrade(inCall(elicittest.Accept(backup, true))))
	fmt.Println(upgrade(inCall(elicittest.Decline("backup"))))
	fmt.Println(upgrade(inCall(elicittest.Cancel("backup"))))
	// Output:
	// true
	// Upgraded, with a backup. <nil>
	// Upgraded, without a backup. <nil>
	// Nothing done. <nil>
}

// Value is for handlers to which a refusal is the end. Its error tells the model.
func ExampleQuestion_Value() {
	name := elicit.Input("name", "What is the project called?")
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Create"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			n, err := name.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text("Created " + n + "."), nil, nil
		}, elicit.Asks(name))

	play(shop, "Create", nil, elicittest.Accept(name, "Apollo"))
	play(shop, "Create", nil, elicittest.Decline("name"))
	// Output:
	// asks name: What is the project called?
	// Created Apollo.
	// asks name: What is the project called?
	// error: the user declined to answer "name"
}

// RequireAll asks several questions in one round, each of its own type.
func ExampleRequireAll() {
	type Machine struct {
		Nodes int `json:"nodes"`
	}
	machine := elicit.NewQuestion[Machine]("machine", "Which machine?")
	name := elicit.Input("name", "What is it called?")

	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Order"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			var m elicit.Answer[Machine]
			var n elicit.Answer[string]
			if err := elicit.RequireAll(ctx, machine.Into(&m), name.Into(&n)); err != nil {
				return nil, nil, err
			}
			want, ok := m.Value()
			if !ok {
				return nil, nil, m.Err()
			}
			called, ok := n.Value()
			if !ok {
				called = "unnamed"
			}
			return elicit.Text(fmt.Sprintf("%s has %d nodes.", called, want.Nodes)), nil, nil
		}, elicit.Asks(machine, name))

	play(shop, "Order", nil, elicittest.Accept(machine, Machine{3}), elicittest.Accept(name, "Apollo"))
	play(shop, "Order", nil, elicittest.Accept(machine, Machine{3}), elicittest.Decline("name"))
	// Output:
	// asks machine: Which machine?
	// asks name: What is it called?
	// Apollo has 3 nodes.
	// asks machine: Which machine?
	// asks name: What is it called?
	// unnamed has 3 nodes.
}

// Code that logs or counts errors leaves this one out.
func Example_errAsking() {
	name := elicit.Input("name", "What is the project called?")
	create := func(ctx context.Context) error {
		if _, err := name.Value(ctx); err != nil {
			return fmt.Errorf("creating a project: %w", err) // may be wrapped, with %w
		}
		return nil
	}
	if err := create(inCall()); err != nil && !errors.Is(err, elicit.ErrAsking) {
		fmt.Println("failed:", err)
	}
	if err := create(inCall(elicittest.Decline("name"))); err != nil && !errors.Is(err, elicit.ErrAsking) {
		fmt.Println("failed:", err)
	}
	// Output: failed: creating a project: the user declined to answer "name"
}

// A refusal can be told from other errors.
func ExampleRefusedError() {
	name := elicit.Input("name", "What is the project called?")
	_, err := name.Value(inCall(elicittest.Cancel("name")))
	if refused, ok := errors.AsType[*elicit.RefusedError](err); ok {
		fmt.Println(refused.Key, refused.Action == elicit.Cancel)
	}
	// Output: name true
}

// Answers that stay wrong end the call. The error names fields and rules, and never what was entered.
func ExampleInvalidAnswerError() {
	name := elicit.Input("name", "What is the project called?")
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Create"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			_, err := name.Value(ctx)
			return nil, nil, err
		}, elicit.Asks(name))

	tr := elicittest.Call(exampleT{}, shop.MCP(), "", "Create", nil, elicittest.Raw("name", map[string]any{"input": 1234}))
	fmt.Println(len(tr.Asked), "times; at last", tr.Asked[2].Message)
	fmt.Println(tr.Text())
	// Output:
	// 3 times; at last What is the project called?
	//
	// Answer must be text; you entered 1234.
	// no valid answer to "name" after 3 attempts: Answer must be text.
}

// A client that cannot show forms gets a tool error, if it is of an older revision.
func ExampleUnavailableError() {
	name := elicit.Input("name", "What is the project called?")
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Create"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			n, err := name.Value(ctx)
			if unavailable, ok := errors.AsType[*elicit.UnavailableError](err); ok {
				fmt.Println("cannot ask", unavailable.Key)
				n, err = "unnamed", nil // go on without
			}
			return elicit.Text("Created " + n + "."), nil, err
		})
	playAs("2025-03-26", shop, "Create", nil)
	// Output:
	// cannot ask name
	// Created unnamed.
}
