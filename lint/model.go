package lint

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// modelAnalyzer makes the model of a package that uses elicit, and its facts. Of other packages it makes nothing, and at no cost.
var modelAnalyzer = &analysis.Analyzer{
	Name: "elicitmodel",
	Doc:  "what functions and variables mean to the rules of elicit",
	Run: func(pass *analysis.Pass) (m any, err error) {
		defer guard(pass, &err)
		return newModel(pass), nil
	},
	ResultType: reflect.TypeFor[*model](),
	FactTypes:  []analysis.Fact{new(usesElicit), new(funcFact), new(questionFact)},
}

// usesElicit marks a package that imports elicit, or one that does.
type usesElicit struct{}

func (*usesElicit) AFact()         {}
func (*usesElicit) String() string { return "uses elicit" }

// A funcFact is what a caller must know of a function.
type funcFact struct {
	Errs     []int   // the results that may be an asking error
	Runs     bool    // it asks when it is called, rather than something that it makes or refers to
	Asks     []Asked // the questions that it asks
	Params   []int   // the parameters that are questions which it asks
	Others   bool    // it asks questions whose keys are not known, or calls what might
	Changing []int   // the results that differ in every run: a clock, a random number
}

func (*funcFact) AFact() {}

// Asked is a question that a function asks.
type Asked struct {
	Key   string
	Plain bool   // a form, in the words that it was made with, whose answer needs no proof if it is declared
	Var   string // the package variable that it is, with its package; "" for none
	Form  bool
}

func (f *funcFact) empty() bool {
	return len(f.Errs)+len(f.Asks)+len(f.Params)+len(f.Changing) == 0 && !f.Others && !f.Runs
}

// A questionFact is what is known of a package variable that is a question.
type questionFact struct{ Question question }

func (*questionFact) AFact() {}

// A model is a package in SSA form, with what is known of its functions and of those that it calls.
type model struct {
	pass    *analysis.Pass
	ssa     *ssa.Package
	funcs   []*ssa.Function // those of the source, with function literals, each after the one that it is in; no tests
	facts   map[*ssa.Function]*funcFact
	globals map[*ssa.Global]ssa.Value // package variables that are set once, and to what
}

// newModel is nil for a package that does not use elicit.
func newModel(pass *analysis.Pass) *model {
	uses := slices.ContainsFunc(pass.Pkg.Imports(), func(p *types.Package) bool {
		return p.Path() == elicitPath || p.Path() == formPath || pass.ImportPackageFact(p, new(usesElicit))
	})
	if !uses {
		return nil
	}
	pass.ExportPackageFact(new(usesElicit))
	m := &model{pass: pass, facts: map[*ssa.Function]*funcFact{}, globals: map[*ssa.Global]ssa.Value{}}
	m.build()
	m.findGlobals()
	m.findFacts()
	return m
}

// build brings the package into SSA form. It does what passes/buildssa does, which cannot be asked to do it only where it is
// needed.
func (m *model) build() {
	prog := ssa.NewProgram(m.pass.Fset, ssa.BuilderMode(0))
	prog.SetNoReturn(endsProgram)
	for _, p := range m.pass.Pkg.Imports() {
		prog.CreatePackage(p, nil, nil, true)
	}
	m.ssa = prog.CreatePackage(m.pass.Pkg, m.pass.Files, m.pass.TypesInfo, false)
	m.ssa.Build()
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		m.funcs = append(m.funcs, f)
		for _, anon := range f.AnonFuncs {
			add(anon)
		}
	}
	for _, file := range m.pass.Files {
		if isTest(m.pass.Fset, file.Pos()) {
			continue
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				if fn, ok := m.pass.TypesInfo.Defs[d.Name].(*types.Func); ok {
					if f := prog.FuncValue(fn); f != nil {
						add(f)
					}
				}
			}
		}
	}
	if init := m.ssa.Func("init"); init != nil { // package variables, with the function literals in them
		for _, anon := range init.AnonFuncs {
			if !isTest(m.pass.Fset, anon.Pos()) {
				add(anon)
			}
		}
	}
}

// findGlobals finds the package variables that are set once, where they are declared.
func (m *model) findGlobals() {
	stores := map[*ssa.Global]int{}
	var look func(f *ssa.Function)
	look = func(f *ssa.Function) {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if s, ok := in.(*ssa.Store); ok {
					if g, ok := s.Addr.(*ssa.Global); ok {
						stores[g]++
						m.globals[g] = s.Val
					}
				}
			}
		}
		for _, anon := range f.AnonFuncs {
			look(anon)
		}
	}
	for _, member := range m.ssa.Members {
		if f, ok := member.(*ssa.Function); ok {
			look(f)
		}
	}
	for _, f := range m.funcs {
		if f.Parent() == nil && f.Signature.Recv() != nil {
			look(f)
		}
	}
	for g, n := range stores {
		if n > 1 {
			delete(m.globals, g)
		}
	}
}

// findFacts finds and exports the facts, until there are no more: functions may call each other.
func (m *model) findFacts() {
	for g, v := range m.globals {
		if isQuestion(v.Type()) && g.Object() != nil {
			if q := m.question(v); q.Key != "" {
				m.pass.ExportObjectFact(g.Object(), &questionFact{q})
			}
		}
	}
	for _, f := range m.funcs {
		m.facts[f] = &funcFact{}
	}
	for round, changed := 0, true; changed && round < 10; round++ {
		changed = false
		for _, f := range slices.Backward(m.funcs) { // literals first
			if next := m.factOf(f); !reflect.DeepEqual(next, m.facts[f]) {
				m.facts[f], changed = next, true
			}
		}
	}
	for _, f := range m.funcs {
		if obj := objectOf(f); obj != nil && f.Parent() == nil && !m.facts[f].empty() {
			m.pass.ExportObjectFact(obj, m.facts[f])
		}
	}
}

func (m *model) factOf(f *ssa.Function) *funcFact {
	fact := &funcFact{Errs: m.askingResults(f), Changing: m.changingResults(f)}
	m.addAsks(f, fact)
	return fact
}

// fact is what is known of a function, never nil.
func (m *model) fact(f *ssa.Function) *funcFact {
	if f == nil {
		return &funcFact{}
	}
	if o := f.Origin(); o != nil {
		f = o
	}
	if fact, ok := m.facts[f]; ok {
		return fact
	}
	fact := &funcFact{}
	if obj := objectOf(f); obj != nil && obj.Pkg() != m.pass.Pkg {
		if !isAPI(obj.Pkg()) {
			m.pass.ImportObjectFact(obj, fact)
		}
	} else if fn := m.target(f); fn != nil && fn != f {
		return m.fact(fn)
	}
	return fact
}

// target is the function that a wrapper of it calls: of a method value, say.
func (m *model) target(f *ssa.Function) *ssa.Function {
	if obj := objectOf(f); obj != nil && (f.Synthetic != "" || len(f.Blocks) == 0) {
		return m.ssa.Prog.FuncValue(obj)
	}
	return f
}

// askingErrs are the results of a call that may be an asking error.
func (m *model) askingErrs(c ssa.CallInstruction) []int {
	f := callee(c.Common())
	switch {
	case asks(f):
		return []int{c.Common().Signature().Results().Len() - 1}
	case nameOf(f) == elicitPath+".Step":
		if fn := function(c.Common().Args[2]); fn != nil && len(m.fact(fn).Errs) > 0 {
			return []int{1}
		}
		return nil
	}
	return m.fact(c.Common().StaticCallee()).Errs
}
