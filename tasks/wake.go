package tasks

import (
	"context"
	"errors"
	"log/slog"
)

// Wake implements tool.Tasks: a page is done that the task may wait for.
func (e seam) Wake(ctx context.Context, id string) {
	ctx = context.WithoutCancel(ctx)
	for range attempts {
		again, err := e.wakeRow(ctx, id)
		if err != nil {
			e.log(ctx, slog.LevelError, id, "tasks: cannot wake a task; it looks again by itself", "error", err)
		}
		if !again {
			return
		}
	}
}

func (e *Engine) wakeRow(ctx context.Context, id string) (again bool, err error) {
	row, err := e.store.Get(ctx, id)
	if errors.Is(err, ErrNotFound) { // the call did not become a task
		return false, nil
	}
	if err != nil || row.Status != Working {
		return false, err
	}
	next, release := Next{}, func() {}
	if row.Worker == "" {
		next, release = e.next()
	} else if row.Record, err = e.woken(row); err != nil { // the run may have looked too early
		return false, err
	}
	defer release()
	stored, err := e.store.Put(ctx, nil, row, next)
	switch {
	case errors.Is(err, ErrConflict):
		return true, nil
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err == nil && next.Worker != "":
		e.start(stored)
	}
	return false, err
}

// woken is the record of a row with a note for the run that has it.
func (e *Engine) woken(row Row) ([]byte, error) {
	r, err := e.decode(row)
	if err != nil {
		return nil, err
	}
	w, err := r.openWork()
	if err != nil {
		return nil, err
	}
	w.Woken = true
	if err := r.sealWork(w); err != nil {
		return nil, err
	}
	return r.encode(), nil
}

// Over implements tool.Tasks.
func (e seam) Over(ctx context.Context, id string) (bool, error) {
	row, err := e.store.Get(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && row.Status.Finished(), err
}
