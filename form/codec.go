package form

import (
	"encoding"
	"errors"
	"net/mail"
	"net/url"
	"reflect"
	"slices"
	"time"
	"unsafe"
)

// A codec moves the value of a field between a variable of its Go type and what rules has. It is chosen once, when the form is
// made, by type; then an answer is moved without looking at types again. Every pointer that it is given points to a variable of
// the type, or of one with the same layout: a string for a named string type.
type codec struct {
	set  func(p unsafe.Pointer, value any)
	get  func(p unsafe.Pointer) (any, error)
	zero func(p unsafe.Pointer) bool
	none func(p unsafe.Pointer) bool // the variable holds what has no text, so is left out where it may be; nil: never
}

// codecFor is the codec of a Go type for a field with the rules. The rules suit the type.
func codecFor(t reflect.Type, r rules) codec {
	switch r := r.(type) {
	case *choiceRules:
		return choiceCodec(t, &r.options)
	case *choicesRules:
		return choicesCodec(t, &r.options)
	case *textRules:
		return textCodec(t, r)
	}
	switch t.Kind() {
	case reflect.Bool:
		return simple(func(p *bool, v any) { *p = v.(bool) }, func(p *bool) any { return *p })
	case reflect.Int:
		return integerCodec[int]()
	case reflect.Int8:
		return integerCodec[int8]()
	case reflect.Int16:
		return integerCodec[int16]()
	case reflect.Int32:
		return integerCodec[int32]()
	case reflect.Int64:
		return integerCodec[int64]()
	case reflect.Uint:
		return integerCodec[uint]()
	case reflect.Uint8:
		return integerCodec[uint8]()
	case reflect.Uint16:
		return integerCodec[uint16]()
	case reflect.Uint32:
		return integerCodec[uint32]()
	case reflect.Uint64:
		return integerCodec[uint64]()
	case reflect.Float32:
		return simple(func(p *float32, v any) { *p = float32(v.(real).value) }, func(p *float32) any { return real{float64(*p), 32} })
	default: // Float64
		return simple(func(p *float64, v any) { *p = v.(real).value }, func(p *float64) any { return real{*p, 64} })
	}
}

func simple[T comparable](set func(*T, any), get func(*T) any) codec {
	return codec{
		set:  func(p unsafe.Pointer, v any) { set((*T)(p), v) },
		get:  func(p unsafe.Pointer) (any, error) { return get((*T)(p)), nil },
		zero: func(p unsafe.Pointer) bool { return *(*T)(p) == *new(T) },
	}
}

func integerCodec[I Integer]() codec {
	return simple(func(p *I, v any) { *p = intOf[I](v.(integer)) }, func(p *I) any { return integerOf(*p) })
}

// textCodec is the codec of what a text becomes.
func textCodec(t reflect.Type, r *textRules) codec {
	empty := func(c codec) codec { c.none = c.zero; return c }
	switch t {
	case timeType:
		c := simple(func(p *time.Time, v any) { *p = momentOf(v.(string)) }, func(p *time.Time) any { return timeText(*p, r.format) })
		c.zero = func(p unsafe.Pointer) bool { return (*time.Time)(p).IsZero() }
		return c
	case dayType:
		return empty(simple(func(p *Day, v any) { *p = dayOf(v.(string)) }, func(p *Day) any { return p.String() }))
	case urlType:
		return empty(simple(func(p *url.URL, v any) { *p = urlOf(v.(string)) }, func(p *url.URL) any { return p.String() }))
	case mailType:
		return empty(simple(func(p *mail.Address, v any) { *p = mail.Address{Address: v.(string)} }, func(p *mail.Address) any { return p.Address }))
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		return ownTextCodec(t)
	}
	c := simple(func(p *string, v any) { *p = v.(string) }, func(p *string) any { return *p })
	if r.emptyIsAbsent() {
		c.none = c.zero
	}
	return c
}

// ownTextCodec is for types that read and write their text themselves. A method needs the type, so these go through reflect.
func ownTextCodec(t reflect.Type) codec {
	return codec{
		set: func(p unsafe.Pointer, v any) {
			_ = reflect.NewAt(t, p).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(v.(string))) // check saw it accepted
		},
		get: func(p unsafe.Pointer) (any, error) {
			v := reflect.NewAt(t, p)
			return anyText(v.Elem().Interface(), v.Interface())
		},
		zero: func(p unsafe.Pointer) bool { return reflect.NewAt(t, p).Elem().IsZero() },
		none: func(p unsafe.Pointer) bool {
			v := reflect.NewAt(t, p)
			s, err := marshalText(v.Elem().Interface(), v.Interface())
			return err == nil && s == ""
		},
	}
}

