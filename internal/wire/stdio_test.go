package wire_test

import (
	"fmt"
	"strings"
	"testing"
)

// What is wrong with a line is answered, and is not the end of the connection.
func TestStdioErrors(t *testing.T) {
	p := run(t)
	for _, c := range []struct {
		name, line, code, id string
		words                []string
	}{
		{"not JSON", `nope`, "-32700", "", nil},
		{"cut off", `{"jsonrpc":"2.0","id":1`, "-32700", "", nil},
		{"two values", call("1", "echo", "") + call("2", "echo", ""), "-32700", "", nil},
		{"invalid UTF-8", call("1", "echo", `"arguments":{"x":"`+"\xff"+`"}`), "-32700", "", nil},
		{"unpaired surrogate", call("1", "echo", `"arguments":{"x":"\udc00"}`), "-32700", "", nil},
		{"too deep", call("1", "echo", `"arguments":{"x":`+strings.Repeat("[", 62)+strings.Repeat("]", 62)+`}`), "-32700", "", nil},
		{"too long", call("1", "echo", `"arguments":{"x":"`+strings.Repeat("x", maxLine)+`"}`), "-32600", "", []string{fmt.Sprint(maxLine)}},
		{"much too long", strings.Repeat("x", 300<<10), "-32600", "", []string{fmt.Sprint(maxLine)}},
		{"batch", "[" + call("1", "echo", "") + "]", "-32600", "", []string{"batch"}},
		{"empty batch", "[]", "-32600", "", nil},
		{"number", "7", "-32600", "", nil},
		{"no jsonrpc", `{"id":1,"method":"tools/list"}`, "-32600", "1", []string{"jsonrpc"}},
		{"no method", `{"jsonrpc":"2.0","id":1}`, "-32600", "1", []string{"method"}},
		{"id null", call("null", "echo", ""), "-32600", "", []string{"id"}},
		{"id fraction", call("1.5", "echo", ""), "-32600", "", []string{"id"}},
		{"id object", call("{}", "echo", ""), "-32600", "", []string{"id"}},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}`, "-32600", "1", []string{"method"}},
		{"name twice", call("1", "echo", `"name":"ship"`), "-32600", "1", []string{"name"}},
		{"name twice by case", call("1", "echo", `"NAME":"ship"`), "-32600", "1", nil},
		{"no _meta", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}},
		{"protocolVersion number", strings.Replace(call("1", "echo", ""), `"2026-07-28"`, `7`, 1), "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}},
		{"no clientCapabilities", strings.Replace(call("1", "echo", ""), ","+metaCaps, ``, 1), "-32602", "1", []string{"io.modelcontextprotocol/clientCapabilities"}},
		{"clientCapabilities array", strings.Replace(call("1", "echo", ""), `{"elicitation":{}}`, `[]`, 1), "-32602", "1", []string{"io.modelcontextprotocol/clientCapabilities"}},
		{"capability missing", strings.Replace(call("1", "ship", ""), `{"elicitation":{}}`, `{}`, 1), "-32021", "1", []string{"elicitation"}},
		{"version unknown", strings.Replace(call("1", "echo", ""), `2026-07-28`, `2027-01-01`, 1), "-32022", "1", []string{"protocol version"}},
		{"method unknown", strings.Replace(call("1", "echo", ""), `tools/call`, `tools/unknown`, 1), "-32601", "1", []string{"tools/unknown"}},
		{"tool unknown", call("1", "none", ""), "-32602", "1", []string{"none"}},
		{"arguments array", call("1", "echo", `"arguments":[]`), "-32602", "1", []string{"arguments"}},
		{"requestState number", call("1", "ship", `"requestState":7`), "-32602", "1", []string{"requestState"}},
		{"requestState forged", call("1", "ship", `"requestState":"x"`), "-32602", "1", []string{"Invalid or expired requestState"}},
		{"inputResponses array", call("1", "ship", `"inputResponses":[]`), "-32602", "1", []string{"inputResponses"}},
		{"handler's error", call("1", "fail", ""), "-32603", "1", []string{"the warehouse is closed"}},
		{"panic", call("1", "panic", ""), "-32603", "1", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := p.ask(c.line)
			wantError(t, line, c.code, c.id, c.words...)
			if strings.Contains(line, "secret") {
				t.Errorf("it tells of the panic: %s", line)
			}
			wantText(t, p.ask(call("2", "echo", "")), "2", "echo ")
		})
	}
}

// 2026-07-28 has no handshake and no ping.
func TestStdioRemovedMethods(t *testing.T) {
	p := run(t)
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe"} {
		t.Run(method, func(t *testing.T) {
			line := p.ask(strings.Replace(call("1", "echo", `"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"x","version":"1"},"level":"info","uri":"file:///x"`), "tools/call", method, 1))
			wantError(t, line, "-32601", "1", method)
		})
	}
	wantText(t, p.ask(call("2", "echo", "")), "2", "echo ")
}

