package lint

import (
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

func constantString(c *ssa.Const) string { return constant.StringVal(c.Value) }

// A question is what is known of a *elicit.Question from the way it is made.
type question struct {
	Key   string // "" where it is not known
	Bound bool   // its answer always needs proof: Confirm, Choose, Bound
	Form  bool   // it asks with a form

	base  string         // the key before WithKey
	id    any            // tells questions apart: the variable, or the call that makes it
	words []*ssa.Call    // WithMessagef, the last of which counts
	keyed bool           // by WithKey, to something that is not constant
	param *ssa.Parameter // the parameter that it comes from
	calls []*ssa.Call    // of the constructor and of the methods that changed it
	isVar string         // the package variable, changed by nothing but WithMessagef; "" for none
}

// question follows a question to where it is made.
func (m *model) question(v ssa.Value) question {
	name := globalName(v)
	v = m.source(v)
	q := m.questionFrom(v)
	if name != "" {
		q.isVar = name
	}
	return q
}

// globalName is the package variable that v is read from, "" for none.
func globalName(v ssa.Value) string {
	if load, ok := v.(*ssa.UnOp); ok {
		if g, ok := load.X.(*ssa.Global); ok && g.Pkg != nil {
			return g.Pkg.Pkg.Path() + "." + g.Name()
		}
	}
	return ""
}

func (m *model) questionFrom(v ssa.Value) question {
	switch v := v.(type) {
	case *ssa.Call:
		f := callee(v.Common())
		if f == nil || f.Pkg() == nil {
			break
		}
		if recv := f.Signature().Recv(); recv != nil && isQuestion(recv.Type()) {
			q := m.question(v.Call.Args[0])
			q.calls = append(slices.Clip(q.calls), v)
			if f.Name() != "WithMessagef" {
				q.isVar = ""
			}
			switch f.Name() {
			case "WithKey":
				key, known := stringConst(v.Call.Args[1])
				if q.base == "" {
					q.base = q.Key
				}
				q.Key, q.keyed = key, !known
				if known {
					q.id = v
				}
			case "WithMessagef":
				q.words = append(slices.Clip(q.words), v)
			case "Bound":
				q.Bound = true
			case "WithCheckbox":
				q.Bound, q.id = true, v
			}
			return q
		}
		q := question{id: v, calls: []*ssa.Call{v}}
		if f.Signature().Recv() == nil && len(v.Call.Args) > 0 && (f.Pkg().Path() == elicitPath || f.Pkg().Path() == pagePath) {
			q.Key, _ = stringConst(v.Call.Args[0])
			q.Form = f.Pkg().Path() == elicitPath && (f.Name() == "Input" || f.Name() == "Choose" || f.Name() == "Confirm" || f.Name() == "NewQuestion" || f.Name() == "NewFormQuestion")
			q.Bound = !q.Form || f.Name() == "Confirm" || f.Name() == "Choose" || f.Name() != "Input" && m.consentOnly(v)
		}
		return q
	case *ssa.UnOp:
		if g, ok := v.X.(*ssa.Global); ok {
			q := question{id: g.Object()}
			var fact questionFact
			if g.Object() != nil && g.Object().Pkg() != m.pass.Pkg && m.pass.ImportObjectFact(g.Object(), &fact) {
				q.Key, q.Bound, q.Form = fact.Question.Key, fact.Question.Bound, fact.Question.Form
			}
			return q
		}
		return question{id: root(v)}
	case *ssa.Parameter:
		return question{id: v, param: v}
	}
	return question{id: v}
}

// consentOnly reports whether the form of a question may have nothing but boxes to tick, so that its answer needs proof.
func (m *model) consentOnly(c *ssa.Call) bool {
	q := types.Unalias(elem(c.Type())).(*types.Named)
	value := types.Unalias(q.TypeArgs().At(0))
	isBool := func(t types.Type) bool {
		b, ok := elem(t).Underlying().(*types.Basic)
		return ok && b.Info()&types.IsBoolean != 0
	}
	if st, ok := value.Underlying().(*types.Struct); ok && !isNamed(value, formPath, "Values") {
		for f := range st.Fields() {
			if f.Exported() && !isBool(f.Type()) {
				return false
			}
		}
		return true
	}
	if len(c.Call.Args) < 3 {
		return true
	}
	form, ok := m.source(c.Call.Args[2]).(*ssa.Call)
	if !ok || nameOf(callee(form.Common())) != formPath+".New" {
		return true
	}
	fields, _ := elements(form.Call.Args[0])
	return !slices.ContainsFunc(fields, func(f ssa.Value) bool {
		t := m.source(f).Type()
		return typeName(t) != "" && typeName(t) != "BoolField" && typeName(t) != "Field"
	})
}

// An asking is one question that a call asks.
type asking struct {
	question
	at ssa.Value // the question as the call has it
}

// askings are the questions that a call of Require, Value or RequireAll asks. all is false where RequireAll is given a list that
// cannot be followed.
func (m *model) askings(c ssa.CallInstruction) (list []asking, all bool) {
	args := c.Common().Args
	switch nameOf(callee(c.Common())) {
	case elicitPath + ".Question.Require", elicitPath + ".Question.Value":
		return []asking{{m.question(args[0]), args[0]}}, true
	case elicitPath + ".RequireAll":
		pending, known := elements(args[1])
		all = known
		for _, p := range pending {
			into, ok := p.(*ssa.Call)
			if !ok || nameOf(callee(into.Common())) != elicitPath+".Question.Into" {
				all = false
				continue
			}
			list = append(list, asking{m.question(into.Call.Args[0]), into.Call.Args[0]})
		}
		return list, all
	}
	return nil, true
}

// addAsks adds what a function asks to its fact: by itself, in function literals, and by the functions that it calls or refers to.
func (m *model) addAsks(f *ssa.Function, fact *funcFact) {
	add := func(q question) {
		if q.keyed { // one of many: what it was declared as counts
			q.Key = q.base
		}
		switch i := paramIndex(f, q.param); {
		case q.Key != "":
			fact.add(Asked{q.Key, q.Form && !q.Bound && len(q.words) == 0 && !q.keyed, q.isVar, q.Form})
		case i >= 0:
			if !slices.Contains(fact.Params, i) {
				fact.Params = append(fact.Params, i)
			}
		default:
			fact.Others = true
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			c, isCall := in.(ssa.CallInstruction)
			if isCall {
				if _, ok := c.(*ssa.Call); ok && (asksQuestions(callee(c.Common())) || m.fact(c.Common().StaticCallee()).Runs) {
					fact.Runs = true
				}
				switch fn := callee(c.Common()); {
				case asksQuestions(fn):
					list, all := m.askings(c)
					for _, a := range list {
						add(a.question)
					}
					fact.Others = fact.Others || !all
				case nameOf(fn) == elicitPath+".Question.Into":
					add(m.question(c.Common().Args[0]))
				case fn == nil && c.Common().StaticCallee() == nil:
					if _, ok := c.Common().Value.(*ssa.Builtin); !ok {
						fact.Others = true
					}
				case c.Common().IsInvoke() && contextOf(c.Common()) != nil && m.mayAsk(fn):
					fact.Others = true
				}
			}
			for _, op := range in.Operands(nil) {
				g := function(*op)
				if g == nil {
					continue
				}
				other := m.fact(g)
				for _, a := range other.Asks {
					fact.add(a)
				}
				fact.Others = fact.Others || other.Others
				for _, i := range other.Params {
					if isCall && c.Common().Value == *op && i < len(c.Common().Args) {
						add(m.question(c.Common().Args[i]))
					} else {
						fact.Others = true
					}
				}
			}
		}
	}
	slices.SortFunc(fact.Asks, func(a, b Asked) int { return strings.Compare(a.Key+"\x00"+a.Var, b.Key+"\x00"+b.Var) })
	slices.Sort(fact.Params)
}

func (f *funcFact) add(a Asked) {
	for i, other := range f.Asks {
		if other.Key == a.Key && other.Var == a.Var {
			f.Asks[i].Plain = other.Plain && a.Plain
			f.Asks[i].Form = other.Form && a.Form
			return
		}
	}
	f.Asks = append(f.Asks, a)
}

func (f *funcFact) asksKey(key string) bool {
	return slices.ContainsFunc(f.Asks, func(a Asked) bool { return a.Key == key })
}

// mayAsk reports whether an interface's method may be one that asks: not if its package knows nothing of elicit.
func (m *model) mayAsk(f *types.Func) bool {
	if f.Pkg() == nil || f.Pkg() == m.pass.Pkg {
		return f.Pkg() != nil
	}
	return m.pass.ImportPackageFact(f.Pkg(), new(usesElicit))
}

func paramIndex(f *ssa.Function, p *ssa.Parameter) int {
	if p == nil {
		return -1
	}
	return slices.Index(f.Params, p)
}
