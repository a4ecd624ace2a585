package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/formtype"
	"golang.org/x/tools/go/analysis"
)

// WrongForm reports questions, forms and fields that the constructors would refuse when the program runs.
var WrongForm = rule("elicit006", `questions and forms must be right

The constructors of questions, forms and fields never fail; what is wrong shows when a declaration panics at start-up, or, without one,
when a user is to be asked. This rule runs the same checks on what is known from source: struct types of form.For and NewQuestion,
with their elicit tags, the fields of form.New and form.Build, keys and messages. Among them are fields that seem to ask for a credential, which must not
go through a form.

Change what the message names. A field that asks for no credential although it sounds so says NotCredential.`, runWrongForm)

func runWrongForm(r *reporter) error {
	if !slices.ContainsFunc(r.Pkg.Imports(), func(p *types.Package) bool { return p.Path() == elicitPath || p.Path() == formPath }) {
		return nil
	}
	w := &formChecker{reporter: r, folder: newFolder(r), mistakes: map[token.Pos][]string{}, done: map[types.Type]bool{}}
	for _, file := range r.Files {
		if isTest(r.Fset, file.Pos()) {
			continue
		}
		var stack []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				stack = stack[:len(stack)-1]
				return true
			}
			if call, ok := n.(*ast.CallExpr); ok {
				w.call(call, stack)
			}
			stack = append(stack, n)
			return true
		})
	}
	for _, pos := range w.order {
		r.report(analysis.Diagnostic{Pos: pos, Message: strings.Join(w.mistakes[pos], "; ")})
	}
	return nil
}

type formChecker struct {
	*reporter
	folder   *folder
	mistakes map[token.Pos][]string
	order    []token.Pos
	done     map[types.Type]bool
}

func (w *formChecker) add(pos token.Pos, what string) {
	if w.mistakes[pos] == nil {
		w.order = append(w.order, pos)
	}
	if !slices.Contains(w.mistakes[pos], what) {
		w.mistakes[pos] = append(w.mistakes[pos], what)
	}
}

// call looks at a call that makes a question, a form or a field; what changes it later, by methods, is a part of it.
func (w *formChecker) call(call *ast.CallExpr, stack []ast.Node) {
	fn := w.folder.function(call)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return
	}
	path := fn.Pkg().Path()
	switch nameOf(fn) {
	case formPath + ".For", elicitPath + ".NewQuestion", pagePath + ".Secret":
		w.inferred(call)
	case formPath + ".Build":
		w.build(call)
		return
	case formPath + ".New":
		w.together(call)
		return
	}
	whole := ast.Expr(call)
	for i := len(stack) - 1; i > 0; i -= 2 {
		sel, ok := stack[i].(*ast.SelectorExpr)
		if !ok || sel.X != whole {
			break
		}
		outer, ok := stack[i-1].(*ast.CallExpr)
		if !ok || outer.Fun != ast.Expr(sel) {
			break
		}
		m := w.folder.function(outer)
		if m == nil || !makesWords(m) {
			break
		}
		whole = outer
	}
	if path != formPath && path != elicitPath {
		return
	}
	v, ok := w.folder.eval(whole)
	if !ok {
		return
	}
	switch v := v.Interface().(type) {
	case form.Field:
		w.lines(call.Pos(), form.New(v).Err())
	case elicit.AnyQuestion:
		w.lines(call.Pos(), v.Err())
	}
}

// lines adds the mistakes that an error lists.
func (w *formChecker) lines(pos token.Pos, err error) {
	for _, line := range errorLines(err) {
		w.add(pos, line)
	}
}

func errorLines(err error) (lines []string) {
	if err == nil {
		return nil
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		line = strings.TrimPrefix(line, "elicit: ")
		lines = append(lines, strings.TrimPrefix(line, "form: "))
	}
	return lines
}

// together looks at what only the fields of a form.New together have wrong.
func (w *formChecker) together(call *ast.CallExpr) {
	if call.Ellipsis.IsValid() {
		return
	}
	var fields []form.Field
	var alone []string
	for _, arg := range call.Args {
		v, ok := w.folder.eval(arg)
		if !ok {
			continue
		}
		if f, ok := v.Interface().(form.Field); ok {
			fields = append(fields, f)
			alone = append(alone, errorLines(form.New(f).Err())...)
		}
	}
	for _, line := range errorLines(form.New(fields...).Err()) {
		if !slices.Contains(alone, line) {
			w.add(call.Pos(), line)
		}
	}
}

