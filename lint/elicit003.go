package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Declarations reports declared questions that are not asked, and asked ones that are not declared where that matters.
var Declarations = rule("elicit003", `declare what a handler asks, and nothing else

Asks tells the server at start-up what a tool will ask: mistakes in the question show there and not in front of a user, and an answer to a
form can do without proof, and so without a requestState, where the call has no arguments. A question that is declared and never
asked is most often one that was forgotten, or the wrong variable.

Add the question to elicit.Asks, or take it out. Questions that are made in the handler, or changed by WithKey, need no declaration, and
neither do those of tools with arguments.`, runDeclarations, modelAnalyzer)

// A registration is a call that gives a handler to a server, with declarations.
type registration struct {
	call     ssa.CallInstruction
	handler  *ssa.Function
	fixed    bool // there is nothing to move an answer from or to: no arguments, or one resource
	declared []asking
	options  []ssa.CallInstruction // calls of Asks
	known    bool                  // declared is all that is declared
	mode     bool                  // a mode of tasks is declared
}

// registrations are the calls of a function that register handlers with elicit.
func (m *model) registrations(f *ssa.Function) (list []registration) {
	for c := range calls(f) {
		args := c.Common().Args
		switch nameOf(callee(c.Common())) {
		case elicitPath + ".AddTool", elicitPath + ".AddPrompt", elicitPath + ".AddResource", elicitPath + ".AddResourceTemplate":
		default:
			continue
		}
		reg := registration{call: c, handler: m.handler(args[2]), known: true}
		switch callee(c.Common()).Name() {
		case "AddTool":
			if sig, ok := args[2].Type().Underlying().(*types.Signature); ok && sig.Params().Len() == 3 {
				s, ok := sig.Params().At(2).Type().Underlying().(*types.Struct)
				reg.fixed = ok && s.NumFields() == 0 && !setsField(args[1], "InputSchema")
			}
		case "AddPrompt":
			a, ok := args[1].(*ssa.Alloc)
			reg.fixed = ok && !setsField(a, "Arguments")
		case "AddResource":
			reg.fixed = true
		}
		options, known := elements(args[3])
		reg.known = known
		for _, o := range options {
			switch call, ok := m.source(o).(*ssa.Call); {
			case isNamed(m.source(o).Type(), tasksPath, "Mode"):
				reg.mode = true
			case ok && nameOf(callee(call.Common())) == elicitPath+".Asks":
				reg.options = append(reg.options, call)
				questions, all := elements(call.Call.Args[0])
				reg.known = reg.known && all
				for _, q := range questions {
					reg.declared = append(reg.declared, asking{m.question(q), q})
				}
			case ok && callee(call.Common()) != nil && callee(call.Common()).Pkg() != m.pass.Pkg:
				reg.mode = true
			default:
				reg.known = false
			}
		}
		list = append(list, reg)
	}
	return list
}

// handler is the function behind a value: a function, a literal, or a method of a value.
func (m *model) handler(v ssa.Value) *ssa.Function {
	f := function(m.source(v))
	if f == nil {
		return nil
	}
	if o := f.Origin(); o != nil {
		f = o
	}
	return m.target(f)
}

// setsField reports whether a struct that is made in place sets a field; it does if that is not known.
func setsField(v ssa.Value, name string) bool {
	a, ok := v.(*ssa.Alloc)
	if !ok {
		return true
	}
	for _, ref := range *a.Referrers() {
		if f, ok := ref.(*ssa.FieldAddr); ok && elem(a.Type()).Underlying().(*types.Struct).Field(f.Field).Name() == name {
			return true
		}
	}
	return false
}

func runDeclarations(r *reporter) error {
	m := r.model()
	if m == nil {
		return nil
	}
	tasks := m.callsFunction(tasksPath + ".Enable")
	for _, f := range m.funcs {
		for _, reg := range m.registrations(f) {
			if reg.handler == nil || !reg.known || len(reg.handler.Blocks) == 0 {
				continue
			}
			fact := m.fact(reg.handler)
			r.neverAsked(m, reg, fact)
			r.undeclared(m, reg, fact, tasks)
		}
	}
	return nil
}

// neverAsked reports declared questions that the handler does not ask, if all that it asks is known.
func (r *reporter) neverAsked(m *model, reg registration, fact *funcFact) {
	if fact.Others || len(fact.Params) > 0 {
		return
	}
	for _, q := range reg.declared {
		if q.Key == "" || fact.asksKey(q.Key) {
			continue
		}
		for _, c := range reg.options {
			call := r.callAt(position(c))
			if call == nil {
				continue
			}
			for i, arg := range call.Args {
				if !r.isVariable(m, arg, q.at) {
					continue
				}
				d := analysis.Diagnostic{Pos: arg.Pos(), End: arg.End(), Message: fmt.Sprintf("%s (%q) is declared, and the handler never asks it", types.ExprString(arg), q.Key)}
				if id, ok := arg.(*ast.Ident); ok && r.Pkg.Scope() == parentOf(r.TypesInfo.Uses[id]) && len(call.Args) > 1 {
					from, to := arg.Pos(), arg.End()
					if i+1 < len(call.Args) {
						to = call.Args[i+1].Pos()
					} else {
						from = call.Args[i-1].End()
					}
					d.SuggestedFixes = edit("Do not declare it", from, to, "")
				}
				r.report(d)
			}
		}
	}
}

