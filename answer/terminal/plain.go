package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit/answer"
)

// A prompter asks one question line by line.
type prompter struct {
	t     *Terminal
	q     *question
	words bool // for a screen reader: words in place of signs
}

// say prints a line. The text may quote a server.
func (p *prompter) say(text string) { _, _ = io.WriteString(p.t.out, answer.Plain(text)+"\n") }

func (p *prompter) read(ctx context.Context, prompt string) (string, error) {
	_, _ = io.WriteString(p.t.out, prompt)
	line, err := p.t.lines.next(ctx)
	if err != nil {
		_, _ = io.WriteString(p.t.out, "\n")
	}
	return line, err
}

// choose reads one of the words, or its first letter. Nothing is preselected.
func (p *prompter) choose(ctx context.Context, lead string, words ...string) (string, error) {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = "[" + w[:1] + "]" + w[1:]
		if p.words {
			shown[i] = w
		}
	}
	prompt := lead + strings.Join(shown[:len(shown)-1], ", ") + " or " + shown[len(shown)-1] + "? "
	for {
		line, err := p.read(ctx, prompt)
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

// ask asks until something has been chosen, and returns the action.
func (p *prompter) ask(ctx context.Context) (string, error) {
	action, err := p.answer(ctx)
	if errors.Is(err, errGone) {
		p.say("Cancelled.")
		return answer.ActionCancel, nil
	}
	return action, err
}

func (p *prompter) answer(ctx context.Context) (string, error) {
	if p.q.note != "" {
		p.say(p.q.note)
	}
	p.say("\n" + p.q.Asker() + " " + p.q.purpose())
	p.quote(p.q.Message())
	if p.q.isURL() {
		return p.page(ctx)
	}
	s := p.q.sheet
	if words := s.credentials(); len(words) > 0 {
		p.say("\nCareful: this form seems to ask for a credential: " + strings.Join(words, ", ") + ".\nWhat you fill in passes through this program and its logs, and through the server. Passwords, keys, tokens and card\nnumbers do not belong in a form: a server that needs one opens a page of its own.")
		line, err := p.read(ctx, `Type "yes" to fill it in all the same, "decline" to say no; anything else cancels: `)
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "yes":
		case "decline":
			return answer.ActionDecline, err
		default:
			return answer.ActionCancel, err
		}
	}
	if len(s.entries) == 0 {
		return p.choose(ctx, "", answer.ActionAccept, answer.ActionDecline, answer.ActionCancel)
	}
	word, err := p.choose(ctx, fmt.Sprintf("Fill in %s: ", count(len(s.entries), "field")), "fill", answer.ActionDecline, answer.ActionCancel)
	if err != nil || word != "fill" {
		return word, err
	}
	for {
		for i, e := range s.entries {
			if err := p.fill(ctx, i, e); err != nil {
				return "", err
			}
		}
		p.say("\nYour answer:")
		for _, e := range s.entries {
			shown := e.shown()
			if shown == "" {
				shown = "(left out)"
			}
			p.say("  " + e.Title + ": " + strings.ReplaceAll(shown, "\n", "\n    "))
		}
		switch word, err := p.choose(ctx, "", "send", "edit", answer.ActionDecline, answer.ActionCancel); {
		case err != nil:
			return "", err
		case word == "send":
			return answer.ActionAccept, nil
		case word != "edit":
			return word, nil
		}
	}
}

// quote prints a server's text behind a bar, so that it cannot pass for the program's own words.
func (p *prompter) quote(text string) {
	lead := "  | "
	if p.words {
		lead = "  Message: "
	}
	for line := range strings.SplitSeq(answer.Plain(text), "\n") {
		p.say(lead + line)
	}
}

