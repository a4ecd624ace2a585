package terminal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/terminal"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Line by line, as with TERM=dumb; what someone types is given beforehand here.
func Example() {
	var out strings.Builder
	person := terminal.New(&terminal.Options{In: strings.NewReader("fill\n12\n3\nsend\n"), Out: &out, Mode: terminal.Plain})
	res, err := person.Answer(context.Background(), &answer.Request{
		Key: "ship", Server: "http://localhost:5280/", ServerName: "shop", Tool: "ShipOrder",
		Params: &mcp.ElicitParams{Mode: "form", Message: "Ship this order"},
		Schema: json.RawMessage(`{"type":"object","properties":{"parcels":{"type":"integer","minimum":1,"maximum":10}},"required":["parcels"]}`),
	})
	content, _ := json.Marshal(res.Content)
	fmt.Print(strings.ReplaceAll(out.String()+"\n", " \n", "\n"))
	fmt.Println(res.Action, string(content), err)
	// Output:
	// http://localhost:5280/ (calls itself "shop") asks, for its tool ShipOrder:
	//   | Ship this order
	// Fill in 1 field: [f]ill, [d]ecline or [c]ancel?
	// Parcels (parcels): a whole number, from 1 to 10, required
	// >   Parcels must be between 1 and 10.
	// >
	// Your answer:
	//   Parcels: 3
	// [s]end, [e]dit, [d]ecline or [c]ancel?
	// accept {"parcels":3} <nil>
}
