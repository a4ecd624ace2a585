package browser

import (
	"context"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pauses before a call is tried again whose page is not completed: the first, and what they grow to.
const (
	firstPause = 2 * time.Second
	lastPause  = 30 * time.Second
)

// idle is how long the page that asked stays without anybody waiting: its call has ended then, and nobody has said so.
const idle = 10 * time.Minute

// An away is what stays of a question whose page was agreed to, until its call goes on: the page that asked, where the person
// can have the call tried at once, open the page again, or stop.
type away struct {
	pause   time.Duration // before the next try
	pressed <-chan string // buttons
	page    *page         // nil while nobody is away
	end     func()        // ends the server of the page
	idle    *time.Timer
}

// begin leaves p to the person. It ends with ctx.
func (a *away) begin(ctx context.Context, p *page, stop func()) {
	done := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		stop()
		close(done)
	})
	*a = away{pause: firstPause, pressed: p.pressed, page: p, idle: time.AfterFunc(idle, stop), end: func() {
		if release() {
			stop()
		} else {
			<-done
		}
	}}
}

// over takes the page away.
func (a *away) over() {
	if a.page != nil {
		a.idle.Stop()
		a.end()
	}
	*a = away{pause: firstPause}
}

// wait lets some time pass for a page that is open and not completed, as long as the person does not want it otherwise.
func (b *Browser) wait(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
	a := &b.away
	if a.pause == 0 {
		a.pause = firstPause
	}
	if a.pause == firstPause {
		b.say("Waiting for the page to be completed. Try again, or stop, where you were asked; or interrupt.")
	}
	if a.idle != nil {
		a.idle.Reset(idle)
	}
	timer := time.NewTimer(a.pause)
	defer timer.Stop()
	a.pause = min(a.pause*3/2, lastPause)
	for {
		select {
		case <-timer.C:
			return &mcp.ElicitResult{Action: answer.ActionAccept}, nil
		case button := <-a.pressed:
			switch button {
			case "retry":
				return &mcp.ElicitResult{Action: answer.ActionAccept}, nil
			case "stop":
				a.over()
				return &mcp.ElicitResult{Action: answer.ActionCancel}, nil
			case "open":
				b.openPage(ctx, r.Link())
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// openPage opens a page that was agreed to, or says where it is.
func (b *Browser) openPage(ctx context.Context, l answer.Link) {
	if l.Refused != nil {
		return
	}
	if err := b.o.Open(ctx, l.Opened()); err != nil {
		b.say("The page could not be opened here (" + err.Error() + "). Open it yourself: " + l.String())
	}
}
