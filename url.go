package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// NewURL sends the user to a page of the author's own: a payment, a sign-up, a document to sign. The client gets a link to
// package page, which checks that who opens it is who was asked, and sends them on. Accepted, Value is true.
//
// where gives the page's URL, https or on a loopback host. It is called in the handler when a link is made, so [CallID] and
// [Step] work in it; the URL is sealed into the link, and the client does not see it. done says whether what the page is
// for has happened. It is called whenever the question is required, the first time before anything is asked, and while a call
// waits: every second at first, every five after half a minute, and when page.Pages.Recheck is called. It must be quick. That a client says "accept" means only that its user agreed to open the page.
//
// The server needs page.Enable.
func NewURL(key, message string, where func(context.Context) (string, error), done func(context.Context) (bool, error)) *Question[bool] {
	u := &tool.Redirect{Where: where, Done: done}
	switch {
	case where == nil:
		u.Wrong = errors.New("it does not say where to send people: give NewURL the function where")
	case done == nil:
		u.Wrong = errors.New("there is no way to know that it is done: give NewURL the function done, which asks whoever runs the page; an accept of the client says only that the user agreed to open it")
	}
	q := &Question[bool]{}
	q.fillURL(key, message, u)
	return q
}

// urlKind is a question that sends people to a page.
const urlKind kind = "url"

func (q *Question[T]) fillURL(key, message string, u tool.URL) {
	q.ask = ask{kind: urlKind, key: key, message: message, bound: true, url: u, err: u.Err()}
	q.settle = func(q *Question[T], a Action, _ []byte) (Answer[T], []byte, []form.Problem) {
		if a == Accept {
			a = Cancel // what counts comes by given
		}
		return Answer[T]{key: q.key, action: a}, nil, nil
	}
	q.encode = func(v T) (mcp.InputResponse, error) {
		return tool.Completed{ElicitResult: &mcp.ElicitResult{Action: string(Accept)}, Value: v}, nil
	}
	q.sealed()
}

// given is the answer of a URL question, which the client did not bring.
func (q *Question[T]) given(v any) (Answer[T], bool) {
	x, ok := v.(T)
	return Answer[T]{key: q.key, action: Accept, value: x, given: func(string) bool { return true }}, ok
}

// digestURL is the digest of a URL question, without its link.
func (q *ask) digestURL() state.Digest {
	shape := q.url.Shape()
	return state.DigestOf(string(urlKind), q.message, string(shape[:]))
}

// The link of a URL question is remembered as a step is: constant for the call, stored with a task.
const linkStep = "\x00link "

func (c *call) link(key string) (link string) {
	_ = json.Unmarshal(c.st.Steps[linkStep+key], &link)
	return link
}

func (c *call) keepLink(key, link string) {
	if c.st.Steps == nil {
		c.st.Steps = map[string][]byte{}
	}
	c.st.Steps[linkStep+key], _ = json.Marshal(link)
}

// links are those of all URL questions of the call.
func (c *call) links() (links []string) {
	for name := range c.st.Steps {
		if key, ok := strings.CutPrefix(name, linkStep); ok {
			links = append(links, c.link(key))
		}
	}
	return links
}

// endLinks tells the pages that the call has ended. The caller holds c.mu.
func (c *call) endLinks(ctx context.Context) {
	if pages := c.shop.sentTo(); pages != nil {
		if links := c.links(); links != nil {
			pages.Ended(context.WithoutCancel(ctx), links)
		}
	}
}

func (s *Server) sentTo() tool.Pages {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.pages
}

// asking is what the pages are told of a question.
func (c *call) asking(q *ask) *tool.Asking {
	a := &tool.Asking{
		URL: q.url, Key: q.key, Message: q.message, Method: c.method, Name: c.name, Call: c.callID(),
		Issuer: c.principal.Issuer, Subject: c.principal.Subject, Client: c.principal.Client,
		Link: c.link(q.key), ClientName: c.clientName(),
	}
	if c.run != nil {
		a.Task, a.Until = c.run.Task, c.run.Until
		a.Remote = c.run.Record != nil && c.run.Record.Remote
	}
	if c.extra != nil {
		a.Header = c.extra.Header
	}
	return a
}

// clientName is what the client calls itself, or "".
func (c *call) clientName() string {
	switch info := c.meta[mcp.MetaKeyClientInfo].(type) {
	case map[string]any:
		name, _ := info["name"].(string)
		return name
	case *mcp.Implementation:
		return info.Name
	}
	if c.session != nil {
		if p := c.session.InitializeParams(); p != nil && p.ClientInfo != nil {
			return p.ClientInfo.Name
		}
	}
	return ""
}

