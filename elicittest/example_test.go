package elicittest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// t is the *testing.T of the test.
var t exampleT

type exampleT struct{ testing.TB }

func (exampleT) Helper()                        {}
func (exampleT) Context() context.Context       { return context.Background() }
func (exampleT) Fatal(args ...any)              { panic(fmt.Sprint(args...)) }
func (exampleT) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (exampleT) Errorf(format string, a ...any) { fmt.Printf(format+"\n", a...) }

// What is tested.

type Shipment struct {
	TrackingNumber string `json:"trackingNumber"`
}

var (
	ship = elicit.NewQuestion[Shipment]("ship", "Ship this order")
	sure = elicit.Confirm("sure", "Ship it now?")
)

func shipOrder(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	s, err := ship.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, err := sure.WithMessagef("Ship %s now?", s.TrackingNumber).Value(ctx); err != nil {
		return nil, nil, err
	}
	return elicit.Text("Shipped as " + s.TrackingNumber + "."), nil, nil
}

func newShop() *elicit.Server {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil),
		&elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder"}, shipOrder, elicit.Asks(ship, sure))
	return shop
}

// A handler is called like any function, in the context of a call whose user answers.
func ExampleContext() {
	ctx := elicittest.Context(t,
		elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}),
		elicittest.Accept(sure, true))
	res, _, err := shipOrder(ctx, nil, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	// Output: Shipped as 1Z999.
}

// What has no answer is asked.
func ExampleAsked() {
	ctx := elicittest.Context(t, elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}))
	if _, _, err := shipOrder(ctx, nil, struct{}{}); !errors.Is(err, elicit.ErrAsking) {
		t.Fatal(err)
	}
	for _, q := range elicittest.Asked(ctx) {
		fmt.Println(q.Key, q.Message, string(q.Schema))
	}
	// Output: sure Ship 1Z999 now? {"type":"object","properties":{}}
}

// A call of the server, from a client of each revision, through all its rounds.
func ExampleCall() {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		tr := elicittest.Call(t, newShop().MCP(), version, "ShipOrder", nil,
			elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}),
			elicittest.Accept(sure, true))
		fmt.Println(version, tr.Text(), len(tr.Asked), "questions in", tr.Rounds, "requests")
	}
	// Output:
	// 2026-07-28 Shipped as 1Z999. 2 questions in 3 requests
	// 2025-11-25 Shipped as 1Z999. 2 questions in 1 requests
	// 2025-06-18 Shipped as 1Z999. 2 questions in 1 requests
}

// Saying no.
func ExampleDecline() {
	_, _, err := shipOrder(elicittest.Context(t, elicittest.Decline("ship")), nil, struct{}{})
	fmt.Println(err)
	// Output: the user declined to answer "ship"
}

// Closing the question without a choice.
func ExampleCancel() {
	_, _, err := shipOrder(elicittest.Context(t, elicittest.Cancel("ship")), nil, struct{}{})
	fmt.Println(err)
	// Output: the user dismissed "ship" without answering
}

// Content as a client might send it. What is wrong is asked again.
func ExampleRaw() {
	ctx := elicittest.Context(t, elicittest.Raw("ship", map[string]any{"trackingNumber": 12}))
	_, _, err := shipOrder(ctx, nil, struct{}{})
	fmt.Println(errors.Is(err, elicit.ErrAsking))
	fmt.Println(elicittest.Asked(ctx)[0].Message)
	// Output:
	// true
	// Ship this order
	//
	// Tracking Number must be text; you entered 12.
}

// The compiler checks a value against its question. For a question of elicit.Confirm, false is a no.
func ExampleAccept() {
	_, err := sure.Value(elicittest.Context(t, elicittest.Accept(sure, false)))
	fmt.Println(err)
	// Output: the user declined to answer "sure"
}
