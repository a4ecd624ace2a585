package lint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"net/mail"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
)

// A folder computes questions, forms and fields from source, by calling the very constructors with what is constant.
type folder struct {
	info *types.Info
	once map[types.Object]ast.Expr // variables that are set once, and to what; nil for others

	// Within the function of a form.Build: its parameter, and the struct that it points to.
	param types.Object
	root  reflect.Value
}

func newFolder(r *reporter) *folder {
	f := &folder{info: r.TypesInfo, once: map[types.Object]ast.Expr{}}
	set := func(lhs ast.Expr, rhs ast.Expr) {
		if id, ok := ast.Unparen(lhs).(*ast.Ident); ok {
			obj := r.TypesInfo.Defs[id]
			if obj == nil {
				obj = r.TypesInfo.Uses[id]
			}
			if obj == nil {
				return
			}
			if _, again := f.once[obj]; again {
				rhs = nil
			}
			f.once[obj] = rhs
			return
		}
		// A part of it is set: it is not what it was.
		for e := lhs; ; {
			switch x := ast.Unparen(e).(type) {
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.SelectorExpr:
				e = x.X
				continue
			case *ast.StarExpr:
				e = x.X
				continue
			case *ast.Ident:
				if obj := r.TypesInfo.Uses[x]; obj != nil {
					f.once[obj] = nil
				}
			}
			return
		}
	}
	for _, file := range r.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					var rhs ast.Expr
					if len(n.Lhs) == len(n.Rhs) && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) {
						rhs = n.Rhs[i]
					}
					set(lhs, rhs)
				}
			case *ast.ValueSpec:
				for i, id := range n.Names {
					var rhs ast.Expr
					if len(n.Names) == len(n.Values) {
						rhs = n.Values[i]
					}
					set(id, rhs)
				}
			case *ast.RangeStmt:
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if e != nil {
						set(e, nil)
					}
				}
			case *ast.UnaryExpr: // its address goes elsewhere
				if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND {
					if obj := r.TypesInfo.Uses[id]; obj != nil {
						f.once[obj] = nil
					}
				}
			}
			return true
		})
	}
	return f
}

// makers are the functions that are called as they are.
var makers = map[string]reflect.Value{}

func init() {
	for name, fn := range map[string]any{
		formPath + ".String": form.String, formPath + ".Email": form.Email, formPath + ".URI": form.URI, formPath + ".Date": form.Date, formPath + ".DateTime": form.DateTime,
		formPath + ".Int": form.Int, formPath + ".Number": form.Number, formPath + ".Bool": form.Bool, formPath + ".New": form.New,
		elicitPath + ".Input": elicit.Input, elicitPath + ".Confirm": elicit.Confirm, elicitPath + ".NewRoots": elicit.NewRoots,
	} {
		makers[name] = reflect.ValueOf(fn)
	}
}

// eval is the value of an expression, false where it is not known.
func (f *folder) eval(e ast.Expr) (v reflect.Value, ok bool) {
	defer func() {
		if recover() != nil { // reflect, with values that do not fit
			v, ok = reflect.Value{}, false
		}
	}()
	return f.value(e, 0)
}

func (f *folder) value(e ast.Expr, depth int) (reflect.Value, bool) {
	none := reflect.Value{}
	if depth > 50 {
		return none, false
	}
	e = ast.Unparen(e)
	if tv := f.info.Types[e]; tv.Value != nil {
		return constantOf(tv.Value, tv.Type)
	}
	switch e := e.(type) {
	case *ast.Ident:
		if rhs := f.once[f.info.Uses[e]]; rhs != nil {
			return f.value(rhs, depth+1)
		}
	case *ast.CallExpr:
		return f.call(e, depth)
	case *ast.CompositeLit:
		return f.options(e, depth)
	case *ast.UnaryExpr: // &s.Field
		if sel, ok := ast.Unparen(e.X).(*ast.SelectorExpr); ok && e.Op == token.AND {
			if field, ok := f.field(sel); ok && field.CanAddr() {
				return field.Addr(), true
			}
		}
	case *ast.SelectorExpr: // s.Pointer
		if field, ok := f.field(e); ok && field.Kind() == reflect.Pointer {
			return field, true
		}
	}
	return none, false
}

// field is the field of the struct of a form.Build that an expression selects.
func (f *folder) field(sel *ast.SelectorExpr) (reflect.Value, bool) {
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	if !ok || f.param == nil || f.info.Uses[id] != f.param {
		return reflect.Value{}, false
	}
	v := f.root.Elem().FieldByName(sel.Sel.Name)
	return v, v.IsValid()
}

