package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configures [Connect]. A nil *Options and the zero value work: no Answerer, no credentials, newest protocol.
type Options struct {
	// Answerer answers what the server asks outside of a [CallTool], or within one that was given no Answerer. The session
	// declares form elicitation only when it is set, and servers ask only clients that declare it.
	Answerer Answerer
	// URL says that the Answerer can also be asked to open a page, and declares URL elicitation. Those of answer/terminal and
	// answer/browser can.
	URL bool
	// Roots are the folders that servers may be told of (MCP deprecates the feature). With nil none are declared.
	Roots []*Root
	// Progress is told how far a [CallTool] has come, when the server says so. It is called from several goroutines; nil asks
	// for no progress.
	Progress func(*mcp.ProgressNotificationParams)
	// Task is told of the tasks that [CallTool] and [WaitTask] follow: first of the handle, which a program may want to keep
	// for the case that it is killed, then of what each look at the task shows, changed or not. It must not change the Task.
	Task func(*Task)
	// HTTPClient sends the requests; nil is http.DefaultClient. Where it has no CheckRedirect, redirects to another
	// origin, and such that lose the body, are errors naming the address.
	HTTPClient *http.Client
	// Header is added to every request to the endpoint's origin. Headers that the protocol sets (Accept, Content-Type,
	// Mcp-…, Host, …) are an error.
	Header http.Header
	// Token is sent as "Authorization: Bearer …" to the endpoint's origin; empty sends none.
	Token string
	// ProtocolVersion is the version to speak: "2026-07-28", "2025-11-25", "2025-06-18". Empty is the newest one; a server
	// that does not know it is spoken to in an older one.
	ProtocolVersion string
	// Wire sees every HTTP request and response, headers included, as they are: credentials too. [WireTo] prints them
	// without. It is called from several goroutines; nil is no tap.
	Wire func(WireMessage)
	// Client configures the SDK's client further: handlers for logs, list changes and sampling, a Logger. Its MultiRoundTrip
	// is ignored, since CallTool drives the rounds; its ElicitationHandler is, when Answerer is set. Its CreateMessageHandler
	// also answers the sampling questions of CallTool's rounds. With nil Capabilities the session declares what it has
	// handlers for, and not the roots the SDK would add.
	Client *mcp.ClientOptions
}

// Connect connects to an MCP server over Streamable HTTP, endpoint being its URL: http://localhost:5280/. Newer servers
// are spoken to in 2026-07-28, older ones with an initialize handshake. impl names the program towards the server; it
// must not be nil.
//
// Unlike the SDK's own client, the session keeps the order of properties and questions, and numbers beyond 2^53; it
// encodes Mcp-Name (specification: basic/transports/streamable-http, Value Encoding); and it leaves the rounds of a call
// to [CallTool]. Close the session when done.
//
// Errors name the option or the endpoint at fault; a server's refusal is a *jsonrpc.Error (with errors.As), an HTTP status
// without one an [*HTTPError], here and of every later request. A message of the server may have 32 MiB. When ctx ends, connecting ends; the session lives on.
func Connect(ctx context.Context, impl *mcp.Implementation, endpoint string, opts *Options) (*mcp.ClientSession, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if impl == nil {
		return nil, errors.New("answer.Connect: impl is nil: say who connects, as in &mcp.Implementation{Name: \"shop-cli\", Version: \"1.0.0\"}")
	}
	origin, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	header, err := o.header()
	if err != nil {
		return nil, err
	}

	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	if client.CheckRedirect == nil {
		client.CheckRedirect = stayPut
	}
	rt := &roundTripper{
		next: client.Transport, keeper: o.keeper(endpoint),
		origin: origin, header: header, wire: o.Wire,
	}
	client.Transport = rt
	rt.keeper.streams.set(&httpStreamer{endpoint: endpoint, client: &client})

	connected := rt.connecting(ctx)
	type outcome struct {
		session *mcp.ClientSession
		err     error
	}
	done := make(chan outcome, 1)
	go func() {
		session, err := o.client(impl).Connect(ctx,
			&mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &client},
			&mcp.ClientSessionOptions{ProtocolVersion: o.ProtocolVersion})
		done <- outcome{session, err}
	}()
	select {
	case got := <-done:
		connected()
		if got.err != nil {
			return nil, fmt.Errorf("connecting to %s: %w", endpoint, got.err)
		}
		opened(got.session, &rt.keeper)
		return got.session, nil
	case <-ctx.Done():
		// The SDK goes on trying to open the event stream of older protocols for a while, whatever ctx says.
		go func() {
			if late := <-done; late.session != nil {
				_ = late.session.Close()
			}
		}()
		return nil, fmt.Errorf("connecting to %s: %w", endpoint, context.Cause(ctx))
	}
}

