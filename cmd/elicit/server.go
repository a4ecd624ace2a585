package main

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverFlags say how to speak to a server, and how long.
type serverFlags struct {
	connectFlags
	Timeout time.Duration `default:"5m" help:"How long to wait for the server, not counting the time that answering takes; 0 is for ever."`
}

// connectFlags say how to speak to a server.
type connectFlags struct {
	Wire wireMode `placeholder:"raw" complete:"raw,on,off" help:"Print every message to stderr, without credentials and states; --wire=raw with them."`
	credentialFlags
	Protocol string `placeholder:"VERSION" complete:"2026-07-28,2025-11-25,2025-06-18" help:"Protocol version to speak: 2026-07-28, 2025-11-25, 2025-06-18. Default: the newest that both know."`
}

// credentialFlags are what goes with every request to a server with a URL.
type credentialFlags struct {
	TokenEnv  string   `placeholder:"NAME" complete:"env" help:"Send the bearer token that this environment variable has."`
	TokenFile string   `placeholder:"FILE" complete:"files" help:"Send the bearer token that this file has; - is stdin."`
	Header    []string `sep:"none" placeholder:"NAME: VALUE" help:"Add a header to every request. Its value is hidden by --wire."`
}

// tool is the name of the tool.
func (c *console) tool(first *string, second string) (string, error) {
	return c.afterURL(first, second, "which tool? Run elicit tools to see what a server has")
}

// afterURL is the argument after the URL. Where a command follows --, there is no URL before it.
func (c *console) afterURL(first *string, second, missing string) (string, error) {
	word := second
	if c.command != nil {
		if second != "" {
			return "", usage("give the URL of a server or, after --, the command that runs one, and not both")
		}
		word, *first = *first, ""
	}
	if word == "" && *first != "" && !strings.Contains(*first, "://") {
		return "", usage("%q stands where the URL of the server does, such as http://localhost:5280/; what it is for follows that", *first)
	}
	if word == "" {
		return "", usage("%s", missing)
	}
	return word, nil
}

// oneStdin takes stdin for what is named "-", and refuses to read it twice.
func (c *console) oneStdin(names ...string) error {
	stdin := 0
	for _, name := range names {
		if name == "-" {
			stdin++
		}
	}
	switch stdin {
	case 0:
	case 1:
		c.pipe()
	default:
		return usage("stdin (-) can be read once: for one of --args, --answers and --token-file")
	}
	return nil
}

// connect connects to the server at the URL, or to the command after --, which gets the terminal's standard error.
func (f *connectFlags) connect(ctx context.Context, con *console, address string, opts *answer.Options) (*mcp.ClientSession, error) {
	impl := &mcp.Implementation{Name: "elicit", Version: version()}
	opts.ProtocolVersion = f.Protocol
	if con.command != nil {
		if f.TokenEnv != "" || f.TokenFile != "" || len(f.Header) > 0 {
			return nil, usage("--token-env, --token-file and --header are for servers with a URL")
		}
		if len(con.command) == 0 {
			return nil, usage("which command runs the server? It follows --")
		}
		opts.Wire = f.Wire.tap(con, nil)
		cmd := exec.CommandContext(ctx, con.command[0], con.command[1:]...)
		cmd.Stderr = con.serverLog()
		return answer.ConnectTransport(ctx, impl, &mcp.CommandTransport{Command: cmd}, opts)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usage("%q is not an http or https URL, such as http://localhost:5280/", address)
	}
	opts.Header = http.Header{}
	if err := f.credentials(con, opts); err != nil {
		return nil, err
	}
	hide := []string{}
	for name := range opts.Header {
		hide = append(hide, name)
	}
	opts.Wire = f.Wire.tap(con, hide)
	if u.Scheme == "http" && !loopback(u.Hostname()) && (opts.Token != "" || len(opts.Header) > 0) {
		con.say("elicit: warning: the credentials go to " + u.Host + " unencrypted; use https if the server has it")
	}
	return answer.Connect(ctx, impl, address, opts)
}

// credentials reads the token and the headers.
func (f *credentialFlags) credentials(con *console, opts *answer.Options) error {
	for _, h := range f.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return usage("a --header is not of the form \"Name: value\"")
		}
		opts.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	switch {
	case f.TokenEnv != "" && f.TokenFile != "":
		return usage("--token-env and --token-file exclude each other")
	case f.TokenEnv != "":
		opts.Token = strings.TrimSpace(os.Getenv(f.TokenEnv))
		if opts.Token == "" {
			return usage("--token-env: the environment variable %s is not set", f.TokenEnv)
		}
	case f.TokenFile != "":
		data, err := con.readInput(f.TokenFile)
		if err != nil {
			return usage("--token-file: %w", err)
		}
		if opts.Token = strings.TrimSpace(string(data)); opts.Token == "" {
			return usage("--token-file: %s is empty", f.TokenFile)
		}
	}
	return nil
}

// serverLog is where a command's own standard error goes, line by line and without what could drive the terminal.
func (c *console) serverLog() *plainWriter { return &plainWriter{say: c.say} }

// A plainWriter prints lines as [answer.Plain] leaves them.
type plainWriter struct {
	say  func(string)
	rest []byte
}

func (w *plainWriter) Write(p []byte) (int, error) {
	const longest = 64 << 10
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := strings.Cut(string(w.rest), "\n")
		if !found && len(w.rest) < longest {
			return len(p), nil
		}
		w.say("| " + strings.TrimRight(line, "\r"))
		w.rest = []byte(rest)
	}
}

// loopback tells whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
