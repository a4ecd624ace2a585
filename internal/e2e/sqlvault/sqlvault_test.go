package sqlvault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/pgtest"
	"github.com/elicit-go/elicit/page"
	"github.com/elicit-go/elicit/page/sqlvault"
	"github.com/elicit-go/elicit/page/vaulttest"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// A database of a test: open connects to it as another instance of a program does.
type database struct {
	dialect sqlvault.Dialect
	open    func(t *testing.T) *sql.DB
	file    string // where a SQLite database is
}

func databases(t *testing.T, f func(t *testing.T, d database)) {
	opener := func(driver, at string) func(*testing.T) *sql.DB {
		return func(t *testing.T) *sql.DB {
			t.Helper()
			db, err := sql.Open(driver, at)
			if err != nil {
				t.Fatal(err)
			}
			db.SetMaxOpenConns(16)
			t.Cleanup(func() { db.Close() })
			return db
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "vault.db")
		f(t, database{sqlvault.SQLite, opener("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)"), file})
	})
	t.Run("SQLiteAsItComes", func(t *testing.T) { // no one waits for a lock there
		file := filepath.Join(t.TempDir(), "vault.db")
		f(t, database{sqlvault.SQLite, opener("sqlite", file), file})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		at := pgtest.URL(t)
		f(t, database{sqlvault.PostgreSQL, opener("pgx", at), ""})
	})
}

func (d database) vault(t *testing.T, opts *sqlvault.Options) *sqlvault.Vault {
	t.Helper()
	v, err := sqlvault.New(t.Context(), d.open(t), d.dialect, opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The vault does what every vault must.
func TestVault(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		vaulttest.Run(t, func(t *testing.T) page.Vault { return d.vault(t, nil) })
	})
}

// Instances that start at the same time make one table, and all of them work.
func TestStartTogether(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		var wg sync.WaitGroup
		const instances = 12
		vaults := make([]*sqlvault.Vault, instances)
		for i := range instances {
			db := d.open(t)
			wg.Go(func() {
				v, err := sqlvault.New(t.Context(), db, d.dialect, nil)
				if err != nil {
					t.Errorf("instance %d: %v", i, err)
				}
				vaults[i] = v
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		e := page.Entry{Key: "k", Secret: "0123456789abcdef", Sealed: []byte("x"), Expires: time.Now().Add(time.Hour)}
		if did, err := vaults[0].Add(t.Context(), e); err != nil || !did {
			t.Fatal(did, err)
		}
		for i, v := range vaults {
			if es, err := v.Find(t.Context(), "k"); err != nil || len(es) != 1 {
				t.Errorf("instance %d finds %v, %v", i, es, err)
			}
		}
	})
}

// What has expired is removed when others are added, and nothing else is.
func TestTidy(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		v, db := d.vault(t, nil), d.open(t)
		add := func(v *sqlvault.Vault, key string, expires time.Time) {
			t.Helper()
			if _, err := v.Add(t.Context(), page.Entry{Key: key, Secret: "s", Sealed: []byte("x"), Expires: expires}); err != nil {
				t.Fatal(err)
			}
		}
		add(v, "old", time.Now().Add(-time.Hour))
		add(v, "young", time.Now().Add(time.Hour))
		add(d.vault(t, nil), "newer", time.Now().Add(time.Hour)) // an instance tidies up when it has just started
		var keys string
		rows, err := db.QueryContext(t.Context(), "SELECT key FROM elicit_vault ORDER BY key")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var k string
			if err := rows.Scan(&k); err != nil {
				t.Fatal(err)
			}
			keys += k + " "
		}
		if err := rows.Err(); err != nil || keys != "newer young " {
			t.Errorf("left over: %q, %v", keys, err)
		}
	})
}

// The table may have another name, and be in a schema.
// Many rows that expire are removed as fast as they come: a person who declines leaves one.
func TestTidyMany(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		v, db := d.vault(t, nil), d.open(t)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2500 {
			if _, err := tx.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO elicit_vault (key, owner, secret, sealed, expires_at) VALUES ('o:%d', '', 's', '', 1)", n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); ; {
			if _, err := v.Add(t.Context(), page.Entry{Key: "new", Secret: "s", Sealed: []byte("x"), Expires: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			var left int
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM elicit_vault").Scan(&left); err != nil {
				t.Fatal(err)
			}
			if left == 1 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d rows that have expired are left", left-1)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
}

func TestTableName(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		name := "main.secrets_of_shop"
		if d.dialect == sqlvault.PostgreSQL {
			name = "shop.secrets"
			if _, err := d.open(t).ExecContext(t.Context(), "CREATE SCHEMA shop"); err != nil {
				t.Fatal(err)
			}
		}
		e := page.Entry{Key: "k", Secret: "s", Sealed: []byte("x"), Expires: time.Now().Add(time.Hour)}
		if did, err := d.vault(t, &sqlvault.Options{Table: name}).Add(t.Context(), e); err != nil || !did {
			t.Fatal(did, err)
		}
		if es, err := d.vault(t, &sqlvault.Options{Table: name}).Find(t.Context(), "k"); err != nil || len(es) != 1 {
			t.Error(es, err)
		}
		if es, err := d.vault(t, nil).Find(t.Context(), "k"); err != nil || len(es) != 0 {
			t.Error(es, err)
		}
	})
}

