package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
)

// longestLine bounds a line that someone types, in bytes.
const longestLine = 1 << 20

// errGone is the person going away from a question: Ctrl-C or the end of the input.
var errGone = errors.New("gone")

// A lineReader reads what a person types, line by line. A read cannot be taken back, so one goroutine reads ahead of what is
// asked for, and a line that comes after its prompt was given up belongs to the next.
type lineReader struct {
	lines      chan lineOrError
	want       chan struct{} // asks for the next line
	open       bool          // a line has been asked for and not come yet
	signals    bool          // take os.Interrupt while waiting
	waiting    atomic.Bool
	interrupts chan struct{}
}

type lineOrError struct {
	line string
	err  error
}

func newLineReader(in io.Reader, signals bool) *lineReader {
	l := &lineReader{lines: make(chan lineOrError), want: make(chan struct{}), signals: signals, interrupts: make(chan struct{}, 1)}
	go func() {
		r := bufio.NewReader(in)
		for range l.want {
			line, err := readLine(r)
			l.lines <- lineOrError{line, err}
		}
	}()
	return l
}

func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > longestLine {
			return "", errors.New("the line is too long")
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil, len(line) > 0 && errors.Is(err, io.EOF): // The last line has no end.
			return strings.TrimRight(string(line), "\r\n"), nil
		}
		return "", err
	}
}

// next is the next line, or errGone.
func (l *lineReader) next(ctx context.Context) (string, error) {
	select {
	case <-l.interrupts: // Came too late for the last prompt.
	default:
	}
	signals := make(chan os.Signal, 1)
	if l.signals {
		signal.Notify(signals, os.Interrupt)
		defer signal.Stop(signals)
	}
	l.waiting.Store(true)
	defer l.waiting.Store(false)
	if !l.open {
		select {
		case l.want <- struct{}{}:
			l.open = true
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	select {
	case got := <-l.lines:
		l.open = false
		if got.err != nil {
			return "", errGone
		}
		return got.line, nil
	case <-l.interrupts:
		return "", errGone
	case <-signals:
		return "", errGone
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (l *lineReader) interrupt() bool {
	if !l.waiting.Load() {
		return false
	}
	select {
	case l.interrupts <- struct{}{}:
	default:
	}
	return true
}
