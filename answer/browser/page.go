package browser

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/form/html"
)

// maxPosted bounds what a page may post, in bytes.
const maxPosted = 4 << 20

//go:embed page.gohtml
var source string

var pages = template.Must(template.New("page").Parse(source))

// contentSecurity allows the one style sheet, the one image that tells whether the page is open, and posts to where the page
// came from.
var contentSecurity = func() string {
	sum := sha256.Sum256([]byte(html.Style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// newPath is a path that nobody can guess.
func newPath() string { return "/" + rand.Text() + rand.Text() }

// A page asks one question. Its state is here and not in the browser, so what is posted can be no more than values.
type page struct {
	asked       *answer.Request
	note        string
	link        answer.Link
	form        *form.Form[form.Values] // nil: a page to open
	credentials []string                // fields that seem to ask for one

	host   string // of this server, with port
	opened string // the path that was opened, good for once
	path   string // the path that the page is at
	closed time.Duration

	mu       sync.Mutex
	moved    bool // opened has been used
	yes      bool // the warning of a credential was answered
	values   map[string]json.RawMessage
	problems []form.Problem
	review   json.RawMessage // what is being reviewed; nil while it is filled in
	ended    bool
	action   string // at the end
	stopped  bool   // the person does not wait any longer for the page that was agreed to
	open     int    // held connections
	seen     bool   // there was one
	gone     time.Time
	busy     int // requests being answered

	done    chan outcome
	pressed chan string // buttons, while the page that was agreed to is not completed
}

// isAway tells whether the question was answered by a yes to a page. p.mu is held.
func (p *page) isAway() bool {
	return p.ended && p.form == nil && p.action == answer.ActionAccept && !p.stopped
}

// finish ends the page, once.
func (p *page) finish(o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(o)
}

func (p *page) end(o outcome) {
	if !p.ended {
		p.ended, p.action = true, o.action
		p.done <- o
	}
}

// isClosed tells whether the page was open and is no more. A page that never held a connection, in a browser that loads no
// images, is not known to be closed.
func (p *page) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen && p.open == 0 && p.busy == 0 && !p.ended && time.Since(p.gone) > p.closed
}

// ServeHTTP implements http.Handler.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", contentSecurity)
	h.Set("Referrer-Policy", "same-origin") // Without any, browsers send "Origin: null" with a post.
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex")
	refuse := func(status int, what string) { http.Error(w, what, status) }
	switch {
	case r.Host != p.host:
		refuse(http.StatusForbidden, "This is not "+p.host+".")
		return
	case r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "http://"+p.host:
		refuse(http.StatusForbidden, "Another page may not use this one.")
		return
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case same(r.URL.Path, p.opened):
		if r.Method != http.MethodGet {
			h.Set("Allow", "GET")
			refuse(http.StatusMethodNotAllowed, "GET only.")
			return
		}
		p.mu.Lock()
		first := !p.moved
		p.moved = true
		p.mu.Unlock()
		if !first {
			refuse(http.StatusGone, "This address has been used. Answer where it was opened first; if that was not you, cancel the call.")
			return
		}
		http.Redirect(w, r, p.path, http.StatusSeeOther)
	case same(r.URL.Path, p.path+"/open") && r.Method == http.MethodGet:
		p.hold(w, r)
	case !same(r.URL.Path, p.path):
		refuse(http.StatusNotFound, "There is nothing here.")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		p.show(w, http.StatusOK)
	case r.Method != http.MethodPost:
		h.Set("Allow", "GET, HEAD, POST")
		refuse(http.StatusMethodNotAllowed, "GET or POST only.")
	case r.Header.Get("Origin") == "", site != "" && site != "same-origin":
		refuse(http.StatusForbidden, "Another page may not use this one.")
	default:
		p.post(w, r)
	}
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// hold answers a request for an image that never comes: its end tells that the page is closed.
func (p *page) hold(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		http.Error(w, "This question is answered.", http.StatusGone)
		return
	}
	p.open++
	p.seen = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.open--
		p.gone = time.Now()
		p.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "image/gif")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// post takes what a button says.
func (p *page) post(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.busy++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.busy--
		p.gone = time.Now()
		p.mu.Unlock()
	}()
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(media) != "application/x-www-form-urlencoded" {
		http.Error(w, "This is not what the page sends.", http.StatusUnsupportedMediaType)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxPosted)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "This is more than the page takes, or broken.", http.StatusRequestEntityTooLarge)
		return
	}
	if !p.press(r.PostForm.Get("button"), r.PostForm) {
		p.show(w, http.StatusGone)
		return
	}
	p.mu.Lock()
	last := p.ended && !p.isAway()
	p.mu.Unlock()
	if last { // The server is about to go.
		p.show(w, http.StatusOK)
		return
	}
	// The browser then asks for the page by GET, so that a reload sends nothing again.
	http.Redirect(w, r, p.path, http.StatusSeeOther)
}

