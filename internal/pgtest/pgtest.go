// Package pgtest starts PostgreSQL for tests: a server of its own on a free loopback port, with its data in a directory
// that is removed. It needs PostgreSQL's programs (Debian: postgresql), no running server and no rights.
package pgtest

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ErrMissing is the error of Start where PostgreSQL's programs are not, or cannot be run.
var ErrMissing = errors.New("pgtest: PostgreSQL is not installed")

// shared is the server of URL, one for all tests of a program.
var shared = sync.OnceValues(func() (*Server, error) { return Start() })

// URL returns the URL of a new, empty database that is dropped when the test ends. All tests of a program share one server,
// which forgets what it wrote if the machine crashes, and ends with the program.
//
// Where PostgreSQL is not installed the test is skipped; it fails where ELICIT_E2E=1 says that nothing may be skipped.
func URL(t testing.TB) string {
	t.Helper()
	s, err := shared()
	Need(t, err)
	u, drop, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return u
}

// Need ends the test if err says that Start failed: see URL.
func Need(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, ErrMissing) && os.Getenv("ELICIT_E2E") != "1":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

// A Server is a running PostgreSQL.
type Server struct {
	bin      string // directory of its programs
	addr     string
	password string
	stdin    io.Closer
	ended    chan struct{}

	mu  sync.Mutex
	log []string // the last lines
	n   int      // databases so far
}

// watch runs the server until standard input ends, as it does however the program that started it ends, and removes the data.
const watch = `dir=$1; shift
exec 3<&0
"$@" 3<&- & server=$!
{ read _ <&3; kill -QUIT $server; } & reader=$!
wait $server
kill $reader 2>/dev/null # standard error has no reader where the program is gone
rm -rf "$dir"`

// Start starts a server with the settings given (as "fsync=on"), which override those for speed: out of the box it forgets
// what it wrote if the machine crashes. It ends with Stop, or with the program.
func Start(settings ...string) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	// Between the choice of a port and its use, another process may take it.
	for try := 0; ; try++ {
		s := &Server{bin: bin, password: rand.Text()}
		err := s.start(settings)
		if err == nil {
			return s, nil
		}
		if try == 5 || !strings.Contains(err.Error(), "Address already in use") {
			return nil, err
		}
	}
}

func (s *Server) start(settings []string) error {
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return err
	}
	if err = s.init(dir); err == nil {
		err = s.run(dir, settings)
	}
	if err != nil {
		os.RemoveAll(dir)
	}
	return err
}

// init makes the data directory.
func (s *Server) init(dir string) error {
	pw := filepath.Join(dir, "password")
	if err := os.WriteFile(pw, []byte(s.password), 0o600); err != nil {
		return err
	}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return fmt.Errorf("%w: root cannot run it, and %v", ErrMissing, err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := errors.Join(os.Chown(dir, uid, gid), os.Chown(pw, uid, gid)); err != nil {
			return err
		}
	}
	cmd := command(dir, filepath.Join(s.bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "postgres", "--pwfile", pw, "-A", "scram-sha-256",
		"-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: initdb: %w\n%s", err, out)
	}
	return nil
}

// run starts the server, and returns when it takes connections.
func (s *Server) run(dir string, settings []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.addr = l.Addr().String()
	_, port, _ := net.SplitHostPort(s.addr)
	l.Close()
	args := []string{"-c", watch, "sh", dir, filepath.Join(s.bin, "postgres"), "-D", filepath.Join(dir, "data"), "-p", port}
	for _, set := range append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=300",
		"fsync=off", "synchronous_commit=off", "full_page_writes=off"}, settings...) {
		args = append(args, "-c", set)
	}
	cmd := command(dir, "sh", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the terminal's ^C is for the tests, not for their server
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	s.stdin, s.ended = stdin, ended
	go func() {
		defer close(ended)
		is := false
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.mu.Lock()
			s.log = append(s.log[max(0, len(s.log)-50):], lines.Text())
			s.mu.Unlock()
			if !is && strings.Contains(lines.Text(), "ready to accept connections") {
				is = true
				close(ready)
			}
		}
		cmd.Wait()
	}()
	select {
	case <-ready:
		return nil
	case <-ended:
	case <-time.After(time.Minute):
		s.Stop()
	}
	return fmt.Errorf("pgtest: PostgreSQL did not start:\n%s", s.Log())
}

// Log returns the last lines of the server's log.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// Addr is the host and port that the server listens on.
func (s *Server) Addr() string { return s.addr }

// Create makes a new, empty database. It returns its URL, and a function that drops it, whoever is still connected.
func (s *Server) Create() (string, func() error, error) {
	s.mu.Lock()
	s.n++
	name := fmt.Sprint("test", s.n)
	s.mu.Unlock()
	if err := s.exec("CREATE DATABASE " + name); err != nil {
		return "", nil, err
	}
	return s.url(name), func() error { return s.exec("DROP DATABASE " + name + " WITH (FORCE)") }, nil
}

func (s *Server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", s.password), Host: s.addr, Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}

func (s *Server) exec(sql string) error {
	out, err := exec.Command(filepath.Join(s.bin, "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", s.url("postgres"), "-c", sql).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s\n%s", sql, err, out, s.Log())
	}
	return nil
}

// Stop ends the server as a crash would, and removes its data. It may be repeated.
func (s *Server) Stop() {
	s.stdin.Close()
	<-s.ended
}

// command is a command in dir, of the user postgres where we are root, as whom PostgreSQL does not run.
func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	if os.Getuid() == 0 {
		cmd = exec.Command("runuser", append([]string{"-u", "postgres", "--", name}, args...)...)
	}
	cmd.Dir = dir
	return cmd
}

// programs finds the directory of PostgreSQL's programs: that of the newest version Debian has, else of the one on PATH.
func programs() (string, error) {
	newest, bin := 0, ""
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, dir := range dirs {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && v > newest {
			newest, bin = v, dir
		}
	}
	if bin == "" {
		path, err := exec.LookPath("initdb")
		if err != nil {
			return "", fmt.Errorf("%w: no /usr/lib/postgresql/*/bin, and no initdb on PATH; on Debian, install postgresql", ErrMissing)
		}
		bin = filepath.Dir(path)
	}
	if _, err := os.Stat(filepath.Join(bin, "postgres")); err != nil {
		return "", fmt.Errorf("%w: %v", ErrMissing, err)
	}
	if os.Getuid() == 0 {
		if _, err := exec.LookPath("runuser"); err != nil {
			return "", fmt.Errorf("%w: root cannot run it, and there is no runuser", ErrMissing)
		}
	}
	return bin, nil
}
