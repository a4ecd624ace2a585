package lint

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// OutsideCall reports questions that are not asked by the handler, with the handler's context.
var OutsideCall = rule("elicit007", `ask in the handler, with its context

A question belongs to a call, which Require finds in the context that the handler was given, and to a round of it, which ends when
the handler returns the error. Asked in a goroutine, the handler may have returned, and the error reaches nobody. Asked in a deferred
call, the result is settled already. With a context that is not the handler's there is no call at all: "not inside a call".

Ask in the handler itself: RequireAll asks several questions at once. Pass the handler's ctx on.`, runOutsideCall, modelAnalyzer)

func runOutsideCall(r *reporter) error {
	m := r.model()
	if m == nil {
		return nil
	}
	asks := func(c *ssa.CallCommon) bool {
		return asks(callee(c)) || m.fact(c.StaticCallee()).Runs
	}
	for _, f := range m.funcs {
		for c := range calls(f) {
			switch c := c.(type) {
			case *ssa.Go:
				if asks(c.Common()) {
					r.reportf(c.Pos(), "a goroutine asks: its error does not reach the handler's caller, and the handler may have returned; ask in the handler, several questions at once with RequireAll")
				}
				continue
			case *ssa.Defer:
				if asks(c.Common()) {
					r.reportf(c.Pos(), "a deferred call asks: the handler's result is settled by then, and the error is lost; ask before the handler returns")
				}
				continue
			}
			if fn := callee(c.Common()); nameOf(fn) == "time.AfterFunc" {
				if g := function(m.source(c.Common().Args[1])); g != nil && m.fact(g).Runs {
					r.reportf(position(c), "a timer asks: its error does not reach the handler's caller, and the handler may have returned; ask in the handler")
				}
			} else if asks(c.Common()) || nameOf(fn) == elicitPath+".Step" {
				if ctx := contextOf(c.Common()); ctx != nil {
					r.checkContext(m, c, ctx)
				}
			}
		}
	}
	return nil
}

// checkContext looks at the context that a question is asked with.
func (r *reporter) checkContext(m *model, c ssa.CallInstruction, ctx ssa.Value) {
	base := m.contextBase(ctx)
	var what string
	switch base := base.(type) {
	case *ssa.Call:
		switch nameOf(callee(base.Common())) {
		case "context.Background", "context.TODO":
			what = "context." + callee(base.Common()).Name() + "()"
		}
	case *ssa.UnOp:
		switch x := base.X.(type) {
		case *ssa.Global:
			what = "the variable " + x.Name()
		case *ssa.FieldAddr:
			if handlerContext(c.Parent()) != nil && isOutside(root(x)) {
				what = "the field " + m.describe(x)
			}
		}
	}
	if what == "" {
		return
	}
	d := analysis.Diagnostic{Pos: position(c), Message: what + " is not the handler's context, so there is no call to ask in; pass on the one that the handler was given"}
	// Put in place the context of the function, where there is just one.
	if call, own := r.callAt(position(c)), handlerContext(c.Parent()); call != nil && own != nil && own.Name() != "_" {
		for _, arg := range call.Args {
			if isContext(r.TypesInfo.TypeOf(arg)) && m.source(ctx) == base && r.inScope(own, call) {
				d.SuggestedFixes = edit("Use "+own.Name(), arg.Pos(), arg.End(), own.Name())
			}
		}
	}
	r.report(d)
}

// inScope reports whether the name of a parameter means that parameter where a node is.
func (r *reporter) inScope(p *ssa.Parameter, n interface{ Pos() token.Pos }) bool {
	scope := r.Pkg.Scope().Innermost(n.Pos())
	if scope == nil {
		return false
	}
	_, obj := scope.LookupParent(p.Name(), n.Pos())
	return obj != nil && obj == p.Object()
}

// handlerContext is the one context that a function, or the function that it is in, has as a parameter.
func handlerContext(f *ssa.Function) *ssa.Parameter {
	for ; f != nil; f = f.Parent() {
		for _, p := range f.Params {
			if isContext(p.Type()) {
				return p
			}
		}
	}
	return nil
}

// contextBase is the context that others were made of.
func (m *model) contextBase(v ssa.Value) ssa.Value {
	for range 100 {
		v = m.source(v)
		if e, ok := v.(*ssa.Extract); ok {
			v = e.Tuple
		}
		c, ok := v.(*ssa.Call)
		if !ok {
			return v
		}
		f := callee(c.Common())
		if f == nil || f.Pkg() == nil || !returnsContext(f) {
			return v
		}
		parent := contextOf(c.Common())
		if parent == nil {
			return v
		}
		v = parent
	}
	return v
}

func returnsContext(f *types.Func) bool {
	r := f.Signature().Results()
	return r.Len() > 0 && isContext(r.At(0).Type())
}
