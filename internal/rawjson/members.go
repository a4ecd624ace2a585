package rawjson

// Member is a member of an object: the name as quoted, and the raw value, as [Members] gives them.
type Member struct {
	Name, Value []byte

	plain bool // the name has ASCII alone, and no escapes
}

// Is reports whether the member is called name, as [NameIs] does.
func (m *Member) Is(name string) bool {
	if m.plain {
		return string(m.Name[1:len(m.Name)-1]) == name
	}
	return NameIs(m.Name, name)
}

// An Object takes the members of an object from [Record], in the order written.
type Object struct {
	Members []Member
	In      *Object // takes the members of the member called Inside, if that is an object too; nil for none
	Inside  string
}

// inside is what takes the members of m's value, or nil.
func (o *Object) inside(m *Member) *Object {
	if o == nil || o.In == nil || !m.Is(o.Inside) {
		return nil
	}
	return o.In
}

// Find is the value of the first member called name, or nil.
func (o *Object) Find(name string) []byte {
	for i := range o.Members {
		if o.Members[i].Is(name) {
			return o.Members[i].Value
		}
	}
	return nil
}

// Duplicate is [Duplicate] for the members of obj that were recorded, case folded.
func (o *Object) Duplicate(obj []byte) (name string, dup bool) {
	if len(o.Members) > few {
		return Duplicate(obj, true)
	}
	for i := range o.Members {
		m := &o.Members[i]
		in := m.Name[1 : len(m.Name)-1]
		for j := range i {
			n := &o.Members[j]
			// Of what has more than ASCII, K and S alone equal ASCII letters, so two plain names that differ in length differ.
			if m.plain && n.plain && len(m.Name) != len(n.Name) {
				continue
			}
			if equalNames(n.Name[1:len(n.Name)-1], in, true) {
				name, _ = String(m.Name)
				return name, true
			}
		}
	}
	return "", false
}
