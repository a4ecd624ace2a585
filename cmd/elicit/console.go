package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/terminal"
	"golang.org/x/term"
)

// A console is where a command reads and writes.
type console struct {
	in          io.Reader // where a person types
	piped       io.Reader // stdin, once a flag has named it as input
	out, err    io.Writer
	interactive bool                                        // a person is there to be asked
	asks        bool                                        // a person is asked, in one way or another
	command     []string                                    // what follows --: runs the server; nil: there is no --
	terminal    atomic.Pointer[terminal.Terminal]           // takes Ctrl-C for the prompt that waits; nil while nobody can be asked
	open        func(ctx context.Context, url string) error // opens pages; nil: in the person's browser
	keyboard    func() (*os.File, error)                    // the terminal's own input, where stdin is something else; nil: there is none
	following   atomic.Bool                                 // a task is waited for, and at Ctrl-C the person is asked what becomes of it
	again       chan struct{}                               // has room for one: Ctrl-C a second time
	spinner     *spinner                                    // nil where err is no terminal that redraws a line
	colours     bool                                        // out shows colours
}

// newConsole is the console of the process.
func newConsole() *console {
	c := &console{in: os.Stdin, out: os.Stdout, err: os.Stderr, again: make(chan struct{}, 1)}
	person := term.IsTerminal(int(os.Stderr.Fd()))
	c.interactive = person && term.IsTerminal(int(os.Stdin.Fd()))
	if person {
		c.keyboard = openKeyboard
	}
	capable := os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
	if person && capable && os.Getenv("ACCESSIBLE") == "" {
		c.spinner = &spinner{out: os.Stderr, width: func() int {
			width, _, err := term.GetSize(int(os.Stderr.Fd()))
			if err != nil {
				return 80
			}
			return width
		}}
	}
	c.colours = term.IsTerminal(int(os.Stdout.Fd())) && capable && os.Getenv("NO_COLOR") == ""
	return c
}

func openKeyboard() (*os.File, error) {
	if runtime.GOOS == "windows" {
		return os.OpenFile("CONIN$", os.O_RDWR, 0)
	}
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}

// readInput reads a file; "-" is stdin.
func (c *console) readInput(name string) ([]byte, error) {
	const most = 32 << 20
	if name != "-" {
		return os.ReadFile(name)
	}
	c.pipe()
	return io.ReadAll(io.LimitReader(c.piped, most))
}

// pipe takes stdin for input. Who is at the terminal can be asked all the same.
func (c *console) pipe() {
	if c.piped != nil {
		return
	}
	c.piped, c.interactive = c.in, false
	if c.keyboard == nil {
		return
	}
	if keyboard, err := c.keyboard(); err == nil {
		c.in, c.interactive = keyboard, true
	}
}

// log is where everything but results goes.
func (c *console) log() io.Writer {
	if c.spinner != nil {
		return c.spinner
	}
	return c.err
}

// say prints a line for the person. The text may quote a server, which may have very much to say.
func (c *console) say(text string) {
	const most = 16 << 10
	if len(text) > most {
		text = fmt.Sprintf("%s… [%d more bytes]", strings.ToValidUTF8(text[:most], ""), len(text)-most)
	}
	fmt.Fprintln(c.log(), answer.Plain(text))
}

// choose asks the person at the terminal for one of some words, whose beginnings will do. It is the last when the person
// says nothing of the kind, and when over comes before.
func (c *console) choose(over <-chan struct{}, prompt string, words ...string) string {
	fmt.Fprint(c.log(), answer.Plain(prompt))
	said := make(chan string, 1)
	go func() {
		var line []byte
		for b := make([]byte, 1); len(line) < 100; { // No more than the line: the rest is for others.
			if n, err := c.in.Read(b); n == 0 && err != nil || b[0] == '\n' {
				break
			}
			line = append(line, b[0])
		}
		said <- strings.ToLower(strings.TrimSpace(string(line)))
	}()
	select {
	case text := <-said:
		for _, word := range words {
			if text != "" && strings.HasPrefix(word, text) {
				return word
			}
		}
	case <-over:
		fmt.Fprintln(c.log())
	}
	return words[len(words)-1]
}

// problem prints what went wrong, and what may help. The text may quote a server.
func (c *console) problem(err error) {
	text := err.Error()
	if text == "" {
		return
	}
	var status *answer.HTTPError
	if errors.As(err, &status) {
		switch status.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			text += "; give a token it takes by --token-env or --token-file"
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			text += "; is this the address of an MCP server, with its whole path?"
		}
	}
	c.say("elicit: " + text)
}

// Colours, by the numbers that terminals have for them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

// paint colours text that goes to out, where that shows colours.
func (c *console) paint(colour, text string) string {
	if !c.colours || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
