// Package streamable serves an mcp.Server over Streamable HTTP, at one endpoint, to clients of revision 2026-07-28 and of
// the revisions before it.
//
//	http.ListenAndServe("localhost:5280", streamable.NewHandler(server, nil))
//
// A request is of 2026-07-28 when its body or its MCP-Protocol-Version header says so. It is then checked as that
// revision demands, before anything runs: the envelope, the _meta that every request carries, and the headers that repeat
// parts of the body. Whatever is wrong is answered with a JSON-RPC error that names it, with the status of the
// specification and the request's own id. Results are JSON; they become an event stream when the handler reports progress
// or logs. A client that goes away cancels the handler's context.
//
// Clients of older revisions, which open with initialize, get sessions, over which a server can ask them.
//
// # Hosts and origins
//
// What browsers send is refused unless it comes from where [Options] allows: a page of any site can reach a server on
// localhost. On a loopback listener only loopback names are answered to, so behind a proxy on the same machine, name the
// public host; pages of other origins are listed too:
//
//	streamable.NewHandler(server, &streamable.Options{
//		AllowedHosts:   []string{"mcp.example.com"},
//		AllowedOrigins: []string{"https://app.example.com"},
//	})
//
// # Tokens
//
// Tokens are verified around the handler, by auth.RequireBearerToken. A preflight of a browser carries none: let OPTIONS
// requests pass around that.
//
// # What goes where
//
// A tools/call of 2026-07-28 takes an express path, and so do prompts/get, resources/read and the methods of tasks: the body is
// read once, and the server's own chain of middleware, as it is at that moment, and its tool are called in the goroutine of the
// HTTP request. All else goes through the SDK's
// handler, which gets the request in a form that it reads without loss.
//
//	tools/call of a tool that is known             express
//	… whose schema annotates arguments             express; the handler compares the headers itself
//	… with members of params or _meta that are
//	  not known                                    express; they mean nothing, and _meta is the handler's to read
//	… with a log level in its _meta                the SDK's handler, which keeps the level in a place of its own
//	… of a tool that is not known, or not yet
//	  again after the tools changed                the SDK's handler
//	… from whom Identity gives an error            the SDK's handler, with a session of its own
//	… of NewHandlerFunc: a server's first call,
//	  and those of servers beyond the first 64     the SDK's handler
//	prompts/get, resources/read, tasks/get,
//	tasks/update, tasks/cancel                     express, with the exceptions that are not about tools
//	every other method of 2026-07-28               the SDK's handler
//	notifications of 2026-07-28                    202; there is none that means anything over HTTP
//	older revisions                                the SDK's handler, with sessions
//
// A request gets the same response either way, and the same middleware and tool see the same of it: a test sends generated
// requests both ways. Another compares with the SDK's handler as it is; its table says where that one differs, and why.
//
// To know a server's tools, the handler lists them in process, through the server's middleware, at the first call, and
// again whenever the server says that they changed (once a second, while they are called, if it does not say so).
//
// The express path gives handlers an mcp.ServerSession that requests share which come from the same caller with the same
// words about their client; up to 4,096 idle ones are kept, and are among Server.Sessions. Its ID is empty. What a handler
// sends reaches the request whose context it was sent with, and nobody once that has been answered. A handler that closes
// its session takes it from requests that share it at that moment, whose notifications then fail; later ones get another.
//
// # Timeouts
//
// Set http.Server.ReadTimeout, so that nobody sends a request for ever; it does not end streams. Leave WriteTimeout 0: event
// streams, and requests of older clients whose user is being asked, last longer than any that suits other requests. A
// client that reads nothing for a minute, while there is something to read, is given up.
//
// Sources: MCP 2026-07-28, basic/transports/streamable-http, basic/versioning; MCP 2025-11-25, basic/transports.
package streamable

