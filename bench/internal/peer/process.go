package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/elicit-go/elicit/bench/internal/serve"
)

// A Process is a server that runs.
type Process struct {
	Addr  string // host:port
	admin string
	cmd   *exec.Cmd
}

// Start starts a server that was built into bin, on one core if it is not negative, and waits until it listens. It is
// ended with the context, or by Stop.
func (p *Peer) Start(ctx context.Context, bin string, core int, args ...string) (*Process, error) {
	const anyPort = "127.0.0.1:0"
	var cmd *exec.Cmd
	if p.IsGo() {
		cmd = exec.CommandContext(ctx, filepath.Join(bin, p.Name), append([]string{"-addr", anyPort, "-admin", anyPort}, args...)...)
	} else {
		cmd = exec.CommandContext(ctx, "node", filepath.Join(nodeDir(), "server.js"), "-addr", anyPort)
	}
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "NODE_ENV=production")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(core, cmd); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	addresses := strings.Fields(line)
	if err != nil || len(addresses) == 0 {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("%s did not start: %v %s", p.Name, err, stderr.String())
	}
	proc := &Process{Addr: addresses[0], cmd: cmd}
	if len(addresses) > 1 {
		proc.admin = addresses[1]
	}
	return proc, nil
}

// Stop ends the process.
func (p *Process) Stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// Allocs is what the process has allocated so far; nothing if it cannot tell.
func (p *Process) Allocs() (a serve.Allocs, err error) {
	if p.admin == "" {
		return a, nil
	}
	b, err := p.get("/allocs")
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

// Profile writes cpu.pprof, of a time, and then allocs.pprof, since the process began, to a directory.
func (p *Process) Profile(dir string, d time.Duration) error {
	for _, x := range []struct{ path, file string }{
		{fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, d/time.Second)), "cpu.pprof"},
		{"/debug/pprof/allocs", "allocs.pprof"},
	} {
		b, err := p.get(x.path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, x.file), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Process) get(path string) ([]byte, error) {
	res, err := http.Get("http://" + p.admin + path)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, res.Status)
	}
	return io.ReadAll(res.Body)
}
