package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An outcome is what a run of the command left behind.
type outcome struct {
	code     int
	out, err string
}

// try runs the command in this process, away from a terminal.
func try(t *testing.T, args ...string) outcome {
	t.Helper()
	return tryWith(t, &console{in: strings.NewReader("")}, args...)
}

// typed runs the command as at a terminal where someone types these lines.
func typed(t *testing.T, lines string, args ...string) outcome {
	t.Helper()
	return tryWith(t, &console{in: strings.NewReader(lines), interactive: true}, args...)
}

// output is written by several goroutines, as standard error is: by the command, and for a server that it runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func tryWith(t *testing.T, con *console, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var out, err output
	con.out, con.err = &out, &err
	o := outcome{code: run(ctx, con, args)}
	o.out, o.err = out.String(), err.String()
	return o
}

func (o outcome) want(t *testing.T, code int, out string, inErr ...string) {
	t.Helper()
	if o.code != code || o.out != out {
		t.Errorf("exit %d, want %d; stdout %q, want %q\nstderr: %s", o.code, code, o.out, out, o.err)
	}
	for _, s := range inErr {
		if !strings.Contains(o.err, s) {
			t.Errorf("stderr does not have %q:\n%s", s, o.err)
		}
	}
}

const shipForm = `{"type":"object","properties":{"trackingNumber":{"type":"string","title":"Tracking Number"},"parcels":{"type":"integer","default":1},"fragile":{"type":"boolean"},"extras":{"type":"array","items":{"type":"string","enum":["insurance","signature"]}},"carrier":{"type":"string","oneOf":[{"const":"ups","title":"UPS"},{"const":"dhl","title":"DHL"}]}},"required":["trackingNumber"]}`

