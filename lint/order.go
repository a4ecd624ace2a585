package lint

import (
	"go/types"
	"golang.org/x/tools/go/ssa"
	"strings"
)

// mapOrder tells whether what is built up in a loop over a map: it takes what the loop gives, and what was built before.
func mapOrder(v ssa.Value, from ...ssa.Value) string {
	in := v.(ssa.Instruction)
	if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsString == 0 {
		return "" // a sum is the same in any order
	}
	before := false
	for _, x := range from {
		before = before || built(x, v, map[ssa.Value]bool{})
	}
	if !before || loopOf(in.Block()) == nil {
		return ""
	}
	for _, x := range from {
		if fromMap(x, map[ssa.Value]bool{}) {
			return ofMap
		}
	}
	return ""
}

// built reports whether x comes from v, of the turn before.
func built(x, v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[x] {
		return false
	}
	seen[x] = true
	switch x := x.(type) {
	case *ssa.Phi:
		for _, e := range x.Edges {
			if e == v || built(e, v, seen) {
				return true
			}
		}
	case *ssa.UnOp: // a variable in memory
		for _, ref := range *root(x.X).Referrers() {
			if s, ok := ref.(*ssa.Store); ok && s.Val == v && s.Addr == x.X {
				return true
			}
		}
	case *ssa.BinOp:
		return built(x.X, v, seen) || built(x.Y, v, seen)
	}
	return false
}

// fromMap reports whether a value is a key or a value that the range over a map gives.
func fromMap(v ssa.Value, seen map[ssa.Value]bool) bool {
	if v == nil || seen[v] {
		return false
	}
	seen[v] = true
	switch x := v.(type) {
	case *ssa.Next:
		return !x.IsString
	case *ssa.Phi:
		return false
	case *ssa.Slice:
		list, _ := elements(x)
		for _, e := range list {
			if fromMap(e, seen) {
				return true
			}
		}
		return false
	case *ssa.Call:
		for _, a := range x.Call.Args {
			if fromMap(a, seen) {
				return true
			}
		}
		return false
	}
	in, ok := v.(ssa.Instruction)
	if !ok {
		return false
	}
	for _, op := range in.Operands(nil) {
		if fromMap(*op, seen) {
			return true
		}
	}
	return false
}

// sorted reports whether a list is sorted somewhere in the function.
func sorted(v ssa.Value) bool { return sortedFrom(v, map[ssa.Value]bool{}) }

func sortedFrom(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] || v.Referrers() == nil {
		return false
	}
	seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Call:
			if f := callee(ref.Common()); f != nil && f.Pkg() != nil && (f.Pkg().Path() == "sort" || f.Pkg().Path() == "slices" && strings.HasPrefix(f.Name(), "Sort")) {
				return true
			}
		case *ssa.Store:
			if ref.Val == v && sortedFrom(root(ref.Addr), seen) {
				return true
			}
		case *ssa.MakeInterface, *ssa.ChangeType, *ssa.Phi, *ssa.UnOp, *ssa.Slice:
			if sortedFrom(ref.(ssa.Value), seen) {
				return true
			}
		}
	}
	return false
}
