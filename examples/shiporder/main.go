// Shiporder asks for a tracking number, then ships.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/elicit-go/elicit"
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

func main() {
	addr := flag.String("addr", "localhost:5280", "serve over HTTP at `host:port`")
	stdio := flag.Bool("stdio", false, "serve over standard input and output instead")
	flag.Parse()
	shop := newShop()
	if *stdio {
		if err := shop.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "ShipOrder is served at http://%s/\n", l.Addr())
	server := &http.Server{Handler: shop.Handler(nil), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(l))
}
