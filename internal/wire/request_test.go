package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, body string
		method, id string
		kind       string // request, notification, response
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"a"}`, "a", "1", "request"},
		{"any order, any space", " { \"params\" : { } ,\n\"method\":\"a\",\"id\" : \"x\" , \"jsonrpc\":\"2.0\" } ", "a", `"x"`, "request"},
		{"members nobody knows", `{"jsonrpc":"2.0","id":1,"method":"a","x":{"id":2}}`, "a", "1", "request"},
		{"escaped names and method", `{"\u006asonrpc":"2.0","i\u0064":1,"method":"\u0061\/b"}`, "a/b", "1", "request"},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"a","params":null}`, "a", "1", "request"},
		{"_meta null", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":null}}`, "a", "1", "request"},
		{"big id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`, "a", "9007199254740993", "request"},
		{"negative zero", `{"jsonrpc":"2.0","id":-0,"method":"a"}`, "a", "-0", "request"},
		{"empty id", `{"jsonrpc":"2.0","id":"","method":"a"}`, "a", `""`, "request"},
		{"notification", `{"jsonrpc":"2.0","method":"a"}`, "a", "", "notification"},
		{"result", `{"jsonrpc":"2.0","id":1,"result":{}}`, "", "1", "response"},
		{"result null", `{"jsonrpc":"2.0","id":1,"result":null}`, "", "1", "response"},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, "", "1", "response"},
		{"duplicates where they are nobody's", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{"x":1,"x":2,"X":3}}}`, "a", "1", "request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := wire.Check([]byte(c.body)); e != nil {
				t.Fatal(e)
			}
			m, e := wire.Parse([]byte(c.body))
			if e != nil {
				t.Fatal(e)
			}
			kind := "request"
			if m.Notification {
				kind = "notification"
			} else if m.Response {
				kind = "response"
			}
			if m.Method != c.method || string(m.ID) != c.id || kind != c.kind {
				t.Errorf("got a %s of %q with id %s", kind, m.Method, m.ID)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		name, body string
		code       int64
		id, word   string
	}{
		{"array", `[]`, -32600, "", "batch"},
		{"string", `"a"`, -32600, "", "object"},
		{"null", `null`, -32600, "", "object"},
		{"no version", `{"id":1,"method":"a"}`, -32600, "1", "jsonrpc"},
		{"other version", `{"jsonrpc":"2","id":1,"method":"a"}`, -32600, "1", "jsonrpc"},
		{"version a number", `{"jsonrpc":2.0,"id":1,"method":"a"}`, -32600, "1", "jsonrpc"},
		{"version by case", `{"JSONRPC":"2.0","id":1,"method":"a"}`, -32600, "1", "jsonrpc"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"a"}`, -32600, "", "id"},
		{"id false", `{"jsonrpc":"2.0","id":false,"method":"a"}`, -32600, "", "id"},
		{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"a"}`, -32600, "", "id"},
		{"id 1e2", `{"jsonrpc":"2.0","id":1e2,"method":"a"}`, -32600, "", "id"},
		{"id of 401 digits", `{"jsonrpc":"2.0","id":` + strings.Repeat("1", 401) + `,"method":"a"}`, -32600, "", "id"},
		{"no method", `{"jsonrpc":"2.0","id":1}`, -32600, "1", "method"},
		{"nothing", `{"jsonrpc":"2.0"}`, -32600, "", "method"},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, -32600, "1", "method"},
		{"method by case", `{"jsonrpc":"2.0","id":1,"Method":"a"}`, -32600, "1", "method"},
		{"request and response", `{"jsonrpc":"2.0","id":1,"method":"a","error":{}}`, -32600, "1", "method"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, -32600, "1", "method"},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, -32600, "", "method"},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}`, -32600, "", "id"},
		{"id twice by case", `{"jsonrpc":"2.0","Id":1,"id":1,"method":"a"}`, -32600, "", "id"},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"a","method":"a"}`, -32600, "1", "method"},
		{"method twice, id bad", `{"jsonrpc":"2.0","id":1.5,"method":"a","method":"a"}`, -32600, "", "method"},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}`, -32600, "1", "params"},
		{"member nobody knows twice", `{"jsonrpc":"2.0","id":1,"method":"a","x":1,"X":2}`, -32600, "1", "x"},
		{"params array", `{"jsonrpc":"2.0","id":1,"method":"a","params":[]}`, -32602, "1", "params"},
		{"params string", `{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}`, -32602, "1", "params"},
		{"in params twice", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":1,"n\u0061me":1}}`, -32600, "1", "name"},
		{"_meta array", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":[]}}`, -32602, "1", "_meta"},
		{"in _meta twice", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"K":1,"k":1}}}`, -32600, "1", "_meta"},
		{"in _meta twice by the Kelvin sign", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"k":1,"` + "\u212a" + `":1}}}`, -32600, "1", "_meta"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := wire.Check([]byte(c.body)); e != nil {
				t.Fatal(e)
			}
			m, e := wire.Parse([]byte(c.body))
			if e == nil {
				t.Fatal("it is taken")
			}
			if e.Status != 400 || e.Code != c.code || string(m.ID) != c.id || !strings.Contains(strings.ToLower(e.Message), c.word) {
				t.Errorf("got %d %d, id %s: %s", e.Status, e.Code, m.ID, e.Message)
			}
		})
	}
}

