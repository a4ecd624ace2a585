package tool

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// URL is what a question that sends people to a page does there, whatever its words. Package page has the kinds of it.
type URL interface {
	// Err is what is wrong with it.
	Err() error
	// Shape is part of the question's digest.
	Shape() state.Digest
}

// Redirect is the URL of elicit.NewURL: a page of the author's own.
type Redirect struct {
	Where func(context.Context) (string, error)
	Done  func(context.Context) (bool, error)
	Wrong error
}

// Err implements URL.
func (r *Redirect) Err() error { return r.Wrong }

// Shape implements URL. What differs is in the link.
func (r *Redirect) Shape() state.Digest { return state.DigestOf("redirect") }

// Pages is package page, as the root package sees it.
type Pages interface {
	// Declare makes a declared question's page known.
	Declare(u URL)
	// Require finds the answer to a URL question, or the link that asks it.
	Require(ctx context.Context, a *Asking) (*Reply, error)
	// Forget removes what is remembered of the answer, and closes the link.
	Forget(ctx context.Context, a *Asking) error
	// Refused says that the client declined or cancelled: the link is not to be used any more.
	Refused(ctx context.Context, a *Asking) error
	// Ended says that the call of these links has ended.
	Ended(ctx context.Context, links []string)
}

// Asking is a URL question in one round of a call.
type Asking struct {
	URL          URL
	Key, Message string
	Method, Name string      // the feature
	Call         string      // elicit.CallID
	ClientName   string      // what the client calls itself
	Header       http.Header // of the request; nil over stdio
	Remote       bool        // the request is not this one, and was perhaps not made from this machine

	// The principal of the request.
	Issuer, Subject, Client string

	Task  string    // to wake when the page is done; "" for a call that is none
	Until time.Time // when that expires; zero if never
	Link  string    // the ticket of an earlier round
	// Agreed says that the client's user agreed to open the page, so that it is worth waiting for.
	Agreed bool
	// CannotAsk says that the client cannot show a link, so that none is to be made.
	CannotAsk bool
	// Live is how long a session of an older protocol revision waits; 0 for others.
	Live time.Duration
}

// Reply says what became of a URL question.
type Reply struct {
	Value    any  // of the question's type, if Answered
	Answered bool // it is there
	Declined bool // refused on the page

	// Otherwise: the link that asks.
	Link string // ticket, to be remembered
	ID   string // of the link, which says nothing about it
	URL  string
}

// What a vault of ours keeps of one owner, at most. An owner is a user, whatever they run: who enters more is no person.
const (
	OwnerEntries = 2048
	OwnerBytes   = 4 << 20
)

// A PageError says what is wrong with a question, or with how the pages are set up: the author's to mend.
type PageError struct{ Text string }

func (e *PageError) Error() string { return e.Text }

// Shop is what package page gets of an elicit.Server.
type Shop struct {
	Ring      *state.Ring
	OwnSecret bool // the ring is this process's own
	Logger    *slog.Logger
	MaxAge    time.Duration
	MCP       *mcp.Server
	Now       func() time.Time
	// SealedOnce says once what it means that no secrets were given.
	SealedOnce func(ctx context.Context)
	// Wake tells a task that a page which it may wait for is done.
	Wake func(ctx context.Context, task string)
	// Over reports whether a task has ended. It does not know of one that has expired, nor of a call that became none.
	Over func(ctx context.Context, task string) (bool, error)
}

// Hooks that the root package fills in for package page.
var (
	// EnablePages gives an *elicit.Server its pages, and what it declared before. It fails if it has some.
	EnablePages func(server any, connect func(Shop) Pages) error
	// FillURL makes q, a new *elicit.Question of any type, a URL question.
	FillURL func(q any, key, message string, u URL)
	// Forget makes a URL question be asked anew, in the call of ctx and in later ones.
	Forget func(ctx context.Context, question any) error
)

// CompletePage is filled in by package page for elicittest: it completes the link as the person who was asked would, with
// a value of the question's type.
var CompletePage = func(ctx context.Context, server *mcp.Server, url string, value any) error {
	return errors.New("the server has no pages")
}

// Completed answers a URL question in elicittest: the person agreed to open the page, and did what it asks for.
type Completed struct {
	*mcp.ElicitResult
	Value any
}
