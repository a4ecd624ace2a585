package main

import (
	"context"
	"errors"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" complete:"commands" help:"The command to explain."`
}

func (*helpCmd) Help() string {
	return `Examples:

  elicit help
  elicit help call
  elicit help task wait`
}

func (c *helpCmd) Run(ctx context.Context, con *console) error {
	if code := run(ctx, con, append(c.Command, "--help")); code != exitOK {
		return &exitError{code, errors.New("")}
	}
	return nil
}
