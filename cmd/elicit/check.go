package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/cmd/elicit/check"
)

type checkCmd struct {
	URL  string `arg:"" help:"Where the server is: http://localhost:5280/"`
	Tool string `arg:"" optional:"" help:"A tool that asks for a form when it is called without arguments. Without one, what asks and answers is not checked."`

	Safe bool `help:"Calling the tool and accepting what it asks does no harm: accept, with values made up."`
	Yes  bool `help:"Check a server on another machine: it is yours, or you may."`
	JSON bool `help:"Print the checklist as JSON."`
	credentialFlags
}

func (*checkCmd) Help() string {
	return `It sends right and wrong requests, 60 at most, to a server written in any language, and says of each what was sent, what came back, what the specification (2026-07-28) asks and where. Exit code 1 when something fails that the specification says MUST of.

Examples:

  elicit check http://localhost:5280/
  elicit check http://localhost:5280/ ShipOrder --safe
  elicit check https://mcp.example.com/ Search --yes --token-env TOKEN`
}

func (c *checkCmd) Run(ctx context.Context, con *console) error {
	opts := &answer.Options{Header: http.Header{}}
	if err := c.credentials(con, opts); err != nil {
		return err
	}
	if opts.Token != "" {
		opts.Header.Set("Authorization", "Bearer "+opts.Token)
	}
	con.spinner.start("checking " + answer.PlainLine(c.URL))
	results, err := check.Run(ctx, check.Options{URL: c.URL, Tool: c.Tool, Safe: c.Safe, Header: opts.Header, Remote: c.Yes})
	con.spinner.stop()
	if err != nil {
		return &exitError{exitServer, err}
	}
	passed, failed, must := 0, 0, 0
	for _, r := range results {
		switch {
		case r.Verdict == check.Pass:
			passed++
		case r.Verdict == check.Fail && r.Must:
			failed++
			must++
		case r.Verdict == check.Fail:
			failed++
		}
	}
	if c.JSON {
		data, err := json.MarshalIndent(results, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(con.out, escapeHidden(data))
	} else {
		for _, r := range results {
			printResult(con, r)
		}
		fmt.Fprintf(con.out, "\n%d passed, %d failed, %d of them a MUST, %d not applicable\n", passed, failed, must, len(results)-passed-failed)
	}
	if must > 0 {
		return &exitError{exitToolError, errors.New("")}
	}
	return nil
}

func printResult(con *console, r check.Result) {
	mark := map[check.Verdict]string{check.Pass: con.paint(green, "ok    "), check.Fail: con.paint(yellow, "should"), check.NotApplicable: "-     "}[r.Verdict]
	if r.Verdict == check.Fail && r.Must {
		mark = con.paint(red, "FAIL  ")
	}
	line := func(s string) { fmt.Fprintln(con.out, strings.TrimRight(answer.PlainLine(s), " ")) }
	fmt.Fprint(con.out, mark+"  ")
	line(r.Name)
	if r.Verdict == check.Pass {
		return
	}
	for _, part := range []struct{ label, text string }{{"sent", r.Sent}, {"came", r.Came}, {"rule", r.Rule + " (" + r.Where + ")"}, {"hint", r.Hint}} {
		if part.text != "" {
			fmt.Fprint(con.out, "        "+part.label+"  ")
			line(part.text)
		}
	}
}
