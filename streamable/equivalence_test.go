package streamable_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// seen is what middleware and a tool were given of a request.
type seen struct {
	Method  string
	Params  string
	Version string
	Client  *mcp.Implementation
	Caps    *mcp.ClientCapabilities
	Header  http.Header
	ID      string
}

// recorder is a server whose middleware, added before and after elicit.New, writes down what it sees.
func recorder(t *testing.T, o *streamable.Options) (url string, last func() []seen) {
	t.Helper()
	server, last := recordingServer()
	h := httptest.NewServer(streamable.NewHandler(server, o))
	t.Cleanup(h.Close)
	return h.URL, last
}

func recordingServer() (server *mcp.Server, last func() []seen) {
	server = mcp.NewServer(&mcp.Implementation{Name: "rec", Version: "1"}, nil)
	state := regexp.MustCompile(`"requestState":"[^"]*"`)
	var mu sync.Mutex
	var all []seen
	watch := func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			r, ok := req.(interface {
				ProtocolVersion() string
				ClientInfo() *mcp.Implementation
				ClientCapabilities() *mcp.ClientCapabilities
			})
			if ok && (method == "tools/call" || method == "prompts/get" || method == "resources/read") {
				b, _ := json.Marshal(req.GetParams())
				b = state.ReplaceAllFunc(b, func(s []byte) []byte { return fmt.Append(nil, len(s)) }) // new each time
				h := req.GetExtra().Header.Clone()
				h.Del("Content-Length")
				mu.Lock()
				all = append(all, seen{method, fmt.Sprintf("%T %s", req, b), r.ProtocolVersion(), r.ClientInfo(), r.ClientCapabilities(), h, req.GetSession().ID()})
				mu.Unlock()
			}
			return next(ctx, method, req)
		}
	}
	server.AddReceivingMiddleware(watch)
	shop := elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler), Secrets: [][]byte{bytes.Repeat([]byte{1}, 32)}})
	server.AddReceivingMiddleware(watch)
	type in struct {
		N int      `json:"n,omitempty"`
		S []string `json:"s,omitempty"`
	}
	elicit.AddTool(shop, &mcp.Tool{Name: "ship"}, func(ctx context.Context, r *mcp.CallToolRequest, x in) (*mcp.CallToolResult, any, error) {
		v, err := ship.Value(ctx)
		return elicit.Text(fmt.Sprint(v.Name, x, r.Params.Meta["x"], r.Params.GetProgressToken())), nil, err
	}, elicit.Asks(ship))
	mcp.AddTool(server, &mcp.Tool{Name: "typed"}, func(ctx context.Context, r *mcp.CallToolRequest, x in) (*mcp.CallToolResult, in, error) {
		if x.N == 7 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Progress: 1, Message: "a\nb"})
		}
		return nil, x, nil
	})
	elicit.AddPrompt(shop, &mcp.Prompt{Name: "ship"}, func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		v, err := ship.Value(ctx)
		return &mcp.GetPromptResult{Description: "<&>", Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprint(v.Name, r.Params.Arguments, r.Params.Meta["x"])}}}}, err
	}, elicit.Asks(ship))
	server.AddPrompt(&mcp.Prompt{Name: "typed"}, func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Progress: 1, Message: "a\nb"})
		return &mcp.GetPromptResult{Meta: mcp.Meta{"k": 1}}, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "odd"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { return nil, nil })
	elicit.AddResource(shop, &mcp.Resource{Name: "ship", URI: "shop:ship", MIMEType: "text/plain"}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		v, err := ship.Value(ctx)
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: v.Name}}}, err
	}, elicit.Asks(ship))
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "typed", URITemplate: "shop:typed/{n}"}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Progress: 1})
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Blob: []byte{0, 255}}}}, nil
	})
	server.AddResource(&mcp.Resource{Name: "odd", URI: "shop:odd"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, &jsonrpc.Error{Code: 77, Message: "odd", Data: json.RawMessage(`{"a":1}`)}
	})
	server.AddTool(&mcp.Tool{Name: "odd", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Meta: mcp.Meta{"k": "<&>"}, Content: []mcp.Content{&mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"}, &mcp.TextContent{Text: "\u2028\r\n<b>"}}, StructuredContent: map[string]any{"a": 1}}, nil
	})
	return server, func() []seen {
		mu.Lock()
		defer mu.Unlock()
		x := all
		all = nil
		return x
	}
}

