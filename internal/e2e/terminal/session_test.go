package terminal

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/elicit-go/elicit/internal/e2e/harness"
)

var update = flag.Bool("update", false, "write the golden screens; look at them before you commit them")

// A session is the program at a terminal of its own, which an emulator draws.
type session struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{} // closed when the program has ended and all it wrote is drawn

	mu     sync.Mutex
	screen *vt.Emulator
	raw    strings.Builder
}

var built string // the directory of binary, once there is one

var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "elicit-terminal-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "elicit")
	build := exec.Command("go", "build", "-race", "-o", path, "./cmd/elicit")
	build.Dir = harness.Root()
	if out, err := build.CombinedOutput(); err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return path, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// quick keeps programs that are built with the race detector from sleeping for a second when they end.
const quick = "GORACE=atexit_sleep_ms=0"

// command is the command line with these arguments and environment, over that of the tests.
func command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Getenv("ELICIT_E2E") == "0" {
		t.Skip("left to `make people`")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "ACCESSIBLE=", "NO_COLOR=", quick)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// start runs the command line at a terminal of the given size.
func start(t *testing.T, width, height int, env []string, args ...string) *session {
	t.Helper()
	return startCommand(t, width, height, command(t, env, args...))
}

// startCommand runs any command at a terminal of the given size.
func startCommand(t *testing.T, width, height int, cmd *exec.Cmd) *session {
	t.Helper()
	s := &session{t: t, cmd: cmd, done: make(chan struct{}), screen: vt.NewEmulator(width, height)}
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		t.Fatal(err)
	}
	s.reply(s.screen)
	go func() {
		defer close(s.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := s.tty.Read(buf)
			s.mu.Lock()
			_, _ = s.screen.Write(clamp(buf[:n], s.screen.Height()))
			s.raw.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
		_ = s.cmd.Wait()
		_ = s.tty.Close()
		s.hangUp()
		if strings.Contains(s.raw.String(), "DATA RACE") {
			t.Errorf("the program has a data race:\n%s", s.raw.String())
		}
	})
	return s
}

var margins = regexp.MustCompile(`\x1b\[(\d+);(\d+)r`)

// clamp keeps scroll regions within the screen, as terminals do; the emulator fails on those that are meant for its size
// before.
func clamp(output []byte, height int) []byte {
	return margins.ReplaceAllFunc(output, func(seq []byte) []byte {
		m := margins.FindSubmatch(seq)
		if bottom, err := strconv.Atoi(string(m[2])); err == nil && bottom > height {
			return []byte("\x1b[r")
		}
		return seq
	})
}

// reply passes on what an emulator answers, to requests for its colours for instance.
func (s *session) reply(screen *vt.Emulator) {
	go func() {
		buf := make([]byte, 256)
		for {
			n, err := screen.Read(buf)
			if err != nil {
				return
			}
			_, _ = s.tty.Write(buf[:n])
		}
	}()
}

// hangUp ends what reply does. The emulator's own Close races with its Read.
func (s *session) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pipe, ok := s.screen.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
}

// line types a line at the next prompt.
func (s *session) line(text string) {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		shown := strings.TrimRight(s.show(), "\n")
		if strings.HasSuffix(shown, "\n>") || strings.HasSuffix(shown, "?") || strings.HasSuffix(shown, ":") {
			break
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no prompt comes:\n%s", shown)
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.press(text + enter)
}

var port = regexp.MustCompile(`127\.0\.0\.1:\d{5}`)

// show is what stands on the screen. Ports, which are new each time, are written as 52800.
func (s *session) show() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
	return port.ReplaceAllString(text, "127.0.0.1:52800")
}

// wait waits until the screen has all of these texts.
func (s *session) wait(texts ...string) {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		shown, missing := s.show(), ""
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the screen does not have %q:\n%s", missing, shown)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Keys as a terminal sends them.
const (
	enter    = "\r"
	tab      = "\t"
	shiftTab = "\x1b[Z"
	esc      = "\x1b"
	ctrlC    = "\x03"
	up       = "\x1b[A"
	down     = "\x1b[B"
	right    = "\x1b[C"
	left     = "\x1b[D"
	back     = "\x7f"
	pageDown = "\x1b[6~"
)

// press types keys, one after another.
func (s *session) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if _, err := s.tty.WriteString(k); err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

func (s *session) resize(width, height int) {
	s.t.Helper()
	// A new emulator, which the program draws on anew: the old one's Resize keeps a scroll region that is too large. Nothing
	// that is meant for the old size may reach it.
	for before := ""; before != s.show(); time.Sleep(150 * time.Millisecond) {
		before = s.show()
	}
	s.hangUp()
	s.mu.Lock()
	s.screen = vt.NewEmulator(width, height)
	s.reply(s.screen)
	s.mu.Unlock()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program's end and compares its exit code.
func (s *session) ends(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		s.t.Fatalf("the program goes on:\n%s", s.show())
	}
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit %d, want %d:\n%s", got, code, s.show())
	}
}

// golden compares the screen with testdata/name.txt.
func (s *session) golden(name string) {
	s.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		time.Sleep(300 * time.Millisecond)
		if err := os.WriteFile(file, []byte(s.show()), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for s.show() != string(want) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the screen is\n%s\nand not %s:\n%s", s.show(), file, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
