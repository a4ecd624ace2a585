package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A prompter asks the person at the terminal, line by line. It prints to stderr, so that stdout has the result alone.
// Everything a server wrote is printed without control characters, and its message is set off by a bar, so that it
// cannot pass for the program's own words.
type prompter struct {
	con   *console
	lines chan lineOrError
	want  chan struct{} // asks for the next line
	open  bool          // a line has been asked for and not come yet
}

type lineOrError struct {
	line string
	err  error
}

// errGone is the person going away from a question: Ctrl-C or the end of the input.
var errGone = errors.New("gone")

func newPrompter(con *console) *prompter {
	p := &prompter{con: con, lines: make(chan lineOrError), want: make(chan struct{})}
	go func() {
		r := bufio.NewReader(con.in)
		for range p.want {
			line, err := r.ReadString('\n')
			if line != "" && errors.Is(err, io.EOF) {
				err = nil // The last line has no end.
			}
			p.lines <- lineOrError{strings.TrimRight(line, "\r\n"), err}
		}
	}()
	return p
}

// prompting counts the prompts that wait for a person: an interrupt is theirs then.
var prompting atomic.Int32

// promptTakes hands an interrupt to the prompt that waits, if one does.
func (c *console) promptTakes() bool {
	if prompting.Load() == 0 {
		return false
	}
	select {
	case c.interrupts <- struct{}{}:
	default:
	}
	return true
}

func (p *prompter) readLine(ctx context.Context, prompt string) (string, error) {
	select {
	case <-p.con.interrupts: // Came too late for the last prompt.
	default:
	}
	fmt.Fprint(p.con.err, prompt)
	prompting.Add(1)
	defer prompting.Add(-1)
	if !p.open {
		p.want <- struct{}{}
		p.open = true
	}
	select {
	case l := <-p.lines:
		p.open = false
		if l.err != nil {
			fmt.Fprintln(p.con.err)
			return "", errGone
		}
		return l.line, nil
	case <-p.con.interrupts:
		fmt.Fprintln(p.con.err)
		return "", errGone
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// choose reads one of the words, or its first letter. Nothing is preselected.
func (p *prompter) choose(ctx context.Context, lead string, words ...string) (string, error) {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = "[" + w[:1] + "]" + w[1:]
	}
	prompt := lead + strings.Join(shown[:len(shown)-1], ", ") + " or " + shown[len(shown)-1] + "? "
	for {
		line, err := p.readLine(ctx, prompt)
		if err != nil {
			return "", err
		}
		line = strings.ToLower(strings.TrimSpace(line))
		for _, w := range words {
			if line != "" && (line == w || line == w[:1]) {
				return w, nil
			}
		}
	}
}

// ask puts a question to the person, who starts from the values given.
func (p *prompter) ask(ctx context.Context, r *answer.Request, given map[string]any) (*mcp.ElicitResult, error) {
	res, err := p.answer(ctx, r, given)
	if errors.Is(err, errGone) {
		p.con.say("Cancelled.")
		return &mcp.ElicitResult{Action: answer.ActionCancel}, nil
	}
	return res, err
}

func (p *prompter) answer(ctx context.Context, r *answer.Request, given map[string]any) (*mcp.ElicitResult, error) {
	p.introduce(r)
	if r.Params.Mode == "url" {
		return p.decideURL(ctx, r)
	}
	fields, err := r.Fields()
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		word, err := p.choose(ctx, "", "accept", "decline", "cancel")
		return &mcp.ElicitResult{Action: word, Content: map[string]any{}}, err
	}
	word, err := p.choose(ctx, fmt.Sprintf("Fill in %s: ", count(len(fields), "field")), "fill", "decline", "cancel")
	if err != nil || word != "fill" {
		return &mcp.ElicitResult{Action: word}, err
	}
	content := map[string]any{}
	if prev := r.Previous; prev != nil { // What was typed before is not typed again.
		for name, v := range prev.Content {
			content[name] = v
		}
	}
	for name, v := range given {
		content[name] = v
	}
	for {
		for _, f := range fields {
			if err := p.fill(ctx, f, content); err != nil {
				return nil, err
			}
		}
		p.con.say("\nYour answer:")
		for _, f := range fields {
			v, ok := content[f.Name]
			shown := "(left out)"
			if ok {
				shown = display(f, v)
			}
			p.con.say(fmt.Sprintf("  %s: %s", answer.PlainLine(f.Label()), shown))
		}
		word, err := p.choose(ctx, "", "send", "edit", "decline", "cancel")
		switch {
		case err != nil:
			return nil, err
		case word == "send":
			return &mcp.ElicitResult{Action: answer.ActionAccept, Content: content}, nil
		case word != "edit":
			return &mcp.ElicitResult{Action: word}, nil
		}
	}
}