// shop is a bare go-sdk server, to which older clients speak over sessions and newer ones by rounds.
func shop(t *testing.T) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	server.AddTool(&mcp.Tool{Name: "ShipOrder", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, ok := req.Params.InputResponses["ship"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"ship": &mcp.ElicitParams{
				Message: "Ship this order", RequestedSchema: json.RawMessage(shipForm),
			}}}, nil
		}
		if res.Action != "accept" {
			return text("Shipping cancelled: " + res.Action + "."), nil
		}
		data, _ := json.Marshal(res.Content)
		return text("Shipped with " + string(data) + "."), nil
	})
	server.AddTool(&mcp.Tool{Name: "Echo", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"b":{"type":"boolean"},"s":{"type":"string"},"l":{"type":"array","items":{"type":"string"}},"o":{"type":"object"}}}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(req.Params.Arguments)), nil
	})
	server.AddTool(&mcp.Tool{Name: "Fail", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := text("out of stock")
		res.IsError = true
		return res, nil
	})
	server.AddTool(&mcp.Tool{Name: "Blocks", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "one"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("abc")},
			&mcp.ResourceLink{URI: "file:///x", Name: "x"}, &mcp.TextContent{Text: "two"},
		}}, nil
	})
	server.AddTool(&mcp.Tool{Name: "Structured", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"z":9007199254740993,"a":1}`)}, nil
	})
	modern := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	legacy := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026" {
			modern.ServeHTTP(w, r)
			return
		}
		legacy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func TestCall(t *testing.T) {
	url := shop(t)
	for _, protocol := range []string{"", "2025-11-25", "2025-06-18"} {
		key := "ship"
		if protocol != "" {
			key = "" // The bare SDK tells older clients no key.
		}
		base := []string{"call", url, "ShipOrder", "--protocol=" + protocol}
		t.Run(protocol, func(t *testing.T) {
			try(t, append(base, "--answer", key+".trackingNumber=1Z=999", "--answer", key+".parcels=9007199254740993",
				"--answer", key+".extras=insurance", "--answer", key+".extras=signature", "--answer", key+".fragile=true", "--answer", key+".carrier=DHL")...).
				want(t, exitOK, `Shipped with {"carrier":"dhl","extras":["insurance","signature"],"fragile":true,"parcels":9007199254740992,"trackingNumber":"1Z=999"}.`+"\n")
			try(t, append(base, "--decline="+key)...).want(t, exitOK, "Shipping cancelled: decline.\n")
			try(t, append(base, "--cancel="+key)...).want(t, exitOK, "Shipping cancelled: cancel.\n")
			try(t, append(base, "--accept="+key)...).want(t, exitUnanswered, "", `field "trackingNumber"`, "--answer "+key+".trackingNumber=VALUE", "Shipping cancelled: cancel.")
			try(t, base...).want(t, exitUnanswered, "", `"trackingNumber"`, "give --answer "+key+".trackingNumber=VALUE (or --decline ", "the other fields may be left out")
			// The tool's name in the place of the key is the usual first mistake.
			o := try(t, append(base, "--answer", "ShipOrder.trackingNumber=hush")...)
			o.want(t, exitUnanswered, "", "--answer ShipOrder.trackingNumber names none of the questions asked so far", "--answer "+key+".trackingNumber=VALUE")
			if strings.Contains(o.err, "hush") {
				t.Errorf("a value is printed: %s", o.err)
			}
			try(t, append(base, "--answer", key+".trackingNumber=1", "--answer", key+".parcels=two")...).want(t, exitUnanswered, "", `"two" is not an integer`)
			try(t, append(base, "--answer", key+".trackingNumer=1")...).want(t, exitUnanswered, "", `"trackingNumer"`, "it has", `"trackingNumber"`)
		})
	}
}

func TestCallResults(t *testing.T) {
	url := shop(t)
	try(t, "call", url, "Fail").want(t, exitToolError, "", "Fail reported an error: out of stock")
	try(t, "call", url, "Blocks").want(t, exitOK, "one\n[image, image/png, 3 bytes]\n[link to file:///x, \"x\"]\ntwo\n")
	try(t, "call", url, "Structured").want(t, exitOK, "{\n  \"z\": 9007199254740993,\n  \"a\": 1\n}\n")
	o := try(t, "call", url, "Structured", "--json")
	if !strings.Contains(o.out, `"z": 9007199254740993`) || !json.Valid([]byte(o.out)) {
		t.Errorf("--json: %s", o.out)
	}
	try(t, "call", url, "Fail", "--json").want(t, exitToolError, try(t, "call", url, "Fail", "--json").out, "Fail reported an error")
	try(t, "call", url, "Nowhere").want(t, exitServer, "", "error -32602", "Nowhere")
}

func TestCallArguments(t *testing.T) {
	url := shop(t)
	try(t, "call", url, "Echo", "--arg", "n=9007199254740993", "--arg", "b=true", "--arg", "s=7", "--arg", "l=a,b", "--arg", "l=c", "--arg", `o={"x":1}`, "--arg", "u=8", "--arg", "v=w=x").
		want(t, exitOK, `{"b":true,"l":["a,b","c"],"n":9007199254740993,"o":{"x":1},"s":"7","u":8,"v":"w=x"}`+"\n")
	try(t, "call", url, "Echo", "--args", `{"n": 1, "x": 9007199254740993}`, "--arg", "n=2").want(t, exitOK, `{"n":2,"x":9007199254740993}`+"\n")
	tryWith(t, &console{in: strings.NewReader(`{"in":"stdin"}`)}, "call", url, "Echo", "--args", "-").want(t, exitOK, `{"in":"stdin"}`+"\n")
	file := filepath.Join(t.TempDir(), "args.json")
	if err := os.WriteFile(file, []byte(`{"in":"file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	try(t, "call", url, "Echo", "--args", file).want(t, exitOK, `{"in":"file"}`+"\n")
	for _, bad := range [][]string{
		{"--arg", "n=x"}, {"--arg", "n"}, {"--arg", "n=1", "--arg", "n=2"}, {"--args", "[]"}, {"--args", "{"}, {"--args", file + ".gone"}, {"--arg", "o=x"}, {"--arg", "b=yes"},
	} {
		try(t, append([]string{"call", url, "Echo"}, bad...)...).want(t, exitUsage, "", "--arg")
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"nothing"}, {"call"}, {"call", "http://localhost:1/"}, {"call", "localhost:1", "X"}, {"call", "ftp://example.com/", "X"},
		{"call", "http://localhost:1/", "X", "--answer", "ship"}, {"call", "http://localhost:1/", "X", "--answer", "ship=1"},
		{"call", "http://localhost:1/", "X", "--accept", "a", "--decline", "a"}, {"call", "http://localhost:1/", "X", "--wire=loud"},
		{"call", "http://localhost:1/", "X", "--answers", "-", "--args", "-"}, {"call", "http://localhost:1/", "X", "--answers", "/nowhere"},
		{"call", "http://localhost:1/", "X", "--token-env", "ELICIT_TEST_UNSET"}, {"call", "http://localhost:1/", "X", "--header", "x"},
		{"check", "http://localhost:1/", "--", "shop"}, {"version", "--", "shop"}, {"completion", "tcsh"},
	} {
		if o := try(t, args...); o.code != exitUsage || o.out != "" || o.err == "" {
			t.Errorf("%q: exit %d\n%s%s", args, o.code, o.out, o.err)
		}
	}
	if o := try(t, "call", "--help"); o.code != exitOK || !strings.Contains(o.out, "--answer") {
		t.Errorf("--help: %+v", o)
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	try(t, "call", s.URL, "X").want(t, exitServer, "", "HTTP 404 Not Found")
	s.Close()
	try(t, "call", s.URL, "X").want(t, exitServer, "", "connection refused")

	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // Else the server does not see that the client has gone.
		<-r.Context().Done()
	}))
	defer silent.Close()
	try(t, "call", silent.URL, "X", "--timeout=200ms").want(t, exitServer, "", "within 200ms", "--timeout")
}

