package soak

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/tasks"
	"github.com/elicit-go/elicit/tasks/postgres"
	"github.com/elicit-go/elicit/tasks/sqlite"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMain runs this program as the tests, or as the server that they kill.
func TestMain(m *testing.M) {
	if store := os.Getenv("SOAK_STORE"); store != "" {
		if err := serveTasks(store, os.Getenv("SOAK_ADDR"), os.Getenv("SOAK_JOURNAL")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// serveTasks is one instance. What its handlers do they write to the journal, which outlives the process: a line for each
// thing, in the order in which all instances did them.
func serveTasks(at, addr, journal string) error {
	go func() { // ends with the tests
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	ctx := context.Background()
	var store tasks.Store
	var err error
	if strings.HasPrefix(at, "postgres://") {
		store, err = postgres.Open(ctx, at)
	} else {
		store, err = sqlite.Open(ctx, at)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(journal, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	pid := os.Getpid()
	note := func(format string, args ...any) {
		fmt.Fprintf(f, "%d %d %s\n", time.Now().UnixNano(), pid, fmt.Sprintf(format, args...))
	}
	s := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil), &elicit.Options{Secrets: [][]byte{secret("tasks")}, Logger: quiet})
	tasks.Enable(s, tasks.Options{Store: store, MaxPerPrincipal: -1, MaxAttempts: 1000})
	// step says when it runs, and when its result is stored: from then on it must not run.
	step := func(ctx context.Context, name string, takes time.Duration) (string, error) {
		result, err := elicit.Step(ctx, name, func(ctx context.Context) (string, error) {
			note("ran %s %s", tasks.ID(ctx), name)
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(takes):
				return rand.Text(), nil
			}
		})
		if err == nil {
			note("stored %s %s", tasks.ID(ctx), name)
		}
		return result, err
	}
	type in struct {
		N int `json:"n"`
	}
	elicit.AddTool(s, &mcp.Tool{Name: "Ask"}, func(ctx context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		sz, err := size.Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		if _, err := step(ctx, "price", time.Millisecond); err != nil {
			return nil, nil, err
		}
		who, err := name.WithMessagef("Which name, for a %s?", sz).Value(ctx)
		if err != nil {
			return nil, nil, err
		}
		if _, err := step(ctx, "pay", time.Millisecond); err != nil {
			return nil, nil, err
		}
		return elicit.Text(fmt.Sprintf("%d: %s for %s, by run %s", in.N, sz, who, rand.Text())), nil, nil
	}, tasks.Required)
	// Work takes n seconds.
	elicit.AddTool(s, &mcp.Tool{Name: "Work"}, func(ctx context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		beats, stop := context.WithCancel(ctx)
		defer stop()
		note("works %s", tasks.ID(ctx))
		go func() {
			for {
				select {
				case <-beats.Done():
					return
				case <-time.After(100 * time.Millisecond):
					note("works %s", tasks.ID(ctx))
				}
			}
		}()
		for n := range in.N {
			if _, err := step(ctx, fmt.Sprint(n), time.Second); err != nil {
				return nil, nil, err
			}
		}
		note("worked %s", tasks.ID(ctx))
		return elicit.Text(fmt.Sprintf("%d: done by run %s", in.N, rand.Text())), nil, nil
	}, tasks.Required)
	return http.ListenAndServe(addr, s.Handler(nil))
}
