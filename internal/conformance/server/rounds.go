//lint:file-ignore SA1019 The scenarios test sampling and roots, which are deprecated since 2026-07-28.

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The questions of the Multi Round-Trip scenarios. They name the keys and fields; the words are ours.
var (
	nameField    = form.String("name").Required()
	colorField   = form.String("color").Required()
	okField      = form.Bool("ok").Required()
	contextField = form.String("context").Required()

	userName    = elicit.NewFormQuestion("user_name", "What is your name?", form.New(nameField))
	userContext = elicit.NewFormQuestion("user_context", "What context should the prompt use?", form.New(contextField))
	confirm     = elicit.NewFormQuestion("confirm", "Please confirm", form.New(okField)).Bound()
	step1       = elicit.NewFormQuestion("step1", "Step 1: what is your name?", form.New(nameField)).Bound()
	step2       = elicit.NewFormQuestion("step2", "Step 2: what is your favourite colour?", form.New(colorField)).Bound()
	capital     = elicit.NewSampling("capital_question", sampling("What is the capital of France?"))
	greeting    = elicit.NewSampling("greeting", sampling("Greet the user."))
	roots       = elicit.NewRoots("client_roots")
)

func sampling(text string) *mcp.CreateMessageWithToolsParams {
	return &mcp.CreateMessageWithToolsParams{
		Messages:  []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: text}}}},
		MaxTokens: 100,
	}
}

// addRounds adds the tools and the prompt of the Multi Round-Trip scenarios.
func addRounds(s *elicit.Server) {
	addTool(s, "test_input_required_result_elicitation", "Asks for a name.", asksName, elicit.Asks(userName))
	addTool(s, "test_input_required_result_sampling", "Asks the client's model.", asksModel)
	addTool(s, "test_input_required_result_list_roots", "Asks for the client's roots.", asksRoots)
	addTool(s, "test_input_required_result_request_state", "Asks for a confirmation.", asksConfirmation)
	addTool(s, "test_input_required_result_tampered_state", "Asks for a confirmation.", asksConfirmation)
	addTool(s, "test_input_required_result_multiple_inputs", "Asks for three things at once.", asksThree)
	addTool(s, "test_input_required_result_multi_round", "Asks for two things, one after the other.", asksTwice)
	addTool(s, "test_input_required_result_capabilities", "Asks what the client can do.", asksWhatCanBe)
	addTool(s, "test_missing_capability", "Needs the client's model.", asksModel)
	addTool(s, "test_streaming_elicitation", "Reports its progress, then asks for a name.", reportsAndAsks, elicit.Asks(userName))

	elicit.AddPrompt(s, &mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for context."},
		func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			values, err := userContext.Value(ctx)
			if err != nil {
				return nil, err
			}
			return prompt(&mcp.TextContent{Text: "The context is " + contextField.In(values)}), nil
		}, elicit.Asks(userContext))
}

type handler = mcp.ToolHandlerFor[struct{}, any]

func addTool(s *elicit.Server, name, description string, h handler, opts ...elicit.ToolOption) {
	elicit.AddTool(s, &mcp.Tool{Name: name, Description: description}, h, opts...)
}

func asksName(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	values, err := userName.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text("Hello, " + nameField.In(values) + "!"), nil, nil
}

func asksModel(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, err := capital.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: answer.Content}, nil, nil
}

func asksRoots(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, err := roots.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(fmt.Sprintf("%d roots", len(answer.Roots))), nil, nil
}

func asksConfirmation(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	values, err := confirm.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(fmt.Sprintf("state-ok, confirmed: %t", okField.In(values))), nil, nil
}

func asksThree(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	var (
		name  elicit.Answer[form.Values]
		hello elicit.Answer[*mcp.CreateMessageWithToolsResult]
		paths elicit.Answer[*mcp.ListRootsResult]
	)
	if err := elicit.RequireAll(ctx, userName.Bound().Into(&name), greeting.Into(&hello), roots.Into(&paths)); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(name.Err(), hello.Err(), paths.Err()); err != nil {
		return nil, nil, err
	}
	return elicit.Text("All three are answered."), nil, nil
}

func asksTwice(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	first, err := step1.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	second, err := step2.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(nameField.In(first) + " likes " + colorField.In(second)), nil, nil
}

func asksWhatCanBe(ctx context.Context, req *mcp.CallToolRequest, in struct{}) (*mcp.CallToolResult, any, error) {
	switch {
	case userName.CanAsk(ctx):
		return asksName(ctx, req, in)
	case capital.CanAsk(ctx):
		return asksModel(ctx, req, in)
	}
	return elicit.Text("This client cannot be asked."), nil, nil
}

func reportsAndAsks(ctx context.Context, req *mcp.CallToolRequest, in struct{}) (*mcp.CallToolResult, any, error) {
	if err := report(ctx, req); err != nil {
		return nil, nil, err
	}
	return asksName(ctx, req, in)
}