// A status without a message of MCP is said as it is, wherever it comes.
func TestHTTPStatus(t *testing.T) {
	for _, tt := range []struct {
		status int
		media  string
		body   string
		want   []string
	}{
		{500, "text/plain", "out of \x1b[31mmemory\n", []string{`the server answered with HTTP 500 Internal Server Error "out of [31mmemory"`}},
		{500, "application/json", `{"error":"no database"}`, []string{"HTTP 500 Internal Server Error", "no database"}},
		{500, "application/json", `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"internal error"}}`, []string{`HTTP 500 Internal Server Error "internal error"`}},
		{502, "text/html", "<html>nginx</html>", []string{"the server answered with HTTP 502 Bad Gateway"}},
		{503, "", "", []string{"HTTP 503 Service Unavailable"}},
		{429, "text/plain", "slow down", []string{`HTTP 429 Too Many Requests "slow down"`}},
		{401, "", "", []string{"HTTP 401 Unauthorized", "--token-env"}},
		{404, "text/plain", "404 page not found", []string{`HTTP 404 Not Found`, "is this the address of an MCP server"}},
		{302, "", "", []string{"HTTP 302 Found"}},
	} {
		for _, method := range []string{"", "tools/list", "tools/call"} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var msg struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.Unmarshal(body, &msg)
				if method == "" || msg.Method == method {
					w.Header().Set("Content-Type", tt.media)
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.body)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}}`, msg.ID)
			}))
			args := []string{"call", s.URL, "T", "--timeout", "10s"}
			if method == "tools/list" {
				args = []string{"tools", s.URL, "--timeout", "10s"}
			}
			o := try(t, args...)
			o.want(t, exitServer, "", tt.want...)
			if strings.Contains(o.err, "-32005") || strings.Contains(o.err, "rejected") || strings.Contains(o.err, "\x1b") || strings.Contains(o.err, "nginx") {
				t.Errorf("%d to %q: %s", tt.status, method, o.err)
			}
			s.Close()
		}
	}
}

// A server that goes away between two rounds has not answered with an error.
func TestServerGoes(t *testing.T) {
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var msg struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &msg)
		out := `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`
		if msg.Method == "tools/call" {
			out = asks(`{"message":"m","requestedSchema":{"type":"object","properties":{}}}`)
			_ = s.Listener.Close()
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, msg.ID, out)
	}))
	defer s.Close()
	o := try(t, "call", s.URL, "T", "--accept", "q")
	o.want(t, exitServer, "", "connection refused")
	if strings.Contains(o.err, "rejected") {
		t.Error(o.err)
	}
}

func TestAnswersFile(t *testing.T) {
	url := shop(t)
	file := filepath.Join(t.TempDir(), "answers.json")
	if err := os.WriteFile(file, []byte(`{"ship": {"trackingNumber": "1Z999", "parcels": 3}, "other": "decline"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	try(t, "call", url, "ShipOrder", "--answers", file).want(t, exitOK, `Shipped with {"parcels":3,"trackingNumber":"1Z999"}.`+"\n")
	try(t, "call", url, "ShipOrder", "--answers", file, "--answer", "ship.parcels=4").want(t, exitOK, `Shipped with {"parcels":4,"trackingNumber":"1Z999"}.`+"\n")
	try(t, "call", url, "ShipOrder", "--answers", file, "--decline", "ship").want(t, exitOK, "Shipping cancelled: decline.\n")
	tryWith(t, &console{in: strings.NewReader(`{"ship":"cancel"}`), interactive: true}, "call", url, "ShipOrder", "--answers", "-").want(t, exitOK, "Shipping cancelled: cancel.\n")
	tryWith(t, &console{in: strings.NewReader(`{"ship":7}`)}, "call", url, "ShipOrder", "--answers", "-").want(t, exitUsage, "", `"ship"`)
}