// fill asks for one field until its value will do, starting from the one it has.
func (p *prompter) fill(ctx context.Context, number int, e *entry) error {
	title := e.Title
	if name := answer.PlainLine(e.Name); name != title {
		title += " (" + name + ")"
	}
	need := ", optional"
	if e.Required {
		need = ", required"
	}
	p.say(fmt.Sprintf("\n%s: %s%s", title, e.hint(), need))
	if p.words {
		p.say(fmt.Sprintf("  Field %d of %d.", number+1, len(p.q.sheet.entries)))
	}
	if e.Description != "" {
		p.quote(e.Description)
	}
	if len(e.labels) > longestMenu {
		p.say(fmt.Sprintf("  There are %d. Type a part of one to see those that have it, ? to see all.", len(e.labels)))
	} else {
		p.options(e, "")
	}
	var hints []string
	if e.isSeveral() {
		hints = append(hints, "Separate several by commas")
	}
	good := e.value != nil && p.q.sheet.problem(e, e.value) == ""
	switch {
	case good && e.Required:
		hints = append(hints, "Enter keeps "+strings.ReplaceAll(e.shown(), "\n", " "))
	case good:
		hints = append(hints, "Enter keeps "+strings.ReplaceAll(e.shown(), "\n", " "), "- leaves it out")
	case !e.Required:
		hints = append(hints, "Enter leaves it out")
	}
	if e.value != nil && !good {
		p.say("  It has " + strings.ReplaceAll(e.shown(), "\n", " ") + ". " + p.q.sheet.problem(e, e.value))
	}
	if len(hints) > 0 {
		p.say("  " + strings.Join(hints, ", "))
	}
	for {
		line, err := p.read(ctx, "> ")
		if err != nil {
			return err
		}
		var value json.RawMessage
		switch text := strings.TrimSpace(line); {
		case len(e.labels) > longestMenu && text == "?":
			p.options(e, "")
			continue
		case text == "" && good:
			return nil
		case text == "", text == "-" && !e.Required:
			value = nil
		default:
			value = e.typed(line)
		}
		if what := p.q.sheet.problem(e, value); what != "" {
			if text := strings.TrimSpace(line); len(e.labels) > longestMenu && text != "" && !e.isSeveral() && p.options(e, text) {
				continue
			}
			p.say("  " + what)
			continue
		}
		e.value = value
		return nil
	}
}

// longestMenu is up to how many options are listed without being asked for.
const longestMenu = 20

// options lists the options that have part in them, and tells whether there are any.
func (p *prompter) options(e *entry, part string) bool {
	found := false
	for i, label := range e.labels {
		if strings.Contains(strings.ToLower(label), strings.ToLower(part)) {
			p.say(fmt.Sprintf("  %d  %s", i+1, label))
			found = true
		}
	}
	return found
}

// typed reads a typed line: numbers of options count, and several are separated by commas.
func (e *entry) typed(line string) []byte {
	if e.isBool() || e.Options == nil {
		return e.read(line)
	}
	parts := []string{line}
	if e.isSeveral() {
		parts = strings.Split(line, ",")
	}
	var texts []string
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		texts = append(texts, e.numbered(part))
	}
	return e.FromText(texts...)
}

// numbered is the value of the option with this number, unless text is itself an option.
func (e *entry) numbered(text string) string {
	for i, o := range e.Options {
		if o.Value == text || e.labels[i] == text {
			return o.Value
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(e.Options) {
		return e.Options[n-1].Value
	}
	return text
}

// page shows the page that the server wants opened, and opens it after a yes.
func (p *prompter) page(ctx context.Context) (string, error) {
	l := p.q.link
	if p.q.Waiting {
		p.say("The page is not completed yet.")
	} else {
		p.say("It wants this page opened in your browser:")
	}
	host := l.Host
	if host == "" {
		host = "unknown"
	}
	p.say("  host: " + host + "\n  page: " + l.String())
	for _, w := range l.Warnings {
		p.say("  Careful: " + w)
	}
	if l.Refused != nil {
		p.say("  It cannot be opened: " + l.Refused.Error() + ".")
		return p.choose(ctx, "", answer.ActionDecline, answer.ActionCancel)
	}
	words := []string{"open", answer.ActionDecline, answer.ActionCancel}
	if p.q.Waiting {
		words = []string{"retry", "open", "stop"}
	}
	for {
		word, err := p.choose(ctx, "", words...)
		switch {
		case err != nil:
			return "", err
		case word == "retry", word == "go on":
			return answer.ActionAccept, nil
		case word == "stop":
			return answer.ActionCancel, nil
		case word != "open":
			return word, nil
		}
		if err := p.t.open(ctx, l.Opened()); err != nil {
			p.say("It could not be opened here (" + err.Error() + "). Open the address above yourself, then go on.")
			words = []string{"go on", answer.ActionDecline, answer.ActionCancel}
			continue
		}
		return answer.ActionAccept, nil
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
