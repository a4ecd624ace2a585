package answer_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type shipment struct {
	TrackingNumber string `json:"trackingNumber"`
	Parcels        int    `json:"parcels"`
}

// shop starts a server with a tool that asks, and returns its URL.
func shop() (url string, stop func()) {
	ship := elicit.NewQuestion[shipment]("ship", "Ship this order")
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), nil)
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := ship.Require(ctx)
		if err != nil {
			return nil, nil, err
		}
		s, ok := a.Value()
		if !ok {
			return elicit.Text("Shipping cancelled."), nil, nil
		}
		return elicit.Text(fmt.Sprintf("Shipped %d as %s.", s.Parcels, s.TrackingNumber)), nil, nil
	}, elicit.Asks(ship))
	server := httptest.NewServer(shop.Handler(nil))
	return server.URL, server.Close
}

func ExampleCallTool() {
	url, stop := shop()
	defer stop()
	ctx := context.Background()

	script := answer.Script{"ship": answer.Accept(answer.Values{"trackingNumber": "1Z999", "parcels": 2})}
	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "shop-cli", Version: "1.0.0"}, url, &answer.Options{Answerer: script})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	result, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "ShipOrder"}, script)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output: Shipped 2 as 1Z999.
}

// A script that has no answer ends the call with an error that names what is missing.
func ExampleMissingError() {
	url, stop := shop()
	defer stop()
	ctx := context.Background()

	script := answer.Script{"ship": answer.Accept(answer.Values{"parcels": 2})}
	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "shop-cli", Version: "1.0.0"}, url, &answer.Options{Answerer: script})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	result, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "ShipOrder"}, nil)
	var missing *answer.MissingError
	if errors.As(err, &missing) {
		fmt.Println("missing:", missing.Key, missing.Fields)
	}
	fmt.Println("the server:", result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// missing: ship [trackingNumber]
	// the server: Shipping cancelled.
}

// An Answerer of one's own sees the form in the server's order.
func ExampleAnswererFunc() {
	url, stop := shop()
	defer stop()
	ctx := context.Background()

	asks := answer.AnswererFunc(func(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		fmt.Printf("%q asks %q:\n", answer.PlainLine(r.ServerName), answer.PlainLine(r.Params.Message))
		fields, err := r.Fields()
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			fmt.Printf("- %s, %s\n", answer.PlainLine(f.Label()), f.Type)
		}
		return &mcp.ElicitResult{Action: answer.ActionDecline}, nil
	})
	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "shop-cli", Version: "1.0.0"}, url, &answer.Options{Answerer: asks})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	result, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "ShipOrder"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// "shop" asks "Ship this order":
	// - Tracking Number, string
	// - Parcels, integer
	// Shipping cancelled.
}

func ExampleParseScript() {
	script, err := answer.ParseScript([]byte(`{"ship": {"trackingNumber": "1Z999", "parcels": 9007199254740993}, "insure": "decline"}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(script), script["insure"].Action)
	fmt.Printf("%s\n", script["ship"].Values["parcels"])
	// Output:
	// 2 decline
	// 9007199254740993
}

func ExampleField_Parse() {
	parcels := answer.Field{Name: "parcels", Type: "integer"}
	v, err := parcels.Parse("9007199254740993")
	fmt.Println(v, err)
	_, err = parcels.Parse("many")
	fmt.Println(err)
	// Output:
	// 9007199254740993 <nil>
	// "many" is not an integer, such as 42
}

// Older servers ask over the live session: the same code answers them.
func ExampleConnect() {
	url, stop := shop()
	defer stop()
	ctx := context.Background()

	script := answer.Script{"ship": answer.Accept(answer.Values{"trackingNumber": "1Z999", "parcels": 1})}
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		session, err := answer.Connect(ctx, &mcp.Implementation{Name: "shop-cli", Version: "1.0.0"}, url,
			&answer.Options{Answerer: script, ProtocolVersion: version})
		if err != nil {
			log.Fatal(err)
		}
		result, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "ShipOrder"}, script)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(session.InitializeResult().ProtocolVersion, result.Content[0].(*mcp.TextContent).Text)
		session.Close()
	}
	// Output:
	// 2026-07-28 Shipped 1 as 1Z999.
	// 2025-11-25 Shipped 1 as 1Z999.
	// 2025-06-18 Shipped 1 as 1Z999.
}

// A call that becomes a task ends as any other. Its id is told at once, and another session, or another process, can go on
// with it.
func ExampleWaitTask() {
	server := mcp.NewServer(&mcp.Implementation{Name: "ops", Version: "1.0.0"}, nil)
	ops := elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	engine := tasks.Enable(ops, tasks.Options{PollInterval: 100 * time.Millisecond})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	defer func() { _ = engine.Shutdown(ctx) }()
	approve := elicit.Input("approve", "Why deploy?")
	elicit.AddTool(ops, &mcp.Tool{Name: "Deploy"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		why, err := approve.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		return elicit.Text("Deployed: " + why), nil, nil
	}, tasks.Required)
	ts := httptest.NewServer(ops.Handler(nil))
	defer ts.Close()
	impl := &mcp.Implementation{Name: "ops-cli", Version: "1.0.0"}

	// Nobody can answer here.
	session, err := answer.Connect(ctx, impl, ts.URL, &answer.Options{Answerer: answer.Script{}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "Deploy"}, nil)
	var left *answer.TaskError
	if !errors.As(err, &left) || !left.Left() {
		log.Fatal(err)
	}
	session.Close()

	// Later, elsewhere.
	script := answer.Script{"approve": answer.Accept(answer.Values{"input": "it is tested"})}
	session, err = answer.Connect(ctx, impl, ts.URL, &answer.Options{Answerer: script})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	task, err := answer.GetTask(ctx, session, left.Task.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.Status, task.Requests[0].Key)
	result, err := answer.WaitTask(ctx, session, task.ID, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// input_required approve
	// Deployed: it is tested
}
