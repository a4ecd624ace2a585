package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// The demo is the example: the same declarations, to the letter.
func TestDemoIsTheExample(t *testing.T) {
	const example = "../../examples/shiporder/main.go"
	demo, want := declarations(t, "demo.go"), declarations(t, example)
	for _, name := range []string{"Shipment", "ship", "shipOrder", "newShop"} {
		if demo[name] == "" || demo[name] != want[name] {
			t.Errorf("%s in demo.go\n%s\n\nin %s\n%s", name, demo[name], example, want[name])
		}
	}
}

// declarations are the texts of a file's top-level declarations, comments included, by name.
func declarations(t *testing.T, file string) map[string]string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, d := range f.Decls {
		name, doc := "", (*ast.CommentGroup)(nil)
		switch d := d.(type) {
		case *ast.FuncDecl:
			name, doc = d.Name.Name, d.Doc
		case *ast.GenDecl:
			doc = d.Doc
			switch s := d.Specs[0].(type) {
			case *ast.TypeSpec:
				name = s.Name.Name
			case *ast.ValueSpec:
				name = s.Names[0].Name
			}
		}
		start := d.Pos()
		if doc != nil {
			start = doc.Pos()
		}
		texts[name] = string(src[fset.Position(start).Offset:fset.Position(d.End()).Offset])
	}
	return texts
}

func TestDemo(t *testing.T) {
	o := try(t, "demo", "--answer", "ship.trackingNumber=1Z999")
	o.want(t, exitOK, "Shipped as 1Z999.\n",
		"--- request 1\nPOST / HTTP/1.1\nHost: 127.0.0.1:", "--- response 1\nHTTP/1.1 200 OK\n", "--- request 2\n", "--- response 2\n",
		"Mcp-Method: tools/call\nMcp-Name: ShipOrder\nMcp-Protocol-Version: 2026-07-28\n", `"resultType": "input_required"`,
		`"ship": { "action": "accept", "content": { "trackingNumber": "1Z999" } }`, `"resultType": "complete"`)
	if strings.Contains(o.err, "requestState") || strings.Contains(o.err, "request 3") || strings.Contains(o.err, "server/discover") {
		t.Errorf("more than the two POSTs of the form:\n%s", o.err)
	}
	try(t, "demo", "--decline", "ship").want(t, exitOK, "Shipping cancelled.\n", `"action": "decline"`)
	try(t, "demo", "--cancel", "ship").want(t, exitOK, "Shipping cancelled.\n", `"action": "cancel"`)
	try(t, "demo").want(t, exitUnanswered, "", `question "ship"`, `field "trackingNumber"`, "--answer ship.trackingNumber=VALUE")
	typed(t, "f\n1Z999\ns\n", "demo").want(t, exitOK, "Shipped as 1Z999.\n", `(calls itself "shop") asks, for its tool ShipOrder:`, "  | Ship this order")
}
