package lint

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// EffectAfter hints at effects that can happen twice. It is off unless its flag is on.
var EffectAfter = hint("elicit011", `hint: an effect after the last question can happen twice

A client, or a proxy, may send the last round of a call again. A call whose state was sealed counts once; one that carries no state does not, and
even then an effect can be done and its result lost.

Make the question Bound, or give the effect elicit.CallID(ctx) as its idempotency key. A hint, off unless -elicit011.on: what
changes something is told by its name.`, runEffectAfter)

func runEffectAfter(r *reporter) error {
	m := r.model()
	for _, f := range m.funcs {
		questions := m.questionsOf(f)
		if len(questions) == 0 || usesCallID(f) || slices.ContainsFunc(questions, func(c *ssa.Call) bool { return m.bound(c) }) {
			continue
		}
		for c := range calls(f) {
			fn := callee(c.Common())
			if !isEffect(fn) || asks(fn) || m.fact(c.Common().StaticCallee()).Runs {
				continue
			}
			after, before := false, false
			for _, q := range questions {
				after = after || reaches(q, c)
				before = before || reaches(c, q)
			}
			if after && !before {
				r.reportf(position(c), "%s seems to change something, and happens again if the client sends the last round again; make a question Bound, or pass on elicit.CallID(ctx)", fn.Name())
			}
		}
	}
	return nil
}

// bound reports whether a call asks something whose answer needs proof always, or may.
func (m *model) bound(c *ssa.Call) bool {
	if !asksQuestions(callee(c.Common())) {
		return true // a helper: not known
	}
	list, all := m.askings(c)
	return !all || slices.ContainsFunc(list, func(a asking) bool {
		return a.Bound || !a.Form || len(a.words) > 0 || a.keyed || a.param != nil
	})
}

func usesCallID(f *ssa.Function) bool {
	for c := range calls(f) {
		if nameOf(callee(c.Common())) == elicitPath+".CallID" {
			return true
		}
	}
	return slices.ContainsFunc(f.AnonFuncs, usesCallID)
}
