package elicit

import (
	"container/list"
	"context"
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

// memorySpender is the Spender of one process. Over its bound it forgets what it has known longest.
type memorySpender struct {
	max   int
	mu    sync.Mutex
	ids   map[string]*list.Element
	order *list.List // of *spent, oldest first
}

type spent struct {
	id    string
	until time.Time
}

func newMemorySpender(max int) *memorySpender {
	return &memorySpender{max: max, ids: map[string]*list.Element{}, order: list.New()}
}

func (m *memorySpender) Claim(_ context.Context, id string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.ids[id]; taken {
		return false, nil
	}
	now := time.Now()
	for e := m.order.Front(); e != nil && (m.order.Len() >= m.max || e.Value.(*spent).until.Before(now)); e = m.order.Front() {
		m.remove(e)
	}
	m.ids[id] = m.order.PushBack(&spent{id, until})
	return true, nil
}

func (m *memorySpender) Release(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.ids[id]; ok {
		m.remove(e)
	}
	return nil
}

func (m *memorySpender) Spend(context.Context, string) error { return nil }

func (m *memorySpender) remove(e *list.Element) {
	delete(m.ids, e.Value.(*spent).id)
	m.order.Remove(e)
}
