package streamable

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// An eventStream is a response that becomes an event stream with its first event.
type eventStream struct {
	w        http.ResponseWriter
	every    time.Duration // between comments when nothing happens
	patience time.Duration // with a client that does not read

	mu    sync.Mutex
	begun bool
	done  bool
	stop  chan struct{}
}

// event writes an event, beginning the stream if it has not begun. After the last one nothing is written.
func (s *eventStream) event(data []byte, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return nil
	}
	s.done = last
	if !s.begun {
		s.begin()
	}
	if last {
		close(s.stop)
	}
	b := make([]byte, 0, len(data)+len("event: message\ndata: \n\n"))
	b = append(append(append(b, "event: message\ndata: "...), data...), "\n\n"...)
	return deliver(s.w, b, s.patience)
}

// deliver writes to a client at once. A client that does not read for so long is given up, and the request's context ends:
// else it would hold its handler for as long as it likes.
func deliver(w http.ResponseWriter, b []byte, patience time.Duration) error {
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Now().Add(patience)) // where that is not supported, it waits
	_, err := w.Write(b)
	if e := c.Flush(); err == nil && !errors.Is(e, http.ErrNotSupported) {
		err = e
	}
	if err != nil {
		_ = c.SetReadDeadline(time.Now()) // ends the context of an HTTP/1 request; HTTP/2 has ended its own
		return err
	}
	_ = c.SetWriteDeadline(time.Time{})
	return nil
}

// final writes the last event, if the stream has begun; if not, it reports so, and that nothing will be an event now.
func (s *eventStream) final(data []byte) (written bool) {
	s.mu.Lock()
	begun := s.begun
	s.done = s.done || !begun
	s.mu.Unlock()
	if begun {
		_ = s.event(data, true) // the client may have gone
	}
	return begun
}

// started reports whether there has been an event.
func (s *eventStream) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// close ends the stream, if it has begun and had no last event.
func (s *eventStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun && !s.done {
		close(s.stop)
	}
	s.done = true
}

// begin turns the response into an event stream. The caller holds s.mu.
func (s *eventStream) begin() {
	s.begun, s.stop = true, make(chan struct{})
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	go keepAlive(s.w, &s.mu, s.every, s.patience, s.stop)
}

// keepAlive writes comments to an event stream while nothing happens, until stop is closed. Mu guards w.
func keepAlive(w http.ResponseWriter, mu *sync.Mutex, every, patience time.Duration, stop <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		mu.Lock()
		select {
		case <-stop:
		default:
			_ = deliver(w, []byte(": keep-alive\n\n"), patience) // a closed connection cancels the request anyway
		}
		mu.Unlock()
	}
}