// inferred looks at the struct that a function makes a form of.
func (w *formChecker) inferred(call *ast.CallExpr) {
	t := w.typeArgument(call)
	if t == nil || w.done[t] {
		return
	}
	w.done[t] = true
	if _, ok := t.(*types.TypeParam); ok {
		return
	}
	if rt, ok := notStruct(t); ok {
		for _, err := range formtype.For(rt) {
			w.add(call.Pos(), strings.ReplaceAll(strings.TrimPrefix(err.Error(), "form: "), rt.String(), shown(t)))
		}
		return
	}
	s, ok := structOf(t)
	if !ok {
		return
	}
	errs := formtype.For(s.rt)
	if nameOf(w.folder.function(call)) == elicitPath+".NewQuestion" {
		for name, v := range s.names {
			if hasMethod(v.Type(), "ElicitHidden") { // a question with such a field, alone
				field := form.Text[standHidden, *standHidden](name)
				for _, line := range errorLines(elicit.NewFormQuestion("key", "What?", form.New(field)).Err()) {
					errs = append(errs, fmt.Errorf("field %q: %s", name, strings.TrimPrefix(line, `question "key": `)))
				}
			}
		}
	}
	w.structErrors(call.Pos(), t, s, errs, nil)
}

// notStruct is a type of which no form can be made, or something like it.
func notStruct(t types.Type) (reflect.Type, bool) {
	if rt, ok := knownType(t); ok {
		return rt, true
	}
	if hasMethod(t, "UnmarshalText") {
		return reflect.TypeFor[standText](), true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return nil, false
	case *types.Pointer:
		return reflect.TypeFor[*standText](), true
	case *types.Basic:
		return basic(u.Kind())
	case *types.Slice:
		return reflect.TypeFor[[]string](), true
	case *types.Map:
		return reflect.TypeFor[map[string]any](), true
	case *types.Interface:
		return reflect.TypeFor[any](), true
	}
	return nil, false
}

// structErrors adds what is wrong with a struct, each mistake where its field is listed, or declared in this package.
func (w *formChecker) structErrors(pos token.Pos, t types.Type, s *structType, errs []error, listed map[*types.Var]token.Pos) {
	name := shown(t)
	add := func(v *types.Var, what string) {
		at := pos
		if v != nil && v.Pkg() == w.Pkg {
			at = v.Pos()
		}
		if p, ok := listed[v]; ok {
			at = p
		}
		w.add(at, strings.NewReplacer(s.words[v]...).Replace(what))
	}
	for v, what := range s.wrong {
		add(v, name+"."+v.Name()+": "+what)
	}
	for _, err := range errs {
		line := strings.TrimPrefix(err.Error(), "form: ")
		if rest, ok := strings.CutPrefix(line, "field "); ok { // by the name in JSON
			var found *types.Var
			for json, v := range s.names {
				if strings.HasPrefix(rest, strconv.Quote(json)+":") {
					found = v
				}
			}
			add(found, line)
			continue
		}
		if path, what, ok := strings.Cut(line, ": "); ok && s.fields[path] != nil {
			add(s.fields[path], name+path+": "+what)
			continue
		}
		w.add(pos, strings.ReplaceAll(line, s.rt.String(), name))
	}
}

// typeArgument is the type argument of a call, nil for none.
func (w *formChecker) typeArgument(call *ast.CallExpr) types.Type {
	id := calledName(call)
	inst, ok := w.TypesInfo.Instances[id]
	if !ok || inst.TypeArgs.Len() == 0 {
		return nil
	}
	return types.Unalias(inst.TypeArgs.At(0))
}

// build looks at the fields of a form.Build whose function is written in place.
func (w *formChecker) build(call *ast.CallExpr) {
	t := w.typeArgument(call)
	lit, isLit := ast.Unparen(call.Args[0]).(*ast.FuncLit)
	if t == nil || !isLit {
		return
	}
	if rt, ok := notStruct(t); ok {
		for _, err := range formtype.Build(rt, nil) {
			w.add(call.Pos(), strings.ReplaceAll(strings.TrimPrefix(err.Error(), "form: "), rt.String(), shown(t)))
		}
		return
	}
	s, ok := structOf(t)
	if !ok || len(lit.Type.Params.List) != 1 || len(lit.Type.Params.List[0].Names) != 1 {
		return
	}
	list, ok := returned(lit)
	if !ok {
		return
	}
	f := *w.folder
	f.param = w.TypesInfo.Defs[lit.Type.Params.List[0].Names[0]]
	listed := map[*types.Var]token.Pos{}
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && s.isField(w.TypesInfo.Uses[sel.Sel]) {
				listed[w.TypesInfo.Uses[sel.Sel].(*types.Var)] = e.Pos()
			}
			return true
		})
	}
	errs := formtype.Build(s.rt, func(root reflect.Value) (fields []any) {
		f.root = root
		for _, e := range list {
			if v, ok := f.eval(e); ok {
				if _, isField := v.Interface().(form.Field); isField {
					fields = append(fields, v.Interface())
				}
			}
		}
		return fields
	})
	w.structErrors(call.Pos(), t, s, errs, listed)
}

// returned are the elements of the one list that a function returns.
func returned(lit *ast.FuncLit) ([]ast.Expr, bool) {
	if len(lit.Body.List) == 0 {
		return nil, false
	}
	ret, ok := lit.Body.List[len(lit.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || len(lit.Body.List) != 1 {
		return nil, false
	}
	list, ok := ast.Unparen(ret.Results[0]).(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	return list.Elts, true
}
