package elicit

import (
	"fmt"
)

// Action is what the user did with a question (MCP 2026-07-28, client/elicitation, "Response Actions").
type Action string

const (
	// Accept: the user filled in the form and sent it.
	Accept Action = "accept"
	// Decline: the user said no.
	Decline Action = "decline"
	// Cancel: the user closed the question without choosing.
	Cancel Action = "cancel"
)

// Answer is what the user did with a question, and what they entered.
type Answer[T any] struct {
	key    string
	action Action
	value  T
	given  func(string) bool
}

// Action is what the user did.
func (a Answer[T]) Action() Action { return a.action }

// Value is what the user entered, and true, if they accepted; else the zero T and false. A field that was left out has
// its default, or nil if it is a pointer.
func (a Answer[T]) Value() (T, bool) { return a.value, a.action == Accept }

// Given reports whether the user's answer carried a value for the named field, rather than leaving it to its default.
func (a Answer[T]) Given(name string) bool { return a.given != nil && a.given(name) }

// Err is nil if the user accepted, else a [*RefusedError].
func (a Answer[T]) Err() error {
	if a.action == Accept {
		return nil
	}
	return &RefusedError{Key: a.key, Action: a.action}
}

// RefusedError says that the user declined or cancelled a question. Returned from a tool it is a tool error that the
// model can read; returned from a prompt or resource it is a JSON-RPC error −32603 with the same words.
type RefusedError struct {
	Key    string // the question's key
	Action Action // [Decline] or [Cancel]
}

func (e *RefusedError) Error() string {
	if e.Action == Decline {
		return fmt.Sprintf("the user declined to answer %q", e.Key)
	}
	return fmt.Sprintf("the user dismissed %q without answering", e.Key)
}
