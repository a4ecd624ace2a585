package rawjson

// Member is a member of an object, as [Members] gives it.
type Member struct{ Name, Value []byte }

// AppendMembers appends the members of obj, for a caller that looks several of them up: one walk instead of one each.
func AppendMembers(dst []Member, obj []byte) []Member {
	for name, value := range Members(obj) {
		dst = append(dst, Member{name, value})
	}
	return dst
}

// Find is the value of the first member called name, or nil.
func Find(members []Member, name string) []byte {
	for i := range members {
		if NameIs(members[i].Name, name) {
			return members[i].Value
		}
	}
	return nil
}

// DuplicateOf is [Duplicate] for the members of obj, which were walked before.
func DuplicateOf(obj []byte, members []Member, fold bool) (name string, dup bool) {
	if len(members) > few {
		return Duplicate(obj, fold)
	}
	for i := range members {
		in, ok := inner(members[i].Name)
		if !ok {
			continue
		}
		for j := range i {
			if p, ok := inner(members[j].Name); ok && equalNames(p, in, fold) {
				name, _ = String(members[i].Name)
				return name, true
			}
		}
	}
	return "", false
}
