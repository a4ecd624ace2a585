package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

func (*versionCmd) Help() string {
	return `It names the SDK and the Go that this build was made with as well: a report of a fault needs all three.

Examples:

  elicit version`
}

func (*versionCmd) Run(con *console) error {
	line := "elicit " + version()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/modelcontextprotocol/go-sdk" {
				line += ", go-sdk " + dep.Version
			}
		}
		line += ", " + info.GoVersion
	}
	fmt.Fprintln(con.out, line)
	return nil
}

// version is the module's version as far as the build knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
