package elicit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// ErrAsking matches, with errors.Is, the error of Require while the answer is not there yet: the user is being asked.
// Return that error from the handler, wrapped or not; the call goes on in its next round, from the top of the handler.
// It is not a failure: do not log it or count it as one.
var ErrAsking = errors.New("elicit: the user is being asked")

// askingError is the error of Require while the user is asked.
type askingError struct{ keys []string }

func (e *askingError) Error() string {
	return ErrAsking.Error() + ": " + strings.Join(e.keys, ", ") + " (return this error from the handler)"
}
func (e *askingError) Is(target error) bool { return target == ErrAsking }

// protocolError reaches the client as the JSON-RPC error it holds, however the handler wrapped it.
type protocolError struct{ wire *jsonrpc.Error }

func (e *protocolError) Error() string { return e.wire.Message }
func (e *protocolError) Unwrap() error { return e.wire }

// UnavailableError says that the user cannot be asked in this call: the client is of an older protocol revision and has
// no live session, did not declare that it can show such a question, or failed to. Returned from a tool it is a tool
// error that the model can read.
type UnavailableError struct {
	Key    string // the question's key
	Reason string // in plain words
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the user could not be asked %q: %s", e.Key, e.Reason)
}

// InvalidAnswerError says that the answers to a question stayed wrong for [Options.MaxAttempts] attempts. It names fields
// and rules, never what was entered. Returned from a tool it is a tool error that the model can read.
type InvalidAnswerError struct {
	Key      string
	Attempts int
	Rules    []string // one short sentence each
}

func (e *InvalidAnswerError) Error() string {
	return fmt.Sprintf("no valid answer to %q after %d attempts: %s", e.Key, e.Attempts, strings.Join(e.Rules, " "))
}

func rules(ps []form.Problem) []string {
	var r []string
	for _, p := range ps {
		r = append(r, p.Requirement)
	}
	return r
}

// usageError says what is wrong with a question, or with the use of this library: the author's to mend. It is shown as it
// is, even from a round that asks.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func misuse(format string, args ...any) error {
	return &usageError{fmt.Sprintf("elicit: "+format, args...)}
}

// readable reports whether err is one of ours that the model should read as a tool error.
func readable(err error) bool {
	if _, ok := errors.AsType[*RefusedError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*UnavailableError](err); ok {
		return true
	}
	_, ok := errors.AsType[*InvalidAnswerError](err)
	return ok
}

const codeMissingCapability = -32021

var errState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid or expired requestState"}

func internalError(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: message}
}
