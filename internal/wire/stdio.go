package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Strict is t, read as the HTTP host reads its requests: what is no message is answered with an error rather than the end
// of the connection, and what the SDK would refuse or lose is put into a form that it reads. Of stdio and io transports it
// reads the lines; of others it sees the messages that they have decoded.
func Strict(t mcp.Transport) mcp.Transport {
	switch t := t.(type) {
	case *mcp.StdioTransport:
		return lines(os.Stdin, keepOpen{os.Stdout}, t.MaxLineLength)
	case *mcp.IOTransport:
		return lines(t.Reader, t.Writer, t.MaxLineLength)
	}
	return messages{t}
}

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

func lines(r io.ReadCloser, w io.WriteCloser, limit int) mcp.Transport {
	if limit == 0 {
		limit = mcp.DefaultMaxLineLength
	}
	lw := &lineWriter{WriteCloser: w}
	// The SDK's own limit is off: what we rewrite may be longer than what was read.
	return &mcp.IOTransport{Reader: &lineReader{Closer: r, in: bufio.NewReaderSize(r, 64<<10), out: lw, limit: limit}, Writer: lw, MaxLineLength: -1}
}

// lineReader gives the SDK one line a message, each checked and normalised.
type lineReader struct {
	io.Closer
	in      *bufio.Reader
	out     *lineWriter
	limit   int    // of a line, in bytes; none if negative
	pending []byte // of the line that is being read
	session string // the revision of initialize, once there was one
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.pending) == 0 {
		line, tooLong, err := r.next()
		if tooLong {
			r.refuse(nil, Errf(jsonrpc.CodeInvalidRequest, "a message is longer than %d bytes", r.limit))
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			r.pending = r.filter(line)
		}
		if err != nil && len(r.pending) == 0 {
			r.out.answered(time.Duration(patience.Load()))
			return 0, err
		}
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// next reads a line, of which it keeps no more than limit bytes.
func (r *lineReader) next() (line []byte, tooLong bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if r.limit > 0 && len(line) > r.limit {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

func (r *lineReader) refuse(id json.RawMessage, e *Error) {
	_, _ = r.out.line(append(e.Append(nil, id), '\n')) // a broken pipe shows at the next message
}

// filter gives the line that the SDK reads instead of line, or nothing if it was answered here.
func (r *lineReader) filter(line []byte) []byte {
	if e := Check(line); e != nil {
		r.refuse(nil, e)
		return nil
	}
	if IsArray(line) && r.session != "" && r.session < "2025-06-18" {
		return append(line, '\n') // a batch, which that revision has
	}
	m, e := Parse(line)
	if e != nil {
		r.refuse(m.ID, e)
		return nil
	}
	switch {
	case m.Response:
		return append(m.AppendResponseMessage(nil, line), '\n')
	case m.Notification:
		return append(m.AppendNotification(nil, line), '\n')
	case m.Version() != nil:
		for _, check := range []func() *Error{func() *Error { _, e := m.CheckVersion(); return e }, m.CheckClient, m.CheckParams} {
			if e := check(); e != nil {
				r.refuse(m.ID, e)
				return nil
			}
		}
	case m.Method == "initialize":
		v, _ := rawjson.Get(m.Params, "protocolVersion")
		r.session, _ = rawjson.String(v)
	case r.session == "" && m.Method != "ping":
		r.refuse(m.ID, Errf(jsonrpc.CodeInvalidParams, "params._meta has no %q, and there was no initialize before", mcp.MetaKeyProtocolVersion))
		return nil
	}
	if m.Method != "subscriptions/listen" { // which ends with the connection
		r.out.calls.Add(1)
	}
	return append(m.Append(nil, Hold(m.ID)), '\n')
}

// patience is how long calls may still take when the client has closed its end. The SDK would drop them at once, and a
// client that pipes its requests in would see no answer.
const defaultPatience = 2 * time.Second

var patience atomic.Int64 // for tests

func init() { patience.Store(int64(defaultPatience)) }

// lineWriter writes the SDK's messages, and ours between them, and gives ids back that the SDK would change.
type lineWriter struct {
	io.WriteCloser
	mu    sync.Mutex
	calls atomic.Int64 // that were read and not answered
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if _, err := w.line(Restore(p)); err != nil {
		return 0, err
	}
	if bytes.HasPrefix(p, []byte(idBegin)) {
		if _, request := rawjson.Get(p, "method"); !request {
			w.calls.Add(-1)
		}
	}
	return len(p), nil
}

// answered waits until all calls are answered, but no longer than that.
func (w *lineWriter) answered(patience time.Duration) {
	for end := time.Now().Add(patience); w.calls.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func (w *lineWriter) line(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(p)
}

// messages is a transport whose messages come decoded.
type messages struct{ mcp.Transport }

func (t messages) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return messageConn{c}, nil
}

type messageConn struct{ mcp.Connection }

func (c messageConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if err != nil {
			return msg, err
		}
		switch m := msg.(type) {
		case *jsonrpc.Request:
			e := c.normalise(m)
			if e == nil {
				return m, nil
			}
			if !m.IsCall() {
				continue
			}
			if err := c.Write(ctx, &jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data}}); err != nil {
				return nil, err
			}
		case *jsonrpc.Response:
			if r := (&Message{ID: json.RawMessage("0"), Result: m.Result}); rawjson.Check(m.Result, rawjson.MaxDepth) == nil {
				if v, ok := rawjson.Get(r.AppendResponseMessage(nil, nil), "result"); ok {
					m.Result = v
				}
			}
			return m, nil
		default:
			return msg, nil
		}
	}
}

// Write implements mcp.Connection.
func (c messageConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Request); ok && r.Method == SentAs && bytes.HasPrefix(r.Params, []byte(As)) {
		name, rest := cutID(bytes.TrimPrefix(r.Params, []byte(As)))
		method, _ := rawjson.String(name)
		msg = &jsonrpc.Request{Method: method, Params: append([]byte{'{'}, bytes.TrimPrefix(rest, []byte{','})...)}
	}
	return c.Connection.Write(ctx, msg)
}

// normalise checks and rewrites the params of a request.
func (c messageConn) normalise(r *jsonrpc.Request) *Error {
	body := append([]byte(`{"jsonrpc":"2.0","id":0,"method":`), rawjson.AppendString(nil, r.Method)...)
	if len(r.Params) > 0 {
		if e := Check(r.Params); e != nil {
			return e
		}
		body = append(append(body, `,"params":`...), r.Params...)
	}
	m, e := Parse(append(body, '}'))
	if e != nil {
		return e
	}
	if m.Version() != nil && r.IsCall() {
		if _, e := m.CheckVersion(); e != nil {
			return e
		}
		if e := m.CheckClient(); e != nil {
			return e
		}
		if e := m.CheckParams(); e != nil {
			return e
		}
	}
	if m.Params != nil {
		r.Params = m.appendParams(nil)
	}
	return nil
}
