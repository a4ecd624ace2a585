// Package check tests an MCP server from outside, by its answers to right and wrong requests, against the specification
// (2026-07-28). It is what the command elicit check does.
package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Verdict is how a check ended.
type Verdict string

// The ways a check ends.
const (
	Pass          Verdict = "pass"
	Fail          Verdict = "fail"
	NotApplicable Verdict = "not applicable"
)

// A Result is one line of the checklist. Its texts quote the server: clean them before they are printed.
type Result struct {
	Name    string  `json:"name"`           // what is checked
	Sent    string  `json:"sent"`           // the request, in words
	Came    string  `json:"came"`           // the response, in short
	Rule    string  `json:"rule"`           // what the specification asks
	Where   string  `json:"where"`          // the page that does
	Must    bool    `json:"must"`           // whether it says MUST
	Verdict Verdict `json:"verdict"`        // how it ended
	Hint    string  `json:"hint,omitempty"` // for the author of a server that fails
}

// Options configures [Run].
type Options struct {
	URL    string      // the endpoint
	Tool   string      // a tool that asks for a form when called without arguments; "" leaves out what needs one
	Safe   bool        // accept what the tool asks, with values made up
	Header http.Header // sent with every request: credentials
	Remote bool        // the server may be on another machine
}

// maxRequests is how many requests a check sends at most.
const maxRequests = 60

// errEnough stops a check that would send more.
var errEnough = fmt.Errorf("more than %d requests", maxRequests)

// Run sends the requests and returns the checklist. The error says why there is none: the address is of another machine and
// that was not agreed to, or nothing answers there.
func Run(ctx context.Context, o Options) ([]Result, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, fmt.Errorf("%q is not an http or https URL, such as http://localhost:5280/", o.URL)
	}
	ip, err := resolve(ctx, u.Hostname(), o.Remote)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	t := &target{
		o: o, ctx: ctx, url: o.URL,
		client: &http.Client{
			Timeout:       20 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			// The address that was looked at is the one that is spoken to, whatever the name means a moment later.
			Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(addr)
				if err != nil {
					return nil, err
				}
				return dialer.DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
			}},
		},
	}
	defer t.client.CloseIdleConnections()
	if first := t.send(t.list()); first.err != nil {
		return nil, first.err
	}
	modern := t.headers()
	if o.Tool != "" {
		if modern {
			t.rounds()
		}
		t.older(modern)
	}
	return t.results, nil
}

// resolve is the one address that is spoken to.
func resolve(ctx context.Context, host string, remote bool) (net.IP, error) {
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, ip := range ips {
		if ip.IsLoopback() {
			return ip, nil
		}
	}
	if !remote {
		return nil, fmt.Errorf("%s is another machine (%s): wrong requests are sent to it, so say --yes if you may", host, ips[0])
	}
	return ips[0], nil
}

// add notes a result.
func (t *target) add(r Result, verdict Verdict, came string) {
	r.Verdict, r.Came = verdict, t.withoutSecrets(came)
	if verdict != Fail {
		r.Hint = ""
	}
	t.results = append(t.results, r)
}

// withoutSecrets is text without the credentials that are sent, which a server may quote.
func (t *target) withoutSecrets(text string) string {
	var secrets []string
	for _, values := range t.o.Header {
		for _, v := range values {
			secrets = append(append(secrets, v), strings.Fields(v)...)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range secrets {
		if len(secret) >= 4 && !strings.EqualFold(secret, "Bearer") && !strings.EqualFold(secret, "Basic") {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
}

// judge notes a result by what wrong says of the response: "" is right.
func (t *target) judge(r Result, res response, wrong string) {
	switch {
	case errors.Is(res.err, errEnough):
		t.add(r, NotApplicable, res.err.Error())
	case wrong != "":
		t.add(r, Fail, res.String()+": "+wrong)
	default:
		t.add(r, Pass, res.String())
	}
}
