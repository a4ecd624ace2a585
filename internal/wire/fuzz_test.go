package wire_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// FuzzParse: what Append makes of a message is JSON that means the same, but for the members that the SDK could not read.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `[]`, `{"jsonrpc":"2.0","id":1,"method":"a"}`, `{"jsonrpc":"2.0","method":"a","params":{"x":1}}`,
		`{"jsonrpc":"2.0","id":"\u0061","method":"a","params":{"_meta":{"k":1}}}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":9007199254740993}}}`,
		call("1", "ship", `"inputResponses":{"ship":{"action":"accept","content":{"name":"Ann"}},"x":7,"y":{},"x":null}`),
		call("9007199254740993", "ship", `"requestState":"x","inputResponses":{"ship":{"action":"ACCEPT","content":{"n":1e400,"n":2}}}`),
		call("1", "ship", `"inputResponses":{"a":{"roots":[]},"b":{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}}`),
		call("1", "ship", `"inputResponses":{"a":{"action":"accept","_meta":{"io.github.elicit-go/content":"x"}}}`),
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"a","requestState":null,"inputResponses":null}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if e := wire.Check(body); e != nil {
			if e.Status != 400 || e.Code != -32700 {
				t.Fatalf("%+v", e)
			}
			return
		}
		m, e := wire.Parse(body)
		if e != nil {
			refusal := e.Append(nil, m.ID)
			if !json.Valid(refusal) || e.Status != 400 || e.Code != -32600 && e.Code != -32602 {
				t.Fatalf("%+v: %s", e, refusal)
			}
			return
		}
		if m.Response {
			out := m.AppendResponseMessage(nil, body)
			if !json.Valid(out) || rawID(t, string(out)) != string(bytes.TrimSpace(m.ID)) {
				t.Fatalf("%s became %s", body, out)
			}
			return
		}
		if m.Version() != nil {
			_, _ = m.CheckVersion()
			_ = m.CheckClient()
		}
		readable := m.CheckParams() == nil

		var id json.RawMessage
		if !m.Notification {
			id = json.RawMessage(`"held"`)
		}
		out := m.Append(nil, id)
		if e := wire.Check(out); e != nil {
			t.Fatalf("%s became %s: %v", body, out, e)
		}
		n, e := wire.Parse(out)
		if e != nil {
			t.Fatalf("%s became %s: %v", body, out, e)
		}
		if n.Method != m.Method || n.Notification != m.Notification || string(n.ID) != string(id) || !bytes.Equal(n.Meta, m.Meta) {
			t.Fatalf("%s became %s", body, out)
		}
		for name, value := range rawjson.Members(m.Params) {
			s, _ := rawjson.String(name)
			got, _ := rawjson.Get(n.Params, s)
			if s != "inputResponses" && s != "requestState" && s != "protocolVersion" && !bytes.Equal(got, value) {
				t.Fatalf("%s became %s", body, out)
			}
		}
		if m.Method != "tools/call" || m.Version() == nil || !readable {
			return
		}
		// The SDK reads the answers, and Require sees what the client sent.
		responses, has := rawjson.Get(n.Params, "inputResponses")
		if !has {
			return
		}
		var p mcp.CallToolParamsRaw
		if err := json.Unmarshal([]byte(`{"name":"a","inputResponses":`+string(responses)+`}`), &p); err != nil {
			t.Fatalf("the SDK cannot read %s: %v", responses, err)
		}
		sent, _ := rawjson.Get(m.Params, "inputResponses")
		for name, value := range rawjson.Members(sent) {
			key, _ := rawjson.String(name)
			r, ok := p.InputResponses[key].(*mcp.ElicitResult)
			if !ok || r.Action == "cancel" || rawjson.Kind(value) != '{' {
				continue
			}
			want, _ := rawjson.Get(value, "content")
			got := wire.Content(r)
			if rawjson.Kind(want) == 0 || rawjson.Kind(want) == 'n' {
				if rawjson.Kind(got) != 0 && rawjson.Kind(got) != 'n' {
					t.Fatalf("no content became %s", got)
				}
				continue
			}
			if !same(decode(t, string(got)), decode(t, string(want))) {
				t.Fatalf("content %s became %s", want, got)
			}
		}
	})
}

// FuzzStdioFilter: whatever the lines are, the SDK reads one message a line, and each refusal is a JSON-RPC error.
func FuzzStdioFilter(f *testing.F) {
	for _, s := range []string{
		"", "\n\n", "nope\n", "[]\n", "7\r\n" + call("1", "a", "") + "\r\n", call("9007199254740993", "a", "") + "\n" + call(`"elicit:1"`, "a", ""),
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}` + "\n" + `[{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`,
		strings.Repeat("x", 600) + "\n" + call("1", "a", ""), `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":1,"a":2}}}`,
		`{"jsonrpc":"2.0","id":null,"method":"a"}`,
	} {
		f.Add([]byte(s))
	}
	const limit = 512
	wire.SetPatience(0) // nobody answers here
	f.Cleanup(func() { wire.SetPatience(time.Second) })
	f.Fuzz(func(t *testing.T, in []byte) {
		out := &output{}
		strict, ok := wire.Strict(&mcp.IOTransport{Reader: io.NopCloser(bytes.NewReader(in)), Writer: out, MaxLineLength: limit}).(*mcp.IOTransport)
		if !ok {
			t.Fatal("not lines")
		}
		read, err := io.ReadAll(strict.Reader)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range bytes.Lines(in) {
			if len(bytes.TrimFunc(line, unicode.IsSpace)) > 0 {
				lines++
			}
		}
		passed, refused := 0, 0
		for line := range bytes.Lines(read) {
			passed++
			if e := wire.Check(line); e != nil {
				t.Fatalf("the SDK gets %q: %v", line, e)
			}
			if !wire.IsArray(bytes.TrimSpace(line)) {
				if _, e := wire.Parse(bytes.TrimSpace(line)); e != nil {
					t.Fatalf("the SDK gets %q: %v", line, e)
				}
			}
		}
		for line := range bytes.Lines(out.Bytes()) {
			refused++
			var m struct {
				JSONRPC string
				ID      json.RawMessage
				Error   struct {
					Code    int
					Message string
				}
			}
			if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" || m.Error.Code > -32000 || m.Error.Message == "" || string(m.ID) == "null" {
				t.Fatalf("refused by %q", line)
			}
		}
		if passed+refused > lines {
			t.Fatalf("%d lines became %d messages and %d refusals", lines, passed, refused)
		}
	})
}
