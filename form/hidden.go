package form

import "reflect"

// hidden says whether a field's value must not be seen, and whether it has lines.
type hidden struct{ set, lines bool }

// hider is what the Go types of such values have; package page has two.
type hider interface{ ElicitHidden() (lines bool) }

// hiddenType reads it off a type. Its method is asked of a zero value.
func hiddenType(t reflect.Type) hidden {
	if h, ok := reflect.New(t).Interface().(hider); ok {
		return hidden{true, h.ElicitHidden()}
	}
	return hidden{}
}

func (f *field) isHidden() bool {
	r, ok := f.rules.(*textRules)
	return ok && r.hidden.set
}

// revealed is the text of a value that otherwise hides itself.
type revealed interface{ Reveal() string }