func TestStdioIDs(t *testing.T) {
	p := run(t)
	for _, id := range []string{"0", "-1", "-0", "9007199254740991", "9007199254740993", "-9007199254740993", "123456789012345678901234567890",
		`""`, `"1"`, `"9007199254740993"`, `"ü"`, `"elicit:1"`, `"elicit:7"`} {
		t.Run(id, func(t *testing.T) {
			wantText(t, p.ask(call(id, "echo", "")), id, "echo ")
			wantError(t, p.ask(call(id, "none", "")), "-32602", id)
			wantError(t, p.ask(call(id, "echo", `"arguments":7`)), "-32602", id)
			if line := p.ask(call(id, "ship", "")); rawID(t, line) != id || at(decode(t, line), "result", "resultType") != "input_required" {
				t.Errorf("got %s", line)
			}
		})
	}
}

// Requests under way at the same time keep their ids apart.
func TestStdioIDsAtOnce(t *testing.T) {
	p := run(t)
	ids := []string{"9007199254740993", "9007199254740995", "-9007199254740993", `"elicit:1"`, "1"}
	go func() {
		for _, id := range ids {
			p.send(call(id, "echo", `"arguments":{"id":`+id+`}`) + "\n")
		}
	}()
	for range ids {
		line := p.receive()
		id := rawID(t, line)
		content, _ := at(decode(t, line), "result", "content").([]any)
		if len(content) != 1 || at(content[0], "text") != `echo {"id":`+id+`}` {
			t.Errorf("got %s", line)
		}
	}
}

func TestStdioCancelled(t *testing.T) {
	p := run(t)
	for _, id := range []string{"7", `"x"`, `"elicit:1"`, "9007199254740993", "-0"} {
		t.Run(id, func(t *testing.T) {
			p.send(call(id, "wait", "") + "\n")
			wait(t, "the handler runs", p.started)
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"no more"}}` + "\n")
			wait(t, "its context ends", p.ended)
			// Whether the request is still answered is the SDK's business; the connection goes on.
			line := p.ask(call("2", "echo", ""))
			for rawID(t, line) != "2" { // nor when
				line = p.receive()
			}
			wantText(t, line, "2", "echo ")
		})
	}
	t.Run("nobody's", func(t *testing.T) {
		for _, id := range []string{"8", "9007199254740993", "null", "{}"} {
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}` + "\n")
		}
		wantText(t, p.ask(call("2", "echo", "")), "2", "echo ")
	})
}

