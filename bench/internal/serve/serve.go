// Package serve runs the benchmark's Go servers, all alike.
package serve

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"runtime/debug"
)

// Main serves the handler at -addr, and prints the address. With -admin it serves what the benchmark reads at a second
// address, which is printed after the first.
func Main(handler func() http.Handler) {
	log.SetFlags(0)
	addr := flag.String("addr", "127.0.0.1:0", "serve at `host:port`")
	admin := flag.String("admin", "", "serve allocation counts and profiles at `host:port`")
	uncollected := flag.Bool("uncollected", false, "collect no garbage before there is a GiB of it")
	flag.Parse()
	if *uncollected {
		debug.SetMemoryLimit(1 << 30)
		debug.SetGCPercent(-1)
	}
	h := handler()
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	addresses := []any{l.Addr()}
	if *admin != "" {
		second, err := net.Listen("tcp", *admin)
		if err != nil {
			log.Fatal(err)
		}
		addresses = append(addresses, second.Addr())
		go func() { log.Fatal(http.Serve(second, adminHandler())) }()
	}
	fmt.Println(addresses...)
	log.Fatal(http.Serve(l, h))
}

// Allocs is what a process has allocated since it began.
type Allocs struct {
	Objects uint64 `json:"objects"`
	Bytes   uint64 `json:"bytes"`
}

func adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /allocs", func(w http.ResponseWriter, _ *http.Request) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		_ = json.NewEncoder(w).Encode(Allocs{m.Mallocs, m.TotalAlloc})
	})
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	return mux
}
