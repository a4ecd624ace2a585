package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestPost1Asks(t *testing.T) {
	wantResult(t, call(t, post1), result1)
}

func TestPost2Answers(t *testing.T) {
	wantResult(t, call(t, post2), result2)
}

// "That retry is a new HTTP request. Everything the tool needs is in that body."
func TestRetryNeedsNothingOfTheFirstRequest(t *testing.T) {
	wantResult(t, post(t, serve(t, newShop()), headers, post1), result1)
	wantResult(t, post(t, serve(t, newShop()), headers, post2), result2)
}

func TestStdio(t *testing.T) {
	p := run(t, newShop())
	p.send(t, post1)
	wantJSON(t, p.receive(t), result1)
	p.send(t, post2)
	wantJSON(t, p.receive(t), result2)
	for _, action := range []string{"decline", "cancel"} {
		p.send(t, answered(t, `{"action":"`+action+`"}`))
		wantJSON(t, p.receive(t), strings.Replace(result2, "Shipped as 1Z999.", "Shipping cancelled.", 1))
	}
}

// What a request declares counts for that request, not for those after it on the same connection.
func TestStdioCapabilitiesAreOfTheRequest(t *testing.T) {
	p := run(t, newShop())
	p.send(t, post1)
	wantJSON(t, p.receive(t), result1)
	p.send(t, replace(t, post1, `"elicitation": { "form": {} }`, ``))
	v := decode(t, p.receive(t))
	if got := fmt.Sprint(at(v, "error", "code")); got != "-32021" {
		t.Errorf("a client without the capability got %v", v)
	}
	p.send(t, post1)
	wantJSON(t, p.receive(t), result1)
}

func TestAcceptDeclineCancel(t *testing.T) {
	for _, c := range []struct{ name, answer, text string }{
		{"accept", formAnswer, "Shipped as 1Z999."},
		{"decline", `{"action": "decline"}`, "Shipping cancelled."},
		{"cancel", `{"action": "cancel"}`, "Shipping cancelled."},
		{"decline with content", `{"action": "decline", "content": {"trackingNumber": "1Z999"}}`, "Shipping cancelled."},
		{"cancel with content null", `{"action": "cancel", "content": null}`, "Shipping cancelled."},
	} {
		t.Run(c.name, func(t *testing.T) { wantText(t, call(t, answered(t, c.answer)), "2", c.text) })
	}
}

// "IsAccepted is Action == accept (ordinal ignore-case)."
func TestActionIgnoresCase(t *testing.T) {
	for _, action := range []string{"accept", "Accept", "ACCEPT", "aCCept", `\u0061ccept`} {
		t.Run(action, func(t *testing.T) {
			wantText(t, call(t, answered(t, `{"action": "`+action+`", "content": {"trackingNumber": "1Z999"}}`)), "2", "Shipped as 1Z999.")
		})
	}
	for _, action := range []string{"Decline", "CANCEL"} {
		t.Run(action, func(t *testing.T) {
			wantText(t, call(t, answered(t, `{"action": "`+action+`"}`)), "2", "Shipping cancelled.")
		})
	}
}

// "Unset Action defaults to cancel." What is no action counts as unset.
func TestUnsetActionIsCancel(t *testing.T) {
	for name, answer := range map[string]string{
		"empty answer":     `{}`,
		"only content":     `{"content": {"trackingNumber": "1Z999"}}`,
		"null":             `{"action": null, "content": {"trackingNumber": "1Z999"}}`,
		"empty":            `{"action": "", "content": {"trackingNumber": "1Z999"}}`,
		"unknown":          `{"action": "accepted", "content": {"trackingNumber": "1Z999"}}`,
		"with white space": `{"action": " accept", "content": {"trackingNumber": "1Z999"}}`,
		"number":           `{"action": 1, "content": {"trackingNumber": "1Z999"}}`,
		"object":           `{"action": {"accept": true}, "content": {"trackingNumber": "1Z999"}}`,
		"under Action":     `{"Action": "accept", "content": {"trackingNumber": "1Z999"}}`,
		"of sampling":      `{"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"}`,
		"of roots":         `{"roots": []}`,
	} {
		t.Run(name, func(t *testing.T) { wantText(t, call(t, answered(t, answer)), "2", "Shipping cancelled.") })
	}
}

