package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/form/html"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configures [New]. A nil *Options and the zero value work.
type Options struct {
	// Open opens an address in the person's browser. Nil is [Open].
	Open func(ctx context.Context, url string) error
	// Out is told where the page is, for people whose browser does not open by itself. Nil is os.Stderr.
	Out io.Writer
	// Timeout is how long a page waits for an answer before it counts as cancelled. 0 is an hour.
	Timeout time.Duration
	// Closed is how long a page that was open may be gone before it counts as closed. 0 is 3 s.
	Closed time.Duration
}

// A Browser asks a person on a page. It is an [answer.Answerer]; questions of calls that run at the same time come one after
// another.
type Browser struct {
	o    Options
	turn chan struct{} // holds a token while nobody is being asked
	away away          // while a page that was agreed to is not completed
}

// New makes a Browser.
func New(opts *Options) *Browser {
	b := &Browser{turn: make(chan struct{}, 1)}
	if opts != nil {
		b.o = *opts
	}
	if b.o.Open == nil {
		b.o.Open = Open
	}
	if b.o.Out == nil {
		b.o.Out = os.Stderr
	}
	if b.o.Timeout <= 0 {
		b.o.Timeout = time.Hour
	}
	if b.o.Closed <= 0 {
		b.o.Closed = 3 * time.Second
	}
	b.turn <- struct{}{}
	return b
}

// Answer implements [answer.Answerer]. Its errors are a form that cannot be shown, a machine without a free port, and the end
// of ctx.
func (b *Browser) Answer(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
	return b.Ask(ctx, r, nil, "")
}

// Ask is Answer that starts from the values given, by field, where a script has answered a part of the form, and from a note
// of the program's own that is shown above it, such as why that part did not do. Both may be empty.
func (b *Browser) Ask(ctx context.Context, r *answer.Request, given map[string]any, note string) (*mcp.ElicitResult, error) {
	select {
	case <-b.turn:
		defer func() { b.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if r.Params.Mode == "url" && r.Waiting {
		return b.wait(ctx, r)
	}
	b.away.over()
	p := &page{asked: r, note: answer.Plain(note), link: r.Link(), closed: b.o.Closed, done: make(chan outcome, 1), pressed: make(chan string, 1)}
	if r.Params.Mode != "url" {
		f, err := r.Form()
		if err != nil {
			return nil, err
		}
		p.form = f
		p.values = r.Start(f, given)
		if given != nil || r.Previous != nil {
			content, _ := json.Marshal(p.values)
			p.problems = f.Validate(content)
		}
		for _, prop := range f.Fields() {
			if prop.Credential != "" {
				p.credentials = append(p.credentials, fmt.Sprintf("%s (%s)", prop.Title, answer.PlainLine(prop.Credential)))
			}
		}
	}
	got, stop, err := b.serve(ctx, p)
	if err != nil {
		return nil, err
	}
	if got.action == answer.ActionAccept && r.Params.Mode == "url" {
		b.openPage(ctx, p.link)
		b.away.begin(ctx, p, stop)
	} else {
		stop()
	}
	res := &mcp.ElicitResult{Action: got.action}
	if got.action == answer.ActionAccept && p.form != nil {
		res.Content = map[string]any{}
		for name, v := range html.Values(got.content) {
			res.Content[name] = v
		}
	}
	return res, nil
}

func (b *Browser) say(text string) { _, _ = io.WriteString(b.o.Out, answer.Plain(text)+"\n") }

// An outcome is what a page ended with.
type outcome struct {
	action  string
	content []byte
}

// serve shows p until it is answered or closed. What it returns ends the server, which still has the last page to send; with an
// error, it has ended.
func (b *Browser) serve(ctx context.Context, p *page) (got outcome, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		if listener, err = net.Listen("tcp", "[::1]:0"); err != nil {
			return outcome{}, nil, fmt.Errorf("no free port on this machine to show the page on: %w", err)
		}
	}
	p.host = listener.Addr().String()
	p.opened, p.path = newPath(), newPath()
	alive, end := context.WithCancel(ctx)
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return alive },
	}
	served := make(chan struct{})
	go func() {
		_ = server.Serve(listener)
		close(served)
	}()
	stop = func() {
		// The held connection, which never ends by itself, is ended.
		end()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(limit) != nil {
			_ = server.Close()
		}
		<-served
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()

	url := "http://" + p.host + p.opened
	if err := b.o.Open(ctx, url); err != nil {
		b.say("No browser could be opened here (" + err.Error() + "). Answer at " + url)
	} else {
		b.say("Answer in your browser. If no page appears: " + url)
	}
	timeout := time.NewTimer(b.o.Timeout)
	defer timeout.Stop()
	watch := time.NewTicker(p.closed / 8)
	defer watch.Stop()
	for {
		select {
		case got := <-p.done:
			return got, stop, nil
		case <-watch.C:
			if p.isClosed() {
				p.finish(outcome{action: answer.ActionCancel})
			}
		case <-timeout.C:
			p.finish(outcome{action: answer.ActionCancel})
		case <-ctx.Done():
			return outcome{}, stop, context.Cause(ctx)
		}
	}
}
