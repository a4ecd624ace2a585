package streamable_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// RFC 9110, section 12.5.1: any spelling of "I take both" will do.
func TestAccept(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		accept  []string
		missing string // "" if it is acceptable
	}{
		{[]string{"application/json, text/event-stream"}, ""},
		{[]string{"text/event-stream,application/json"}, ""},
		{[]string{"application/json", "text/event-stream"}, ""},
		{[]string{"text/html", "application/json , text/event-stream ;q=0.5"}, ""},
		{[]string{"*/*"}, ""},
		{[]string{"text/html, */*;q=0.1"}, ""},
		{[]string{"application/*, text/*"}, ""},
		{[]string{"application/*, text/event-stream"}, ""},
		{[]string{"application/json, text/*"}, ""},
		{[]string{"APPLICATION/JSON, Text/Event-Stream"}, ""},
		{[]string{"application/json;charset=utf-8;q=0.9, text/event-stream;q=1.0"}, ""},
		{[]string{"application/json;q=0.001, text/event-stream"}, ""},
		{[]string{",application/json,,text/event-stream,"}, ""},
		{[]string{"application/json"}, "text/event-stream"},
		{[]string{"text/event-stream"}, "application/json"},
		{[]string{"application/*"}, "text/event-stream"},
		{[]string{"text/*"}, "application/json"},
		{[]string{"text/html"}, "application/json"},
		{[]string{""}, "application/json"},
		{[]string{"application/json;q=0, text/event-stream"}, "application/json"},
		{[]string{"application/json, text/event-stream;q=0.000"}, "text/event-stream"},
		{[]string{"application/json, text/event-stream; Q=0"}, "text/event-stream"},
		{[]string{"*/*;q=0"}, "application/json"},
		{[]string{"application/json;q=0, */*"}, "application/json"}, // the more specific range counts
		{[]string{"*/*, text/event-stream;q=0"}, "text/event-stream"},
		{[]string{"text/*;q=0, */*"}, "text/event-stream"},
		{[]string{"application/json-rpc, text/event-stream"}, "application/json"},
		{[]string{"application/json text/event-stream"}, "application/json"},
		{[]string{"*"}, "application/json"},
	} {
		t.Run(strings.Join(c.accept, " | "), func(t *testing.T) {
			m := echo().without("Accept")
			for _, a := range c.accept {
				m = m.and("Accept", a)
			}
			r := do(t, s.addr, m)
			if c.missing != "" {
				wantRefusal(t, r, refusal{406, "-32600", "", []string{"Accept", c.missing + " is missing"}})
				return
			}
			wantText(t, r, `echo {"x":1}`)
		})
	}
}

