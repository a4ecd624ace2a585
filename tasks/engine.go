package tasks

import (
	"context"
	crand "crypto/rand"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Why a run was interrupted.
var (
	errCancelled = errors.New("tasks: the task was cancelled")
	errLost      = errors.New("tasks: this instance has lost the run")
	errShutdown  = errors.New("tasks: this instance is shutting down")
)

// begin takes a lease and starts the loops: each calls the store by itself, so that one call that hangs delays nothing else.
func (e *Engine) begin() {
	ctx, cancel := context.WithTimeout(e.ctx, e.opts.timing.patience)
	e.join(ctx)
	cancel()
	for _, loop := range []func(){e.keepLease, e.sweep, e.claim, e.purge, e.hear} {
		e.done.Go(loop)
	}
	time.AfterFunc(e.opts.timing.ready, e.serving)
}

// serving lets runs begin: the server has all that is added to it.
func (e *Engine) serving() { e.once.Do(func() { close(e.ready) }) }

// every calls f every d or a little sooner, until the engine stops. Instances that keep in step would have one of them
// always look first.
func (e *Engine) every(d time.Duration, f func()) {
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-time.After(d - rand.N(d/4+1)):
			f()
		}
	}
}

// join takes a lease under a new name. What an earlier one had is others' by now, or will be.
func (e *Engine) join(ctx context.Context) bool {
	worker := crand.Text()
	if err := e.store.Join(ctx, worker, e.opts.timing.lease); err != nil {
		e.log(ctx, slog.LevelError, "", "tasks: cannot take a lease; tasks wait", "error", err)
		return false
	}
	e.mu.Lock()
	e.worker = worker
	e.mu.Unlock()
	e.kick()
	return true
}

// keepLease renews the lease. When it has run out, by the clock of this process or that of the store, all runs are
// interrupted: others may have begun to repeat them. By the clock of this process it begins before the store was asked, so
// it never lasts longer than by the store's.
func (e *Engine) keepLease() {
	t := e.opts.timing
	soon := t.renew / 6 // after a failure
	renewed, wait := time.Now(), t.renew
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-time.After(wait):
		}
		e.mu.Lock()
		worker := e.worker
		e.mu.Unlock()
		began := time.Now()
		wait = soon
		if worker == "" {
			if e.join(e.ctx) {
				renewed, wait = began, t.renew
			}
			continue
		}
		ctx, cancel := context.WithDeadline(e.ctx, renewed.Add(t.lease))
		err := e.store.Renew(ctx, worker, t.lease)
		cancel()
		switch {
		case err == nil:
			renewed, wait = began, t.renew
		case e.ctx.Err() != nil:
		case errors.Is(err, ErrLeaseLost) || time.Since(renewed)+soon >= t.lease:
			e.log(e.ctx, slog.LevelError, "", "tasks: the lease of this instance is lost; its runs are interrupted, and will be repeated", "error", err)
			e.mu.Lock()
			e.worker = ""
			e.mu.Unlock()
			e.interrupt(errLost)
			wait = 0
		default:
			e.complain("renew the lease of this instance", err)
		}
	}
}

// interrupt cancels all runs.
func (e *Engine) interrupt(cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for r := range e.runs {
		r.cancel(cause)
	}
}

// sweep makes rows due whose instance is gone, and looks after those of this one.
func (e *Engine) sweep() {
	e.every(e.opts.timing.sweep, func() {
		n, err := e.store.Sweep(e.ctx)
		if err != nil {
			e.complain("look for tasks of instances that are gone", err)
			return
		}
		if n > 0 {
			e.log(e.ctx, slog.LevelWarn, "", "tasks: runs of an instance that is gone will be repeated", "runs", n)
		}
		e.compare()
		e.subs.look("")
		e.kick() // rows become due by time, too
	})
}

// compare finds runs that have lost their row, and rows that are ours though nobody runs them.
func (e *Engine) compare() {
	e.mu.Lock()
	worker := e.worker
	here := map[Fence]*run{}
	for r := range e.runs {
		here[r.fence] = r
	}
	e.mu.Unlock()
	if worker == "" {
		return
	}
	rows, err := e.store.Running(e.ctx, worker)
	if err != nil {
		e.complain("compare its runs", err)
		return
	}
	var orphans []Fence
	for _, row := range rows {
		if _, ok := here[row.Fence]; !ok && row.For > e.opts.timing.orphan && !e.knows(row.Fence) {
			orphans = append(orphans, row.Fence)
		}
		delete(here, row.Fence)
	}
	for _, r := range here { // also those of a lease before
		e.lookAt(r)
	}
	if orphans != nil {
		e.log(e.ctx, slog.LevelWarn, "", "tasks: claims whose replies were lost are given back", "runs", len(orphans))
		if err := e.store.Release(e.ctx, orphans...); err != nil {
			e.complain("give claims back", err)
		}
	}
}

