package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type taskCmd struct {
	Get    taskGetCmd    `cmd:"" help:"Show where a task is, and what it asks."`
	Wait   taskWaitCmd   `cmd:"" help:"Wait for a task, and answer what it asks."`
	Cancel taskCancelCmd `cmd:"" help:"Ask the server to end a task."`
}

func (*taskCmd) Help() string {
	return `A task is a call that goes on without the program that made it. elicit call prints its ID.

Examples:

  elicit task get http://localhost:5280/ PUHXSYTA4VBW5M2AGPZ3QKD7RE
  elicit task wait http://localhost:5280/ PUHXSYTA4VBW5M2AGPZ3QKD7RE --answer approve.reason=tested
  elicit task cancel http://localhost:5280/ PUHXSYTA4VBW5M2AGPZ3QKD7RE`
}

// A taskTarget says which task of which server.
type taskTarget struct {
	URL string `arg:"" optional:"" help:"Where the server is: http://localhost:5280/. Left out when a command follows --."`
	ID  string `arg:"" optional:"" help:"The ID of the task."`
}

func (t *taskTarget) id(con *console) (string, error) {
	return con.afterURL(&t.URL, t.ID, "which task? elicit call prints its ID")
}

type taskGetCmd struct {
	taskTarget
	JSON bool `help:"Print what the server tells as JSON."`
	serverFlags
}

func (*taskGetCmd) Help() string {
	return `Example:

  elicit task get http://localhost:5280/ PUHXSYTA4VBW5M2AGPZ3QKD7RE`
}

func (c *taskGetCmd) Run(ctx context.Context, con *console) error {
	return c.taskTarget.with(ctx, con, &c.serverFlags, func(ctx context.Context, session *mcp.ClientSession, id string) error {
		t, err := answer.GetTask(ctx, session, id)
		if err != nil {
			return err
		}
		if c.JSON {
			var buf bytes.Buffer
			if err := json.Indent(&buf, t.Raw, "", "  "); err != nil {
				return err
			}
			fmt.Fprintln(con.out, escapeHidden(buf.Bytes()))
			return nil
		}
		return describeTask(con, t)
	})
}

// with does something with a task.
func (t *taskTarget) with(ctx context.Context, con *console, f *serverFlags, do func(context.Context, *mcp.ClientSession, string) error) error {
	id, err := t.id(con)
	if err != nil {
		return err
	}
	if err := con.oneStdin(f.TokenFile); err != nil {
		return err
	}
	patience := con.patience(ctx, f.Timeout, t.URL)
	defer patience.stop()
	session, err := f.connect(patience.ctx, con, t.URL, &answer.Options{})
	if err != nil {
		return patience.explain(err)
	}
	defer session.Close()
	err = patience.explain(do(patience.ctx, session, id))
	var e *answer.TaskError
	if errors.As(err, &e) {
		err = e.Err // Which task, its caller knows.
	}
	if err != nil {
		return failure(con, "task "+answer.PlainLine(id), nil, err)
	}
	return nil
}

// describeTask prints a task for reading.
func describeTask(con *console, t *answer.Task) error {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(con.out, "%-10s%s\n", name+":", text)
		}
	}
	line("status", con.paint(bold, string(t.Status)))
	line("message", shortText(t.Message))
	line("created", moment(t.Created))
	line("updated", moment(t.Updated))
	if t.TTL > 0 && !t.Created.IsZero() {
		line("expires", moment(t.Created.Add(t.TTL)))
	}
	for _, r := range t.Requests {
		line("asks", fmt.Sprintf("%s: %s", shellWord(r.Key), shortText(r.Params.Message)))
		if r.Params.Mode == "url" {
			line("", "  by a page at "+shortText(r.Params.URL))
			continue
		}
		fields, err := r.Fields()
		if err != nil {
			continue
		}
		for _, f := range fields {
			text := "  " + shellWord(r.Key+"."+f.Name)
			if f.Required {
				text += ", required"
			}
			line("", text)
		}
	}
	switch {
	case t.Result != nil:
		text, err := resultText(t.Result)
		if err != nil {
			return err
		}
		if t.Result.IsError {
			line("error", text)
		} else {
			line("result", text)
		}
	case t.Err != nil:
		line("error", fmt.Sprintf("%d: %s", t.Err.Code, answer.PlainLine(t.Err.Message)))
	}
	return nil
}

// moment is a time, and how far away it is.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	away, text := time.Until(t), "in %v"
	if away < 0 {
		away, text = -away, "%v ago"
	}
	return t.UTC().Format(time.RFC3339) + " (" + fmt.Sprintf(text, away.Round(time.Second)) + ")"
}

// shortText is the beginning of a server's text, on one line.
func shortText(s string) string {
	const most = 300
	s = answer.PlainLine(strings.ToValidUTF8(s[:min(len(s), 4*most)], ""))
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return s
}

type taskWaitCmd struct {
	taskTarget
	answerFlags
	JSON    bool          `help:"Print the whole result as JSON."`
	Timeout time.Duration `default:"0" help:"How long to wait for the task, not counting the time that answering takes; 0 is until it ends."`
	connectFlags
}

