// Package formtype is the seam through which lint asks package form about types that it knows from source, so that a rule is
// written once: form fills it in.
package formtype

import "reflect"

var (
	// For is what is wrong with form.For of a type.
	For func(t reflect.Type) []error

	// Build is what is wrong with form.Build of a type and the fields, each a form.Field, that fn makes of a pointer to it.
	Build func(t reflect.Type, fn func(root reflect.Value) []any) []error

	// TagWithout is an elicit tag without an item.
	TagWithout func(tag, key string) string
)
