// Package harness starts this repository's own programs, and the Node programs of internal/e2e/node, for tests.
package harness

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Root is the directory of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
}

// NodeDir is the directory of the Node programs and of the packages they use.
func NodeDir() string { return filepath.Join(Root(), "internal", "e2e", "node") }

// Node returns the Node executable to run programs of [NodeDir] with.
//
// Where `make node` has not installed the packages that package-lock.json names, the test is skipped. `make conformance`
// and `make interop` set ELICIT_E2E=1, and it fails instead, so that nothing is skipped unseen; `make race` leaves these
// tests to them with ELICIT_E2E=0.
func Node(t testing.TB) string {
	t.Helper()
	if os.Getenv("ELICIT_E2E") == "0" {
		t.Skip("left to `make conformance` and `make interop`")
	}
	lock, err := os.ReadFile(filepath.Join(NodeDir(), "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	installed, err := os.ReadFile(filepath.Join(NodeDir(), "node_modules", ".installed.json"))
	if err != nil || !bytes.Equal(installed, lock) {
		Missing(t, "the Node packages are not installed, or are not those of package-lock.json: run `make node`")
	}
	if own, err := filepath.Glob(filepath.Join(NodeDir(), "node_modules", "node-*", "bin", "node")); err == nil && len(own) == 1 {
		return own[0]
	}
	// No package holds Node 22 for this platform, so the machine's must do.
	node, err := exec.LookPath("node")
	if err != nil {
		Missing(t, "Node 22 or later is needed: %v", err)
	}
	version, err := exec.Command(node, "-p", "process.versions.node.split('.')[0] >= 22 || process.version").Output()
	if err != nil || strings.TrimSpace(string(version)) != "true" {
		Missing(t, "Node 22 or later is needed; %s is %s (%v)", node, version, err)
	}
	return node
}

// Missing skips a test for want of something that is to be installed, or fails it where ELICIT_E2E=1 says that nothing may be
// skipped.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("ELICIT_E2E") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Start builds the command in directory pkg of the root module, with the race detector, runs it with args, the flag -addr and
// a free loopback address, and returns its URL once it accepts connections. When the test ends the command is ended too;
// what it printed is shown if the test failed, and a data race in it fails the test.
func Start(t testing.TB, pkg string, args ...string) string {
	t.Helper()
	binary := Build(t, pkg, "-race")
	// Another process may take the port between our look and the command's: try again then.
	var err error
	for range 3 {
		var url string
		if url, err = run(t, binary, args...); err == nil {
			return url
		}
	}
	t.Fatalf("%s: %v", pkg, err)
	return ""
}

// Build builds the command in directory pkg of the root module, and returns the file.
func Build(t testing.TB, pkg string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), filepath.Base(pkg))
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", binary, "./"+pkg)...)
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	return binary
}

func run(t testing.TB, binary string, args ...string) (url string, err error) {
	addr, err := freeAddr()
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(context.Background())
	log := &Buffer{}
	cmd := exec.CommandContext(ctx, binary, append(args, "-addr", addr)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		stop()
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	deadline := time.After(30 * time.Second)
	for {
		if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			conn.Close()
			break
		}
		select {
		case err := <-ended:
			stop()
			return "", fmt.Errorf("ended before it listened on %s: %v\n%s", addr, err, log)
		case <-deadline:
			stop()
			return "", fmt.Errorf("does not listen on %s:\n%s", addr, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Cleanup(func() {
		stop()
		<-ended
		if strings.Contains(log.String(), "DATA RACE") {
			t.Error("the server has a data race")
		}
		if t.Failed() {
			t.Logf("the server printed:\n%s", log)
		}
	})
	return "http://" + addr, nil
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// A Buffer is a bytes.Buffer that a process, or several goroutines, may write to while a test reads it.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