// "If a required answer is still missing, RequireForm throws again. The client retries."
func TestRequiredAnswerMissingIsAskedAgain(t *testing.T) {
	t.Run("no inputResponses", func(t *testing.T) {
		wantResult(t, call(t, replace(t, post1, `"id": 1`, `"id": 2`)), replace(t, result1, `"id": 1`, `"id": 2`))
	})
	for name, responses := range map[string]string{
		"inputResponses null":  `null`,
		"inputResponses empty": `{}`,
		"entry null":           `{"ship": null}`,
		"entry no object":      `{"ship": "accept"}`,
		"entry array":          `{"ship": [{"action": "accept", "content": {"trackingNumber": "1Z999"}}]}`,
		"other key":            `{"Ship": {"action": "accept", "content": {"trackingNumber": "1Z999"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			wantResult(t, call(t, withResponses(t, responses)), replace(t, result1, `"id": 1`, `"id": 2`))
		})
	}
	for name, answer := range map[string]string{
		"no content":           `{"action": "accept"}`,
		"content null":         `{"action": "accept", "content": null}`,
		"content empty":        `{"action": "accept", "content": {}}`,
		"content no object":    `{"action": "accept", "content": ["1Z999"]}`,
		"field null":           `{"action": "accept", "content": {"trackingNumber": null}}`,
		"field of other type":  `{"action": "accept", "content": {"trackingNumber": 1999}}`,
		"field of other case":  `{"action": "accept", "content": {"TrackingNumber": "1Z999"}}`,
		"field twice":          `{"action": "accept", "content": {"trackingNumber": "1Z999", "trackingNumber": "1Z998"}}`,
		"key for a field name": `{"action": "accept", "content": {"ship": "1Z999"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			params := wantAsked(t, call(t, answered(t, answer)))
			message, _ := params["message"].(string)
			if !strings.HasPrefix(message, "Ship this order\n") {
				t.Errorf("the message %q does not say what is asked, and what was wrong", message)
			}
			if !strings.Contains(message, "Tracking Number") && name != "content no object" {
				t.Errorf("the message %q does not name the field", message)
			}
		})
	}
	t.Run("and answered then", func(t *testing.T) {
		addr := serve(t, newShop())
		r := post(t, addr, headers, answered(t, `{"action": "accept", "content": {}}`))
		wantAsked(t, r)
		state, _ := at(decode(t, r.body), "result", "requestState").(string)
		if state == "" {
			t.Fatalf("nothing counts the attempts: %s", r.body)
		}
		retry := replace(t, replace(t, post2, `"id": 2`, `"id": 3`), `"inputResponses"`, `"requestState": "`+state+`", "inputResponses"`)
		wantText(t, post(t, addr, headers, retry), "3", "Shipped as 1Z999.")
	})
}

func TestJunkNobodyAskedForIsIgnored(t *testing.T) {
	for _, junk := range []string{`null`, `7`, `"x"`, `[]`, `{}`, `{"action": 7}`, `{"action": "accept", "content": [[1]]}`} {
		t.Run(junk, func(t *testing.T) {
			body := withResponses(t, `{"other": `+junk+`, "ship": `+formAnswer+`}`)
			wantText(t, call(t, body), "2", "Shipped as 1Z999.")
		})
	}
}

// "This example omits requestState. The retry omits it as well."
func TestRequestStateIsOmitted(t *testing.T) {
	for _, body := range []string{post1, post2} {
		if r := call(t, body); strings.Contains(r.body, "requestState") {
			t.Errorf("there is a requestState in %s", r.body)
		}
	}
	for _, nothing := range []string{`null`, `""`} {
		t.Run(nothing+" in the retry", func(t *testing.T) {
			wantText(t, call(t, replace(t, post2, `"inputResponses"`, `"requestState": `+nothing+`, "inputResponses"`)), "2", "Shipped as 1Z999.")
		})
	}
}

// Treat requestState "as attacker-controlled on the retry".
func TestForgedRequestStateIsRefused(t *testing.T) {
	for _, forged := range []string{"x", "e30", strings.Repeat("A", 200)} {
		r := call(t, replace(t, post2, `"inputResponses"`, `"requestState": "`+forged+`", "inputResponses"`))
		wantError(t, r, 400, "-32602", "2", "Invalid or expired requestState")
	}
}

