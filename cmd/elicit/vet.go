package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// vetCmd leaves its flags to go vet.
type vetCmd struct {
	Args []string `arg:"" optional:"" help:"[-hints] [flags of go vet] [packages]"`
}

const vetHelp = `Usage: elicit vet [-hints] [-elicitNNN=false] [-json] [-fix] [packages]

Finds mistakes in the use of elicit that compile. It is go vet, with this command as its vettool, so flags and packages are as go vet takes them; without any, the package in this directory.

  -hints            report effects before the first question and after the last one, too
  -elicit003=false  leave out a rule; -elicit003 runs it alone
  -json             print diagnostics and fixes as JSON
  -fix              apply fixes; with -diff, show them

Each rule has a paragraph in https://github.com/elicit-go/elicit/blob/main/docs/analyzers.md. Exit code 1: something was found, or a package does not compile.
`

func (*vetCmd) Help() string { return "Run elicit vet -help for all of it." }

func (c *vetCmd) Run(ctx context.Context, con *console) error {
	if len(c.Args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, c.Args[0]) {
		fmt.Fprint(con.out, vetHelp)
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return &exitError{exitServer, err}
	}
	args := []string{"vet", "-vettool=" + self}
	for _, a := range c.Args {
		if a == "-hints" || a == "--hints" {
			args = append(args, "-elicit010.on", "-elicit011.on")
			continue
		}
		args = append(args, a)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = con.in, con.out, con.err
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code := exitToolError
		if exit.ExitCode() == 2 {
			code = exitUsage
		}
		return &exitError{code, errors.New("")} // go vet has said what is wrong
	}
	if err != nil {
		return &exitError{exitServer, err}
	}
	return nil
}