// generated is a request of tools/call, and what it was made of.
type generated struct {
	body   string
	header map[string]string

	method, name, args, responses, caps, version, meta, more, id, shape string
}

// generate makes requests of a method, valid, odd and broken.
func generate(r *rand.Rand, method string) (g generated) {
	g.method = method
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	rarely := func(normal string, odd ...string) string {
		if r.IntN(6) > 0 {
			return normal
		}
		return pick(odd...)
	}
	g.name = rarely(pick("ship", "typed", "odd"), "nope", "", "größe")
	g.args = rarely(pick(`{}`, `{"n":3}`, `{"n":7}`, `{"s":["a","b"]}`), `null`, `[]`, `{"n":"x"}`, `{"n":1.0}`, `{"zzz":1}`, `{"n":1,"n":2}`, `{"n":1e400}`, `5`)
	g.responses = rarely("", `{"ship":{"action":"accept","content":{"name":"Ann"}}}`, `{"ship":{"action":"accept","content":{"name":7}}}`, `{"ship":{}}`,
		`{"ship":5,"junk":[]}`, `{"ship":{"action":"DECLINE"}}`, `{"ship":{"action":"accept","content":{"name":"a","name":"b"}}}`, `null`, `[]`, `{"ship":{"roots":[]}}`,
		`{"ship":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}`, `{"ship":{"action":"accept","content":{"name":"Ann"},"_meta":{"a":1e2}}}`, `{"ship":{"action":"accept","content":[]}}`)
	g.caps = rarely(`{"elicitation":{"form":{}}}`, `{}`, `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`, `{"elicitation":5}`, `[]`, `{"roots":{"listChanged":true},"sampling":{},"extensions":{"a/b":{"x":[1]}}}`)
	g.version = rarely("2026-07-28", "2025-11-25", "2099-01-01", "")
	g.meta = rarely("", `,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}`, `,"io.modelcontextprotocol/clientInfo":7`, `,"progressToken":"p"`, `,"progressToken":9`, `,"x":{"y":[1,null,true]}`, `,"X":1,"x":2`)
	naming := fmt.Sprintf(`"name":%q,"arguments":%s`, g.name, g.args)
	switch method {
	case "prompts/get":
		g.args = rarely(pick(`{}`, `{"a":"b"}`, `{"a":"b","c":"\u00e9\n"}`, `null`), `{"a":1}`, `{"a":null}`, `[]`, `"a"`, `{"a":"b","a":"c"}`)
		naming = fmt.Sprintf(`"name":%q,"arguments":%s`, g.name, g.args)
	case "resources/read":
		g.name = "shop:" + g.name + rarely("", "/1", "/%2F", "?x")
		naming = fmt.Sprintf(`"uri":%q`, g.name)
	}
	params := fmt.Sprintf(`%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s%s}`, naming, g.version, g.caps, g.meta)
	if g.responses != "" {
		params += `,"inputResponses":` + g.responses
	}
	g.more = rarely("", `,"requestState":""`, `,"requestState":"forged"`, `,"requestState":5`, `,"requestState":null`, `,"unknown":{"a":1}`, `,"name":"ship"`)
	g.id = rarely("1", `"a"`, "9007199254740993", "null", "1.5", `""`)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, g.id, method, params+g.more)
	g.shape = rarely("", "space after", "bytes after", "batch", "another jsonrpc", "half", "ID")
	g.body = map[string]string{"": body, "space after": body + " ", "bytes after": body + "x", "batch": "[" + body + "]",
		"another jsonrpc": strings.Replace(body, "2.0", "1.0", 1), "half": body[:len(body)/2], "ID": strings.Replace(body, `"id"`, `"ID"`, 1)}[g.shape]
	g.header = map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": rarely(g.version, "2026-07-28"),
		"Mcp-Method": rarely(method, "tools/list", ""), "Mcp-Name": rarely(g.name, "other")}
	if strings.Contains(g.name, "größe") {
		g.header["Mcp-Name"] = "=?base64?" + base64.StdEncoding.EncodeToString([]byte(g.name)) + "?="
	}
	return g
}

func send2(t *testing.T, url, body string, header map[string]string) (int, string, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Content-Type"), string(b)
}

