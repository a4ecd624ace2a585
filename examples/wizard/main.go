// Wizard orders a machine in three questions over two rounds; the price is fetched once, however long the user takes.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Size of a machine.
type Size string

// The sizes on offer.
const (
	Small Size = "s"
	Large Size = "l"
)

// Machine is what is ordered.
type Machine struct {
	Size  Size    `json:"size"`
	Nodes int     `json:"nodes"`
	Label *string `json:"label"` // a pointer: the user may leave it out
}

var (
	machine = elicit.NewFormQuestion("machine", "Which machine?", form.Build(func(m *Machine) []form.Field {
		return []form.Field{
			form.ChoiceOf(&m.Size, form.Opt(Small, "Small"), form.Opt(Large, "Large")).Default(Small),
			form.IntOf(&m.Nodes).Range(1, 10).Default(1),
			form.StringOf(m.Label).Title("Name tag"),
		}
	}))
	region = elicit.Choose("region", "Where?", form.Options("eu", "us")...)
	agree  = elicit.Confirm("agree", "Order now?")
)

// Order is a typed output: the tool's output schema comes from it.
type Order struct {
	ID    string `json:"id"`
	Price int    `json:"price"`
}

type shop struct{ quotes atomic.Int32 }

func (s *shop) quote(context.Context) (int, error) {
	s.quotes.Add(1)
	return 42, nil
}

func (s *shop) order(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, Order, error) {
	// The first round asks two questions of different types at once.
	var m elicit.Answer[Machine]
	var r elicit.Answer[string]
	if err := elicit.RequireAll(ctx, machine.Into(&m), region.Into(&r)); err != nil {
		return nil, Order{}, err
	}
	want, ok := m.Value()
	if !ok {
		return nil, Order{}, m.Err() // a refusal is a tool error that the model can read
	}
	where, ok := r.Value()
	if !ok {
		where = "eu"
	}

	// Runs in the second round, and is remembered in the third.
	price, err := elicit.Step(ctx, "quote", s.quote)
	if err != nil {
		return nil, Order{}, err
	}

	// The second round asks in words that depend on what came before: the answer counts for exactly these words.
	if _, err := agree.WithMessagef("Order %d × %s in %s for $%d?", want.Nodes, want.Size, where, price).Value(ctx); err != nil {
		return nil, Order{}, err
	}
	return nil, Order{ID: fmt.Sprintf("%s-%s-%d", where, want.Size, want.Nodes), Price: price}, nil
}

func newServer(s *shop) *elicit.Server {
	cloud := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "cloud", Version: "1.0.0"}, nil), nil)
	elicit.AddTool(cloud, &mcp.Tool{Name: "OrderMachine", Description: "Orders a machine."}, s.order,
		elicit.Asks(machine, region, agree))
	return cloud
}

func main() {
	addr := flag.String("addr", "localhost:5281", "serve over HTTP at `host:port`")
	stdio := flag.Bool("stdio", false, "serve over standard input and output instead")
	flag.Parse()
	cloud := newServer(&shop{})
	if *stdio {
		if err := cloud.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	log.Fatal(http.ListenAndServe(*addr, cloud.Handler(nil)))
}
