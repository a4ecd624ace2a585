package interop

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The fields of a form with every kind of choice, and one of each other kind.
var (
	carrier = form.Choice("carrier", form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")).Default("ups")
	extras  = form.Choices("extras", form.Opt("insurance", "Insurance"), form.Opt("signature", "Signature")).AtMost(2)
	size    = form.Choice("size", form.Options("small", "large")...).Required()
	colors  = form.Choices("colors", form.Options("red", "green", "blue")...)
	parcels = form.Int("parcels").Range(1, 10).Default(1)
	fragile = form.Bool("fragile")
	mail    = form.Email("mail")

	parcel = elicit.NewFormQuestion("parcel", "What do we ship?", form.New(carrier, extras, size, colors, parcels, fragile, mail))
)

func TestTypeScriptForm(t *testing.T) {
	harness.Node(t)
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), nil)
	elicit.AddTool(shop, &mcp.Tool{Name: "Pack"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			v, err := parcel.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text(fmt.Sprintf("%s %v %s %v %d %t %q", carrier.In(v), extras.In(v), size.In(v), colors.In(v),
				parcels.In(v), fragile.In(v), mail.In(v))), nil, nil
		}, elicit.Asks(parcel))
	server := httptest.NewServer(shop.Handler(nil))
	t.Cleanup(server.Close)

	for _, m := range modes {
		for _, a := range []struct{ name, content, want string }{
			{"full", `{"carrier":"dhl","extras":["signature","insurance"],"size":"large","colors":["blue"],"parcels":3,"fragile":true,"mail":"a@example.com"}`,
				`dhl [signature insurance] large [blue] 3 true "a@example.com"`},
			{"least", `{"size":"small"}`, `ups [] small [] 1 false ""`},
		} {
			t.Run(m.mode+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				r := typeScript(t, server.URL, m.mode, "Pack", "accept", a.content)
				if len(r.Asked) != 1 || r.IsError || r.Text != a.want {
					t.Errorf("asked %d times, got %q (isError %t), want %q", len(r.Asked), r.Text, r.IsError, a.want)
				}
			})
		}
	}
}
