package pgtest_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/pgtest"
)

func TestURL(t *testing.T) {
	a, b := pgtest.URL(t), pgtest.URL(t)
	if a == b || !strings.HasPrefix(a, "postgres://") {
		t.Errorf("two databases: %s, %s", a, b)
	}
}

func TestStop(t *testing.T) {
	s, err := pgtest.Start("fsync=on")
	pgtest.Need(t, err)
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	s.Stop()
	s.Stop()
	if conn, err := net.Dial("tcp", s.Addr()); err == nil {
		conn.Close()
		t.Error("the server takes connections after Stop")
	}
}

func TestBadSetting(t *testing.T) {
	s, err := pgtest.Start("no_such_setting=1")
	if err == nil {
		s.Stop()
		t.Fatal("a server with a setting that does not exist started")
	}
	if !strings.Contains(err.Error(), "no_such_setting") {
		pgtest.Need(t, err)
	}
}

// The server ends, and its data is removed, however the program ends.
func TestEndsWithTheProgram(t *testing.T) {
	if os.Getenv("PGTEST_CHILD") != "" {
		s, err := pgtest.Start()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("addr", s.Addr())
		select {}
	}
	pgtest.URL(t) // skips where there is no PostgreSQL
	temp := t.TempDir()
	for dir := temp; dir != filepath.Dir(os.TempDir()) && dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil { // as /tmp is, for the user postgres
			t.Fatal(err)
		}
	}
	child := exec.Command(os.Args[0], "-test.run=^TestEndsWithTheProgram$", "-test.v")
	child.Env = append(os.Environ(), "PGTEST_CHILD=1", "TMPDIR="+temp)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	for lines := bufio.NewScanner(out); addr == "" && lines.Scan(); {
		if said, ok := strings.CutPrefix(lines.Text(), "addr "); ok {
			addr = said
		}
	}
	child.Process.Kill()
	child.Wait()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		left, _ := filepath.Glob(filepath.Join(temp, "pgtest*"))
		if err != nil && len(left) == 0 {
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("a minute after the program was killed: connecting to %s: %v; left: %v", addr, err, left)
		}
	}
}