func parentOf(obj types.Object) *types.Scope {
	if obj == nil {
		return nil
	}
	return obj.Parent()
}

// isVariable reports whether an expression is the variable that a value was read from, or the call that it is.
func (r *reporter) isVariable(m *model, e ast.Expr, v ssa.Value) bool {
	if mi, ok := v.(*ssa.MakeInterface); ok {
		v = mi.X
	}
	switch x := v.(type) {
	case *ssa.UnOp:
		id, ok := e.(*ast.Ident)
		if sel, isSel := e.(*ast.SelectorExpr); isSel {
			id, ok = sel.Sel, true
		}
		if g, isGlobal := x.X.(*ssa.Global); ok && isGlobal {
			return r.TypesInfo.Uses[id] == g.Object()
		}
		return ok && r.TypesInfo.Uses[id] != nil && (x.X.Pos() == r.TypesInfo.Uses[id].Pos() || x.Pos() == e.Pos())
	case *ssa.Call:
		if call, ok := e.(*ast.CallExpr); ok {
			return call.Lparen == x.Pos()
		}
		id, ok := e.(*ast.Ident) // a local variable, which SSA form has no more
		if !ok {
			return false
		}
		return r.assigns(id, x.Pos())
	}
	return false
}

// assigns reports whether a variable is declared with the call at pos.
func (r *reporter) assigns(id *ast.Ident, pos token.Pos) bool {
	obj := r.TypesInfo.Uses[id]
	call := r.callAt(pos)
	if obj == nil || call == nil {
		return false
	}
	for _, f := range r.Files {
		if f.FileStart > obj.Pos() || obj.Pos() > f.FileEnd {
			continue
		}
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			if as, ok := n.(*ast.AssignStmt); ok && len(as.Lhs) == len(as.Rhs) {
				for i, lhs := range as.Lhs {
					if lhs.Pos() == obj.Pos() && as.Rhs[i] == ast.Expr(call) {
						found = true
					}
				}
			}
			return !found
		})
		return found
	}
	return false
}

// callsFunction reports whether the package calls a function.
func (m *model) callsFunction(name string) bool {
	for _, f := range m.funcs {
		for c := range calls(f) {
			if nameOf(callee(c.Common())) == name {
				return true
			}
		}
	}
	return false
}

// undeclared reports package variables that a handler asks without a declaration, where that changes what is proof, or the mode
// that a tool has on a server with tasks.
func (r *reporter) undeclared(m *model, reg registration, fact *funcFact, tasks bool) {
	tasks = tasks && callee(reg.call.Common()).Name() == "AddTool" && len(reg.declared) == 0 && !reg.mode
	if !reg.fixed && !tasks {
		return
	}
	declared := map[string]bool{}
	for _, q := range reg.declared {
		if q.Key == "" {
			return
		}
		declared[q.Key] = true
	}
	for _, a := range fact.Asks {
		why := "mistakes in it show only when a user is asked, and each answer needs a requestState"
		switch {
		case a.Var == "" || declared[a.Key]:
			continue
		case reg.fixed && a.Plain:
		case tasks && a.Form:
			why = "without it the tool is one that asks no form, whose calls can become tasks"
		default:
			continue
		}
		d := analysis.Diagnostic{Pos: position(reg.call), Message: fmt.Sprintf("the handler asks %q, which is not declared: %s; add elicit.Asks", a.Key, why)}
		if name, call := m.variableOf(a.Key), r.callAt(position(reg.call)); name != "" && call != nil && call.Ellipsis == token.NoPos && r.visible(name, call) {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				d.SuggestedFixes = edit("Declare it", call.Args[len(call.Args)-1].End(), call.Args[len(call.Args)-1].End(),
					fmt.Sprintf(", %s.Asks(%s)", types.ExprString(sel.X), name))
			}
		}
		r.report(d)
		return
	}
}

// variableOf is the package variable that is the question with a key, "" if there is none, or several.
func (m *model) variableOf(key string) (name string) {
	for g, v := range m.globals {
		if isQuestion(v.Type()) && m.question(v).Key == key {
			if name != "" {
				return ""
			}
			name = g.Name()
		}
	}
	return name
}

// visible reports whether a name means the package's variable where a node is.
func (r *reporter) visible(name string, n ast.Node) bool {
	scope := r.Pkg.Scope().Innermost(n.Pos())
	if scope == nil {
		return false
	}
	_, obj := scope.LookupParent(name, n.Pos())
	return obj != nil && obj.Parent() == r.Pkg.Scope()
}
