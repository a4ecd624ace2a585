package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const timeout = 20 * time.Second

const (
	metaVersion = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	metaCaps    = `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`
	meta        = `"_meta":{` + metaVersion + "," + metaCaps + `}`
)

// call is a call of a tool; more are further members of params.
func call(id, tool, more string) string {
	if more != "" {
		more += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `",` + more + meta + `}}`
}

func decode(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("bytes after the value: %s", text)
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

// same compares two decoded values, numbers by what they are worth.
func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok || a == b {
			return ok
		}
		x, ok1 := worth(a)
		y, ok2 := worth(b)
		return ok1 && ok2 && x.Cmp(y) == 0
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, has := b[k]
			if !has || !same(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// worth is a number's value; numbers with long exponents have none here.
func worth(n json.Number) (*big.Rat, bool) {
	if i := strings.IndexAny(string(n), "eE"); i >= 0 && len(n)-i > 5 {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}

// rawID is the id member of a message, as it is written there; "" if there is none.
func rawID(t *testing.T, text string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	return string(m["id"])
}

// wantError checks an error response: code, id ("" if it must be left out) and what its message names.
func wantError(t *testing.T, line, code, id string, words ...string) {
	t.Helper()
	v := decode(t, line)
	if got := fmt.Sprint(at(v, "error", "code")); got != code || at(v, "jsonrpc") != "2.0" {
		t.Errorf("got %s, want code %s", line, code)
	}
	if got := rawID(t, line); got != id {
		t.Errorf("got id %s, want %s: %s", got, id, line)
	}
	for _, w := range words {
		if message, _ := at(v, "error", "message").(string); !strings.Contains(message, w) {
			t.Errorf("the message %q does not name %q", message, w)
		}
	}
}

// wantText checks a response whose result is one text.
func wantText(t *testing.T, line, id, text string) {
	t.Helper()
	content, _ := at(decode(t, line), "result", "content").([]any)
	if len(content) != 1 || at(content[0], "text") != text || rawID(t, line) != id {
		t.Errorf("got %s, want %q for id %s", line, text, id)
	}
}

// A pipe is a shop run over a pair of pipes, as over stdio.
type pipe struct {
	t              *testing.T
	in             io.WriteCloser
	out            *bufio.Reader
	started, ended chan struct{} // the tool wait has begun, and its context has ended
	done           chan struct{} // Run has returned
}

const maxLine = 4096

// run runs a shop with the tools that these tests need.
func run(t *testing.T) *pipe {
	t.Helper()
	p := &pipe{t: t, started: make(chan struct{}, 8), ended: make(chan struct{}, 8), done: make(chan struct{})}
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	shop := elicit.New(server, &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	raw := func(name string, f func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, f)
	}
	raw("echo", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return elicit.Text("echo " + string(r.Params.Arguments)), nil
	})
	raw("fail", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("the warehouse is closed")
	})
	raw("panic", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("secret detail") })
	raw("wait", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p.started <- struct{}{}
		<-ctx.Done()
		p.ended <- struct{}{}
		return nil, ctx.Err()
	})
	raw("progress", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		return elicit.Text("done"), nil
	})
	ship := elicit.NewQuestion[struct {
		Name string `json:"name"`
	}]("ship", "Ship this order")
	elicit.AddTool(shop, &mcp.Tool{Name: "ship"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := ship.Require(ctx)
		if err != nil {
			return nil, nil, err
		}
		if v, ok := a.Value(); ok {
			return elicit.Text("Shipped as " + v.Name + "."), nil, nil
		}
		return elicit.Text("Shipping cancelled."), nil, nil
	}, elicit.Asks(ship))

	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	p.in, p.out = in, bufio.NewReader(out)
	go func() {
		defer close(p.done)
		_ = shop.Run(ctx, &mcp.IOTransport{Reader: toServer, Writer: fromServer, MaxLineLength: maxLine})
		fromServer.Close()
	}()
	context.AfterFunc(ctx, func() { fromServer.CloseWithError(ctx.Err()) })
	t.Cleanup(func() {
		in.Close()
		cancel()
		<-p.done
	})
	return p
}

// send writes text as it is.
func (p *pipe) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text); err != nil {
		p.t.Fatal(err)
	}
}

// receive reads a line.
func (p *pipe) receive() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("no line after %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// ask writes a line and reads one.
func (p *pipe) ask(line string) string {
	p.t.Helper()
	p.send(line + "\n")
	return p.receive()
}

// wait waits for a signal, for a bounded time.
func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(timeout):
		t.Fatalf("waited in vain: %s", what)
	}
}

// output is a writer that keeps what is written.
type output struct{ bytes.Buffer }

func (*output) Close() error { return nil }
