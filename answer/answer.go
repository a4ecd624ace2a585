package answer

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The three things a person can do with a question (specification: client/elicitation, Response Actions). They are
// different: a server may offer an alternative to who declined, and ask who cancelled again later.
const (
	ActionAccept  = "accept"  // submitted, with values
	ActionDecline = "decline" // said no
	ActionCancel  = "cancel"  // went away without choosing
)

// A Request is one question of a server, as an [Answerer] gets it. Everything in it but Server and Round was written by
// the server: pass it through [Plain] or [PlainLine] before it reaches a terminal.
type Request struct {
	// Key names the question inside its call: ship. It is empty when an older server asked without telling one.
	Key string
	// Server is the address the question came from, http://localhost:5280/, or the command that runs the server; empty
	// where the transport knows neither.
	// An Answerer shows it first: it is what the server cannot choose.
	Server string
	// ServerName is the name the server gives itself; empty when it gives none. Show it quoted.
	ServerName string
	// Tool is the name of the tool being called; empty when an older server asks while several calls, or none, run.
	Tool string
	// Params is the question: Mode ("form" when the server left it out), Message, RequestedSchema as decoded
	// (order lost: use Schema, Form and Fields), URL.
	Params *mcp.ElicitParams
	// Schema is the requested schema as the server wrote it, byte for byte, when Exact; nil when there is none.
	Schema json.RawMessage
	// Exact reports whether Schema is the server's own text. It is false on a session that came neither through
	// [Connect] nor through [Wrap]: there the properties are in alphabetical order and numbers beyond 2^53 rounded.
	Exact bool
	// Round counts the requests of this call from 1. Older protocols ask within one request: it stays 1.
	Round int
	// TaskID is the id of the task that asks; empty when it is no task. What a server counts at the end of a task's keys,
	// ship#2, is not in Key.
	TaskID string
	// Time counts the askings of this key in this call from 1; 0 outside of a [CallTool].
	Time int
	// Asked lists the keys this call was asked so far, those of this round included, in the server's order.
	Asked []string
	// Previous is what was answered to this key earlier in this call: the server asks again, usually because it found
	// that answer wanting, and says why in Params.Message. Nil at the first asking.
	Previous *mcp.ElicitResult
	// Waiting reports that the server asks for a page again that was agreed to: nothing new is asked, the page is not
	// completed yet. An Answerer that returns ActionAccept has the call tried again, ActionCancel stops it.
	Waiting bool
}

// An Answerer answers questions: a person behind a terminal, a page, or a [Script].
//
// Answer returns what the person did: [ActionAccept] with Content (values by field name; json.Number and
// json.RawMessage keep numbers exact), [ActionDecline] or [ActionCancel]. A nil result counts as cancel. When Answer
// fails, the server is told "cancel" and [CallTool] reports the error inside an [*AnswerError].
//
// One call asks one question at a time; calls that run at the same time may share an Answerer.
type Answerer interface {
	Answer(ctx context.Context, r *Request) (*mcp.ElicitResult, error)
}

// AnswererFunc makes a function an [Answerer].
type AnswererFunc func(ctx context.Context, r *Request) (*mcp.ElicitResult, error)

// Answer calls f.
func (f AnswererFunc) Answer(ctx context.Context, r *Request) (*mcp.ElicitResult, error) {
	return f(ctx, r)
}