func (*taskWaitCmd) Help() string {
	return `Goes on where elicit call was left: it waits for the task to end, asks or answers what is open, and prints the tool's result, with the same exit codes.

Examples:

  elicit task wait http://localhost:5280/ PUHXSYTA4VBW5M2AGPZ3QKD7RE
  elicit task wait http://localhost:5280/ PUHXSYTA4VBW5M2AGPZ3QKD7RE --answer approve.reason=tested`
}

func (c *taskWaitCmd) Run(ctx context.Context, con *console) error {
	id, err := c.id(con)
	if err != nil {
		return err
	}
	if err := con.oneStdin(c.Answers, c.TokenFile); err != nil {
		return err
	}
	call := &calling{con: con, url: c.URL, flags: &c.connectFlags, json: c.JSON, timeout: c.Timeout, known: true, what: "task " + answer.PlainLine(id)}
	return call.run(ctx, &c.answerFlags, func(ctx context.Context, session *mcp.ClientSession, a answer.Answerer) (*mcp.CallToolResult, error) {
		return answer.WaitTask(ctx, session, id, a)
	})
}

type taskCancelCmd struct {
	taskTarget
	serverFlags
}

func (*taskCancelCmd) Help() string {
	return `The server may take its time, or finish the task all the same: the command prints what the task's status is then.

Example:

  elicit task cancel http://localhost:5280/ PUHXSYTA4VBW5M2AGPZ3QKD7RE`
}

func (c *taskCancelCmd) Run(ctx context.Context, con *console) error {
	return c.taskTarget.with(ctx, con, &c.serverFlags, func(ctx context.Context, session *mcp.ClientSession, id string) error {
		if err := answer.CancelTask(ctx, session, id); err != nil {
			return err
		}
		t, err := answer.GetTask(ctx, session, id)
		if err != nil {
			return fmt.Errorf("the server took note, but: %w", err)
		}
		if !t.Status.Ended() {
			con.say("elicit: the server took note, and has not ended the task yet")
		}
		fmt.Fprintln(con.out, t.Status)
		return nil
	})
}

// A calling is a call, or the rest of one, as a command makes it.
type calling struct {
	con     *console
	url     string
	flags   *connectFlags
	json    bool
	timeout time.Duration
	what    string // for messages
	known   bool   // that it is a task

	patience *patience
	shown    string // the last message of a task
}

// run connects, calls, and prints the result.
func (c *calling) run(ctx context.Context, f *answerFlags, call func(context.Context, *mcp.ClientSession, answer.Answerer) (*mcp.CallToolResult, error)) error {
	a, err := f.answerer(c.con)
	if err != nil {
		return err
	}
	c.patience = c.con.patience(ctx, c.timeout, c.url)
	defer c.patience.stop()
	a = c.patience.answerer(a)
	session, err := c.flags.connect(c.patience.ctx, c.con, c.url,
		&answer.Options{Answerer: a, URL: c.con.asks || f.refuses(), Progress: c.patience.progress(c.con), Task: c.task})
	if err != nil {
		return c.patience.explain(err)
	}
	defer session.Close()
	res, err := call(c.patience.ctx, session, a)
	err = c.patience.explain(err)
	c.patience.stop()
	end := finish(c.con, c.what, res, err, c.json)
	var left *answer.TaskError
	if errors.As(err, &left) && left.Left() {
		return &sequel{end, c.left(ctx, session, left.Task.ID)}
	}
	return end
}

// task shows a task that is followed: its id once, so that whoever loses this program can go on, and what the server says of
// it when that is new.
func (c *calling) task(t *answer.Task) {
	if !c.known {
		c.known = true
		c.con.following.Store(true)
		c.con.say(fmt.Sprintf("elicit: %s is task %s now; should this end: %s", c.what, answer.PlainLine(t.ID), c.resume(t.ID)))
	}
	c.con.following.Store(true)
	text := shortText(t.Message)
	if t.Status.Ended() || text == c.shown || text == "" {
		return
	}
	c.shown = text
	c.patience.say(c.con, text)
}

// resume is the command that goes on with a task.
func (c *calling) resume(id string) string {
	words := []string{"elicit", "task", "wait"}
	if c.con.command == nil {
		words = append(words, c.url)
	}
	words = append(words, id)
	if c.flags.TokenEnv != "" {
		words = append(words, "--token-env", c.flags.TokenEnv)
	}
	if c.flags.TokenFile != "" {
		words = append(words, "--token-file", c.flags.TokenFile)
	}
	for _, h := range c.flags.Header { // Its value may be secret.
		name, _, _ := strings.Cut(h, ":")
		words = append(words, "--header", name+": …")
	}
	if c.con.command != nil {
		words = append(append(words, "--"), c.con.command...)
	}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

// left says what can be done with a task that goes on without this program. After Ctrl-C at a terminal it asks first whether it
// should. A server on standard input and output ends with the program.
func (c *calling) left(ctx context.Context, session *mcp.ClientSession, id string) string {
	if context.Cause(ctx) == errInterrupted && c.con.interactive && c.con.command == nil {
		said := c.con.choose(c.con.again, fmt.Sprintf("%s goes on without you. Cancel it, or leave it running? [c/L] ", c.what), "cancel", "leave")
		if said == "cancel" {
			out, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer stop()
			err := answer.CancelTask(out, session, id)
			if err == nil {
				return "the server was asked to cancel it"
			}
			c.con.problem(err)
		}
	}
	return "to go on with it: " + c.resume(id)
}
