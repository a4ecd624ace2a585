package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/elicit-go/elicit/bench/internal/load"
)

// BenchmarkHost makes the calls of the loads without a network, so that what the host itself costs can be profiled:
//
//	go test ./bench/servers/elicit -run='^$' -bench=Host/question -cpuprofile=cpu.pprof
func BenchmarkHost(b *testing.B) {
	for _, l := range load.Loads() {
		if l.Conns != 32 { // there are none here
			continue
		}
		b.Run(l.Name, func(b *testing.B) {
			h := handler(l.Tools)
			w := &recorder{header: http.Header{}}
			var body requestBody
			reqs := make([]*http.Request, len(l.Steps))
			for i := range l.Steps {
				reqs[i] = httptest.NewRequest("POST", "http://localhost/", nil)
				reqs[i].Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
					"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {l.Steps[i].Tool()}}
			}
			call := func(n int) {
				state := ""
				for i := range l.Steps {
					content := l.Steps[i].Body(100_000_000+n, n%l.Clients, state)
					body.rest = content
					clear(w.header)
					w.body = w.body[:0]
					req := *reqs[i]
					req.Body, req.ContentLength = &body, int64(len(content))
					h.ServeHTTP(w, &req)
					if w.status != http.StatusOK {
						b.Fatalf("%d %s", w.status, w.body)
					}
					state = ""
					if _, after, ok := bytes.Cut(w.body, []byte(`"requestState":"`)); ok {
						text, _, _ := bytes.Cut(after, []byte{'"'})
						state = string(text)
					}
				}
			}
			for n := range l.Clients { // the host knows the tools, and the clients
				call(n)
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				call(n)
			}
		})
	}
}

// requestBody ends with its last bytes, as those of net/http do.
type requestBody struct{ rest []byte }

func (r *requestBody) Read(p []byte) (n int, err error) {
	n = copy(p, r.rest)
	if r.rest = r.rest[n:]; len(r.rest) == 0 {
		err = io.EOF
	}
	return n, err
}

func (*requestBody) Close() error { return nil }

type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (w *recorder) Header() http.Header    { return w.header }
func (w *recorder) WriteHeader(status int) { w.status = status }
func (w *recorder) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}
