// Instances serves one tool from two instances behind one port. The rounds of a call go to one and the other in turn, and
// either can take the next.
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var book = elicit.Confirm("book", "Book a room?")

// Room is what to book.
type Room struct {
	Room string `json:"room" jsonschema:"the room's name"`
}

// hotel is the world that both instances change.
type hotel struct{ booked atomic.Int32 }

// newInstance is one instance: a server of its own, which shares with the others what they must share.
func newInstance(name string, h *hotel, secrets [][]byte, spender elicit.Spender) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "hotel", Version: "1.0.0"}, nil) // the same name in all
	s := elicit.New(server, &elicit.Options{Secrets: secrets, Spender: spender})
	elicit.AddTool(s, &mcp.Tool{Name: "BookRoom", Description: "Books a room, after asking."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in Room) (*mcp.CallToolResult, any, error) {
			if _, err := book.WithMessagef("Book %s?", in.Room).Value(ctx); err != nil {
				return nil, nil, err
			}
			h.booked.Add(1)
			return elicit.Text(fmt.Sprintf("%s is booked, by instance %s.", in.Room, name)), nil, nil
		})
	return s.Handler(nil)
}

// roundRobin sends each request to the next of backends. Clients older than 2026-07-28 have a session, which lives in one
// instance: all of them go to the first. A real proxy would pin each session, by its Mcp-Session-Id.
func roundRobin(backends []*url.URL) http.Handler {
	var n atomic.Uint64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		to := backends[0]
		if r.In.Header.Get("MCP-Protocol-Version") >= "2026-07-28" {
			to = backends[n.Add(1)%uint64(len(backends))]
		}
		r.SetURL(to)
		r.Out.Host = r.In.Host // what the instances compare Origin with
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An instance may begin its answer while the proxy is still looking for the end of the request; without this, Go's
		// server closes the request then, and the proxy the connection.
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, r)
	})
}

// secrets reads ELICIT_SECRETS: Base64, separated by commas, the newest first. Without it, the instances of this process
// share a random one.
func secrets() ([][]byte, error) {
	v := os.Getenv("ELICIT_SECRETS")
	if v == "" {
		secret := make([]byte, 32)
		rand.Read(secret) // never fails
		return [][]byte{secret}, nil
	}
	var all [][]byte
	for i, s := range strings.Split(v, ",") {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("secret %d of ELICIT_SECRETS is not Base64", i+1)
		}
		all = append(all, secret)
	}
	return all, nil
}

// start serves two instances on free ports, and returns the proxy before them.
func start(h *hotel, secrets [][]byte) (http.Handler, error) {
	spender := &sharedSpender{} // one for all
	var backends []*url.URL
	for _, name := range []string{"one", "two"} {
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			return nil, err
		}
		go func() { log.Fatal(http.Serve(l, newInstance(name, h, secrets, spender))) }()
		backends = append(backends, &url.URL{Scheme: "http", Host: l.Addr().String()})
	}
	return roundRobin(backends), nil
}

func main() {
	addr := flag.String("addr", "localhost:5283", "serve at `host:port`")
	flag.Parse()
	keys, err := secrets()
	if err != nil {
		log.Fatal(err)
	}
	proxy, err := start(&hotel{}, keys)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(*addr, proxy))
}
