// Gosdk serves the benchmark's tools with the official Go SDK alone, stateless and in JSON (docs/server.md, "Multi
// Round-Trip Requests"; docs/protocol.md, "Streamable Transport"). Its schemas are built once, not in each call.
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/elicit-go/elicit/bench/internal/serve"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var ship = &mcp.ElicitParams{
	Mode:    "form",
	Message: "Ship this order",
	RequestedSchema: &jsonschema.Schema{
		Type:       "object",
		Properties: map[string]*jsonschema.Schema{"trackingNumber": {Type: "string", Title: "Tracking Number"}},
		Required:   []string{"trackingNumber"},
	},
}

var register = &mcp.ElicitParams{
	Mode:    "form",
	Message: "Register the sender",
	RequestedSchema: &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"firstName": {Type: "string", Title: "First Name"},
			"lastName":  {Type: "string", Title: "Last Name"},
			"email":     {Type: "string", Title: "Email", Format: "email"},
			"company":   {Type: "string", Title: "Company"},
			"street":    {Type: "string", Title: "Street"},
			"city":      {Type: "string", Title: "City"},
			"postcode":  {Type: "string", Title: "Postcode"},
			"country":   {Type: "string", Title: "Country", Enum: []any{"de", "fr", "uk", "us"}},
			"parcels":   {Type: "integer", Title: "Parcels", Minimum: new(1.0), Maximum: new(10.0)},
			"insured":   {Type: "boolean", Title: "Insured"},
		},
		Required: []string{"firstName", "lastName", "email", "company", "street", "city", "postcode", "country", "parcels", "insured"},
	},
}

type parcel struct {
	Note string `json:"note"`
}

func shipOrder[In any](_ context.Context, req *mcp.CallToolRequest, _ In) (*mcp.CallToolResult, any, error) {
	answer, ok := req.Params.InputResponses["ship"].(*mcp.ElicitResult)
	if !ok {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"ship": ship}}, nil, nil
	}
	if answer.Action != "accept" {
		return text("Shipping cancelled."), nil, nil
	}
	return text(fmt.Sprintf("Shipped as %v.", answer.Content["trackingNumber"])), nil, nil
}

func registerSender(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, ok := req.Params.InputResponses["sender"].(*mcp.ElicitResult)
	if !ok {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"sender": register}}, nil, nil
	}
	if answer.Action != "accept" {
		return text("Not registered."), nil, nil
	}
	return text(fmt.Sprintf("Registered %v %v.", answer.Content["firstName"], answer.Content["lastName"])), nil, nil
}

func track(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return text("Shipped as 1Z999."), nil, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func main() {
	serve.Main(func() http.Handler {
		server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
		mcp.AddTool(server, &mcp.Tool{Name: "ShipOrder", Description: "Asks for a tracking number, then ships."}, shipOrder[struct{}])
		mcp.AddTool(server, &mcp.Tool{Name: "ShipParcel", Description: "Asks for a tracking number, then ships with a note."}, shipOrder[parcel])
		mcp.AddTool(server, &mcp.Tool{Name: "Register", Description: "Asks for a sender in ten fields."}, registerSender)
		mcp.AddTool(server, &mcp.Tool{Name: "Track", Description: "Asks nothing."}, track)
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	})
}
