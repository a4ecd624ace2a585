package elicit_test

import (
	"context"
	"fmt"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A question asks for the fields of a struct. It is usually a package variable.
func ExampleNewQuestion() {
	type Shipment struct {
		TrackingNumber string  `json:"trackingNumber" jsonschema:"printed on the label"`
		Note           *string `json:"note"` // a pointer: may be left out
	}
	ship := elicit.NewQuestion[Shipment]("ship", "Ship this order")

	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			answer, err := ship.Require(ctx)
			if err != nil {
				return nil, nil, err // asks; the retry runs this handler again, from the top
			}
			s, ok := answer.Value()
			if !ok {
				return elicit.Text("Shipping cancelled."), nil, nil
			}
			return elicit.Text("Shipped as " + s.TrackingNumber + "."), nil, nil
		}, elicit.Asks(ship))

	play(shop, "ShipOrder", nil, elicittest.Accept(ship, Shipment{TrackingNumber: "1Z999"}))
	play(shop, "ShipOrder", nil, elicittest.Decline("ship"))
	// Output:
	// asks ship: Ship this order
	// Shipped as 1Z999.
	// asks ship: Ship this order
	// Shipping cancelled.
}

// Rules and options are given field by field.
func ExampleNewFormQuestion() {
	type Order struct {
		Size    string `json:"size"`
		Parcels int    `json:"parcels,omitempty"`
	}
	order := elicit.NewFormQuestion("order", "What do you need?", form.Build(func(o *Order) []form.Field {
		return []form.Field{
			form.ChoiceOf(&o.Size, form.Opt("s", "Small"), form.Opt("l", "Large")),
			form.IntOf(&o.Parcels).Range(1, 10).Default(1),
		}
	}))

	ctx := inCall(elicittest.Raw("order", map[string]any{"size": "l"}))
	answer, err := order.Require(ctx)
	if err != nil {
		panic(err)
	}
	o, _ := answer.Value()
	fmt.Println(o.Size, o.Parcels, answer.Given("parcels"))
	// Output: l 1 false
}

// A form may depend on data. Its fields read themselves out of the answer.
func ExampleNewFormQuestion_dynamic() {
	// In a handler:
	ctx := inCall(elicittest.Raw("seat", map[string]any{"seat": "12F"}))
	free := []string{"12A", "12F"}

	seat := form.Choice("seat", form.Options(free...)...).Required()
	values, err := elicit.NewFormQuestion("seat", "Which seat?", form.New(seat)).Value(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(seat.In(values))
	// Output: 12F
}

// Input asks for one line of text.
func ExampleInput() {
	name := elicit.Input("name", "What is the project called?")

	ctx := inCall(elicittest.Accept(name, "Apollo"))
	fmt.Println(name.Value(ctx))
	// Output: Apollo <nil>
}

// Choose asks for one of a few options, which may be of a type of your own.
func ExampleChoose() {
	type Region string
	region := elicit.Choose("region", "Where does it run?", form.Opt(Region("eu"), "Europe"), form.Opt(Region("us"), "America"))

	ctx := inCall(elicittest.Accept(region, "eu"))
	r, err := region.Value(ctx)
	fmt.Println(r, err)
	// Output: eu <nil>
}

// Making a question never fails. Err says what is wrong with it, as AddTool does by a panic, and Require by its error.
func ExampleQuestion_Err() {
	fmt.Println(elicit.Input("a#b", "Which?").Err())
	fmt.Println(elicit.Choose[string]("region", "Where?").Err())
	fmt.Println(elicit.Confirm("sure", "See https://go.dev. Sure?").Err())
	// Output:
	// elicit: question "a#b": a key cannot contain #, which marks repeated askings
	// elicit: question "region": form: field "choice": it has no options to choose from: give it some
	// elicit: question "sure": its message contains the URL https://go.dev; a message must not lead people to links (MCP 2026-07-28, client/elicitation, Safe URL Handling)
}

// CanAsk tells whether this client can show the question, before anything is asked.
func ExampleQuestion_CanAsk() {
	extras := form.Choices("extras", form.Options("insurance", "signature")...)
	ask := elicit.NewFormQuestion("extras", "Any extras?", form.New(extras))

	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Quote"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			if !ask.CanAsk(ctx) {
				return elicit.Text("Without extras: 5."), nil, nil
			}
			values, err := ask.Value(ctx)
			if err != nil {
				return nil, nil, err
			}
			return elicit.Text(fmt.Sprintf("With %v: 7.", extras.In(values))), nil, nil
		}, elicit.Asks(ask))

	var chosen form.Values
	extras.Set(&chosen, "insurance")
	playAs("2025-11-25", shop, "Quote", nil, elicittest.Accept(ask, chosen))
	playAs("2025-06-18", shop, "Quote", nil) // knows no fields for several choices
	// Output:
	// asks extras: Any extras?
	// With [insurance]: 7.
	// Without extras: 5.
}
