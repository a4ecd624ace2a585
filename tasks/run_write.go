package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a run writes of itself to the store, under its fence.

// put writes the row as change makes it. It goes on until that is done, or the row is not this run's any more.
func (r *run) put(change func(*Row) (Next, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.putLocked(change)
}

func (r *run) putLocked(change func(*Row) (Next, error)) error {
	wait := 20 * time.Millisecond
	for {
		row := r.row
		if r.rec == nil { // it does not open
			r.rec = &record{}
		}
		before := *r.rec
		next, err := change(&row)
		if err != nil {
			*r.rec = before
			return err
		}
		if r.rec.id != "" {
			row.Record = r.rec.encode()
		}
		stored, err := r.e.store.Put(r.e.ctx, &r.fence, row, next)
		switch {
		case err == nil:
			r.row, r.wrote = stored, time.Now()
			r.e.subs.look(row.ID)
			return nil
		case errors.Is(err, ErrConflict):
			err = r.reread()
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, ErrFenced) || errors.Is(err, ErrNotFound) || r.e.ctx.Err() != nil:
			*r.rec = before
			r.cancel(errLost)
			r.e.subs.look(row.ID)
			return err
		}
		r.e.complain("write a task", err)
		*r.rec = before
		select {
		case <-r.e.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, time.Second)
	}
}

// reread reads the row again, which someone else has written. The caller holds r.mu.
func (r *run) reread() error {
	row, err := r.e.store.Get(r.e.ctx, r.fence.ID)
	if err != nil {
		return err
	}
	if row.Fence() != r.fence {
		return ErrFenced
	}
	rec, err := r.e.decode(row)
	if err != nil {
		return err
	}
	r.row, r.rec = row, rec
	return nil
}

// step stores the result of a step.
func (r *run) step(ctx context.Context, name string, result []byte) error {
	if len(result) > r.e.opts.MaxResult {
		return fmt.Errorf("tasks: the result of step %q has %d bytes, over Options.MaxResult (%d): keep less, or an id of something stored", name, len(result), r.e.opts.MaxResult)
	}
	sealed, err := r.rec.seal("step:"+name, result)
	if err != nil {
		return err
	}
	wait := 20 * time.Millisecond
	for {
		err := r.e.store.PutStep(ctx, r.fence, Step{Name: name, Result: sealed})
		switch {
		case err == nil:
			r.mu.Lock()
			r.stored[name] = true
			r.mu.Unlock()
			return nil
		case errors.Is(err, ErrFenced), errors.Is(err, ErrNotFound):
			r.cancel(errLost)
			return fmt.Errorf("tasks: step %q of a run that has lost its task: %w", name, err)
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, ErrUnavailable): // such as a name that the store cannot have: it would fail for ever
			r.e.complain("store the result of a step", err)
			return fmt.Errorf("tasks: the result of step %q cannot be stored", name)
		}
		r.e.complain("store the result of a step", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, time.Second)
	}
}

// status writes what the handler says of its work, the last of it once a second.
func (r *run) status(_ context.Context, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.message = message
	if r.writing || r.handed {
		return
	}
	r.writing = true
	time.AfterFunc(max(0, r.e.opts.timing.status-time.Since(r.wrote)), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.writing = false
		if r.handed || r.ctx.Err() != nil || r.row.Status != Working {
			return
		}
		_ = r.putLocked(func(*Row) (Next, error) { // if not, the run is lost anyway
			w, err := r.rec.openWork()
			if err != nil {
				return Next{}, err
			}
			w.Message = r.message
			return Next{}, r.rec.sealWork(w)
		})
	})
}

// quiet reports whether the run has not written for a while, so that a hint is of somebody else's write, such as a
// cancellation. What is missed in a run that writes, compare finds.
func (r *run) quiet() bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	return time.Since(r.wrote) > 100*time.Millisecond
}