// introduce says who asks what: the address first, which a server cannot choose.
func (p *prompter) introduce(r *answer.Request) {
	who := answer.PlainLine(r.Server)
	if who == "" {
		who = "The server"
	}
	if r.ServerName != "" {
		who += fmt.Sprintf(" (calls itself %q)", answer.PlainLine(r.ServerName))
	}
	if r.Tool != "" {
		who += " asks, for its tool " + answer.PlainLine(r.Tool) + ":"
	} else {
		who += " asks:"
	}
	p.con.say("\n" + who)
	p.quote(r.Params.Message)
}

// quote prints a server's text behind a bar.
func (p *prompter) quote(text string) {
	for line := range strings.SplitSeq(answer.Plain(text), "\n") {
		p.con.say("  | " + line)
	}
}

// decideURL shows a page that the server wants opened. This client does not open pages, and did not say it does.
func (p *prompter) decideURL(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
	host := "unknown"
	if u, err := url.Parse(r.Params.URL); err == nil {
		host = u.Host
	}
	p.con.say(fmt.Sprintf("It wants a page opened, which this command does not do.\n  host: %s\n  page: %s", answer.PlainLine(host), answer.PlainLine(r.Params.URL)))
	word, err := p.choose(ctx, "", "decline", "cancel")
	return &mcp.ElicitResult{Action: word}, err
}

// fill asks for one field until its value will do, starting from what content has.
func (p *prompter) fill(ctx context.Context, f answer.Field, content map[string]any) error {
	start, has := content[f.Name]
	if !has && f.Default != nil {
		start, has = f.Default, true
	}
	p.con.say(fmt.Sprintf("\n%s (%s): %s", answer.PlainLine(f.Label()), answer.PlainLine(f.Name), kindOf(f)))
	if f.Description != "" {
		p.quote(f.Description)
	}
	for i, o := range f.Options {
		line := fmt.Sprintf("  %d  %s", i+1, answer.PlainLine(o.Title))
		if o.Title != o.Value {
			line += " (" + answer.PlainLine(o.Value) + ")"
		}
		p.con.say(line)
	}
	var hints []string
	if has {
		hints = append(hints, "Enter keeps "+display(f, start))
	}
	if !f.Required && has {
		hints = append(hints, "- leaves it out")
	} else if !f.Required {
		hints = append(hints, "Enter leaves it out")
	}
	if len(hints) > 0 {
		p.con.say("  " + strings.Join(hints, ", "))
	}
	for {
		line, err := p.readLine(ctx, "> ")
		if err != nil {
			return err
		}
		switch text := strings.TrimSpace(line); {
		case text == "" && has:
			content[f.Name] = start
			return nil
		case text == "" && !f.Required, text == "-" && !f.Required:
			delete(content, f.Name)
			return nil
		case text == "" && f.Type != "string":
			p.con.say("  This field is required.")
			continue
		}
		v, err := parse(f, line)
		if err != nil {
			p.con.say("  " + err.Error())
			continue
		}
		content[f.Name] = v
		return nil
	}
}

// parse reads a typed line: numbers of options count, several are separated by commas, y and n are yes and no.
func parse(f answer.Field, line string) (any, error) {
	switch {
	case f.Type == "array":
		var texts []string
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); part != "" {
				texts = append(texts, numbered(f, part))
			}
		}
		return f.Parse(texts...)
	case f.Type == "boolean":
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	case len(f.Options) > 0:
		return f.Parse(numbered(f, strings.TrimSpace(line)))
	}
	return f.Parse(line)
}

// numbered is the value of the option with this number, unless text is itself an option.
func numbered(f answer.Field, text string) string {
	for _, o := range f.Options {
		if o.Value == text || o.Title == text {
			return text
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.Options) {
		return f.Options[n-1].Value
	}
	return text
}

// kindOf says in words what a field takes.
func kindOf(f answer.Field) string {
	kind := map[string]string{
		"string": "text", "integer": "a whole number", "number": "a number", "boolean": "yes or no",
		"array": "several of these, separated by commas",
	}[f.Type]
	switch {
	case kind == "":
		kind = answer.PlainLine(f.Type)
	case f.Type == "string" && len(f.Options) > 0:
		kind = "one of these"
	case f.Format == "date":
		kind = "a date such as 2026-07-28"
	case f.Format == "date-time":
		kind = "a date and time such as 2026-07-28T15:00:00Z"
	case f.Format == "email":
		kind = "an email address"
	case f.Format == "uri":
		kind = "a web address"
	}
	if f.Required {
		return kind + ", required"
	}
	return kind + ", optional"
}

// display is a field's value for reading: options by their titles.
func display(f answer.Field, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	title := func(value string) string {
		for _, o := range f.Options {
			if o.Value == value {
				value = o.Title
			}
		}
		return answer.PlainLine(value)
	}
	var one string
	var several []string
	switch {
	case json.Unmarshal(data, &one) == nil:
		return title(one)
	case json.Unmarshal(data, &several) == nil:
		for i, value := range several {
			several[i] = title(value)
		}
		return strings.Join(several, ", ")
	case string(data) == "true":
		return "yes"
	case string(data) == "false":
		return "no"
	}
	return escapeHidden(data)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
