package lint

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

// IsVetTool reports whether a program was called as go vet calls its vettool, with such arguments.
func IsVetTool(args []string) bool {
	return len(args) > 0 && (args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], ".cfg"))
}

// Main is the main function of a vettool, which go vet runs for each package. It does not return.
//
// It is unitchecker.Main, but for the packages that are only looked at: these it reads by the export data that the compiler has
// made, and only if they have to do with elicit or another MCP library. So a program does not pay for all that it is built of.
func Main() {
	args := os.Args[1:]
	if args[0] == "-V=full" || args[0] == "-flags" || slices.ContainsFunc(args, func(a string) bool { return strings.TrimLeft(a, "-") == "fix" }) {
		unitchecker.Main(Analyzers()...)
	}
	rules, asJSON := parseFlags(args)
	u, err := readUnit(args[len(args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "elicit vet:", err)
		os.Exit(1)
	}
	if u.Stdout != "" {
		f, err := os.Create(u.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, "elicit vet:", err)
			os.Exit(1)
		}
		os.Stdout = f
	}
	found, err := u.run(rules)
	if err != nil {
		fmt.Fprintln(os.Stderr, "elicit vet:", err)
		os.Exit(1)
	}
	switch {
	case len(found) == 0:
	case asJSON:
		if err := json.NewEncoder(os.Stdout).Encode(u.tree(found)); err != nil {
			fmt.Fprintln(os.Stderr, "elicit vet:", err)
			os.Exit(1)
		}
	default:
		for _, f := range found {
			fmt.Fprintf(os.Stderr, "%s: %s\n", u.fset.Position(f.Pos), f.Message)
		}
		os.Exit(1)
	}
	os.Exit(0)
}

// parseFlags reads the flags of go vet as unitchecker does: a rule that is on leaves out the others, one that is off is left out.
func parseFlags(args []string) (rules []*analysis.Analyzer, asJSON bool) {
	all := Analyzers()
	on, off := map[string]bool{}, map[string]bool{}
	for _, a := range all {
		flag.BoolFunc(a.Name, "", func(s string) error {
			on[a.Name], off[a.Name] = s == "true", s == "false"
			return nil
		})
		a.Flags.VisitAll(func(f *flag.Flag) { flag.Var(f.Value, a.Name+"."+f.Name, f.Usage) })
	}
	flag.BoolVar(&asJSON, "json", false, "")
	for _, name := range []string{"source", "v", "all"} {
		flag.Bool(name, false, "")
	}
	flag.Int("c", -1, "")
	flag.String("tags", "", "")
	if err := flag.CommandLine.Parse(args); err != nil {
		os.Exit(2)
	}
	some := slices.ContainsFunc(all, func(a *analysis.Analyzer) bool { return on[a.Name] })
	return slices.DeleteFunc(all, func(a *analysis.Analyzer) bool { return some && !on[a.Name] || off[a.Name] }), asJSON
}
