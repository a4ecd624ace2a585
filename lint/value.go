package lint

import (
	"go/types"
	"golang.org/x/tools/go/ssa"
	"slices"
	"strings"
)

// function is the function that a value is, or nil where that is not known.
func function(v ssa.Value) *ssa.Function {
	switch v := v.(type) {
	case *ssa.Function:
		return v
	case *ssa.MakeClosure:
		return v.Fn.(*ssa.Function)
	case *ssa.ChangeType:
		return function(v.X)
	case *ssa.MakeInterface:
		return function(v.X)
	}
	return nil
}

// calls yields the calls of a function, with those of go and defer.
func calls(f *ssa.Function) func(func(ssa.CallInstruction) bool) {
	return func(yield func(ssa.CallInstruction) bool) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if c, ok := in.(ssa.CallInstruction); ok && !yield(c) {
					return
				}
			}
		}
	}
}

// source is where a value comes from, through loads of variables that are set once, and through what closures capture.
func (m *model) source(v ssa.Value) ssa.Value {
	for range 100 {
		next := m.step(v)
		if next == nil {
			return v
		}
		v = next
	}
	return v
}

func (m *model) step(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.ChangeType:
		return v.X
	case *ssa.ChangeInterface:
		return v.X
	case *ssa.MakeInterface:
		return v.X
	case *ssa.UnOp:
		switch x := v.X.(type) {
		case *ssa.Global:
			return m.globals[x]
		case *ssa.Alloc:
			return storedOnce(x)
		case *ssa.FreeVar:
			if b, ok := m.source(x).(*ssa.Alloc); ok {
				return storedOnce(b)
			}
		}
	case *ssa.FreeVar:
		return binding(v)
	}
	return nil
}

// binding is what a closure captured, nil where it is made in several places.
func binding(v *ssa.FreeVar) ssa.Value {
	i := slices.Index(v.Parent().FreeVars, v)
	var found ssa.Value
	for _, b := range v.Parent().Parent().Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.MakeClosure); ok && c.Fn == v.Parent() {
				if found != nil {
					return nil
				}
				found = c.Bindings[i]
			}
		}
	}
	return found
}

// storedOnce is the value of a variable that is set once, by the function that declares it, and whose address goes nowhere else but
// into closures, which only read it.
func storedOnce(a *ssa.Alloc) ssa.Value {
	var found ssa.Value
	for _, r := range *a.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Addr != a || found != nil {
				return nil
			}
			found = r.Val
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.MakeClosure:
			for i, b := range r.Bindings {
				if b == a && storesTo(r.Fn.(*ssa.Function).FreeVars[i]) {
					return nil
				}
			}
		default:
			return nil
		}
	}
	return found
}

// storesTo reports whether a closure may set a variable that it captured.
func storesTo(v *ssa.FreeVar) bool {
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.UnOp:
		case *ssa.MakeClosure:
			for i, b := range r.Bindings {
				if b == v && storesTo(r.Fn.(*ssa.Function).FreeVars[i]) {
					return true
				}
			}
		default:
			return true
		}
	}
	return false
}

// root is the variable, parameter or call that an address or a value is a part of.
func root(v ssa.Value) ssa.Value {
	for {
		switch x := v.(type) {
		case *ssa.FieldAddr:
			v = x.X
		case *ssa.IndexAddr:
			v = x.X
		case *ssa.Field:
			v = x.X
		case *ssa.Index:
			v = x.X
		case *ssa.Slice:
			v = x.X
		case *ssa.UnOp:
			v = x.X
		case *ssa.ChangeType:
			v = x.X
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.TypeAssert:
			v = x.X
		default:
			return v
		}
	}
}

// elements are what a slice is made of, where it is written out as arguments or as a literal; false where it is not.
func elements(v ssa.Value) (list []ssa.Value, known bool) {
	switch v := v.(type) {
	case *ssa.Const:
		return nil, v.Value == nil
	case *ssa.Slice:
		a, ok := v.X.(*ssa.Alloc)
		if !ok {
			return nil, false
		}
		arr, ok := a.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		if !ok || arr.Len() > 1000 {
			return nil, false
		}
		list = make([]ssa.Value, arr.Len())
		for _, r := range *a.Referrers() {
			addr, ok := r.(*ssa.IndexAddr)
			if !ok {
				continue
			}
			i, ok := intConst(addr.Index)
			if !ok || i < 0 || i >= len(list) {
				return nil, false
			}
			for _, r := range *addr.Referrers() {
				if s, ok := r.(*ssa.Store); ok && s.Addr == addr {
					list[i] = s.Val
				}
			}
		}
		for _, x := range list {
			if x == nil {
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

func intConst(v ssa.Value) (int, bool) {
	if c, ok := v.(*ssa.Const); ok && c.Value != nil {
		if b, ok := c.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
			return int(c.Int64()), true
		}
	}
	return 0, false
}

// stringConst is a constant text.
func stringConst(v ssa.Value) (string, bool) {
	if c, ok := v.(*ssa.Const); ok && c.Value != nil {
		if b, ok := c.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			return constantString(c), true
		}
	}
	return "", false
}

// describe is a short name of a value, for a message: that of its variable, or what makes it.
func (m *model) describe(v ssa.Value) string {
	switch x := v.(type) {
	case *ssa.UnOp:
		return m.describe(x.X)
	case *ssa.Global:
		return x.Name()
	case *ssa.FreeVar:
		return x.Name()
	case *ssa.Parameter:
		return x.Name()
	case *ssa.FieldAddr:
		s := x.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
		return s.Field(x.Field).Name()
	case *ssa.Alloc:
		if x.Comment != "" && !strings.Contains(x.Comment, " ") {
			return x.Comment
		}
	case *ssa.Call:
		if f := callee(x.Common()); f != nil && f.Pkg() != nil {
			if f.Signature().Recv() != nil && isQuestion(f.Signature().Recv().Type()) && len(x.Call.Args) > 0 {
				return m.describe(x.Call.Args[0])
			}
			return f.Pkg().Name() + "." + f.Name()
		}
	}
	return "the question"
}