import (
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options of a handler. The zero value serves both generations, on loopback only to pages of its own origin.
type Options struct {
	// AllowedOrigins are the origins (scheme://host[:port], no path) whose pages may call the server. They get CORS
	// headers. Others are refused, but for the server's own: on a loopback listener, or with AllowedHosts.
	AllowedOrigins []string

	// AllowedHosts are the Host headers (host[:port]) to answer to, beside loopback names on a loopback listener.
	// Default: any on other listeners.
	AllowedHosts []string

	// Stateless gives older clients no sessions, so that they cannot be asked anything.
	Stateless bool

	// RefuseLegacy refuses older clients: JSON-RPC error −32022 with the revisions that are served.
	RefuseLegacy bool

	// MaxBody is the largest request body, in bytes. Default 4 MiB.
	MaxBody int64

	// SessionTimeout ends an older client's session when it has sent nothing for so long. Default 30 minutes.
	SessionTimeout time.Duration

	// MaxSessions is how many such sessions there may be at a time. Default 10,000.
	MaxSessions int

	// KeepAlive is how often a comment is written to an event stream on which nothing else happens, so that nothing
	// on the way closes it. Default 15 seconds.
	KeepAlive time.Duration

	// NameParams says for more methods, such as those of extensions, which member of params the Mcp-Name header
	// repeats. tools/call and prompts/get (name), resources/read (uri), tasks/get, tasks/update and tasks/cancel
	// (taskId) are known.
	NameParams map[string]string

	// Identity tells callers apart: a session is only for the identity that opened it. With an error, a request of an older
	// revision is refused, and one of 2026-07-28 shares nothing with others; its handlers decide.
	// Default: the token's issuer, UserID and client, anonymous without a token.
	Identity func(*http.Request, *mcp.RequestExtra) (string, error)

	// Logger is told what was refused, and of panics. Default: slog.Default().
	Logger *slog.Logger

	// For tests.
	noExpress bool
	patience  time.Duration // with a client that does not read; default a minute
}

// Handler serves MCP. Make one with [NewHandler] or [NewHandlerFunc].
type Handler struct {
	opts      Options
	getServer func(*http.Request) *mcp.Server
	known     *servers
	modern    http.Handler
	legacy    http.Handler
	sessions  sessions
	origins   origins
	names     map[string]string
}

// NewHandler serves one server.
func NewHandler(server *mcp.Server, opts *Options) *Handler {
	h := NewHandlerFunc(func(*http.Request) *mcp.Server { return server }, opts)
	h.known.get(server).uses.Store(1) // there is no other, so it will be used again
	return h
}

// NewHandlerFunc serves the server that getServer gives for a request; with nil, the request is refused. getServer is
// called more than once for a request, and should give the same server each time, and one of few: a server is asked about
// itself once.
func NewHandlerFunc(getServer func(*http.Request) *mcp.Server, opts *Options) *Handler {
	h := &Handler{getServer: getServer, known: &servers{}}
	if opts != nil {
		h.opts = *opts
	}
	o := &h.opts
	if o.MaxBody <= 0 {
		o.MaxBody = 4 << 20
	}
	if o.SessionTimeout <= 0 {
		o.SessionTimeout = 30 * time.Minute
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = 10_000
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 15 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Identity == nil {
		o.Identity = tokenIdentity
	}
	o.Identity = guardIdentity(o.Identity, o.Logger)
	if o.patience <= 0 {
		o.patience = time.Minute
	}
	o.noExpress = o.noExpress || wire.NoExpress
	h.known.logger = o.Logger
	h.origins = newOrigins(o.AllowedOrigins, o.AllowedHosts)
	h.sessions.max = o.MaxSessions
	h.names = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
		"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
	maps.Copy(h.names, o.NameParams)
	// Bodies were bounded and hosts checked when the SDK's handlers are reached. What they read may be longer than what
	// was sent, as it is written anew.
	h.modern = mcp.NewStreamableHTTPHandler(getServer, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, Logger: o.Logger})
	h.legacy = mcp.NewStreamableHTTPHandler(getServer, &mcp.StreamableHTTPOptions{
		Stateless: o.Stateless, SessionTimeout: o.SessionTimeout, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, Logger: o.Logger})
	runtime.AddCleanup(h, func(s *servers) { go s.stop() }, h.known)
	return h
}

var errPanicked = errors.New("internal error")

// guardIdentity makes a panic of Options.Identity an error.
func guardIdentity(f func(*http.Request, *mcp.RequestExtra) (string, error), logger *slog.Logger) func(*http.Request, *mcp.RequestExtra) (string, error) {
	return func(r *http.Request, extra *mcp.RequestExtra) (identity string, err error) {
		defer func() {
			if x := recover(); x != nil {
				logger.ErrorContext(r.Context(), "streamable: what says who makes a request panicked", "panic", x, "stack", string(debug.Stack()))
				identity, err = "", errPanicked
			}
		}()
		return f(r, extra)
	}
}

// tokenIdentity is who the token is for.
func tokenIdentity(r *http.Request, extra *mcp.RequestExtra) (string, error) {
	t := extra.TokenInfo
	if t == nil {
		return "", nil
	}
	if t.UserID == "" {
		return "", errors.New("the request has a token without a UserID: set TokenInfo.UserID in the token verifier, or Options.Identity")
	}
	text := func(name string) string { s, _ := t.Extra[name].(string); return s }
	client := text("client_id")
	if client == "" {
		client = text("azp")
	}
	b := appendPart(nil, text("iss"))
	b = appendPart(b, t.UserID)
	return string(appendPart(b, client)), nil
}

// ServeHTTP serves a request. The order of its checks is part of the protocol: a client learns of the first thing wrong.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e := h.origins.check(w, r); e != nil {
		h.refuse(w, r, nil, e)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodOptions:
		if r.Header.Get("Origin") == "" {
			h.refuseMethod(w, r)
			return
		}
		preflight(w, r)
	case http.MethodGet, http.MethodDelete:
		if r.Header.Get("Mcp-Session-Id") == "" || h.opts.Stateless || h.opts.RefuseLegacy || namesModern(r) {
			h.refuseMethod(w, r)
			return
		}
		if r.Method == http.MethodGet {
			if _, stream := accepts(r); !stream {
				h.refuse(w, r, nil, notAcceptable("text/event-stream"))
				return
			}
		}
		out := h.legacyResponder(w, nil)
		defer out.finish()
		h.serveLegacy(out, r, nil)
	default:
		h.refuseMethod(w, r)
	}
}

