package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type callCmd struct {
	URL  string `arg:"" help:"Where the server is: http://localhost:5280/"`
	Tool string `arg:"" help:"The tool to call: ShipOrder"`

	Arg  []string `sep:"none" placeholder:"NAME=VALUE" help:"An argument of the tool, converted to the type the tool's schema names."`
	Args string   `placeholder:"JSON|FILE" help:"All arguments as a JSON object, or the file that has it; - is stdin."`
	answerFlags
	JSON bool     `help:"Print the whole result as JSON."`
	Wire wireMode `placeholder:"raw" help:"Print every request and response to stderr, without credentials and states; --wire=raw with them."`

	TokenEnv  string        `placeholder:"NAME" help:"Send the bearer token that this environment variable has."`
	TokenFile string        `placeholder:"FILE" help:"Send the bearer token that this file has; - is stdin."`
	Header    []string      `sep:"none" placeholder:"NAME: VALUE" help:"Add a header to every request. Its value is hidden by --wire."`
	Protocol  string        `placeholder:"VERSION" help:"Protocol version to speak: 2026-07-28, 2025-11-25, 2025-06-18. Default: the newest that both know."`
	Timeout   time.Duration `default:"5m" help:"How long to wait for the server, not counting the time that answering takes; 0 is for ever."`
}

func (*callCmd) Help() string {
	return `Examples:

  elicit call http://localhost:5280/ ShipOrder
  elicit call http://localhost:5280/ ShipOrder --answer ship.trackingNumber=1Z999 --wire
  elicit call https://mcp.example.com/ Deploy --arg env=prod --decline confirm --token-env TOKEN

In --answer ship.trackingNumber=1Z999, ship is the key of the question and trackingNumber a field of its form. At a terminal, what no flag answers is asked. Elsewhere the command ends with exit code 4 and names key and field.`
}

func (c *callCmd) Run(ctx context.Context, con *console) error {
	stdin := 0
	for _, name := range []string{c.Args, c.Answers, c.TokenFile} {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return usage("stdin (-) can be read for one of --args, --answers and --token-file")
	}
	opts := &answer.Options{ProtocolVersion: c.Protocol, Header: http.Header{}}
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usage("%q is not an http or https URL, such as http://localhost:5280/", c.URL)
	}
	if err := c.credentials(con, opts); err != nil {
		return err
	}
	a, err := c.answerer(con)
	if err != nil {
		return err
	}
	patience := newPatience(ctx, c.Timeout)
	defer patience.stop()
	ctx = patience.ctx
	opts.Answerer = patience.answerer(a)
	hide := []string{}
	for name := range opts.Header {
		hide = append(hide, name)
	}
	opts.Wire = c.Wire.tap(con, hide)
	if u, _ := url.Parse(c.URL); u.Scheme == "http" && !loopback(u.Hostname()) && (opts.Token != "" || len(opts.Header) > 0) {
		con.say("elicit: warning: the credentials go to " + u.Host + " unencrypted; use https if the server has it")
	}

	session, err := answer.Connect(ctx, &mcp.Implementation{Name: "elicit", Version: version()}, c.URL, opts)
	if err != nil {
		return patience.explain(err)
	}
	defer session.Close()
	args, err := arguments(ctx, con, session, c.Tool, c.Args, c.Arg)
	if err != nil {
		return patience.explain(err)
	}
	res, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: c.Tool, Arguments: args}, opts.Answerer)
	return finish(con, answer.PlainLine(c.Tool), res, patience.explain(err), c.JSON)
}

// credentials reads the token and the headers.
func (c *callCmd) credentials(con *console, opts *answer.Options) error {
	for _, h := range c.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return usage("a --header is not of the form \"Name: value\"")
		}
		opts.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	switch {
	case c.TokenEnv != "" && c.TokenFile != "":
		return usage("--token-env and --token-file exclude each other")
	case c.TokenEnv != "":
		opts.Token = strings.TrimSpace(os.Getenv(c.TokenEnv))
		if opts.Token == "" {
			return usage("--token-env: the environment variable %s is not set", c.TokenEnv)
		}
	case c.TokenFile != "":
		data, err := con.readInput(c.TokenFile)
		if err != nil {
			return usage("--token-file: %w", err)
		}
		if opts.Token = strings.TrimSpace(string(data)); opts.Token == "" {
			return usage("--token-file: %s is empty", c.TokenFile)
		}
	}
	return nil
}

// loopback tells whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// patience bounds how long a server may take, and stops counting while a person answers.
type patience struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration

	mu    sync.Mutex
	timer *time.Timer // nil: no limit
}

func newPatience(ctx context.Context, limit time.Duration) *patience {
	p := &patience{limit: limit}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	if limit > 0 {
		p.timer = time.AfterFunc(limit, func() {
			p.cancel(fmt.Errorf("the server did not finish within %v: give it longer with --timeout", limit))
		})
	}
	return p
}

func (p *patience) stop() {
	p.pause(true)
	p.cancel(nil)
}

func (p *patience) pause(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.timer == nil:
	case on:
		p.timer.Stop()
	default:
		p.timer.Reset(p.limit)
	}
}

// answerer is a, with the clock stopped while it answers.
func (p *patience) answerer(a answer.Answerer) answer.Answerer {
	return answer.AnswererFunc(func(ctx context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
		p.pause(true)
		defer p.pause(false)
		return a.Answer(ctx, r)
	})
}

// explain says why a call ended, when the reason was ours.
func (p *patience) explain(err error) error {
	if err == nil || p.ctx.Err() == nil {
		return err
	}
	return context.Cause(p.ctx)
}
