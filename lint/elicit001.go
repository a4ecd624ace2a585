package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// LostError reports an asking error that does not reach the handler's caller.
var LostError = rule("elicit001", `the error of a question must be returned

Require, Value and RequireAll ask by returning an error, and the handler must return that error, as it is or wrapped with %w: it is
what ends the round. A handler that drops it, logs it, puts its text into a result or wraps it with %v asked and answered at once;
the client gets -32603 "server bug: … asked … but did not return the error". A handler that goes on works with an answer that is
not there.

Return it. Code that logs or counts errors tells this one by errors.Is(err, elicit.ErrAsking).`, runLostError, modelAnalyzer)

func runLostError(r *reporter) error {
	m := r.model()
	if m == nil {
		return nil
	}
	for _, f := range m.funcs {
		if isMain(f) {
			continue
		}
		for c := range calls(f) {
			call, ok := c.(*ssa.Call)
			if !ok {
				continue // go and defer have a rule of their own
			}
			if nameOf(callee(call.Common())) == elicitPath+".Step" && resultOf(call, 1) == nil {
				r.reportf(position(call), "the error of elicit.Step is thrown away: the step may have failed, and its result is then the zero value; return the error")
				continue
			}
			if errs := m.askingErrs(call); len(errs) > 0 {
				r.checkError(m, call, errs)
			}
		}
		r.compareErrAsking(f)
	}
	return nil
}

// resultOf is a result of a call, nil if it is not used.
func resultOf(c *ssa.Call, i int) ssa.Value {
	if c.Common().Signature().Results().Len() == 1 {
		if len(*c.Referrers()) > 0 {
			return c
		}
		return nil
	}
	for _, ref := range *c.Referrers() {
		if e, ok := ref.(*ssa.Extract); ok && e.Index == i && len(*e.Referrers()) > 0 {
			return e
		}
	}
	return nil
}

func (r *reporter) checkError(m *model, c *ssa.Call, errs []int) {
	w := m.walkFrom(c, errs)
	if len(w.lost) == 0 || w.steps > maxSteps {
		return
	}
	what := "the error of " + m.callName(c)
	if resultOf(c, errs[0]) == nil {
		r.reportf(position(c), "%s is thrown away: while the user is being asked, the handler must return it", what)
		return
	}
	l := w.lost[0]
	for _, other := range w.lost { // the most telling one
		if other.work != nil || l.work == nil && (other.call != nil || l.call == nil && other.text != nil) {
			l = other
		}
	}
	related := []analysis.RelatedInformation{{Pos: position(c), Message: "it comes from here"}}
	switch {
	case l.work != nil:
		r.report(analysis.Diagnostic{Pos: position(l.work), Related: related,
			Message: fmt.Sprintf("%s uses the answer before %s is checked: while the user is being asked, it is the zero value; return the error first", l.work.Call.Value.Name(), what)})
	case l.call != nil:
		r.report(analysis.Diagnostic{Pos: position(l.call), Related: related, SuggestedFixes: r.wrapFix(l.call, c),
			Message: what + " is not wrapped, so elicit cannot tell that the user is being asked; return it, or wrap it with %w"})
	case l.text != nil:
		r.report(analysis.Diagnostic{Pos: l.end.Pos(), Related: related,
			Message: what + " becomes text in a result; while the user is being asked, the handler must return the error itself"})
	default:
		r.reportf(position(c), "%s is not returned on every path on which the user is being asked; return it (tell it from others by errors.Is(err, elicit.ErrAsking))", what)
	}
}

// callName names what a call asks, for a message.
func (m *model) callName(c *ssa.Call) string {
	f := callee(c.Common())
	switch {
	case f == nil:
		if fn := c.Common().StaticCallee(); fn != nil && fn.Parent() != nil {
			return "this function"
		}
		return "this call"
	case f.Signature().Recv() != nil && isQuestion(f.Signature().Recv().Type()):
		if name := m.describe(c.Call.Args[0]); name != "the question" {
			return name + "." + f.Name()
		}
		return f.Name()
	case f.Pkg() != nil && f.Pkg() != m.pass.Pkg && f.Signature().Recv() == nil:
		return f.Pkg().Name() + "." + f.Name()
	}
	return f.Name()
}

// wrapFix makes the verb of the error in a format %w.
func (r *reporter) wrapFix(c *ssa.Call, site *ssa.Call) []analysis.SuggestedFix {
	call := r.callAt(c.Pos())
	if call == nil || len(call.Args) < 2 || nameOf(callee(c.Common())) != "fmt.Errorf" {
		return nil
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return nil
	}
	format, err := strconv.Unquote(lit.Value)
	if err != nil || strconv.Quote(format) != lit.Value && "`"+format+"`" != lit.Value { // escapes would shift positions
		return nil
	}
	verbs, ok := verbsOf(lit.Value)
	if !ok || len(verbs) != len(call.Args)-1 {
		return nil
	}
	for i, arg := range call.Args[1:] {
		id, ok := arg.(*ast.Ident)
		if ok && isError(r.TypesInfo.TypeOf(id)) && (verbs[i].verb == 'v' || verbs[i].verb == 's' || verbs[i].verb == 'q') {
			from := lit.Pos() + token.Pos(verbs[i].end)
			return edit("Wrap it with %w", from, lit.Pos()+token.Pos(verbs[i].at)+1, "%w")
		}
	}
	return nil
}

// compareErrAsking reports err == elicit.ErrAsking, which is never true.
func (r *reporter) compareErrAsking(f *ssa.Function) {
	if f.Name() == "Is" && f.Signature.Recv() != nil {
		return // what errors.Is calls
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			op, ok := in.(*ssa.BinOp)
			if !ok || op.Op != token.EQL && op.Op != token.NEQ || isErrAsking(op.X) == isErrAsking(op.Y) {
				continue
			}
			d := analysis.Diagnostic{Pos: op.Pos(), Message: "an asking error is never equal to elicit.ErrAsking; use errors.Is"}
			r.report(d)
		}
	}
}