// requireURL gets the answer of a URL question, or reports that this round asks it. The caller holds c.mu, which is free
// while the page is waited for.
func (c *call) requireURL(ctx context.Context, p Pending) (asks bool, err error) {
	q := p.ask
	if c.testing {
		return c.requireURLTesting(p)
	}
	pages := c.shop.sentTo()
	if pages == nil {
		return false, misuse("question %q of %s sends people to a page, and this server has none: call page.Enable", q.key, c.what())
	}
	a := c.asking(q)
	lacks, reason := c.lacks(q), ""
	if !c.modern {
		_, reason = c.older(q)
	}
	a.CannotAsk = lacks != "" || reason != ""
	if r, ok := c.responses[q.key]; ok {
		action, _ := read(q.kind, r)
		switch {
		case c.expired, !c.proven(q):
			c.log(ctx, slog.LevelDebug, "elicit: an answer does not prove that it answers this question of this call; asking", "key", q.key)
		case action == Accept:
			a.Agreed = true
		default:
			return false, c.refused(ctx, pages, p, a, action)
		}
	}
	link, agreed := a.Link, a.Agreed
	a.Agreed = agreed && !c.isTask() // a task waits in its record
	reply, err := c.askPages(ctx, pages, q, a)
	if err != nil {
		return false, err
	}
	if reply.URL == "" {
		return false, c.settled(ctx, p, reply, lacks, reason)
	}
	if agreed && c.isTask() && reply.Link == link {
		c.waiting = append(c.waiting, q.key)
		return true, nil
	}
	if !c.modern {
		return false, c.requireURLLive(ctx, pages, p, a, reply)
	}
	if c.asked == nil {
		c.asked = map[string]*asking{}
	}
	c.asked[q.key] = &asking{digest: q.digest, proof: true, wire: encodeURL(q.message, reply.URL),
		request: &mcp.ElicitParams{Mode: "url", Message: q.message, URL: reply.URL}}
	c.order = append(c.order, q.key)
	c.log(ctx, slog.LevelDebug, "elicit: asking", "key", q.key, "link", reply.ID)
	return true, nil
}

// askPages asks what became of a question, and remembers its link.
func (c *call) askPages(ctx context.Context, pages tool.Pages, q *ask, a *tool.Asking) (reply *tool.Reply, err error) {
	err = c.unlocked(func() (err error) {
		reply, err = pages.Require(ctx, a)
		return err
	})
	switch {
	case c.closed:
		return nil, fmt.Errorf("elicit: %s has already returned", c.name)
	case err != nil:
		return nil, c.pageFailed(ctx, q, err)
	}
	if reply.Link != "" {
		c.keepLink(q.key, reply.Link)
	}
	return reply, nil
}

// settled ends the asking of a question that has an answer, or cannot have one.
func (c *call) settled(ctx context.Context, p Pending, reply *tool.Reply, lacks, reason string) error {
	q := p.ask
	switch {
	case reply.Answered:
		if !p.given(reply.Value) {
			return misuse("question %q of %s: the page gave a %T", q.key, c.what(), reply.Value)
		}
		c.used = true
		c.log(ctx, slog.LevelDebug, "elicit: answered on the page", "key", q.key)
		return nil
	case reply.Declined:
		return c.refused(ctx, nil, p, nil, Decline)
	case !c.modern:
		c.log(ctx, slog.LevelInfo, "elicit: the user cannot be asked", "key", q.key, "reason", reason)
		return &UnavailableError{Key: q.key, Reason: reason}
	}
	return c.missing(ctx, q, lacks)
}

// refused records that the user said no. Unless it was said on the page, the page is told.
func (c *call) refused(ctx context.Context, pages tool.Pages, p Pending, a *tool.Asking, action Action) error {
	if pages != nil {
		if err := c.unlocked(func() error { return pages.Refused(ctx, a) }); err != nil {
			c.log(ctx, slog.LevelWarn, "elicit: the link of a question that was refused could not be closed", "key", p.ask.key, "error", err)
		}
	}
	p.take(action, nil)
	c.record(ctx, p.ask, action, nil)
	return nil
}