func constantOf(c constant.Value, t types.Type) (reflect.Value, bool) {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return reflect.Value{}, false
	}
	switch info := b.Info(); {
	case info&types.IsString != 0:
		return reflect.ValueOf(constant.StringVal(c)), true
	case info&types.IsBoolean != 0:
		return reflect.ValueOf(constant.BoolVal(c)), true
	case info&types.IsFloat != 0:
		x, _ := constant.Float64Val(c)
		return reflect.ValueOf(x), true
	case info&types.IsInteger != 0:
		if i, ok := constant.Int64Val(constant.ToInt(c)); ok {
			return reflect.ValueOf(i), true
		}
		if u, ok := constant.Uint64Val(constant.ToInt(c)); ok {
			return reflect.ValueOf(u), true
		}
	}
	return reflect.Value{}, false
}

// calledName is the name by which a call calls a function, without its package and type arguments; nil for another expression.
func calledName(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}

// function is the declared function that a call calls.
func (f *folder) function(call *ast.CallExpr) *types.Func {
	id := calledName(call)
	if id == nil {
		return nil
	}
	fn, _ := f.info.Uses[id].(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

func (f *folder) call(call *ast.CallExpr, depth int) (reflect.Value, bool) {
	none := reflect.Value{}
	fn := f.function(call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != formPath && fn.Pkg().Path() != elicitPath {
		return none, false
	}
	name := nameOf(fn)
	if fn.Signature().Recv() != nil {
		return f.method(call, fn.Name(), depth)
	}
	switch {
	case name == formPath+".New":
		fields := f.known(call.Args, depth)
		if call.Ellipsis.IsValid() || len(fields) != len(call.Args) {
			return none, false
		}
		return makers[name].Call(fields)[0], true
	case makers[name].IsValid():
		fn := makers[name]
		if fn.Type().NumIn() == 1 {
			arg, ok := f.value(call.Args[0], depth+1)
			if !ok {
				return none, false
			}
			return fn.Call([]reflect.Value{arg})[0], true
		}
		return fn.Call(f.keyAndMessage(call, depth))[0], true
	case name == elicitPath+".NewQuestion", name == elicitPath+".NewFormQuestion":
		q := reflect.ValueOf(elicit.NewFormQuestion[form.Values])
		f1 := reflect.ValueOf(form.New(form.String("text"))) // its form is looked at by itself
		return q.Call(append(f.keyAndMessage(call, depth), f1))[0], true
	case name == elicitPath+".Choose":
		opts, ok := f.optionArgs(call, 2, depth)
		if !ok || opts.Type() != reflect.TypeFor[[]form.Option[string]]() {
			opts = reflect.ValueOf(form.Options("an option"))
		}
		return reflect.ValueOf(elicit.Choose[string]).CallSlice(append(f.keyAndMessage(call, depth), opts))[0], true
	case name == formPath+".Opt":
		return f.option(call.Args[0], call.Args[1], depth)
	case name == formPath+".Options":
		return f.optionArgs(call, 0, depth)
	case name == formPath+".Choice", name == formPath+".Choices":
		arg, ok := f.value(call.Args[0], depth+1)
		opts, ok2 := f.optionArgs(call, 1, depth)
		if !ok || !ok2 {
			return none, false
		}
		return instance(fn.Name(), opts.Type().Elem()).CallSlice([]reflect.Value{arg, opts})[0], true
	case name == formPath+".ChoiceOf", name == formPath+".ChoicesOf":
		p, ok := f.value(call.Args[0], depth+1)
		if !ok {
			return none, false
		}
		elem := p.Type().Elem()
		if elem.Kind() == reflect.Slice {
			elem = elem.Elem()
		}
		if len(call.Args) == 1 {
			if elem == reflect.TypeFor[standChoice]() {
				return instanceOf(fn.Name(), elem).Call([]reflect.Value{p})[0], true
			}
			if elem.Kind() != reflect.String {
				return none, false
			}
		}
		opts, ok := f.optionArgs(call, 1, depth)
		if !ok || elem.Kind() != reflect.String || opts.Type() != reflect.TypeFor[[]form.Option[string]]() {
			return none, false
		}
		if elem == reflect.TypeFor[standChoice]() {
			list := opts.Interface().([]form.Option[string])
			typed := make([]form.Option[standChoice], len(list))
			for i, o := range list {
				typed[i] = form.Opt(standChoice(o.Value), o.Title)
			}
			opts = reflect.ValueOf(typed)
		}
		return instanceOf(fn.Name(), elem).CallSlice([]reflect.Value{p, opts})[0], true
	case strings.HasSuffix(fn.Name(), "Of") && len(call.Args) == 1:
		p, ok := f.value(call.Args[0], depth+1)
		if !ok {
			return none, false
		}
		for _, maker := range bound[fn.Name()] {
			if m := reflect.ValueOf(maker); m.Type().In(0) == p.Type() {
				return m.Call([]reflect.Value{p})[0], true
			}
		}
	}
	return none, false
}

// bound are the fields of form.Build, for each type that one can be.
var bound = map[string][]any{
	"StringOf":   {form.StringOf[string]},
	"EmailOf":    {form.EmailOf[string], form.EmailOf[mail.Address]},
	"URIOf":      {form.URIOf[string], form.URIOf[url.URL]},
	"DateOf":     {form.DateOf[string], form.DateOf[time.Time], form.DateOf[form.Day]},
	"DateTimeOf": {form.DateTimeOf[string], form.DateTimeOf[time.Time]},
	"BoolOf":     {form.BoolOf[bool]},
	"NumberOf":   {form.NumberOf[float32], form.NumberOf[float64]},
	"TextOf":     {form.TextOf[standText, *standText], form.TextOf[standHidden, *standHidden]},
	"IntOf": {form.IntOf[int], form.IntOf[int8], form.IntOf[int16], form.IntOf[int32], form.IntOf[int64],
		form.IntOf[uint], form.IntOf[uint8], form.IntOf[uint16], form.IntOf[uint32], form.IntOf[uint64]},
}

func instance(name string, option reflect.Type) reflect.Value {
	switch {
	case name == "Choice" && option == reflect.TypeFor[form.Option[string]]():
		return reflect.ValueOf(form.Choice[string])
	case name == "Choice":
		return reflect.ValueOf(form.Choice[int64])
	case option == reflect.TypeFor[form.Option[string]]():
		return reflect.ValueOf(form.Choices[string])
	}
	return reflect.ValueOf(form.Choices[int64])
}

func instanceOf(name string, elem reflect.Type) reflect.Value {
	stand := elem == reflect.TypeFor[standChoice]()
	switch {
	case name == "ChoiceOf" && stand:
		return reflect.ValueOf(form.ChoiceOf[standChoice])
	case name == "ChoiceOf":
		return reflect.ValueOf(form.ChoiceOf[string])
	case stand:
		return reflect.ValueOf(form.ChoicesOf[standChoice])
	}
	return reflect.ValueOf(form.ChoicesOf[string])
}

// keyAndMessage are the first arguments of a question, with something that is right for what is not known.
func (f *folder) keyAndMessage(call *ast.CallExpr, depth int) []reflect.Value {
	args := []reflect.Value{reflect.ValueOf("key"), reflect.ValueOf("What?")}
	for i := range args {
		if v, ok := f.value(call.Args[i], depth+1); ok {
			args[i] = v
		}
	}
	return args
}

// known are the values that are known.
func (f *folder) known(list []ast.Expr, depth int) (out []reflect.Value) {
	for _, e := range list {
		if v, ok := f.value(e, depth+1); ok {
			out = append(out, v)
		}
	}
	return out
}

// method calls a method of a field or a question. What it is given and is not known is left out, if it was not set before.
func (f *folder) method(call *ast.CallExpr, name string, depth int) (reflect.Value, bool) {
	none := reflect.Value{}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return none, false
	}
	recv, ok := f.value(sel.X, depth+1)
	if !ok {
		return none, false
	}
	m := recv.MethodByName(name)
	if !m.IsValid() || m.Type().NumOut() != 1 || m.Type().Out(0) != recv.Type() {
		return none, false
	}
	if name == "Default" && strings.Contains(recv.Type().String(), "standChoice") {
		return recv, true // its options are not known
	}
	if call.Ellipsis.IsValid() {
		return recv, !f.setBefore(sel.X, name)
	}
	var args []reflect.Value
	for i, a := range call.Args {
		v, ok := f.value(a, depth+1)
		variadic := m.Type().IsVariadic() && i >= m.Type().NumIn()-1
		if !ok || !variadic && hasOwnText(f.info.TypeOf(a)) && name == "Default" {
			if variadic && strings.HasSuffix(name, "f") {
				v = reflect.ValueOf("x") // the data of a format
			} else {
				return recv, !f.setBefore(sel.X, name)
			}
		}
		in := m.Type().In(min(i, m.Type().NumIn()-1))
		if variadic {
			in = in.Elem()
		}
		if v.Type() != in && in.Kind() != reflect.Interface {
			if !v.CanConvert(in) || v.Kind() == reflect.String != (in.Kind() == reflect.String) {
				return none, false
			}
			v = v.Convert(in)
		}
		args = append(args, v)
	}
	return m.Call(args)[0], true
}

// setBefore reports whether a chain of calls has one of a method already.
func (f *folder) setBefore(e ast.Expr, name string) bool {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return false
		}
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if sel.Sel.Name == name {
			return true
		}
		e = sel.X
	}
}
