package lint

import (
	"go/types"
	"golang.org/x/tools/go/ssa"
	"slices"
	"strings"
)

// call is what a call does.
func (w *walk) call(c *ssa.Call, p *path) bool {
	f := callee(c.Common())
	if endsProgram(f) {
		return false
	}
	args := c.Call.Args
	carries := w.anyCarries(c.Common(), p)
	any := func(m map[ssa.Value]bool) bool {
		return m[c.Call.Value] || slices.ContainsFunc(args, func(a ssa.Value) bool { return m[a] })
	}
	text := any(p.texts)
	value := any(p.values)
	if value && !carries && isEffect(f) {
		w.lost = append(w.lost, loss{work: c})
		return false
	}
	set(p.values, c, value)
	if !carries {
		set(p.texts, c, text)
		if text && f != nil && (nameOf(f) == "errors.New" || nameOf(f) == "fmt.Errorf") {
			p.wrapper = c
		}
		return true
	}
	switch name := nameOf(f); {
	case c.Call.IsInvoke() && c.Call.Method.Name() == "Error" && p.carries[c.Call.Value] && len(args) == 0:
		p.texts[c] = true
	case name == "errors.Is":
		if p.carries[args[0]] {
			if isErrAsking(args[1]) {
				p.known[c] = true
			} else if _, ok := args[1].(*ssa.UnOp); ok {
				p.known[c] = false
			}
		}
	case name == "errors.As":
		if t, ok := args[1].(*ssa.MakeInterface); ok && !isInterface(elem(t.X.Type())) {
			p.known[c] = false
		}
	case name == "errors.AsType":
		if tuple, ok := c.Type().(*types.Tuple); ok && !isInterface(tuple.At(0).Type()) {
			p.known[c] = false
		}
	case name == "fmt.Errorf":
		if w.wraps(c, p) {
			p.carries[c] = true
		} else {
			p.texts[c], p.wrapper = true, c
		}
	case strings.HasPrefix(name, "fmt.Sprint"):
		p.texts[c] = true
	case isLog(f), isBuiltin(c, "len"), isBuiltin(c, "cap"), isBuiltin(c, "print"), isBuiltin(c, "println"):
	default:
		// Wherever it goes, it may come back with the results, or in what a pointer points to.
		if c.Call.Signature().Results().Len() == 0 || len(*c.Referrers()) == 0 {
			for _, a := range args {
				if p.carries[a] {
					continue
				}
				if r := root(a); isOutside(r) && isReference(a.Type()) {
					return false
				}
				if isReference(a.Type()) {
					p.carries[a], p.carries[root(a)] = true, true
				}
			}
			return f != nil
		}
		if b, ok := c.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
			p.known[c], w.guessed = w.guess, true
			return true
		}
		p.carries[c] = true
	}
	return true
}

func isBuiltin(c *ssa.Call, name string) bool {
	b, ok := c.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == name
}

// isOutside reports whether a variable is not the function's own.
func isOutside(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		return true
	}
	return false
}

func isReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice, *types.Interface, *types.Chan, *types.Signature:
		return !isContext(t)
	}
	return false
}

func isInterface(t types.Type) bool { _, ok := t.Underlying().(*types.Interface); return ok }

func elem(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// wraps reports whether fmt.Errorf wraps an argument that carries the error. It does if that cannot be told.
func (w *walk) wraps(c *ssa.Call, p *path) bool {
	format, ok := stringConst(c.Call.Args[0])
	if !ok {
		return true
	}
	list, ok := elements(c.Call.Args[1])
	if !ok {
		return true
	}
	verbs, ok := verbsOf(format)
	if !ok {
		return true
	}
	for i, v := range verbs {
		if v.verb == 'w' && i < len(list) && p.carries[list[i]] {
			return true
		}
	}
	return false
}