// ConnectTransport connects over a transport that is not HTTP, most often to a server that is a program of this machine:
//
//	session, err := answer.ConnectTransport(ctx, impl, &mcp.CommandTransport{Command: exec.Command("shop", "--stdio")}, opts)
//
// It is [Connect] otherwise; what of opts is about HTTP (HTTPClient, Header, Token) is an error. [Request].Server is the
// command line, of a CommandTransport.
func ConnectTransport(ctx context.Context, impl *mcp.Implementation, transport mcp.Transport, opts *Options) (*mcp.ClientSession, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	switch {
	case impl == nil:
		return nil, errors.New("answer.ConnectTransport: impl is nil: say who connects, as in &mcp.Implementation{Name: \"shop-cli\", Version: \"1.0.0\"}")
	case o.HTTPClient != nil || len(o.Header) > 0 || o.Token != "":
		return nil, errors.New("answer.ConnectTransport: HTTPClient, Header and Token are for servers that are spoken to over HTTP")
	}
	server := ""
	if t, ok := transport.(*mcp.CommandTransport); ok && t.Command != nil {
		server = t.Command.String()
	}
	k := o.keeper(server)
	session, err := o.client(impl).Connect(ctx, &keepingTransport{next: transport, keeper: k, wire: o.Wire},
		&mcp.ClientSessionOptions{ProtocolVersion: o.ProtocolVersion})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", cmp.Or(server, "the server"), err)
	}
	opened(session, &k)
	return session, nil
}

// keeper is what the connection's transport keeps, and knows of the options.
func (o *Options) keeper(server string) keeper {
	return keeper{server: server, answerer: o.Answerer, sample: samplerOf(o.Client), roots: o.Roots, progress: o.Progress != nil, task: o.Task, streams: &streams{}}
}

// client is the SDK's client as the options want it.
func (o *Options) client(impl *mcp.Implementation) *mcp.Client {
	var co mcp.ClientOptions
	if o.Client != nil {
		co = *o.Client
	}
	co.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	if co.Capabilities == nil {
		co.Capabilities = &mcp.ClientCapabilities{}
		declareRoots(co.Capabilities, o.Roots)
		if o.Answerer != nil && o.URL {
			co.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
		}
	}
	if tell := o.Progress; tell != nil {
		next := co.ProgressNotificationHandler
		co.ProgressNotificationHandler = func(ctx context.Context, req *mcp.ProgressNotificationClientRequest) {
			tell(req.Params)
			if next != nil {
				next(ctx, req)
			}
		}
	}
	if o.Answerer != nil {
		co.ElicitationHandler = Handler(o.Answerer) // Makes the SDK declare the capability; the middleware answers.
	}
	c := mcp.NewClient(impl, &co)
	if o.Answerer != nil {
		c.AddReceivingMiddleware(newHandler(o.Answerer).middleware)
	}
	addTaskMethods(c)
	c.AddSendingMiddleware(declareTasks, explain)
	addRoots(c, o.Roots)
	return c
}

func parseEndpoint(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, fmt.Errorf("endpoint: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("endpoint %q is not an http or https URL, such as http://localhost:5280/", endpoint)
	case u.User != nil:
		return nil, fmt.Errorf("endpoint at %q has a user name or password in it: give credentials by Token or Header", u.Host)
	case u.Fragment != "":
		return nil, fmt.Errorf("endpoint %q has a fragment, which no request carries: leave out #%s", endpoint, u.Fragment)
	}
	return u, nil
}

// header is what the options add to requests.
func (o *Options) header() (http.Header, error) {
	h := http.Header{}
	for name, values := range o.Header {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case strings.HasPrefix(canonical, "Mcp-"):
			return nil, fmt.Errorf("header %s belongs to the protocol and cannot be set", canonical)
		case canonical == "Accept" || canonical == "Content-Type" || canonical == "Content-Length" || canonical == "Host" ||
			canonical == "Transfer-Encoding" || canonical == "Connection" || canonical == "Last-Event-Id":
			return nil, fmt.Errorf("header %s belongs to the protocol and cannot be set", canonical)
		}
		h[canonical] = append(h[canonical], values...)
	}
	if o.Token == "" {
		return h, nil
	}
	if h.Get("Authorization") != "" {
		return nil, errors.New("both Token and an Authorization header are set: choose one")
	}
	for i := range len(o.Token) {
		if o.Token[i] <= ' ' || o.Token[i] > '~' {
			return nil, errors.New("the bearer token has a space, a line break or another character that no token has: check where it was read from")
		}
	}
	h.Set("Authorization", "Bearer "+o.Token)
	return h, nil
}
