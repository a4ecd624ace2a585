package streamable

import (
	"container/list"
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A request of 2026-07-28 has no session, but the SDK's handlers are given one, which says who the client is and sends
// notifications. Building one for each request costs more than all else, so requests share it that come from the same
// caller, with the same word for word of what the client says of itself. It holds nothing else: what a handler sends goes
// to the request whose context it was sent with.
const (
	maxSessions    = 4096 // that are kept though no request uses them
	maxSessionKey  = 4096 // bytes; what says more of itself is not kept
	maxSessionKeys = 8 << 20

	maxCapabilities = 64 // different ones that are kept decoded
)

type sessionCache struct {
	mu    sync.Mutex
	all   map[string]*sharedSession
	idle  list.List // of *sharedSession, the longest idle first
	bytes int       // of all keys

	caps map[string]template // capabilities of clients, which are the same for most
}

// sharedSession is a session that several requests share. It is one piece with what the SDK keeps of it: thousands of small
// ones would keep the garbage collector busy.
type sharedSession struct {
	ss     *mcp.ServerSession
	key    string
	meta   [len(sharedMeta)]template // the members of _meta that it stands for; without a name, what the client does not say
	conn   wire.Quiet
	params mcp.InitializeParams
	client mcp.Implementation
	can    mcp.ClientCapabilities

	// guarded by sessionCache.mu
	refs   int
	closed bool
	place  *list.Element // in idle
}

// appendPart appends s with its length before it, so that no two lists of parts look alike. The bytes need not be UTF-8.
func appendPart(b []byte, s string) []byte {
	return append(append(strconv.AppendInt(b, int64(len(s)), 10), ':'), s...)
}

// sharedMeta are the members of _meta that requests must have in common.
var sharedMeta = [...]string{mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities}

// sessionKey is what requests must have in common to share a session.
func sessionKey(b []byte, identity string, m *wire.Message) []byte {
	b = appendPart(b, identity)
	for _, name := range sharedMeta {
		b = append(append(b, ','), m.MetaValue(name)...) // raw JSON values: none can look like two
	}
	return b
}

// get finds the session of a key that is in use or idle.
func (c *sessionCache) get(key []byte) *sharedSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.all[string(key)]
	if s == nil {
		return nil
	}
	if s.place != nil {
		c.idle.Remove(s.place)
		s.place = nil
	}
	s.refs++
	return s
}

// open makes the session of a message, which was checked.
func (c *sessionCache) open(server *mcp.Server, key []byte, m *wire.Message) (*sharedSession, error) {
	s := &sharedSession{key: string(key), refs: 1}
	s.params.ProtocolVersion, _ = rawjson.String(m.Version())
	s.params.Capabilities, s.params.ClientInfo = &s.can, &s.client
	caps := m.MetaValue(mcp.MetaKeyClientCapabilities)
	if err := capabilities(&s.can, caps); err != nil {
		return nil, err
	}
	s.meta[0] = template{name: mcp.MetaKeyProtocolVersion, value: s.params.ProtocolVersion, kind: '"'}
	s.meta[1] = c.capabilities(caps)
	if info := m.MetaValue(mcp.MetaKeyClientInfo); info == nil {
		s.params.ClientInfo = nil
	} else if err := json.Unmarshal(info, &s.params.ClientInfo); err != nil {
		return nil, err
	} else {
		s.meta[2] = newTemplate(mcp.MetaKeyClientInfo, info)
	}
	s.conn.Sent, s.conn.Closed = routed, func() { c.drop(s) }
	var err error
	// The log level stays empty: the level is each request's own.
	s.ss, err = server.Connect(context.Background(), &s.conn, &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{InitializeParams: &s.params}})
	if err != nil {
		return nil, err
	}
	if len(s.key) > maxSessionKey {
		return s, nil // used once
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]*sharedSession{}
	}
	if _, other := c.all[s.key]; !other && !s.closed {
		c.all[s.key] = s
		c.bytes += len(s.key)
	}
	return s, nil
}

// capabilities is the template of what clients can do.
func (c *sessionCache) capabilities(raw json.RawMessage) template {
	c.mu.Lock()
	t, ok := c.caps[string(raw)]
	c.mu.Unlock()
	if ok {
		return t
	}
	t = newTemplate(mcp.MetaKeyClientCapabilities, raw)
	if len(raw) > maxSessionKey {
		return t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caps == nil || len(c.caps) >= maxCapabilities { // what is common comes again
		c.caps = map[string]template{}
	}
	c.caps[string(raw)] = t
	return t
}

// capabilities decodes what a client can do.
func capabilities(c *mcp.ClientCapabilities, raw json.RawMessage) error {
	if err := json.Unmarshal(raw, c); err != nil {
		return err
	}
	setRoots(c, raw)
	return nil
}

// routed sends a notification to the request that it was sent in.
func routed(ctx context.Context, msg jsonrpc.Message) {
	r, ok := msg.(*jsonrpc.Request)
	if e := wire.ExchangeOf(ctx); ok && e != nil && e.Notify != nil {
		e.Notify(r.Method, r.Params)
	}
}

// keep takes a session once more, for whoever has it already.
func (c *sessionCache) keep(s *sharedSession) {
	c.mu.Lock()
	s.refs++
	c.mu.Unlock()
}

// put gives a session back. Sessions that nobody uses are kept, the most recent ones.
func (c *sessionCache) put(s *sharedSession) {
	var out []*sharedSession
	c.mu.Lock()
	s.refs--
	switch {
	case s.refs > 0 || s.closed:
	case c.all[s.key] != s:
		out = append(out, s)
	default:
		s.place = c.idle.PushBack(s)
		for c.idle.Len() > maxSessions || c.bytes > maxSessionKeys && c.idle.Len() > 0 {
			out = append(out, c.evict())
		}
	}
	c.mu.Unlock()
	for _, s := range out {
		_ = s.ss.Close()
	}
}

// close ends the idle sessions.
func (c *sessionCache) close() {
	c.mu.Lock()
	var out []*sharedSession
	for c.idle.Len() > 0 {
		out = append(out, c.evict())
	}
	c.mu.Unlock()
	for _, s := range out {
		_ = s.ss.Close()
	}
}

// evict takes out the session that has been idle longest. The caller holds c.mu.
func (c *sessionCache) evict() *sharedSession {
	e := c.idle.Front()
	s := e.Value.(*sharedSession)
	c.idle.Remove(e)
	s.place = nil
	c.forget(s)
	return s
}

func (c *sessionCache) forget(s *sharedSession) {
	if c.all[s.key] == s {
		delete(c.all, s.key)
		c.bytes -= len(s.key)
	}
}

// drop is told that a session was closed, maybe by a handler: the next request gets another.
func (c *sessionCache) drop(s *sharedSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.closed = true
	if s.place != nil {
		c.idle.Remove(s.place)
		s.place = nil
	}
	c.forget(s)
}
