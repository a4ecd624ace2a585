package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// serve serves a handler that is given each request's id.
func serve(t *testing.T, h func(w http.ResponseWriter, id int)) (*httptest.Server, string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID int `json:"id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		h(w, m.ID)
	}))
	s.Start()
	t.Cleanup(s.Close)
	return s, s.Listener.Addr().String()
}

func ships(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[{"type":"text","text":"Shipped as 1Z999."}]}}`, id)
}

func silent() *Load {
	return &Load{Name: "silent", Conns: 4, Clients: 3, Steps: []Step{post("Track", "{}", "", "", shipped)}}
}

func TestRun(t *testing.T) {
	var posts atomic.Int64
	var ids sync.Map
	_, addr := serve(t, func(w http.ResponseWriter, id int) {
		posts.Add(1)
		ids.Store(id, true)
		if id%2 == 0 {
			fmt.Fprint(w, ships(id))
			return
		}
		for _, c := range ships(id) { // in chunks
			fmt.Fprint(w, string(c))
			w.(http.Flusher).Flush()
		}
	})
	g, err := Open(t.Context(), addr, silent())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	r, err := g.Run(t.Context(), 50, 0)
	if err != nil || r.Calls != 50 || len(r.Latency) != 50 || posts.Load() != 50 {
		t.Errorf("%d calls, %d POSTs, %v", r.Calls, posts.Load(), err)
	}
	different := 0
	for range ids.Range {
		different++
	}
	if different != 50 {
		t.Errorf("%d different ids", different)
	}
	if r.Percentile(0) > r.Percentile(0.5) || r.Percentile(0.5) > r.Percentile(1) || r.Percentile(1) > r.Elapsed {
		t.Errorf("latencies %v in %v", r.Latency, r.Elapsed)
	}
	r, err = g.Run(t.Context(), 0, 50*time.Millisecond)
	if err != nil || r.Calls == 0 || r.Elapsed < 50*time.Millisecond {
		t.Errorf("%d calls in %v, %v", r.Calls, r.Elapsed, err)
	}
}

// A run ends at the first response that is not right, with an error that says why.
func TestRunEndsAtAWrongResponse(t *testing.T) {
	for what, h := range map[string]func(w http.ResponseWriter, id int){
		"503 Service Unavailable": func(w http.ResponseWriter, id int) { w.WriteHeader(503); fmt.Fprint(w, ships(id)) },
		"not application/json": func(w http.ResponseWriter, id int) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ships(id))
		},
		"not the response to": func(w http.ResponseWriter, id int) { fmt.Fprint(w, ships(id+1)) },
		"not the text":        func(w http.ResponseWriter, id int) { fmt.Fprint(w, strings.Replace(ships(id), "1Z", "2Z", 1)) },
	} {
		_, addr := serve(t, func(w http.ResponseWriter, id int) {
			if id%1000 < 5 {
				fmt.Fprint(w, ships(id))
				return
			}
			h(w, id)
		})
		g, err := Open(t.Context(), addr, silent())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		r, err := g.Run(t.Context(), 1000, 0)
		if err == nil || !strings.Contains(err.Error(), what) || r.Calls > 16 {
			t.Errorf("%s: %d calls, error %v", what, r.Calls, err)
		}
	}
}

// A connection that the server closed between two runs is opened again; one that it closes during a run is an error.
func TestClosedConnections(t *testing.T) {
	var closing atomic.Bool
	s, addr := serve(t, func(w http.ResponseWriter, id int) {
		if closing.Load() {
			w.Header().Set("Connection", "close")
		}
		fmt.Fprint(w, ships(id))
	})
	g, err := Open(t.Context(), addr, silent())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Run(t.Context(), 20, 0); err != nil {
		t.Fatal(err)
	}
	s.CloseClientConnections()
	if r, err := g.Run(t.Context(), 20, 0); err != nil || r.Calls != 20 {
		t.Errorf("%d calls, %v", r.Calls, err)
	}
	closing.Store(true)
	if _, err := g.Run(t.Context(), 20, 0); err == nil {
		t.Error("connections that the server closes after each response pass")
	}
}
