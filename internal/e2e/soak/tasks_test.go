package soak

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/pgtest"
)

// One of two instances on PostgreSQL is killed again and again, while tasks ask, step and finish on both.
func TestTasksKilledPostgreSQL(t *testing.T) {
	server, err := pgtest.Start("fsync=on", "synchronous_commit=on")
	pgtest.Need(t, err)
	t.Cleanup(server.Stop)
	url, _, err := server.Create()
	if err != nil {
		t.Fatal(err)
	}
	killTasks(t, url, 2)
}

// The only instance on SQLite is killed and started again.
func TestTasksKilledSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	s := killTasks(t, path, 1)
	// Who reads the files finds ids, and nothing that anybody asked, answered or did.
	var files []byte
	for _, f := range []string{path, path + "-wal"} {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b...)
	}
	for id := range s.asked {
		if !bytes.Contains(files, []byte(id)) {
			t.Errorf("%s is not in the files", id)
		}
		break
	}
	for _, text := range []string{"Which name", `"choice"`, `"input"`, "by run"} {
		if bytes.Contains(files, []byte(text)) {
			t.Errorf("the files can be read: %q", text)
		}
	}
}

// takeOver is within what another instance must go on with the runs of one that was killed.
const takeOver = 12 * time.Second

func killTasks(t *testing.T, store string, instances int) *fleet {
	kills, asks := times(1, 20), int64(times(40, 4000))
	s := &fleet{t: t, store: store, journal: filepath.Join(t.TempDir(), "journal"), asked: map[string]*asked{}}
	for range instances {
		s.start(s.free())
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var done atomic.Int64 // Ask tasks that finished
	var wg sync.WaitGroup
	for range times(8, 24) {
		wg.Go(func() {
			for ctx.Err() == nil {
				if s.ask(ctx) {
					done.Add(1)
				}
			}
		})
	}
	var worked atomic.Int64
	for n := range times(4, 30) {
		seconds := []int{1, 1, 60}[n%3]
		if os.Getenv("ELICIT_SOAK") != "1" {
			seconds = []int{1, 4}[n%2]
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				if s.work(ctx, seconds) {
					worked.Add(1)
				}
			}
		})
	}
	begin := time.Now()
	var slowest time.Duration
	taken := 0
	for k := range kills {
		time.Sleep(time.Second + rand.N(3*time.Second))
		i := s.instances[rand.IntN(len(s.instances))]
		runs, took := s.kill(i)
		slowest, taken = max(slowest, took), taken+runs
		if took > takeOver && os.Getenv("ELICIT_SOAK") == "1" {
			t.Errorf("kill %d: the last of %d runs went on after %v", k+1, runs, took)
		}
		if t.Failed() {
			break
		}
	}
	for done.Load() < asks && !t.Failed() {
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	wg.Wait()
	s.settle()
	again := s.readJournal()
	t.Logf("%d kills in %.0f s: %d tasks that ask finished, with %d answers; %d that work; %d creations had no reply", kills, time.Since(begin).Seconds(), done.Load(), s.answers.Load(), worked.Load(), s.unknown.Load())
	t.Logf("%d runs were taken over, the slowest after %.1f s; %d steps ran again whose result was not stored, none whose result was", taken, slowest.Seconds(), again)
	return s
}

// fleet is a shop of several processes.
type fleet struct {
	t              *testing.T
	store, journal string
	read           int64 // of the journal
	journaled      []line
	instances      []*process
	answers        atomic.Int64
	unknown        atomic.Int64

	mu    sync.Mutex
	asked map[string]*asked // tasks, by id
}

// asked is what a client knows of a task.
type asked struct {
	mu       sync.Mutex
	answered map[string]bool // keys whose answer was acknowledged
	want     string          // what the result begins with
	result   string          // the first that was seen
}

// A process is one instance. Its address stays when it is started again.
type process struct {
	addr string
	cmd  *exec.Cmd
}

func (s *fleet) free() *process {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	defer l.Close()
	p := &process{addr: l.Addr().String()}
	s.instances = append(s.instances, p)
	return p
}

func (s *fleet) start(p *process) {
	s.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), "SOAK_STORE="+s.store, "SOAK_ADDR="+p.addr, "SOAK_JOURNAL="+s.journal)
	var out bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr = &out, &out
	stdin, err := p.cmd.StdinPipe() // it ends with us
	if err != nil {
		s.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd := p.cmd
	s.t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("tcp", p.addr); err == nil {
			conn.Close()
			return
		}
		if time.Since(begin) > time.Minute {
			s.t.Fatalf("an instance does not start: %s", out.String())
		}
	}
}

// kill kills an instance, starts it again, and waits until others have gone on with its runs.
func (s *fleet) kill(p *process) (runs int, slowest time.Duration) {
	pid := p.cmd.Process.Pid
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	killed := time.Now()
	waits, ended := map[string]bool{}, map[string]bool{} // whose run was on that process, a moment before
	for _, l := range s.lines() {
		switch l.what {
		case "works":
			waits[l.task] = l.pid == pid && killed.Sub(l.at) < time.Second
		case "worked":
			ended[l.task] = true
		}
	}
	maps.DeleteFunc(waits, func(task string, here bool) bool { return !here || ended[task] })
	runs = len(waits)
	s.start(p)
	for n := 0; len(waits) > 0; {
		lines := s.lines()
		for _, l := range lines[n:] {
			if waits[l.task] && l.at.After(killed) && l.pid != pid {
				delete(waits, l.task)
				slowest = max(slowest, l.at.Sub(killed))
			}
		}
		n = len(lines)
		if time.Since(killed) > 2*time.Minute {
			s.t.Errorf("two minutes after their instance was killed, nobody goes on with %d runs", len(waits))
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return runs, slowest
}
