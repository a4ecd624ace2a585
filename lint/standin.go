package lint

import (
	"encoding/json"
	"go/types"
	"maps"
	"net/mail"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/formtype"
)

// The rules for the types of forms are those of package form, which reads them from the program that runs. Here the types are
// known from source only, so they are built anew, with stand-ins for what has methods: form then says what is wrong with them.

type (
	// standText is any type that reads itself from text, and takes every text.
	standText string
	// standHidden is one whose value must not be seen.
	standHidden string
	// standChoice is any type that lists its options.
	standChoice string
)

func (*standText) UnmarshalText([]byte) error { return nil }

func (*standHidden) UnmarshalText([]byte) error { return nil }
func (standHidden) ElicitHidden() bool          { return false }

func (standChoice) ElicitOptions() []form.Option[standChoice] {
	return form.Options[standChoice]("an option")
}

// known are the types that form knows by name.
var known = map[string]reflect.Type{
	"time.Time": reflect.TypeFor[time.Time](), "time.Duration": reflect.TypeFor[time.Duration](), "net/url.URL": reflect.TypeFor[url.URL](),
	"net/mail.Address": reflect.TypeFor[mail.Address](), "encoding/json.Number": reflect.TypeFor[json.Number](),
	formPath + ".Day": reflect.TypeFor[form.Day](), formPath + ".Values": reflect.TypeFor[form.Values](),
}

// A structType is a struct that was built anew.
type structType struct {
	rt     reflect.Type
	fields map[string]*types.Var   // by the path to it: ".Base.ID"
	names  map[string]*types.Var   // by its name in JSON
	words  map[*types.Var][]string // for a strings.Replacer: what stand-ins are called, and what they stand for
	wrong  map[*types.Var]string   // what is known to be wrong beforehand
}

// structOf builds a struct anew; false if it cannot be.
func structOf(t types.Type) (s *structType, ok bool) {
	defer func() {
		if recover() != nil { // what reflect.StructOf does not build
			s, ok = nil, false
		}
	}()
	s = &structType{fields: map[string]*types.Var{}, names: map[string]*types.Var{}, words: map[*types.Var][]string{}, wrong: map[*types.Var]string{}}
	s.rt, ok = s.build(t.Underlying().(*types.Struct), "", map[types.Type]bool{t: true})
	return s, ok
}

// isField reports whether an object is one of the fields.
func (s *structType) isField(obj types.Object) bool {
	v, ok := obj.(*types.Var)
	return ok && slices.Contains(slices.Collect(maps.Values(s.fields)), v)
}

