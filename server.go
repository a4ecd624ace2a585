package elicit

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Server is an mcp.Server whose handlers may ask the user. Make one with [New]. It is safe for concurrent use.
type Server struct {
	mcp      *mcp.Server
	opts     Options
	ring     *state.Ring
	spender  Spender
	audience state.Digest // of the server's name, which a state is bound to
	random   bool         // no secrets were given
	now      func() time.Time

	mu       sync.RWMutex
	features map[feature]map[string]state.Digest // by key
	tasks    map[feature]tool.Task               // what is said of them
	hasTasks bool
	engine   tool.Tasks // nil without package tasks
	pages    tool.Pages // nil without package page
	urls     []tool.URL // declared before there were pages

	ownSecret atomic.Bool // the random secret was spoken of
}

// Options of [New]. The zero value works for one process.
type Options struct {
	// Secrets seal what a call must remember between its rounds. The first seals, all open: to rotate, put a new one
	// first and keep the old one for MaxAge. Each is at least 32 random bytes (elicit keygen). Instances that serve
	// the same clients need the same secrets. Default: one random secret for this process.
	Secrets [][]byte

	// Principal says who makes a call, a prompt or a read; an error refuses it. It must depend on the request alone: extra may be nil
	// (stdio), and ctx may be that of an older client's first request. Default: Subject is TokenInfo.UserID, Issuer its
	// Extra["iss"], Client its Extra["client_id"] or ["azp"]; anonymous without a token.
	Principal func(ctx context.Context, extra *mcp.RequestExtra) (Principal, error)

	// Bind adds something that a call must have in common in all its rounds, such as a tenant header. Default: nothing.
	Bind func(ctx context.Context, extra *mcp.RequestExtra) string

	// Strict makes every answer need proof that it answers this question of this call, as [Question.Bound] does for
	// one question.
	Strict bool

	// MaxAttempts is how often a question is answered wrongly before the call fails. Default 3.
	MaxAttempts int

	// MaxState is the length of a requestState, in bytes, over which the call fails. Default 65,536.
	MaxState int

	// Expiry is how long a user may take over one round. A later answer is asked again, with what was entered offered; an
	// older client, which is waited for, is given up. Default 10 minutes.
	Expiry time.Duration

	// MaxAge is how long a call may take over all its rounds. A later round is refused. Default 1 hour.
	MaxAge time.Duration

	// RefuseExpired refuses an answer that comes after Expiry, rather than asking again.
	RefuseExpired bool

	// Spender makes the last round of a call that carries state happen once. Default: within this process, for the
	// newest 262,144 calls.
	Spender Spender

	// Logger is told what was asked, answered and refused, and why; never an answer, a secret or a state.
	// Default: slog.Default().
	Logger *slog.Logger
}

// known are the servers that New was given. It keeps none of them alive.
var known sync.Map // weak.Pointer[mcp.Server] → true

// New makes the handlers of server able to ask, however they were or will be registered: by [AddTool], mcp.AddTool,
// Server.AddTool, AddPrompt, AddResource or AddResourceTemplate.
//
// It installs one receiving middleware. Middleware added to server before New sees, when a handler asks, the asking
// error inside a result with IsError; middleware added after it sees the input_required result.
//
// New panics if opts cannot work, saying what to change, and if server was given to it before.
func New(server *mcp.Server, opts *Options) *Server {
	if server == nil {
		panic("elicit.New: the server is nil: give it what mcp.NewServer returned")
	}
	if _, again := known.LoadOrStore(weak.Make(server), true); again {
		panic("elicit.New: this server was given to New before: keep the *elicit.Server that it returned")
	}
	runtime.AddCleanup(server, func(k weak.Pointer[mcp.Server]) { known.Delete(k) }, weak.Make(server))
	s := &Server{mcp: server, features: map[feature]map[string]state.Digest{}, now: time.Now}
	if opts != nil {
		s.opts = *opts
	}
	o := &s.opts
	if o.MaxAttempts == 0 {
		o.MaxAttempts = 3
	}
	if o.MaxState == 0 {
		o.MaxState = 64 << 10
	}
	if o.Expiry == 0 {
		o.Expiry = 10 * time.Minute
	}
	if o.MaxAge == 0 {
		o.MaxAge = time.Hour
	}
	for _, c := range []struct {
		name string
		bad  bool
	}{{"MaxAttempts", o.MaxAttempts < 0}, {"MaxState", o.MaxState < 0}, {"Expiry", o.Expiry < time.Second}, {"MaxAge", o.MaxAge < time.Second}} {
		if c.bad {
			panic(fmt.Sprintf("elicit.New: Options.%s is negative or too small (times: a second at least): leave it 0 for the default", c.name))
		}
	}
	if o.Principal == nil {
		o.Principal = defaultPrincipal
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	switch {
	case o.Secrets == nil:
		s.ring, s.random = state.RandomRing(), true
	default:
		ring, err := state.NewRing(o.Secrets...)
		if err != nil {
			panic(fmt.Sprintf("elicit.New: Options.Secrets: %v", err))
		}
		s.ring = ring
		o.Secrets = nil // the ring has copies
		if o.Spender == nil {
			o.Logger.Info("elicit: secrets are shared but Options.Spender is not set: the last round of a call, sent again to another instance, repeats its effect")
		}
	}
	s.spender = o.Spender
	if s.spender == nil {
		s.spender = newMemorySpender(maxSpent)
	}
	s.audience = state.DigestOf(wire.Learn(server).Name)
	server.AddReceivingMiddleware(s.receive)
	server.AddSendingMiddleware(s.send)
	return s
}

// MCP is the server that New was given.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// Handler serves s over Streamable HTTP, for clients of 2026-07-28 and of the revisions before it; see
// [streamable.NewHandler]. Sessions of older clients belong to the principal that opened them.
func (s *Server) Handler(opts *streamable.Options) http.Handler {
	o := streamable.Options{}
	if opts != nil {
		o = *opts
	}
	if o.Identity == nil {
		o.Identity = func(r *http.Request, extra *mcp.RequestExtra) (string, error) {
			p, err := s.opts.Principal(r.Context(), extra)
			if err != nil || p == (Principal{}) {
				return "", err
			}
			d := p.digest()
			return string(d[:]), nil
		}
	}
	if o.Logger == nil {
		o.Logger = s.opts.Logger
	}
	return streamable.NewHandler(s.mcp, &o)
}

// Run serves s over a transport such as &mcp.StdioTransport{}, until the client closes it or ctx ends. It reads as
// strictly, and as leniently, as [Server.Handler] does.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	return s.mcp.Run(ctx, wire.Strict(t))
}

