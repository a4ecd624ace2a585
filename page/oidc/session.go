package oidc

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/elicit-go/elicit/page"
)

// A session is who is signed in, in a sealed cookie. It is made anew at every login.
type session struct {
	Issuer, Subject, Name string
	ID                    string // random: two logins of one person have two cookies
	Expires               int64  // Unix time
}

func (l *Login) sessionCookie() string { return l.prefix + "session" }

// signIn gives the browser a new session, in place of the one that it may have.
func (l *Login) signIn(w http.ResponseWriter, who session) error {
	who.ID, who.Expires = rand.Text(), l.now().Add(l.opts.Session).Unix()
	return l.setCookie(w, l.sessionCookie(), sessionPurpose, who, l.opts.Session)
}

// session is who is signed in in this browser.
func (l *Login) session(r *http.Request) (session, bool) {
	var s session
	err := l.readCookie(r, l.sessionCookie(), sessionPurpose, &s)
	// An issuer that was configured before vouches for nobody now.
	if err != nil || s.Subject == "" || s.Issuer != l.opts.Issuer || l.now().Unix() > s.Expires {
		return session{}, false
	}
	return s, true
}

// Identify is a page.Identify: it says who is signed in in this browser, and signs in who is not.
func (l *Login) Identify(w http.ResponseWriter, r *http.Request) (page.Person, bool) {
	path, below := strings.CutPrefix(r.URL.Path, l.base.Path)
	if below && strings.HasPrefix(path, "/login/") {
		l.serve(w, r, path)
		return page.Person{}, false
	}
	if s, ok := l.session(r); ok {
		return page.Person{Issuer: s.Issuer, Subject: s.Subject, Name: s.Name, Switch: l.startURL(page.ReturnTo(r))}, true
	}
	if target := page.ReturnTo(r); r.Method == http.MethodGet || r.Method == http.MethodHead {
		l.begin(w, r, target, "")
	} else { // what was posted cannot go through a login
		l.show(w, http.StatusUnauthorized, notice{Title: "You are not signed in any more", Text: "Nothing was stored. Sign in, and enter it again.", Link: l.startURL(target), LinkText: "Sign in"})
	}
	return page.Person{}, false
}

// serve serves what is below Base + "/login/".
func (l *Login) serve(w http.ResponseWriter, r *http.Request, path string) {
	allow := http.MethodGet
	if path == logoutPath {
		allow = http.MethodPost
	}
	switch {
	case path != callbackPath && path != startPath && path != logoutPath:
		l.show(w, http.StatusNotFound, notice{Title: "There is nothing here", Text: "Open the link that you were given."})
	case r.Method != allow:
		w.Header().Set("Allow", allow)
		l.show(w, http.StatusMethodNotAllowed, notice{Title: "That does not work", Text: allow + " only."})
	case path == callbackPath:
		l.callback(w, r)
	case path == startPath:
		l.start(w, r)
	default:
		l.logout(w, r)
	}
}

// start signs in, whoever is signed in already, and goes on to a target that was sealed.
func (l *Login) start(w http.ResponseWriter, r *http.Request) {
	target, ok := l.openTarget(r.URL.Query().Get("to"))
	if !ok {
		l.show(w, http.StatusBadRequest, notice{Title: "That does not work", Text: "This address is not whole. Open the link that you were given again."})
		return
	}
	l.begin(w, r, target, "login")
}

// logout ends the session of this browser. It is a POST, which the pages take from their own origin alone. The issuer
// has a session of its own, which a link ends, if it says where (OpenID Connect RP-Initiated Logout 1.0, section 2).
func (l *Login) logout(w http.ResponseWriter, r *http.Request) {
	l.clearCookie(w, l.sessionCookie())
	n := notice{Title: "You are signed out", Text: "You can close this page."}
	l.mu.Lock()
	if l.found != nil && l.found.endSession != nil {
		there := *l.found.endSession
		q := there.Query()
		q.Set("client_id", l.opts.ClientID)
		there.RawQuery = q.Encode()
		n.Text, n.Issuer = "You are still signed in at "+there.Host+".", there.String()
	}
	l.mu.Unlock()
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if target, ok := l.openTarget(r.PostFormValue("to")); ok {
		n.Link, n.LinkText = l.startURL(target), "Sign in as someone else"
	}
	l.show(w, http.StatusOK, n)
}

// sealTarget makes a target that only this Login can have made: nobody can use the login to lead people elsewhere.
func (l *Login) sealTarget(target string) string {
	token, err := l.ring.Seal(targetPurpose, []byte(target))
	if err != nil {
		return ""
	}
	return token
}

func (l *Login) openTarget(token string) (string, bool) {
	if token == "" {
		return "", false
	}
	b, err := l.ring.Open(targetPurpose, token, maxCookie)
	return string(b), err == nil && len(b) > 0
}

func (l *Login) startURL(target string) string {
	return l.base.String() + startPath + "?to=" + l.sealTarget(target)
}