func encoded(s string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// "Value Encoding": Mcp-Name is decoded before it is compared.
func TestMcpName(t *testing.T) {
	s := newSite(t, nil)
	uri := "file:///größe"
	for _, c := range []struct {
		name string
		m    message
		ok   bool
	}{
		{"plain", tool("echo", ""), true},
		{"encoded", tool("echo", "").with("Mcp-Name", encoded("echo")), true},
		{"space inside", tool("a b", ""), true},
		{"white space around", tool("echo", "").with("Mcp-Name", " \t echo\t "), true},
		{"not ASCII, encoded", tool("größe", "").with("Mcp-Name", encoded("größe")), true},
		{"not ASCII, raw", tool("größe", ""), false},
		{"not ASCII, Latin-1", tool("größe", "").with("Mcp-Name", "gr\xf6\xdfe"), false},
		{"not ASCII, percent-encoded", tool("größe", "").with("Mcp-Name", "gr%C3%B6%C3%9Fe"), false},
		{"looks encoded, encoded", tool("=?base64?Zm9v?=", "").with("Mcp-Name", encoded("=?base64?Zm9v?=")), true},
		{"looks encoded, raw", tool("=?base64?Zm9v?=", ""), false}, // a gateway reads it as foo
		{"looks encoded badly, encoded", tool("=?base64?literal?=", "").with("Mcp-Name", encoded("=?base64?literal?=")), true},
		{"looks encoded badly, raw", tool("=?base64?literal?=", ""), false},
		{"encoded twice", tool("echo", "").with("Mcp-Name", encoded(encoded("echo"))), false},
		{"encoded, unequal", tool("echo", "").with("Mcp-Name", encoded("ship")), false},
		{"encoded, other case of the markers", tool("echo", "").with("Mcp-Name", strings.Replace(encoded("echo"), "base64", "BASE64", 1)), false},
		{"encoded, without padding", tool("echo", "").with("Mcp-Name", strings.ReplaceAll(encoded("echo"), "==?=", "?=")), false},
		{"encoded, invalid characters", tool("echo", "").with("Mcp-Name", "=?base64?ZWN*bw==?="), false},
		{"encoded, alias by trailing bits", tool("echo", "").with("Mcp-Name", "=?base64?ZWNobx==?="), false},
		{"encoded, URL alphabet", tool("echo", "").with("Mcp-Name", "=?base64?ZWNo-_==?="), false},
		{"encoded, not UTF-8", tool("echo", "").with("Mcp-Name", encoded("\xff")), false},
		{"encoded, nothing", tool("echo", "").with("Mcp-Name", "=?base64??="), false},
		{"encoded, a space within", tool("echo", "").with("Mcp-Name", "=?base64?ZWNo bw==?="), false},
		{"only the beginning", tool("echo", "").with("Mcp-Name", "=?base64?ZWNobw=="), false},
		{"beginning and end overlap", tool("echo", "").with("Mcp-Name", "=?base64?="), false},
		{"other case", tool("echo", "").with("Mcp-Name", "Echo"), false},
		{"twice", tool("echo", "").and("Mcp-Name", "echo"), false},
		{"twice, differing", tool("echo", "").and("Mcp-Name", "ship"), false},
		{"other spelling of the header", tool("echo", "").without("Mcp-Name").and("MCP-NAME", "echo"), true},
		{"prompt", request("prompts/get", "greet", `"name":"greet"`), true},
		{"prompt, unequal", request("prompts/get", "Greet", `"name":"greet"`), false},
		{"resource", request("resources/read", encoded(uri), `"uri":"`+uri+`"`), true},
		{"resource, its name", request("resources/read", "read", `"uri":"file:///read"`), false},
		{"resource, normalised", request("resources/read", "file:///./read", `"uri":"file:///read"`), false},
		{"name escaped in the body", request("tools/call", "echo", `"name":"\u0065cho"`), true},
		{"absent, with a name nobody looks at", request("tools/list", "", `"name":"echo"`), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := do(t, s.addr, c.m)
			if c.ok {
				wantOK(t, r)
				return
			}
			wantRefusal(t, r, refusal{400, "-32020", "1", []string{"Mcp-Name"}})
		})
	}
	t.Run("for tasks, params.taskId", func(t *testing.T) {
		// This server has no tasks, so a right header gets 404.
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			wantRefusal(t, do(t, s.addr, request(method, "t1", `"taskId":"t1"`)), refusal{404, "-32601", "1", []string{method}})
		}
	})
}

