// Elicit serves the benchmark's tools with this library.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/bench/internal/serve"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Shipment is asked for by most of the tools.
type Shipment struct {
	TrackingNumber string `json:"trackingNumber"`
}

// Sender is asked for by Register.
type Sender struct {
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	Email     string `json:"email" elicit:"format=email"`
	Company   string `json:"company"`
	Street    string `json:"street"`
	City      string `json:"city"`
	Postcode  string `json:"postcode"`
	Country   string `json:"country" elicit:"enum=de|fr|uk|us"`
	Parcels   int    `json:"parcels" elicit:"min=1,max=10"`
	Insured   bool   `json:"insured"`
}

// Machine and Delivery are asked for by the wizard.
type Machine struct {
	Size  string `json:"size" elicit:"enum=s|l"`
	Nodes int    `json:"nodes" elicit:"min=1,max=10"`
	Label string `json:"label"`
}

// Delivery is where and when.
type Delivery struct {
	Region string `json:"region" elicit:"enum=eu|us"`
	Urgent bool   `json:"urgent"`
}

var (
	ship     = elicit.NewQuestion[Shipment]("ship", "Ship this order")
	sender   = elicit.NewQuestion[Sender]("sender", "Register the sender")
	machine  = elicit.NewQuestion[Machine]("machine", "Which machine?")
	delivery = elicit.NewQuestion[Delivery]("delivery", "Where to?")
)

func shipOrder[In any](ctx context.Context, _ *mcp.CallToolRequest, _ In) (*mcp.CallToolResult, any, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return nil, nil, err
	}
	shipment, ok := answer.Value()
	if !ok {
		return elicit.Text("Shipping cancelled."), nil, nil
	}
	return elicit.Text("Shipped as " + shipment.TrackingNumber + "."), nil, nil
}

func register(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	s, err := sender.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text("Registered " + s.FirstName + " " + s.LastName + "."), nil, nil
}

func track(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
	return elicit.Text("Shipped as 1Z999."), nil, nil
}

type parcel struct {
	Note string `json:"note"`
}

func quote(context.Context) (int, error) { return 42, nil }

func ordered(m Machine, d Delivery, price int) *mcp.CallToolResult {
	return elicit.Text(fmt.Sprintf("Ordered %d × %s in %s for $%d.", m.Nodes, m.Size, d.Region, price))
}

// The wizard: three rounds, with sealed state from the first answer on.
var boundMachine = machine.Bound()

func orderMachine(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	m, err := boundMachine.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	price, err := elicit.Step(ctx, "quote", quote)
	if err != nil {
		return nil, nil, err
	}
	d, err := delivery.Value(ctx)
	if err != nil {
		return nil, nil, err
	}
	return ordered(m, d, price), nil, nil
}

// The wizard's three rounds as three tools without state: one asks each question, one takes both answers at once.
func askMachine(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	m, err := machine.Value(ctx)
	return elicit.Text(m.Label), nil, err
}

func askDelivery(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	d, err := delivery.Value(ctx)
	return elicit.Text(d.Region), nil, err
}

func orderAtOnce(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	var m elicit.Answer[Machine]
	var d elicit.Answer[Delivery]
	if err := elicit.RequireAll(ctx, machine.Into(&m), delivery.Into(&d)); err != nil {
		return nil, nil, err
	}
	mv, ok := m.Value()
	dv, also := d.Value()
	if !ok || !also {
		return nil, nil, errors.Join(m.Err(), d.Err())
	}
	return ordered(mv, dv, 42), nil, nil
}

// The same values as arguments, and nothing asked.
type order struct {
	Size   string `json:"size,omitempty"`
	Nodes  int    `json:"nodes,omitempty"`
	Label  string `json:"label,omitempty"`
	Region string `json:"region,omitempty"`
	Urgent bool   `json:"urgent,omitempty"`
}

func orderDirectly(_ context.Context, _ *mcp.CallToolRequest, o order) (*mcp.CallToolResult, any, error) {
	return ordered(Machine{Size: o.Size, Nodes: o.Nodes}, Delivery{Region: o.Region}, 42), nil, nil
}

// handler serves all the tools, and so many more that nobody calls.
func handler(more int) http.Handler {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), nil)
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder", Description: "Asks for a tracking number, then ships."}, shipOrder[struct{}], elicit.Asks(ship))
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipParcel", Description: "Asks for a tracking number, then ships with a note."}, shipOrder[parcel], elicit.Asks(ship))
	elicit.AddTool(shop, &mcp.Tool{Name: "Register", Description: "Asks for a sender in ten fields."}, register, elicit.Asks(sender))
	elicit.AddTool(shop, &mcp.Tool{Name: "Track", Description: "Asks nothing."}, track)
	elicit.AddTool(shop, &mcp.Tool{Name: "OrderMachine", Description: "Asks twice, in three rounds."}, orderMachine, elicit.Asks(boundMachine, delivery))
	elicit.AddTool(shop, &mcp.Tool{Name: "AskMachine", Description: "Asks for a machine."}, askMachine, elicit.Asks(machine))
	elicit.AddTool(shop, &mcp.Tool{Name: "AskDelivery", Description: "Asks for a delivery."}, askDelivery, elicit.Asks(delivery))
	elicit.AddTool(shop, &mcp.Tool{Name: "OrderAtOnce", Description: "Asks both at once."}, orderAtOnce, elicit.Asks(machine, delivery))
	elicit.AddTool(shop, &mcp.Tool{Name: "OrderDirectly", Description: "Asks nothing."}, orderDirectly)
	for i := range more {
		mcp.AddTool(shop.MCP(), &mcp.Tool{Name: fmt.Sprintf("Other%05d", i), Description: "Is not called."}, track)
	}
	return shop.Handler(nil)
}

func main() {
	tools := flag.Int("tools", 0, "register so many more tools, that nobody calls")
	serve.Main(func() http.Handler { return handler(*tools) })
}
