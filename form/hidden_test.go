package form_test

import (
	"strings"
	"testing"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/form/html"
)

// A veiled text hides itself, as page.Hidden does.
type veiled struct{ text string }

func (v *veiled) UnmarshalText(b []byte) error { v.text = string(b); return nil }
func (v veiled) Reveal() string                { return v.text }
func (v veiled) ElicitHidden() bool            { return false }

type veiledLines struct{ veiled }

func (v veiledLines) ElicitHidden() bool { return true }

type login struct {
	User     string      `json:"user"`
	Password veiled      `json:"password" elicit:"minLength=8"`
	Key      veiledLines `json:"privateKey,omitzero"`
}

// A hidden field may be called what it is; it is typed unseen, never filled in, and what was typed is in no message.
func TestHidden(t *testing.T) {
	for name, f := range map[string]*form.Form[login]{
		"For": form.For[login](),
		"Build": form.Build(func(l *login) []form.Field {
			return []form.Field{form.StringOf(&l.User), form.TextOf(&l.Password), form.TextOf(&l.Key)}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			if err := f.Err(); err != nil {
				t.Fatal(err)
			}
			content := []byte(`{"user":"ann","password":"hunter2","privateKey":"a\nb"}`)
			problems := f.Validate(content)
			if len(problems) != 1 || strings.Contains(problems[0].Message, "hunter2") {
				t.Errorf("got %+v, want one problem that does not show what was typed", problems)
			}
			page, err := html.Fields(f.Fields(), &html.Options{Values: html.Values(content), Problems: problems})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`type="password" value=""`, `<textarea id="f2"`, `value="ann"`} {
				if !strings.Contains(string(page), want) {
					t.Errorf("%s is not in\n%s", want, page)
				}
			}
			if strings.Contains(string(page), "hunter2") || strings.Contains(string(page), "a\nb") {
				t.Errorf("the page shows what is hidden:\n%s", page)
			}
			in := login{"ann", veiled{"hunter22"}, veiledLines{veiled{"a\nb"}}}
			raw, err := f.Encode(in)
			if err != nil {
				t.Fatal(err)
			}
			if d, problems := f.Decode(raw); problems != nil || d.Value != in {
				t.Errorf("got %+v (%v) back from %s", d.Value, problems, raw)
			}
		})
	}
}

func TestHiddenHasNoDefault(t *testing.T) {
	if err := form.New(form.Text[veiled]("key").Default(veiled{"x"})).Err(); err == nil || !strings.Contains(err.Error(), "no default") {
		t.Errorf("got %v", err)
	}
}
