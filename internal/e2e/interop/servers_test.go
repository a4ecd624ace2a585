package interop

import (
	"context"
	"encoding/json"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var impl = &mcp.Implementation{Name: "elicit-interop", Version: "1.0.0"}

// A filler notes the fields it is shown, checks that the form is complete, and answers with the values given.
type filler struct {
	t      *testing.T
	values answer.Values
	fields []string
	asked  int
}

func (f *filler) Answer(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
	f.asked++
	form, err := r.Form()
	if err != nil {
		return nil, err
	}
	f.fields = nil
	for name, p := range form.Fields() {
		f.fields = append(f.fields, name)
		if p.Title == "" || p.Type == "array" && len(p.Options) == 0 {
			f.t.Errorf("field %q: %+v", name, p)
		}
	}
	return answer.Script{r.Key: answer.Accept(f.values)}.Answer(ctx, r)
}

func callServer(t *testing.T, f *filler, session *mcp.ClientSession, tool string) string {
	t.Helper()
	f.t = t
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	res, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: tool}, f)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, c.Text)
		}
	}
	if res.IsError || f.asked == 0 {
		t.Errorf("asked %d times; %s", f.asked, texts)
	}
	return strings.Join(texts, "\n")
}

func connectStdio(t *testing.T, f *filler, protocol, name string, args ...string) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	session, err := answer.ConnectTransport(ctx, impl, &mcp.CommandTransport{Command: exec.Command(name, args...)},
		&answer.Options{Answerer: f, URL: true, ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// A server of the TypeScript SDK: forms come complete and in order, answers arrive, and 2^53+1 stays itself.
func TestTypeScriptServer(t *testing.T) {
	node := harness.Node(t)
	script := filepath.Join(harness.NodeDir(), "server.mjs")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	host, port, _ := net.SplitHostPort(addr)
	listener.Close()
	server := exec.Command(node, script, host, port)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for range 200 {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, tt := range []struct{ transport, protocol string }{{"stdio", "2026-07-28"}, {"stdio", "2025-11-25"}, {"http", "2026-07-28"}} {
		t.Run(tt.transport+" "+tt.protocol, func(t *testing.T) {
			f := &filler{values: answer.Values{"zebra": "zz", "carrier": answer.Text{"DHL"}, "extras": answer.Text{"Signature", "i"}, "order": json.Number("9007199254740993")}}
			var session *mcp.ClientSession
			if tt.transport == "stdio" {
				session = connectStdio(t, f, tt.protocol, node, script)
			} else {
				var err error
				if session, err = answer.Connect(t.Context(), impl, "http://"+addr+"/", &answer.Options{Answerer: f, ProtocolVersion: tt.protocol}); err != nil {
					t.Fatal(err)
				}
				defer session.Close()
			}
			raw := callServer(t, f, session, "Pack")
			if want := []string{"zebra", "mail", "carrier", "extras", "order", "apple"}; !slices.Equal(f.fields, want) {
				t.Errorf("fields %q, want %q", f.fields, want)
			}
			// What JavaScript reads is rounded; that we wrote it exactly is tested where the bytes are seen.
			var got []any
			if err := json.Unmarshal([]byte(raw), &got); err != nil || got[0] != "accept" {
				t.Fatalf("%v in %s", err, raw)
			}
			content := got[1].(map[string]any)
			if content["zebra"] != "zz" || content["carrier"] != "dhl" || content["apple"] != true || len(content["extras"].([]any)) != 2 || content["order"] != 9007199254740992.0 {
				t.Errorf("content %v", content)
			}
		})
	}
}

// The reference server with everything, which speaks 2025-11-25.
func TestEverything(t *testing.T) {
	node := harness.Node(t)
	main := filepath.Join(harness.NodeDir(), "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	f := &filler{values: answer.Values{"name": "Ada", "check": true, "integer": 7, "titledSingleSelectEnum": answer.Text{"Wonder Woman"}, "titledMultipleSelectEnum": answer.Text{"Salmon", "Trout"}}}
	session := connectStdio(t, f, "", node, main, "stdio")
	text := callServer(t, f, session, "trigger-elicitation-request")
	if want := []string{"name", "check", "firstLine", "email", "homepage", "birthdate", "integer", "number", "untitledSingleSelectEnum", "untitledMultipleSelectEnum", "titledSingleSelectEnum", "titledMultipleSelectEnum", "legacyTitledEnum"}; !slices.Equal(f.fields, want) {
		t.Errorf("fields %q, want %q", f.fields, want)
	}
	for _, want := range []string{"Ada", "hero-3", "fish-2", "fish-3", "7"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// The server that go-sdk takes the conformance suite with.
func TestGoSDKServer(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "everything-server")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct{ protocol, tool string }{
		{"2026-07-28", "test_input_required_result_elicitation"}, {"2026-07-28", "test_input_required_result_request_state"},
		{"2026-07-28", "test_input_required_result_multi_round"},
		{"2025-11-25", "test_elicitation_sep1034_defaults"}, {"2025-11-25", "test_elicitation_sep1330_enums"},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			f := &filler{}
			session := connectStdio(t, f, tt.protocol, binary)
			f.t = t
			a := answer.AnswererFunc(func(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
				form, err := r.Form()
				if err != nil {
					return nil, err
				}
				f.values = answer.Values{}
				for name, p := range form.Fields() {
					if p.Required && p.Default == nil && p.Type == "string" {
						f.values[name] = "Ada"
					}
					if p.Required && p.Type == "boolean" {
						f.values[name] = true
					}
				}
				return f.Answer(ctx, r)
			})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			res, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: tt.tool}, a)
			if err != nil || res.IsError || f.asked == 0 {
				data, _ := json.Marshal(res)
				t.Errorf("%v, asked %d times: %s", err, f.asked, data)
			}
		})
	}
}
