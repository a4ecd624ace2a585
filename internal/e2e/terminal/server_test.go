package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// kinds are the fields of a form with every kind.
func kinds() []form.Field {
	var countries []form.Option[string]
	for i := range 60 {
		countries = append(countries, form.Opt(fmt.Sprintf("c%02d", i), fmt.Sprintf("Country %d", i)))
	}
	return []form.Field{
		form.String("trackingNumber").MinLength(8).MaxLength(20).Description("Printed on the label.").Required(),
		form.Email("mail").Required(),
		form.URI("site"),
		form.Date("day").Required(),
		form.DateTime("at"),
		form.Int("parcels").Range(1, 10).Default(1).Required(),
		form.Number("weight").Min(0.5),
		form.Bool("fragile").Required(),
		form.Bool("insured").Default(true),
		form.Choice("carrier", form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")).Default("ups"),
		form.Choice("country", countries...).Required(),
		form.Choices("extras", form.Opt("insurance", "Insurance"), form.Opt("signature", "Signature"), form.Opt("saturday", "Saturday delivery")).
			AtLeast(1).AtMost(2).Required(),
		form.String("note"),
	}
}

// serve is a server with one tool, T, that asks for a form and says what it got.
func serve(t *testing.T, message string, fields ...form.Field) string {
	t.Helper()
	f := form.New(fields...)
	q := elicit.NewFormQuestion("q", message, f)
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	elicit.AddTool(shop, &mcp.Tool{Name: "T"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := q.Require(ctx)
		if err != nil {
			return nil, nil, err
		}
		v, ok := a.Value()
		if !ok {
			return elicit.Text(a.Err().Error()), nil, nil
		}
		content, err := f.Encode(v)
		return elicit.Text("got " + string(content)), nil, err
	}, elicit.Asks(q))
	s := httptest.NewServer(shop.Handler(nil))
	t.Cleanup(s.Close)
	return s.URL
}

// serveRaw is a server of the bare SDK, over the same host, that asks by these params until done says so.
func serveRaw(t *testing.T, params *mcp.ElicitParams, done func() bool) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	server.AddTool(&mcp.Tool{Name: "T", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, _ := req.Params.InputResponses["q"].(*mcp.ElicitResult)
		if res == nil || res.Action == "accept" && !done() {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": params}}, nil
		}
		content, _ := json.Marshal(res.Content)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.TrimSpace(res.Action + " " + strings.TrimPrefix(string(content), "null"))}}}, nil
	})
	s := httptest.NewServer(elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)}).Handler(nil))
	t.Cleanup(s.Close)
	return s.URL
}
