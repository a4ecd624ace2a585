// Confirm asks before it deletes, each thing by itself.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"strings"
	"sync"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var remove = elicit.Confirm("delete", "Delete a project?")

type projects struct {
	mu  sync.Mutex
	all map[string]bool
}

// Names are the projects to delete.
type Names struct {
	Names []string `json:"names" jsonschema:"the projects to delete"`
}

func (p *projects) delete(ctx context.Context, _ *mcp.CallToolRequest, in Names) (*mcp.CallToolResult, any, error) {
	// Each project is its own question: its own key, and its own words. The answer counts for just that.
	asked := make([]elicit.Answer[bool], len(in.Names))
	var pending []elicit.Pending
	for i, name := range in.Names {
		q := remove.WithKey("delete:"+name).WithMessagef("Delete project %s and all that is in it? This cannot be undone.", name)
		pending = append(pending, q.Into(&asked[i]))
	}
	if err := elicit.RequireAll(ctx, pending...); err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for i, name := range in.Names {
		if yes, _ := asked[i].Value(); !yes {
			out = append(out, "Kept "+name+".")
			continue
		}
		delete(p.all, name)
		out = append(out, "Deleted "+name+".")
	}
	return elicit.Text(strings.Join(out, "\n")), nil, nil
}

func newServer(p *projects) *elicit.Server {
	s := elicit.New(mcp.NewServer(&mcp.Implementation{Name: "projects", Version: "1.0.0"}, nil), nil)
	elicit.AddTool(s, &mcp.Tool{Name: "DeleteProjects", Description: "Deletes projects, after asking for each."}, p.delete)
	return s
}

func main() {
	addr := flag.String("addr", "localhost:5282", "serve at `host:port`")
	flag.Parse()
	s := newServer(&projects{all: map[string]bool{"apollo": true, "gemini": true}})
	log.Fatal(http.ListenAndServe(*addr, s.Handler(nil)))
}
