package soak

import (
	"bytes"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// A line of the journal.
type line struct {
	at         time.Time
	pid        int
	what, task string
	step       string
}

// lines reads what is new in the journal, and returns all of it.
func (s *fleet) lines() []line {
	f, err := os.Open(s.journal)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, s.read, math.MaxInt64-s.read))
	if err != nil {
		s.t.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	s.read += int64(len(b))
	for text := range strings.Lines(string(b)) {
		words := strings.Fields(text)
		if len(words) < 4 { // killed in the middle of a line
			continue
		}
		nanos, err1 := strconv.ParseInt(words[0], 10, 64)
		pid, err2 := strconv.Atoi(words[1])
		if err1 == nil && err2 == nil {
			l := line{at: time.Unix(0, nanos), pid: pid, what: words[2], task: words[3]}
			if len(words) > 4 {
				l.step = words[4]
			}
			s.journaled = append(s.journaled, l)
		}
	}
	return s.journaled
}

// readJournal finds steps that ran after their result was stored, and counts those that ran again before.
func (s *fleet) readJournal() (again int) {
	stored, ran := map[string]bool{}, map[string]bool{}
	for _, l := range s.lines() {
		step := l.task + " " + l.step
		switch l.what {
		case "stored":
			stored[step] = true
		case "ran":
			if stored[step] {
				s.t.Errorf("step %s ran after its result was stored", step)
			}
			if ran[step] {
				again++
			}
			ran[step] = true
		}
	}
	return again
}