// A role that may use the table, and may not make one, can.
func TestRoleWithoutCreate(t *testing.T) {
	at := pgtest.URL(t)
	admin, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	if _, err := sqlvault.New(t.Context(), admin, sqlvault.PostgreSQL, nil); err != nil {
		t.Fatal(err)
	}
	admin.SetMaxOpenConns(1) // SET ROLE is of the connection
	for _, q := range []string{"CREATE ROLE vault_user_" + suffix(t), "GRANT SELECT, INSERT, UPDATE, DELETE ON elicit_vault TO vault_user_" + suffix(t), "SET ROLE vault_user_" + suffix(t)} {
		if _, err := admin.ExecContext(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
	t.Cleanup(func() {
		for _, q := range []string{"RESET ROLE", "DROP OWNED BY vault_user_" + suffix(t), "DROP ROLE vault_user_" + suffix(t)} {
			if _, err := admin.ExecContext(context.Background(), q); err != nil {
				t.Error(q, err)
			}
		}
	})
	v, err := sqlvault.New(t.Context(), admin, sqlvault.PostgreSQL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if did, err := v.Add(t.Context(), page.Entry{Key: "k", Secret: "s", Sealed: []byte("x"), Expires: time.Now().Add(time.Hour)}); err != nil || !did {
		t.Error(did, err)
	}
}

// One owner does not fill the table, by rows or by bytes; nobody's rows and those that have expired do not count.
func TestSecurity23OwnerShare(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		v, db := d.vault(t, nil), d.open(t)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for owner, expires := range map[string]int64{"ann": time.Now().Add(time.Hour).UnixMilli(), "": time.Now().Add(time.Hour).UnixMilli(), "old": 1} {
			for n := 0; n < 2048; n += 128 {
				var rows []string
				for i := n; i < n+128; i++ {
					rows = append(rows, fmt.Sprintf("('%s%d', '%s', 's', '', %d)", owner, i, owner, expires))
				}
				if _, err := tx.ExecContext(t.Context(), "INSERT INTO elicit_vault (key, owner, secret, sealed, expires_at) VALUES "+strings.Join(rows, ", ")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		add := func(owner string, bytes int, full bool) page.Entry {
			t.Helper()
			e := page.Entry{Key: "new:" + owner, Owner: owner, Secret: "s", Sealed: make([]byte, bytes), Expires: time.Now().Add(time.Hour)}
			if did, err := v.Add(t.Context(), e); did == full || errors.Is(err, page.ErrVaultFull) != full {
				t.Errorf("%q adds %d bytes: %v, %v", owner, bytes, did, err)
			}
			return e
		}
		add("ann", 1, true)
		if did, err := v.Delete(t.Context(), "ann0"); !did || err != nil {
			t.Fatal(did, err)
		}
		add("ann", 1, false)
		add("", 1, false)
		add("old", 1, false)
		add("bob", 5<<20, true)
		short := add("bob", 3<<20, false)
		long := short
		long.Sealed = make([]byte, 5<<20)
		if did, err := v.Replace(t.Context(), short, long); did || !errors.Is(err, page.ErrVaultFull) {
			t.Errorf("Replace by what is too long: %v, %v", did, err)
		}
		long.Sealed = long.Sealed[:1]
		if did, err := v.Replace(t.Context(), short, long); !did || err != nil {
			t.Errorf("Replace by what is shorter: %v, %v", did, err)
		}
	})
}

func suffix(t *testing.T) string { return strings.ToLower(t.Name()) }

// A lost database is an error in time, and not a call that hangs.
func TestDeadline(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		db := d.open(t)
		v, err := sqlvault.New(t.Context(), db, d.dialect, &sqlvault.Options{Timeout: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		conn, err := db.Conn(t.Context()) // nobody else gets one
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := v.Find(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "sqlvault") {
			t.Errorf("Find without a connection: %v", err)
		}
	})
}

func TestMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vault.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for want, f := range map[string]func() error{
		"database is nil": func() error { _, err := sqlvault.New(t.Context(), nil, sqlvault.SQLite, nil); return err },
		"no dialect 0":    func() error { _, err := sqlvault.New(t.Context(), db, 0, nil); return err },
		`"x; DROP TABLE users"`: func() error {
			_, err := sqlvault.New(t.Context(), db, sqlvault.SQLite, &sqlvault.Options{Table: "x; DROP TABLE users"})
			return err
		},
		"-1s": func() error {
			_, err := sqlvault.New(t.Context(), db, sqlvault.SQLite, &sqlvault.Options{Timeout: -time.Second})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