// An error response is JSON with the id as it was, or without one.
func TestErrorAppend(t *testing.T) {
	e := &wire.Error{Status: 400, Code: -32600, Message: "a \"b\" \n\u2028 <c>\x00", Data: json.RawMessage(`{"x":1}`)}
	for _, id := range []string{"", "9007199254740993", `"a\u0062"`} {
		var raw json.RawMessage
		if id != "" {
			raw = json.RawMessage(id)
		}
		text := string(e.Append(nil, raw))
		v := decode(t, text)
		if rawID(t, text) != id || at(v, "error", "message") != e.Message || at(v, "error", "data", "x") == nil || at(v, "jsonrpc") != "2.0" {
			t.Errorf("got %s", text)
		}
	}
}

// normalised is what the SDK gets of a request's params.
func normalised(t *testing.T, method, params string) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":9007199254740993,"method":"` + method + `","params":` + params + `}`
	if e := wire.Check([]byte(body)); e != nil {
		t.Fatal(e)
	}
	m, e := wire.Parse([]byte(body))
	if e != nil {
		t.Fatal(e)
	}
	text := string(m.Append(nil, json.RawMessage(`"held"`)))
	v := decode(t, text)
	if at(v, "jsonrpc") != "2.0" || at(v, "id") != "held" || at(v, "method") != method {
		t.Fatalf("got %s", text)
	}
	var out struct{ Params json.RawMessage }
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return string(out.Params)
}

