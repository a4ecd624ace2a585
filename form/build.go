package form

import (
	"fmt"
	"reflect"
	"runtime"
)

// Build is the form of the fields of struct T that fn lists, in its order, each by a pointer, so that the compiler checks what a
// name would not:
//
//	form.Build(func(s *Shipment) []form.Field {
//		return []form.Field{
//			form.StringOf(&s.TrackingNumber).MinLength(8),
//			form.IntOf(&s.Parcels).Range(1, 10).Default(1),
//			form.StringOf(s.Note), // Note is a *string: optional
//		}
//	})
//
// fn is called once, with a T of which the pointers that can be fields are allocated. As in [For], names and descriptions come from the
// json and jsonschema tags and from doc comments, a field is required unless its json tag has omitempty or omitzero or it is a pointer,
// and the elicit tag says more; what the methods of the fields say goes before. Fields of T that fn leaves out are not asked for and
// stay zero.
func Build[T any](fn func(*T) []Field) *Form[T] {
	f := &Form[T]{}
	var b builder
	if t := reflect.TypeFor[T](); isForm(t, &b, "Build") {
		if fn == nil {
			b.errorf("Build[%v]: the function is nil", t)
		} else {
			f.binds = build(t, &b, func(v reflect.Value) []Field { return fn(v.Interface().(*T)) })
		}
	}
	f.m = b.model()
	return f
}

// place is where a field of the struct lies, and as what: the first field of a struct has the struct's address.
type place struct {
	addr uintptr
	typ  reflect.Type
}

// build calls fn and finds the struct field behind each pointer.
func build(t reflect.Type, b *builder, fn func(reflect.Value) []Field) (binds []bind) {
	root := reflect.New(t)
	defer runtime.KeepAlive(root.Interface()) // addresses are compared below
	places := map[place]*bind{}
	for _, bound := range bindsOf(t, b) {
		v := bound.reach(root.Elem())
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
		places[place{v.Addr().Pointer(), v.Type()}] = &bound
	}
	fields, panicked := call(fn, root)
	if panicked != nil {
		b.errorf("Build[%v]: the function panicked: %v; it may only take addresses of fields, and pointers that are fields", t, panicked)
	}
	taken := map[*bind]bool{}
	for i, x := range fields {
		which := fmt.Sprintf("Build[%v]: field %d", t, i+1)
		s, ok := specOf(x)
		if !ok {
			b.errorf("%s is nil", which)
			continue
		}
		if !s.byPointer {
			b.errorf("%s (%q) has a name; in Build a field is a pointer into the struct, as in form.StringOf(&s.%s)", which, s.name, goName(s.name))
			continue
		}
		p := reflect.ValueOf(s.to)
		if p.IsNil() {
			b.errorf("%s is a nil pointer; the pointers that are exported fields of %v are set", which, t)
			continue
		}
		bound := places[place{p.Pointer(), p.Type().Elem()}]
		switch {
		case bound == nil:
			b.errorf("%s %s", which, elsewhere(root.Elem(), p))
			continue
		case taken[bound]:
			b.errorf("%s: %s is there twice", which, bound.path)
			continue
		}
		taken[bound] = true
		s.name = bound.name
		if mistake := fillOptions(s.rules, bound.valueType()); mistake != "" {
			b.errorf("%s: %s", bound.path, mistake)
		}
		bound.describe(&s, b)
		b.add(s)
		bound.finish(t, s.rules)
		binds = append(binds, *bound)
	}
	return binds
}

// fillOptions gives a field without options those of its Go type.
func fillOptions(r rules, t reflect.Type) (mistake string) {
	var o *options
	switch r := r.(type) {
	case *choiceRules:
		o = &r.options
	case *choicesRules:
		o = &r.options
	}
	if o == nil || len(o.list) > 0 {
		return ""
	}
	list, has, mistake := elicitOptions(t)
	if has {
		*o = optionList(list)
	}
	return mistake
}

// call calls fn, and returns what it panicked with.
func call(fn func(reflect.Value) []Field, root reflect.Value) (fields []Field, panicked any) {
	defer func() { panicked = recover() }()
	return fn(root), nil
}

// elsewhere says where a pointer points that is not to a field of the form.
func elsewhere(root, p reflect.Value) string {
	addr := p.Pointer()
	path := root.Type().Name()
	for v := root; v.Kind() == reflect.Struct; {
		i := fieldAt(v, addr)
		if i < 0 {
			for i := range v.NumField() {
				if in := v.Field(i); in.Kind() == reflect.Pointer && in.Elem().Kind() == reflect.Struct && fieldAt(in.Elem(), addr) >= 0 {
					return "points into " + path + "." + v.Type().Field(i).Name + flat
				}
			}
			return fmt.Sprintf("does not point into the %v that the function gets", root.Type())
		}
		sf := v.Type().Field(i)
		path += "." + sf.Name
		v = v.Field(i)
		if v.Kind() == reflect.Struct && !sf.Anonymous && !isValue(v.Type()) {
			return "points into " + path + flat
		}
	}
	return "points to " + path + ", which is not a field of the form: it must be exported, and not hidden from JSON by its tag or by another field of its name"
}

const flat = "; a form is flat: move the field up, or embed the struct"

// fieldAt is the field of a struct in which an address lies, or -1.
func fieldAt(v reflect.Value, addr uintptr) int {
	for i := range v.NumField() {
		f := v.Field(i)
		if start := f.UnsafeAddr(); start <= addr && addr < start+f.Type().Size() {
			return i
		}
	}
	return -1
}
