package form

import (
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseTag(t *testing.T) {
	v := func(key, value string) tagItem { return tagItem{key, value, true} }
	flag := func(key string) tagItem { return tagItem{key: key} }
	for tag, want := range map[string][]tagItem{
		"title=Parcels":                        {v("title", "Parcels")},
		" title = Number of parcels , min = 1": {v("title", "Number of parcels"), v("min", "1")},
		"title='a, b',required":                {v("title", "a, b"), flag("required")},
		"title='it''s' , default='''x'''":      {v("title", "it's"), v("default", "'x'")},
		"title=it's":                           {v("title", "it's")},
		"enum=a|b|c d,default=a":               {v("enum", "a|b|c d"), v("default", "a")},
		"title=a=b":                            {v("title", "a=b")},
		"default=":                             {v("default", "")},
		"default='  '":                         {v("default", "  ")},
		"optional,notCredential":               {flag("optional"), flag("notCredential")},
	} {
		got, mistake := parseTag(tag)
		if mistake != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %s", tag, got, mistake)
		}
	}
	for tag, want := range map[string]string{
		"":                    "a part is empty",
		"min=1,":              "a part is empty",
		",min=1":              "a part is empty",
		"=1":                  `"" is not known`,
		"minimum=1":           `"minimum" is not known; the keys are default, enum, enumTitles, format, max, maxItems, maxLength, min, minItems, minLength, notCredential, optional, required, title`,
		"Title=x":             `"Title" is not known`,
		"title":               "title needs a value, as in title=…",
		"required=true":       "required takes no value",
		"min=1,min=2":         "min is there twice",
		"title='a":            "the quote of title does not end",
		"title='a''":          "the quote of title does not end",
		"title='a'b":          "after the quoted value of title a comma is missing",
		"required,optional":   "required and optional exclude each other",
		"title='a',":          "a part is empty",
		"title=a, b, c":       `"b" is not known`,
		"required , required": "required is there twice",
	} {
		if got, mistake := parseTag(tag); !strings.HasPrefix(mistake, want) {
			t.Errorf("%s: %+v %q, want %q", tag, got, mistake, want)
		}
	}
}

// encoding/json skips such a field in silence; a question would be asked without it.
func TestTagsOfUnexportedFields(t *testing.T) {
	type S struct {
		size string `elicit:"minLength=2"`
		note string
		Name string `json:"name"`
	}
	_ = S{size: "", note: ""}
	testErr(t, For[S](), "S.size: it has an elicit tag, and is not exported, so no form can fill it; begin its name with a capital letter, or take the tag away")
}

func TestTags(t *testing.T) {
	type S struct {
		Name    string      `json:"name" jsonschema:"who" elicit:"title='Name, in full',minLength=2,maxLength=9,default=Ada"`
		Mail    string      `json:"mail,omitempty" elicit:"format=email,required,maxLength=50"`
		Site    *string     `json:"site" elicit:"format=uri"`
		Day     string      `json:"day" elicit:"format=date,optional"`
		At      time.Time   `json:"at" elicit:"format=date,default=2026-07-28"`
		Parcels uint8       `json:"parcels" elicit:"min=1,max=1e1,default=3"`
		Weight  float64     `json:"weight" elicit:"min=0.5,max=100,default=1.5"`
		Gift    bool        `json:"gift" elicit:"default=true"`
		Size    string      `json:"size" elicit:"enum=s|m | l,default=m"`
		Extras  []string    `json:"extras" elicit:"enum=a|b|c,enumTitles=A|B|C,minItems=1,maxItems=2,default=a|c,optional"`
		Grades  []size      `json:"grades" elicit:"default=large"`
		Addr    *netip.Addr `json:"addr" elicit:"default=::1,maxLength=40"`
	}
	f := For[S]()
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	same(t, "schema", string(f.Schema()), `{"type":"object","properties":{`+
		`"name":{"type":"string","title":"Name, in full","description":"who","minLength":2,"maxLength":9,"default":"Ada"},`+
		`"mail":{"type":"string","title":"Mail","maxLength":50,"format":"email"},"site":{"type":"string","title":"Site","format":"uri"},`+
		`"day":{"type":"string","title":"Day","format":"date"},"at":{"type":"string","title":"At","format":"date","default":"2026-07-28"},`+
		`"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":10,"default":3},`+
		`"weight":{"type":"number","title":"Weight","minimum":0.5,"maximum":100,"default":1.5},"gift":{"type":"boolean","title":"Gift","default":true},`+
		`"size":{"type":"string","title":"Size","enum":["s","m","l"],"default":"m"},`+
		`"extras":{"type":"array","title":"Extras","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"},{"const":"c","title":"C"}]},"default":["a","c"]},`+
		`"grades":{"type":"array","title":"Grades","items":{"anyOf":[{"const":"small","title":"Small"},{"const":"large","title":"Large"}]},"default":["large"]},`+
		`"addr":{"type":"string","title":"Addr","maxLength":40,"default":"::1"}},"required":["name","mail","at","parcels","weight","gift","size","grades"]}`)
	s := decode(t, f, `{"name":"Bo","mail":"a@b","at":"2026-01-01","parcels":1,"weight":1,"gift":false,"size":"l","grades":[]}`)
	if !reflect.DeepEqual(s.Extras, []string{"a", "c"}) || len(s.Grades) != 0 || s.Addr.String() != "::1" || s.Size != "l" {
		t.Errorf("%+v", s)
	}
}

