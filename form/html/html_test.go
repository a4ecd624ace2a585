package html_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/form/html"
)

var kinds = form.New(
	form.String("name").MinLength(2).MaxLength(10).Required(), form.Email("mail"), form.URI("site"), form.Date("day"), form.DateTime("at"),
	form.Int("n").Range(1, 9), form.Number("x"), form.Bool("yes").Required(), form.Bool("maybe"),
	form.Choice("one", form.Opt("a", "A"), form.Opt("b", "B")), form.Choices("some", form.Opt("a", "A"), form.Opt("b", "B")), form.Choices("all", form.Options("c")...).Required(),
)

// What the page shows comes back as it was.
func TestRoundTrip(t *testing.T) {
	for _, tt := range []struct{ posted, want string }{
		{"", `{"all":[]}`},
		{"value0=Ada&value1=a%40example.com&value2=https%3A%2F%2Fexample.com%2F&value3=2026-07-28&value4=2026-07-28T14%3A30&zone4=%2B02%3A00&value5=%2B07&value6=9007199254740993.5&value7=true&value8=&value9=1&value10=0&value10=1&value11=0",
			`{"name":"Ada","mail":"a@example.com","site":"https://example.com/","day":"2026-07-28","at":"2026-07-28T14:30:00+02:00","n":7,"x":9007199254740993.5,"yes":true,"one":"b","some":["a","b"],"all":["c"]}`},
		{"value4=2026-07-28T14%3A30%3A05&zone4=%2B00%3A00&value9=&value7=false&name=x&value99=1&value11=7", `{"at":"2026-07-28T14:30:05Z","yes":false,"all":["7"]}`},
	} {
		posted, err := url.ParseQuery(tt.posted)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(html.Content(kinds.Fields(), posted)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.posted, got, tt.want)
		}
	}
}

func TestFields(t *testing.T) {
	values := html.Values([]byte(`{"name":"<b>","at":"2026-07-28T14:30:00+05:45","n":99,"yes":false,"one":"b","some":["b"],"day":"soon"}`))
	content, _ := json.Marshal(values)
	out, err := html.Fields(kinds.Fields(), &html.Options{Values: values, Problems: kinds.Validate(content), Zone: time.UTC, Focus: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<label for="f0">Name`, `value="&lt;b&gt;" maxlength="10" minlength="2"`, `type="email"`, `type="datetime-local" step="1" value="2026-07-28T14:30:00"`,
		`<option value="&#43;05:45" selected>`, `type="number" value="99" min="1" max="9" step="1"`, `aria-invalid="true" aria-describedby="f5-hint f5-error"`, `aria-describedby="f3-hint f3-error" autofocus`,
		`value="false" checked`, `<option value="1" selected>B</option>`, `type="checkbox" value="1" checked`, `<a href="#f5">N must be between 1 and 9; you entered 99.</a>`,
		`type="text" value="soon"`, `<a href="#f11-0">All is required.</a>`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for _, never := range []string{"<script", "style=", "onclick", "<b>"} {
		if strings.Contains(string(out), never) {
			t.Errorf("%q is in\n%s", never, out)
		}
	}
}

func FuzzContent(f *testing.F) {
	f.Add("value0=a&value9=1&value4=2026-07-28T14:30&zone4=Z")
	f.Fuzz(func(t *testing.T, query string) {
		posted, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		content := html.Content(kinds.Fields(), posted)
		if !json.Valid(content) {
			t.Errorf("%q gives %q", query, content)
		}
		if _, err := html.Fields(kinds.Fields(), &html.Options{Values: html.Values(content), Problems: kinds.Validate(content)}); err != nil {
			t.Error(err)
		}
	})
}

func Example() {
	f := form.New(form.Int("parcels").Range(1, 10).Required())
	posted := url.Values{"value0": {"12"}}
	content := html.Content(f.Fields(), posted)
	fields, _ := html.Fields(f.Fields(), &html.Options{Values: html.Values(content), Problems: f.Validate(content)})
	fmt.Println(string(content), strings.Contains(string(fields), "Parcels must be between 1 and 10; you entered 12."))
	// Output: {"parcels":12} true
}
