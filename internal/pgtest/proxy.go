package pgtest

import (
	"net"
	"net/url"
	"sync"
)

// A Proxy is a way to a server that can be cut.
type Proxy struct {
	target string
	addr   string

	mu       sync.Mutex
	change   *sync.Cond
	listener net.Listener // nil while refused
	conns    map[net.Conn]bool
	held     [2]bool // what goes to the server, and what comes from it, waits
	closed   bool
}

// NewProxy listens on a free loopback port, and passes what comes there to target, a host and port.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, addr: l.Addr().String(), listener: l, conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	go p.serve(l)
	return p, nil
}

// URL is a database's URL, by way of the proxy.
func (p *Proxy) URL(direct string) string {
	u, err := url.Parse(direct)
	if err != nil {
		panic(err)
	}
	u.Host = p.addr
	return u.String()
}

// Refuse ends all connections, and refuses new ones.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	for c := range p.conns {
		c.Close()
	}
}

// Hold keeps back everything that is sent, in both directions, as a network does that has lost its way: connections stay,
// and nobody is told.
func (p *Proxy) Hold() { p.hold(true, true) }

// HoldReplies keeps back what the server sends. What it is told arrives.
func (p *Proxy) HoldReplies() { p.hold(false, true) }

func (p *Proxy) hold(requests, replies bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = [2]bool{requests, replies}
	p.change.Broadcast()
}

// Heal undoes all that. What was kept back arrives now.
func (p *Proxy) Heal() error {
	p.hold(false, false)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == nil && !p.closed {
		l, err := net.Listen("tcp", p.addr)
		if err != nil {
			return err
		}
		p.listener = l
		go p.serve(l)
	}
	return nil
}

// Close ends the proxy and all connections.
func (p *Proxy) Close() {
	p.Refuse()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.hold(false, false)
}

func (p *Proxy) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			server, err := net.Dial("tcp", p.target)
			if err != nil {
				client.Close()
				return
			}
			p.mu.Lock()
			if p.listener != l { // refused meanwhile
				client.Close()
				server.Close()
			}
			p.conns[client], p.conns[server] = true, true
			p.mu.Unlock()
			go p.copy(server, client, 0)
			p.copy(client, server, 1)
		}()
	}
}

// copy passes on what one side sends, until either is closed.
func (p *Proxy) copy(to, from net.Conn, direction int) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		for p.held[direction] {
			p.change.Wait()
		}
		p.mu.Unlock()
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, to)
	delete(p.conns, from)
}
