package page

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pages serves the pages below Options.Base: mount it there, as in mux.Handle("/pages/", pages). It looks at the path of
// the URL as the client sent it, so a prefix must not be stripped. Without Options.Base it serves itself. It is safe for
// concurrent use.
type Pages struct {
	shop tool.Shop
	opts Options

	mu        sync.RWMutex
	base      *url.URL // nil before a listener of its own is started
	listener  net.Listener
	flows     map[state.Digest]flow
	returners map[string]returner

	waiting    waiting
	refreshing refreshing
}

// Enable gives a server the pages that its URL questions send people to. Call it once, before the server serves; tools may
// be added before or after. It panics if opts cannot work, saying what to change.
//
// It logs an error for each secret that is still needed to open entries of the Vault and is not in elicit.Options.Secrets.
func Enable(shop *elicit.Server, opts Options) *Pages {
	wrong := func(format string, args ...any) { panic("page.Enable: " + fmt.Sprintf(format, args...)) }
	if shop == nil {
		wrong("the server is nil: give it what elicit.New returned")
	}
	p := &Pages{opts: opts, flows: map[state.Digest]flow{}, returners: map[string]returner{}}
	o := &p.opts
	if o.Base == "" {
		if o.Identify != nil {
			wrong("Options.Identify needs Options.Base: the URL that people reach the pages at, such as https://mcp.example.com/pages")
		}
	} else {
		base, err := parseBase(o.Base)
		if err != nil {
			wrong("Options.Base %q: %v", o.Base, err)
		}
		if o.Identify == nil && !isLoopback(base.Hostname()) {
			wrong("Options.Base %q is not on a loopback name, and Options.Identify is not set: whoever has a link could answer for the person who was asked. Set Identify (page/oidc has one)", o.Base)
		}
		p.base = base
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		usual time.Duration
	}{{"Wait", &o.Wait, 25 * time.Second}, {"Expiry", &o.Expiry, 30 * time.Minute}} {
		if *d.value < 0 {
			wrong("Options.%s is negative: leave it 0 for %v", d.name, d.usual)
		}
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if o.MaxWaiting < 0 {
		wrong("Options.MaxWaiting is negative: leave it 0 for 10,000")
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 10_000
	}
	own := o.Vault == nil
	if own {
		o.Vault = NewMemoryVault()
	}
	p.waiting.init(p)
	err := tool.EnablePages(shop, func(s tool.Shop) tool.Pages {
		p.shop = s
		return seam{p}
	})
	if err != nil {
		wrong("%v", err)
	}
	enabled.Store(weak.Make(p.shop.MCP), weak.Make(p))
	runtime.AddCleanup(p.shop.MCP, func(k weak.Pointer[mcp.Server]) { enabled.Delete(k) }, weak.Make(p.shop.MCP))
	if own && !p.shop.OwnSecret {
		p.shop.Logger.Info("page: Options.Vault is not set: what people enter on a page of this instance is not there for another, nor after a restart")
	}
	p.reportSecrets()
	return p
}

// enabled are the Pages of servers, for elicittest. It keeps neither alive.
var enabled sync.Map // weak.Pointer[mcp.Server] → weak.Pointer[Pages]

// parseBase reads Options.Base.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it is no URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("write https://HOST/PATH")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, fmt.Errorf("it is a scheme, a host and a path alone")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("it must be https, as it is not on a loopback name (localhost, 127.0.0.1)")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if u.Path != "" && (u.Path == "/" || path.Clean(u.Path) != u.Path || u.EscapedPath() != u.Path) {
		return nil, fmt.Errorf("its path %q has empty or dotted parts, or characters that are escaped: write a plain one, such as /pages", u.Path)
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.RawPath = ""
	return u, nil
}

// Base is the URL that the pages are below, without a slash at its end. Without Options.Base it starts the listener, and
// fails if there is no free port.
func (p *Pages) Base() (string, error) {
	u, err := p.baseURL()
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func (p *Pages) baseURL() (*url.URL, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.base == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("page: no listener for the pages: %w", err)
		}
		p.listener = l
		p.base = &url.URL{Scheme: "http", Host: l.Addr().String()}
		server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
		go func() { _ = server.Serve(l) }()
	}
	return p.base, nil
}

// Close stops the listener that was started without Options.Base. Waiting calls are not ended.
func (p *Pages) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener == nil {
		return nil
	}
	l := p.listener
	p.listener, p.base = nil, nil
	return l.Close()
}

// seam is Pages as the root package sees them.
type seam struct{ *Pages }

// Declare implements tool.Pages.
func (p seam) Declare(u tool.URL) {
	f, ok := u.(flow)
	if !ok {
		return // a redirect: all there is to know is in the link
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flows[f.Shape()] = f
	if r, ok := f.(returner); ok {
		name := r.callbackName()
		if other, ok := p.returners[name]; ok && other.provider() != r.provider() {
			panic(fmt.Sprintf("page.Connect: two providers have the redirect URI that ends in /callback/%s, so that one's answer could be passed off as the other's: set ConnectOptions.Callback of one", name))
		}
		p.returners[name] = r
	}
}

// flowOf is the flow of a question that is asked.
func (p *Pages) flowOf(u tool.URL) (flow, error) {
	if r, ok := u.(*tool.Redirect); ok {
		return redirect{r}, nil
	}
	if f := p.declared(u.Shape()); f != nil {
		return u.(flow), nil
	}
	return nil, fmt.Errorf("it is not declared: give it to elicit.Asks where the tool is added, so that the page knows it on every instance (WithMessagef and WithKey may change the question afterwards)")
}

func (p *Pages) declared(shape state.Digest) flow {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.flows[shape]
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// question makes a URL question of flow f.
func question[T any](key, message string, f flow) *elicit.Question[T] {
	q := new(elicit.Question[T])
	tool.FillURL(q, key, message, f)
	return q
}

// reportSecrets says which secrets the entries of the vault still need.
func (p *Pages) reportSecrets() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	inUse, err := p.opts.Vault.Secrets(ctx)
	if err != nil {
		p.shop.Logger.Error("page: the vault does not say which secrets its entries are under", "error", err)
		return
	}
	for _, name := range inUse {
		switch i := p.shop.Ring.Index(name); {
		case i < 0:
			p.shop.Logger.Error("page: entries of the vault are sealed under a secret that is not in elicit.Options.Secrets: they cannot be read, and people are asked again; put it back, behind the newest", "kid", name)
		case i > 0:
			p.shop.Logger.Info("page: entries of the vault are still sealed under an older secret: keep it in elicit.Options.Secrets until they were read or have expired", "kid", name)
		}
	}
}
