// Floor answers the benchmark's calls with net/http and encoding/json alone: it decodes what it needs, checks nothing
// else, and knows nothing of MCP. No server can be expected to cost less.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"

	"github.com/elicit-go/elicit/bench/internal/serve"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Params struct {
		Name           string            `json:"name"`
		Arguments      map[string]any    `json:"arguments"`
		InputResponses map[string]answer `json:"inputResponses"`
		Meta           map[string]any    `json:"_meta"`
	} `json:"params"`
}

type answer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

type asking struct {
	ResultType    string             `json:"resultType"`
	InputRequests map[string]*asked  `json:"inputRequests"`
	Meta          map[string]nameTag `json:"_meta"`
}

type asked struct {
	Method string `json:"method"`
	Params form   `json:"params"`
}

type form struct {
	Mode    string `json:"mode"`
	Message string `json:"message"`
	Schema  schema `json:"requestedSchema"`
}

type schema struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required"`
}

type field struct {
	Type    string   `json:"type"`
	Title   string   `json:"title"`
	Format  string   `json:"format,omitempty"`
	Enum    []string `json:"enum,omitempty"`
	Minimum *int     `json:"minimum,omitempty"`
	Maximum *int     `json:"maximum,omitempty"`
}

type complete struct {
	ResultType string             `json:"resultType"`
	Content    []content          `json:"content"`
	Meta       map[string]nameTag `json:"_meta"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type nameTag struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

var (
	meta = map[string]nameTag{"io.modelcontextprotocol/serverInfo": {"shop", "1.0.0"}}
	ship = &asked{"elicitation/create", form{"form", "Ship this order", schema{
		Type:       "object",
		Properties: map[string]field{"trackingNumber": {Type: "string", Title: "Tracking Number"}},
		Required:   []string{"trackingNumber"},
	}}}
	register = &asked{"elicitation/create", form{"form", "Register the sender", schema{
		Type: "object",
		Properties: map[string]field{
			"firstName": {Type: "string", Title: "First Name"},
			"lastName":  {Type: "string", Title: "Last Name"},
			"email":     {Type: "string", Title: "Email", Format: "email"},
			"company":   {Type: "string", Title: "Company"},
			"street":    {Type: "string", Title: "Street"},
			"city":      {Type: "string", Title: "City"},
			"postcode":  {Type: "string", Title: "Postcode"},
			"country":   {Type: "string", Title: "Country", Enum: []string{"de", "fr", "uk", "us"}},
			"parcels":   {Type: "integer", Title: "Parcels", Minimum: new(1), Maximum: new(10)},
			"insured":   {Type: "boolean", Title: "Insured"},
		},
		Required: []string{"firstName", "lastName", "email", "company", "street", "city", "postcode", "country", "parcels", "insured"},
	}}}
)

func call(r *request) any {
	switch r.Params.Name {
	case "ShipOrder", "ShipParcel":
		a, ok := r.Params.InputResponses["ship"]
		if !ok {
			return asking{"input_required", map[string]*asked{"ship": ship}, meta}
		}
		number, _ := a.Content["trackingNumber"].(string)
		return text("Shipped as " + number + ".")
	case "Register":
		a, ok := r.Params.InputResponses["sender"]
		if !ok {
			return asking{"input_required", map[string]*asked{"sender": register}, meta}
		}
		first, _ := a.Content["firstName"].(string)
		last, _ := a.Content["lastName"].(string)
		return text("Registered " + first + " " + last + ".")
	}
	return text("Shipped as 1Z999.")
}

func text(s string) complete {
	return complete{"complete", []content{{"text", s}}, meta}
}

// kept has tools and sessions of clients that are not looked at. They live where the garbage collector finds them, as
// those of any server do.
var kept *mcp.Server

func keep(tools, sessions int) {
	kept = mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	for i := range sessions {
		if _, err := kept.Connect(context.Background(), silent{}, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{InitializeParams: &mcp.InitializeParams{
			ProtocolVersion: "2026-07-28",
			ClientInfo:      &mcp.Implementation{Name: fmt.Sprintf("client-%05d", i), Version: "1.0.0"},
			Capabilities:    &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}},
		}}}); err != nil {
			log.Fatal(err)
		}
	}
	for i := range tools {
		mcp.AddTool(kept, &mcp.Tool{Name: fmt.Sprintf("Other%05d", i), Description: "Is not called."},
			func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
	}
}

// silent is a connection on which nothing comes, and its own transport.
type silent struct{}

func (s silent) Connect(context.Context) (mcp.Connection, error) { return s, nil }
func (silent) Read(context.Context) (jsonrpc.Message, error)     { select {} }
func (silent) Write(context.Context, jsonrpc.Message) error      { return nil }
func (silent) Close() error                                      { return nil }
func (silent) SessionID() string                                 { return "" }

func main() {
	tools := flag.Int("tools", 0, "keep so many tools in memory, that nobody calls")
	sessions := flag.Int("sessions", 0, "keep so many sessions in memory, that nobody uses")
	serve.Main(func() http.Handler {
		keep(*tools, *sessions)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var req request
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(response{"2.0", req.ID, call(&req)})
		})
	})
}