func (s *structType) build(st *types.Struct, path string, within map[types.Type]bool) (reflect.Type, bool) {
	var fields []reflect.StructField
	for i := range st.NumFields() {
		v := st.Field(i)
		tag := reflect.StructTag(st.Tag(i))
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		f := reflect.StructField{Name: v.Name(), Tag: tag}
		if inner := embeddedStruct(v); inner != nil && name == "" {
			elem := types.Unalias(v.Type())
			pointer, isPointer := elem.(*types.Pointer)
			if isPointer {
				elem = pointer.Elem()
			}
			if !v.Exported() {
				if isPointer {
					s.wrong[v] = "an embedded pointer to an unexported struct cannot be filled; embed the struct itself"
					continue
				}
				f.Name = "X" + v.Name() // reflect embeds none that is not exported
			}
			if within[elem] {
				continue // its fields are hidden by those of the same struct further out
			}
			within[elem] = true
			rt, ok := s.build(inner, path+"."+f.Name, within)
			delete(within, elem)
			if !ok {
				return nil, false
			}
			if isPointer {
				rt = reflect.PointerTo(rt)
			}
			f.Type, f.Anonymous = rt, true
			fields = append(fields, f)
			continue
		}
		if !v.Exported() || tag.Get("json") == "-" {
			continue
		}
		rt, ok := s.typeOf(v)
		if !ok {
			continue // not known
		}
		if rt == reflect.TypeFor[standChoice]() || rt == reflect.TypeFor[[]standChoice]() || rt == reflect.TypeFor[*standChoice]() {
			f.Tag = withoutDefault(tag)
		}
		f.Type = rt
		s.fields[path+"."+f.Name] = v
		if name == "" {
			name = v.Name()
		}
		if s.names[name] == nil {
			s.names[name] = v
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields), true
}

// withoutDefault is a tag without the default, which nobody knows the options for.
func withoutDefault(tag reflect.StructTag) reflect.StructTag {
	var b []string
	for _, key := range []string{"json", "jsonschema", "elicit"} {
		v, ok := tag.Lookup(key)
		if !ok {
			continue
		}
		if key == "elicit" {
			if v = formtype.TagWithout(v, "default"); v == "" {
				continue
			}
		}
		b = append(b, key+":"+strconv.Quote(v))
	}
	return reflect.StructTag(strings.Join(b, " "))
}

// embeddedStruct is the struct that a field embeds, nil if it is a field of its own.
func embeddedStruct(v *types.Var) *types.Struct {
	if !v.Embedded() {
		return nil
	}
	t := types.Unalias(v.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if _, ok := knownType(t); ok || hasMethod(t, "UnmarshalText") {
		return nil
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

func knownType(t types.Type) (reflect.Type, bool) {
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return nil, false
	}
	rt, ok := known[n.Obj().Pkg().Path()+"."+n.Obj().Name()]
	return rt, ok
}

// hasMethod reports whether a type, or a pointer to it, has a method.
func hasMethod(t types.Type, name string) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

// typeOf is the type of a field, or of what stands for it; false where it depends on a type parameter.
func (s *structType) typeOf(v *types.Var) (reflect.Type, bool) {
	t := types.Unalias(v.Type())
	rt, ok := s.valueType(t, v)
	if ok && rt.String() != shown(t) {
		s.words[v] = append(s.words[v], rt.String(), shown(t))
		if p, isPointer := t.(*types.Pointer); isPointer {
			s.words[v] = append(s.words[v], rt.Elem().String(), shown(p.Elem()))
		}
		if l, isSlice := t.(*types.Slice); isSlice {
			s.words[v] = append(s.words[v], rt.Elem().String(), shown(l.Elem()))
		}
	}
	return rt, ok
}

func shown(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

func (s *structType) valueType(t types.Type, v *types.Var) (reflect.Type, bool) {
	t = types.Unalias(t)
	if _, ok := t.(*types.TypeParam); ok {
		return nil, false
	}
	if rt, ok := knownType(t); ok {
		return rt, true
	}
	if _, isPointer := t.(*types.Pointer); !isPointer {
		switch {
		case hasMethod(t, "ElicitOptions"):
			if why := optionsMistake(t); why != "" {
				s.wrong[v] = why
				return nil, false
			}
			return reflect.TypeFor[standChoice](), true
		case hasMethod(t, "UnmarshalText") && hasMethod(t, "ElicitHidden"):
			return reflect.TypeFor[standHidden](), true
		case hasMethod(t, "UnmarshalText"):
			return reflect.TypeFor[standText](), true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basic(u.Kind())
	case *types.Pointer:
		rt, ok := s.valueType(u.Elem(), v)
		if !ok {
			return nil, false
		}
		return reflect.PointerTo(rt), true
	case *types.Slice:
		rt, ok := s.valueType(u.Elem(), v)
		if !ok {
			return nil, false
		}
		return reflect.SliceOf(rt), true
	case *types.Array:
		rt, ok := s.valueType(u.Elem(), v)
		if !ok || u.Len() > 1000 {
			return nil, false
		}
		return reflect.ArrayOf(int(u.Len()), rt), true
	case *types.Struct:
		return reflect.TypeFor[struct{}](), true
	case *types.Map:
		return reflect.TypeFor[map[string]any](), true
	case *types.Interface:
		return reflect.TypeFor[any](), true
	case *types.Chan:
		return reflect.TypeFor[chan int](), true
	case *types.Signature:
		return reflect.TypeFor[func()](), true
	}
	return nil, false
}

func basic(k types.BasicKind) (reflect.Type, bool) {
	for _, rt := range []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
		reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[uintptr](),
	} {
		if rt.Kind().String() == types.Typ[k].Name() {
			return rt, true
		}
	}
	return nil, false
}

// optionsMistake says what is wrong with a method ElicitOptions. It is the one rule that form has in terms of the type itself.
func optionsMistake(t types.Type) string {
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, nil, "ElicitOptions")
	sig := obj.(*types.Func).Signature()
	if sig.Params().Len() == 0 && sig.Results().Len() == 1 {
		if l, ok := types.Unalias(sig.Results().At(0).Type()).Underlying().(*types.Slice); ok && isNamed(l.Elem(), formPath, "Option") {
			if n := types.Unalias(l.Elem()).(*types.Named); n.TypeArgs().Len() == 1 && types.Identical(n.TypeArgs().At(0), t) {
				return ""
			}
		}
	}
	return "the method ElicitOptions of " + shown(t) + " must be func() []form.Option[" + shown(t) + "], not " + shown(sig)
}
