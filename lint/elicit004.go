package lint

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// SharedKey reports a key that stands for two questions of one call.
var SharedKey = rule("elicit004", `a key is for one question of a call

Answers come back by key. Two questions, or one in two wordings, under one key are an error in one round, and in several rounds each takes
the other's answer away and is asked again. In a loop this is the usual way to it: the words change with each thing, and the key does not.

Give each question its own key; in a loop, WithKey("delete:" + name).`, runSharedKey, modelAnalyzer)

func runSharedKey(r *reporter) error {
	m := r.model()
	if m == nil {
		return nil
	}
	for _, f := range m.funcs {
		for _, reg := range m.registrations(f) {
			for i, q := range reg.declared {
				for _, other := range reg.declared[:i] {
					if q.Key != "" && q.Key == other.Key {
						r.reportf(position(reg.call), "two of the declared questions have the key %q; give each its own", q.Key)
					}
				}
			}
		}
		var asked []askedAt
		for c := range calls(f) {
			switch nameOf(callee(c.Common())) {
			case elicitPath + ".Question.Require", elicitPath + ".Question.Value", elicitPath + ".Question.Into":
				if q := m.question(c.Common().Args[0]); q.Key != "" && !q.keyed {
					asked = append(asked, askedAt{q, c})
				}
			default: // a helper
				if fact := m.fact(c.Common().StaticCallee()); fact.Runs {
					for _, a := range fact.Asks {
						if a.Var != "" {
							asked = append(asked, askedAt{question{Key: a.Key, isVar: a.Var}, c})
						}
					}
				}
			}
		}
		for i, b := range asked {
			if r.inLoop(m, b) {
				continue
			}
			for j, a := range asked {
				if i != j && !forgotten(a.at, b.at) && a.Key == b.Key && !sameQuestion(a.question, b.question) && reaches(a.at, b.at) && (j < i || !reaches(b.at, a.at)) {
					r.reportf(position(b.at), "the key %q is used for two different questions of this function; give each its own, by WithKey", b.Key)
					break
				}
			}
		}
	}
	return nil
}

// forgotten reports whether page.Forget drops the first answer before the second question.
func forgotten(a, b ssa.CallInstruction) bool {
	for c := range calls(a.Parent()) {
		if nameOf(callee(c.Common())) == pagePath+".Forget" && reaches(a, c) && reaches(c, b) {
			return true
		}
	}
	return false
}

type askedAt struct {
	question
	at ssa.CallInstruction
}

// sameQuestion reports whether two questions of one key have the same words, as far as can be told.
func sameQuestion(a, b question) bool {
	if a.id == nil || b.id == nil { // of a helper, whose words are not known
		return a.isVar == "" || b.isVar == "" || a.isVar == b.isVar
	}
	if a.id != b.id {
		return false
	}
	if len(a.words) == 0 || len(b.words) == 0 {
		return len(a.words) == len(b.words)
	}
	x, y := a.words[len(a.words)-1], b.words[len(b.words)-1]
	if x == y {
		return true
	}
	f, ok1 := stringConst(x.Call.Args[1])
	g, ok2 := stringConst(y.Call.Args[1])
	if !ok1 || !ok2 || f != g {
		return ok1 == ok2 && !ok1 && x.Call.Args[1] == y.Call.Args[1]
	}
	v, ok1 := elements(x.Call.Args[2])
	w, ok2 := elements(y.Call.Args[2])
	return ok1 && ok2 && slices.EqualFunc(v, w, func(a, b ssa.Value) bool { return identity(a) == identity(b) || constEqual(a, b) })
}

func constEqual(a, b ssa.Value) bool {
	x, ok1 := a.(*ssa.Const)
	y, ok2 := b.(*ssa.Const)
	return ok1 && ok2 && x.String() == y.String()
}

// inLoop reports a question in a loop whose words change from turn to turn, while its key does not.
func (r *reporter) inLoop(m *model, a askedAt) bool {
	loop := loopOf(a.at.Block())
	if loop == nil {
		return false
	}
	for _, c := range a.calls {
		if f := callee(c.Common()); f.Name() == "WithKey" && isQuestion(c.Type()) {
			return false // a constant key, on purpose
		}
	}
	for _, c := range a.calls {
		if !loop[c.Block()] || !slices.ContainsFunc(c.Call.Args, func(v ssa.Value) bool { return !isQuestion(v.Type()) && varies(v, loop, map[ssa.Value]bool{}) }) {
			continue
		}
		d := analysis.Diagnostic{Pos: position(a.at),
			Message: fmt.Sprintf("in each turn of the loop the key %q is for other words; give each its own, as WithKey(%q + …)", a.Key, a.Key+":")}
		d.SuggestedFixes = r.keyFix(c, a.Key)
		r.report(d)
		return true
	}
	return false
}

// keyFix puts WithKey before WithMessagef, with the first text that the words are made of.
func (r *reporter) keyFix(words *ssa.Call, key string) []analysis.SuggestedFix {
	call := r.callAt(words.Pos())
	if call == nil || callee(words.Common()).Name() != "WithMessagef" || len(call.Args) < 2 {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	for _, arg := range call.Args[1:] {
		id, ok := arg.(*ast.Ident)
		if !ok {
			continue
		}
		t := r.TypesInfo.TypeOf(id)
		if b, ok := t.Underlying().(*types.Basic); !ok || b.Kind() != types.String {
			continue
		}
		name := id.Name
		if !types.Identical(t, types.Typ[types.String]) {
			name = "string(" + name + ")"
		}
		return edit("Give each its own key", sel.X.End(), sel.X.End(), fmt.Sprintf(".WithKey(%s + %s)", strconv.Quote(key+":"), name))
	}
	return nil
}
