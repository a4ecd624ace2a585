// Command stores measures the stores of tasks, as they grow: creations, reads, and the two writes between an answer and the
// end of its task. Run it by `make bench-stores`, on a machine that does nothing else.
package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	"log"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elicit-go/elicit/internal/pgtest"
	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/postgres"
	"github.com/elicit-go/elicit/tasks/sqlite"
)

var (
	seconds   = flag.Duration("for", 5*time.Second, "how long creations are measured")
	rowsLite  = flag.Int("sqlite", 100_000, "waiting rows in SQLite, at most; 0 leaves it out")
	rowsPeer  = flag.Int("peer", 100_000, "waiting tasks in mcp-go and the TypeScript SDK, at most; 0 leaves them out")
	rowsLarge = flag.Int("postgres", 1_000_000, "waiting rows in PostgreSQL, at most; 0 leaves it out")
)

const (
	clients    = 32   // create at once
	recordSize = 1024 // bytes, random as what is sealed
	perOwner   = 50   // unfinished rows
)

// limits are what the engine has by default, so that their counting is measured too.
var limits = tasks.Limits{Owner: 100, OwnerTotal: 1_000_000, Total: 10_000_000}

func main() {
	log.SetFlags(0)
	flag.Parse()
	fmt.Printf("%s\n\n%s, %d cores, %s/%s. Load average when it began: %s.\n", time.Now().UTC().Format("2006-01-02"), runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, loadAverage())
	fmt.Printf(`
A row waits for an answer and holds a record of %d random bytes; an owner has %d of them, and creations count them against
limits of %d an owner and %d in all. Creations: %d clients, each with one at a time, of rows that are claimed at once. get:
random ids, one after the other, and while %d clients create. update → completed: the two writes between an answer and the end of
its task (the answer, claiming the row; the result, under the fence), one after the other. Memory: resident, of the process
that has the store, which is also the load, after a collection; "+" is over the empty store.
`, recordSize, perOwner, limits.Owner, limits.Total, clients, clients)

	if *rowsLite > 0 {
		measureSQLite()
	}
	if *rowsLarge > 0 {
		measurePostgreSQL()
	}
	if *rowsPeer > 0 {
		measurePeer(sizes(*rowsPeer))
		measureTypeScript(sizes(*rowsPeer))
	}
}

func measureSQLite() {
	dir, err := os.MkdirTemp("", "stores")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tasks.db")
	s, err := sqlite.Open(context.Background(), path)
	check(err)
	measure("SQLite "+ask(path)+", WAL, synchronous=FULL, in the process", s, sizes(*rowsLite), func(n int) { createAll(s, n) })
	check(s.Close())
}

func measurePostgreSQL() {
	server, err := pgtest.Start("fsync=on", "synchronous_commit=on", "full_page_writes=on", "max_wal_size=4GB")
	check(err)
	defer server.Stop()
	url, _, err := server.Create()
	check(err)
	s, err := postgres.Open(context.Background(), url)
	check(err)
	conn, err := pgx.Connect(context.Background(), url)
	check(err)
	defer conn.Close(context.Background())
	var version string
	check(conn.QueryRow(context.Background(), "SHOW server_version").Scan(&version))
	measure("PostgreSQL "+version+", fsync and synchronous_commit on, on the same two cores", s, sizes(*rowsLarge), func(n int) { fill(conn, n) })
	check(s.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

func ask(path string) (version string) {
	db, err := sql.Open("sqlite", path)
	check(err)
	defer db.Close()
	check(db.QueryRow("SELECT sqlite_version()").Scan(&version))
	return version
}

// sizes are 0, 1,000 and so on, ten times as many each.
func sizes(upTo int) []int {
	s := []int{0}
	for n := 1000; n <= upTo; n *= 10 {
		s = append(s, n)
	}
	return s
}

// ids are those of all rows that wait.
var ids []string

func newRow(id string, n int) tasks.Row {
	record := make([]byte, recordSize)
	rand.Read(record)
	return tasks.Row{ID: id, Owner: fmt.Sprint("owner", n/perOwner), Status: tasks.InputRequired, Record: record, TTL: 24 * time.Hour}
}

func createAll(s tasks.Store, n int) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range clients {
		wg.Go(func() {
			for i := range next {
				_, err := s.Create(context.Background(), newRow(ids[i], i), tasks.Next{}, limits)
				check(err)
			}
		})
	}
	for i := len(ids); i < n; i++ {
		ids = append(ids, rand.Text())
		next <- i
	}
	close(next)
	wg.Wait()
}

// fill makes rows many at a time, which the store does not, and has PostgreSQL tidy up after it.
func fill(conn *pgx.Conn, n int) {
	ctx := context.Background()
	first := len(ids)
	for len(ids) < n {
		ids = append(ids, rand.Text())
	}
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"elicit_task"},
		[]string{"id", "owner", "status", "record", "version", "run", "attempts", "ttl", "created_at", "updated_at", "expires_at"},
		pgx.CopyFromSlice(n-first, func(i int) ([]any, error) {
			row, now := newRow(ids[first+i], first+i), time.Now()
			return []any{row.ID, row.Owner, string(row.Status), row.Record, 1, 0, 0, row.TTL.Microseconds(), now, now, now.Add(row.TTL)}, nil
		}))
	check(err)
	_, err = conn.Exec(ctx, "VACUUM ANALYZE elicit_task")
	check(err)
}