// knows reports whether a row is run here, or is one whose creation had no reply.
func (e *Engine) knows(f Fence) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for r := range e.runs {
		if r.fence == f {
			return true
		}
	}
	return e.lost[f.ID] > 0
}

// lookAt interrupts a run that has lost its row.
func (e *Engine) lookAt(r *run) {
	row, err := e.store.Get(e.ctx, r.fence.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		r.cancel(errLost) // it has expired
	case err != nil:
	case row.Status == Cancelled:
		r.cancel(errCancelled)
	case row.Fence() != r.fence:
		r.cancel(errLost)
	}
}

// claim starts what is due, as far as there are slots.
func (e *Engine) claim() {
	const most = 64 // at a time
	select {
	case <-e.ctx.Done():
	case <-e.ready:
	}
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-e.wake:
		}
		for {
			worker, n := e.reserve(most)
			if n == 0 {
				break
			}
			rows, err := e.store.Claim(e.ctx, worker, n)
			if err != nil {
				e.release(n)
				e.complain("claim tasks", err)
				break
			}
			for _, row := range rows {
				e.start(row)
			}
			e.release(n)
			if len(rows) < n {
				break
			}
		}
	}
}

// reserve takes up to n free slots; release gives them back when their runs have started, or will not.
func (e *Engine) reserve(n int) (worker string, got int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.worker == "" || e.closing {
		return "", 0
	}
	n = max(min(n, e.opts.Slots-len(e.runs)-e.reserved), 0)
	e.reserved += n
	return e.worker, n
}

func (e *Engine) release(n int) {
	e.mu.Lock()
	e.reserved -= n
	e.rest()
	e.mu.Unlock()
}

// hold is reserve for a run that has begun already, whether there is a free slot or not. Unless the name is empty, release(1)
// ends it.
func (e *Engine) hold() (worker string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.worker == "" || e.closing {
		return ""
	}
	e.reserved++
	return e.worker
}

// next is where a row goes that wants a run: to this instance, if it has a free slot. When the row was written, the caller
// starts it if it has the worker's name, and calls release.
func (e *Engine) next() (next Next, release func()) {
	worker, n := e.reserve(1)
	if n == 0 {
		return Next{Due: true}, func() {}
	}
	return Next{Worker: worker}, func() { e.release(1) }
}

// kick lets claim look.
func (e *Engine) kick() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// purge removes expired rows, a few at a time.
func (e *Engine) purge() {
	const few = 200
	e.every(e.opts.timing.purge, func() {
		for e.ctx.Err() == nil {
			n, err := e.store.Purge(e.ctx, few)
			if err != nil {
				e.complain("remove expired tasks", err)
				return
			}
			if n < few {
				return
			}
			select {
			case <-e.ctx.Done():
			case <-time.After(50 * time.Millisecond): // others want the store too
			}
		}
	})
}

// hear follows the store's hints.
func (e *Engine) hear() {
	for {
		select {
		case <-e.ctx.Done():
			return
		case h, ok := <-e.store.Hints():
			if !ok {
				return
			}
			if h.Due || h.ID == "" {
				e.kick()
			}
			e.subs.look(h.ID)
			if r := e.runOf(h.ID); r != nil && r.quiet() {
				e.lookAt(r)
			}
		}
	}
}

// runOf is the run of a task here, or nil.
func (e *Engine) runOf(id string) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	for r := range e.runs {
		if r.fence.ID == id {
			return r
		}
	}
	return nil
}

// complain logs that the store failed in the background, where it will be tried again: of each kind once in a while.
func (e *Engine) complain(what string, err error) {
	const often = 10 * time.Second
	e.mu.Lock()
	again := time.Since(e.complained[what]) < often
	if !again {
		e.complained[what] = time.Now()
	}
	e.mu.Unlock()
	if e.ctx.Err() == nil && !again {
		e.log(e.ctx, slog.LevelError, "", "tasks: cannot "+what+"; trying again", "error", err)
	}
}
