package elicit_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the Examples share. A handler of an Example is called by play, as a client would, or its context is made by inCall.

// newShop is a server to add handlers to.
func newShop() *elicit.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	return elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
}

// play calls a tool as a client of 2026-07-28, with a user who gives these answers, and prints what was asked and what the
// call ended with.
func play(shop *elicit.Server, tool string, args any, answers ...elicittest.Answer) {
	playAs("2026-07-28", shop, tool, args, answers...)
}

// playAs is play for clients of any revision.
func playAs(version string, shop *elicit.Server, tool string, args any, answers ...elicittest.Answer) {
	tr := elicittest.Call(exampleT{}, shop.MCP(), version, tool, args, answers...)
	for _, q := range tr.Asked {
		fmt.Printf("asks %s: %s\n", q.Key, q.Message)
	}
	if tr.Result.IsError {
		fmt.Print("error: ")
	}
	fmt.Println(tr.Text())
}

// inCall is the context of a handler, in a call whose user gives these answers.
func inCall(answers ...elicittest.Answer) context.Context {
	return elicittest.Context(exampleT{}, answers...)
}

// exampleT is the testing.TB of Examples, which have none.
type exampleT struct{ testing.TB }

func (exampleT) Helper()                        {}
func (exampleT) Context() context.Context       { return context.Background() }
func (exampleT) Fatal(args ...any)              { panic(fmt.Sprint(args...)) }
func (exampleT) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (exampleT) Errorf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
