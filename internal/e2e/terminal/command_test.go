package terminal

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/e2e/harness"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var colour = regexp.MustCompile(`\x1b\[[0-9;:]*\b([34][0-7]|38|48|9[0-7]|10[0-7])[;:m]`)

// Colours are at terminals alone, and not where NO_COLOR asks for none.
func TestNoColor(t *testing.T) {
	url := serve(t, "Ship this order", form.Int("parcels").Range(1, 10).Required())
	for _, tt := range []struct {
		env     []string
		colours bool
	}{{nil, true}, {[]string{"NO_COLOR=1"}, false}, {[]string{"TERM=dumb"}, false}} {
		s := start(t, 80, 24, tt.env, "check", url, "T")
		s.ends(0)
		if got := colour.MatchString(s.raw.String()); got != tt.colours {
			t.Errorf("check with %q: colours %t", tt.env, got)
		}
		if len(tt.env) > 0 && tt.env[0] == "TERM=dumb" {
			continue
		}
		s = start(t, 80, 24, tt.env, "call", url, "T")
		s.wait("1/1")
		s.press("12")
		s.wait("✗ Parcels must be between 1 and 10.")
		s.press(esc)
		s.ends(0)
		if got := colour.MatchString(s.raw.String()); got != tt.colours {
			t.Errorf("call with %q: colours %t\n%q", tt.env, got, s.raw.String())
		}
	}
	cmd := command(t, nil, "check", url, "T")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "\x1b") {
		t.Errorf("%v; into a pipe goes\n%q", err, out)
	}
}

// What takes long is seen to be waited for, with its progress, and leaves nothing of that behind.
func TestSpinner(t *testing.T) {
	goOn := make(chan struct{})
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	elicit.AddTool(shop, &mcp.Tool{Name: "Pack"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if token := req.Params.GetProgressToken(); token != nil {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 2, Total: 5, Message: "packing"}); err != nil {
				return nil, nil, err
			}
		}
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return elicit.Text("Packed."), nil, nil
	})
	server := httptest.NewServer(shop.Handler(nil))
	t.Cleanup(server.Close)
	s := start(t, 80, 24, nil, "call", server.URL, "Pack")
	s.wait("40% packing, waiting for http://127.0.0.1:")
	goOn <- struct{}{}
	s.ends(0)
	if got := s.show(); got != "Packed.\n" {
		t.Errorf("it leaves behind\n%s", got)
	}
	s = start(t, 20, 24, nil, "call", server.URL, "Pack")
	s.wait("40% packing, wai…")
	goOn <- struct{}{}
	s.ends(0)
	s.wait("Packed.")
	// Where a line cannot be drawn anew, progress comes line by line; nothing waits on a screen reader.
	for _, env := range []string{"TERM=dumb", "ACCESSIBLE=1"} {
		s = start(t, 80, 24, []string{env}, "call", server.URL, "Pack")
		s.wait("elicit: 40% packing")
		goOn <- struct{}{}
		s.ends(0)
		if strings.Contains(s.raw.String(), "\x1b") || strings.Contains(s.raw.String(), "waiting") {
			t.Errorf("with %s\n%q", env, s.raw.String())
		}
	}
	// Interrupted while it waits.
	s = start(t, 80, 24, nil, "call", server.URL, "Pack")
	s.wait("40% packing")
	s.press(ctrlC)
	s.ends(130)
	s.wait("elicit: interrupted")
}

// A server that is a command of this machine: its form on the screen, its own output above.
func TestServerThatIsACommand(t *testing.T) {
	command(t, nil)
	server := filepath.Join(t.TempDir(), "shiporder")
	build := exec.Command("go", "build", "-o", server, "./examples/shiporder")
	build.Dir = harness.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// It logs on while its form is shown, which stays as it is.
	dir := t.TempDir()
	noisy := filepath.Join(dir, "noisy")
	script := "#!/bin/sh\n(while [ ! -e " + dir + "/asked ]; do sleep 0.1; done; echo noise >&2; sleep 0.3; touch " + dir + "/noted) &\nexec " + server + " \"$@\"\n"
	if err := os.WriteFile(noisy, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := start(t, 80, 24, nil, "call", "ShipOrder", "--", noisy, "-stdio")
	s.wait("/noisy -stdio", "calls itself", "1/1")
	if err := os.WriteFile(filepath.Join(dir, "asked"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "noted")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not log")
		}
	}
	s.press("1Z999", enter, enter)
	s.wait("[ Send ]")
	if strings.Contains(s.show(), "noise") {
		t.Errorf("the server's log is on the form:\n%s", s.show())
	}
	s.press("s", enter)
	s.ends(0)
	s.wait("Shipped as 1Z999.", "| noise")
}

// What comes on standard input is read, and the person at the terminal asked all the same.
func TestStdinAndATerminal(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"object","properties":{"note":{"type":"string"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	piped := func(args ...string) *session {
		t.Helper()
		cmd := command(t, nil, args...)
		shell := exec.Command("sh", "-c", `exec "$@" < `+file, "sh")
		shell.Args = append(shell.Args, cmd.Args...)
		shell.Env = cmd.Env
		return startCommand(t, 80, 24, shell)
	}
	s := piped("preview", "-")
	s.wait("This is a preview", "1/1")
	s.golden("preview")
	s.press("hello", enter, enter)
	s.wait("[ Send ]")
	s.press("s", enter)
	s.ends(0)
	s.wait(`"note": "hello"`)
	s = piped("preview", "-", "--accessible")
	s.wait("Fill in 1 field: fill, decline or cancel?")
	s.line("decline")
	s.ends(0)
	s.wait(`"action": "decline"`)

	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = piped("call", serve(t, "Ship this order", form.String("note")), "T", "--args-json", "-")
	s.wait("1/1")
	s.press(ctrlC)
	s.ends(0)
	s.wait("dismissed")
	// Without "-" what is piped in is none of the person's.
	s = piped("call", serve(t, "Ship this order", form.String("note").Required()), "T")
	s.ends(4)
	s.wait("--answer q.note=VALUE")
}
