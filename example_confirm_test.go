package elicit_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/elicittest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The answer counts for this call's words and arguments, once.
func ExampleConfirm() {
	sure := elicit.Confirm("delete", "Delete a project?")
	type Target struct {
		Name string `json:"name"`
	}
	shop := newShop()
	elicit.AddTool(shop, &mcp.Tool{Name: "Delete"},
		func(ctx context.Context, _ *mcp.CallToolRequest, in Target) (*mcp.CallToolResult, any, error) {
			if _, err := sure.WithMessagef("Delete %s and all that is in it?", in.Name).Value(ctx); err != nil {
				return nil, nil, err // asks; or the user refused, which the model is told
			}
			return elicit.Text("Deleted " + in.Name + "."), nil, nil
		}, elicit.Asks(sure))

	play(shop, "Delete", Target{"apollo"}, elicittest.Accept(sure, true))
	play(shop, "Delete", Target{"apollo"}, elicittest.Accept(sure, false))
	// Output:
	// asks delete: Delete apollo and all that is in it?
	// Deleted apollo.
	// asks delete: Delete apollo and all that is in it?
	// error: the user declined to answer "delete"
}

// A box to tick, for what cannot be undone. Left unticked, it is a no.
func ExampleQuestion_WithCheckbox() {
	sure := elicit.Confirm("delete", "Delete the project?").WithCheckbox("I know that this cannot be undone")

	fmt.Println(sure.Value(inCall(elicittest.Raw("delete", map[string]any{"confirm": true}))))
	fmt.Println(sure.Value(inCall(elicittest.Raw("delete", map[string]any{"confirm": false}))))
	// Output:
	// true <nil>
	// false the user declined to answer "delete"
}

// Data in the words cannot rewrite them.
func ExampleQuestion_WithMessagef() {
	sure := elicit.Confirm("open", "Open a file?")
	ctx := inCall()
	_, _ = sure.WithMessagef("Open %s?", "photo\u202egpj.exe").Value(ctx) // shown as photoexe.jpg
	fmt.Println(elicittest.Asked(ctx)[0].Message)
	// Output: Open photogpj.exe?
}

// One question, asked of several things, each with an answer of its own.
func ExampleQuestion_WithKey() {
	remove := elicit.Confirm("delete", "Delete it?")
	shop := newShop()
	type Names struct {
		Names []string `json:"names"`
	}
	elicit.AddTool(shop, &mcp.Tool{Name: "Delete"},
		func(ctx context.Context, _ *mcp.CallToolRequest, in Names) (*mcp.CallToolResult, any, error) {
			answers := make([]elicit.Answer[bool], len(in.Names))
			var all []elicit.Pending
			for i, name := range in.Names {
				all = append(all, remove.WithKey("delete:"+name).WithMessagef("Delete %s?", name).Into(&answers[i]))
			}
			if err := elicit.RequireAll(ctx, all...); err != nil {
				return nil, nil, err
			}
			var done []string
			for i, name := range in.Names {
				if yes, _ := answers[i].Value(); yes {
					done = append(done, name)
				}
			}
			return elicit.Text("Deleted " + strings.Join(done, ", ") + "."), nil, nil
		})
	play(shop, "Delete", Names{[]string{"apollo", "gemini"}},
		elicittest.Accept(remove.WithKey("delete:apollo"), true), elicittest.Decline("delete:gemini"))
	// Output:
	// asks delete:apollo: Delete apollo?
	// asks delete:gemini: Delete gemini?
	// Deleted apollo.
}
