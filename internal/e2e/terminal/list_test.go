package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/form"
)

func manyOptions(n int) []form.Option[string] {
	var options []form.Option[string]
	for i := range n {
		options = append(options, form.Opt(fmt.Sprintf("o%d", i), fmt.Sprintf("Option %d", i)))
	}
	return options
}

// A long list is searched again and again, and what was marked before stays so. Esc shows all, and cancels nothing.
func TestSearchSeveral(t *testing.T) {
	s := start(t, 60, 24, nil, "call", serve(t, "Some of many", form.Choices("some", manyOptions(200)...).AtMost(3).Required()), "T")
	s.wait("[ ] Option 0", "/ search")
	s.press("/", "19")
	s.wait("> [ ] Option 19", "Option 119", "enter keep these")
	s.press(down, enter)
	s.wait("/19", "esc show all", "> [ ] Option 119")
	s.press(" ")
	s.wait("[x] Option 119")
	s.press("/", "77")
	s.wait("> [ ] Option 77")
	s.press(enter, " ")
	s.wait("[x] Option 77", "marked: Option 77, Option 119")
	s.golden("search-several")
	s.press(esc)
	s.wait("[ ] Option 0", "marked: Option 77, Option 119")
	s.press("/", "nothing like it")
	s.wait("/nothing like it")
	s.press(esc)
	s.wait("[ ] Option 0", "marked: Option 77, Option 119")
	s.press(enter)
	s.wait("←/→ choose")
	s.press(enter)
	s.wait("[ Send ]", "Some: Option 77, Option 119")
	s.press("s", enter)
	s.ends(0)
	s.wait(`got {"some":["o77","o119"]}`)
}

// What is chosen in a long list is in sight, and what the cursor is at is what is sent, whichever key leaves the list.
func TestLongListShowsWhatIsChosen(t *testing.T) {
	url := serve(t, "One of many", form.Choice("one", manyOptions(200)...).Default("o150"))
	for _, tt := range []struct {
		name  string
		steps []string // what is pressed, and what is on the screen then
		want  string
	}{
		{"as it is", []string{tab, ""}, "o150"},
		{"moved", []string{down, "> Option 151", tab, ""}, "o151"},
		{"to the end", []string{"\x1b[F", "> Option 199", tab, ""}, "o199"},
		{"searched, then shown all", []string{"/", "/\n", "42", "> Option 42\n┃   Option 142", down, "> Option 142", esc, "> Option 150", tab, ""}, "o150"},
		{"searched and left by tab", []string{"/", "/\n", "142", "> Option 142", tab, ""}, "o142"},
		{"searched and left backwards", []string{"/", "/\n", "142", "> Option 142", shiftTab, ""}, "o150"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, 40, 18, nil, "call", url, "T")
			s.wait("> Option 150", "/ search")
			for i := 0; i < len(tt.steps); i += 2 {
				s.press(tt.steps[i])
				s.wait(tt.steps[i+1])
			}
			s.wait("✓ One: " + strings.Replace(tt.want, "o", "Option ", 1))
			s.press(enter)
			s.wait("[ Send ]")
			s.press("s", enter)
			s.ends(0)
			s.wait(`got {"one":"` + tt.want + `"}`)
		})
	}
}
