package elicit

import (
	"time"

	"github.com/elicit-go/elicit/internal/state"
)

// SetClock lets a test say what time it is.
func SetClock(s *Server, now func() time.Time) { s.now = now }

// NewMemorySpender is the default Spender, with a bound of its own.
func NewMemorySpender(max int) Spender { return newMemorySpender(max) }

// Seal seals bytes under the server's secrets for any purpose.
func Seal(s *Server, purpose string, plain []byte) string {
	t, err := s.ring.Seal(state.Purpose(purpose), plain)
	if err != nil {
		panic(err)
	}
	return t
}
