package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// A spinner shows at the last line of a terminal what is being waited for. What else goes to that terminal meanwhile is
// written through it, and stands above.
type spinner struct {
	out   io.Writer
	width func() int // of the terminal

	mu    sync.Mutex
	text  string // "" while nothing is waited for
	since time.Time
	frame int
	shown bool
	done  chan struct{} // closed when the waiting ends

	held    bool // the whole screen is somebody else's
	kept    []byte
	dropped int
}

// Nothing is shown of what is quick.
const (
	spinnerDelay = 400 * time.Millisecond
	spinnerPause = 100 * time.Millisecond
)

const spinnerFrames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// start begins to wait for what text names. A nil spinner shows nothing.
func (s *spinner) start(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text == "" {
		s.since, s.done = time.Now(), make(chan struct{})
		go s.turn(s.done)
	}
	s.text = text
}

// stop ends the waiting.
func (s *spinner) stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text == "" {
		return
	}
	close(s.done)
	s.text = ""
	s.clear()
}

// turn redraws the line until done.
func (s *spinner) turn(done <-chan struct{}) {
	tick := time.NewTicker(spinnerPause)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			s.draw(done)
		}
	}
}

func (s *spinner) draw(done <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != done || s.text == "" || time.Since(s.since) < spinnerDelay {
		return
	}
	frames := []rune(spinnerFrames)
	s.frame = (s.frame + 1) % len(frames)
	line := ansi.Truncate(string(frames[s.frame])+" "+s.text, max(s.width()-1, 1), "…")
	_, _ = io.WriteString(s.out, "\r\x1b[K"+line)
	s.shown = true
}

// clear takes the line away. s.mu is held.
func (s *spinner) clear() {
	if s.shown {
		_, _ = io.WriteString(s.out, "\r\x1b[K")
		s.shown = false
	}
}

// Write writes p above the line, or keeps it while the screen is held.
func (s *spinner) Write(p []byte) (int, error) {
	const most = 1 << 20
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		if len(s.kept)+len(p) > most {
			s.dropped += len(p)
		} else {
			s.kept = append(s.kept, p...)
		}
		return len(p), nil
	}
	s.clear()
	return s.out.Write(p)
}

// hold keeps what is written until the function it returns is called: a form has the whole screen, and a server that is a
// command may log on.
func (s *spinner) hold() (release func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, _ = s.out.Write(s.kept)
		if s.dropped > 0 {
			fmt.Fprintf(s.out, "[%d more bytes]\n", s.dropped)
		}
		s.held, s.kept, s.dropped = false, nil, 0
	}
}
