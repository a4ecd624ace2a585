package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience bounds how long a server may take, and stops counting while a person answers.
type patience struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration

	mu    sync.Mutex
	timer *time.Timer // nil: no limit
}

func newPatience(ctx context.Context, limit time.Duration) *patience {
	p := &patience{limit: limit}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	if limit > 0 {
		p.timer = time.AfterFunc(limit, func() {
			p.cancel(fmt.Errorf("the server did not finish within %v: give it longer with --timeout", limit))
		})
	}
	return p
}

func (p *patience) stop() {
	p.pause(true)
	p.cancel(nil)
}

func (p *patience) pause(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.timer == nil:
	case on:
		p.timer.Stop()
	default:
		p.timer.Reset(p.limit)
	}
}

// answerer is a, with the clock stopped while it answers.
func (p *patience) answerer(a answer.Answerer) answer.Answerer {
	return answer.AnswererFunc(func(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		p.pause(true)
		defer p.pause(false)
		return a.Answer(ctx, r)
	})
}

// explain says why a call ended, when the reason was ours.
func (p *patience) explain(err error) error {
	if err == nil || p.ctx.Err() == nil {
		return err
	}
	return context.Cause(p.ctx)
}