// sameResponse compares what two paths answered. States are new each time.
func sameResponse(a, b string) bool {
	norm := func(s string) string {
		var out []string
		for line := range strings.SplitSeq(s, "\n") {
			data := strings.TrimPrefix(line, "data: ")
			var v any
			if json.Unmarshal([]byte(data), &v) == nil {
				if m, ok := v.(map[string]any); ok {
					if r, ok := m["result"].(map[string]any); ok && r["requestState"] != nil {
						r["requestState"] = "…"
					}
				}
				x, _ := json.Marshal(v)
				line = string(x)
			}
			out = append(out, line)
		}
		return strings.Join(out, "\n")
	}
	return norm(a) == norm(b)
}

// The express path gives every request what the SDK's handler gives it after the same checks, and middleware and tools
// see the same.
func TestExpressIsTheSDKsHandler(t *testing.T) {
	t.Parallel()
	fast, fastSeen := recorder(t, &streamable.Options{})
	slow, slowSeen := recorder(t, streamable.Options{}.WithoutExpress())
	for _, url := range []string{fast, slow} { // so that the handler knows the tools
		for range 2 {
			send2(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
				map[string]string{"Content-Type": "application/json", "Accept": "*/*", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "odd"})
		}
	}
	fastSeen()
	slowSeen()
	r := rand.New(rand.NewPCG(1, 2))
	results := map[int]int{}
	for i := range 4500 {
		g := generate(r, []string{"tools/call", "tools/call", "tools/call", "prompts/get", "resources/read"}[i%5])
		body, header := g.body, g.header
		fs, fc, fb := send2(t, fast, body, header)
		ss, sc, sb := send2(t, slow, body, header)
		results[fs]++
		if explained(body, sb) {
			fastSeen()
			slowSeen()
			continue
		}
		if fs != ss || fc != sc || !sameResponse(fb, sb) {
			t.Fatalf("request %d: %s\n%v\nexpress: %d %s %s\nSDK:     %d %s %s", i, body, header, fs, fc, fb, ss, sc, sb)
		}
		a, b := fmt.Sprintf("%+v", asJSON(t, fastSeen())), fmt.Sprintf("%+v", asJSON(t, slowSeen()))
		if a != b {
			t.Fatalf("request %d: %s\nexpress: %s\nSDK:     %s", i, body, a, b)
		}
	}
	if results[200] < 500 || results[400] < 500 {
		t.Errorf("the requests were not of all kinds: %v", results)
	}
}

