package page

import (
	"context"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
)

// A flow is what one kind of URL question does: Secret, Connect, and elicit.NewURL's. One flow belongs to one question,
// whatever its words. It is the tool.URL of the question.
type flow interface {
	// Err is what is wrong with the question's flow, for its author.
	Err() error

	// Shape names what the page does, whatever the words of the question. The page, on any instance, finds the flow by it
	// among those that were declared, so it must not differ between instances.
	Shape() state.Digest

	// start is called when a link is made. What it returns is sealed into the link: v.ticket.Data.
	start(ctx context.Context, p *Pages, a *tool.Asking) (data string, err error)

	// answer is the value that the question asks for, if it is there, called in the handler whenever the question is
	// required. done is what complete was given for the call's link, nil before. It must be quick: it is called again and
	// again while people are waited for. A value that was there already is not asked for.
	answer(ctx context.Context, p *Pages, a *tool.Asking, done []byte) (value any, ok bool, err error)

	// show adds to the page what the flow has to say.
	show(v *visit, view *view) error

	// post does what the main button says, and ends with v.complete, v.redirect, v.again, or v.fail.
	post(v *visit)
}

// A completer is a flow that elicittest can complete as a person would, with a value of the question's type.
type completer interface {
	completeAs(ctx context.Context, p *Pages, t *ticket, value any) error
}

// A returner is a flow whose pages are come back to at a fixed URL, Base + "/callback/" + name, as OAuth providers want it.
type returner interface {
	flow
	// callbackName is constant for the provider.
	callbackName() string
	// provider is what makes two providers two: they must not have one callbackName.
	provider() string
	// callback serves the URL, by GET. Identify was asked, and v.who is who it is; v has no ticket yet: v.find reads the one
	// that was kept with the state, and checks that v.who was asked.
	callback(v *visit)
}