// What the SDK could not read, or would lose, is put into a form that it reads.
func TestNormalise(t *testing.T) {
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, c := range []struct{ name, method, in, want string }{
		{"nothing to do", "tools/call", `{"name":"a","arguments":{"x":9007199254740993},` + modern + `}`, `{"name":"a","arguments":{"x":9007199254740993},` + modern + `}`},
		{"other methods", "tools/list", `{"inputResponses":7,"requestState":7,` + modern + `}`, `{"inputResponses":7,"requestState":7,` + modern + `}`},
		{"inputResponses null", "tools/call", `{"inputResponses":null,` + modern + `}`, `{` + modern + `}`},
		{"requestState null", "prompts/get", `{"requestState":null,` + modern + `}`, `{` + modern + `}`},
		{"requestState", "resources/read", `{"requestState":"x",` + modern + `}`, `{"requestState":"x",` + modern + `}`},
		{"odd entries", "tools/call", `{"inputResponses":{"a":null,"b":7,"c":"accept","d":[],"e":true},` + modern + `}`, `{"inputResponses":{},` + modern + `}`},
		{"no action", "tools/call", `{"inputResponses":{"a":{},"b":{"content":{"x":1}},"c":{"action":null},"d":{"action":7}},` + modern + `}`,
			`{"inputResponses":{"a":{"action":"cancel"},"b":{"action":"cancel"},"c":{"action":"cancel"},"d":{"action":"cancel"}},` + modern + `}`},
		{"an answer", "tools/call", `{"inputResponses":{"a":{"action":"accept","content":{"x":"y","n":7}}},` + modern + `}`, `{"inputResponses":{"a":{"action":"accept","content":{"x":"y","n":7}}},` + modern + `}`},
		{"content null", "tools/call", `{"inputResponses":{"a":{"action":"accept","content":null}},` + modern + `}`, `{"inputResponses":{"a":{"action":"accept"}},` + modern + `}`},
		{"an entry twice", "tools/call", `{"inputResponses":{"a":{"action":"accept"},"\u0061":{"action":"decline"},"b":{"action":"decline"}},` + modern + `}`, `{"inputResponses":{"b":{"action":"decline"}},` + modern + `}`},
		{"roots", "tools/call", `{"inputResponses":{"a":{"roots":[{"uri":"file:///x"}]},"b":{"roots":7}},` + modern + `}`, `{"inputResponses":{"a":{"roots":[{"uri":"file:///x"}]},"b":{"action":"cancel"}},` + modern + `}`},
		{"sampling", "tools/call", `{"inputResponses":{"a":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}},"b":{"role":7,"content":7}},` + modern + `}`,
			`{"inputResponses":{"a":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}},"b":{"action":"cancel"}},` + modern + `}`},
		{"of older clients", "tools/call", `{"name":"a","inputResponses":{"a":{"action":"accept"}},"requestState":"x"}`, `{"name":"a"}`},
		{"of older clients, odd", "tools/call", `{"name":"a","inputResponses":7,"requestState":7,"_meta":{"progressToken":1}}`, `{"name":"a","_meta":{"progressToken":1}}`},
		{"handshake of today", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`, `{"protocolVersion":"2025-06-18","capabilities":{}}`},
		{"handshake of tomorrow", "initialize", `{"protocolVersion":"2026-07-28","capabilities":{}}`, `{"protocolVersion":"2025-11-25","capabilities":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := normalised(t, c.method, c.in); !same(decode(t, got), decode(t, c.want)) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// content is what Require sees of an answer, after the SDK has read it; "" if there is none.
func content(t *testing.T, answer string) (action, text string) {
	t.Helper()
	params := normalised(t, "tools/call", `{"name":"a","inputResponses":{"k":`+answer+`},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)
	var p mcp.CallToolParamsRaw
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		t.Fatalf("%v: %s", err, params)
	}
	r, ok := p.InputResponses["k"].(*mcp.ElicitResult)
	if !ok {
		t.Fatalf("the answer is a %T: %s", p.InputResponses["k"], params)
	}
	return r.Action, string(wire.Content(r))
}

// Nothing of an answer's content is lost on its way through the SDK.
func TestContent(t *testing.T) {
	for _, c := range []string{
		`{}`, `{"a":"b"}`, `{"n":7,"f":1.5,"b":true,"l":["x"],"z":null}`,
		`{"n":9007199254740993}`, `{"n":-9007199254740993}`, `{"n":12345678901234567890123}`, `{"n":0.1234567890123456789}`, `{"n":1e300}`, `{"n":1E400}`, `{"l":[1,9007199254740993]}`,
		`{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"a":1,"\u0061":2}`, `{"a":1,"A":2}`,
		`[]`, `"x"`, `7`, `true`, `[{"a":1}]`,
		`{"a":"\u0000\ud83d\ude00\u2028<>&"}`, `{"io.github.elicit-go/content":"x"}`,
	} {
		t.Run(c, func(t *testing.T) {
			action, got := content(t, `{"action":"accept","content":`+c+`}`)
			if action != "accept" {
				t.Errorf("the action is %q", action)
			}
			if strings.Count(c, `"a":`)+strings.Count(c, `"\u0061":`)+strings.Count(c, `"b":`) > 1 {
				if got != c { // members of one name are still two
					t.Errorf("got %s", got)
				}
				return
			}
			if !same(decode(t, got), decode(t, c)) {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		for _, answer := range []string{`{"action":"accept"}`, `{"action":"accept","content":null}`} {
			if _, got := content(t, answer); got != "" && got != "null" {
				t.Errorf("%s: got %s", answer, got)
			}
		}
	})
	t.Run("a client's own word for it", func(t *testing.T) {
		for _, answer := range []string{
			`{"action":"accept","content":{"a":1},"_meta":{"io.github.elicit-go/content":"{\"a\":2}"}}`,
			`{"action":"accept","content":{"a":1},"_meta":{"io.github.elicit-go\/content":"{\"a\":2}","x":1}}`,
			`{"action":"accept","content":{"a":1},"_meta":{"IO.github.elicit-go/content":"{\"a\":2}"}}`,
		} {
			if _, got := content(t, answer); !same(decode(t, got), decode(t, `{"a":1}`)) {
				t.Errorf("%s: got %s", answer, got)
			}
		}
	})
	t.Run("members twice", func(t *testing.T) {
		// Nobody can say what it is, so it is no answer, and the question is asked again.
		for _, answer := range []string{`{"action":"accept","action":"decline","content":{}}`, `{"action":"accept","content":{"a":1},"content":{"a":2}}`} {
			params := normalised(t, "tools/call", `{"name":"a","inputResponses":{"k":`+answer+`,"l":{"action":"decline"}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)
			var p mcp.CallToolParamsRaw
			if err := json.Unmarshal([]byte(params), &p); err != nil || p.InputResponses["k"] != nil || p.InputResponses["l"] == nil {
				t.Errorf("%s: %v, %s", answer, err, params)
			}
		}
	})
}

// A response of an older client to a question gets the same care.
func TestAppendResponseMessage(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":"b"}}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":"b"}}}`},
		{`{"jsonrpc":"2.0","id":1,"result":{"action":7,"content":{"a":"b"}}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}`},
		{`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","action":"decline"}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}`},
		{`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":9007199254740993}}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","_meta":{"io.github.elicit-go/content":"{\"n\":9007199254740993}"}}}`},
		{`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`},
	} {
		m, e := wire.Parse([]byte(c.in))
		if e != nil {
			t.Fatal(e)
		}
		if got := string(m.AppendResponseMessage(nil, []byte(c.in))); !same(decode(t, got), decode(t, c.want)) {
			t.Errorf("%s: got %s", c.in, got)
		}
	}
}

func TestCheckClient(t *testing.T) {
	for _, c := range []struct {
		meta string
		ok   bool
	}{
		{`{"io.modelcontextprotocol/clientCapabilities":{}}`, true},
		{`{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`, true},
		{`{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{},"extensions":{"x/y":{}},"experimental":{}}}`, true},
		{`{"io.modelcontextprotocol/clientCapabilities":{"unknown":7}}`, true},
		{`{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1","title":"A","extra":7}}`, true},
		{`{}`, false},
		{`{"io.modelcontextprotocol/clientcapabilities":{}}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":null}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":true}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{"elicitation":null}}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{"elicitation":true}}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":"yes"}}}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{"sampling":[]}}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":null}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{}}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"a"}}`, false},
		{`{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"a","version":1}}`, false},
	} {
		t.Run(c.meta, func(t *testing.T) {
			m, e := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":` + c.meta + `}}`))
			if e != nil {
				t.Fatal(e)
			}
			e = m.CheckClient()
			if (e == nil) != c.ok {
				t.Errorf("got %v", e)
			}
			if e != nil && (e.Code != -32602 || !strings.Contains(e.Message, "io.modelcontextprotocol/client")) {
				t.Errorf("got %d: %s", e.Code, e.Message)
			}
		})
	}
}
