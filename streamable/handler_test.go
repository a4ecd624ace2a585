package streamable_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/streamable"
)

func echo() message { return tool("echo", `"arguments":{"x":1}`) }

func TestRightRequest(t *testing.T) {
	s := newSite(t, nil)
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)
	for _, m := range []message{request("server/discover", "", ""), request("tools/list", "", ""), request("prompts/list", "", ""),
		request("resources/list", "", ""), request("resources/templates/list", "", "")} {
		t.Run(m.method, func(t *testing.T) { wantOK(t, do(t, s.addr, m)) })
	}
}

const maxBody = 4096

// The table of errors: status, code, id, and a message that names the culprit.
func TestErrors(t *testing.T) {
	s := newSite(t, &streamable.Options{MaxBody: maxBody})
	type row struct {
		name string
		m    message
		want refusal
	}
	ask := tool("ship", "")
	deep := func(n int) string { return `"arguments":{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	padded := func(m message, n int) message {
		text := m.text()
		return m.withBody(text + strings.Repeat(" ", n-len(text)))
	}
	for _, group := range []struct {
		name string
		rows []row
	}{
		{"Origin present and not allowed, or null; Host not local on a loopback listener", []row{
			{"foreign origin", echo().with("Origin", "https://evil.example.com"), refusal{403, "-32600", "", []string{"Origin"}}},
			{"null", echo().with("Origin", "null"), refusal{403, "-32600", "", []string{"Origin"}}},
			{"host", echo().withHost("evil.example.com"), refusal{403, "-32600", "", []string{"Host"}}},
		}},
		{"not POST", []row{
			{"PUT", echo().withVerb("PUT"), refusal{405, "-32600", "", []string{"PUT", "POST"}}},
			{"PATCH", echo().withVerb("PATCH"), refusal{405, "-32600", "", []string{"PATCH", "POST"}}},
			{"GET", message{verb: "GET", host: "localhost", header: []field{{"Accept", "text/event-stream"}}}, refusal{405, "-32600", "", []string{"GET", "POST"}}},
			{"GET of 2026-07-28", message{verb: "GET", host: "localhost", header: []field{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", "x"}, {"MCP-Protocol-Version", "2026-07-28"}}},
				refusal{405, "-32600", "", []string{"GET", "POST"}}},
			{"DELETE", message{verb: "DELETE", host: "localhost"}, refusal{405, "-32600", "", []string{"DELETE", "POST"}}},
			{"OPTIONS without Origin", message{verb: "OPTIONS", host: "localhost"}, refusal{405, "-32600", "", []string{"OPTIONS", "POST"}}},
		}},
		{"Content-Type not application/json (parameters ignored)", []row{
			{"absent", echo().without("Content-Type"), refusal{415, "-32600", "", []string{"Content-Type"}}},
			{"text/plain", echo().with("Content-Type", "text/plain"), refusal{415, "-32600", "", []string{"Content-Type"}}},
			{"a form", echo().with("Content-Type", "application/x-www-form-urlencoded"), refusal{415, "-32600", "", []string{"Content-Type"}}},
			{"another JSON", echo().with("Content-Type", "application/json-rpc"), refusal{415, "-32600", "", []string{"Content-Type"}}},
			{"two", echo().and("Content-Type", "text/plain"), refusal{415, "-32600", "", []string{"Content-Type"}}},
			{"compressed", echo().with("Content-Encoding", "gzip"), refusal{415, "-32600", "", []string{"Content-Encoding"}}},
		}},
		{"Accept lacks application/json or text/event-stream", []row{
			{"absent", echo().without("Accept"), refusal{406, "-32600", "", []string{"Accept"}}},
			{"JSON only", echo().with("Accept", "application/json"), refusal{406, "-32600", "", []string{"Accept", "text/event-stream"}}},
			{"streams only", echo().with("Accept", "text/event-stream"), refusal{406, "-32600", "", []string{"Accept", "application/json"}}},
		}},
		{"body over the limit", []row{
			{"one byte", padded(echo(), maxBody+1), refusal{413, "-32600", "", []string{"4096"}}},
			{"much", padded(echo(), 10*maxBody), refusal{413, "-32600", "", []string{"4096"}}},
		}},
		{"not JSON, trailing bytes, invalid UTF-8, deeper than 64", []row{
			{"empty", echo().withBody(" "), refusal{400, "-32700", "", nil}},
			{"not JSON", echo().withBody("{nope}"), refusal{400, "-32700", "", nil}},
			{"cut off", echo().withBody(strings.TrimSuffix(echo().text(), "}")), refusal{400, "-32700", "", nil}},
			{"trailing bytes", echo().withBody(echo().text() + "x"), refusal{400, "-32700", "", nil}},
			{"two messages", echo().withBody(echo().text() + "\n" + echo().text()), refusal{400, "-32700", "", nil}},
			{"byte order mark", echo().withBody("\ufeff" + echo().text()), refusal{400, "-32700", "", nil}},
			{"invalid UTF-8", tool("echo", `"arguments":{"x":"`+"\xff"+`"}`), refusal{400, "-32700", "", nil}},
			{"unpaired surrogate", tool("echo", `"arguments":{"x":"\ud800"}`), refusal{400, "-32700", "", nil}},
			{"NaN", tool("echo", `"arguments":{"x":NaN}`), refusal{400, "-32700", "", nil}},
			{"depth 65", tool("echo", deep(62)), refusal{400, "-32700", "", nil}},
		}},
		{"not one JSON-RPC message", []row{
			{"batch", echo().withBody("[" + echo().text() + "]"), refusal{400, "-32600", "", []string{"batch"}}},
			{"empty batch", echo().withBody("[]"), refusal{400, "-32600", "", nil}},
			{"string", echo().withBody(`"tools/call"`), refusal{400, "-32600", "", nil}},
			{"null", echo().withBody(`null`), refusal{400, "-32600", "", nil}},
			{"no jsonrpc", echo().withBody(strings.Replace(echo().text(), `"jsonrpc":"2.0",`, "", 1)), refusal{400, "-32600", "1", []string{"jsonrpc"}}},
			{"jsonrpc 1.0", echo().withBody(strings.Replace(echo().text(), `"2.0"`, `"1.0"`, 1)), refusal{400, "-32600", "1", []string{"jsonrpc"}}},
			{"jsonrpc a number", echo().withBody(strings.Replace(echo().text(), `"2.0"`, `2.0`, 1)), refusal{400, "-32600", "1", []string{"jsonrpc"}}},
			{"no method", echo().withBody(`{"jsonrpc":"2.0","id":1,"params":{}}`), refusal{400, "-32600", "1", []string{"method"}}},
			{"method no string", echo().withBody(`{"jsonrpc":"2.0","id":1,"method":7}`), refusal{400, "-32600", "1", []string{"method"}}},
			{"method empty", echo().withBody(`{"jsonrpc":"2.0","id":1,"method":""}`), refusal{400, "-32600", "1", []string{"method"}}},
			{"method and result", echo().withBody(`{"jsonrpc":"2.0","id":1,"method":"tools/list","result":{}}`), refusal{400, "-32600", "1", []string{"method", "result"}}},
			{"id null", echo().withID("null"), refusal{400, "-32600", "", []string{"id"}}},
			{"id true", echo().withID("true"), refusal{400, "-32600", "", []string{"id"}}},
			{"id object", echo().withID("{}"), refusal{400, "-32600", "", []string{"id"}}},
			{"id array", echo().withID("[1]"), refusal{400, "-32600", "", []string{"id"}}},
			{"id fraction", echo().withID("1.5"), refusal{400, "-32600", "", []string{"id"}}},
		}},
		{"a JSON-RPC response", []row{
			{"result", echo().withBody(`{"jsonrpc":"2.0","id":1,"result":{}}`), refusal{400, "-32600", "1", []string{"response"}}},
			{"error", echo().withBody(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`), refusal{400, "-32600", "1", []string{"response"}}},
		}},
		{"duplicate members in envelope, params or _meta (also by case)", []row{
			{"id", echo().withBody(strings.Replace(echo().text(), `"id":1`, `"id":1,"id":2`, 1)), refusal{400, "-32600", "", []string{"id"}}},
			{"id by case", echo().withBody(strings.Replace(echo().text(), `"id":1`, `"id":1,"ID":2`, 1)), refusal{400, "-32600", "", []string{"ID"}}},
			{"method", echo().withBody(strings.Replace(echo().text(), `"id":1`, `"id":1,"method":"tools/list"`, 1)), refusal{400, "-32600", "1", []string{"method"}}},
			{"method by case", echo().withBody(strings.Replace(echo().text(), `"id":1`, `"id":1,"Method":"tools/list"`, 1)), refusal{400, "-32600", "1", nil}},
			{"method by escape", echo().withBody(strings.Replace(echo().text(), `"id":1`, `"id":1,"\u006dethod":"tools/list"`, 1)), refusal{400, "-32600", "1", []string{"method"}}},
			{"params", echo().withBody(strings.Replace(echo().text(), `"id":1`, `"id":1,"params":{}`, 1)), refusal{400, "-32600", "1", []string{"params"}}},
			{"name", tool("echo", `"name":"ship"`), refusal{400, "-32600", "1", []string{"params", "name"}}},
			{"name by case", tool("echo", `"Name":"ship"`), refusal{400, "-32600", "1", []string{"params"}}},
			{"arguments", tool("echo", `"arguments":{},"arguments":{}`), refusal{400, "-32600", "1", []string{"params", "arguments"}}},
			{"_meta", tool("echo", `"_meta":{}`), refusal{400, "-32600", "1", []string{"params", "_meta"}}},
			{"protocolVersion", echo().withMeta(metaBoth + "," + metaVersion), refusal{400, "-32600", "1", []string{"_meta", "protocolVersion"}}},
			{"clientCapabilities by case", echo().withMeta(metaBoth + `,"io.modelcontextprotocol/ClientCapabilities":{}`), refusal{400, "-32600", "1", []string{"_meta"}}},
		}},
		{"_meta protocolVersion or clientCapabilities absent or malformed; clientInfo malformed", []row{
			{"no params", echo().withBody(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"params null", echo().withBody(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"no _meta", echo().withMeta("-"), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"_meta null", echo().withMeta("-").withParams(`"_meta":null`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"_meta array", echo().withMeta("-").withParams(`"_meta":[]`), refusal{400, "-32602", "1", []string{"_meta"}}},
			{"no protocolVersion", echo().withMeta(metaCaps), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"protocolVersion null", echo().withMeta(`"io.modelcontextprotocol/protocolVersion":null,` + metaCaps), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"protocolVersion number", echo().withMeta(`"io.modelcontextprotocol/protocolVersion":20260728,` + metaCaps), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"protocolVersion number without a header", echo().without("MCP-Protocol-Version").withMeta(`"io.modelcontextprotocol/protocolVersion":20260728,` + metaCaps), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/protocolVersion"}}},
			{"no clientCapabilities", echo().withMeta(metaVersion), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientCapabilities"}}},
			{"clientCapabilities null", echo().withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":null`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientCapabilities"}}},
			{"clientCapabilities array", echo().withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":[]`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientCapabilities"}}},
			{"elicitation true", echo().withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":true}`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientCapabilities", "elicitation"}}},
			{"elicitation.form true", echo().withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":true}}`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientCapabilities"}}},
			{"clientInfo string", echo().withMeta(metaBoth + `,"io.modelcontextprotocol/clientInfo":"x"`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientInfo"}}},
			{"clientInfo name a number", echo().withMeta(metaBoth + `,"io.modelcontextprotocol/clientInfo":{"name":1,"version":"1"}`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientInfo"}}},
			{"clientInfo without version", echo().withMeta(metaBoth + `,"io.modelcontextprotocol/clientInfo":{"name":"x"}`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientInfo"}}},
			{"clientInfo without name", echo().withMeta(metaBoth + `,"io.modelcontextprotocol/clientInfo":{"version":"1"}`), refusal{400, "-32602", "1", []string{"io.modelcontextprotocol/clientInfo"}}},
		}},
		{"MCP-Protocol-Version absent, unequal, or with invalid characters", []row{
			{"absent", echo().without("MCP-Protocol-Version"), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}}},
			{"empty", echo().with("MCP-Protocol-Version", ""), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}}},
			{"older", echo().with("MCP-Protocol-Version", "2025-11-25"), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version", "2025-11-25", "2026-07-28"}}},
			{"newer", echo().with("MCP-Protocol-Version", "2026-07-29"), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}}},
			{"twice", echo().and("MCP-Protocol-Version", "2026-07-28"), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}}},
			{"not ASCII", echo().with("MCP-Protocol-Version", "2026-07-28\u00a0"), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}}},
			{"Base64, which it has not", echo().with("MCP-Protocol-Version", "=?base64?MjAyNi0wNy0yOA==?="), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}}},
		}},
		{"Mcp-Method absent, unequal, or with invalid characters", []row{
			{"absent", echo().without("Mcp-Method"), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
			{"empty", echo().with("Mcp-Method", ""), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
			{"unequal", echo().with("Mcp-Method", "tools/list"), refusal{400, "-32020", "1", []string{"Mcp-Method", "tools/list", "tools/call"}}},
			{"other case", echo().with("Mcp-Method", "Tools/Call"), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
			{"twice", echo().and("Mcp-Method", "tools/call"), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
			{"listed twice", echo().with("Mcp-Method", "tools/call, tools/call"), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
			{"Base64, which it has not", echo().with("Mcp-Method", "=?base64?dG9vbHMvY2FsbA==?="), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
			{"of a method without a name", request("tools/list", "", "").without("Mcp-Method"), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
		}},
		{"version not supported", []row{
			{"later", echo().modern("2027-01-01"), refusal{400, "-32022", "1", []string{"2027-01-01"}}},
			{"word", echo().modern("DRAFT-2026-v1"), refusal{400, "-32022", "1", []string{"DRAFT-2026-v1"}}},
		}},
		{"unknown method", []row{
			{"unknown", request("tools/unknown", "", ""), refusal{404, "-32601", "1", []string{"tools/unknown"}}},
			{"without Mcp-Method", request("tools/unknown", "", "").without("Mcp-Method"), refusal{404, "-32601", "1", []string{"tools/unknown"}}},
			{"other case", request("Tools/List", "", ""), refusal{404, "-32601", "1", []string{"Tools/List"}}},
			{"a notification's", request("notifications/cancelled", "", `"requestId":1`), refusal{404, "-32601", "1", []string{"notifications/cancelled"}}},
			{"a client's", request("elicitation/create", "", `"message":"x"`), refusal{404, "-32601", "1", []string{"elicitation/create"}}},
			{"initialize", request("initialize", "", `"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"x","version":"1"}`), refusal{404, "-32601", "1", []string{"initialize"}}},
			{"ping", request("ping", "", ""), refusal{404, "-32601", "1", []string{"ping"}}},
			{"logging/setLevel", request("logging/setLevel", "", `"level":"info"`), refusal{404, "-32601", "1", []string{"logging/setLevel"}}},
			{"resources/subscribe", request("resources/subscribe", "", `"uri":"file:///read"`), refusal{404, "-32601", "1", []string{"resources/subscribe"}}},
			{"resources/unsubscribe", request("resources/unsubscribe", "", `"uri":"file:///read"`), refusal{404, "-32601", "1", []string{"resources/unsubscribe"}}},
		}},
		{"unknown tool, prompt or resource", []row{
			{"tool", tool("none", ""), refusal{400, "-32602", "1", []string{"none"}}},
			{"prompt", request("prompts/get", "none", `"name":"none"`), refusal{400, "-32602", "1", []string{"none"}}},
			{"resource", request("resources/read", "file:///none", `"uri":"file:///none"`), refusal{400, "-32602", "1", nil}},
		}},
		{"inputResponses or requestState of the wrong type", []row{
			{"inputResponses array", tool("ship", `"inputResponses":[]`), refusal{400, "-32602", "1", []string{"inputResponses"}}},
			{"inputResponses string", tool("ship", `"inputResponses":"x"`), refusal{400, "-32602", "1", []string{"inputResponses"}}},
			{"inputResponses false", tool("ship", `"inputResponses":false`), refusal{400, "-32602", "1", []string{"inputResponses"}}},
			{"requestState number", tool("ship", `"requestState":7`), refusal{400, "-32602", "1", []string{"requestState"}}},
			{"requestState object", tool("ship", `"requestState":{}`), refusal{400, "-32602", "1", []string{"requestState"}}},
			{"prompt", request("prompts/get", "greet", `"name":"greet","requestState":7`), refusal{400, "-32602", "1", []string{"requestState"}}},
			{"resource", request("resources/read", "file:///read", `"uri":"file:///read","inputResponses":[]`), refusal{400, "-32602", "1", []string{"inputResponses"}}},
		}},
		{"state refused", []row{
			{"tool", tool("ship", `"requestState":"forged"`), refusal{400, "-32602", "1", []string{"Invalid or expired requestState"}}},
			{"tool that never asks", tool("echo", `"requestState":"forged"`), refusal{400, "-32602", "1", []string{"Invalid or expired requestState"}}},
			{"prompt", request("prompts/get", "greet", `"name":"greet","requestState":"forged"`), refusal{400, "-32602", "1", []string{"Invalid or expired requestState"}}},
			{"resource", request("resources/read", "file:///read", `"uri":"file:///read","requestState":"forged"`), refusal{400, "-32602", "1", []string{"Invalid or expired requestState"}}},
		}},
		{"malformed params", []row{
			{"arguments array", tool("echo", `"arguments":[]`), refusal{400, "-32602", "1", []string{"arguments"}}},
			{"arguments string", tool("echo", `"arguments":"x"`), refusal{400, "-32602", "1", []string{"arguments"}}},
			{"prompt arguments number", request("prompts/get", "greet", `"name":"greet","arguments":7`), refusal{400, "-32602", "1", []string{"arguments"}}},
			{"prompt argument no string", request("prompts/get", "greet", `"name":"greet","arguments":{"x":7}`), refusal{400, "-32602", "1", []string{"arguments"}}},
			{"name number", request("tools/call", "7", `"name":7`), refusal{400, "-32602", "1", []string{"name"}}},
			{"cursor number", request("tools/list", "", `"cursor":7`), refusal{400, "-32602", "1", []string{"cursor"}}},
			{"cursor of nobody", request("tools/list", "", `"cursor":"x"`), refusal{400, "-32602", "1", []string{"cursor"}}},
			{"notifications absent", request("subscriptions/listen", "", ""), refusal{400, "-32602", "1", []string{"notifications"}}},
		}},
		{"capability needed and not declared", []row{
			{"nothing", ask.withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{}`), refusal{400, "-32021", "1", []string{"elicitation"}}},
			{"url only", ask.withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}`), refusal{400, "-32021", "1", []string{"elicitation"}}},
			{"prompt", request("prompts/get", "greet", `"name":"greet"`).withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{}`), refusal{400, "-32021", "1", []string{"elicitation"}}},
			{"resource", request("resources/read", "file:///read", `"uri":"file:///read"`).withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{}`), refusal{400, "-32021", "1", []string{"elicitation"}}},
		}},
		{"unknown or ended session", []row{
			{"POST", legacy("2025-11-25", "gone", "tools/list", ""), refusal{404, "-32600", "1", []string{"Mcp-Session-Id"}}},
			{"POST without a version", legacy("", "gone", "tools/list", ""), refusal{404, "-32600", "1", []string{"Mcp-Session-Id"}}},
			{"notification", legacy("2025-11-25", "gone", "notifications/initialized", "").withID(""), refusal{404, "-32600", "", []string{"Mcp-Session-Id"}}},
			{"GET", message{verb: "GET", host: "localhost", header: []field{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", "gone"}}}, refusal{404, "-32600", "", []string{"Mcp-Session-Id"}}},
			{"DELETE", message{verb: "DELETE", host: "localhost", header: []field{{"Mcp-Session-Id", "gone"}}}, refusal{404, "-32600", "", []string{"Mcp-Session-Id"}}},
		}},
		{"a handler's own error that is no tool error", []row{
			{"tool", tool("fail", ""), refusal{200, "-32603", "1", []string{"the warehouse is closed"}}},
		}},
		{"a swallowed asking error", []row{
			{"tool", tool("swallow", ""), refusal{200, "-32603", "1", []string{"server bug: ", "swallow", "ship", "did not return the error"}}},
		}},
		{"a refusal in a prompt or resource", []row{
			{"prompt", request("prompts/get", "greet", `"name":"greet","inputResponses":{"greet":{"action":"decline"}}`), refusal{200, "-32603", "1", []string{"declined", "greet"}}},
			{"resource", request("resources/read", "file:///read", `"uri":"file:///read","inputResponses":{"read":{"action":"cancel"}}`), refusal{200, "-32603", "1", []string{"dismissed", "read"}}},
		}},
		{"handler panics", []row{
			{"tool", tool("panic", ""), refusal{500, "-32603", "1", nil}},
			{"prompt", request("prompts/get", "panic", `"name":"panic"`), refusal{500, "-32603", "1", nil}},
		}},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.rows {
				for _, m := range bothWays(c.m) {
					t.Run(c.name, func(t *testing.T) { wantRefusal(t, do(t, s.addr, m), c.want) })
				}
			}
		})
	}

	t.Run("just within the limits", func(t *testing.T) {
		wantText(t, do(t, s.addr, padded(echo(), maxBody)), `echo {"x":1}`)
		wantOK(t, do(t, s.addr, tool("echo", deep(61))))
		wantText(t, do(t, s.addr, tool("echo", `"arguments":{"x":1,"X":2}`)), `echo {"x":1,"X":2}`)
		for _, ct := range []string{"application/json; charset=utf-8", "Application/JSON", "application/json;charset=utf-8;x=y", `application/json; x`} {
			wantText(t, do(t, s.addr, echo().with("Content-Type", ct)), `echo {"x":1}`)
		}
	})
	t.Run("a tool error is no error of the protocol", func(t *testing.T) {
		result := wantOK(t, do(t, s.addr, tool("typed", "")))
		if at(result, "isError") != true {
			t.Errorf("got %v", result)
		}
	})
}

func TestErrorData(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		name string
		m    message
		path string
		want string
	}{
		{"version not supported: data.requested", echo().modern("2027-01-01"), "requested", `"2027-01-01"`},
		{"unknown resource: data.uri", request("resources/read", "file:///none", `"uri":"file:///none"`), "uri", `"file:///none"`},
		{"capability: data.requiredCapabilities", tool("ship", "").withMeta(metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{"roots":{}}`), "requiredCapabilities", `{"elicitation":{"form":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := do(t, s.addr, c.m)
			wantEqual(t, c.path, at(decode(t, r.body), "error", "data", c.path), c.want)
		})
	}
	t.Run("version not supported: data.supported", func(t *testing.T) {
		v, _ := at(decode(t, do(t, s.addr, echo().modern("2027-01-01")).body), "error", "data", "supported").([]any)
		if !slices.Contains(v, any("2026-07-28")) || slices.Contains(v, any("2027-01-01")) {
			t.Errorf("supported is %v", v)
		}
	})
	t.Run("405 says what is allowed", func(t *testing.T) {
		r := do(t, s.addr, echo().withVerb("PUT"))
		if !strings.Contains(r.header.Get("Allow"), "POST") {
			t.Errorf("Allow is %q", r.header.Get("Allow"))
		}
	})
}

// The order of checks: of two things wrong, the client learns of the earlier.
func TestOrderOfChecks(t *testing.T) {
	s := newSite(t, &streamable.Options{MaxBody: maxBody})
	right := tool("execute_sql", `"arguments":{"region":"us-west1"}`).with("Mcp-Param-Region", "us-west1")
	warm(t, s)
	wantText(t, do(t, s.addr, right), `echo {"region":"us-west1"}`)

	// Each changes what the ones before it leave alone; those of the body's text come last.
	type stage struct {
		name  string
		spoil func(message) message
		want  refusal
	}
	in := func(old, new string) func(message) message {
		return func(m message) message {
			m.params, m.meta, m.method = strings.Replace(m.params, old, new, 1), strings.Replace(m.meta, old, new, 1), strings.Replace(m.method, old, new, 1)
			return m
		}
	}
	header := func(name, value string) func(message) message {
		return func(m message) message { return m.with(name, value) }
	}
	stages := []stage{
		{"Host", func(m message) message { return m.withHost("evil.example.com") }, refusal{403, "-32600", "", []string{"Host"}}},
		{"Origin", header("Origin", "https://evil.example.com"), refusal{403, "-32600", "", []string{"Origin"}}},
		{"method of HTTP", func(m message) message { return m.withVerb("PUT") }, refusal{405, "-32600", "", []string{"PUT"}}},
		{"Content-Type", header("Content-Type", "text/plain"), refusal{415, "-32600", "", []string{"Content-Type"}}},
		{"Accept", header("Accept", "text/html"), refusal{406, "-32600", "", []string{"Accept"}}},
		{"size", func(m message) message { return m.withBody(m.text() + strings.Repeat(" ", maxBody)) }, refusal{413, "-32600", "", []string{"4096"}}},
		{"JSON", func(m message) message { return m.withBody(m.text() + "}") }, refusal{400, "-32700", "", []string{"JSON"}}},
		{"envelope", func(m message) message { return m.withBody(strings.Replace(m.text(), `"2.0"`, `"3.0"`, 1)) }, refusal{400, "-32600", "1", []string{"jsonrpc"}}},
		{"_meta protocolVersion present", in(metaVersion+",", ""), refusal{400, "-32602", "1", []string{"protocolVersion"}}},
		{"header equals it", header("MCP-Protocol-Version", "2026-07-29"), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}}},
		{"version supported", func(m message) message {
			if !slices.Contains(m.header, field{"MCP-Protocol-Version", "2026-07-29"}) {
				return m.modern("2027-01-01")
			}
			return in("2026-07-28", "2027-01-01")(m)
		}, refusal{400, "-32022", "1", []string{"2027-01-01"}}},
		{"clientCapabilities", in(`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`, `"io.modelcontextprotocol/clientCapabilities":7`), refusal{400, "-32602", "1", []string{"clientCapabilities"}}},
		{"method known", in("tools/call", "tools/unknown"), refusal{404, "-32601", "1", []string{"tools/unknown"}}},
		{"Mcp-Method", header("Mcp-Method", "x"), refusal{400, "-32020", "1", []string{"Mcp-Method"}}},
		{"Mcp-Name", header("Mcp-Name", "x"), refusal{400, "-32020", "1", []string{"Mcp-Name"}}},
		{"Mcp-Param-*", header("Mcp-Param-Region", "x"), refusal{400, "-32020", "1", []string{"Mcp-Param-Region"}}},
		{"params", in(`"name"`, `"requestState":7,"name"`), refusal{400, "-32602", "1", []string{"requestState"}}},
	}
	text := []string{"envelope", "JSON", "size"} // change the text that the others have made
	for i, first := range stages {
		t.Run(first.name+" alone", func(t *testing.T) { wantRefusal(t, do(t, s.addr, first.spoil(right)), first.want) })
		for _, second := range stages[i+1:] {
			t.Run(first.name+" before "+second.name, func(t *testing.T) {
				m := right
				order := []stage{first, second}
				slices.SortStableFunc(order, func(a, b stage) int { return slices.Index(text, a.name) - slices.Index(text, b.name) })
				for _, x := range order {
					m = x.spoil(m)
				}
				wantRefusal(t, do(t, s.addr, m), first.want)
			})
		}
	}
}

// "The request's id is echoed, digit for digit, whenever it could be read."
func TestIDs(t *testing.T) {
	s := newSite(t, nil)
	for _, id := range []string{"0", "-1", "1", "9007199254740991", "9007199254740993", "-9007199254740993", "123456789012345678901234567890", "-0",
		`""`, `"1"`, `"abc"`, `"1e2"`, `"9007199254740993"`, `"ü"`, `"<&>"`, `" "`} {
		for name, m := range map[string]message{
			"result":           echo(),
			"host's error":     echo().with("Mcp-Name", "x"),
			"server's error":   tool("none", ""),
			"handler's error":  tool("fail", ""),
			"unknown method":   request("tools/unknown", "", ""),
			"asking":           tool("ship", ""),
			"neither era":      echo().withMeta("-").without("MCP-Protocol-Version"),
			"unknown session":  legacy("2025-11-25", "gone", "tools/list", ""),
			"malformed params": echo().withMeta("-").withParams(`"_meta":[]`),
		} {
			for _, m := range bothWays(m.withID(id)) {
				t.Run(id+" "+name, func(t *testing.T) {
					r := do(t, s.addr, m)
					if got := rawID(t, r.body); got != id {
						t.Errorf("got id %s: %s", got, r.body)
					}
				})
			}
		}
	}
	for _, id := range []string{`"a\u0062\n\"\\\/"`, `"\u003c\u00e9\ud83d\ude00"`} {
		t.Run(id, func(t *testing.T) {
			var want, got string
			if err := json.Unmarshal([]byte(id), &want); err != nil {
				t.Fatal(err)
			}
			r := do(t, s.addr, echo().withID(id))
			if err := json.Unmarshal([]byte(rawID(t, r.body)), &got); err != nil || got != want {
				t.Errorf("got id %q: %s", got, r.body)
			}
		})
	}
	// An id is a string or an integer; 1e2 is an integer to some readers and none to others.
	for _, id := range []string{"1e2", "1.0", "1E400", "0.5", strings.Repeat("9", 500)} {
		t.Run("not an integer "+id[:min(len(id), 5)], func(t *testing.T) {
			wantRefusal(t, do(t, s.addr, echo().withID(id)), refusal{400, "-32600", "", []string{"id"}})
		})
	}
	t.Run("in an event stream", func(t *testing.T) {
		x := open(t, s.addr, tool("progress", "").withMeta(metaBoth+`,"progressToken":"p"`).withID("9007199254740993"))
		var last string
		for e, ok := x.event(); ok; e, ok = x.event() {
			last = e
		}
		if rawID(t, last) != "9007199254740993" {
			t.Errorf("the response is %s", last)
		}
	})
}

// "Era first, from the body."
func TestEra(t *testing.T) {
	s := newSite(t, nil)
	handshake := initialize("2025-11-25", "{}")
	t.Run("modern by body", func(t *testing.T) {
		wantRefusal(t, do(t, s.addr, echo().without("MCP-Protocol-Version")), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}})
		// …whatever the value, and whatever the session.
		wantRefusal(t, do(t, s.addr, echo().without("MCP-Protocol-Version").withMeta(`"io.modelcontextprotocol/protocolVersion":7`).with("Mcp-Session-Id", "x")),
			refusal{400, "-32602", "1", []string{"protocolVersion"}})
	})
	t.Run("modern by header", func(t *testing.T) {
		wantRefusal(t, do(t, s.addr, echo().withMeta("-")), refusal{400, "-32602", "1", []string{"protocolVersion"}})
		wantRefusal(t, do(t, s.addr, echo().withMeta("-").with("MCP-Protocol-Version", "2027-01-01").with("Mcp-Session-Id", "x")), refusal{400, "-32602", "1", []string{"protocolVersion"}})
	})
	t.Run("initialize with a modern header and body", func(t *testing.T) {
		m := handshake.with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", "initialize").withMeta(metaBoth)
		wantRefusal(t, do(t, s.addr, m), refusal{404, "-32601", "1", []string{"initialize"}})
	})
	t.Run("header and body disagree", func(t *testing.T) {
		wantRefusal(t, do(t, s.addr, echo().with("MCP-Protocol-Version", "2025-06-18")), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}})
		wantRefusal(t, do(t, s.addr, echo().withMeta(strings.Replace(metaBoth, "2026-07-28", "2025-06-18", 1))), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}})
		wantRefusal(t, do(t, s.addr, handshake.withMeta(metaBoth).with("MCP-Protocol-Version", "2025-11-25")), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}})
	})
	t.Run("legacy by initialize", func(t *testing.T) {
		r := do(t, s.addr, handshake)
		if r.status != 200 || r.header.Get("Mcp-Session-Id") == "" {
			t.Errorf("no session: %d %s", r.status, r.body)
		}
	})
	t.Run("legacy by session or header", func(t *testing.T) {
		wantRefusal(t, do(t, s.addr, legacy("", "gone", "tools/list", "")), refusal{404, "-32600", "1", []string{"Mcp-Session-Id"}})
		r := do(t, s.addr, legacy("2025-06-18", "", "tools/list", ""))
		if code := fmt.Sprint(at(decode(t, lastData(r.body)), "error", "code")); code == "-32020" || code == "<nil>" {
			t.Errorf("got %d %s", r.status, r.body)
		}
	})
	t.Run("neither", func(t *testing.T) {
		for name, m := range map[string]message{
			"tools/list":       legacy("", "", "tools/list", ""),
			"tools/call":       legacy("", "", "tools/call", `"name":"echo"`),
			"unknown":          legacy("", "", "tools/unknown", ""),
			"_meta of its own": legacy("", "", "tools/list", `"_meta":{"progressToken":1}`),
		} {
			t.Run(name, func(t *testing.T) {
				wantRefusal(t, do(t, s.addr, m), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}})
			})
		}
		r := do(t, s.addr, legacy("", "", "notifications/initialized", "").withID(""))
		wantRefusal(t, r, refusal{400, "-32020", "", []string{"MCP-Protocol-Version"}})
	})
	t.Run("a batch of neither", func(t *testing.T) {
		r := do(t, s.addr, legacy("", "", "x", "").withBody(`[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`))
		if r.status != 400 {
			t.Errorf("got %d %s", r.status, r.body)
		}
	})
	t.Run("a session id of a modern request is ignored", func(t *testing.T) {
		r := do(t, s.addr, echo().with("Mcp-Session-Id", "gone").with("Last-Event-ID", "7"))
		wantText(t, r, `echo {"x":1}`)
		if r.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("the response has the session id %q", r.header.Get("Mcp-Session-Id"))
		}
	})
}

