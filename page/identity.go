package page

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
)

// mayAsk says why a request must not be given a link, to the author; "" if it may.
func (p *Pages) mayAsk(ctx context.Context, a *tool.Asking) string {
	switch {
	case p.opts.Identify == nil && (a.Issuer != "" || a.Subject != "" || a.Client != ""):
		return "the request has a principal, and the pages cannot tell who opens them: set page.Options.Identify, which says who is at the browser"
	case p.opts.Identify != nil && a.Subject == "": // an issuer alone is everybody that it knows
		return "the request has no principal, so anybody could open the page for it: verify tokens around the handler, or set elicit.Options.Principal"
	case p.opts.Identify == nil && forwarded(a.Header) != "":
		return "the request came through a proxy (" + forwarded(a.Header) + "), and the pages are for the user of this machine alone: set page.Options.Base and Identify"
	case p.opts.Identify == nil && (a.Remote || offLoopback(ctx)):
		return "the request may have come from another machine, and the pages are for the user of this one alone: listen on a loopback address, or set page.Options.Base and Identify"
	}
	return ""
}

// offLoopback reports whether a request came to an address that other machines reach.
func offLoopback(ctx context.Context) bool {
	addr, ok := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && !addr.IP.IsLoopback()
}

// forwarded is the header by which a request came through a proxy or a tunnel, or "".
func forwarded(h http.Header) string {
	for name := range h {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip",
			strings.HasPrefix(name, "X-Forwarded-"), strings.HasPrefix(name, "X-Original-"), strings.HasPrefix(name, "X-Envoy-"),
			strings.HasSuffix(name, "-Client-Ip"), strings.HasSuffix(name, "-Connecting-Ip"): // of Cloudflare, Fastly and others
			return name
		}
	}
	return ""
}

// foreign says why a request to a page is refused before anything else, or "".
func (p *Pages) foreign(r *http.Request, base *url.URL) string {
	origins := r.Header.Values("Origin")
	own := base.Scheme + "://" + base.Host
	switch {
	case len(origins) > 1 || len(origins) == 1 && origins[0] != own:
		return "Another page may not use this one."
	case r.Method == http.MethodPost && len(origins) == 0:
		return "The browser did not say which page sent this."
	}
	if site := r.Header.Get("Sec-Fetch-Site"); r.Method == http.MethodPost && site != "" && site != "same-origin" {
		return "Another page may not use this one."
	}
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "", "document", "empty":
	default: // a frame, an image, a script
		return "This page stands by itself only."
	}
	if p.opts.Identify != nil {
		return ""
	}
	// Nobody is identified: whoever sits at this machine is the user, and nobody else is to be.
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	switch {
	case err != nil || !isLoopback(host):
		return "This page is for the user of the machine that it is on."
	case !strings.EqualFold(r.Host, base.Host):
		return "This is not " + base.Host + "."
	case forwarded(r.Header) != "":
		return "This page is for the user of the machine that it is on, and not to be reached through a proxy."
	}
	return ""
}

// isAsked reports whether who is at the browser was asked by t.
func isAsked(t *ticket, who Person) bool {
	return t.User.Equal(userDigest(who.Issuer, who.Subject))
}

// csrf is what a form of ours carries, so that what is posted comes from a page that this person was shown: another program
// of this machine shares the cookies of our host, but not the page.
func (p *Pages) csrf(t *ticket, who Person) (string, error) {
	return p.shop.Ring.Seal(csrfPurpose, csrfText(t, who))
}

func csrfText(t *ticket, who Person) []byte {
	d := state.DigestOf(string(t.ID[:]), who.Issuer, who.Subject)
	return d[:]
}

func (p *Pages) csrfValid(token string, t *ticket, who Person) bool {
	plain, err := p.shop.Ring.Open(csrfPurpose, token, 512)
	return err == nil && subtle.ConstantTimeCompare(plain, csrfText(t, who)) == 1
}

type pagesKey struct{}

// ReturnTo is the URL that a login of [Identify] comes back to, for the page that r asked for. It is sealed: nobody can make
// one that leads elsewhere. It is good for half an hour.
func ReturnTo(r *http.Request) string {
	p, ok := r.Context().Value(pagesKey{}).(*Pages)
	if !ok {
		panic("page.ReturnTo: this is not a request that Identify was given")
	}
	base, err := p.baseURL()
	if err != nil {
		return ""
	}
	at := strings.TrimPrefix(r.URL.Path, base.Path+"/")
	if rest, ok := strings.CutPrefix(at, "return/"); ok { // to where that leads
		if again, ok := p.returnTarget(rest); ok {
			at = again
		}
	}
	if at == "continue" {
		if c, err := r.Cookie(p.cookieName(base)); err == nil {
			at = c.Value
		}
	}
	if len(at) > maxTicket { // leads nowhere
		at = ""
	}
	sealed, err := p.shop.Ring.Seal(returnPurpose, append(binaryTime(p.shop.Now().Add(30*time.Minute)), at...))
	if err != nil {
		return base.String()
	}
	return base.String() + "/return/" + sealed
}

func (p *Pages) returnTarget(sealed string) (string, bool) {
	plain, err := p.shop.Ring.Open(returnPurpose, sealed, maxTicket+512)
	if err != nil || len(plain) < 8 || p.shop.Now().After(readTime(plain)) {
		return "", false
	}
	return string(plain[8:]), true
}

// cookieName is that of the cookie in which a browser that comes back from a login has the ticket, so that the address it ends at
// does not.
func (p *Pages) cookieName(base *url.URL) string {
	if base.Scheme == "https" {
		return "__Host-elicit-page"
	}
	return "elicit-page" + "-" + base.Port() // the ports of a host share cookies
}

// comeBack ends a login: it moves on to an address without a ticket.
func (v *visit) comeBack(sealed string) {
	at, ok := v.pages.returnTarget(sealed)
	if !ok {
		v.fail(http.StatusGone, "This sign-in took too long", "Open the link that you were given again.")
		return
	}
	if _, err := v.pages.openTicket(at); err != nil { // another address below Base, such as a callback
		v.fail(http.StatusNotFound, "There is nothing here", "Open the link that you were given again.")
		return
	}
	c := &http.Cookie{Name: v.pages.cookieName(v.base), Value: at, Path: "/", MaxAge: 1800, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.base.Scheme == "https"}
	http.SetCookie(v.w, c)
	http.Redirect(v.w, v.r, v.base.Path+"/continue", http.StatusSeeOther)
}

// identify asks who is at the browser.
func (p *Pages) identify(w http.ResponseWriter, r *http.Request) (who Person, _ *http.Request, ok bool) {
	if p.opts.Identify == nil {
		return who, r, true
	}
	inner := r.WithContext(context.WithValue(r.Context(), pagesKey{}, p))
	who, ok = p.opts.Identify(w, inner)
	return who, r, ok
}
