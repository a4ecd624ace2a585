package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// opener puts a program in the place of the one that opens pages; it notes its arguments, one a line.
func opener(t *testing.T, script string) (env []string, opened func() string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "opened")
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >>"+log+"\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, func() string {
		data, _ := os.ReadFile(log)
		return string(data)
	}
}

const page = "https://mcp.example.com/connect?ticket=abc&x='$(id)'"

func pageParams(url string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "url", Message: "Connect your account", URL: url}
}

// A page is shown whole and opened after a yes, as one argument; while it is not completed the call is tried again, by
// itself and at once; then the call goes on.
func TestPage(t *testing.T) {
	var calls, completed atomic.Int32
	url := serveRaw(t, pageParams(page), func() bool { calls.Add(1); return completed.Load() == 1 })
	env, opened := opener(t, "")
	s := start(t, 80, 24, env, "call", url, "T")
	s.wait("[ Open ]", "mcp.example.com", "ticket=abc")
	s.golden("page")
	s.press(enter) // Starts on no choice.
	if opened() != "" || calls.Load() != 0 {
		t.Fatal("opened without a yes")
	}
	s.press(right, enter)
	s.wait("not completed yet", "[ Try now ]")
	if got := opened(); got != "https://mcp.example.com/connect?ticket=abc&x='$(id)'\n" {
		t.Errorf("opened %q", got)
	}
	before := calls.Load()
	s.press(enter)
	s.wait("next try in 5 s")
	deadline := time.Now().Add(15 * time.Second)
	for calls.Load() < before+2 && time.Now().Before(deadline) { // By itself.
		time.Sleep(100 * time.Millisecond)
	}
	if calls.Load() < before+2 {
		t.Error("the call is not tried again")
	}
	completed.Store(1)
	s.ends(0)
	s.wait("accept")
	if got := strings.Count(opened(), "\n"); got != 1 {
		t.Errorf("opened %d times", got)
	}
}

func TestPageStoppedAndDeclined(t *testing.T) {
	env, opened := opener(t, "")
	url := serveRaw(t, pageParams(page), func() bool { return false })
	s := start(t, 80, 24, env, "call", url, "T")
	s.wait("[ Open ]")
	s.press("o", enter)
	s.wait("[ Stop ]")
	s.press("o", enter)
	s.wait("next try in")
	s.press(esc)
	s.ends(0)
	s.wait("cancel")
	if got := strings.Count(opened(), "\n"); got != 2 {
		t.Errorf("opened %d times", got)
	}
	s = start(t, 80, 24, env, "call", url, "T")
	s.wait("[ Open ]")
	s.press("d", enter)
	s.ends(0)
	s.wait("decline")
	s = start(t, 80, 24, append(env, "TERM=dumb"), "call", url, "T")
	s.wait("[o]pen, [d]ecline or [c]ancel?")
	s.line("o")
	s.line("r")
	s.wait("[r]etry, [o]pen or [s]top?")
	s.line("s")
	s.ends(0)
	s.wait("cancel")
}

// What is not to be opened cannot be, and what is suspicious is marked.
func TestSecurity25SuspiciousPages(t *testing.T) {
	env, opened := opener(t, "")
	for name, tt := range map[string]struct{ url, want string }{
		"script":   {"javascript:alert(1)", "It cannot be opened: it begins with javascript:"},
		"file":     {"file:///etc/passwd", "It cannot be opened: it begins with file:"},
		"userinfo": {"https://bank.example.com@mcp.example.net/", "It cannot be opened: it has a user name"},
		"flag":     {"--version", "It cannot be opened"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, 80, 24, env, "call", serveRaw(t, pageParams(tt.url), func() bool { return true }), "T")
			s.wait(tt.want, "[ Decline ]")
			if strings.Contains(s.show(), "Open ]") {
				t.Errorf("it can be opened:\n%s", s.show())
			}
			s.press("c", enter)
			s.ends(0)
		})
	}
	s := start(t, 60, 24, env, "call", serveRaw(t, pageParams("https://xn--pple-43d.example.com:4711/?"+strings.Repeat("x", 300)), func() bool { return true }), "T")
	s.wait("Careful", "mixes", "unusual port")
	s.golden("page-suspicious")
	s.press(esc)
	s.ends(0)
	if opened() != "" {
		t.Errorf("opened %q", opened())
	}
}

// Where nothing can open pages, the person does.
func TestPageByHand(t *testing.T) {
	env, _ := opener(t, "exit 3")
	s := start(t, 80, 24, env, "call", serveRaw(t, pageParams(page), func() bool { return true }), "T")
	s.wait("[ Open ]")
	s.press("o", enter)
	s.wait("could not be opened here", "[ Go on ]")
	s.press("g", enter)
	s.ends(0)
	s.wait("accept")
}
