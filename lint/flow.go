package lint

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// reaches reports whether an instruction may run after another has.
func reaches(from, to ssa.Instruction) bool {
	a, b := from.Block(), to.Block()
	if a == b && slices.Index(a.Instrs, from) < slices.Index(b.Instrs, to) {
		return true
	}
	return reachable(a)[b]
}

// reachable are the blocks that can follow a block; the block itself, if it is in a loop.
func reachable(b *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	seen := map[*ssa.BasicBlock]bool{}
	for todo := slices.Clone(b.Succs); len(todo) > 0; {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[x] {
			seen[x] = true
			todo = append(todo, x.Succs...)
		}
	}
	return seen
}

// loopOf are the blocks that run before and after b, nil if b is in no loop.
func loopOf(b *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	after := reachable(b)
	if !after[b] {
		return nil
	}
	loop := map[*ssa.BasicBlock]bool{}
	for x := range after {
		if x == b || reachable(x)[b] {
			loop[x] = true
		}
	}
	return loop
}

// varies reports whether a value may be another in each turn of a loop.
func varies(v ssa.Value, loop map[*ssa.BasicBlock]bool, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	in, ok := v.(ssa.Instruction)
	if !ok || !loop[in.Block()] {
		if a, ok := v.(*ssa.Alloc); ok { // a variable, set in the loop
			for _, r := range *a.Referrers() {
				if s, ok := r.(*ssa.Store); ok && s.Addr == a && loop[s.Block()] && varies(s.Val, loop, seen) {
					return true
				}
			}
		}
		return false
	}
	switch v := v.(type) {
	case *ssa.Phi, *ssa.Next:
		return true
	case *ssa.Alloc:
		for _, r := range *v.Referrers() {
			switch r := r.(type) {
			case *ssa.Store:
				if varies(r.Val, loop, seen) {
					return true
				}
			case *ssa.IndexAddr:
				for _, r := range *r.Referrers() {
					if s, ok := r.(*ssa.Store); ok && varies(s.Val, loop, seen) {
						return true
					}
				}
			case *ssa.FieldAddr:
				for _, r := range *r.Referrers() {
					if s, ok := r.(*ssa.Store); ok && varies(s.Val, loop, seen) {
						return true
					}
				}
			}
		}
		return false
	}
	for _, op := range in.Operands(nil) {
		if *op != nil && varies(*op, loop, seen) {
			return true
		}
	}
	return false
}
