package elicit

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"
)

// A Spender lets the last round of a call happen once, though a client may send it again. A call that carries state has
// an id that is constant over its rounds. The id is claimed before the handler runs, released if the round asks again,
// and spent by any other end. Calls without state are not claimed.
//
// Implement it over a shared store (one row per id, unique, with until as its end) where several instances share
// secrets. Methods are called concurrently. An error from Claim fails the call.
type Spender interface {
	// Claim reports whether callID was free, and takes it. The id may be forgotten after until.
	Claim(ctx context.Context, callID string, until time.Time) (bool, error)
	// Release gives a claimed id back: the call goes on in another round.
	Release(ctx context.Context, callID string) error
	// Spend keeps a claimed id taken for good: the call has ended.
	Spend(ctx context.Context, callID string) error
}

const maxSpent = 1 << 18

// memorySpender is the Spender of one process. Over its bound it forgets what it has known longest. What it remembers has no
// pointers, so that the garbage collector passes over it.
type memorySpender struct {
	max int

	mu   sync.Mutex
	ids  map[spentID]int32 // where each is in list
	list []spent           // list[0] begins and ends the ring of those that are taken, oldest first
	free []int32           // places in list that can be used again
}

// spentID is a call's id, as callID writes it.
type spentID [32]byte

func idOf(callID string) (id spentID) {
	if copy(id[:], callID); len(callID) != len(id) {
		return sha256.Sum256([]byte(callID))
	}
	return id
}

type spent struct {
	id         spentID
	until      int64 // Unix time
	prev, next int32
}

func newMemorySpender(max int) *memorySpender {
	return &memorySpender{max: max, ids: map[spentID]int32{}, list: make([]spent, 1)}
}

func (m *memorySpender) Claim(_ context.Context, callID string, until time.Time) (bool, error) {
	id := idOf(callID)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.ids[id]; taken {
		return false, nil
	}
	now := time.Now().Unix()
	for e := m.list[0].next; e != 0 && (len(m.ids) >= m.max || m.list[e].until < now); e = m.list[0].next {
		m.remove(e)
	}
	var e int32
	if n := len(m.free); n > 0 {
		e, m.free = m.free[n-1], m.free[:n-1]
	} else {
		e = int32(len(m.list))
		m.list = append(m.list, spent{})
	}
	last := m.list[0].prev
	m.list[e] = spent{id, until.Unix(), last, 0}
	m.list[last].next, m.list[0].prev = e, e
	m.ids[id] = e
	return true, nil
}

func (m *memorySpender) Release(_ context.Context, callID string) error {
	id := idOf(callID)
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.ids[id]; ok {
		m.remove(e)
	}
	return nil
}

func (m *memorySpender) Spend(context.Context, string) error { return nil }

func (m *memorySpender) remove(e int32) {
	x := &m.list[e]
	m.list[x.prev].next, m.list[x.next].prev = x.next, x.prev
	delete(m.ids, x.id)
	m.free = append(m.free, e)
}
