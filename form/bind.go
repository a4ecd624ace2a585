package form

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unsafe"
)

// A bind is a field of a struct that a form fills.
type bind struct {
	index    []int
	typ      reflect.Type // of the struct's field
	path     string       // Shipment.TrackingNumber, for errors
	name     string
	tag      reflect.StructTag
	optional bool
	doc      string // what its Go doc comment says

	// What finish adds.
	way     way
	codec   codec
	pointer reflect.Type // what the struct's field points to; nil if it is no pointer
}

// elem is the type of the field's value.
func (b *bind) elem() reflect.Type {
	if b.typ.Kind() == reflect.Pointer {
		return b.typ.Elem()
	}
	return b.typ
}

// finish makes the bind ready to move values of a field with the rules.
func (b *bind) finish(root reflect.Type, r rules) {
	b.way = wayTo(root, b.index)
	b.codec = codecFor(b.elem(), r)
	if b.typ.Kind() == reflect.Pointer {
		b.pointer = b.typ.Elem()
	}
}

// set sets the field in the struct at root to a value, as rules has it.
func (b *bind) set(root unsafe.Pointer, value any) {
	p := b.way.reach(root, true)
	if b.pointer != nil {
		slot := (*unsafe.Pointer)(p)
		*slot = reflect.New(b.pointer).UnsafePointer()
		p = *slot
	}
	b.codec.set(p, value)
}

// get is the field's value as rules has it, nil when it is left out.
func (b *bind) get(root unsafe.Pointer, f *field) (any, error) {
	p := b.way.reach(root, false)
	if p == nil {
		return nil, nil
	}
	if b.pointer != nil {
		if p = *(*unsafe.Pointer)(p); p == nil {
			return nil, nil
		}
	} else if !f.required && (b.codec.none != nil && b.codec.none(p) || b.codec.zero(p) && (f.def == nil || f.isList())) {
		return nil, nil
	}
	return b.codec.get(p)
}

// reach is the field in the struct, with embedded pointers on the way allocated.
func (b *bind) reach(v reflect.Value) reflect.Value {
	for _, i := range b.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// description is the field's jsonschema tag, which holds plain text, as in go-sdk.
func (b *bind) description() (text, mistake string) {
	text, ok := b.tag.Lookup("jsonschema")
	switch {
	case ok && text == "":
		return "", "its jsonschema tag is empty; write a description or leave the tag out"
	case wordEquals.MatchString(text):
		return "", fmt.Sprintf("its jsonschema tag %q begins with WORD=, which go-sdk reserves; the tag is a description", text)
	}
	return text, ""
}

var wordEquals = regexp.MustCompile(`^[^ \t\n]*=`)

// bindsOf are the fields of a struct that JSON has, by encoding/json's rules: embedded structs are flattened, a field hides
// those that are embedded deeper, one with a name in its tag those of the same depth, and two that are equal hide each other.
func bindsOf(t reflect.Type, b *builder) []bind {
	type level struct {
		typ   reflect.Type
		index []int
		path  string // Shipment.Base
		inner string // Base. where path is Shipment.Base
	}
	type candidate struct {
		bind
		tagged bool
	}
	var found []candidate
	visited := map[reflect.Type]bool{}
	all := docOf(t)
	for current := []level{{t, nil, t.Name(), ""}}; len(current) > 0; {
		var next []level
		times := map[reflect.Type]int{}
		for _, l := range current {
			times[l.typ]++
		}
		for _, l := range current {
			if visited[l.typ] {
				continue
			}
			own := docOf(l.typ)
			for i := range l.typ.NumField() {
				sf := l.typ.Field(i)
				path := l.path + "." + sf.Name
				elem := sf.Type
				if elem.Kind() == reflect.Pointer {
					elem = elem.Elem()
				}
				if sf.Anonymous && !sf.IsExported() && elem.Kind() != reflect.Struct || !sf.Anonymous && !sf.IsExported() {
					if _, tagged := sf.Tag.Lookup("elicit"); tagged { // go vet has an eye on json tags
						b.errorf("%s: it has an elicit tag, and is not exported, so no form can fill it; begin its name with a capital letter, or take the tag away", path)
					}
					continue
				}
				tag := sf.Tag.Get("json")
				if tag == "-" {
					continue
				}
				name, opts, _ := strings.Cut(tag, ",")
				if !isTagName(name) {
					name = ""
				}
				if sf.Anonymous && !sf.IsExported() && name != "" {
					continue // a name makes it a field of its own, and an unexported one
				}
				index := append(slices.Clone(l.index), i)
				if name == "" && sf.Anonymous && elem.Kind() == reflect.Struct && !isValue(elem) {
					if sf.Type.Kind() == reflect.Pointer && !sf.IsExported() {
						b.errorf("%s: an embedded pointer to an unexported struct cannot be filled; embed the struct itself", path)
						continue
					}
					next = append(next, level{elem, index, path, l.inner + sf.Name + "."})
					continue
				}
				c := candidate{bind{index: index, typ: sf.Type, path: path, name: name, tag: sf.Tag, doc: cmp.Or(all[l.inner+sf.Name], own[sf.Name])}, name != ""}
				if name == "" {
					c.name = sf.Name
				}
				options := strings.Split(opts, ",")
				c.optional = sf.Type.Kind() == reflect.Pointer || slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
				found = append(found, c)
				if times[l.typ] > 1 {
					found = append(found, c) // the same struct embedded twice at one depth: its fields hide each other
				}
			}
		}
		for _, l := range current {
			visited[l.typ] = true
		}
		current = next
	}

	var out []bind
	for _, c := range found {
		wins := true
		same := 0
		for _, other := range found {
			if other.name != c.name {
				continue
			}
			switch {
			case len(other.index) < len(c.index), len(other.index) == len(c.index) && other.tagged && !c.tagged:
				wins = false
			case len(other.index) == len(c.index) && other.tagged == c.tagged:
				same++
			}
		}
		if wins && same == 1 {
			out = append(out, c.bind)
		}
	}
	slices.SortFunc(out, func(a, b bind) int { return slices.Compare(a.index, b.index) })
	return out
}

// isTagName reports whether encoding/json takes a name from a tag.
func isTagName(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

// isForm reports whether a form can be made of a type, and says why not.
func isForm(t reflect.Type, b *builder, constructor string) bool {
	switch {
	case t == reflect.TypeFor[Values]():
		b.errorf("%s[form.Values]: values without a struct are for form.New", constructor)
	case isValue(t), t.Kind() != reflect.Struct && t.Kind() != reflect.Pointer:
		b.errorf("%s[%v]: a form is made of a struct; put the %v into a field of one, or use form.New", constructor, t, t)
	case t.Kind() == reflect.Pointer:
		b.errorf("%s[%v]: a form is made of a struct, not of a pointer; write %s[%v]", constructor, t, constructor, t.Elem())
	default:
		return true
	}
	return false
}

// isValue reports whether a struct is the value of one field, rather than fields.
func isValue(t reflect.Type) bool {
	switch t {
	case timeType, dayType, urlType, mailType:
		return true
	}
	return t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(textUnmarshaler)
}

var durationType = reflect.TypeFor[time.Duration]()
