package lint

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// modelAnalyzer makes the model of a package that uses elicit, and its facts. Of other packages it makes nothing, and at no cost.
var modelAnalyzer = &analysis.Analyzer{
	Name:       "elicitmodel",
	Doc:        "what functions and variables mean to the rules of elicit",
	Run:        func(pass *analysis.Pass) (any, error) { return newModel(pass), nil },
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
	Plain bool // a form, in the words that it was made with, whose answer needs no proof if it is declared
	Var   bool // a package variable
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