// press does what a button says, and reports whether the question was still open.
func (p *page) press(button string, posted url.Values) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isAway() {
		p.stopped = button == "stop"
		select {
		case p.pressed <- button:
		case <-p.pressed: // The last one counts.
			p.pressed <- button
		}
		return true
	}
	if p.ended {
		return false
	}
	warned := len(p.credentials) == 0 || p.yes
	switch {
	case button == "decline":
		p.end(outcome{action: answer.ActionDecline})
	case button == "cancel":
		p.end(outcome{action: answer.ActionCancel})
	case p.form == nil:
		if button == "accept" && p.link.Refused == nil {
			p.end(outcome{action: answer.ActionAccept})
		}
	case !warned:
		p.yes = button == "go-on"
	case button == "review":
		content := html.Content(p.form.Fields(), posted)
		p.values, p.problems, p.review = html.Values(content), p.form.Validate(content), nil
		if p.problems == nil {
			p.review = content
		}
	case button == "edit":
		p.review = nil
	case button == "accept" && p.review != nil:
		p.end(outcome{answer.ActionAccept, p.review})
	case button == "accept" && p.isConfirmation():
		p.end(outcome{answer.ActionAccept, []byte("{}")})
	}
	return true
}

// isConfirmation tells whether the form has no fields: then there is nothing to fill in.
func (p *page) isConfirmation() bool {
	for range p.form.Fields() {
		return false
	}
	return true
}

// A view is a page as the template sees it.
type view struct {
	Style                     template.CSS
	Address, Name, Tool, Note string
	Message                   string
	Kind                      string // "form", "review", "confirm", "credential", "url", "away", "end"
	Action, Open, Ended       string
	Fields                    template.HTML
	Answers                   []answered
	Credentials               []string
	Link                      answer.Link
	Refused                   string
	Wrong                     bool
}

type answered struct{ Title, Value string }

func (p *page) view() (view, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.asked
	v := view{
		Style: template.CSS(html.Style), Address: answer.PlainLine(r.Server), Name: answer.PlainLine(r.ServerName), Tool: answer.PlainLine(r.Tool),
		Note: p.note, Message: r.Message(), Action: p.path, Open: p.path + "/open", Link: p.link,
	}
	switch {
	case p.isAway():
		v.Kind, v.Open = "away", ""
	case p.ended:
		v.Kind, v.Ended, v.Open = "end", p.action, ""
		if p.stopped {
			v.Ended = "stop"
		}
	case p.form == nil:
		v.Kind = "url"
		if p.link.Refused != nil {
			v.Refused = p.link.Refused.Error()
		}
	case len(p.credentials) > 0 && !p.yes:
		v.Kind, v.Credentials = "credential", p.credentials
	case p.isConfirmation():
		v.Kind = "confirm"
	case p.review != nil:
		v.Kind = "review"
		values := html.Values(p.review)
		for name, prop := range p.form.Fields() {
			v.Answers = append(v.Answers, answered{answer.PlainLine(prop.Title), answer.Plain(html.Text(prop, values[name]))})
		}
	default:
		v.Kind, v.Wrong = "form", p.problems != nil
		fields, err := html.Fields(p.form.Fields(), &html.Options{Values: p.values, Problems: p.problems, Zone: time.Local, Focus: true})
		if err != nil {
			return view{}, err
		}
		v.Fields = fields
	}
	return v, nil
}

// show writes the page as it is now.
func (p *page) show(w http.ResponseWriter, status int) {
	v, err := p.view()
	var b bytes.Buffer
	if err == nil {
		err = pages.Execute(&b, v)
	}
	if err != nil {
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		p.finish(outcome{action: answer.ActionCancel})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
