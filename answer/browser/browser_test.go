package browser_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/browser"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A call that is cancelled, or out of time, ends while the person still looks at the page. Its error is the cause, and the
// page is gone.
func TestEndOfContextEndsThePage(t *testing.T) {
	for name, params := range map[string]*mcp.ElicitParams{
		"form": {Mode: "form", Message: "Ship this order", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}},
		"url":  {Mode: "url", Message: "Your account", URL: "https://example.com/account"},
	} {
		t.Run(name, func(t *testing.T) {
			why := errors.New("out of time")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var page string
			b := browser.New(&browser.Options{Out: io.Discard, Open: func(_ context.Context, url string) error {
				page = url
				cancel(why)
				return nil
			}})
			res, err := b.Answer(ctx, &answer.Request{Key: "q", Params: params})
			if res != nil || !errors.Is(err, why) {
				t.Errorf("%+v, %v; want the cause of the context's end", res, err)
			}
			if res, err := http.Get(page); err == nil {
				res.Body.Close()
				t.Error("the page is still served at", page)
			}
		})
	}
}
