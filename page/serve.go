package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/form/html"
	"github.com/elicit-go/elicit/internal/tool"
)

// maxPosted bounds what a page may post, in bytes: a vault's entry holds less. readTimeout is how long it may take, where the
// server does not say.
const (
	maxPosted   = 96 << 10
	readTimeout = time.Minute
)

//go:embed page.gohtml
var source string

var pages = template.Must(template.New("page").Parse(source))

var styleHash = func() string {
	sum := sha256.Sum256([]byte(html.Style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// A visit is one request to a page.
type visit struct {
	pages  *Pages
	base   *url.URL
	w      http.ResponseWriter
	r      *http.Request
	who    Person // from Identify
	ticket *ticket
	token  string // the ticket as the link has it
	flow   flow
	note   string // what the page says besides
}

// A view is a page as the template sees it.
type view struct {
	Style                template.CSS
	Kind                 string // "ask", "go", "done", "fail"
	Title, Text          string // of "done" and "fail"
	Link, LinkText       string // of "go" and "fail": where to go from here
	Server, What, Person string
	Client, ClientID     string
	Message, Note        string
	Action, CSRF         string

	// What a flow sets.
	Fields template.HTML // to fill in
	Target string        // the host that the page leads to
	About  []about       // what else to know before the button is pressed
	Button string        // the words on the main button
	Wrong  bool          // some field is not valid
}

type about struct{ Title, Text string }

// ServeHTTP serves the pages.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.RLock()
	base := p.base
	p.mu.RUnlock()
	if base == nil { // mounted without Base: there are no links yet
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", security)
	h.Set("Referrer-Policy", "same-origin") // no-referrer makes browsers send "Origin: null" with a post
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex")
	v := &visit{pages: p, base: base, w: w, r: r}
	if wrong := p.foreign(r, base); wrong != "" {
		p.shop.Logger.WarnContext(r.Context(), "page: refused a request", "reason", wrong)
		v.fail(http.StatusForbidden, "This page cannot be shown", wrong)
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, base.Path+"/")
	if !ok {
		v.fail(http.StatusNotFound, "There is nothing here", "")
		return
	}
	who, _, ok := p.identify(w, r)
	if !ok {
		return
	}
	v.who = who
	if sealed, ok := strings.CutPrefix(path, "return/"); ok && v.is(http.MethodGet) {
		v.comeBack(sealed)
		return
	}
	if name, ok := strings.CutPrefix(path, "callback/"); ok {
		p.mu.RLock()
		f := p.returners[name]
		p.mu.RUnlock()
		if f != nil && v.is(http.MethodGet) {
			f.callback(v)
			return
		}
	}
	if path == "continue" {
		if c, err := r.Cookie(p.cookieName(base)); err == nil {
			path = c.Value
		}
	}
	if !v.find(path) {
		return
	}
	switch {
	case v.is(http.MethodGet, http.MethodHead):
		v.show(http.StatusOK, nil)
	case v.is(http.MethodPost):
		v.post()
	default:
		h.Set("Allow", "GET, HEAD, POST")
		v.fail(http.StatusMethodNotAllowed, "This cannot be done here", "")
	}
}

func (v *visit) is(methods ...string) bool {
	for _, m := range methods {
		if v.r.Method == m {
			return true
		}
	}
	return false
}

// find reads the ticket of a link, and checks that who is at the browser was asked. It is false when it has answered.
func (v *visit) find(token string) bool {
	t, err := v.pages.openTicket(token)
	if err != nil {
		v.pages.shop.Logger.WarnContext(v.r.Context(), "page: refused a link", "reason", err)
		v.fail(http.StatusNotFound, "This link leads nowhere", "Open it as it was given to you, or ask for a new one: run the tool again.")
		return false
	}
	return v.enter(t, token)
}

// enter is find for a ticket that was read.
func (v *visit) enter(t *ticket, token string) bool {
	ctx := v.r.Context()
	v.ticket, v.token = t, token
	if !isAsked(t, v.who) {
		v.pages.shop.Logger.WarnContext(ctx, "page: somebody else opened a link", "key", t.Key, "name", t.Name, "link", t.id())
		v.ticket = nil // nothing of it is shown
		v.page(http.StatusForbidden, &view{Kind: "fail", Title: "This link is not yours", Link: v.who.Switch, LinkText: "Sign in as someone else", Text: "You are signed in as " + person(v.who) + ", and somebody else was asked. If you got this link from another person, they may have wanted you to answer in their place: do not. If it is yours, sign in as the one who runs the tool."})
		return false
	}
	if v.flow = v.pages.declared(t.Shape); v.flow == nil {
		if redirectShape.Equal(t.Shape) {
			v.flow = redirect{&tool.Redirect{}}
		} else {
			v.pages.shop.Logger.ErrorContext(ctx, "page: a link is for a question that no tool of this instance declares", "key", t.Key, "name", t.Name)
			v.fail(http.StatusNotFound, "This link leads nowhere", "The server has changed since the link was made: run the tool again.")
			return false
		}
	}
	o, err := v.outcome()
	switch {
	case err != nil:
		v.broken(err)
		return false
	case o.action == 0 && !v.pages.expired(t):
		return true
	}
	v.over(o, v.is(http.MethodPost))
	return false
}

// outcome is what became of the link so far. That of a task which was cancelled, or has ended otherwise, is over.
func (v *visit) outcome() (outcome, error) {
	ctx, t := v.r.Context(), v.ticket
	o, err := v.pages.outcome(ctx, t)
	if err == nil && o.action == 0 && t.Task != "" {
		var over bool
		if over, err = v.pages.shop.Over(ctx, t.Task); over {
			o.action = ended
		}
	}
	return o, err
}

// over says that a link cannot be used any more: by what became of it, or as it has expired. sent says that the visitor has
// just sent something, which was not taken.
func (v *visit) over(o outcome, sent bool) {
	status := http.StatusOK
	if sent {
		status = http.StatusConflict
	}
	switch o.action {
	case 0:
		v.fail(http.StatusGone, "This link has expired", "Nothing was sent. Go back to where you were asked: you get a new link there.")
	case declined:
		v.page(status, &view{Kind: "done", Title: "Declined", Text: "Nothing was sent. You can close this page."})
	case ended: // with an answer of this link, or without one
		text := "What this was asked for has ended. You can close this page."
		if sent {
			text = "What this was asked for has ended, and what you sent now was not taken. You can close this page."
		}
		v.page(status, &view{Kind: "done", Title: "Done", Text: text})
	case lost:
		text := "Something was sent by this link before, and the server can no longer read it."
		if sent {
			text += " What you sent now was not taken."
		}
		v.fail(http.StatusGone, "This link is of no use any more", text+" Go back to where you were asked, or run the tool again: you get a new link there.")
	default:
		text := "The server has what it asked for. You can close this page."
		if sent {
			text = "This question was answered before, and what you sent now was not taken. You can close this page."
		}
		v.page(status, &view{Kind: "done", Title: "Done", Text: text})
	}
}

var redirectShape = (&tool.Redirect{}).Shape()

// post takes what a button says.
func (v *visit) post() {
	if media, _, _ := strings.Cut(v.r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/x-www-form-urlencoded") {
		v.fail(http.StatusUnsupportedMediaType, "This is not what the page sends", "")
		return
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxPosted)
	if s, ok := v.r.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ReadTimeout == 0 {
		_ = http.NewResponseController(v.w).SetReadDeadline(time.Now().Add(readTimeout))
	}
	if err := v.r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			v.fail(http.StatusRequestEntityTooLarge, "This is more than the page takes", "Go back and send less.")
		} else {
			v.fail(http.StatusBadRequest, "This is not what the page sends", "Nothing was sent. Open the link again.")
		}
		return
	}
	if !v.pages.csrfValid(v.r.PostForm.Get("csrf"), v.ticket, v.who) {
		v.pages.shop.Logger.WarnContext(v.r.Context(), "page: a post did not come from a page of ours", "key", v.ticket.Key, "link", v.ticket.id())
		v.fail(http.StatusForbidden, "This page is too old", "Nothing was sent. Open the link again.")
		return
	}
	switch v.r.PostForm.Get("button") {
	case "decline":
		v.conclude(declined, nil, nil)
	case "send":
		v.flow.post(v)
	default:
		v.again(nil)
	}
}

// complete ends the question with what the flow keeps of it for the call, and does then before the call goes on. It answers the
// request, and is false when it was too late.
func (v *visit) complete(value []byte, then func(context.Context) error) bool {
	return v.conclude(accepted, value, then)
}

func (v *visit) conclude(action byte, value []byte, then func(context.Context) error) bool {
	o, err := v.outcome() // much may have happened since the page was shown, or a provider was asked
	first := false
	if err == nil && o.action == 0 {
		if first, err = v.pages.conclude(v.r.Context(), v.ticket, action, value, then); err == nil && !first {
			o, err = v.outcome()
		}
	}
	switch {
	case err != nil:
		v.broken(err)
		return false
	case !first:
		v.over(o, true)
		return false
	}
	what := "completed"
	if action == declined {
		what = "declined"
	}
	v.pages.shop.Logger.InfoContext(v.r.Context(), "page: "+what, "key", v.ticket.Key, "name", v.ticket.Name, "link", v.ticket.id())
	// By GET, so that a reload sends nothing again, and going back finds a page that is over.
	http.Redirect(v.w, v.r, v.base.Path+"/"+v.token, http.StatusSeeOther)
	return true
}

// redirect sends the person on to another page. It is a page that leads on at once, and no redirect of the post: browsers
// hold these against form-action to the very end, and many a provider sends people on to a host of its own.
func (v *visit) redirect(u *url.URL) {
	v.w.Header().Set("Referrer-Policy", "no-referrer") // the link is nobody else's business
	v.page(http.StatusOK, &view{Kind: "go", Title: "One moment", Target: u.Host, Link: u.String(), LinkText: "Continue"})
}

// again shows the page once more, with what was wrong.
func (v *visit) again(problems []form.Problem) { v.show(http.StatusUnprocessableEntity, problems) }

// show writes the page that asks.
func (v *visit) show(status int, problems []form.Problem) {
	csrf, err := v.pages.csrf(v.ticket, v.who)
	if err != nil {
		v.broken(err)
		return
	}
	t := v.ticket
	w := &view{Kind: "ask", Message: t.Message, Action: v.base.Path + "/" + v.token, CSRF: csrf, Client: t.Client, ClientID: t.ClientID, Note: v.note,
		What: map[string]string{"tools/call": "tool", "prompts/get": "prompt", "resources/read": "resource"}[t.Method] + " " + line(t.Name)}
	if v.pages.opts.Identify != nil {
		w.Person = person(v.who)
	}
	if p, ok := v.flow.(problemShower); ok {
		err = p.showProblems(v, w, problems)
	} else {
		err = v.flow.show(v, w)
	}
	if err != nil {
		v.broken(err)
		return
	}
	if problems == nil && status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	v.page(status, w)
}

// problemShower is a flow that has fields.
type problemShower interface {
	showProblems(v *visit, w *view, problems []form.Problem) error
}

// fail writes a page that says what is wrong.
func (v *visit) fail(status int, title, text string) {
	v.page(status, &view{Kind: "fail", Title: title, Text: text})
}

// broken is fail for what is not the visitor's fault.
func (v *visit) broken(err error) {
	if errors.Is(err, ErrVaultFull) { // the log has it
		v.fail(http.StatusServiceUnavailable, "There is no room for more at the moment", "Nothing was sent. Much was sent by you, or by others, in a short time: try again later, or tell whoever runs the server.")
		return
	}
	v.pages.shop.Logger.ErrorContext(v.r.Context(), "page: a page failed", "error", err)
	v.fail(http.StatusInternalServerError, "Something went wrong", "It is not your fault, and nothing was sent. Try again in a while.")
}

func (v *visit) page(status int, w *view) {
	w.Style, w.Server = template.CSS(html.Style), v.base.Host
	var b bytes.Buffer
	if err := pages.Execute(&b, w); err != nil {
		v.pages.shop.Logger.Error("page: a page cannot be written", "error", err)
		http.Error(v.w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(b.Bytes())
	}
}

// security is the Content-Security-Policy: one style sheet, and posts to us.
var security = "default-src 'none'; style-src " + styleHash + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// person names who is at the browser, to themselves.
func person(who Person) string {
	return cmp.Or(line(who.Name), line(who.Subject), "nobody")
}

// line is foreign text in one line, without what could make it read as another.
func line(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Cf, r), unicode.IsControl(r) && !unicode.IsSpace(r):
			return -1
		}
		return r
	}, s)), " ")
}

func binaryTime(t time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t.Unix())) }
func readTime(b []byte) time.Time   { return time.Unix(int64(binary.BigEndian.Uint64(b)), 0) }
