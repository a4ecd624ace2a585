package streamable_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newServerWithHello is a server of the SDK with one tool.
func newServerWithHello(name string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "Hello"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello from " + name + "."}}}, nil, nil
	})
	return server
}

// hello calls the tool as a client of the revision would, and gives its text.
func hello(url, version string) string {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err.Error()
	}
	defer session.Close()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "Hello"})
	if err != nil {
		return err.Error()
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// One endpoint for clients of all revisions.
func ExampleNewHandler() {
	server := newServerWithHello("a server")
	handler := streamable.NewHandler(server, nil)

	web := httptest.NewServer(handler) // in a program: http.ListenAndServe("localhost:5280", handler)
	defer web.Close()
	fmt.Println(hello(web.URL, "2026-07-28"))
	fmt.Println(hello(web.URL, "2025-06-18"))
	// Output:
	// Hello from a server.
	// Hello from a server.
}

// Several servers behind one handler, by the path of the request.
func ExampleNewHandlerFunc() {
	servers := map[string]*mcp.Server{"/north": newServerWithHello("north"), "/south": newServerWithHello("south")}
	handler := streamable.NewHandlerFunc(func(r *http.Request) *mcp.Server { return servers[r.URL.Path] }, nil)

	web := httptest.NewServer(handler)
	defer web.Close()
	fmt.Println(hello(web.URL+"/north", ""))
	fmt.Println(hello(web.URL+"/south", ""))
	// Output:
	// Hello from north.
	// Hello from south.
}

// A public server, behind a proxy on the same machine, that pages of one site may call, and older clients may not.
func ExampleOptions() {
	handler := streamable.NewHandler(newServerWithHello("a server"), &streamable.Options{
		AllowedHosts:   []string{"mcp.example.com"},
		AllowedOrigins: []string{"https://app.example.com"},
		RefuseLegacy:   true,
	})
	web := httptest.NewServer(handler)
	defer web.Close()

	for _, origin := range []string{"https://app.example.com", "https://elsewhere.example.com"} {
		r, err := http.NewRequest("OPTIONS", web.URL, nil)
		if err != nil {
			panic(err)
		}
		r.Host = "mcp.example.com"
		r.Header.Set("Origin", origin)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		res.Body.Close()
		fmt.Printf("%s: %d %q\n", origin, res.StatusCode, res.Header.Get("Access-Control-Allow-Origin"))
	}
	// Output:
	// https://app.example.com: 204 "https://app.example.com"
	// https://elsewhere.example.com: 403 ""
}
