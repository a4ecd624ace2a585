package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elicit-go/elicit/internal/pgtest"
	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/postgres"
)

// Errors name the database and never its password.
func TestSecurity24OpenErrors(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing.Close()
	direct := pgtest.URL(t)
	wrong, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	wrong.User = url.UserPassword("postgres", "pass-word")
	for conn, want := range map[string]string{
		"":                            "the connection string is empty",
		"postgres://u:pass-word@[::1": "cannot parse",
		"postgres://u:pass-word@h/d?sslmode=perhaps":                                "sslmode",
		"postgres://u:pass-word@" + refusing.Addr().String() + "/d?sslmode=disable": refusing.Addr().String(),
		"postgres://u:pass-word@" + silent.Addr().String() + "/d?sslmode=disable":   silent.Addr().String(),
		wrong.String(): "password authentication failed",
	} {
		for what, open := range map[string]func() error{
			"Open":    func() error { _, err := postgres.Open(t.Context(), conn); return err },
			"Migrate": func() error { _, _, err := postgres.Migrate(t.Context(), conn); return err },
		} {
			err := open()
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "tasks/postgres: ") || strings.Contains(err.Error(), "pass-word") {
				t.Errorf("%s(%q): %v, want %q and no password", what, conn, err, want)
			}
		}
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for n, want := range []int{0, 2} {
		from, to, err := postgres.Migrate(t.Context(), url)
		if err != nil || from != want || to != 2 {
			t.Errorf("migration %d: from %d to %d, %v", n+1, from, to, err)
		}
	}
	// A database of version 1, with a row.
	execute(t, url, `DROP INDEX elicit_task_finished; UPDATE elicit_version SET version = 1;
		INSERT INTO elicit_task VALUES ('a', 'o', 'working', '', 1, 0, NULL, NULL, 0, 0, now(), now(), NULL)`)
	s := openStore(t, url)
	if row, err := s.Get(t.Context(), "a"); err != nil || row.Owner != "o" {
		t.Errorf("the row of before: %+v, %v", row, err)
	}
	if _, err := s.Create(t.Context(), tasks.Row{ID: "b", Owner: "o", Status: tasks.Working}, tasks.Next{}, tasks.Limits{OwnerTotal: 1}); !errors.Is(err, tasks.ErrOwnerTotalLimit) {
		t.Errorf("a row more than the owner may have: %v", err)
	}
	s.Close()
	execute(t, url, "UPDATE elicit_version SET version = 1000")
	if _, err := postgres.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), "use the newer program") {
		t.Errorf("Open of a database of a newer program: %v", err)
	}
}

// A role that may not create tables, in a schema that is not public, once the tables are there.
func TestRights(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	execute(t, direct, "CREATE SCHEMA shop; CREATE ROLE modest LOGIN PASSWORD 'modest'; GRANT USAGE ON SCHEMA shop TO modest")
	t.Cleanup(func() { execute(t, direct, "DROP OWNED BY modest; DROP ROLE modest") })
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", "shop")
	u.RawQuery = query.Encode()
	owner := u.String()
	u.User = url.UserPassword("modest", "modest")
	modest := u.String()
	if _, err := postgres.Open(t.Context(), modest); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("Open without tables, and without the right to make them: %v", err)
	}
	if _, _, err := postgres.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), modest); err == nil || !strings.Contains(err.Error(), "may not read elicit_version") {
		t.Errorf("Open without the right to read: %v", err)
	}
	execute(t, owner, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO modest")
	s := openStore(t, modest)
	defer s.Close()
	row, err := s.Create(t.Context(), tasks.Row{ID: "a", Status: tasks.Working}, tasks.Next{Worker: "w"}, tasks.Limits{Owner: 1, Total: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutStep(t.Context(), row.Fence(), tasks.Step{Name: "s"}); err != nil {
		t.Error(err)
	}
}

// An error of the server that does not pass is not called unavailable, so that nobody tries it forever.
func TestLastingErrors(t *testing.T) {
	t.Parallel()
	s := openStore(t, pgtest.URL(t))
	defer s.Close()
	_, err := s.Create(t.Context(), tasks.Row{ID: "not\x00text", Status: tasks.Working}, tasks.Next{}, tasks.Limits{})
	if err == nil || errors.Is(err, tasks.ErrUnavailable) || !strings.Contains(err.Error(), "tasks/postgres: create: ") {
		t.Errorf("Create of an id that is not text: %v", err)
	}
}

// A write that the server refuses, or whose row somebody holds, fails alone.
func TestOneOfManyWrites(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	s := openStore(t, url)
	defer s.Close()
	ctx := t.Context()
	const n = 20
	create := func(prefix string, bad string) (rows [n]tasks.Row, errs [n]error) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				row := tasks.Row{ID: fmt.Sprint(prefix, i), Status: tasks.Working}
				if i == 7 {
					row.ID += bad
				}
				rows[i], errs[i] = s.Create(ctx, row, tasks.Next{}, tasks.Limits{})
			})
		}
		wg.Wait()
		return rows, errs
	}
	_, errs := create("a", "\x00")
	for i, err := range errs {
		if (err != nil) != (i == 7) {
			t.Errorf("creation %d: %v", i, err)
		}
	}
	rows, errs := create("b", "")
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	holder, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	if _, err := holder.Exec(ctx, "BEGIN; SELECT FROM elicit_task WHERE id = 'b7' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, row := range rows {
		wg.Go(func() { _, errs[i] = s.Put(ctx, nil, row, tasks.Next{}) })
	}
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 7) || err != nil && !errors.Is(err, tasks.ErrUnavailable) {
			t.Errorf("put %d beside a row that is held: %v", i, err)
		}
	}
	if _, err := holder.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, nil, rows[7], tasks.Next{}); err != nil {
		t.Errorf("put of a row that is held no more: %v", err)
	}
}

// Anybody may write to a channel of the database.
func TestForeignNotifications(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	s := openStore(t, url)
	defer s.Close()
	for _, payload := range []string{"", "nonsense", "{}", `{"changed":[]}`, `{"changed":"x"}`, `[1]`} {
		execute(t, url, "SELECT pg_notify('elicit_tasks', '"+payload+"')")
	}
	execute(t, url, `SELECT pg_notify('elicit_tasks', '{"changed":["last"]}')`)
	for {
		select {
		case h := <-s.Hints():
			switch h {
			case tasks.Hint{}:
			case tasks.Hint{ID: "last"}:
				return
			default:
				t.Errorf("hint %+v", h)
			}
		case <-time.After(time.Minute):
			t.Fatal("no hint")
		}
	}
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}
