package lint

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// ChangingWords reports words of questions that are others in every round.
var ChangingWords = rule("elicit005", `the words of a question must be the same in every round

An answer counts for the exact words that were asked: key, message and form. A clock, a random number, a new id, the order of a map, or the address of
a pointer makes another question of it in each round, which is asked until Options.MaxAttempts ends the call.

Take what changes from a Step, which remembers it; sort what comes out of a map; round a time to its day.`, runChangingWords, modelAnalyzer)

func runChangingWords(r *reporter) error {
	m := r.model()
	if m == nil {
		return nil
	}
	for _, f := range m.funcs {
		if handlerContext(f) == nil {
			continue // run at start-up, not in a round
		}
		ch := &changes{m: m, seen: map[ssa.Value]bool{}}
		for c := range calls(f) {
			fn := callee(c.Common())
			if fn == nil || fn.Pkg() == nil || !makesWords(fn) {
				continue
			}
			args := c.Common().Args
			if fn.Signature().Recv() != nil {
				args = args[1:]
			}
			for _, a := range args {
				list := []ssa.Value{a}
				if more, ok := elements(a); ok && len(more) > 0 {
					list = more
				}
				for _, v := range list {
					if isQuestion(v.Type()) || isContext(v.Type()) {
						continue
					}
					why := ch.of(v)
					if why == "" && strings.HasSuffix(fn.Name(), "f") && len(args) > 1 {
						why = address(v, args[0])
					}
					if why != "" {
						r.reportf(position(c), "the words of the question depend on %s, so they are others in every round and no answer will count; take it from a Step", why)
					}
				}
			}
		}
	}
	return nil
}

// makesWords reports whether a function makes or changes a question, a form, a field or an option, whose words its arguments are.
func makesWords(f *types.Func) bool {
	switch f.Pkg().Path() {
	case elicitPath, formPath, pagePath:
	default:
		return false
	}
	for v := range f.Signature().Results().Variables() {
		t := v.Type()
		if s, ok := t.Underlying().(*types.Slice); ok {
			t = s.Elem()
		}
		n := typeName(t)
		if n == "Question" || n == "Option" || n == "Form" || strings.HasSuffix(n, "Field") {
			return true
		}
	}
	return false
}

// address says that a format shows the address of a pointer.
func address(v, format ssa.Value) string {
	text, ok := stringConst(format)
	if !ok {
		return ""
	}
	mi, ok := v.(*ssa.MakeInterface)
	if !ok {
		return ""
	}
	t := mi.X.Type()
	if strings.Contains(text, "%p") {
		switch t.Underlying().(type) {
		case *types.Pointer, *types.Chan, *types.Signature, *types.Map, *types.Slice:
			return "the address of a pointer"
		}
	}
	if showsAddress(t, true) {
		return fmt.Sprintf("the address of a pointer (a %s)", types.TypeString(t, func(p *types.Package) string { return p.Name() }))
	}
	return ""
}

// showsAddress reports whether fmt writes a value of the type as an address, or with one in it.
func showsAddress(t types.Type, top bool) bool {
	for _, name := range []string{"Error", "String", "Format", "GoString"} {
		if obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name); obj != nil {
			if _, ok := obj.(*types.Func); ok {
				return false
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Pointer:
		if !top {
			return true
		}
		switch u.Elem().Underlying().(type) {
		case *types.Struct, *types.Slice, *types.Array, *types.Map:
			return showsAddress(u.Elem(), false)
		}
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && showsAddress(f.Type(), false) {
				return true
			}
		}
	case *types.Slice:
		return showsAddress(u.Elem(), false)
	case *types.Array:
		return showsAddress(u.Elem(), false)
	}
	return false
}
