package lint

import (
	"github.com/elicit-go/elicit/form"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
)

// hasOwnText reports whether the values of a type travel as what a method says, which is not run here.
func hasOwnText(t types.Type) bool { return hasMethod(t, "MarshalText") || hasMethod(t, "String") }

func (f *folder) option(value, title ast.Expr, depth int) (reflect.Value, bool) {
	v, ok := f.value(value, depth+1)
	if !ok || hasOwnText(f.info.TypeOf(value)) {
		return reflect.Value{}, false
	}
	text := ""
	if title != nil {
		t, ok := f.value(title, depth+1)
		if !ok {
			t = reflect.ValueOf("a title")
		}
		text = t.String()
	}
	switch v := v.Interface().(type) {
	case string:
		return reflect.ValueOf(form.Opt(v, text)), true
	case int64:
		return reflect.ValueOf(form.Opt(v, text)), true
	}
	return reflect.Value{}, false
}

// optionArgs are options from an argument on: each by itself, or a list.
func (f *folder) optionArgs(call *ast.CallExpr, from, depth int) (reflect.Value, bool) {
	args := call.Args[from:]
	if call.Ellipsis.IsValid() {
		return f.value(args[0], depth+1)
	}
	return f.list(args, depth)
}

func (f *folder) list(args []ast.Expr, depth int) (reflect.Value, bool) {
	list := reflect.ValueOf([]form.Option[string]{})
	for i, a := range args {
		t := f.info.TypeOf(a)
		var v reflect.Value
		var ok bool
		if isNamed(t, formPath, "Option") {
			v, ok = f.value(a, depth+1)
		} else {
			v, ok = f.option(a, nil, depth)
		}
		if !ok {
			return reflect.Value{}, false
		}
		if i == 0 {
			list = reflect.MakeSlice(reflect.SliceOf(v.Type()), 0, len(args))
		}
		list = reflect.Append(list, v)
	}
	return list, true
}

// options is a list of options that is written out, or one option.
func (f *folder) options(lit *ast.CompositeLit, depth int) (reflect.Value, bool) {
	t := types.Unalias(f.info.TypeOf(lit))
	if isNamed(t, formPath, "Option") {
		var value, title ast.Expr
		for i, e := range lit.Elts {
			name := [...]string{"Value", "Title"}[min(i, 1)]
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				name, e = kv.Key.(*ast.Ident).Name, kv.Value
			}
			if name == "Value" {
				value = e
			} else {
				title = e
			}
		}
		if value == nil {
			return reflect.Value{}, false
		}
		return f.option(value, title, depth)
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok || !isNamed(s.Elem(), formPath, "Option") || slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool { _, keyed := e.(*ast.KeyValueExpr); return keyed }) {
		return reflect.Value{}, false
	}
	return f.list(lit.Elts, depth)
}
