package main

import (
	"context"
	"errors"
)

type helpCmd struct {
	Command string `arg:"" optional:"" complete:"commands" help:"The command to explain."`
}

func (*helpCmd) Help() string {
	return `Examples:

  elicit help
  elicit help call`
}

func (c *helpCmd) Run(ctx context.Context, con *console) error {
	args := []string{"--help"}
	if c.Command != "" {
		args = []string{c.Command, "--help"}
	}
	if code := run(ctx, con, args); code != exitOK {
		return &exitError{code, errors.New("")}
	}
	return nil
}
