// Command elicit calls MCP tools that ask their user for a form in the middle of a call, and shows what goes over the
// wire.
//
//	elicit demo                      a server that asks, called and answered in one process
//	elicit call URL TOOL             calls a tool of any MCP server; asks at the terminal what the tool asks
//	elicit call URL TOOL --answer ship.trackingNumber=1Z999
//	elicit call TOOL -- COMMAND ...  the same of a server that runs on standard input and output
//	elicit task wait URL ID          goes on with a call that became a task; also task get and task cancel
//	elicit tools URL                 what a server has
//	elicit preview FILE              shows a form as its users will see it
//	elicit check URL [TOOL]          tests a server against the specification
//	elicit keygen                    a fresh secret for elicit.Options.Secrets
//	elicit vet ./...                 finds mistakes in the use of elicit that compile; also a go vet -vettool
//	elicit migrate [STORE]           makes the tables that tasks are kept in, or brings them up to date
//	elicit doc                       writes what doc comments say into Go code, for forms to show
//	elicit completion bash           a script that completes command lines, also for zsh and fish
//	elicit version
//	elicit help [COMMAND]
//
// Results go to stdout, everything else to stderr. Exit codes: 0 the tool succeeded; 1 it reported an error; 2 the
// command line is wrong; 3 the server could not be reached or understood, or refused the call; 4 an answer was needed
// and not available; 130 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/elicit-go/elicit/lint"
)

// Exit codes. Scripts rely on them.
const (
	exitOK          = 0
	exitToolError   = 1
	exitUsage       = 2
	exitServer      = 3
	exitUnanswered  = 4
	exitInterrupted = 130
)

type cli struct {
	Demo       demoCmd       `cmd:"" help:"Start a server with a tool that asks, call it, and show both requests."`
	Call       callCmd       `cmd:"" help:"Call a tool of an MCP server and answer what it asks."`
	Task       taskCmd       `cmd:"" help:"Look at a call that became a task, go on with it, or end it."`
	Tools      toolsCmd      `cmd:"" help:"List the tools of an MCP server."`
	Check      checkCmd      `cmd:"" help:"Test an MCP server from outside against the specification."`
	Preview    previewCmd    `cmd:"" help:"Show a form, from a schema or a result that asks, as its users will see it."`
	Keygen     keygenCmd     `cmd:"" help:"Print a fresh secret for elicit.Options.Secrets."`
	Vet        vetCmd        `cmd:"" passthrough:"" help:"Find mistakes in the use of elicit that compile."`
	Migrate    migrateCmd    `cmd:"" help:"Make the tables that tasks are kept in, or bring them up to date."`
	Doc        docCmd        `cmd:"" passthrough:"" help:"Write what doc comments say into Go code, for forms to show."`
	Completion completionCmd `cmd:"" help:"Print a script that completes command lines in your shell."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Help       helpCmd       `cmd:"" help:"Explain a command, with examples."`
}

const description = `Call MCP tools that ask their user for a form in the middle of a call.

Examples:

  elicit demo
  elicit call http://localhost:5280/ ShipOrder
  elicit call ShipOrder -- go run ./examples/shiporder -stdio
  elicit check http://localhost:5280/ ShipOrder --safe
  elicit help call

Exit codes: 0 success, 1 the tool reported an error, 2 wrong usage, 3 the server could not be reached or refused the call, 4 an answer was needed and not available.`

// An exitError ends the program with a code. Its text is printed unless it is empty.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// A sequel is an error and what is printed after it.
type sequel struct {
	error
	text string
}

func (e *sequel) Unwrap() error { return e.error }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func main() {
	if lint.IsVetTool(os.Args[1:]) {
		lint.Main()
	}
	con := newConsole()
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range signals {
			// A prompt that waits takes the interrupt for a cancel; otherwise it ends the program, the second time by force.
			if t := con.terminal.Load(); s == os.Interrupt && t != nil && t.Interrupt() {
				continue
			}
			// While a task is waited for, the program asks what becomes of it: a second interrupt ends that.
			asks := s == os.Interrupt && ctx.Err() == nil && con.following.Load() && con.interactive
			switch {
			case s != os.Interrupt:
				cancel(errTerminated)
			case ctx.Err() == nil:
				cancel(errInterrupted)
			default:
				select {
				case con.again <- struct{}{}:
				default:
				}
			}
			if !asks {
				signal.Reset()
			}
		}
	}()
	os.Exit(run(ctx, con, os.Args[1:]))
}

var (
	errInterrupted = errors.New("interrupted")
	errTerminated  = errors.New("terminated")
)

// run is the program: it parses args, runs the command and returns the exit code.
func run(ctx context.Context, con *console, args []string) int {
	var c cli
	stopped := false
	parser, err := kong.New(&c,
		kong.Name("elicit"), kong.Description(description), kong.UsageOnError(),
		kong.Writers(con.out, con.err), kong.Exit(func(int) { stopped = true }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(con))
	if err != nil {
		panic(err) // A fault in the declarations above.
	}
	if len(args) > 0 && args[0] == completing {
		complete(con.out, parser.Model, args[1:])
		return exitOK
	}
	if i := slices.Index(args, "--"); i >= 0 {
		args, con.command = args[:i], append([]string{}, args[i+1:]...)
	}
	command, err := parser.Parse(args)
	switch {
	case stopped: // --help has been printed.
		return exitOK
	case err != nil:
		con.problem(err)
		con.say("Run elicit --help, or elicit COMMAND --help.")
		return exitUsage
	}
	if node := command.Selected(); con.command != nil && node.Name != "call" && node.Name != "tools" && node.Parent.Name != "task" {
		err = usage("elicit %s takes no command after --", node.Name)
	} else {
		err = command.Run()
	}
	if err == nil {
		return exitOK
	}
	code := exitServer
	var exit *exitError
	var then *sequel
	errors.As(err, &then)
	if errors.As(err, &exit) {
		code = exit.code
	}
	if ctx.Err() != nil {
		code, err = exitInterrupted, context.Cause(ctx)
	}
	con.problem(err)
	if then != nil {
		con.say("elicit: " + then.text)
	}
	return code
}
