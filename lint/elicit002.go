package lint

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// IgnoredRefusal reports an answer that is taken for a yes.
var IgnoredRefusal = rule("elicit002", `a refusal must not be taken for an answer

Require returns no error when the user declines or closes the question: that is an answer, too. A handler that does not look at it
does what the user has refused. The same is true of answer.Value() without its second result, which leaves a zero value to work
with.

Use question.Value(ctx), whose error is a *RefusedError then; or look at answer.Action(), answer.Err() or the second result of
answer.Value(). The first result is enough where it is a question of Confirm, or where the zero value is looked for.`, runIgnoredRefusal, modelAnalyzer)

func runIgnoredRefusal(r *reporter) error {
	m := r.model()
	if m == nil {
		return nil
	}
	for _, f := range m.funcs {
		for c := range calls(f) {
			call, ok := c.(*ssa.Call)
			if !ok {
				continue
			}
			switch nameOf(callee(call.Common())) {
			case elicitPath + ".Question.Require":
				r.unusedAnswer(m, call)
			case elicitPath + ".Question.Into":
				if a, ok := call.Call.Args[1].(*ssa.Alloc); ok && onlyUse(a, call) {
					r.reportf(position(call), "the answer of %s is never looked at, so a refusal is taken for a yes", m.describe(call.Call.Args[0]))
				}
			case elicitPath + ".Answer.Value":
				r.droppedOK(m, call)
			}
		}
	}
	return nil
}

// onlyUse reports whether a variable is used by one call alone, beside being cleared.
func onlyUse(a *ssa.Alloc, c *ssa.Call) bool {
	for _, ref := range *a.Referrers() {
		switch ref := ref.(type) {
		case *ssa.DebugRef:
		case *ssa.Store:
			if ref.Addr != a {
				return false
			}
		default:
			if ref != ssa.Instruction(c) {
				return false
			}
		}
	}
	return true
}

// unusedAnswer looks at a Require whose answer is used nowhere, and whose error is.
func (r *reporter) unusedAnswer(m *model, c *ssa.Call) {
	if resultOf(c, 0) != nil || resultOf(c, 1) == nil {
		return
	}
	if returnedAlone(resultOf(c, 1)) {
		return // a handler that is done when it has asked
	}
	d := analysis.Diagnostic{Pos: position(c),
		Message: "the answer of " + m.describe(c.Call.Args[0]) + " is never looked at, so a refusal is taken for a yes; use Value, whose error says that the user refused"}
	if call := r.callAt(c.Pos()); call != nil {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && blankFirst(r.Files, call) {
			d.SuggestedFixes = edit("Use Value", sel.Sel.Pos(), sel.Sel.End(), "Value")
		}
	}
	r.report(d)
}

// returnedAlone reports whether an error is only returned, beside nothing else: return nil, nil, err.
func returnedAlone(err ssa.Value) bool {
	for _, ref := range *err.Referrers() {
		b := ref.Block()
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if _, isStore := ref.(*ssa.Store); !ok || ref != ssa.Instruction(ret) && !isStore || len(ret.Results) < 2 {
			return false
		}
		for _, v := range ret.Results {
			if load, ok := v.(*ssa.UnOp); ok && stored(b, load.X) != nil { // a function with defer returns what it stored
				v = stored(b, load.X)
			}
			if c, isConst := v.(*ssa.Const); v != err && (!isConst || !c.IsNil()) {
				return false
			}
		}
	}
	return true
}

// stored is what a block stores last at an address, nil for nothing.
func stored(b *ssa.BasicBlock, addr ssa.Value) (v ssa.Value) {
	for _, in := range b.Instrs {
		if s, ok := in.(*ssa.Store); ok && s.Addr == addr {
			v = s.Val
		}
	}
	return v
}

// blankFirst reports whether a call stands in an assignment whose first variable is _, so that its type does not matter.
func blankFirst(files []*ast.File, call *ast.CallExpr) (blank bool) {
	for _, f := range files {
		if f.FileStart > call.Pos() || call.Pos() > f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if as, ok := n.(*ast.AssignStmt); ok && len(as.Rhs) == 1 && as.Rhs[0] == call && len(as.Lhs) == 2 {
				id, ok := as.Lhs[0].(*ast.Ident)
				blank = ok && id.Name == "_"
			}
			return !blank
		})
	}
	return blank
}

// droppedOK looks at an answer.Value() whose second result is not used.
func (r *reporter) droppedOK(m *model, c *ssa.Call) {
	value := resultOf(c, 0)
	if value == nil || resultOf(c, 1) != nil {
		return
	}
	if b, ok := value.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
		return // of Confirm: false when it is refused
	}
	if comparedWithZero(value) || checkedElsewhere(m, c) {
		return
	}
	r.reportf(position(c), "the second result of Value is dropped, so a refusal looks like the zero value; check it, or use the question's Value, whose error says that the user refused")
}

// comparedWithZero reports whether a value is compared with a constant, or replaced where it is zero.
func comparedWithZero(v ssa.Value) bool {
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.BinOp:
			if ref.Op == token.EQL || ref.Op == token.NEQ {
				return true
			}
		case *ssa.Phi, *ssa.ChangeType, *ssa.MakeInterface:
			if comparedWithZero(ref.(ssa.Value)) {
				return true
			}
		case *ssa.Slice, *ssa.Store:
			if s, ok := ref.(*ssa.Store); ok {
				if addr, ok := s.Addr.(*ssa.IndexAddr); ok && passedToOr(root(addr)) {
					return true
				}
				if a, ok := s.Addr.(*ssa.Alloc); ok { // a struct, or a variable that a closure reads: its loads count
					for _, ref := range *a.Referrers() {
						switch ref := ref.(type) {
						case *ssa.UnOp:
							if comparedWithZero(ref) {
								return true
							}
						case *ssa.FieldAddr:
							for _, ref := range *ref.Referrers() {
								if load, ok := ref.(*ssa.UnOp); ok && comparedWithZero(load) {
									return true
								}
							}
						}
					}
				}
			}
		case *ssa.Field:
			if comparedWithZero(ref) {
				return true
			}
		}
	}
	return false
}

// passedToOr reports whether the arguments that an array holds go to cmp.Or.
func passedToOr(array ssa.Value) bool {
	for _, ref := range *array.Referrers() {
		if s, ok := ref.(*ssa.Slice); ok {
			for _, ref := range *s.Referrers() {
				if c, ok := ref.(*ssa.Call); ok && nameOf(callee(c.Common())) == "cmp.Or" {
					return true
				}
			}
		}
	}
	return false
}

// checkedElsewhere reports whether the same function looks at the answer in another way, or gives it to something that may.
func checkedElsewhere(m *model, c *ssa.Call) bool {
	answer := root(c.Call.Args[0])
	for other := range calls(c.Parent()) {
		if other == ssa.CallInstruction(c) {
			continue
		}
		for _, a := range other.Common().Args {
			if root(a) != answer {
				continue
			}
			switch nameOf(callee(other.Common())) {
			case elicitPath + ".Question.Into", elicitPath + ".Answer.Given":
			case elicitPath + ".Answer.Value":
				if oc, ok := other.(*ssa.Call); ok && resultOf(oc, 1) != nil {
					return true
				}
			default:
				return true
			}
		}
	}
	if p, ok := answer.(*ssa.Parameter); ok && isNamed(p.Type(), elicitPath, "Answer") {
		return true // who gives an answer on may have looked at it
	}
	_, captured := answer.(*ssa.FreeVar)
	return captured
}
