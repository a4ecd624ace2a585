package terminal

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/browser"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/term"
)

// A Mode is a way to ask.
type Mode int

const (
	Auto       Mode = iota // Screen where the terminal can, else Plain; Accessible where ACCESSIBLE is set
	Screen                 // the full screen, redrawn with every key
	Plain                  // line by line
	Accessible             // line by line, in words, for screen readers
)

// Options configures [New]. A nil *Options and the zero value work.
type Options struct {
	// In is where the person types; nil is os.Stdin.
	In io.Reader
	// Out is where questions are shown; nil is os.Stderr, so that standard output has a program's results alone.
	Out io.Writer
	// Mode is how to ask. The zero value, Auto, looks at In, Out and the environment.
	Mode Mode
	// Open opens a page after the person's yes. Nil is [browser.Open]. The URL has passed [answer.Link].
	Open func(ctx context.Context, url string) error
	// OwnInterrupts leaves Ctrl-C at a line prompt to the caller, who passes it on by [Terminal.Interrupt]. By default a
	// prompt that waits takes os.Interrupt for a cancel itself.
	OwnInterrupts bool
}

// ErrNoTerminal is what answering fails with where there is no terminal to ask at.
var ErrNoTerminal = errors.New("there is no terminal to ask at")

// A Terminal asks a person. It is an [answer.Answerer]; questions of calls that run at the same time come one after another.
type Terminal struct {
	in    io.Reader
	out   io.Writer
	mode  Mode
	open  func(ctx context.Context, url string) error
	turn  chan struct{} // holds a token while nobody is being asked
	lines *lineReader
}

// New makes a Terminal.
func New(opts *Options) *Terminal {
	var o Options
	if opts != nil {
		o = *opts
	}
	t := &Terminal{in: o.In, out: o.Out, mode: o.Mode, open: o.Open, turn: make(chan struct{}, 1)}
	if t.in == nil {
		t.in = os.Stdin
	}
	if t.out == nil {
		t.out = os.Stderr
	}
	if t.open == nil {
		t.open = browser.Open
	}
	if t.mode == Auto {
		t.mode = detect(t.in, t.out)
	}
	t.lines = newLineReader(t.in, !o.OwnInterrupts)
	t.turn <- struct{}{}
	return t
}

// noTerminal is the mode where nobody can be asked.
const noTerminal Mode = -1

// detect finds the mode that suits.
func detect(in io.Reader, out io.Writer) Mode {
	switch name := os.Getenv("TERM"); {
	case !isTerminal(in) || !isTerminal(out):
		return noTerminal
	case os.Getenv("ACCESSIBLE") != "":
		return Accessible
	case name == "" || name == "dumb":
		return Plain
	}
	return Screen
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Interrupt cancels the line prompt that waits, as Ctrl-C would, and reports whether one did. It is for programs that set
// [Options].OwnInterrupts.
func (t *Terminal) Interrupt() bool { return t.lines.interrupt() }

// Answer implements [answer.Answerer]. Its errors are [ErrNoTerminal], a form that cannot be shown, and the end of ctx.
func (t *Terminal) Answer(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
	return t.Ask(ctx, r, nil, "")
}

// Ask is Answer that starts from the values given, by field, where a script has answered a part of the form, and from a note
// of the program's own that is shown above it, such as why that part did not do. Both may be empty.
func (t *Terminal) Ask(ctx context.Context, r *answer.Request, given map[string]any, note string) (*mcp.ElicitResult, error) {
	if t.mode == noTerminal {
		return nil, ErrNoTerminal
	}
	select {
	case <-t.turn:
		defer func() { t.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	q := &question{Request: r, note: answer.Plain(note), link: r.Link()}
	if !q.isURL() {
		var err error
		if q.sheet, err = newSheet(r, given); err != nil {
			return nil, err
		}
	}
	var action string
	var err error
	if t.mode == Screen {
		action, err = t.askOnScreen(ctx, q)
	} else {
		action, err = (&prompter{t: t, q: q, words: t.mode == Accessible}).ask(ctx)
	}
	if err != nil {
		return nil, err
	}
	res := &mcp.ElicitResult{Action: action}
	if action == answer.ActionAccept && !q.isURL() {
		res.Content = q.sheet.content()
	}
	return res, nil
}

// A question is what is asked, ready to be shown.
type question struct {
	*answer.Request
	sheet *sheet // of a form
	link  answer.Link
	note  string
}

func (q *question) isURL() bool { return q.Params.Mode == "url" }

// purpose says what the question is asked for: "asks, for its tool ShipOrder:".
func (q *question) purpose() string {
	if q.Tool == "" {
		return "asks:"
	}
	return "asks, for its tool " + answer.PlainLine(q.Tool) + ":"
}
