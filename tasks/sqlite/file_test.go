package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/sqlite"
)

// Nobody but its owner reads the file, and what SQLite puts beside it, whatever the mode was.
func TestSecurity24FileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	defer s.Close()
	if _, err := s.Create(t.Context(), tasks.Row{ID: "a", Status: tasks.Working}, tasks.Next{}, tasks.Limits{}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 4 { // the file, its log, the log's index, the lock
		t.Errorf("files are %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v; want 0600", f, info.Mode(), err)
		}
	}
}

func TestOneStorePerFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	s := openStore(t, path)
	for what, err := range map[string]error{
		"a second store":                           second(sqlite.Open(t.Context(), path)),
		"a migration meanwhile":                    third(sqlite.Migrate(t.Context(), path)),
		"a store of the same file by another path": second(sqlite.Open(t.Context(), filepath.Dir(path)+"/./tasks.db")),
	} {
		if err == nil || !strings.Contains(err.Error(), "tasks.db: ") || !strings.Contains(err.Error(), "has it open") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if out, err := child(t, "open", path).CombinedOutput(); err == nil || !strings.Contains(string(out), "another process") {
		t.Errorf("another process opened the file: %v\n%s", err, out)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := child(t, "open", path).CombinedOutput(); err != nil {
		t.Errorf("another process, after Close: %v\n%s", err, out)
	}
	openStore(t, path).Close()
}

func second(s *sqlite.Store, err error) error {
	if err == nil {
		s.Close()
	}
	return err
}

func third(_, _ int, err error) error { return err }

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	openStore(t, newer).Close()
	alter(t, newer, "PRAGMA user_version = 1000")
	for path, want := range map[string]string{
		"": "want the path of a file", ":memory:": "NewMemoryStore", "file:x": "want the path of a file",
		filepath.Join(dir, "none", "tasks.db"): "no such file",
		dir:                                    "not a file",
		garbage:                                "not a database",
		newer:                                  "use the newer program",
	} {
		if err := second(sqlite.Open(t.Context(), path)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "tasks/sqlite: open "+path) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
	if _, err := os.Stat(":memory:"); err == nil {
		t.Error("a file :memory: was made")
	}
	// What failed holds no lock.
	alter(t, newer, "PRAGMA user_version = 2")
	openStore(t, newer).Close()
}

func alter(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"a b.db", "50%.db", "what?.db", "a#b&c=d.db", "é漢.db", "./x.db"} {
		s := openStore(t, path)
		if _, err := s.Create(t.Context(), tasks.Row{ID: "a", Status: tasks.Working}, tasks.Next{}, tasks.Limits{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s is not where it was wanted: %v", path, err)
		}
	}
}

func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	for n, want := range []int{0, 2} {
		from, to, err := sqlite.Migrate(t.Context(), path)
		if err != nil || from != want || to != 2 {
			t.Errorf("migration %d: from %d to %d, %v", n+1, from, to, err)
		}
	}
	s := openStore(t, path)
	if _, err := s.Create(t.Context(), tasks.Row{ID: "a", Owner: "o", Status: tasks.Working}, tasks.Next{}, tasks.Limits{}); err != nil {
		t.Fatal(err)
	}
	s.Close()

	// A file of version 1, with a row.
	alter(t, path, "DROP INDEX task_finished; PRAGMA user_version = 1")
	s = openStore(t, path)
	defer s.Close()
	if row, err := s.Get(t.Context(), "a"); err != nil || row.Owner != "o" {
		t.Errorf("the row of before: %+v, %v", row, err)
	}
	if _, err := s.Create(t.Context(), tasks.Row{ID: "b", Owner: "o", Status: tasks.Working}, tasks.Next{}, tasks.Limits{OwnerTotal: 1}); !errors.Is(err, tasks.ErrOwnerTotalLimit) {
		t.Errorf("a row more than the owner may have: %v", err)
	}
}

// While another program holds SQLite's write lock, writes fail in time and reads go on; then all is as before.
func TestLockedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	s := openStore(t, path)
	defer s.Close()
	row, err := s.Create(t.Context(), tasks.Row{ID: "a", Status: tasks.Working}, tasks.Next{}, tasks.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), nil, row, tasks.Next{Due: true})
	if !errors.Is(err, tasks.ErrUnavailable) || !strings.Contains(err.Error(), path) {
		t.Errorf("Put: %v, want %v naming the file", err, tasks.ErrUnavailable)
	}
	if _, err := s.Get(t.Context(), "a"); err != nil {
		t.Errorf("Get: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), nil, row, tasks.Next{Due: true}); err != nil {
		t.Errorf("Put, after the lock: %v", err)
	}
}

// Where a write fails, those that share its transaction do not.
func TestOneFailsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	openStore(t, path).Close()
	alter(t, path, `CREATE TRIGGER bad BEFORE INSERT ON task WHEN NEW.owner = 'bad' BEGIN SELECT RAISE(ROLLBACK, 'bad owner'); END`)
	s := openStore(t, path)
	defer s.Close()
	errs := make(chan error)
	const n = 200
	for i := range n {
		go func() {
			row := tasks.Row{ID: fmt.Sprint(i), Owner: "good", Status: tasks.Working}
			if i%10 == 0 {
				row.Owner = "bad"
			}
			_, err := s.Create(context.Background(), row, tasks.Next{}, tasks.Limits{})
			if (err == nil) != (row.Owner == "good") || err != nil && (!errors.Is(err, tasks.ErrUnavailable) || !strings.Contains(err.Error(), "bad owner")) {
				err = fmt.Errorf("%s: %w", row.Owner, err)
			} else {
				err = nil
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Rows != n-n/10 {
		t.Errorf("%d rows, %v; want %d", stats.Rows, err, n-n/10)
	}
	// The count for the limit is of what is there.
	if _, err := s.Create(t.Context(), tasks.Row{ID: "last", Owner: "good", Status: tasks.Working}, tasks.Next{}, tasks.Limits{Total: n - n/10 + 1}); err != nil {
		t.Error(err)
	}
}

// child runs TestChild in a process of its own.
func child(t *testing.T, what, path string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), "SQLITE_CHILD="+what, "SQLITE_PATH="+path)
	return cmd
}

func TestChild(t *testing.T) {
	path := os.Getenv("SQLITE_PATH")
	switch os.Getenv("SQLITE_CHILD") {
	case "":
		t.Skip("runs in a process of its own")
	case "open":
		openStore(t, path).Close()
	case "write":
		writeForever(t, openStore(t, path))
	}
}