// Notifications are never answered.
func TestStdioNotifications(t *testing.T) {
	p := run(t)
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/unknown"}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo",` + meta + `}}`,
	} {
		t.Run(line, func(t *testing.T) {
			p.send(line + "\n")
			wantText(t, p.ask(call("2", "echo", "")), "2", "echo ")
		})
	}
	t.Run("a response to nothing", func(t *testing.T) {
		p.send(`{"jsonrpc":"2.0","id":77,"result":{"action":"accept"}}` + "\n")
		wantText(t, p.ask(call("2", "echo", "")), "2", "echo ")
	})
}

// How lines begin and end.
func TestStdioLines(t *testing.T) {
	p := run(t)
	p.send("\n  \r\n\t\n")
	wantText(t, p.ask("  "+call("1", "echo", "")+"\t\r"), "1", "echo ")
	// In pieces.
	line := call("2", "echo", "") + "\n"
	for i := range len(line) {
		p.send(line[i : i+1])
	}
	wantText(t, p.receive(), "2", "echo ")
	// Just within the limit.
	line = call("3", "echo", "")
	wantText(t, p.ask(line+strings.Repeat(" ", maxLine-len(line)-1)), "3", "echo ")
	p.in.Close()
	wait(t, "the server ends with its input", p.done)
}

// "{"ship": {}} counts as cancel; a junk entry nobody asked for is ignored."
func TestStdioInputResponses(t *testing.T) {
	p := run(t)
	accept := `{"action":"accept","content":{"name":"Ann"}}`
	for _, c := range []struct{ responses, text string }{
		{`{"ship":` + accept + `}`, "Shipped as Ann."},
		{`{"ship":{}}`, "Shipping cancelled."},
		{`{"ship":{"action":"decline"}}`, "Shipping cancelled."},
		{`{"x":7,"y":null,"z":[],"w":{"action":7},"ship":` + accept + `}`, "Shipped as Ann."},
		{`null`, ""},
		{`{"ship":7}`, ""},
		{`{"ship":{"action":"accept","content":{"name":7}}}`, ""},
		{`{"ship":{"action":"accept","content":{"name":"Ann","name":"Bob"}}}`, ""},
	} {
		t.Run(c.responses, func(t *testing.T) {
			line := p.ask(call("1", "ship", `"inputResponses":`+c.responses))
			if c.text != "" {
				wantText(t, line, "1", c.text)
			} else if at(decode(t, line), "result", "resultType") != "input_required" {
				t.Errorf("got %s", line)
			}
		})
	}
	wantText(t, p.ask(call("1", "ship", `"requestState":"","inputResponses":{"ship":`+accept+`}`)), "1", "Shipped as Ann.")
	wantText(t, p.ask(call("1", "ship", `"requestState":null,"inputResponses":{"ship":`+accept+`}`)), "1", "Shipped as Ann.")
}

func TestStdioProgress(t *testing.T) {
	p := run(t)
	for _, token := range []string{`"p"`, `7`} {
		p.send(strings.Replace(call("9007199254740993", "progress", ""), `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1) + "\n")
		if e := decode(t, p.receive()); at(e, "method") != "notifications/progress" || at(e, "params", "progressToken") != decode(t, token) {
			t.Errorf("got %v", e)
		}
		wantText(t, p.receive(), "9007199254740993", "done")
	}
}

// A subscription has the id of its request.
func TestStdioListen(t *testing.T) {
	for _, id := range []string{"1", `"sub"`, "9007199254740993", `"elicit:7"`} {
		t.Run(id, func(t *testing.T) {
			p := run(t)
			line := p.ask(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`)
			v := decode(t, line)
			if at(v, "method") != "notifications/subscriptions/acknowledged" || at(v, "params", "_meta", "io.modelcontextprotocol/subscriptionId") != decode(t, id) {
				t.Errorf("got %s", line)
			}
		})
	}
}

// An older client shakes hands, and is asked over its session.
func TestStdioLegacy(t *testing.T) {
	for _, c := range []struct{ asks, speaks string }{{"2025-11-25", "2025-11-25"}, {"2025-06-18", "2025-06-18"}, {"2026-07-28", "2025-11-25"}} {
		t.Run(c.asks, func(t *testing.T) {
			p := run(t)
			line := p.ask(`{"jsonrpc":"2.0","id":9007199254740993,"method":"initialize","params":{"protocolVersion":"` + c.asks + `","capabilities":{"elicitation":{}},"clientInfo":{"name":"old","version":"1"}}}`)
			if v := decode(t, line); at(v, "result", "protocolVersion") != c.speaks || rawID(t, line) != "9007199254740993" {
				t.Fatalf("got %s", line)
			}
			p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
			for _, a := range []struct{ answer, text string }{
				{`{"action":"accept","content":{"name":"Ann"}}`, "Shipped as Ann."},
				{`{"action":"decline"}`, "Shipping cancelled."},
			} {
				q := p.ask(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"ship","inputResponses":{"ship":{"action":"accept","content":{"name":"Eve"}}},"requestState":"x"}}`)
				if v := decode(t, q); at(v, "method") != "elicitation/create" || at(v, "params", "message") != "Ship this order" {
					t.Fatalf("got %s", q)
				}
				wantText(t, p.ask(`{"jsonrpc":"2.0","id":`+rawID(t, q)+`,"result":`+a.answer+`}`), `"c"`, a.text)
			}
			// A request of the new kind on the same connection is one of its own.
			wantText(t, p.ask(call("1", "echo", "")), "1", "echo ")
		})
	}
	t.Run("batch of 2025-03-26", func(t *testing.T) {
		p := run(t)
		p.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
		line := p.ask(`[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}]`)
		if answers, _ := decode(t, line).([]any); len(answers) != 2 {
			t.Errorf("got %s", line)
		}
	})
	t.Run("batch of a later one", func(t *testing.T) {
		p := run(t)
		p.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
		wantError(t, p.ask(`[{"jsonrpc":"2.0","id":2,"method":"ping"}]`), "-32600", "", "batch")
	})
}