func TestPrompt(t *testing.T) {
	url := shop(t)
	call := []string{"call", url, "ShipOrder"}
	o := typed(t, "f\n1Z999\n\ny\n2\nDHL\ns\n", call...)
	o.want(t, exitOK, `Shipped with {"carrier":"dhl","extras":["signature"],"fragile":true,"parcels":1,"trackingNumber":"1Z999"}.`+"\n",
		url+` (calls itself "shop") asks, for its tool ShipOrder:`, "  | Ship this order", "Tracking Number (trackingNumber): text, required", "Enter keeps 1", "Your answer:\n  Tracking Number: 1Z999\n  Parcels: 1\n  Fragile: Yes\n  Extras: signature\n  Carrier: DHL\n")
	last := -1
	for _, label := range []string{"(trackingNumber):", "(parcels):", "(fragile):", "(extras):", "(carrier):"} {
		i := strings.Index(o.err, label)
		if i < last {
			t.Errorf("%s comes too early:\n%s", label, o.err)
		}
		last = i
	}
	typed(t, "d\n", call...).want(t, exitOK, "Shipping cancelled: decline.\n")
	typed(t, "c\n", call...).want(t, exitOK, "Shipping cancelled: cancel.\n")
	typed(t, "", call...).want(t, exitOK, "Shipping cancelled: cancel.\n")
	typed(t, "f\n1\n", call...).want(t, exitOK, "Shipping cancelled: cancel.\n")
	// Nothing is preselected; a wrong value is asked again; the review can go back.
	typed(t, "\nx\nf\nfirst\nmany\n2\n\n\n\n\ne\nsecond\n-\n\n\n\ns\n", call...).
		want(t, exitOK, `Shipped with {"trackingNumber":"second"}.`+"\n", "Parcels must be a whole number.", "(left out)")
	// What flags gave is the start.
	typed(t, "f\n9\n\n\n\n\nsend\n", append(call, "--answer", "ship.parcels=5")...).want(t, exitOK, `Shipped with {"parcels":5,"trackingNumber":"9"}.`+"\n", "Enter keeps 5")
}

// What is not valid is not sent, whoever says it; a person goes on from there.
func TestPromptAgain(t *testing.T) {
	type order struct {
		Name    string `json:"name"`
		Parcels int    `json:"parcels"`
	}
	q := elicit.NewFormQuestion("order", "Order", form.Build(func(o *order) []form.Field {
		return []form.Field{form.StringOf(&o.Name), form.IntOf(&o.Parcels).Range(1, 10)}
	}))
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	elicit.AddTool(shop, &mcp.Tool{Name: "Order"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		o, err := q.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		return elicit.Text(fmt.Sprint(o.Name, " ", o.Parcels)), nil, nil
	}, elicit.Asks(q))
	s := httptest.NewServer(shop.Handler(nil))
	defer s.Close()
	for _, protocol := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		args := []string{"call", s.URL, "Order", "--protocol", protocol}
		typed(t, "f\nAda\n99\n7\ns\n", args...).want(t, exitOK, "Ada 7\n", "Parcels must be between 1 and 10.")
		// So it is with flags; a script has nothing else to say.
		args = append(args, "--answer", "order.name=Ada", "--answer", "order.parcels=99")
		typed(t, "f\n\n8\ns\n", args...).want(t, exitOK, "Ada 8\n", "Parcels must be between 1 and 10.", "Enter keeps Ada")
		try(t, args...).want(t, exitUnanswered, "", "Parcels must be between 1 and 10.")
	}
}

