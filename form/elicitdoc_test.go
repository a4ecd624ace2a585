package form

import (
	"strings"
	"testing"
)

type docBase struct {
	ID   string `json:"id"`
	Note string `json:"note,omitempty"`
}

func (docBase) ElicitDoc() Doc {
	return Doc{"github.com/elicit-go/elicit/form.docBase", map[string]string{"ID": "The ID.", "Note": "The note."}}
}

// docOuter inherits ElicitDoc from docBase, which is not about it.
type docOuter struct {
	docBase
	ID    string `json:"outer,omitempty" jsonschema:"from the tag"`
	Note2 string `json:"note2,omitempty"`
}

type docOwn struct {
	docBase
	Note  string `json:"note,omitempty"`
	Title string `json:"title,omitempty"`
}

func (*docOwn) ElicitDoc() Doc {
	return Doc{"github.com/elicit-go/elicit/form.docOwn", map[string]string{"Note": "Mine.", "docBase.ID": "By path.", "Title": ""}}
}

type docPage[T any] struct {
	First T   `json:"first"`
	Count int `json:"count"`
}

func (docPage[T]) ElicitDoc() Doc {
	return Doc{"github.com/elicit-go/elicit/form.docPage", map[string]string{"First": "The first."}}
}

type DocPointer struct{ A string }

func (*DocPointer) ElicitDoc() Doc { panic("boom") }

type docNil struct {
	*DocPointer
	B string
}

func TestDocs(t *testing.T) {
	described := func(want string, fields func(func(string, Property) bool)) {
		t.Helper()
		var got []string
		for name, p := range fields {
			got = append(got, name+"="+p.Description)
		}
		same(t, "descriptions", strings.Join(got, ";"), want)
	}
	described("id=The ID.;note=The note.", For[docBase]().Fields())
	described("id=The ID.;note=The note.;outer=from the tag;note2=", For[docOuter]().Fields())
	described("id=By path.;note=Mine.;title=", For[docOwn]().Fields())
	described("first=The first.;count=", For[docPage[string]]().Fields())
	described("A=;B=", For[docNil]().Fields())
	described("id=By path.;note=The method.", Build(func(s *docOwn) []Field { return []Field{StringOf(&s.ID), StringOf(&s.Note).Description("The method.")} }).Fields())
	type linked struct{ docLink }
	testErr(t, For[linked](), `field "a": its description has a link ("https://acme.com"), which a form must not lead people to (MCP 2026-07-28, client/elicitation, Safe URL Handling); take it out, or give it to Descriptionf as data of this call`)
}

type docLink struct {
	A string `json:"a"`
}

func (docLink) ElicitDoc() Doc {
	return Doc{"github.com/elicit-go/elicit/form.docLink", map[string]string{"A": "See https://acme.com."}}
}