func (h *Handler) refuseMethod(w http.ResponseWriter, r *http.Request) {
	allow := "POST, OPTIONS"
	if !h.opts.Stateless && !h.opts.RefuseLegacy {
		allow = "POST, GET, DELETE, OPTIONS"
	}
	w.Header().Set("Allow", allow)
	what := "POST"
	if !h.opts.Stateless && !h.opts.RefuseLegacy && r.Header.Get("Mcp-Session-Id") == "" && (r.Method == http.MethodGet || r.Method == http.MethodDelete) {
		what = "POST, or an Mcp-Session-Id header of a live session of an older revision"
	}
	h.refuse(w, r, nil, &wire.Error{Status: http.StatusMethodNotAllowed, Code: jsonrpc.CodeInvalidRequest, Message: "method " + r.Method + " is not allowed here; use " + what})
}

// refuse answers with an error.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, id []byte, e *wire.Error) {
	h.opts.Logger.DebugContext(r.Context(), "streamable: refused a request", "status", e.Status, "code", e.Code, "reason", e.Message)
	writeJSON(w, e.Status, e.Append(nil, id))
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	if e := checkContent(r); e != nil {
		h.refuse(w, r, nil, e)
		return
	}
	if j, s := accepts(r); !j || !s {
		missing := "application/json"
		if j {
			missing = "text/event-stream"
		}
		h.refuse(w, r, nil, notAcceptable(missing))
		return
	}
	body, e := h.read(w, r)
	var m *wire.Message
	if e == nil {
		m, e = wire.Read(body)
	}
	if e != nil {
		h.refuse(w, r, nil, e)
		return
	}
	defer m.Release()
	modern := namesModern(r)
	older := !modern && (header(r, "Mcp-Session-Id") != "" || header(r, "Mcp-Protocol-Version") != "")
	if m.IsArray() && older {
		h.serveLegacyBatch(w, r, body)
		return
	}
	switch e := m.Parse(); {
	case e != nil:
		h.refuse(w, r, m.ID, e)
	case modern || m.Version() != nil:
		h.serveModern(w, r, m)
	case older || m.Method == "initialize":
		h.serveLegacyMessage(w, r, m, body)
	default:
		h.refuse(w, r, m.ID, wire.Errf(mcp.CodeHeaderMismatch, "the request has no MCP-Protocol-Version header"))
	}
}

// read reads the body, up to the limit.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) ([]byte, *wire.Error) {
	body, err := readAll(http.MaxBytesReader(w, r.Body, h.opts.MaxBody), r.ContentLength)
	if err == nil {
		return body, nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &wire.Error{Status: http.StatusRequestEntityTooLarge, Code: jsonrpc.CodeInvalidRequest, Message: "the body is longer than " + sizeText(h.opts.MaxBody)}
	}
	return nil, wire.Errf(jsonrpc.CodeInvalidRequest, "the body could not be read")
}

// readAll is io.ReadAll into room for what the client announced. A client that sends nothing holds little of it.
func readAll(r io.Reader, announced int64) ([]byte, error) {
	b := make([]byte, 0, min(max(announced, 512), 32<<10))
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return b, err
		case len(b) == cap(b):
			b = slices.Grow(b, max(1, int(min(announced, 1<<20))-len(b)))
		}
	}
}

// header is the first value of a header, by its canonical name.
func header(r *http.Request, name string) string {
	if v := r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (h *Handler) extra(r *http.Request) *mcp.RequestExtra {
	return &mcp.RequestExtra{TokenInfo: auth.TokenInfoFromContext(r.Context()), Header: r.Header}
}