// Tokens come from the environment, a file or standard input, and go to the server alone.
func TestSecurity14Tokens(t *testing.T) {
	seen := make(chan string, 100)
	inner := shop(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		req, err := http.NewRequestWithContext(r.Context(), r.Method, inner, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header.Clone()
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	defer s.Close()
	t.Setenv("ELICIT_TEST_TOKEN", "hush")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range [][]string{{"--token-env", "ELICIT_TEST_TOKEN"}, {"--token-file", file}, {"--token-file", "-"}} {
		for _, command := range [][]string{{"call", s.URL, "ShipOrder", "--decline", "ship", "--wire"}, {"tools", s.URL}, {"check", s.URL}} {
			o := tryWith(t, &console{in: strings.NewReader("hush\n")}, append(command, flag...)...)
			if o.code == exitUsage || o.code == exitServer || strings.Contains(o.out+o.err, "hush") {
				t.Errorf("%q %q: %+v", command, flag, o)
			}
			if len(seen) == 0 {
				t.Errorf("%q %q: nothing is sent", command, flag)
			}
			for len(seen) > 0 {
				if got := <-seen; got != "Bearer hush" {
					t.Errorf("%q %q: Authorization %q", command, flag, got)
				}
			}
		}
	}
	try(t, "call", s.URL, "T", "--token-file", file+".gone").want(t, exitUsage, "", "--token-file")
	tryWith(t, &console{in: strings.NewReader("\n")}, "call", s.URL, "T", "--token-file", "-").want(t, exitUsage, "", "is empty")
	tryWith(t, &console{in: strings.NewReader("two words\n")}, "call", s.URL, "T", "--token-file", "-").want(t, exitServer, "", "the bearer token has a space")
}

func TestCredentialsInTheClear(t *testing.T) {
	t.Setenv("ELICIT_TEST_TOKEN", "hush")
	o := try(t, "call", "http://mcp.invalid/", "T", "--token-env", "ELICIT_TEST_TOKEN", "--timeout", "2s")
	o.want(t, exitServer, "", "warning: the credentials go to mcp.invalid unencrypted")
	if o := try(t, "call", shop(t), "Fail", "--token-env", "ELICIT_TEST_TOKEN"); strings.Contains(o.err, "warning") {
		t.Error(o.err)
	}
}

func TestSecurity14WireRedacts(t *testing.T) {
	url := shop(t)
	t.Setenv("ELICIT_TEST_TOKEN", "hush-token")
	args := []string{"call", url, "ShipOrder", "--answer", "ship.trackingNumber=1Z999", "--token-env", "ELICIT_TEST_TOKEN", "--header", "X-Api-Key: hush-key", "--wire"}
	o := try(t, args...)
	o.want(t, exitOK, `Shipped with {"parcels":1,"trackingNumber":"1Z999"}.`+"\n",
		"POST / HTTP/1.1\nHost: "+strings.TrimPrefix(url, "http://")+"\n", "Authorization: [redacted]", "X-Api-Key: [redacted]", "Mcp-Name: ShipOrder",
		"HTTP/1.1 200 OK", `  "method": "tools/call"`, `"resultType": "input_required"`, `"trackingNumber": "1Z999"`)
	if strings.Contains(o.err, "hush") {
		t.Errorf("--wire shows a credential:\n%s", o.err)
	}
	args[len(args)-1] = "--wire=raw"
	try(t, args...).want(t, exitOK, o.out, "Bearer hush-token", "hush-key")
}

// hostile holds what no output may contain: escape sequences in C0 and C1, bidirectional and zero-width characters.
const hostile = "A\x1b[2J\u009b31m\u202eB\u200b\u2066C\ufeff\x07"

// In every command, line by line.
func TestSecurity26NothingDrivesTheTerminal(t *testing.T) {
	quoted, _ := json.Marshal(hostile)
	h := string(quoted)
	results := map[string]string{
		"text":       `{"resultType":"complete","content":[{"type":"text","text":` + h + `}]}`,
		"error":      `{"resultType":"complete","isError":true,"content":[{"type":"text","text":` + h + `}]}`,
		"structured": `{"resultType":"complete","content":[],"structuredContent":{` + h + `:` + h + `}}`,
		"link":       `{"resultType":"complete","content":[{"type":"resource_link","uri":` + h + `,"name":` + h + `},{"type":"image","mimeType":` + h + `,"data":""}]}`,
		"type":       `{"resultType":` + h + `}`,
		"method":     `{"resultType":"input_required","inputRequests":{` + h + `:{"method":` + h + `,"params":{}}}}`,
		"form": `{"resultType":"input_required","inputRequests":{` + h + `:{"method":"elicitation/create","params":{"message":` + h + `,"requestedSchema":{"type":"object","properties":{` +
			h + `:{"type":"string","title":` + h + `,"description":` + h + `,"default":` + h + `},"c":{"type":"string","oneOf":[{"const":` + h + `,"title":` + h + `}]},"t":{"type":` + h + `}},"required":["c"]}}}}}`,
		"page": `{"resultType":"input_required","inputRequests":{"x":{"method":"elicitation/create","params":{"mode":"url","message":"m","elicitationId":"e","url":` + h + `}}}}`,
	}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var msg struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.Unmarshal(body, &msg)
				out := result
				if msg.Method == "server/discover" {
					out = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":` + h + `,"version":"1"}}}`
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, msg.ID, out)
			}))
			defer s.Close()
			for _, flags := range [][]string{{"--wire"}, {"--wire=raw"}, {"--json"}, nil} {
				args := append([]string{"call", s.URL, "T"}, flags...)
				for _, o := range []outcome{try(t, args...), typed(t, "f\n\n1\n\nx\ne\nz\n\n\nd\nd\n", args...)} {
					for _, r := range o.out + o.err {
						if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff {
							t.Fatalf("%q: %U reaches the terminal:\n%q\n%q", flags, r, o.out, o.err)
						}
					}
				}
			}
		})
	}
}

