// Approval deploys a version when a person has approved it, which may be days later, after a restart, and on another
// instance. Its calls are tasks, kept in a file, or in PostgreSQL for several instances:
//
//	go run . -addr localhost:5286
//	elicit call http://localhost:5286 Deploy --arg service=shop --arg version=1.4.0
//
// Stop the server while it waits, start it again, and answer. With PostgreSQL, start it twice, on two ports, and answer at
// the other one:
//
//	go run . -addr localhost:5286 -postgres "$DATABASE_URL"
//	go run . -addr localhost:5287 -postgres "$DATABASE_URL"
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/postgres"
	"github.com/elicit-go/elicit/tasks/sqlite"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Release is what to deploy.
type Release struct {
	Service string `json:"service" jsonschema:"the service to deploy"`
	Version string `json:"version" jsonschema:"the version to deploy"`
}

var approve = elicit.Confirm("approve", "Deploy?")

// hosts are where a service runs.
var hosts = []string{"red", "green", "blue"}

// fleet deploys to a host. The id is the same however often the work is repeated after a crash: a real one would give it to
// whatever must not happen twice.
type fleet interface {
	deploy(ctx context.Context, id, host string, r Release) error
}

// newServer is one instance. Those that share a store share the secrets, too.
func newServer(store tasks.Store, secret []byte, f fleet) (*elicit.Server, *tasks.Engine) {
	s := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "approval", Version: "1.0.0"}, nil), &elicit.Options{Secrets: [][]byte{secret}})
	engine := tasks.Enable(s, tasks.Options{Store: store})
	elicit.AddTool(s, &mcp.Tool{Name: "Deploy", Description: "Deploys a version of a service, when a person has approved it."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in Release) (*mcp.CallToolResult, any, error) {
			// The person may take days: nothing runs meanwhile, and the handler begins again when the answer is there.
			ok, err := approve.WithMessagef("Deploy %s %s to %s?", in.Service, in.Version, strings.Join(hosts, ", ")).Require(ctx)
			if err != nil {
				return nil, nil, err
			}
			if ok.Err() != nil {
				return elicit.Text(fmt.Sprintf("%s %s was not approved.", in.Service, in.Version)), nil, nil
			}
			for n, host := range hosts {
				tasks.Status(ctx, fmt.Sprintf("%d of %d", n+1, len(hosts)))
				// What is done stays done: after a crash the next run goes on with the next host.
				if _, err := elicit.Step(ctx, "deploy:"+host, func(ctx context.Context) (bool, error) {
					return true, f.deploy(ctx, elicit.CallID(ctx)+":"+host, host, in)
				}); err != nil {
					return nil, nil, err
				}
			}
			return elicit.Text(fmt.Sprintf("%s %s is deployed to %s.", in.Service, in.Version, strings.Join(hosts, ", "))), nil, nil
		}, tasks.Required)
	return s, engine
}

// slowly takes a moment for each host, and says so.
type slowly struct{ takes time.Duration }

func (s slowly) deploy(ctx context.Context, id, host string, r Release) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.takes):
		log.Printf("%s %s is on %s (%s)", r.Service, r.Version, host, id)
		return nil
	}
}

func main() {
	addr := flag.String("addr", "localhost:5286", "serve at `host:port`, a loopback one")
	file := flag.String("file", "approval.db", "keep tasks in this `file`")
	db := flag.String("postgres", "", "keep tasks in PostgreSQL, by `URL`, rather than in a file")
	key := flag.String("secret", "approval.secret", "the `file` with the secret that tasks are sealed under; made if there is none")
	takes := flag.Duration("takes", time.Second, "how long a host takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *file, *db, *key, slowly{*takes}); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr, file, db, key string, f fleet) error {
	secret, err := readSecret(key)
	if err != nil {
		return err
	}
	var store tasks.Store
	if db != "" {
		store, err = postgres.Open(ctx, db)
	} else {
		store, err = sqlite.Open(ctx, file)
	}
	if err != nil {
		return err
	}
	defer store.Close()
	s, engine := newServer(store, secret, f)
	server := &http.Server{Addr: addr, Handler: s.Handler(nil)}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	log.Printf("serving on http://%s", addr)
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
	}
	// What does not end in time goes on at the next start, or on another instance.
	out, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	requests := make(chan error, 1)
	go func() { requests <- server.Shutdown(out) }()
	if err := errors.Join(engine.Shutdown(out), <-requests); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// readSecret reads a secret, or makes one. Instances that share tasks need the same.
func readSecret(file string) ([]byte, error) {
	secret, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	secret = make([]byte, 32)
	rand.Read(secret) // never fails
	return secret, os.WriteFile(file, secret, 0o600)
}
