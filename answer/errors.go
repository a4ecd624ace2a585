package answer

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoAnswerer is what an [*AnswerError] wraps when the server asked and nobody is there to answer.
var ErrNoAnswerer = errors.New("no Answerer is registered: pass one to answer.CallTool or set answer.Options.Answerer")

// An AnswerError reports that a question could not be answered. The server was told "cancel" instead and finished the
// call its way: [CallTool] returns its closing result, if it gave one, beside this error. Within a [*TaskError] the server
// was told nothing: the question is still open.
type AnswerError struct {
	Tool string // the tool that asked
	Key  string // the question
	Err  error  // why: often a *MissingError, a *ValueError, a *RepeatedError or ErrNoAnswerer
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("answering %s%s: %v", question(e.Key), ofTool(e.Tool), e.Err)
}

func (e *AnswerError) Unwrap() error { return e.Err }

// A MissingError reports that a script has no answer to a question, or none to some of its required fields.
type MissingError struct {
	Key      string         // the question; empty when an older server told no key
	Fields   []string       // the fields without an answer, in the server's order; empty for a form without fields
	Required []string       // those of Fields that an answer needs
	Given    map[string]any // the values that were there, by field: where a person can go on from
	Message  string         // what the server asks, in its words
}

func (e *MissingError) Error() string {
	switch len(e.Fields) {
	case 0:
		return question(e.Key) + " has no answer"
	case 1:
		return fmt.Sprintf("%s has no answer to its field %q", question(e.Key), e.Fields[0])
	}
	return fmt.Sprintf("%s has no answer to its fields %s", question(e.Key), quoted(e.Fields))
}

// A ValueError reports that a value does not suit its field.
type ValueError struct {
	Key    string         // the question
	Field  string         // the field
	Reason string         // the rule that is broken
	Given  map[string]any // all values, where they can be sent but for this one: where a person can go on from; else nil
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("field %q of %s: %s", e.Field, question(e.Key), e.Reason)
}

// A RepeatedError reports that the server asked a question again after a script had answered it, and that the script
// has nothing else to say.
type RepeatedError struct {
	Key     string // the question
	Message string // the server's words: usually what it did not like about the answer
}

func (e *RepeatedError) Error() string {
	return fmt.Sprintf("the server asked %s again after it was answered: %s", question(e.Key), PlainLine(e.Message))
}

// An UnsupportedError reports a question of a kind this client never declared that it can answer.
type UnsupportedError struct {
	Tool   string // the tool that asked
	Key    string // the question
	Method string // what it asked by: sampling/createMessage, roots/list, or something newer
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("tool %q asked %s by %q, which this client did not declare and cannot answer: the server must ask by elicitation/create", e.Tool, question(e.Key), PlainLine(e.Method))
}

// A ResultTypeError reports a result of a type that [CallTool] cannot bring to an end: one of the future, or "task" on a
// session that is not of [Connect] or [ConnectTransport].
type ResultTypeError struct {
	Tool string // the tool called
	Type string // the result's resultType
}

func (e *ResultTypeError) Error() string {
	if e.Type == "task" {
		return fmt.Sprintf("tool %q answered with a task, which only sessions of answer.Connect and answer.ConnectTransport declare and can follow", e.Tool)
	}
	return fmt.Sprintf("tool %q answered with a result of type %q, which this client does not know", e.Tool, PlainLine(e.Type))
}

// A RoundsError reports that a call was given up because the server kept it going too long.
type RoundsError struct {
	Tool    string // the tool called
	Rounds  int    // how many rounds there were
	Waiting bool   // true when the server only kept saying "not yet", false when it kept asking
}

func (e *RoundsError) Error() string {
	if e.Waiting {
		return fmt.Sprintf("tool %q was not ready after %d retries without a question; call it again later", e.Tool, e.Rounds)
	}
	return fmt.Sprintf("tool %q asked in %d rounds without an end, and was given up", e.Tool, e.Rounds)
}

// ofTool names the tool in a sentence, where it is known: a task may have been begun by another process.
func ofTool(tool string) string {
	if tool == "" {
		return ""
	}
	return fmt.Sprintf(" of tool %q", tool)
}

func question(key string) string {
	if key == "" {
		return "the question without a key"
	}
	return fmt.Sprintf("question %q", key)
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(q, ", ")
}
