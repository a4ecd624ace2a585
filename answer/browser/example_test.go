package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/browser"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A page that somebody declines at; here a few lines of Go are the person and the browser.
func Example() {
	person := browser.New(&browser.Options{Out: io.Discard, Open: func(_ context.Context, address string) error {
		go decline(address)
		return nil
	}})
	res, err := person.Answer(context.Background(), &answer.Request{
		Key: "ship", Server: "http://localhost:5280/", ServerName: "shop", Tool: "ShipOrder",
		Params: &mcp.ElicitParams{Mode: "form", Message: "Ship this order"},
		Schema: json.RawMessage(`{"type":"object","properties":{"trackingNumber":{"type":"string"}},"required":["trackingNumber"]}`),
	})
	fmt.Println(res.Action, err)
	// Output: decline <nil>
}

func decline(address string) {
	res, err := http.Get(address) // Moves on to the page.
	if err != nil {
		return
	}
	res.Body.Close()
	page := res.Request.URL.String()
	req, err := http.NewRequest(http.MethodPost, page, strings.NewReader(url.Values{"button": {"decline"}}.Encode()))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "http://"+res.Request.URL.Host)
	if res, err = http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
	}
}
