package form

import (
	"reflect"
	"strings"
)

// A Doc is what the Go doc comments of a struct say, for programs, which do not have the source at hand. The command elicit doc
// writes it, as the struct's method ElicitDoc, from the comments:
//
//	//go:generate go tool elicit doc
//
// [For] and [Build] call that method and use the texts as descriptions, where neither a tag nor a method of a field gives one. One
// that is written by hand is as good.
type Doc struct {
	// Type is the struct, as its package's import path and its name: "example.com/shop.Shipment", without type arguments. It
	// tells the method of a struct from that of a struct embedded in it, which Go promotes.
	Type string

	// Fields are the texts by the Go name of the field: "TrackingNumber"; for one of an embedded struct the path to it:
	// "Base.ID".
	Fields map[string]string
}

// documented is a struct with a Doc.
type documented interface{ ElicitDoc() Doc }

var documentedType = reflect.TypeFor[documented]()

// docOf are the texts of a struct's own Doc, nil if it has none.
func docOf(t reflect.Type) map[string]string {
	if !t.Implements(documentedType) && !reflect.PointerTo(t).Implements(documentedType) {
		return nil
	}
	doc, ok := callDoc(t)
	if !ok || doc.Type != typeName(t) {
		return nil
	}
	return doc.Fields
}

// callDoc calls the method on a zero struct. One that is promoted from an embedded nil pointer panics.
func callDoc(t reflect.Type) (doc Doc, ok bool) {
	defer func() { _ = recover() }()
	return reflect.New(t).Interface().(documented).ElicitDoc(), true
}

// typeName is what Doc.Type of a struct type is.
func typeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return t.PkgPath() + "." + name
}
