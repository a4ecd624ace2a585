package page

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/elicit-go/elicit/internal/tool"
)

// redirect is the flow of elicit.NewURL: a page of the author's own, behind the check of who opens it.
type redirect struct{ *tool.Redirect }

func (f redirect) start(ctx context.Context, _ *Pages, a *tool.Asking) (string, error) {
	where, err := f.Where(ctx)
	if err != nil {
		return "", err
	}
	u, wrong := checkTarget(where)
	if wrong != "" {
		return "", &tool.PageError{Text: fmt.Sprintf("the URL that its function where gave (host %q) %s", u.Host, wrong)}
	}
	return u.String(), nil
}

// checkTarget says what is wrong with a URL that people are sent to.
func checkTarget(raw string) (u *url.URL, wrong string) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return &url.URL{}, "is no URL"
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())):
		return u, "is not https (or http to a loopback host)"
	case u.Host == "" || u.Opaque != "":
		return u, "has no host"
	case u.User != nil:
		return u, "has a user name in it"
	case strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return u, "has control characters"
	}
	return u, ""
}

func (f redirect) answer(ctx context.Context, _ *Pages, _ *tool.Asking, _ []byte) (any, bool, error) {
	done, err := f.Done(ctx)
	return true, done, err
}

func (f redirect) show(v *visit, view *view) error {
	u, wrong := checkTarget(v.ticket.Data)
	if wrong != "" {
		return fmt.Errorf("the URL %s", wrong)
	}
	view.Target, view.Button = u.Host, "Continue"
	return nil
}

func (f redirect) post(v *visit) {
	u, wrong := checkTarget(v.ticket.Data)
	if wrong != "" {
		v.fail(http.StatusInternalServerError, "This page leads nowhere", "Tell whoever runs this server.")
		return
	}
	v.redirect(u)
}