// lastData is the last event of a stream, or a body that is none.
func lastData(body string) string {
	i := strings.LastIndex(body, "data: ")
	if i < 0 {
		return body
	}
	data, _, _ := strings.Cut(body[i+len("data: "):], "\n")
	return data
}

// "Notification (modern): 202, empty body, no _meta or Mcp-* needed."
func TestModernNotification(t *testing.T) {
	s := newSite(t, nil)
	bare := message{verb: "POST", host: "localhost", method: `"notifications/cancelled"`, params: `"requestId":1`, meta: "-",
		header: []field{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}, {"MCP-Protocol-Version", "2026-07-28"}}}
	wantAccepted(t, do(t, s.addr, bare))
	wantAccepted(t, do(t, s.addr, bare.withMeta(metaBoth)))
	wantAccepted(t, do(t, s.addr, bare.withBody(`{"jsonrpc":"2.0","method":"notifications/unknown"}`)))
	wantRefusal(t, do(t, s.addr, bare.withBody(`{"jsonrpc":"1.0","method":"notifications/cancelled"}`)), refusal{400, "-32600", "", []string{"jsonrpc"}})
	wantRefusal(t, do(t, s.addr, bare.with("Origin", "https://evil.example.com")), refusal{403, "-32600", "", []string{"Origin"}})
}

// A panic is not told to the client, and is not the end of the server.
func TestPanic(t *testing.T) {
	s := newSite(t, nil)
	for _, m := range []message{tool("panic", ""), request("prompts/get", "panic", `"name":"panic"`)} {
		r := do(t, s.addr, m)
		if r.status != 500 || strings.Contains(r.body, "secret") || strings.Contains(r.body, ".go") {
			t.Errorf("got %d %s", r.status, r.body)
		}
	}
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)

	t.Run("of a server that elicit does not know", func(t *testing.T) {
		b := bareSite(t, nil)
		r := do(t, b.addr, tool("panic", ""))
		wantRefusal(t, r, refusal{500, "-32603", "1", nil})
		if strings.Contains(r.body, "secret") {
			t.Errorf("got %s", r.body)
		}
		if logs := b.logs.String(); !strings.Contains(logs, "secret detail") || !strings.Contains(logs, ".go:") {
			t.Errorf("the log has no stack: %s", logs)
		}
		wantText(t, do(t, b.addr, echo()), "echo")
		wantRefusal(t, do(t, b.addr, tool("fail", "")), refusal{200, "-32603", "1", []string{"the warehouse is closed"}})
	})
}