func anyText(value, pointer any) (any, error) {
	s, err := marshalText(value, pointer)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// choiceCodec is for a variable that holds the value of an option.
func choiceCodec(t reflect.Type, o *options) codec {
	if plainString(t) {
		c := simple(func(p *string, v any) { *p = v.(string) }, func(p *string) any { return *p })
		c.none = c.zero
		return c
	}
	return codec{
		set: func(p unsafe.Pointer, v any) {
			if i := o.indexText(v.(string)); i >= 0 {
				setChoice(reflect.NewAt(t, p).Elem(), o.list[i])
			}
		},
		get:  func(p unsafe.Pointer) (any, error) { return choiceText(reflect.NewAt(t, p).Elem(), o) },
		zero: func(p unsafe.Pointer) bool { return reflect.NewAt(t, p).Elem().IsZero() },
		none: func(p unsafe.Pointer) bool {
			s, err := choiceText(reflect.NewAt(t, p).Elem(), o)
			return err != nil || s == ""
		},
	}
}

// choicesCodec is for a variable that holds a slice of values of options.
func choicesCodec(t reflect.Type, o *options) codec {
	if plainString(t.Elem()) {
		return codec{
			set:  func(p unsafe.Pointer, v any) { *(*[]string)(p) = slices.Clone(v.([]string)) },
			get:  func(p unsafe.Pointer) (any, error) { return slices.Clone(*(*[]string)(p)), nil },
			zero: func(p unsafe.Pointer) bool { return *(*[]string)(p) == nil },
		}
	}
	return codec{
		set: func(p unsafe.Pointer, v any) {
			chosen := v.([]string)
			list := reflect.MakeSlice(t, len(chosen), len(chosen))
			for i, s := range chosen {
				if at := o.indexText(s); at >= 0 {
					setChoice(list.Index(i), o.list[at])
				}
			}
			reflect.NewAt(t, p).Elem().Set(list)
		},
		get: func(p unsafe.Pointer) (any, error) {
			list := reflect.NewAt(t, p).Elem()
			texts := make([]string, list.Len())
			for i := range texts {
				s, err := choiceText(list.Index(i), o)
				if err != nil {
					return nil, err
				}
				texts[i] = s.(string)
			}
			return texts, nil
		},
		zero: func(p unsafe.Pointer) bool { return reflect.NewAt(t, p).Elem().IsNil() },
	}
}

// plainString reports whether a variable of type t is an option's text.
func plainString(t reflect.Type) bool {
	return t.Kind() == reflect.String && !t.Implements(textMarshaler)
}

// setChoice sets a variable to the value of an option: of its Go value, or of a tag's text.
func setChoice(v reflect.Value, opt option) {
	if opt.goValue == nil {
		if v.Kind() == reflect.String {
			v.SetString(opt.value)
		}
		return
	}
	v.Set(reflect.ValueOf(opt.goValue))
}

// choiceText is the text of a variable that holds the value of an option.
func choiceText(v reflect.Value, o *options) (any, error) {
	value := v.Interface()
	for _, opt := range o.list {
		if opt.goValue == value {
			return opt.value, nil
		}
	}
	if s, ok := optionText(value); ok {
		return s, nil
	}
	return nil, errors.New("has no text")
}

var (
	dayType         = reflect.TypeFor[Day]()
	urlType         = reflect.TypeFor[url.URL]()
	mailType        = reflect.TypeFor[mail.Address]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// A way leads from a struct to one of its fields.
type way struct {
	steps []step
	last  uintptr // the offset of the field in the last struct
}

// A step goes through an embedded pointer.
type step struct {
	offset uintptr
	typ    reflect.Type // of the struct that it points to
}

// wayTo is the way to the field with an index, as reflect has it.
func wayTo(t reflect.Type, index []int) (w way) {
	for _, i := range index {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
			w.steps = append(w.steps, step{w.last, t})
			w.last = 0
		}
		f := t.Field(i)
		w.last += f.Offset
		t = f.Type
	}
	return w
}

// reach is the field of the struct at p, with pointers on the way set; nil if one is nil and may not be.
func (w *way) reach(p unsafe.Pointer, set bool) unsafe.Pointer {
	for _, s := range w.steps {
		slot := (*unsafe.Pointer)(unsafe.Add(p, s.offset))
		if *slot == nil {
			if !set {
				return nil
			}
			*slot = reflect.New(s.typ).UnsafePointer()
		}
		p = *slot
	}
	return unsafe.Add(p, w.last)
}
