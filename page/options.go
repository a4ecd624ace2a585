package page

import (
	"net/http"
	"time"
)

// Options of [Enable]. The zero value is for a program on its user's own machine.
type Options struct {
	// Base is the URL that the pages are below, such as https://mcp.example.com/pages: serve it with [Pages], which is the
	// http.Handler, at its path. It is https, unless its host is a loopback name, for users of the same machine. Default:
	// a listener of its own on a free loopback port, started when somebody is first asked.
	Base string

	// Identify says who is at the browser; see [Identify]. Needed off loopback, and wherever callers have a principal.
	Identify Identify

	// Vault keeps what was entered. Default: in the memory of this process, and gone with it. Instances that share
	// elicit.Options.Secrets need a common one, as one may serve the call and another the page.
	Vault Vault

	// Wait is how long a call that comes back waits for the page to be done, before it asks again with the same link.
	// Default 25 seconds, below the time-outs of common clients and proxies.
	Wait time.Duration

	// MaxWaiting is how many calls wait at once, of which one user has a hundredth, or 16; a call over it asks again without
	// waiting. Default 10,000.
	MaxWaiting int

	// Expiry is how long a link can be used. After that, the question is asked with a new one. Default 30 minutes.
	Expiry time.Duration
}

// A Person is who is at a browser.
type Person struct {
	// Issuer and Subject are those of the elicit.Principal that the same user's MCP requests have: who vouches for Subject,
	// and the user, as Issuer names them. Both are compared.
	Issuer, Subject string
	// Name is shown to the person, as who they are signed in as: a name, an e-mail address. Default: Subject.
	Name string
	// Switch is an address, below Options.Base, where the person can sign in as someone else. It is offered where a link is
	// somebody else's. Default: none.
	Switch string
}

// Identify says who is at the browser, from its session cookie or whatever the site uses. It is asked for every request below
// Options.Base, before anything else, so it can have addresses of its own there, such as one that a login comes back to (below Base + "/login/"). Where it
// returns false it has written the response: a redirect to the login, or a refusal. A login comes back to the URL that was
// asked for; see [ReturnTo].
//
// It must not trust anything that the person who made the link could have put into the request: the link may come from
// somebody else, who wants their account connected to what this person has (MCP 2026-07-28, client/elicitation, Phishing).
//
// page/oidc has one that signs in by OpenID Connect.
type Identify func(w http.ResponseWriter, r *http.Request) (who Person, ok bool)
