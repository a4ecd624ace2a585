// Mcpgo serves the benchmark's tools with github.com/mark3labs/mcp-go (its examples/multi_round_trip), stateless over
// Streamable HTTP. Its schemas are built once, not in each call.
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/elicit-go/elicit/bench/internal/serve"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var ship = mcp.ElicitationParams{
	Mode:    mcp.ElicitationModeForm,
	Message: "Ship this order",
	RequestedSchema: map[string]any{
		"type":       "object",
		"properties": map[string]any{"trackingNumber": map[string]any{"type": "string", "title": "Tracking Number"}},
		"required":   []string{"trackingNumber"},
	},
}

var register = mcp.ElicitationParams{
	Mode:    mcp.ElicitationModeForm,
	Message: "Register the sender",
	RequestedSchema: map[string]any{
		"type": "object",
		"properties": map[string]any{
			"firstName": map[string]any{"type": "string", "title": "First Name"},
			"lastName":  map[string]any{"type": "string", "title": "Last Name"},
			"email":     map[string]any{"type": "string", "title": "Email", "format": "email"},
			"company":   map[string]any{"type": "string", "title": "Company"},
			"street":    map[string]any{"type": "string", "title": "Street"},
			"city":      map[string]any{"type": "string", "title": "City"},
			"postcode":  map[string]any{"type": "string", "title": "Postcode"},
			"country":   map[string]any{"type": "string", "title": "Country", "enum": []string{"de", "fr", "uk", "us"}},
			"parcels":   map[string]any{"type": "integer", "title": "Parcels", "minimum": 1, "maximum": 10},
			"insured":   map[string]any{"type": "boolean", "title": "Insured"},
		},
		"required": []string{"firstName", "lastName", "email", "company", "street", "city", "postcode", "country", "parcels", "insured"},
	},
}

func shipOrder(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer := server.ElicitationResponse(request.Params.InputResponses, "ship")
	if answer == nil {
		return server.NewInputRequestBuilder("").Elicit("ship", ship).ToolResult(), nil
	}
	if answer.Action != mcp.ElicitationResponseActionAccept {
		return mcp.NewToolResultText("Shipping cancelled."), nil
	}
	content, _ := answer.Content.(map[string]any)
	return mcp.NewToolResultText(fmt.Sprintf("Shipped as %v.", content["trackingNumber"])), nil
}

func registerSender(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer := server.ElicitationResponse(request.Params.InputResponses, "sender")
	if answer == nil {
		return server.NewInputRequestBuilder("").Elicit("sender", register).ToolResult(), nil
	}
	if answer.Action != mcp.ElicitationResponseActionAccept {
		return mcp.NewToolResultText("Not registered."), nil
	}
	content, _ := answer.Content.(map[string]any)
	return mcp.NewToolResultText(fmt.Sprintf("Registered %v %v.", content["firstName"], content["lastName"])), nil
}

func track(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText("Shipped as 1Z999."), nil
}

func main() {
	serve.Main(func() http.Handler {
		s := server.NewMCPServer("shop", "1.0.0", server.WithToolCapabilities(true), server.WithElicitation())
		s.AddTool(mcp.NewTool("ShipOrder", mcp.WithDescription("Asks for a tracking number, then ships.")), shipOrder)
		s.AddTool(mcp.NewTool("ShipParcel", mcp.WithDescription("Asks for a tracking number, then ships with a note."),
			mcp.WithString("note", mcp.Required())), shipOrder)
		s.AddTool(mcp.NewTool("Register", mcp.WithDescription("Asks for a sender in ten fields.")), registerSender)
		s.AddTool(mcp.NewTool("Track", mcp.WithDescription("Asks nothing.")), track)
		return server.NewStreamableHTTPServer(s, server.WithStateLess(true))
	})
}