// The exit codes of the program as it is built.
func TestBinary(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "elicit")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	url := shop(t)
	for _, tt := range []struct {
		code int
		out  string
		args []string
	}{
		{exitOK, "Shipping cancelled: decline.\n", []string{"call", url, "ShipOrder", "--decline", "ship"}},
		{exitToolError, "", []string{"call", url, "Fail"}},
		{exitUsage, "", []string{"call", url}},
		{exitServer, "", []string{"call", url, "Nowhere"}},
		{exitUnanswered, "", []string{"call", url, "ShipOrder"}},
	} {
		var stdout bytes.Buffer
		cmd := exec.Command(bin, tt.args...)
		cmd.Stdout = &stdout
		err := cmd.Run() // Without a terminal: stdin is the null device.
		if code := cmd.ProcessState.ExitCode(); code != tt.code || stdout.String() != tt.out {
			t.Errorf("%q: exit %d (%v), want %d; stdout %q, want %q", tt.args, code, err, tt.code, stdout.String(), tt.out)
		}
	}
}

// Every command explains itself, and those with flags by examples.
func TestHelp(t *testing.T) {
	if o := try(t, "help"); o.code != exitOK || o.err != "" || !strings.Contains(o.out, "elicit call ShipOrder -- ") {
		t.Errorf("%+v", o)
	}
	for _, command := range []string{"demo", "call", "tools", "check", "preview", "keygen", "migrate", "completion", "version", "help", "doc", "vet", "migrate", "task"} {
		o := try(t, "help", command)
		o.want(t, exitOK, try(t, command, "--help").out)
		if command != "doc" && command != "vet" && (!strings.Contains(o.out, "Examples:\n") || !strings.Contains(o.out, "    elicit "+command)) {
			t.Errorf("help %s has no examples:\n%s", command, o.out)
		}
	}
	try(t, "help", "nothing").want(t, exitUsage, "", "unexpected argument nothing")
}