// The table "Three names".
func TestThreeNames(t *testing.T) {
	t.Run("Tool name", func(t *testing.T) {
		wantResult(t, call(t, post1), result1)
		for _, wrong := range []string{"ship", "trackingNumber", "shiporder"} {
			head := replace(t, headers, "Mcp-Name: ShipOrder", "Mcp-Name: "+wrong)
			addr := serve(t, newShop())
			wantError(t, post(t, addr, head, post1), 400, "-32020", "1", "Mcp-Name")
			wantError(t, post(t, addr, headers, replace(t, post1, `"name": "ShipOrder"`, `"name": "`+wrong+`"`)), 400, "-32020", "1", "Mcp-Name")
			wantError(t, post(t, addr, head, replace(t, post1, `"name": "ShipOrder"`, `"name": "`+wrong+`"`)), 400, "-32602", "1", wrong)
		}
	})
	t.Run("Input-request key", func(t *testing.T) {
		requests, _ := at(decode(t, call(t, post1).body), "result", "inputRequests").(map[string]any)
		if keys := slices.Collect(maps.Keys(requests)); !slices.Equal(keys, []string{"ship"}) {
			t.Errorf("the keys of inputRequests are %q", keys)
		}
		for _, wrong := range []string{"ShipOrder", "trackingNumber", "SHIP"} {
			wantAsked(t, call(t, withResponses(t, `{"`+wrong+`": `+formAnswer+`}`)))
		}
	})
	t.Run("Field name", func(t *testing.T) {
		schema := at(wantAsked(t, call(t, post1)), "requestedSchema")
		properties, _ := at(schema, "properties").(map[string]any)
		if names := slices.Collect(maps.Keys(properties)); !slices.Equal(names, []string{"trackingNumber"}) {
			t.Errorf("the properties are %q", names)
		}
		for _, wrong := range []string{"ShipOrder", "ship", "tracking_number"} {
			wantAsked(t, call(t, answered(t, `{"action": "accept", "content": {"`+wrong+`": "1Z999"}}`)))
		}
	})
}

// The table "Required headers and _meta", and the sentences under it.
func TestRequiredHeadersAndMeta(t *testing.T) {
	addr := serve(t, newShop())
	const version, caps = `"io.modelcontextprotocol/protocolVersion": "2026-07-28",`, `"io.modelcontextprotocol/clientCapabilities": {
        "elicitation": { "form": {} }
      }`
	t.Run("Accept lists both application/json and text/event-stream", func(t *testing.T) {
		for accept, missing := range map[string]string{
			"Accept: application/json":  "text/event-stream",
			"Accept: text/event-stream": "application/json",
			"Accept: text/html":         "application/json",
			"Accept:":                   "application/json",
			"X-Other: x":                "application/json",
		} {
			head := replace(t, headers, "Accept: application/json, text/event-stream", accept)
			wantError(t, post(t, addr, head, post1), 406, "-32600", "", "Accept", missing)
		}
	})
	t.Run("MCP-Protocol-Version equals _meta.io.modelcontextprotocol/protocolVersion", func(t *testing.T) {
		for _, line := range []string{"MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: 2026-07-29", "MCP-Protocol-Version:", "X-Other: x"} {
			head := replace(t, headers, "MCP-Protocol-Version: 2026-07-28", line)
			wantError(t, post(t, addr, head, post1), 400, "-32020", "1", "MCP-Protocol-Version")
		}
		wantError(t, post(t, addr, headers, replace(t, post1, "2026-07-28", "2026-07-29")), 400, "-32020", "1", "MCP-Protocol-Version")
	})
	t.Run("Mcp-Method equals method", func(t *testing.T) {
		for _, line := range []string{"Mcp-Method: tools/list", "Mcp-Method: Tools/Call", "Mcp-Method:", "X-Other: x"} {
			head := replace(t, headers, "Mcp-Method: tools/call", line)
			wantError(t, post(t, addr, head, post1), 400, "-32020", "1", "Mcp-Method")
		}
	})
	t.Run("Mcp-Name equals params.name", func(t *testing.T) {
		for _, line := range []string{"Mcp-Name: ship", "Mcp-Name: SHIPORDER", "Mcp-Name:", "X-Other: x"} {
			head := replace(t, headers, "Mcp-Name: ShipOrder", line)
			wantError(t, post(t, addr, head, post1), 400, "-32020", "1", "Mcp-Name")
		}
	})
	t.Run("_meta.io.modelcontextprotocol/protocolVersion is present", func(t *testing.T) {
		wantError(t, post(t, addr, headers, replace(t, post1, version, "")), 400, "-32602", "1", "io.modelcontextprotocol/protocolVersion")
	})
	t.Run("_meta.io.modelcontextprotocol/clientCapabilities is present", func(t *testing.T) {
		body := replace(t, replace(t, post1, caps, ""), version, strings.TrimSuffix(version, ","))
		wantError(t, post(t, addr, headers, body), 400, "-32602", "1", "io.modelcontextprotocol/clientCapabilities")
	})
	t.Run("clientCapabilities.elicitation is declared", func(t *testing.T) {
		for _, declared := range []string{``, `"sampling": {}`, `"elicitation": { "url": {} }`} {
			r := post(t, addr, headers, replace(t, post1, `"elicitation": { "form": {} }`, declared))
			wantError(t, r, 400, "-32021", "1", "elicitation")
			data, _ := json.Marshal(at(decode(t, r.body), "error", "data"))
			if string(data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}` {
				t.Errorf("data is %s", data)
			}
		}
		// "when this tool throws": with the answer there, it does not.
		wantText(t, post(t, addr, headers, replace(t, post2, `"elicitation": { "form": {} }`, ``)), "2", "Shipped as 1Z999.")
	})
	t.Run("both forms advertise form mode", func(t *testing.T) {
		for _, declared := range []string{`"elicitation": { "form": {} }`, `"elicitation": {}`, `"elicitation": { "form": {}, "url": {} }`} {
			wantResult(t, post(t, addr, headers, replace(t, post1, `"elicitation": { "form": {} }`, declared)), result1)
		}
	})
	t.Run("clientInfo is optional", func(t *testing.T) {
		body := replace(t, post1, version, version+`"io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},`)
		wantResult(t, post(t, addr, headers, body), result1)
	})
	t.Run("Origin is optional; if it is sent and invalid, HTTP 403", func(t *testing.T) {
		for _, origin := range []string{"https://evil.example.com", "null", "http://localhost:1", ""} {
			r := post(t, addr, headers+"Origin: "+origin+"\n", post1)
			wantError(t, r, 403, "-32600", "", "Origin")
			if r.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("Origin %q got CORS headers: %v", origin, r.header)
			}
		}
		wantResult(t, post(t, addr, headers+"Origin: http://localhost:5280\n", post1), result1)
	})
}