// explained reports whether the SDK's handler is known to answer a request otherwise:
//
//   - a number in the arguments that float64 does not hold makes it refuse the whole call, with words about the name; the
//     express path leaves the arguments to the tool.
func explained(body, sdk string) bool {
	return strings.Contains(body, "1e400") && strings.Contains(sdk, "failed to extract name")
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// differences are where the SDK's own handler answers a request otherwise than this one, in the order of the checks: what
// is special about the request, what must come of it, and why. The words of a refusal may differ, not its status and code.
var differences = []struct {
	what   string
	is     func(g *generated) bool
	status int    // 0 for whatever the call gets without what is odd
	code   string // of the error, or the result's type, "" for whichever the tool returns
	why    string // what the SDK does, and where the rule is
}{
	{"half a body", func(g *generated) bool { return g.shape == "half" }, 400, "-32700", "text/plain; an error has a JSON-RPC body (basic/transports/streamable-http)"},
	{"bytes after the body", func(g *generated) bool { return g.shape == "bytes after" }, 400, "-32700", "not seen; a gateway might see them (SECURITY 18)"},
	{"a batch", func(g *generated) bool { return g.shape == "batch" }, 400, "-32600", "text/plain"},
	{"another jsonrpc", func(g *generated) bool { return g.shape == "another jsonrpc" && !g.twice() && g.idOK() }, 400, "-32600", "text/plain"},
	{"an id that is none", func(g *generated) bool { return !g.idOK() }, 400, "-32600", "null is no id to it, 1.5 becomes 1"},
	{"a member twice", func(g *generated) bool { return g.twice() }, 400, "-32600", "the last one counts (SECURITY 18)"},
	{"no id", func(g *generated) bool { return g.shape == "ID" }, 202, "", "text/plain; what has no id is a notification"},
	{"no version", func(g *generated) bool { return g.version == "" }, 400, "-32602", "taken for an older revision, which has sessions"},
	{"a version that is not served so", func(g *generated) bool { return g.version != "2026-07-28" }, 400, "-32022", "served as an older revision without a session, or after other checks"},
	{"capabilities that are none", func(g *generated) bool { return g.caps == "[]" || g.caps == `{"elicitation":5}` }, 400, "-32602", "after other checks"},
	{"client info that is none", func(g *generated) bool { return strings.HasSuffix(g.meta, ":7") }, 400, "-32602", "after other checks"},
	{"arguments, answers or a state of the wrong type", func(g *generated) bool {
		return g.args == "5" || g.args == "[]" || g.responses == "[]" || g.more == `,"requestState":5`
	}, 400, "-32602", "left to the tool, or -32020"},
	{"Mcp-Name in Base64", func(g *generated) bool { return g.name == "größe" }, 400, "-32602", "-32020: it does not decode the header"},
	{"odd answers, or a number that float64 does not hold", func(g *generated) bool {
		return g.responses != "" || strings.Contains(g.args, "1e400")
	}, 0, "", "-32020 for the whole request; odd entries count as absent or cancelled, arguments are the tool's"},
	{"progress", func(g *generated) bool { return g.name == "typed" && g.args == `{"n":7}` }, 200, "", "lost when the response is JSON"},
}

func (g *generated) twice() bool {
	return g.more == `,"name":"ship"` || strings.HasPrefix(g.meta, `,"X"`)
}
func (g *generated) idOK() bool { return g.id != "null" && g.id != "1.5" || g.shape == "ID" }

// outcome is a response's code or result type, and the rest of it, with how many messages came, where that must be the same.
func outcome(t *testing.T, body string) (code, rest string) {
	t.Helper()
	events := strings.Count(body, "data: ")
	if _, data, ok := strings.Cut(body, "\ndata: "); ok || strings.HasPrefix(body, "data: ") {
		for _, line := range strings.Split(data, "\n") {
			if d, ok := strings.CutPrefix(line, "data: "); ok {
				data = d
			}
		}
		body, _, _ = strings.Cut(data, "\n")
	}
	var m struct {
		Result map[string]any
		Error  *struct{ Code int }
	}
	if json.Unmarshal([]byte(body), &m) != nil {
		return "no JSON", body
	}
	if m.Error != nil {
		return fmt.Sprint(m.Error.Code), ""
	}
	if m.Result["requestState"] != nil {
		m.Result["requestState"] = "…"
	}
	code, _ = m.Result["resultType"].(string)
	return code, fmt.Sprint(max(1, events), asJSON(t, m.Result))
}

// Where the SDK's own handler is right, this one answers the same; everywhere else the table says why not.
func TestDifferencesToTheSDKsHandler(t *testing.T) {
	t.Parallel()
	ours, _ := recorder(t, &streamable.Options{})
	server, _ := recordingServer()
	own := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(own.Close)
	r := rand.New(rand.NewPCG(3, 4))
	same, seen := 0, map[string]int{}
	for i := range 2000 {
		g := generate(r, "tools/call")
		status, _, body := send2(t, ours, g.body, g.header)
		theirStatus, _, theirBody := send2(t, own.URL, g.body, g.header)
		code, rest := outcome(t, body)
		theirCode, theirRest := outcome(t, theirBody)
		if status == theirStatus && code == theirCode && rest == theirRest {
			same++
			continue
		}
		explained := false
		for _, d := range differences {
			if d.is(&g) {
				explained = true
				seen[d.what]++
				if d.status != 0 && status != d.status || d.status == 0 && code == "-32020" || d.code != "" && code != d.code {
					t.Fatalf("request %d, %s: got %d %s, want %d %s\n%s\n%v\n%s", i, d.what, status, code, d.status, d.code, g.body, g.header, body)
				}
				break
			}
		}
		if !explained {
			t.Fatalf("request %d: no row of the table explains it\n%s\n%v\nours: %d %s\nSDK:  %d %s", i, g.body, g.header, status, body, theirStatus, theirBody)
		}
	}
	if same < 500 {
		t.Errorf("only %d responses are the same", same)
	}
	for _, d := range differences {
		if seen[d.what] == 0 {
			t.Errorf("the SDK's handler does not differ any more, or the requests are too few: %s (%s)", d.what, d.why)
		}
	}
}
