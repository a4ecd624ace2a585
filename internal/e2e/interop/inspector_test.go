package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/e2e/harness"
)

// eras are the values of Inspector's --protocol-era, and the revision that each ends at with us.
var eras = []struct{ era, version string }{
	{"legacy", "2025-11-25"},
	{"auto", "2026-07-28"},
	{"modern", "2026-07-28"},
}

// inspected is what MCP Inspector's command line prints: results on standard output, errors on standard error.
type inspected struct {
	Result struct {
		Tools, Prompts, Resources []struct{ Name string }
		Content                   []struct{ Text string }
		IsError                   bool
	}
	Error struct{ Code, Message string }
}

func inspect(t *testing.T, url, era string, args ...string) inspected {
	t.Helper()
	inspector := filepath.Join(harness.NodeDir(), "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	args = append([]string{inspector, "--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "--quiet",
		"--connect-timeout", "0"}, args...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Node(t), args...)
	home := t.TempDir() // it keeps servers and tokens there
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := cmd.Run()
	var got inspected
	for _, printed := range []*bytes.Buffer{&stdout, &stderr} {
		if printed.Len() == 0 {
			continue
		}
		if err := json.Unmarshal(printed.Bytes(), &got); err != nil {
			t.Fatalf("%v (%v)\n%s%s", err, ended, &stdout, &stderr)
		}
	}
	if failed := got.Error.Code != ""; (ended != nil) != failed || !failed && stdout.Len() == 0 {
		t.Fatalf("it ended with %v\n%s%s", ended, &stdout, &stderr)
	}
	return got
}

// A wire is a proxy that remembers what passed through it.
type wire struct {
	url string

	mu      sync.Mutex
	version string
	reply   []byte
}

// last is the MCP-Protocol-Version of the last POST, and the last reply that was JSON rather than a stream.
func (w *wire) last() (version string, reply []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version, w.reply
}

func tap(t *testing.T, target string) *wire {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // Inspector leaves streams open when it ends
	proxy.ModifyResponse = func(r *http.Response) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.Request.Method == http.MethodPost {
			w.version = r.Request.Header.Get("MCP-Protocol-Version")
		}
		if r.Header.Get("Content-Type") != "application/json" {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		w.reply, r.Body = body, io.NopCloser(bytes.NewReader(body))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func TestInspectorListsAndCalls(t *testing.T) {
	harness.Node(t)
	url := serveReports(t)
	for _, e := range eras {
		for _, c := range []struct {
			name, want string
			args       []string
		}{
			{"tools", "Greet", []string{"--method", "tools/list"}},
			{"prompts", "Summary", []string{"--method", "prompts/list"}},
			{"resources", "latest", []string{"--method", "resources/list"}},
			{"call", "Hello, Ada.", []string{"--method", "tools/call", "--tool-name", "Greet", "--tool-arg", "name=Ada"}},
		} {
			t.Run(e.era+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				w := tap(t, url)
				r := inspect(t, w.url, e.era, c.args...)
				var got []string
				for _, listed := range slices.Concat(r.Result.Tools, r.Result.Prompts, r.Result.Resources) {
					got = append(got, listed.Name)
				}
				for _, content := range r.Result.Content {
					got = append(got, content.Text)
				}
				if !slices.Equal(got, []string{c.want}) || r.Result.IsError || r.Error.Code != "" {
					t.Errorf("got %+v, want %q", r, c.want)
				}
				if version, _ := w.last(); version != e.version {
					t.Errorf("it spoke %s, want %s", version, e.version)
				}
			})
		}
	}
}

// Inspector's command line declares no elicitation.
func TestInspectorShipOrder(t *testing.T) {
	harness.Node(t)
	url := harness.Start(t, "examples/shiporder")
	for _, e := range eras {
		t.Run(e.era, func(t *testing.T) {
			t.Parallel()
			w := tap(t, url)
			r := inspect(t, w.url, e.era, "--method", "tools/call", "--tool-name", "ShipOrder")
			version, reply := w.last()
			if version != e.version {
				t.Errorf("it spoke %s, want %s", version, e.version)
			}
			if e.era == "legacy" {
				const want = `the user could not be asked "ship": this client cannot be asked: it did not declare the capability elicitation.form`
				if !r.Result.IsError || len(r.Result.Content) != 1 || r.Result.Content[0].Text != want {
					t.Errorf("got %+v, want the tool error %q", r, want)
				}
				return
			}
			// Inspector shows the message of a JSON-RPC error, and not its code.
			var sent struct {
				Error struct {
					Code    int
					Message string
					Data    struct{ RequiredCapabilities json.RawMessage }
				}
			}
			if err := json.Unmarshal(reply, &sent); err != nil || sent.Error.Code != -32021 ||
				string(sent.Error.Data.RequiredCapabilities) != `{"elicitation":{"form":{}}}` {
				t.Errorf("it was sent %s, want −32021 that names the capability elicitation.form", reply)
			}
			if r.Error.Message == "" || r.Error.Message != sent.Error.Message {
				t.Errorf("it shows %+v, want the message %q", r, sent.Error.Message)
			}
		})
	}
}
