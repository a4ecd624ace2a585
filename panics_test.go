package elicit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fragile panics in the functions of Options, when it is told to.
type fragile struct{ in atomic.Value }

func (f *fragile) may(name string) {
	if f.in.Load() == name {
		panic("secret detail")
	}
}

func (f *fragile) Claim(context.Context, string, time.Time) (bool, error) {
	f.may("Claim")
	return true, nil
}
func (f *fragile) Release(context.Context, string) error { f.may("Release"); return nil }
func (f *fragile) Spend(context.Context, string) error   { f.may("Spend"); return nil }

func (f *fragile) options(l *logs) *elicit.Options {
	return &elicit.Options{Logger: l.logger(), Spender: f,
		Principal: func(context.Context, *mcp.RequestExtra) (elicit.Principal, error) {
			f.may("Principal")
			return elicit.Principal{Subject: "ann"}, nil
		},
		Bind: func(context.Context, *mcp.RequestExtra) string { f.may("Bind"); return "tenant" }}
}

// A panic around the handler is told to the log, and not to the client, and is not the end of the process: over HTTP on both
// paths, and over stdio, where nobody else would catch it.
func TestPanicsAroundTheHandler(t *testing.T) {
	for transport, serve := range map[string]func(*testing.T, *elicit.Server) func(method, name, more string) string{
		"express": byHTTP, "SDK": func(t *testing.T, s *elicit.Server) func(method, name, more string) string {
			wire.NoExpress = true
			defer func() { wire.NoExpress = false }()
			return byHTTP(t, s)
		}, "stdio": byStdio} {
		t.Run(transport, func(t *testing.T) {
			f, l := &fragile{}, &logs{}
			shop := elicit.New(newServer(), f.options(l))
			sure := elicit.Confirm("sure", "Sure?").Bound()
			addText(shop, "Delete", func(ctx context.Context) (string, error) {
				if ok, err := sure.Value(ctx); err != nil || !ok {
					return "kept", err
				}
				return "deleted", nil
			})
			elicit.AddPrompt(shop, &mcp.Prompt{Name: "Ask"}, func(ctx context.Context, _ *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				_, err := sure.Value(ctx)
				return &mcp.GetPromptResult{}, err
			})
			send := serve(t, shop)
			fails := func(in, method, name, more string) {
				t.Helper()
				before := len(l.String())
				f.in.Store(in)
				got := send(method, name, more)
				f.in.Store("")
				if !strings.Contains(got, `"code":-32603`) || !strings.Contains(got, `"message":"internal error"`) || strings.Contains(got, "secret") {
					t.Errorf("%s panics in %s: %s", in, method, got)
				}
				if log := l.String()[before:]; strings.Count(log, "secret detail") == 0 || !strings.Contains(log, ".go:") {
					t.Errorf("%s panics in %s: the log has no stack: %s", in, method, log)
				}
			}
			for _, in := range []string{"Principal", "Bind"} {
				fails(in, "tools/call", "Delete", "")
				fails(in, "prompts/get", "Ask", "")
			}
			var asked reply
			again := func() string {
				if err := json.Unmarshal([]byte(send("tools/call", "Delete", "")), &asked); err != nil || !asked.asks() {
					t.Fatalf("the server does not ask any more: %+v, %v", asked, err)
				}
				return fmt.Sprintf(`,"requestState":%q,"inputResponses":{"sure":{"action":"accept","content":{"input":true}}}`, asked.Result.RequestState)
			}
			for _, in := range []string{"Principal", "Bind", "Claim", "Spend"} {
				fails(in, "tools/call", "Delete", again())
			}
			if got := send("tools/call", "Delete", again()); !strings.Contains(got, "deleted") {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// The session of an older client is opened for somebody.
func TestPrincipalPanicsInASession(t *testing.T) {
	f, l := &fragile{}, &logs{}
	url := host(t, elicit.New(newServer(), f.options(l)))
	initialize := func() (int, string) {
		r, err := http.NewRequest("POST", url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b)
	}
	f.in.Store("Principal")
	if status, body := initialize(); status != 500 || !strings.Contains(body, `"internal error"`) || !strings.Contains(body, "-32603") {
		t.Errorf("got %d %s", status, body)
	}
	if log := l.String(); !strings.Contains(log, "secret detail") || !strings.Contains(log, ".go:") {
		t.Errorf("the log has no stack: %s", log)
	}
	f.in.Store("")
	if status, body := initialize(); status != 200 {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

func byHTTP(t *testing.T, shop *elicit.Server) func(method, name, more string) string {
	url := host(t, shop)
	return func(method, name, more string) string {
		body := modernRequest(method, name, more)
		r, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
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
		if strings.Contains(string(b), `"error"`) != (res.StatusCode == 500) {
			t.Errorf("status %d of %s", res.StatusCode, b)
		}
		return string(b)
	}
}

func byStdio(t *testing.T, shop *elicit.Server) func(method, name, more string) string {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- shop.Run(context.WithoutCancel(t.Context()), &mcp.IOTransport{Reader: inR, Writer: outW})
	}()
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		<-done
	})
	lines := bufio.NewReader(outR)
	return func(method, name, more string) string {
		if _, err := io.WriteString(inW, modernRequest(method, name, more)+"\n"); err != nil {
			t.Fatal(err)
		}
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, `"id":1`) {
				return line
			}
		}
	}
}

func modernRequest(method, name, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}},"name":%q%s}}`, method, name, more)
}
