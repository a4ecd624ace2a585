package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Shipment is what the form asks for.
type Shipment struct {
	// Tracking number printed on the label.
	TrackingNumber string `json:"trackingNumber"`
}

var ship = elicit.NewQuestion[Shipment]("ship", "Ship this order")

func shipOrder(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, err := ship.Require(ctx)
	if err != nil {
		return nil, nil, err // asks; the retry runs this handler again, from the top
	}
	shipment, ok := answer.Value()
	if !ok {
		return elicit.Text("Shipping cancelled."), nil, nil
	}
	return elicit.Text("Shipped as " + shipment.TrackingNumber + "."), nil, nil
}

func newShop() *elicit.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	shop := elicit.New(server, nil)
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder", Description: "Asks for a tracking number, then ships."},
		shipOrder, elicit.Asks(ship))
	return shop
}

type demoCmd struct {
	answerFlags
}

func (*demoCmd) Help() string {
	return `The server has one tool, ShipOrder, and runs on a free port of this machine for as long as the demo does. POST 1 asks for a tracking number, POST 2 answers; both go to stderr with their responses, the result to stdout.

Examples:

  elicit demo
  elicit demo --answer ship.trackingNumber=1Z999
  elicit demo --decline ship

The server is examples/shiporder of github.com/elicit-go/elicit.`
}

func (c *demoCmd) Run(ctx context.Context, con *console) (err error) {
	a, err := c.answerer(con)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("no free port on this machine: %w", err)
	}
	server := &http.Server{Handler: newShop().Handler(nil), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		server.Close()
		if e := <-served; err == nil && !errors.Is(e, http.ErrServerClosed) {
			err = e
		}
	}()

	patience := con.patience(ctx, time.Minute, "the demo")
	defer patience.stop()
	ctx = patience.ctx
	a = patience.answerer(a)
	url := "http://" + listener.Addr().String() + "/"
	con.say("A server with the tool ShipOrder is at " + url + " for as long as this demo runs.\n")
	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "elicit", Version: version()}, url,
		&answer.Options{Answerer: a, Wire: onlyCalls(answer.WireTo(con.log(), nil))})
	if err != nil {
		return patience.explain(err)
	}
	defer session.Close()
	const tool = "ShipOrder"
	res, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: tool}, a)
	err = patience.explain(err)
	patience.stop()
	return finish(con, tool, res, err, false)
}

// onlyCalls passes the calls of tools on to tap, counted from 1.
func onlyCalls(tap func(answer.WireMessage)) func(answer.WireMessage) {
	var mu sync.Mutex
	posts := map[int]int{}
	return func(m answer.WireMessage) {
		mu.Lock()
		defer mu.Unlock()
		if m.Kind == answer.WireRequest && m.Header.Get("Mcp-Method") == "tools/call" {
			posts[m.Exchange] = len(posts) + 1
		}
		if n, ok := posts[m.Exchange]; ok {
			m.Exchange = n
			tap(m)
		}
	}
}
