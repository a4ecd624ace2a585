package lint_test

import (
	"strings"
	"testing"

	"github.com/elicit-go/elicit/lint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	_ "github.com/elicit-go/elicit" // which testdata imports, so that it is a requirement of this module
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Each rule is run on the packages of testdata/ID, where comments say what it must report. What they do not say, it must not.
// Where it offers fixes, the golden file is what they make. It is one test, so that what all import is read once.
func TestRules(t *testing.T) {
	rules := map[string]*analysis.Analyzer{}
	all := &analysis.Analyzer{Name: "all", Doc: "all"}
	var patterns []string
	for _, a := range lint.Analyzers() {
		if f := a.Flags.Lookup("on"); f != nil {
			if err := f.Value.Set("true"); err != nil {
				t.Fatal(err)
			}
			defer f.Value.Set("false")
		}
		rules[a.Name] = a
		all.Requires = append(all.Requires, a.Requires...)
		patterns = append(patterns, "./testdata/"+a.Name+"/...")
	}
	all.Run = func(pass *analysis.Pass) (any, error) {
		_, path, _ := strings.Cut(pass.Pkg.Path(), "/testdata/")
		id, _, _ := strings.Cut(path, "/")
		p := *pass
		p.Analyzer = rules[id]
		return p.Analyzer.Run(&p)
	}
	analysistest.RunWithSuggestedFixes(t, ".", all, patterns...)
}
