package page_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func newShop() *elicit.Server {
	return elicit.New(mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0.0"}, nil),
		&elicit.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

// A key that the client never sees. The test's user fills in the page.
func ExampleSecret() {
	var t exampleT // the *testing.T of the test
	type Account struct {
		APIKey page.Hidden `json:"apiKey" elicit:"title=API key,minLength=8"`
		Plan   string      `json:"plan" elicit:"enum=free|paid,default=free"`
	}
	account := page.Secret[Account]("account", "Your account at weather.example.com", page.Remember(30*24*time.Hour))

	shop := newShop()
	pages := page.Enable(shop, page.Options{})
	defer pages.Close()
	elicit.AddTool(shop, &mcp.Tool{Name: "Forecast"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := account.Value(ctx)
		if err != nil {
			return nil, nil, err // asks, by a link
		}
		fmt.Printf("the tool has %d characters of %+v\n", len(a.APIKey.Reveal()), a)
		return elicit.Text("Sunny."), nil, nil
	}, elicit.Asks(account))

	tr := elicittest.Call(t, shop.MCP(), "", "Forecast", nil,
		elicittest.Accept(account, Account{APIKey: page.NewHidden("wx-1234567"), Plan: "paid"}))
	fmt.Println(tr.Text(), tr.Rounds, "rounds")
	// Output:
	// the tool has 10 characters of {APIKey:[hidden] Plan:paid}
	// Sunny. 2 rounds
}

// One line, and what a handler does with it.
func ExampleSecretInput() {
	var t exampleT // the *testing.T of the test
	key := page.SecretInput("apiKey", "Your key of weather.example.com")
	forecast := func(ctx context.Context) (string, error) {
		k, err := key.Value(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("Sunny, with %v.", k), nil
	}
	fmt.Println(forecast(elicittest.Context(t)))
	fmt.Println(forecast(elicittest.Context(t, elicittest.Accept(key, page.NewHidden("wx-1234567")))))
	fmt.Println(forecast(elicittest.Context(t, elicittest.Decline("apiKey"))))
	// Output:
	//  elicit: the user is being asked: apiKey (return this error from the handler)
	// Sunny, with [hidden]. <nil>
	//  the user declined to answer "apiKey"
}

// A server that is reached from elsewhere: pages at an address of theirs, for users who are signed in to the site.
func ExampleEnable() {
	shop := newShop()
	pages := page.Enable(shop, page.Options{
		Base: "https://mcp.example.com/pages",
		Identify: func(w http.ResponseWriter, r *http.Request) (page.Person, bool) {
			c, err := r.Cookie("__Host-session")
			if err != nil {
				http.Redirect(w, r, "/login?return="+page.ReturnTo(r), http.StatusSeeOther)
				return page.Person{}, false
			}
			return page.Person{Issuer: "https://id.example.com", Subject: userOf(c.Value)}, true
		},
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", shop.Handler(nil))
	mux.Handle("/pages/", pages)
	fmt.Println(pages.Base())
	// Output: https://mcp.example.com/pages <nil>
}

func userOf(session string) string { return session }

// A secret hides itself.
func ExampleHidden() {
	key := page.NewHidden("wx-1234567")
	fmt.Printf("%v %s %q %#v\n", key, key, key, key)
	fmt.Println(len(key.Reveal()), key.Equal(page.NewHidden("wx-1234567")))
	// Output:
	// [hidden] [hidden] [hidden] [hidden]
	// 10 true
}

// A payment at a provider's page; done looks at the order, which the provider's webhook marks as paid.
func Example_payment() {
	var t exampleT // the *testing.T of the test
	paid := map[string]bool{}
	pay := elicit.NewURL("pay", "Pay for your order",
		func(ctx context.Context) (string, error) {
			return "https://pay.example.com/c/" + elicit.CallID(ctx), nil
		},
		func(ctx context.Context) (bool, error) { return paid["order 7"], nil })

	shop := newShop()
	pages := page.Enable(shop, page.Options{Wait: time.Millisecond})
	defer pages.Close()
	elicit.AddTool(shop, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if _, err := pay.Value(ctx); err != nil {
			return nil, nil, err
		}
		return elicit.Text("On its way."), nil, nil
	}, elicit.Asks(pay))

	fmt.Println(elicittest.Call(t, shop.MCP(), "", "Order", nil, elicittest.Cancel("pay")).Text())
	paid["order 7"] = true
	fmt.Println(elicittest.Call(t, shop.MCP(), "", "Order", nil).Text())
	// Output:
	// the user dismissed "pay" without answering
	// On its way.
}
