package wire

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Quiet connection is one end of a session that has no other end: what the session sends goes to a function, which may
// answer. It is its own transport.
//
// It never blocks the sender and never fails, as an error would end the session for everybody who shares it.
type Quiet struct {
	// Sent is given each message that the session sends, with the context of the sender.
	Sent func(ctx context.Context, msg jsonrpc.Message)
	// Closed is called, once, when the session has been closed.
	Closed func()

	mu    sync.Mutex
	queue []jsonrpc.Message
	ready chan struct{} // made when it is needed; has room for one, and is closed at the end
	ended bool
}

// wake is the channel that tells of messages. The caller holds q.mu.
func (q *Quiet) wake() chan struct{} {
	if q.ready == nil {
		q.ready = make(chan struct{}, 1)
	}
	return q.ready
}

// Connect implements mcp.Transport.
func (q *Quiet) Connect(context.Context) (mcp.Connection, error) { return q, nil }

// Deliver gives the session a message.
func (q *Quiet) Deliver(msg jsonrpc.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return
	}
	q.queue = append(q.queue, msg)
	select {
	case q.wake() <- struct{}{}:
	default:
	}
}

// Read implements mcp.Connection. A session that waits here costs each garbage collection a look at its stack, so it
// waits for one thing alone: the SDK's context has no end.
func (q *Quiet) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		q.mu.Lock()
		if len(q.queue) > 0 {
			msg := q.queue[0]
			q.queue = q.queue[1:]
			q.mu.Unlock()
			return msg, nil
		}
		ready, ended := q.wake(), q.ended
		q.mu.Unlock()
		if ended {
			return nil, io.EOF
		}
		done := ctx.Done()
		if done == nil {
			<-ready
			continue
		}
		select {
		case <-ready:
		case <-done:
			return nil, ctx.Err()
		}
	}
}

// Write implements mcp.Connection. A request of the server's, such as a ping, is answered with "method not found".
func (q *Quiet) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		q.Deliver(&jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client answers no requests"}})
		return nil
	}
	if q.Sent != nil {
		q.Sent(ctx, msg)
	}
	return nil
}

// Close implements mcp.Connection.
func (q *Quiet) Close() error {
	q.mu.Lock()
	again := q.ended
	q.ended = true
	if !again {
		close(q.wake())
	}
	q.mu.Unlock()
	if !again && q.Closed != nil {
		q.Closed()
	}
	return nil
}

// SessionID implements mcp.Connection.
func (q *Quiet) SessionID() string { return "" }
