package elicit_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// idLogger adds the id of the call to each record, as a server's own logger may.
type idLogger struct{ slog.Handler }

func (h idLogger) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(slog.String("call", elicit.CallID(ctx)))
	return h.Handler.Handle(ctx, r)
}

func TestLoggerMayAskForTheCallID(t *testing.T) {
	var out logs
	shop := elicit.New(newServer(), &elicit.Options{Logger: slog.New(idLogger{out.logger().Handler()})})
	addText(shop, "T", shipOrder)
	q := request{url: host(t, shop), name: "T"}
	if r := q.again(q.send(t), accepts("ship", m{"trackingNumber": "1"})).send(t); r.text() != "Shipped as 1." {
		t.Error(r.body)
	}
	if !strings.Contains(out.String(), "call=") {
		t.Error("nothing was logged")
	}
}

// A sending middleware that panics while an older client is asked fails the call, and no more.
func TestSendingMiddlewareThatPanics(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "T", shipOrder)
	addText(shop, "Other", func(context.Context) (string, error) { return "ok", nil })
	shop.MCP().AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "elicitation/create" {
				panic("no")
			}
			return next(ctx, method, req)
		}
	})
	cs, _ := dial(t, host(t, shop))
	if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "T"}); err == nil || !strings.Contains(err.Error(), "internal error") {
		t.Error(err)
	}
	if res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "Other"}); err != nil || res.IsError {
		t.Error(res, err)
	}
}

// What Options.Bind adds is something that an answer could be moved from.
func TestSecurity01BindNeedsProof(t *testing.T) {
	b := newBank(t, elicit.Options{Bind: func(context.Context, *mcp.RequestExtra) string { return "tenant" }})
	q := b.call("Plain")
	q.responses = accepts("ship", m{"trackingNumber": "1"})
	if r := q.send(t); !r.asks() || r.Result.RequestState == "" {
		t.Error(r.body)
	}
}

// A form that asks for nothing but a yes is consent, whatever made it.
func TestSecurity01FormsWithoutFieldsAreConsent(t *testing.T) {
	type box struct {
		Sure bool `json:"sure"`
	}
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	none, one := elicit.NewQuestion[struct{}]("q", "Do it?"), elicit.NewQuestion[box]("q", "Do it?")
	addText(shop, "None", func(ctx context.Context) (string, error) { _, err := none.Value(ctx); return "done", err }, elicit.Asks(none))
	addText(shop, "One", func(ctx context.Context) (string, error) { _, err := one.Value(ctx); return "done", err }, elicit.Asks(one))
	url := host(t, shop)
	for _, tool := range []string{"None", "One"} {
		if r := (request{url: url, name: tool, responses: accepts("q", m{"sure": true})}).send(t); !r.asks() {
			t.Errorf("%s: %s", tool, r.body)
		}
	}
}

// times is a Spender that writes down until when it must remember.
type times struct {
	elicit.Spender
	until time.Time
}

func (s *times) Claim(ctx context.Context, id string, until time.Time) (bool, error) {
	s.until = until
	return s.Spender.Claim(ctx, id, until)
}

// A store that forgets in time must not forget before an instance whose clock is behind.
func TestSecurity02SpenderRemembersPastTheSkew(t *testing.T) {
	s := &times{Spender: elicit.NewMemorySpender(10)}
	b := newBank(t, elicit.Options{Spender: s, MaxAge: time.Hour})
	q := b.call("Transfer")
	q.again(q.send(t), yes).send(t)
	if left := time.Until(s.until); left < time.Hour+time.Minute {
		t.Errorf("remembered for %v", left)
	}
}

// A result that cannot be encoded is an answer too, on every transport.
func TestResultThatCannotBeEncoded(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	shop.MCP().AddTool(&mcp.Tool{Name: "NaN", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]any{"x": math.NaN()}}, nil
	})
	in := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"NaN","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	var out logs
	_ = shop.Run(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(strings.NewReader(in)), Writer: writeCloser{&out}})
	if !strings.Contains(out.String(), `"code":-32603`) || !strings.Contains(out.String(), "NaN") {
		t.Errorf("got %q", out.String())
	}
	if r := (request{url: host(t, shop), name: "NaN"}).send(t); r.Error == nil || r.Error.Code != -32603 {
		t.Error(r.body)
	}
}

// Usage errors show through, even from a round that asks.
func TestMisuseInARoundThatAsks(t *testing.T) {
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "T", func(ctx context.Context) (string, error) {
		var a, b elicit.Answer[shipment]
		return "", elicit.RequireAll(ctx, ship.Into(&a), ship.WithMessagef("Ship all").Into(&b))
	})
	r := request{url: host(t, shop), name: "T"}.send(t)
	if r.Error == nil || r.Error.Code != -32603 || !strings.Contains(r.Error.Message, "WithKey") {
		t.Error(r.body)
	}
}
