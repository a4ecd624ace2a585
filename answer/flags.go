package answer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Flags is a [Script] given on a command line. Keys and fields may both have dots in them, so which part of
// "a.b.c=1" is the key shows only when the server asks: it is the longest asked key that a dot follows.
type Flags struct {
	// Answers are "key.field=value". A field given twice is a list. With an empty key, ".field=value" answers what an
	// older server asks without a key. An answered key is accepted.
	Answers []string
	// Accept, Decline and Cancel are keys to accept without values (but those of Answers), to decline, to cancel.
	Accept, Decline, Cancel []string
	// Script is what the flags are laid over: a value of Answers goes before the script's for that field, an action
	// before the script's for that key.
	Script Script
}

// Check reports what is wrong with the flags before anything is asked: an answer without "=" or ".", a key with two
// actions.
func (f *Flags) Check() error {
	for _, a := range f.Answers {
		name, _, ok := strings.Cut(a, "=")
		if !ok || !strings.Contains(name, ".") || strings.HasSuffix(name, ".") {
			return fmt.Errorf("answer %q is not of the form key.field=value, such as ship.trackingNumber=1Z999", a)
		}
	}
	actions := map[string]string{}
	for _, list := range []struct {
		action string
		keys   []string
	}{{ActionAccept, f.Accept}, {ActionDecline, f.Decline}, {ActionCancel, f.Cancel}} {
		for _, key := range list.keys {
			if other, ok := actions[key]; ok && other != list.action {
				return fmt.Errorf("question %q has both actions %s and %s: choose one", key, other, list.action)
			}
			actions[key] = list.action
			if list.action == ActionAccept {
				continue
			}
			for _, a := range f.Answers {
				name, _, _ := strings.Cut(a, "=")
				if rest, ok := strings.CutPrefix(name, key+"."); ok && !strings.Contains(rest, ".") {
					return fmt.Errorf("question %q has both the action %s and the answer %q: choose one", key, list.action, a)
				}
			}
		}
	}
	return nil
}

// Answer implements [Answerer] as [Script.Answer] does.
func (f *Flags) Answer(ctx context.Context, r *Request) (*mcp.ElicitResult, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	reply, known := f.Script[r.Key]
	switch {
	case slices.Contains(f.Decline, r.Key):
		reply, known = Decline(), true
	case slices.Contains(f.Cancel, r.Key):
		reply, known = Cancel(), true
	default:
		given := Values{}
		for _, a := range f.Answers {
			if field, value, ok := f.match(a, r); ok {
				texts, _ := given[field].(Text)
				given[field] = append(texts, value)
			}
		}
		if len(given) == 0 && !slices.Contains(f.Accept, r.Key) {
			break
		}
		values := Values{}
		if reply.Action == ActionAccept || reply.Action == "" {
			maps.Copy(values, reply.Values)
		}
		maps.Copy(values, given)
		reply, known = Accept(values), true
	}
	if !known {
		return Script{}.Answer(ctx, r)
	}
	return Script{r.Key: reply}.Answer(ctx, r)
}

// match splits a, "key.field=value", if its key is r's: if no other asked key that fits is longer.
func (f *Flags) match(a string, r *Request) (field, value string, ok bool) {
	name, value, _ := strings.Cut(a, "=")
	if field, ok = strings.CutPrefix(name, r.Key+"."); !ok || field == "" {
		return "", "", false
	}
	for _, other := range r.Asked {
		if len(other) > len(r.Key) && strings.HasPrefix(name, other+".") && name != other+"." {
			return "", "", false
		}
	}
	return field, value, true
}
