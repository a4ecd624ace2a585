package elicit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options for several instances, behind a gateway that says who calls.
func ExampleNew_options() {
	secret := bytes.Repeat([]byte("x"), 32) // from where your secrets are; make one with: elicit keygen
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	shop := elicit.New(server, &elicit.Options{
		Secrets: [][]byte{secret}, // to rotate: {new, old}
		Spender: &table{},         // shared by all instances
		Principal: func(_ context.Context, extra *mcp.RequestExtra) (elicit.Principal, error) {
			if extra == nil || extra.Header == nil {
				return elicit.Principal{}, nil // stdio
			}
			user := extra.Header.Get("X-Verified-User")
			if user == "" {
				return elicit.Principal{}, errors.New("the gateway sent no user")
			}
			return elicit.Principal{Issuer: "gateway", Subject: user}, nil
		},
		Expiry: 5 * time.Minute, // for one round
		Logger: slog.New(slog.DiscardHandler),
	})

	sure := elicit.Confirm("sure", "Empty the cart?")
	elicit.AddTool(shop, &mcp.Tool{Name: "EmptyCart"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if _, err := sure.Value(ctx); err != nil {
				return nil, nil, err
			}
			return elicit.Text("It is empty."), nil, nil
		}, elicit.Asks(sure))
	play(shop, "EmptyCart", nil, elicittest.Accept(sure, true))
	// Output:
	// asks sure: Empty the cart?
	// It is empty.
}

// table stands for a table of a database: one row for each id.
type table struct{ rows sync.Map }

func (t *table) Claim(_ context.Context, id string, until time.Time) (bool, error) {
	_, taken := t.rows.LoadOrStore(id, until) // INSERT … ON CONFLICT DO NOTHING
	return !taken, nil
}

func (t *table) Release(_ context.Context, id string) error {
	t.rows.Delete(id) // DELETE
	return nil
}

func (t *table) Spend(context.Context, string) error { return nil } // the row stays

// A Spender claims an id once.
func ExampleSpender() {
	var s elicit.Spender = &table{}
	ctx, until := context.Background(), time.Now().Add(time.Hour)
	fmt.Println(s.Claim(ctx, "4fd1", until))
	fmt.Println(s.Claim(ctx, "4fd1", until)) // the same round, sent again meanwhile
	fmt.Println(s.Release(ctx, "4fd1"))      // the round asked again
	fmt.Println(s.Claim(ctx, "4fd1", until))
	fmt.Println(s.Spend(ctx, "4fd1")) // the call has ended
	fmt.Println(s.Claim(ctx, "4fd1", until))
	// Output:
	// true <nil>
	// false <nil>
	// <nil>
	// true <nil>
	// <nil>
	// false <nil>
}

// The server over HTTP, and a program that calls it.
func ExampleServer_Handler() {
	name := elicit.Input("name", "What is the project called?")
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Create"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			n, err := name.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text("Created " + n + "."), nil, nil
		}, elicit.Asks(name))

	// http.ListenAndServe("localhost:5280", handler) in a program
	handler := shop.Handler(&streamable.Options{AllowedOrigins: []string{"https://app.example.com"}})
	web := httptest.NewServer(handler)
	defer web.Close()

	ctx := context.Background()
	script := answer.Script{"name": answer.Accept(answer.Values{"input": "Apollo"})}
	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "example", Version: "1.0.0"}, web.URL, &answer.Options{Answerer: script})
	if err != nil {
		panic(err)
	}
	defer session.Close()
	res, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: "Create"}, script)
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	// Output: Created Apollo.
}

// The server over another transport. In a program it is &mcp.StdioTransport{}.
func ExampleServer_Run() {
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Hello"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return elicit.Text("Hello."), nil, nil
		})
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error)
	go func() { ended <- shop.Run(context.Background(), there) }()

	session, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0.0"}, nil).Connect(context.Background(), here, nil)
	if err != nil {
		panic(err)
	}
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "Hello"})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	session.Close()
	fmt.Println(<-ended) // the client has closed the connection
	// Output:
	// Hello.
	// <nil>
}
