package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	m.Run()
}

const timeout = 20 * time.Second

// serve serves a shop on a loopback socket and returns its address.
func serve(t *testing.T, shop *elicit.Server) string {
	t.Helper()
	server := httptest.NewServer(shop.Handler(nil))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// A reply is what came back for a POST.
type reply struct {
	status int
	header http.Header
	body   string
}

// post sends one HTTP request, byte for byte, over a connection of its own. head is the request line and the headers, a
// line each.
func post(t *testing.T, addr, head, body string) reply {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, timeout)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(timeout))
	text := strings.ReplaceAll(strings.TrimSuffix(head, "\n"), "\n", "\r\n")
	fmt.Fprintf(conn, "%s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", text, len(body), body)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

// call posts body to a new shop, with the page's headers.
func call(t *testing.T, body string) reply {
	t.Helper()
	return post(t, serve(t, newShop()), headers, body)
}

// replace changes one place of a text, which must have it.
func replace(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is %d times in\n%s", old, strings.Count(text, old), text)
	}
	return strings.Replace(text, old, new, 1)
}

// answered is POST 2 with another answer under "ship".
func answered(t *testing.T, answer string) string {
	t.Helper()
	return withResponses(t, `{"ship": `+answer+`}`)
}

// withResponses is POST 2 with other inputResponses.
func withResponses(t *testing.T, responses string) string {
	t.Helper()
	return replace(t, post2, `{
      "ship": {
        "action": "accept",
        "content": { "trackingNumber": "1Z999" }
      }
    }`, responses)
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	if d.More() {
		t.Fatalf("more than one JSON value: %s", text)
	}
	return v
}

// at is the member of v that path names, or nil.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

// withoutServerInfo is a message less the server's name for itself in result._meta, which the page leaves out.
func withoutServerInfo(v any) any {
	result, _ := at(v, "result").(map[string]any)
	if meta, ok := result["_meta"].(map[string]any); ok {
		delete(meta, mcp.MetaKeyServerInfo)
		if len(meta) == 0 {
			delete(result, "_meta")
		}
	}
	return v
}

// wantJSON checks that a message is the JSON of want, serverInfo aside.
func wantJSON(t *testing.T, got, want string) {
	t.Helper()
	g, w := withoutServerInfo(decode(t, got)), decode(t, want)
	if !reflect.DeepEqual(g, w) {
		var gb, wb bytes.Buffer
		for b, v := range map[*bytes.Buffer]any{&gb: g, &wb: w} {
			e := json.NewEncoder(b)
			e.SetIndent("", "  ")
			_ = e.Encode(v)
		}
		t.Errorf("got\n%swant\n%s", gb.String(), wb.String())
	}
}

// wantResult checks status, media type and body of a reply that is no error.
func wantResult(t *testing.T, r reply, want string) {
	t.Helper()
	wantOK(t, r)
	wantJSON(t, r.body, want)
}

func wantOK(t *testing.T, r reply) {
	t.Helper()
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/json" {
		t.Fatalf("got status %d, %s: %s", r.status, r.header.Get("Content-Type"), r.body)
	}
}

// wantText checks that a reply is a complete result of one text.
func wantText(t *testing.T, r reply, id, text string) {
	t.Helper()
	quoted, _ := json.Marshal(text)
	wantResult(t, r, `{"jsonrpc":"2.0","id":`+id+`,"result":{"resultType":"complete","content":[{"type":"text","text":`+string(quoted)+`}]}}`)
}

// wantAsked checks that a reply asks "ship" and nothing else, for the same field, and returns the question's params.
func wantAsked(t *testing.T, r reply) map[string]any {
	t.Helper()
	wantOK(t, r)
	v := decode(t, r.body)
	if at(v, "result", "resultType") != "input_required" {
		t.Fatalf("it does not ask: %s", r.body)
	}
	requests, _ := at(v, "result", "inputRequests").(map[string]any)
	params, _ := at(requests, "ship", "params").(map[string]any)
	if len(requests) != 1 || params == nil || at(requests, "ship", "method") != "elicitation/create" {
		t.Fatalf("it does not ask exactly the form \"ship\": %s", r.body)
	}
	if at(params, "mode") != "form" || at(params, "requestedSchema", "properties", "trackingNumber", "type") != "string" {
		t.Fatalf("it asks with another form: %s", r.body)
	}
	return params
}

// wantError checks a reply that is a JSON-RPC error: status, code, id (digit for digit, "" for none), and that the message
// has each of words in it.
func wantError(t *testing.T, r reply, status int, code, id string, words ...string) {
	t.Helper()
	if r.status != status || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("got status %d, %s, want %d, application/json", r.status, r.header.Get("Content-Type"), status)
	}
	v := decode(t, r.body)
	if got := fmt.Sprint(at(v, "error", "code")); got != code {
		t.Errorf("got code %s, want %s", got, code)
	}
	m, _ := v.(map[string]any)
	if got, has := m["id"]; has != (id != "") || has && fmt.Sprint(got) != id {
		t.Errorf("got id %v (there: %t), want %q", got, has, id)
	}
	message, _ := at(v, "error", "message").(string)
	for _, w := range words {
		if !strings.Contains(message, w) {
			t.Errorf("the message %q does not name %q", message, w)
		}
	}
	if t.Failed() {
		t.Logf("body: %s", r.body)
	}
}

// A pipe is a shop run over a pair of pipes, as over stdio.
type pipe struct {
	in    io.WriteCloser
	lines *bufio.Scanner
}

func run(t *testing.T, shop *elicit.Server) *pipe {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = shop.Run(ctx, &mcp.IOTransport{Reader: toServer, Writer: fromServer})
		fromServer.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		<-ended
		cancel()
	})
	context.AfterFunc(ctx, func() { fromServer.CloseWithError(ctx.Err()) })
	return &pipe{in, bufio.NewScanner(out)}
}

// send writes a message as one line.
func (p *pipe) send(t *testing.T, message string) {
	t.Helper()
	var line bytes.Buffer
	if err := json.Compact(&line, []byte(message)); err != nil {
		t.Fatal(err)
	}
	line.WriteByte('\n')
	if _, err := p.in.Write(line.Bytes()); err != nil {
		t.Fatal(err)
	}
}

// receive reads the next line.
func (p *pipe) receive(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("no line: %v", p.lines.Err())
	}
	return p.lines.Text()
}
