package streamable

import (
	"net/http"
	"sync"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func noSession() *wire.Error {
	return &wire.Error{Status: http.StatusNotFound, Code: jsonrpc.CodeInvalidRequest, Message: "the session of the Mcp-Session-Id header is unknown or has ended"}
}

// sessions says whose each session is.
type sessions struct {
	max      int
	mu       sync.Mutex
	all      map[string]session
	reserved int // slots of handshakes that are under way
}

// A slot is room for one session.
type slot struct{ used bool }

type session struct {
	who    string
	server *mcp.Server
	end    *wire.SessionEnd
}

func (s *sessions) ownedBy(id, who string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.all[id]
	return ok && x.who == who
}

func (s *sessions) add(in *slot, id string, x session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(in)
	if s.all == nil {
		s.all = map[string]session{}
	}
	s.all[id] = x
}

// end forgets a session, and tells what runs in it.
func (s *sessions) end(id string) {
	s.mu.Lock()
	x, ok := s.all[id]
	delete(s.all, id)
	s.mu.Unlock()
	if ok {
		x.end.Tell()
	}
}

// release gives a slot back if no session took it.
func (s *sessions) release(in *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use(in)
}

func (s *sessions) use(in *slot) {
	if !in.used {
		in.used = true
		s.reserved--
	}
}

// reserve reserves room for one more session, if there is some.
func (s *sessions) reserve() (*slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room() {
		return nil, false
	}
	s.reserved++
	return &slot{}, true
}

// room reports whether one more session fits. The SDK does not tell when a session ends, so those that have ended are
// looked for when it would not. The caller holds s.mu.
func (s *sessions) room() bool {
	if len(s.all)+s.reserved < s.max {
		return true
	}
	live := map[string]bool{}
	seen := map[*mcp.Server]bool{}
	for _, x := range s.all {
		if seen[x.server] {
			continue
		}
		seen[x.server] = true
		for ss := range x.server.Sessions() {
			live[ss.ID()] = true
		}
	}
	for id := range s.all {
		if !live[id] {
			delete(s.all, id)
		}
	}
	return len(s.all)+s.reserved < s.max
}