// In Build the methods of a field go before its tag.
func TestTagsInBuild(t *testing.T) {
	type S struct {
		Name    string `json:"name" elicit:"title=T,minLength=2,maxLength=9,default=Ada,optional"`
		Mail    string `json:"mail" elicit:"format=email"`
		Parcels uint8  `json:"parcels" elicit:"min=1,max=10,default=3"`
		Size    string `json:"size" elicit:"enum=s|m"`
	}
	f := Build(func(s *S) []Field {
		return []Field{StringOf(&s.Name).Title("Mine").MinLength(3).Required(), StringOf(&s.Mail), IntOf(&s.Parcels).Max(5), ChoiceOf(&s.Size, Options("x")...)}
	})
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	same(t, "schema", string(f.Schema()), `{"type":"object","properties":{"name":{"type":"string","title":"Mine","minLength":3,"maxLength":9,"default":"Ada"},`+
		`"mail":{"type":"string","title":"Mail","format":"email"},"parcels":{"type":"integer","title":"Parcels","minimum":1,"maximum":5,"default":3},`+
		`"size":{"type":"string","title":"Size","enum":["x"]}},"required":["name","mail","parcels","size"]}`)
	f = Build(func(s *S) []Field { return []Field{ChoiceOf(&s.Size)} })
	same(t, "schema", propertyOf(t, f.Schema()), `{"type":"string","title":"Size","enum":["s","m"]}`)
}

func TestErrOfTags(t *testing.T) {
	type S struct {
		A string    `elicit:"min=1"`
		B int8      `elicit:"max=200"`
		C int       `elicit:"min=1.5"`
		D int       `elicit:"minLength=1"`
		E string    `elicit:"minLength=-1"`
		F string    `elicit:"format=phone"`
		G int       `elicit:"format=email"`
		H time.Time `elicit:"format=email"`
		I url.URL   `elicit:"format=date"`
		J int       `elicit:"enum=1|2"`
		K string    `elicit:"enumTitles=a"`
		L string    `elicit:"enum=a|b,enumTitles=A"`
		M string    `elicit:"enum=a|a"`
		N string    `elicit:"enum=a,maxLength=3"`
		O int       `elicit:"default=x"`
		P float32   `elicit:"max=1e300"`
		Q float64   `elicit:"min=NaN"`
		R bool      `elicit:"default=yes"`
		S string    `elicit:"title="`
		T string    `elicit:"unknown"`
		U Day       `elicit:"min=1"`
		V string    `elicit:"enum=a|b,default=c"`
		W uint8     `elicit:"min=5,max=3"`
		X []string  `elicit:"enum=a,maxLength=2"`
		Y []string  `elicit:"enum=a,min=2"`
		Z bool      `elicit:"min=1"`
	}
	testErr(t, For[S](),
		"S.A: its elicit tag: min is for numbers; the length of a text is minLength",
		"S.B: its elicit tag: max 200 is outside the range of the Go type, -128 to 127",
		`S.C: its elicit tag: min "1.5" is not a whole number`,
		"S.D: its elicit tag: minLength is for text",
		`S.E: its elicit tag: minLength "-1" is not a number between 0 and 2147483647`,
		`S.F: its elicit tag: format "phone" is none; the formats are email, uri, date and date-time`,
		"S.G: its elicit tag: format email does not suit a whole number",
		"S.H: its elicit tag: format email does not suit a time.Time",
		"S.I: its elicit tag: format date does not suit a url.URL",
		"S.J: its elicit tag: enum does not suit a whole number; it is for text, and for lists of text",
		"S.K: its elicit tag: enumTitles needs enum beside it",
		"S.L: its elicit tag: enumTitles has 1 titles for 2 options",
		`field "M": option "a" is there twice`,
		"S.N: its elicit tag: maxLength is for text",
		`S.O: its elicit tag: default "x" is not a whole number of the Go type`,
		"S.P: its elicit tag: max 1e300 is outside the range of the Go type",
		`S.Q: its elicit tag: min "NaN" is not a number, as JSON writes them`,
		`S.R: its elicit tag: default "yes" is neither true nor false`,
		"S.S: its elicit tag: its title is empty; leave it out for one from the name",
		`S.T: its elicit tag: "unknown" is not known; the keys are default, enum, enumTitles, format, max, maxItems, maxLength, min, minItems, minLength, notCredential, optional, required, title`,
		"S.U: its elicit tag: min does not suit a date: the specification has no bounds for dates",
		`field "V": its default breaks its own rules: V must be a or b, not "c".`,
		`field "W": minimum 5 is above maximum 3, so that nothing is valid: change one of them`,
		"S.X: its elicit tag: maxLength is for text",
		"S.Y: its elicit tag: min is for numbers; the number of choices is minItems",
		"S.Z: its elicit tag: min is for numbers",
	)
}
