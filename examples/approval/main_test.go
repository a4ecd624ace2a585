package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/pgtest"
)

// TestMain is the program itself where a test starts it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("APPROVAL_PROCESS") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is an instance.
type process struct {
	t    *testing.T
	url  string
	cmd  *exec.Cmd
	said chan string // lines of its log
}

func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	p := &process{t: t, url: "http://" + addr, said: make(chan string, 100)}
	p.cmd = exec.Command(os.Args[0], append([]string{"-addr", addr, "-file", filepath.Join(dir, "approval.db"), "-secret", filepath.Join(dir, "secret"), "-takes", "300ms"}, args...)...)
	p.cmd.Env = append(os.Environ(), "APPROVAL_PROCESS=1")
	r, w := io.Pipe()
	p.cmd.Stderr = w
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for in := bufio.NewScanner(r); in.Scan(); {
			p.said <- in.Text()
		}
	}()
	t.Cleanup(p.kill)
	p.hear("serving on")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return p
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// stop is an orderly end.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the end: %v", err)
	}
}

// hear waits for a line of the log.
func (p *process) hear(words string) string {
	p.t.Helper()
	for {
		select {
		case line := <-p.said:
			if strings.Contains(line, words) {
				return line
			}
		case <-time.After(30 * time.Second):
			p.t.Fatalf("it does not say %q", words)
		}
	}
}

// request sends a request of a client that knows tasks.
func (p *process) request(method, name, params string) map[string]any {
	p.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}},%s}}`, method, params)
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var m struct{ Result map[string]any }
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil || m.Result == nil {
		p.t.Fatalf("%s: %v, %v", method, res.Status, err)
	}
	return m.Result
}

func (p *process) deploy() (id string) {
	p.t.Helper()
	id, _ = p.request("tools/call", "Deploy", `"name":"Deploy","arguments":{"service":"shop","version":"1.4.0"}`)["taskId"].(string)
	if id == "" {
		p.t.Fatal("no task")
	}
	p.until(id, "input_required")
	return id
}

// until polls a task until it has a status.
func (p *process) until(id, status string) map[string]any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 40*time.Second)
	defer cancel()
	for {
		task := p.request("tasks/get", id, fmt.Sprintf(`"taskId":%q`, id))
		if task["status"] == status {
			return task
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("the task is not %s: %v", status, task)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *process) approve(id string) {
	p.t.Helper()
	p.request("tasks/update", id, fmt.Sprintf(`"taskId":%q,"inputResponses":{"approve":{"action":"accept"}}`, id))
}

func text(task map[string]any) string {
	b, _ := json.Marshal(task["result"])
	return string(b)
}

// A deployment waits for a person over a restart, is interrupted by a crash, and is finished by the next start: what was done
// is not done again.
func TestADeploymentSurvives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := start(t, dir)
	id := one.deploy()
	one.stop()

	two := start(t, dir)
	two.until(id, "input_required")
	two.approve(id)
	first := two.hear("is on red")
	second := two.hear("is on green") // so red was stored
	two.kill()

	three := start(t, dir)
	var done []string
	for line := three.hear("is on"); ; line = three.hear("is on") {
		done = append(done, line)
		if strings.Contains(line, "is on blue") {
			break
		}
	}
	if task := three.until(id, "completed"); !strings.Contains(text(task), "shop 1.4.0 is deployed to red, green, blue.") {
		t.Errorf("got %s", text(task))
	}
	if all := strings.Join(done, "\n"); strings.Contains(all, "is on red") {
		t.Errorf("red was deployed again:\n%s", all)
	}
	call := func(line string) string { // the id that a host is given, without its name
		_, id, _ := strings.Cut(line, "(")
		id, _, _ = strings.Cut(id, ":")
		return id
	}
	if call(first) != call(second) || call(first) != call(done[len(done)-1]) || call(first) == "" {
		t.Errorf("the hosts were given different ids:\n%s\n%s\n%s", first, second, done)
	}
}

// Two instances on one database: what one has begun, the other finishes when that is gone.
func TestAnotherInstanceFinishes(t *testing.T) {
	t.Parallel()
	dir, db := t.TempDir(), pgtest.URL(t)
	one := start(t, dir, "-postgres", db)
	id := one.deploy()
	two := start(t, dir, "-postgres", db)
	one.approve(id)
	one.hear("is on red")
	one.kill()
	two.hear("is on blue")
	if task := two.until(id, "completed"); !strings.Contains(text(task), "is deployed to red, green, blue.") {
		t.Errorf("got %s", text(task))
	}
}
