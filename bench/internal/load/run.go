// Package load puts calls on a server, as clients of 2026-07-28 do, and checks each response.
package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Generator holds the connections to a server. Its HTTP is written by hand: net/http's client would cost more than
// most of the servers.
type Generator struct {
	load  *Load
	conns []*conn
	turn  atomic.Int64 // whose call is next, of the load's clients
}

type conn struct {
	net.Conn
	addr    string
	end     time.Time // the deadline
	fresh   bool      // has been used in this run, so that the server has no reason to close it
	r       *bufio.Reader
	heads   [][]byte // of each step's request, to which the length of the body is added
	checks  []checker
	request []byte
	body    []byte
	content []byte
	state   []byte
	id      int
}

// Open connects to the server at addr.
func Open(ctx context.Context, addr string, l *Load) (*Generator, error) {
	g := &Generator{load: l}
	for i := range l.Conns {
		c := &conn{addr: addr, r: bufio.NewReaderSize(nil, 16<<10), id: 100_000_000 + i*1_000_000}
		if err := c.dial(ctx); err != nil {
			g.Close()
			return nil, err
		}
		for _, s := range l.Steps {
			c.heads = append(c.heads, fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench/1.0\r\nContent-Type: application/json\r\n"+
				"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\nContent-Length: ", addr, s.tool))
			c.checks = append(c.checks, checker{want: s.want})
		}
		g.conns = append(g.conns, c)
	}
	return g, nil
}

func (c *conn) dial(ctx context.Context) error {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	c.Conn = nc
	c.r.Reset(nc)
	return c.SetDeadline(c.end)
}

// Close closes the connections.
func (g *Generator) Close() {
	for _, c := range g.conns {
		c.Close()
	}
}

// Result is what a run saw.
type Result struct {
	Calls   int
	Elapsed time.Duration
	Latency []time.Duration // of each call, from its first POST to the end of its last response; sorted
}

// Percentile is the latency that the given share of the calls did not exceed.
func (r *Result) Percentile(p float64) time.Duration {
	if len(r.Latency) == 0 {
		return 0
	}
	return r.Latency[min(len(r.Latency)-1, int(p*float64(len(r.Latency))))]
}

// Run makes calls over all connections, each its next one when the last is answered, until calls have been made or, if
// that is 0, for a time. It stops at the first response that is wrong.
func (g *Generator) Run(ctx context.Context, calls int, d time.Duration) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begin := time.Now()
	end := begin.Add(d)
	var left atomic.Int64
	left.Store(int64(calls))
	latency := make([][]time.Duration, len(g.conns))
	var wg sync.WaitGroup
	for i, c := range g.conns {
		// Should a server not answer, the run ends all the same.
		c.end = end.Add(time.Minute)
		if calls > 0 {
			c.end = begin.Add(10 * time.Minute)
		}
		c.fresh = false
		_ = c.SetDeadline(c.end)
		wg.Go(func() {
			for ctx.Err() == nil {
				start := time.Now()
				if calls > 0 && left.Add(-1) < 0 || calls == 0 && start.After(end) {
					return
				}
				if err := c.call(ctx, g.load, int(g.turn.Add(1))%g.load.Clients); err != nil {
					cancel(err)
					return
				}
				latency[i] = append(latency[i], time.Since(start))
			}
		})
	}
	wg.Wait()
	r := &Result{Elapsed: time.Since(begin), Latency: slices.Concat(latency...)}
	r.Calls = len(r.Latency)
	slices.Sort(r.Latency)
	return r, context.Cause(ctx)
}

// call makes the POSTs of one call.
func (c *conn) call(ctx context.Context, l *Load, client int) error {
	c.state = c.state[:0]
	for i := range l.Steps {
		c.id++
		c.content = l.Steps[i].appendBody(c.content[:0], c.id, client, c.state)
		c.request = append(c.request[:0], c.heads[i]...)
		c.request = strconv.AppendInt(c.request, int64(len(c.content)), 10)
		c.request = append(append(c.request, "\r\n\r\n"...), c.content...)
		err := c.exchange()
		if !c.fresh && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)) {
			// Node closes a connection on which nothing came for five seconds: between two runs, that may happen.
			c.Close()
			if err = c.dial(ctx); err == nil {
				err = c.exchange()
			}
		}
		if err != nil {
			return fmt.Errorf("POST %d of %s: %w", i+1, l.Name, err)
		}
		c.fresh = true
		state, err := c.checks[i].check(c.body, c.id)
		if err != nil {
			return fmt.Errorf("POST %d of %s: %w", i+1, l.Name, err)
		}
		c.state = append(c.state[:0], state...)
	}
	return nil
}

// exchange sends the request, and reads the response.
func (c *conn) exchange() error {
	if _, err := c.Write(c.request); err != nil {
		return err
	}
	return c.read()
}

var (
	errNotJSON   = errors.New("the response is not application/json")
	errNoLength  = errors.New("the response has neither a length nor chunks")
	errLongLine  = errors.New("a line of the response is too long")
	errBadLength = errors.New("the length of the response makes no sense")
)

// read reads a response with status 200 and a body of JSON.
func (c *conn) read() error {
	line, err := c.line()
	if err != nil {
		return err
	}
	status := string(line)
	length, chunked, isJSON := -1, false, false
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > 64<<20 {
				return errBadLength
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Content-Type")):
			isJSON = bytes.HasPrefix(value, []byte("application/json"))
		}
	}
	c.body = c.body[:0]
	switch {
	case chunked:
		err = c.chunks()
	case length >= 0:
		err = c.grow(length)
	default:
		err = errNoLength
	}
	if err != nil {
		return err
	}
	if len(status) < 12 || status[9:12] != "200" {
		return fmt.Errorf("%s: %s", status, c.body)
	}
	if !isJSON {
		return errNotJSON
	}
	return nil
}

func (c *conn) line() ([]byte, error) {
	line, more, err := c.r.ReadLine()
	if more {
		err = errLongLine
	}
	return line, err
}

func (c *conn) chunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(line), 16, 26)
		if err != nil {
			return errBadLength
		}
		if err := c.grow(int(n)); err != nil {
			return err
		}
		if _, err := c.line(); err != nil || n == 0 {
			return err
		}
	}
}

// grow reads n more bytes of the body.
func (c *conn) grow(n int) error {
	had := len(c.body)
	c.body = slices.Grow(c.body, n)[:had+n]
	_, err := io.ReadFull(c.r, c.body[had:])
	return err
}