func measure(title string, s tasks.Store, sizes []int, fill func(n int)) {
	go func() {
		for range s.Hints() {
		}
	}()
	ids = nil
	fmt.Printf("\n%s\n\n%10s %12s %21s %21s %21s %14s\n", title, "waiting", "creations/s", "get p50/p99", "get, busy, p50/p99", "update→completed", "memory")
	check(s.Join(context.Background(), "worker", time.Hour))
	var empty int
	var lines []string // lines of the second table
	for _, size := range sizes {
		fill(size)
		created, busy := create(s)
		quiet := get(s, min(5000, 5*len(ids)))
		both := complete(s)
		own := 40 * len(ids) // this program's list of ids is not the store's
		memory := resident() - own
		if size == 0 {
			empty = memory
		}
		fmt.Printf("%10d %12.0f %21s %21s %21s %6d MB %+4d\n", size, created, quiet, busy, both, memory>>20, (memory-empty)>>20)
		if size == sizes[0] || size == sizes[len(sizes)-1] {
			created, got, both := engine(s)
			lines = append(lines, fmt.Sprintf("%10d %12.0f %21s %21s\n", size, created, got, both))
		}
	}
	fmt.Printf("\nThe same, served over loopback: tools/call to its handle by %d clients, tasks/get, tasks/update to completed\n\n%10s %12s %21s %21s\n%s",
		served, "waiting", "creations/s", "get p50/p99", "update→completed", strings.Join(lines, ""))
}

// create creates rows for a while, and reads meanwhile. At the end its rows expire, and are removed.
func create(s tasks.Store) (perSecond float64, busy latency) {
	ctx, cancel := context.WithTimeout(context.Background(), *seconds)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	start := time.Now()
	for c := range clients {
		wg.Go(func() {
			n := 0
			for ; ctx.Err() == nil; n++ {
				row := newRow(rand.Text(), 0)
				row.Owner = fmt.Sprint(len(ids), "creator", c, "-", n/perOwner)
				row.Status, row.TTL = tasks.Working, 2*time.Second+*seconds
				_, err := s.Create(context.WithoutCancel(ctx), row, tasks.Next{Worker: "worker"}, limits)
				check(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	if len(ids) > 0 {
		busy = get(s, 1000)
	}
	wg.Wait()
	perSecond = float64(total) / time.Since(start).Seconds()
	for time.Since(start) < 3*time.Second+2**seconds {
		n, err := s.Purge(context.Background(), 500)
		check(err)
		if n == 0 {
			time.Sleep(50 * time.Millisecond)
		}
	}
	return perSecond, busy
}

type latency []time.Duration

func (l latency) String() string {
	if len(l) == 0 {
		return "-"
	}
	slices.Sort(l)
	return fmt.Sprintf("%.2f / %.2f ms", l[len(l)/2].Seconds()*1e3, l[len(l)*99/100].Seconds()*1e3)
}

func get(s tasks.Store, n int) (l latency) {
	for range n {
		id := ids[mathrand.IntN(len(ids))]
		start := time.Now()
		row, err := s.Get(context.Background(), id)
		l = append(l, time.Since(start))
		check(err)
		if row.ID != id || len(row.Record) != recordSize {
			log.Fatalf("Get of %s returned another row", id)
		}
	}
	return l
}

// complete answers rows and finishes them.
func complete(s tasks.Store) (l latency) {
	ctx := context.Background()
	for n := range 500 {
		row, err := s.Create(ctx, newRow(rand.Text(), -perOwner*(1+n)), tasks.Next{}, limits)
		check(err)
		row.Status = tasks.Working
		start := time.Now()
		row, err = s.Put(ctx, nil, row, tasks.Next{Worker: "worker"})
		check(err)
		fence := row.Fence()
		row.Status = tasks.Completed
		row, err = s.Put(ctx, &fence, row, tasks.Next{Rest: true})
		l = append(l, time.Since(start))
		check(err)
		if row.Status != tasks.Completed {
			log.Fatalf("%s is %s", row.ID, row.Status)
		}
	}
	return l
}

// resident is the memory of this process.
func resident() int {
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/status")
	check(err)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			check(err)
			return kb << 10
		}
	}
	log.Fatal("no VmRSS")
	return 0
}
