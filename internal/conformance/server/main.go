// Server is the fixture that the official MCP conformance suite runs against: the tools, prompts and resources that its
// scenarios name, with their questions asked through elicit.
//
//	go run ./internal/conformance/server -addr 127.0.0.1:5280
package main

import (
	"context"
	"flag"
	"log"
	"net/http"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:5280", "the `address` to listen on")
	flag.BoolVar(&wire.NoExpress, "sdk", false, "leave every request to the SDK's handler")
	flag.Parse()
	log.Printf("listening on http://%s", *addr)
	log.Fatal(http.ListenAndServe(*addr, newServer().Handler(nil)))
}

func newServer() *elicit.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "conformance", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"paris", "park"}, Total: 2}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	asking := elicit.New(server, nil)
	addContent(server)
	addNotifications(server)
	addSchemas(server)
	addResources(server)
	addPrompts(server)
	addRounds(asking)
	addSessions(asking)
	addTasks(asking)
	return asking
}