// "Custom Headers from Tool Parameters".
func TestMcpParam(t *testing.T) {
	s := newSite(t, nil)
	sql := func(arguments string, headers ...field) message {
		m := tool("execute_sql", `"arguments":`+arguments)
		for _, h := range headers {
			m = m.and(h.name, h.value)
		}
		return m
	}
	warm(t, s)
	const region, limit, dry, tenant = "Mcp-Param-Region", "Mcp-Param-Limit", "Mcp-Param-Dry", "Mcp-Param-Tenant"
	for _, c := range []struct {
		name   string
		m      message
		refers string // the header that is wrong, "" if none is
	}{
		{"none", sql(`{}`), ""},
		{"string", sql(`{"region":"us-west1"}`, field{region, "us-west1"}), ""},
		{"string, absent", sql(`{"region":"us-west1"}`), region},
		{"string, unequal", sql(`{"region":"us-west1"}`, field{region, "eu-west1"}), region},
		{"string, other case", sql(`{"region":"us-west1"}`, field{region, "US-WEST1"}), region},
		{"string, white space around", sql(`{"region":"us-west1"}`, field{region, "  us-west1\t"}), ""},
		{"string, twice", sql(`{"region":"us-west1"}`, field{region, "us-west1"}, field{region, "us-west1"}), region},
		{"string, encoded", sql(`{"region":"us-west1"}`, field{region, encoded("us-west1")}), ""},
		{"string, encoded, unequal", sql(`{"region":"us-west1"}`, field{region, encoded("eu-west1")}), region},
		{"string, padded, encoded", sql(`{"region":" padded "}`, field{region, "=?base64?IHBhZGRlZCA=?="}), ""},
		{"string, padded, raw", sql(`{"region":" padded "}`, field{region, " padded "}), region},
		{"string, not ASCII, encoded", sql(`{"region":"Hello, 世界"}`, field{region, "=?base64?SGVsbG8sIOS4lueVjA==?="}), ""},
		{"string, invalid characters", sql(`{"region":"größe"}`, field{region, "größe"}), region},
		{"string, two lines, encoded", sql(`{"region":"line1\nline2"}`, field{region, "=?base64?bGluZTEKbGluZTI=?="}), ""},
		{"string, looks encoded, encoded", sql(`{"region":"=?base64?literal?="}`, field{region, "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}), ""},
		{"string, looks encoded, raw", sql(`{"region":"=?base64?Zm9v?="}`, field{region, "=?base64?Zm9v?="}), region},
		{"string, bad Base64", sql(`{"region":"us-west1"}`, field{region, "=?base64?dXMtd2Vz*dDE=?="}), region},
		{"string, alias of Base64", sql(`{"region":"echo"}`, field{region, "=?base64?ZWNobx==?="}), region},
		{"string, empty", sql(`{"region":""}`, field{region, ""}), ""},
		{"string, empty, encoded", sql(`{"region":""}`, field{region, "=?base64??="}), ""},
		{"string that is a number", sql(`{"region":"42"}`, field{region, "42.0"}), region},
		{"null", sql(`{"region":null}`), ""},
		{"null, with a header", sql(`{"region":null}`, field{region, "null"}), region},
		{"absent, with a header", sql(`{}`, field{region, "us-west1"}), region},
		{"absent arguments, with a header", tool("execute_sql", "").and(region, "us-west1"), region},
		{"integer", sql(`{"limit":42}`, field{limit, "42"}), ""},
		{"integer 42, header 42.0", sql(`{"limit":42}`, field{limit, "42.0"}), ""},
		{"integer 42.0, header 42", sql(`{"limit":42.0}`, field{limit, "42"}), ""},
		{"integer, negative", sql(`{"limit":-7}`, field{limit, "-7"}), ""},
		{"integer, encoded", sql(`{"limit":42}`, field{limit, encoded("42")}), ""},
		{"integer, unequal", sql(`{"limit":42}`, field{limit, "43"}), limit},
		{"integer, a fraction", sql(`{"limit":42}`, field{limit, "42.5"}), limit},
		{"integer, no number", sql(`{"limit":42}`, field{limit, "forty-two"}), limit},
		{"integer, at the end of the range", sql(`{"limit":9007199254740991}`, field{limit, "9007199254740991"}), ""},
		{"integer, absent", sql(`{"limit":42}`), limit},
		{"boolean true", sql(`{"dry":true}`, field{dry, "true"}), ""},
		{"boolean false", sql(`{"dry":false}`, field{dry, "false"}), ""},
		{"boolean, upper case", sql(`{"dry":true}`, field{dry, "True"}), dry},
		{"boolean, number", sql(`{"dry":true}`, field{dry, "1"}), dry},
		{"boolean, absent", sql(`{"dry":false}`), dry},
		{"nested", sql(`{"filter":{"tenant":"acme"}}`, field{tenant, "acme"}), ""},
		{"nested, absent", sql(`{"filter":{"tenant":"acme"}}`), tenant},
		{"nested, unequal", sql(`{"filter":{"tenant":"acme"}}`, field{tenant, "other"}), tenant},
		{"nested, no value at the path", sql(`{"filter":{}}`), ""},
		{"nested, the name elsewhere", sql(`{"tenant":"acme"}`), ""},
		{"a parameter that has no annotation", sql(`{"query":"SELECT 1"}`), ""},
		// Headers that no annotation names are nobody's business.
		{"unknown header", sql(`{}`, field{"Mcp-Param-Other", "x"}), ""},
		{"unknown header, not ASCII", sql(`{}`, field{"Mcp-Param-Other", "größe"}), ""},
		{"unknown header, bad Base64", sql(`{}`, field{"Mcp-Param-Other", "=?base64?*?="}), ""},
		{"unknown header, twice", sql(`{}`, field{"Mcp-Param-Other", "x"}, field{"Mcp-Param-Other", "y"}), ""},
		{"of a tool without annotations", tool("echo", "").and(region, "=?base64?*?="), ""},
		{"integer, hexadecimal", sql(`{"limit":42}`, field{limit, "0x2Ap0"}), limit},
		{"integer, by exponent", sql(`{"limit":4.2e1}`, field{limit, "42"}), ""},
		// Readers differ in which of two members of one name counts.
		{"twice, the header is the first", sql(`{"region":"a","region":"b"}`, field{region, "a"}), region},
		{"twice, the header is the second", sql(`{"region":"a","region":"b"}`, field{region, "b"}), region},
		{"twice by escape", sql(`{"region":"a","regi\u006fn":"b"}`, field{region, "a"}), region},
		{"twice on the way", sql(`{"filter":{"tenant":"a"},"filter":{"tenant":"b"}}`, field{tenant, "a"}), tenant},
		{"twice, one null", sql(`{"region":null,"region":"b"}`), region},
		{"of a method without arguments", request("tools/list", "", "").and(region, "=?base64?*?="), ""},
	} {
		for _, m := range bothWays(c.m) {
			t.Run(c.name, func(t *testing.T) {
				r := do(t, s.addr, m)
				if c.refers == "" {
					wantOK(t, r)
					return
				}
				wantRefusal(t, r, refusal{400, "-32020", "1", []string{c.refers}})
			})
		}
	}
}

type searchParams struct {
	mcp.ParamsBase
	Index string `json:"index"`
}

type searchResult struct {
	mcp.ResultBase
	Found string `json:"found"`
}

// Options.NameParams: extensions say what Mcp-Name repeats; their other methods need none.
func TestNameParams(t *testing.T) {
	s := newServer()
	for _, method := range []string{"acme/search", "acme/count"} {
		err := mcp.AddReceivingCustomMethod(s.server, method, func(_ context.Context, _ *mcp.ServerSession, p *searchParams) (*searchResult, error) {
			return &searchResult{Found: p.Index}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.listen(t, &streamable.Options{NameParams: map[string]string{"acme/search": "index"}}, nil)
	search := func(name string) message { return request("acme/search", name, `"index":"größe"`) }
	for _, c := range []struct {
		name   string
		m      message
		refers string
	}{
		{"right", search(encoded("größe")), ""},
		{"unequal", search("x"), "Mcp-Name"},
		{"absent", search(""), "Mcp-Name"},
		{"bad Base64", search("=?base64?*?="), "Mcp-Name"},
		{"Mcp-Method unequal", search(encoded("größe")).with("Mcp-Method", "acme/count"), "Mcp-Method"},
		{"another method", request("acme/count", "", `"index":"x"`), ""},
		{"another method, Mcp-Method absent", request("acme/count", "", `"index":"x"`).without("Mcp-Method"), "Mcp-Method"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := do(t, s.addr, c.m)
			if c.refers == "" {
				wantOK(t, r)
				return
			}
			wantRefusal(t, r, refusal{400, "-32020", "1", []string{c.refers}})
		})
	}
}
