// Package lint finds mistakes in the use of elicit that compile, and that neither types nor the checks at start-up find: a
// question that is asked forever, a refusal that is taken for a yes, a lock that is held while a person thinks.
//
// Each [Analyzers] member has one rule, an id that stays (elicit001 and so on), and a paragraph in docs/analyzers.md with wrong
// and right code, to which its diagnostics link. The command line runs them:
//
//	elicit vet ./...
//
// which is go vet with the command as its vettool: see [Main]. They fit other drivers of golang.org/x/tools/go/analysis, too.
//
// A rule reports what is wrong as far as one function, and what is known of the functions that it calls, can tell: helpers of
// other packages are known by facts. What it cannot follow, it does not report. Test files are not judged: tests do the wrong
// thing on purpose, and say so when they run.
package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Page is where each rule has its paragraph, under its id.
const Page = "https://github.com/elicit-go/elicit/blob/main/docs/analyzers.md"

// Analyzers are all rules, in the order of their ids. The last two are hints, which report nothing unless their flag "on" is set.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		LostError, IgnoredRefusal, Declarations, SharedKey, ChangingWords, WrongForm, OutsideCall, HeldLock, BareSchema,
		EffectBefore, EffectAfter,
	}
}

// rule makes an analyzer of a rule. doc is the rule in a line, then reason and fix.
func rule(id, doc string, run func(*reporter) error, requires ...*analysis.Analyzer) *analysis.Analyzer {
	a := &analysis.Analyzer{Name: id, Doc: doc, URL: Page + "#" + id, Requires: requires}
	a.Run = func(pass *analysis.Pass) (_ any, err error) {
		defer guard(pass, &err)
		return nil, run(&reporter{Pass: pass, seen: map[token.Pos]bool{}})
	}
	return a
}

// guard makes an error of a panic of ours, so that go vet goes on with other packages.
func guard(pass *analysis.Pass, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s failed on %s: %v; please report it, with the code\n%s", pass.Analyzer.Name, pass.Pkg.Path(), p, debug.Stack())
	}
}

// A reporter is a pass that reports by the rules of this package.
type reporter struct {
	*analysis.Pass
	seen  map[token.Pos]bool
	calls map[token.Pos]*ast.CallExpr // by the position of their parenthesis, as go/ssa has it
}

// model is what is known of the package.
func (r *reporter) model() *model { return r.ResultOf[modelAnalyzer].(*model) }

// report reports, once for each position, and never in a test file.
func (r *reporter) report(d analysis.Diagnostic) {
	if !d.Pos.IsValid() || r.seen[d.Pos] || isTest(r.Fset, d.Pos) {
		return
	}
	r.seen[d.Pos] = true
	d.Category, d.URL = r.Analyzer.Name, r.Analyzer.URL
	d.Message += " (" + r.Analyzer.Name + ")"
	r.Report(d)
}

func (r *reporter) reportf(pos token.Pos, format string, args ...any) {
	r.report(analysis.Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

func isTest(fset *token.FileSet, pos token.Pos) bool {
	return strings.HasSuffix(fset.File(pos).Name(), "_test.go")
}

// callAt is the call whose opening parenthesis is at pos.
func (r *reporter) callAt(pos token.Pos) *ast.CallExpr {
	if r.calls == nil {
		r.calls = map[token.Pos]*ast.CallExpr{}
		for _, f := range r.Files {
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok {
					r.calls[c.Lparen] = c
				}
				return true
			})
		}
	}
	return r.calls[pos]
}

// edit is a fix of one edit.
func edit(message string, pos, end token.Pos, text string) []analysis.SuggestedFix {
	return []analysis.SuggestedFix{{Message: message, TextEdits: []analysis.TextEdit{{Pos: pos, End: end, NewText: []byte(text)}}}}
}

// hint makes an analyzer of a rule that reports nothing unless its flag "on" is set.
func hint(id, doc string, run func(*reporter) error) *analysis.Analyzer {
	on := false
	a := rule(id, doc, func(r *reporter) error {
		if !on || r.model() == nil {
			return nil
		}
		return run(r)
	}, modelAnalyzer)
	a.Flags.BoolVar(&on, "on", false, "report "+id+", a hint")
	return a
}
