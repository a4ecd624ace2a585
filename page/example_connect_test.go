package page_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

var exampleCalendar = page.Connect("calendar", "Connect your calendar", oauth2.Config{
	ClientID:     "shop",
	ClientSecret: "…",
	Scopes:       []string{"calendar.read", "offline_access"},
	Endpoint: oauth2.Endpoint{
		AuthURL:   "https://calendar.example.com/authorize",
		TokenURL:  "https://calendar.example.com/token",
		AuthStyle: oauth2.AuthStyleInHeader,
	},
}, &page.ConnectOptions{Provider: "Example Calendar"})

// listEvents is a tool that acts for its user at somebody else's service.
func listEvents(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	source, err := exampleCalendar.Value(ctx)
	if err != nil {
		return nil, nil, err // asks, by a link; or the user said no
	}
	token, err := source.Token() // or oauth2.NewClient(ctx, source), whose requests carry it
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text("with a token: " + token.AccessToken), nil, nil
}

// In a test, any source of tokens is an answer. A person would sign in.
func ExampleConnect() {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	page.Enable(shop, page.Options{})
	elicit.AddTool(shop, &mcp.Tool{Name: "Events"}, listEvents, elicit.Asks(exampleCalendar))

	var t exampleT // the *testing.T of the test
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "of the test"})
	tr := elicittest.Call(t, shop.MCP(), "2026-07-28", "Events", nil, elicittest.Accept(exampleCalendar, token))
	fmt.Println(tr.Text())
	// Output: with a token: of the test
}

type exampleT struct{ testing.TB }

func (exampleT) Helper()                        {}
func (exampleT) Cleanup(func())                 {}
func (exampleT) Context() context.Context       { return context.Background() }
func (exampleT) Fatal(args ...any)              { panic(fmt.Sprint(args...)) }
func (exampleT) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (exampleT) Errorf(format string, a ...any) { fmt.Printf(format+"\n", a...) }
