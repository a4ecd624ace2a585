package answer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// An eventReader passes a stream of server-sent events on, one event at a time, with the data of each message replaced
// by what pass makes of it.
type eventReader struct {
	body io.Closer
	src  *lineReader
	pass func(data []byte) []byte
	fail func(error) // told when the stream breaks off; may be nil

	out bytes.Buffer // ready to be read
	err error        // after out
}

func (r *eventReader) Close() error { return r.body.Close() }

func (r *eventReader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.event()
	}
	return r.out.Read(p)
}

// event reads up to the end of an event and writes what becomes of it to out.
func (r *eventReader) event() {
	var raw, rest, data []byte // all lines; those without the data; the data
	name, hasData, size := "", false, 0
	for {
		line, err := r.src.line()
		raw = append(raw, line...)
		if size += len(line); err == nil && size > r.src.limit {
			err = tooLarge()
		}
		if err != nil {
			r.err = err
			r.out.Write(raw)
			if err != io.EOF && r.fail != nil {
				r.fail(err)
			}
			return
		}
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			break
		}
		field, value, _ := bytes.Cut(text, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if hasData {
				data = append(data, '\n')
			}
			hasData = true
			data = append(data, value...)
			continue
		case "event":
			name = string(value)
		}
		rest = append(rest, line...)
	}
	if len(data) == 0 || name != "" && name != "message" {
		r.out.Write(raw)
		return
	}
	r.out.Write(rest)
	for line := range bytes.SplitSeq(r.pass(data), []byte("\n")) {
		r.out.WriteString("data: ")
		r.out.Write(line)
		r.out.WriteByte('\n')
	}
	r.out.WriteByte('\n')
}

// A lineReader reads lines of bounded length, their ends included.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReader(r), limit: limit}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > l.limit {
			return nil, tooLarge()
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return line, err
	}
}
