//lint:file-ignore SA1019 The scenarios test sampling, which is deprecated since 2026-07-28.

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	userField  = form.String("username").Description("The user's name").Required()
	emailField = form.Email("email").Description("The user's address").Required()
	person     = elicit.NewFormQuestion("person", "Who are you?", form.New(userField, emailField))

	ageField      = form.Int("age").Default(30)
	scoreField    = form.Number("score").Default(95.5)
	statusField   = form.Choice("status", form.Options("active", "inactive", "pending")...).Default("active")
	verifiedField = form.Bool("verified").Default(true)
	defaults      = elicit.NewFormQuestion("defaults", "Please review the defaults",
		form.New(form.String("name").Default("John Doe"), ageField, scoreField, statusField, verifiedField))
)

// addSessions adds the tools that the scenarios of older revisions ask through the client's session.
func addSessions(s *elicit.Server) {
	elicit.AddTool(s, &mcp.Tool{Name: "test_elicitation", Description: "Asks who the user is."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in struct {
			Message string `json:"message"`
		}) (*mcp.CallToolResult, any, error) {
			answer, err := person.WithMessagef("%s", in.Message).Require(ctx)
			if err != nil {
				return nil, nil, err
			}
			values, _ := answer.Value()
			return elicit.Text(fmt.Sprintf("%s %s <%s>", answer.Action(), userField.In(values), emailField.In(values))), nil, nil
		}, elicit.Asks(person))
	elicit.AddTool(s, &mcp.Tool{Name: "test_sampling", Description: "Asks the client's model."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in struct {
			Prompt string `json:"prompt"`
		}) (*mcp.CallToolResult, any, error) {
			answer, err := elicit.NewSampling("answer", sampling(in.Prompt)).Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: answer.Content}, nil, nil
		})
	addTool(s, "test_elicitation_sep1034_defaults", "Asks with a default for each kind of field.", asksDefaults)
	addTool(s, "test_elicitation_sep1330_enums", "Asks with each shape of choice.", asksChoices)
}

func asksDefaults(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	values, err := defaults.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(fmt.Sprintf("%d, %g, %s, %t", ageField.In(values), scoreField.In(values), statusField.In(values),
		verifiedField.In(values))), nil, nil
}

// asksChoices asks through the SDK: one of the shapes, enumNames, is deprecated, and elicit never produces it for a client
// of the revision that this scenario runs at.
func asksChoices(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please choose", RequestedSchema: json.RawMessage(`{
		"type": "object",
		"properties": {
			"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
			"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]},
			"legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
			"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
			"titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]}}
		}
	}`)})
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text("The user chose to " + answer.Action), nil, nil
}
