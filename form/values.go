package form

import "slices"

// Values are the values of an answer to a form of [New]. Each field reads its own: tracking.In(values). The zero Values hold
// nothing; a field's Set puts a value in, for [Form.Encode].
type Values struct{ list []namedValue }

type namedValue struct {
	name  string
	value any // as rules has it
	given bool
}

// Given reports whether the field called name carried a value that counted: it was not absent, not null, and not the "" that
// means absent. What a field's In returns without that is its default.
func (v Values) Given(name string) bool {
	i := v.find(name)
	return i >= 0 && v.list[i].given
}

func (v Values) find(name string) int {
	return slices.IndexFunc(v.list, func(n namedValue) bool { return n.name == name })
}

func (v Values) get(name string) any {
	if i := v.find(name); i >= 0 {
		return v.list[i].value
	}
	return nil
}

func (v *Values) set(name string, value any) {
	v.list = slices.Clone(v.list) // copies of v share it
	if i := v.find(name); i >= 0 {
		v.list[i] = namedValue{name, value, true}
		return
	}
	v.list = append(v.list, namedValue{name, value, true})
}
