package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/answer/browser"
	"github.com/elicit-go/elicit/answer/terminal"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerFlags are the flags that answer questions.
type answerFlags struct {
	Answer  []string `sep:"none" placeholder:"KEY.FIELD=VALUE" help:"Answer a field. Given twice, the field is a list. With an empty key (.FIELD=VALUE) it answers what an older server asks without a key."`
	Accept  []string `sep:"none" placeholder:"KEY" help:"Accept a question without values but those of --answer."`
	Decline []string `sep:"none" placeholder:"KEY" help:"Say no to a question."`
	Cancel  []string `sep:"none" placeholder:"KEY" help:"Cancel a question, choosing nothing."`
	Answers string   `placeholder:"FILE" complete:"files" help:"Answers in JSON: {\"KEY\": {\"FIELD\": VALUE}, \"KEY\": \"decline\"}; - is stdin."`

	Terminal   bool `help:"Ask at the terminal what no flag answers; the default where there is one."`
	Browser    bool `aliases:"web" help:"Ask on a page in the browser, served on this machine for one answer."`
	Accessible bool `help:"Ask at the terminal line by line, for screen readers; so does the environment variable ACCESSIBLE."`
}

// answerer answers by the flags, and asks at the terminal what they leave open.
func (f *answerFlags) answerer(con *console) (answer.Answerer, error) {
	flags := &answer.Flags{Answers: f.Answer, Accept: f.Accept, Decline: f.Decline, Cancel: f.Cancel}
	if f.Answers != "" {
		data, err := con.readInput(f.Answers)
		if err != nil {
			return nil, usage("--answers: %w", err)
		}
		if flags.Script, err = answer.ParseScript(data); err != nil {
			return nil, usage("--answers: %w", err)
		}
	}
	if err := flags.Check(); err != nil {
		return nil, usage("%w", err)
	}
	person, err := con.askWith(f.Browser, f.Terminal, f.Accessible)
	if err != nil {
		return nil, err
	}
	if person == nil {
		return answer.AnswererFunc(func(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
			res, err := flags.Answer(ctx, r)
			if stray := f.stray(r.Asked); stray != "" && errors.As(err, new(*answer.MissingError)) {
				err = fmt.Errorf("%w (%s names none of the questions asked so far: it begins with the key of a question, not with the name of a tool)", err, stray)
			}
			return res, err
		}), nil
	}
	con.asks = true
	return answer.AnswererFunc(func(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		res, err := flags.Answer(ctx, r)
		var missing *answer.MissingError
		var repeated *answer.RepeatedError
		var value *answer.ValueError
		switch {
		case errors.As(err, &missing):
			return con.ask(ctx, person, r, missing.Given, "")
		case errors.As(err, &repeated):
			return con.ask(ctx, person, r, nil, "")
		case errors.As(err, &value):
			return con.ask(ctx, person, r, value.Given, value.Error())
		}
		return res, err
	}), nil
}

// refuses reports whether a flag refuses a question, which needs nobody to open its page.
func (f *answerFlags) refuses() bool { return len(f.Decline)+len(f.Cancel) > 0 }

// stray is the first flag that answers none of these questions, without its value; "" where there is none.
func (f *answerFlags) stray(asked []string) string {
	for _, a := range f.Answer {
		name, _, _ := strings.Cut(a, "=")
		if !slices.ContainsFunc(asked, func(key string) bool { return strings.HasPrefix(name, key+".") }) {
			return "--answer " + name
		}
	}
	for flag, keys := range map[string][]string{"accept": f.Accept, "decline": f.Decline, "cancel": f.Cancel} {
		for _, key := range keys {
			if !slices.Contains(asked, key) {
				return "--" + flag + " " + key
			}
		}
	}
	return ""
}

// A person answers what the flags leave open, going on from the values given and told the note.
type person interface {
	Ask(ctx context.Context, r *answer.Request, given map[string]any, note string) (*mcp.ElicitResult, error)
}

// errLeftOpen is the person going away from a question of a task without an answer.
var errLeftOpen = errors.New("it was left open")

// ask asks the person. A question of a task can be left for later: whoever goes away from it may mean that.
func (c *console) ask(ctx context.Context, p person, r *answer.Request, given map[string]any, note string) (*mcp.ElicitResult, error) {
	res, err := p.Ask(ctx, r, given, note)
	if err != nil || res.Action != answer.ActionCancel || r.TaskID == "" || !c.interactive {
		return res, err
	}
	if c.choose(ctx.Done(), "Cancel the question for good, or leave it open for later? [c/L] ", "cancel", "leave") == "leave" {
		return nil, errLeftOpen
	}
	return res, nil
}

// askWith is the person to ask, nil where there is nobody.
func (c *console) askWith(inBrowser, atTerminal, accessible bool) (person, error) {
	switch {
	case inBrowser && atTerminal:
		return nil, usage("--browser and --terminal exclude each other")
	case inBrowser:
		return browser.New(&browser.Options{Out: c.log(), Open: c.open}), nil
	case !c.interactive && atTerminal:
		return nil, usage("--terminal: standard input or standard error is no terminal")
	case !c.interactive:
		return nil, nil
	}
	if accessible {
		c.spinner = nil
	}
	mode := terminal.Auto
	if _, ok := c.in.(*os.File); !ok {
		mode = terminal.Plain
	}
	if accessible {
		mode = terminal.Accessible
	}
	t := terminal.New(&terminal.Options{In: c.in, Out: c.err, Mode: mode, Open: c.open, OwnInterrupts: true})
	c.terminal.Store(t)
	return onScreen{t, c}, nil
}

// onScreen has the terminal to itself while it asks.
type onScreen struct {
	*terminal.Terminal
	con *console
}

func (s onScreen) Ask(ctx context.Context, r *answer.Request, given map[string]any, note string) (*mcp.ElicitResult, error) {
	defer s.con.spinner.hold()()
	return s.Terminal.Ask(ctx, r, given, note)
}
