package tasks

import "time"

// Fast makes everything happen sooner.
func Fast(o Options) Options {
	o.timing = timing{lease: 600 * time.Millisecond, renew: 100 * time.Millisecond, sweep: 50 * time.Millisecond, orphan: 300 * time.Millisecond,
		backoff: 10 * time.Millisecond, purge: 20 * time.Millisecond, status: 10 * time.Millisecond, patience: 500 * time.Millisecond, ready: time.Minute}
	if o.Grace == 0 {
		o.Grace = 50 * time.Millisecond
	}
	return o
}

// Runs is how many runs an instance has.
func (e *Engine) Runs() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs)
}

// Closing reports whether Shutdown was called.
func (e *Engine) Closing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closing
}

// Listened is how many tasks streams look at.
func (e *Engine) Listened() int {
	e.subs.mu.Lock()
	defer e.subs.mu.Unlock()
	return len(e.subs.byTask)
}
