package sqlite_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/tasks"
)

// writeForever writes and prints what was acknowledged, until the process is killed.
func writeForever(t *testing.T, s tasks.Store) {
	ctx := context.Background()
	lines := make(chan string)
	for n := range 16 {
		go func() {
			worker := fmt.Sprint("worker", n)
			fail := func(err error) {
				if err != nil {
					lines <- "failed " + err.Error()
					select {}
				}
			}
			for {
				id := rand.Text()
				row, err := s.Create(ctx, tasks.Row{ID: id, Owner: worker, Status: tasks.Working, Record: []byte("0")}, tasks.Next{Worker: worker}, tasks.Limits{})
				fail(err)
				lines <- "created " + id
				fence := row.Fence()
				for i := range 3 {
					fail(s.PutStep(ctx, fence, tasks.Step{Name: fmt.Sprint(i), Result: []byte(id)}))
					lines <- fmt.Sprint("step ", id, " ", i)
				}
				row.Record = []byte("1")
				row, err = s.Put(ctx, nil, row, tasks.Next{}) // an answer, while the run goes on
				fail(err)
				lines <- "answered " + id
				row.Status = tasks.Completed
				_, err = s.Put(ctx, &fence, row, tasks.Next{Rest: true})
				fail(err)
				lines <- "completed " + id
			}
		}()
	}
	for line := range lines {
		fmt.Println(line)
	}
}

// What was acknowledged is there after kill -9, at whatever moment, and the file is whole.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	acknowledged := map[string][]string{} // what, by id
	for round := range 4 {
		cmd := child(t, "write", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for lines := bufio.NewScanner(out); lines.Scan(); { // what was printed before the kill is read too
			words := strings.SplitN(lines.Text(), " ", 3)
			switch words[0] {
			case "created", "answered", "completed":
				acknowledged[words[1]] = append(acknowledged[words[1]], words[0])
			case "step":
				acknowledged[words[1]] = append(acknowledged[words[1]], "step "+words[2])
			case "failed":
				t.Error(lines.Text())
			}
			if n++; n == 300+round*217 {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		if n < 300 {
			t.Fatalf("the process ended after %d lines", n)
		}
	}

	s := openStore(t, path) // and the process that was killed holds no lock
	defer s.Close()
	for id, what := range acknowledged {
		row, err := s.Get(t.Context(), id)
		if err != nil {
			t.Fatalf("%s was %v; now %v", id, what, err)
		}
		if slices.Contains(what, "answered") && string(row.Record) != "1" {
			t.Errorf("%s was answered, and the answer is not there", id)
		}
		if done := slices.Contains(what, "completed"); done && (row.Status != tasks.Completed || row.Attempts != 0) {
			t.Errorf("%s was completed; now %+v", id, row)
		} else if !done && row.Status == tasks.Working && (row.Due.IsZero() || row.Attempts != 1) {
			t.Errorf("%s had a run when its process was killed; now %+v", id, row)
		}
		steps, err := s.Steps(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range what {
			if name, ok := strings.CutPrefix(w, "step "); ok && !slices.ContainsFunc(steps, func(s tasks.Step) bool { return s.Name == name && string(s.Result) == id }) {
				t.Errorf("%s: step %s was acknowledged; now there are %v", id, name, steps)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var said string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Errorf("integrity check: %s, %v", said, err)
	}
}
