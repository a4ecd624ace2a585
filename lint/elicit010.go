package lint

import (
	"golang.org/x/tools/go/ssa"
)

// EffectBefore hints at effects that are repeated in each round. It is off unless its flag is on.
var EffectBefore = hint("elicit010", `hint: an effect before the first question happens in every round

The handler runs from the top when the answer comes, so what it did before it asked, it does again.

Do it after the last question, or in a Step, which remembers its result, with the CallID as its idempotency key. A hint, off unless
-elicit010.on: what changes something is told by its name.`, runEffectBefore)

func runEffectBefore(r *reporter) error {
	m := r.model()
	for _, f := range m.funcs {
		questions := m.questionsOf(f)
		for c := range calls(f) {
			fn := callee(c.Common())
			if !isEffect(fn) || asks(fn) || m.fact(c.Common().StaticCallee()).Runs {
				continue
			}
			for _, q := range questions {
				if reaches(c, q) && !reaches(q, c) {
					r.reportf(position(c), "%s seems to change something, and runs again in every round; do it after the last question, or in a Step", fn.Name())
					break
				}
			}
		}
	}
	return nil
}

// questionsOf are the calls of a function that ask, by themselves or by another function.
func (m *model) questionsOf(f *ssa.Function) (list []*ssa.Call) {
	for c := range calls(f) {
		if call, ok := c.(*ssa.Call); ok && len(m.askingErrs(call)) > 0 && nameOf(callee(call.Common())) != tasksPath+".Begin" {
			list = append(list, call)
		}
	}
	return list
}