// pageFailed is the error of a question whose page failed.
func (c *call) pageFailed(ctx context.Context, q *ask, err error) error {
	if wrong, ok := errors.AsType[*tool.PageError](err); ok {
		return misuse("question %q of %s: %s", q.key, c.what(), wrong.Text)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.log(ctx, slog.LevelError, "elicit: the page of a question failed", "key", q.key, "error", err)
	return fmt.Errorf("elicit: the page of question %q: %w", q.key, err)
}

// requireURLLive asks over the session of a client of 2025-11-25, waits for the page, and tells the client that it is done
// (MCP 2025-11-25, client/elicitation, "Completion Notifications for URL Mode Elicitation").
func (c *call) requireURLLive(ctx context.Context, pages tool.Pages, p Pending, a *tool.Asking, reply *tool.Reply) error {
	q := p.ask
	for {
		c.log(ctx, slog.LevelDebug, "elicit: asking", "key", q.key, "link", reply.ID)
		asked := reply
		var res mcp.InputResponse
		err := c.unlocked(func() (err error) {
			res, err = c.live(ctx, func(ctx context.Context) (mcp.InputResponse, error) {
				return c.session.Elicit(ctx, &mcp.ElicitParams{Meta: mcp.Meta{wire.KeyMeta: q.key}, Mode: "url", Message: q.message, URL: asked.URL, ElicitationID: asked.ID})
			})
			return err
		})
		if err := c.liveFailed(ctx, q, err); err != nil {
			return err
		}
		a.Link = asked.Link
		if action, _ := read(q.kind, res); action != Accept {
			return c.refused(ctx, pages, p, a, action)
		}
		a.Agreed, a.Live = true, c.shop.opts.Expiry
		err = c.unlocked(func() error {
			_, err := c.live(ctx, func(ctx context.Context) (_ mcp.InputResponse, err error) {
				reply, err = pages.Require(ctx, a)
				return nil, err
			})
			return err
		})
		switch {
		case c.closed, errors.Is(err, errTooLong):
			return c.liveFailed(ctx, q, err)
		case err != nil:
			return c.pageFailed(ctx, q, err)
		case reply.Answered, reply.Declined:
			// A hint to the client, which may have gone: not the call's to fail on.
			if err := c.unlocked(func() error {
				return c.session.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: asked.ID})
			}); err != nil {
				c.log(ctx, slog.LevelDebug, "elicit: the client was not told that a page is done", "key", q.key, "error", err)
			}
			return c.settled(ctx, p, reply, "", "")
		case reply.Link == asked.Link:
			return &UnavailableError{Key: q.key, Reason: fmt.Sprintf("the page was not completed within %v", c.shop.opts.Expiry)}
		}
		c.keepLink(q.key, reply.Link) // the other one has expired
	}
}

// requireURLTesting is requireURL in a context of elicittest.
func (c *call) requireURLTesting(p Pending) (asks bool, err error) {
	q := p.ask
	if r, ok := c.responses[q.key]; ok {
		if done, ok := r.(tool.Completed); ok {
			if !p.given(done.Value) {
				return false, misuse("question %q does not take a %T", q.key, done.Value)
			}
			return false, nil
		}
		if action, _ := read(q.kind, r); action != Accept {
			p.take(action, nil)
			return false, nil
		}
	}
	if c.asked == nil {
		c.asked = map[string]*asking{}
	}
	c.asked[q.key] = &asking{digest: q.digest, request: &mcp.ElicitParams{Mode: "url", Message: q.message, URL: "https://pages.example.com/" + q.key}}
	c.order = append(c.order, q.key)
	return true, nil
}

func encodeURL(message, url string) json.RawMessage {
	b := append([]byte(nil), `{"method":"elicitation/create","params":{"mode":"url","message":`...)
	b = rawjson.AppendString(b, message)
	b = append(b, `,"url":`...)
	b = rawjson.AppendString(b, url)
	return append(b, "}}"...)
}

// The seams of package page.
func init() {
	tool.EnablePages = func(server any, connect func(tool.Shop) tool.Pages) error {
		s := server.(*Server)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pages != nil {
			return errors.New("this server has its pages already: call it once")
		}
		s.pages = connect(tool.Shop{Ring: s.ring, OwnSecret: s.random, Logger: s.opts.Logger, MaxAge: s.opts.MaxAge, MCP: s.mcp,
			Now: func() time.Time { return s.now() }, SealedOnce: s.sealedOnce, Wake: s.wakeTask, Over: s.taskOver})
		for _, u := range s.urls {
			s.pages.Declare(u)
		}
		s.urls = nil
		return nil
	}
	tool.FillURL = func(q any, key, message string, u tool.URL) {
		q.(interface {
			fillURL(string, string, tool.URL)
		}).fillURL(key, message, u)
	}
	tool.Forget = func(ctx context.Context, question any) error {
		q := question.(interface{ asks() *ask }).asks()
		c, err := from(ctx)
		if err != nil {
			return err
		}
		defer c.mu.Unlock()
		if q.kind != urlKind {
			return misuse("question %q is none that a page asks: nothing of it is remembered", q.key)
		}
		a := c.asking(q)
		delete(c.st.Steps, linkStep+q.key)
		delete(c.st.Answers, q.key)
		c.responses = maps.Clone(c.responses) // the request's own
		delete(c.responses, q.key)
		delete(c.required, q.key) // it may be asked again in other words
		pages := c.shop.sentTo()
		if pages == nil {
			return nil
		}
		return c.unlocked(func() error { return pages.Forget(ctx, a) })
	}
}

func (q *ask) asks() *ask { return q }