// The table "Schema profile": what each kind is on the wire.
func TestSchemaProfile(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []form.Field
		want   string // properties
	}{
		{"String", []form.Field{form.String("plain"), form.String("sized").MinLength(3).MaxLength(50).Description("Printed").Default("abc"),
			form.Email("mail"), form.URI("site"), form.Date("day"), form.DateTime("at")},
			`{"plain": {"type": "string", "title": "Plain"},
			  "sized": {"type": "string", "title": "Sized", "description": "Printed", "minLength": 3, "maxLength": 50, "default": "abc"},
			  "mail": {"type": "string", "title": "Mail", "format": "email"},
			  "site": {"type": "string", "title": "Site", "format": "uri"},
			  "day": {"type": "string", "title": "Day", "format": "date"},
			  "at": {"type": "string", "title": "At", "format": "date-time"}}`},
		{"Integer / number", []form.Field{form.Int("parcels").Range(1, 10).Default(2), form.Number("weight").Range(0.5, 30)},
			`{"parcels": {"type": "integer", "title": "Parcels", "minimum": 1, "maximum": 10, "default": 2},
			  "weight": {"type": "number", "title": "Weight", "minimum": 0.5, "maximum": 30}}`},
		{"Boolean", []form.Field{form.Bool("fragile"), form.Bool("insured").Default(false)},
			`{"fragile": {"type": "boolean", "title": "Fragile"},
			  "insured": {"type": "boolean", "title": "Insured", "default": false}}`},
		{"Single-select", []form.Field{form.Choice("size", form.Options("S", "M")...), form.Choice("carrier", form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")).Default("ups")},
			`{"size": {"type": "string", "title": "Size", "enum": ["S", "M"]},
			  "carrier": {"type": "string", "title": "Carrier", "default": "ups", "oneOf": [{"const": "ups", "title": "UPS"}, {"const": "dhl", "title": "DHL"}]}}`},
		{"Multi-select", []form.Field{form.Choices("extras", form.Options("insurance", "signature")...).AtLeast(1).AtMost(2),
			form.Choices("days", form.Opt("sa", "Saturday"), form.Opt("su", "Sunday")).Default("sa")},
			`{"extras": {"type": "array", "title": "Extras", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["insurance", "signature"]}},
			  "days": {"type": "array", "title": "Days", "default": ["sa"], "items": {"anyOf": [{"const": "sa", "title": "Saturday"}, {"const": "su", "title": "Sunday"}]}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
			shop := elicit.New(server, nil)
			q := elicit.NewFormQuestion("ship", "Ship this order", form.New(c.fields...))
			elicit.AddTool(shop, &mcp.Tool{Name: "ShipOrder"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				_, err := q.Require(ctx)
				return nil, nil, err
			}, elicit.Asks(q))
			r := post(t, serve(t, shop), headers, post1)
			wantOK(t, r)
			schema := at(decode(t, r.body), "result", "inputRequests", "ship", "params", "requestedSchema")
			if at(schema, "type") != "object" {
				t.Errorf("type is %v", at(schema, "type"))
			}
			got, _ := json.Marshal(at(schema, "properties"))
			wantJSON(t, string(got), c.want)
			// Fields in the order in which they were declared.
			if names, want := memberNames(t, properties(t, r.body)), memberNames(t, c.want); !slices.Equal(names, want) {
				t.Errorf("the properties are in the order %q, want %q", names, want)
			}
		})
	}
}

// properties is the text of the asked properties.
func properties(t *testing.T, body string) string {
	t.Helper()
	var m struct {
		Result struct {
			InputRequests map[string]struct {
				Params struct {
					RequestedSchema struct{ Properties json.RawMessage }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	return string(m.Result.InputRequests["ship"].Params.RequestedSchema.Properties)
}

// memberNames are the names of an object's members, in order.
func memberNames(t *testing.T, object string) (names []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
	}
	return names
}

// "First-try checklist".
func TestFirstTryChecklist(t *testing.T) {
	list := func(t *testing.T, addr string) []any {
		t.Helper()
		head := replace(t, replace(t, headers, "Mcp-Method: tools/call", "Mcp-Method: tools/list"), "Mcp-Name: ShipOrder\n", "")
		body := replace(t, replace(t, post1, `"tools/call"`, `"tools/list"`), `"name": "ShipOrder",
    "arguments": {},
`, "")
		r := post(t, addr, head, body)
		wantOK(t, r)
		tools, _ := at(decode(t, r.body), "result", "tools").([]any)
		return tools
	}
	t.Run("1. Host", func(t *testing.T) {
		r := call(t, post1)
		wantResult(t, r, result1)
		if id := r.header.Get("Mcp-Session-Id"); id != "" {
			t.Errorf("a session was opened: %s", id)
		}
	})
	t.Run("2. Form and tool", func(t *testing.T) {
		tools := list(t, serve(t, newShop()))
		if len(tools) != 1 || at(tools[0], "name") != "ShipOrder" || at(tools[0], "description") != "Asks for a tracking number, then ships." {
			t.Errorf("the tools are %v", tools)
		}
	})
	t.Run("3. Tasks, if already registered", func(t *testing.T) {
		// A client that can do tasks is asked on tools/call all the same.
		body := replace(t, post1, `"elicitation": { "form": {} }`, `"elicitation": { "form": {} }, "extensions": {"io.modelcontextprotocol/tasks": {}}`)
		wantResult(t, call(t, body), result1)
	})
	t.Run("4. First visit and retry", func(t *testing.T) {
		addr := serve(t, newShop())
		wantResult(t, post(t, addr, headers, post1), result1)
		wantResult(t, post(t, addr, headers, post2), result2)
	})
	t.Run("5. Client", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"trackingNumber": "1Z999"}}, nil
			}})
		session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: "http://" + serve(t, newShop()) + "/"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ShipOrder"})
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := res.Content[0].(*mcp.TextContent); !ok || text.Text != "Shipped as 1Z999." {
			t.Errorf("got %v", res.Content)
		}
	})
	t.Run("6. Headers", func(t *testing.T) {
		// Names of headers are matched in any case.
		r := post(t, serve(t, newShop()), strings.Replace(strings.ToLower(headers), "post / http/1.1", "POST / HTTP/1.1", 1), post1)
		wantError(t, r, 400, "-32020", "1", "Mcp-Name") // its value is not
		head := headers
		for _, name := range []string{"Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
			head = replace(t, head, name+":", strings.ToLower(name)+":")
		}
		wantResult(t, post(t, serve(t, newShop()), head, post1), result1)
	})
	t.Run("7. Retry payload", func(t *testing.T) {
		addr := serve(t, newShop())
		for _, id := range []string{"2", `9007199254740993`, `-5`} {
			r := post(t, addr, headers, replace(t, post2, `"id": 2`, `"id": `+id))
			wantText(t, r, id, "Shipped as 1Z999.")
		}
		// Other arguments are another call: the answer is asked for anew.
		r := post(t, addr, headers, replace(t, post2, `"arguments": {}`, `"arguments": {"x": 1}`))
		if r.status == http.StatusOK && strings.Contains(r.body, "Shipped") {
			t.Errorf("an answer counted for a call with other arguments: %s", r.body)
		}
	})
}
