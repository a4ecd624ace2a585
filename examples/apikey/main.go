// Apikey asks for an API key on a page of its own, so that neither the client nor the model sees it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/page"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Account is what the weather service knows a customer by.
type Account struct {
	// The key is typed as a password is, and prints as "[hidden]" wherever it is printed by mistake.
	APIKey page.Hidden `json:"apiKey" elicit:"title=API key,minLength=8" jsonschema:"Under Settings, Keys. It begins with wx-."`
	Plan   string      `json:"plan" elicit:"enum=free|paid,enumTitles=Free|Paid,default=free"`
}

// With users that can be told apart, the account is remembered for each of them; see docs/secrets.md. Here, everybody is the
// user of this machine, and it is asked for in each call.
var account = page.Secret[Account]("account", "Your account at weather.example.com", page.Remember(30*24*time.Hour))

// Place is where it rains, or not.
type Place struct {
	City string `json:"city,omitempty" jsonschema:"the city, Lisbon if left out"`
}

func forecast(ctx context.Context, _ *mcp.CallToolRequest, in Place) (*mcp.CallToolResult, any, error) {
	a, err := account.Value(ctx)
	if err != nil {
		return nil, nil, err // asks, by a link; or the user said no
	}
	text, err := fetchForecast(a.APIKey.Reveal(), a.Plan, cmp.Or(in.City, "Lisbon"))
	if errors.Is(err, errUnauthorized) {
		if err := page.Forget(ctx, account); err != nil {
			return nil, nil, err
		}
		_, err := account.WithMessagef("weather.example.com does not know that key. Your account there").Require(ctx)
		return nil, nil, err // asks again
	}
	if err != nil {
		return nil, nil, err
	}
	return elicit.Text(text), nil, nil
}

var errUnauthorized = errors.New("weather.example.com: 401 Unauthorized")

// fetchForecast stands for a request to the weather service.
func fetchForecast(key, plan, city string) (string, error) {
	if !strings.HasPrefix(key, "wx-") {
		return "", errUnauthorized
	}
	return fmt.Sprintf("Sunny in %s (%s plan).", city, plan), nil
}

// newHandler serves the tool at /, and the pages below base, which is this server's.
func newHandler(base string) (http.Handler, *elicit.Server) {
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0.0"}, nil), nil)
	pages := page.Enable(shop, page.Options{Base: base + "/pages"})
	elicit.AddTool(shop, &mcp.Tool{Name: "Forecast", Description: "Says how the weather will be. Asks for a key once."}, forecast, elicit.Asks(account))
	mux := http.NewServeMux()
	mux.Handle("/", shop.Handler(nil))
	mux.Handle("/pages/", pages)
	return mux, shop
}

func main() {
	addr := flag.String("addr", "localhost:5284", "serve at `host:port`, a loopback one")
	flag.Parse()
	handler, _ := newHandler("http://" + *addr)
	log.Fatal(http.ListenAndServe(*addr, handler))
}
