package terminal

import (
	"bufio"
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveTasks is a server with two tools that run as tasks: Ask asks for a form, Work works until it is cancelled, which it
// tells, or has been released.
func serveTasks(t *testing.T) (url string, cancelled chan struct{}, release func()) {
	t.Helper()
	shop := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil), &elicit.Options{Logger: slog.New(slog.DiscardHandler)})
	engine := tasks.Enable(shop, tasks.Options{PollInterval: 200 * time.Millisecond})
	approve := elicit.Input("approve", "Why?")
	cancelled, released := make(chan struct{}), make(chan struct{})
	elicit.AddTool(shop, &mcp.Tool{Name: "Ask"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		why, err := approve.Value(ctx)
		return elicit.Text("approved: " + why), nil, err
	}, elicit.Asks(approve), tasks.Required)
	elicit.AddTool(shop, &mcp.Tool{Name: "Work"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		tasks.Status(ctx, "3 of \x1b[2J10")
		select {
		case <-ctx.Done():
			close(cancelled)
			return nil, nil, ctx.Err()
		case <-released:
			return elicit.Text("worked"), nil, nil
		}
	}, tasks.Required)
	s := httptest.NewServer(shop.Handler(nil))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = engine.Shutdown(ctx)
	})
	return s.URL, cancelled, func() { close(released) }
}

var resumed = regexp.MustCompile(`elicit task wait (http://\S+)\s+([A-Z0-9]{20,})`)

// id is the id of the task that the screen tells.
func (s *session) id() string {
	s.t.Helper()
	s.wait("elicit task wait")
	m := resumed.FindStringSubmatch(s.show())
	if m == nil {
		s.t.Fatalf("no id:\n%s", s.show())
	}
	return m[2]
}

// Ctrl-C while a task works asks what is to become of it.
func TestTaskInterrupted(t *testing.T) {
	url, cancelled, release := serveTasks(t)
	s := start(t, 200, 24, nil, "call", url, "Work")
	s.wait("3 of [2J10, waiting for ")
	s.press(ctrlC)
	s.wait("Cancel it, or leave it running? [c/L]")
	s.press("c" + enter)
	s.wait("the server was asked to cancel it")
	s.ends(130)
	<-cancelled

	s = start(t, 200, 24, nil, "call", url, "Work")
	s.wait("3 of [2J10, waiting for ")
	id := s.id()
	s.press(ctrlC)
	s.wait("Cancel it, or leave it running? [c/L]")
	s.press(ctrlC) // Leaves it, too.
	s.wait("to go on with it: elicit task wait ")
	s.ends(130)

	// From another terminal, which is interrupted without an answer, and a third.
	s = start(t, 200, 24, nil, "task", "wait", url, id)
	s.wait("3 of [2J10, waiting for ")
	s.press(ctrlC)
	s.wait("Cancel it, or leave it running? [c/L]")
	s.press(enter)
	s.ends(130)
	s = start(t, 200, 24, nil, "task", "wait", url, id)
	s.wait("3 of [2J10, waiting for ")
	release()
	s.wait("worked")
	s.ends(0)
}

// Who goes away from a question of a task is asked whether for good.
func TestTaskQuestionLeft(t *testing.T) {
	url, _, _ := serveTasks(t)
	s := start(t, 200, 24, nil, "call", url, "Ask")
	s.wait("Why?")
	s.press(ctrlC)
	s.wait("Cancel the question for good, or leave it open for later? [c/L]")
	s.press("l" + enter)
	s.wait("it was left open", "to go on with it: elicit task wait ")
	id := s.id()
	s.ends(4)

	s = start(t, 200, 24, nil, "task", "wait", url, id)
	s.wait("Why?")
	s.press("tested" + enter)
	s.wait("[ Review ]")
	s.press(enter)
	s.wait("[ Send ]")
	s.press(right, enter)
	s.wait("approved: tested")
	s.ends(0)

	s = start(t, 200, 24, nil, "call", url, "Ask")
	s.wait("Why?")
	s.press(esc)
	s.wait("Cancel the question for good, or leave it open for later? [c/L]")
	s.press("c" + enter)
	s.ends(1)
}

// A process that waits for a task is killed, and another brings the result.
func TestTaskOutlivesItsClient(t *testing.T) {
	url, _, release := serveTasks(t)
	cmd := command(t, nil, "call", url, "Work")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id := ""
	lines := bufio.NewScanner(stderr)
	for id == "" && lines.Scan() {
		if m := resumed.FindStringSubmatch(lines.Text()); m != nil {
			id = m[2]
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()

	// Away from a terminal a signal ends the waiting, and says how to go on.
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd = command(t, nil, "task", "wait", url, id)
		if stderr, err = cmd.StderrPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		lines = bufio.NewScanner(stderr)
		for lines.Scan() {
			all.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), "3 of ") {
				_ = cmd.Process.Signal(signal)
			}
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(all.String(), "to go on with it: elicit task wait "+url+" "+id) {
			t.Errorf("%v: exit %d:\n%s", signal, cmd.ProcessState.ExitCode(), all.String())
		}
	}

	release()
	out, err := command(t, nil, "task", "wait", url, id).Output()
	if err != nil || string(out) != "worked\n" {
		t.Errorf("%q, %v", out, err)
	}
}
