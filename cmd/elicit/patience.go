package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience bounds how long a server may take, shows that it is waited for, and stops both while a person answers.
type patience struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	limit   time.Duration
	spinner *spinner
	waiting string // for what

	mu     sync.Mutex
	timer  *time.Timer // nil: no limit
	paused bool
}

func (c *console) patience(ctx context.Context, limit time.Duration, server string) *patience {
	if c.command != nil {
		server = strings.Join(c.command, " ")
	}
	p := &patience{limit: limit, spinner: c.spinner, waiting: "waiting for " + answer.PlainLine(server)}
	p.spinner.start(p.waiting)
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	if limit > 0 {
		p.timer = time.AfterFunc(limit, func() {
			p.cancel(fmt.Errorf("the server did not finish within %v: give it longer with --timeout", limit))
		})
	}
	return p
}

// stop ends the waiting. What is printed after it has the terminal to itself.
func (p *patience) stop() {
	p.pause(true)
	p.cancel(nil)
}

func (p *patience) pause(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = on
	if on {
		p.spinner.stop()
	} else {
		p.spinner.start(p.waiting)
	}
	switch {
	case p.timer == nil:
	case on:
		p.timer.Stop()
	default:
		p.timer.Reset(p.limit)
	}
}

// progress tells the person how far a call has come: beside the spinner, else line by line.
func (p *patience) progress(con *console) func(*mcp.ProgressNotificationParams) {
	if !con.interactive {
		return nil
	}
	return func(n *mcp.ProgressNotificationParams) {
		text := fmt.Sprintf("%g", n.Progress)
		if n.Total > 0 {
			text = fmt.Sprintf("%.0f%%", 100*n.Progress/n.Total)
		}
		text = answer.PlainLine(text + " " + n.Message)
		if p.spinner == nil {
			con.say("elicit: " + text)
			return
		}
		p.show(text)
	}
}

// show shows how far the server has come, beside the spinner.
func (p *patience) show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.paused {
		p.spinner.start(text + ", " + p.waiting)
	}
}

// say tells what the server says of its work: beside the spinner, else on a line.
func (p *patience) say(con *console, text string) {
	if p.spinner == nil {
		con.say("elicit: " + text)
		return
	}
	p.show(text)
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
	var task *answer.TaskError // Says so itself.
	if err == nil || p.ctx.Err() == nil || errors.As(err, &task) {
		return err
	}
	return context.Cause(p.ctx)
}