// A ToolOption says more about a tool, prompt or resource than its mcp declaration does.
type ToolOption = tool.Option

// Asks declares questions that a handler asks. Their words are then known at start-up, so a mistake in them panics
// there; and a declared question may be answered without proof where there is nothing to move an answer from or to (see
// [Question.Bound]).
func Asks(questions ...AnyQuestion) ToolOption {
	return tool.OptionFunc(func(c *tool.Config) {
		for _, q := range questions {
			c.Asks = append(c.Asks, q.declared())
		}
	})
}

// feature is what declarations are for: the method is empty for whatever has the name.
type feature struct{ method, name string }

// Declare gives options to the tool, prompt, resource (by URI) or resource template (by URI template) of that name,
// which something else registers, before or after. Declarations add up. It panics if an option is wrong.
func (s *Server) Declare(name string, opts ...ToolOption) {
	s.declare("Declare", feature{"", name}, opts)
}

func (s *Server) declare(caller string, f feature, opts []ToolOption) {
	var c tool.Config
	for _, o := range opts {
		o.Apply(&c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	asks := map[string]state.Digest{}
	if f.method == "" { // the others are registered anew, and so are their declarations
		maps.Copy(asks, s.features[f])
	}
	for _, q := range c.Asks {
		if q.Err != nil {
			panic(fmt.Sprintf("elicit.%s: %q: %v", caller, f.name, q.Err))
		}
		if _, dup := asks[q.Key]; dup {
			panic(fmt.Sprintf("elicit.%s: %q: two questions have the key %q; give each its own", caller, f.name, q.Key))
		}
		asks[q.Key] = q.Digest
		switch {
		case q.Page == nil:
		case s.pages != nil:
			s.pages.Declare(q.Page)
		default:
			s.urls = append(s.urls, q.Page)
		}
	}
	s.features[f] = asks
	s.declareTask(f, c)
}

// AddTool is mcp.AddTool plus declarations: schemas come from In and Out unless t has them, arguments and outputs are
// validated against them, and an error of h is a tool error that the model can read. It decodes the arguments of a call
// once, which mcp.AddTool does three times. It panics if a schema or a declaration is wrong.
func AddTool[In, Out any](s *Server, t *mcp.Tool, h mcp.ToolHandlerFor[In, Out], opts ...ToolOption) {
	s.declare("AddTool", feature{"tools/call", t.Name}, opts)
	tool, handler, err := typedTool(t, h)
	if err != nil {
		panic(fmt.Sprintf("elicit.AddTool: tool %q: %v", t.Name, err))
	}
	s.mcp.AddTool(tool, handler)
}

// AddPrompt is mcp.Server.AddPrompt plus declarations. It panics if one of them is wrong.
func AddPrompt(s *Server, p *mcp.Prompt, h mcp.PromptHandler, opts ...ToolOption) {
	s.declare("AddPrompt", feature{"prompts/get", p.Name}, opts)
	s.mcp.AddPrompt(p, h)
}

// AddResource is mcp.Server.AddResource plus declarations. It panics if one of them is wrong.
func AddResource(s *Server, r *mcp.Resource, h mcp.ResourceHandler, opts ...ToolOption) {
	s.declare("AddResource", feature{"resources/read", r.URI}, opts)
	s.mcp.AddResource(r, h)
}

// AddResourceTemplate is mcp.Server.AddResourceTemplate plus declarations. It panics if one of them is wrong. Answers to
// questions of a template always need proof, as its URI is an argument.
func AddResourceTemplate(s *Server, t *mcp.ResourceTemplate, h mcp.ResourceHandler, opts ...ToolOption) {
	s.declare("AddResourceTemplate", feature{"resources/read", t.URITemplate}, opts)
	s.mcp.AddResourceTemplate(t, h)
}

// fixed reports whether a question with this key and digest was declared for a tool, prompt or fixed resource.
func (s *Server) fixed(f feature, key string, d state.Digest) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range [...]feature{f, {"", f.name}} {
		if declared, ok := s.features[f][key]; ok && declared == d {
			return true
		}
	}
	return false
}

// Text is a tool result of one text.
func Text(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
