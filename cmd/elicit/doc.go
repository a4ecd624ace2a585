package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/elicit-go/elicit/cmd/elicit/internal/docgen"
)

// docCmd reads its own flags, so that they are written as those of other programs of go:generate.
type docCmd struct {
	Args []string `arg:"" optional:"" help:"[-check] [-types=A,B] [packages]"`
}

const docHelp = `Usage: elicit doc [-check] [-types=A,B] [packages]

Writes elicit_doc.go: a method ElicitDoc for each struct of a package that it asks for in a form (form.For, form.Build, elicit.NewQuestion…), with what the doc comments of the fields say. Forms show it as descriptions. Put

    //go:generate go tool elicit doc

into a file of the package, after "go get -tool github.com/elicit-go/elicit/cmd/elicit".

Comments of embedded structs are read too, whatever package they are in. A jsonschema tag goes before a comment. A struct that another package asks for is named with -types, in its own package.

  -check      write nothing; fail if a file is not as it would be written, for CI
  -types=A,B  these structs, too

Packages are as go list takes them; without any, the one in this directory.
`

func (*docCmd) Help() string { return "Run elicit doc -help for all of it." }

func (c *docCmd) Run(ctx context.Context, con *console) error {
	flags := flag.NewFlagSet("elicit doc", flag.ContinueOnError)
	flags.SetOutput(con.err)
	flags.Usage = func() {}
	check := flags.Bool("check", false, "")
	names := flags.String("types", "", "")
	if err := flags.Parse(c.Args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(con.out, docHelp)
			return nil
		}
		return usage("run elicit doc -help") // flag has said what is wrong
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	var typeNames []string
	for name := range strings.SplitSeq(*names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			typeNames = append(typeNames, name)
		}
	}
	files, err := docgen.Generate(ctx, "", patterns, typeNames, *check)
	if err != nil {
		return &exitError{exitToolError, err}
	}
	var stale []string
	for _, f := range files {
		if !f.Stale() {
			continue
		}
		name := f.Path
		if wd, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(wd, name); err == nil {
				name = rel
			}
		}
		if *check {
			stale = append(stale, name)
			continue
		}
		if err := f.Update(); err != nil {
			return &exitError{exitToolError, err}
		}
		con.say("wrote " + name)
	}
	if len(stale) > 0 {
		return &exitError{exitToolError, fmt.Errorf("out of date: %s; run go generate", strings.Join(stale, ", "))}
	}
	return nil
}
