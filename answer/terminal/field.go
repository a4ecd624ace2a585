package terminal

import (
	"errors"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// longList is from how many options on a list scrolls.
const longList = 8

// A field is an entry on the screen. While it is edited, a field of huh stands behind it.
type field struct {
	*entry
	sheet *sheet
	dirty bool // the person has changed it, or tried to leave it

	tried bool // the last key tried to leave it

	input         huh.Field // nil while closed
	text          string
	number        int // of the choice; none is noChoice
	marked        []int
	width, height int // that there is
}

const noChoice = -1

func newField(s *sheet, e *entry) *field { return &field{entry: e, sheet: s} }

// close takes what was edited into the entry.
func (f *field) close() {
	if f.input == nil {
		return
	}
	f.take()
	f.input = nil
}

// take reads the value that stands in the input.
func (f *field) take() {
	before := string(f.value)
	switch {
	case f.isText():
		f.value = f.read(f.text)
	case f.searching(): // What is found is not chosen yet.
	case f.isSeveral():
		if len(f.marked) == 0 && !f.Required && f.value == nil {
			break // Nothing marked is nothing said; [] is what is left of something.
		}
		f.value = f.choose(f.marked...)
		if len(f.marked) == 0 && !f.Required {
			f.value = nil
		}
	default:
		// What the cursor is at is what stands there; huh does not follow all of its moves.
		if list, ok := f.input.(*huh.Select[int]); ok {
			if at, ok := list.Hovered(); ok {
				f.number = at
			}
		}
		f.value = nil
		if f.number != noChoice {
			f.value = f.choose(f.number)
		}
	}
	f.dirty = f.dirty || string(f.value) != before
}

// open makes an input for the width and height there is.
func (f *field) open(width, height int) {
	if f.input != nil {
		f.take()
	}
	fits := func(text string) error { return f.complain(f.read(text)) }
	switch {
	case f.isText() && strings.Contains(f.entry.text(), "\n"):
		f.text = f.entry.text()
		f.input = huh.NewText().Title(f.heading()).Description(f.explanation()).Value(&f.text).Validate(fits).ExternalEditor(false).Lines(4)
	case f.isText():
		f.text = f.entry.text()
		f.input = huh.NewInput().Title(f.heading()).Description(f.explanation()).Placeholder(f.placeholder()).Value(&f.text).Validate(fits)
	case f.isSeveral():
		f.marked = f.chosen()
		options := make([]huh.Option[int], len(f.labels))
		for i, label := range f.labels {
			options[i] = huh.NewOption(label, i)
		}
		title := f.heading()
		if len(options) > longList {
			title += " " // What is searched for stands behind it.
		}
		list := huh.NewMultiSelect[int]().Title(title).Description(f.explanation()).Options(options...).Value(&f.marked).
			Validate(func(numbers []int) error { return f.complain(f.choose(numbers...)) })
		list.Filterable(len(options) > longList)
		f.input = list
	default:
		f.number = noChoice
		if c := f.chosen(); len(c) == 1 {
			f.number = c[0]
		}
		var options []huh.Option[int]
		switch {
		case !f.Required:
			options = append(options, huh.NewOption("(leave out)", noChoice))
		case f.number == noChoice:
			options = append(options, huh.NewOption("(choose)", noChoice))
		}
		for i, label := range f.choices() {
			options = append(options, huh.NewOption(label, i))
		}
		f.input = huh.NewSelect[int]().Title(f.heading()).Description(f.explanation()).Options(options...).Value(&f.number).
			Validate(func(number int) error {
				if number == noChoice {
					return f.complain(nil)
				}
				return f.complain(f.choose(number))
			})
	}
	f.input.WithTheme(theme).WithKeyMap(keys(len(f.choices()) > longList))
	f.input.WithPosition(huh.FieldPosition{Field: 1, LastField: 2, LastGroup: 1})
	f.input.Init()
	f.input.Focus()
	f.resize(width, height)
}

// resize fits the input into the width and height there is now.
func (f *field) resize(width, height int) {
	f.width, f.height = width, height
	f.input.WithWidth(max(width-1, 4))
	if !f.isChoice() {
		return
	}
	f.fit()
	f.input.View() // huh scrolls to what is chosen only in lists that it has drawn.
	f.input.Update(nil)
}

// showAll ends a search, and shows all options again.
func (f *field) showAll() { f.open(f.width, f.height) }

// narrowed tells whether a list shows no more than what a search has found.
func (f *field) narrowed() bool {
	return slices.ContainsFunc(f.input.KeyBinds(), func(b key.Binding) bool { return b.Help().Desc == "clear filter" && b.Enabled() })
}

// fit lets a long list scroll in the height there is. A list of several is given its height in any case: huh makes it one
// option high otherwise.
func (f *field) fit() {
	options := 1 // "(choose)" or "(leave out)"
	for _, label := range f.choices() {
		options += len(wrap(label, f.width-9))
	}
	if len(f.choices()) <= longList && options+4 <= f.height && !f.isSeveral() {
		f.input.WithHeight(0) // As high as it is.
		return
	}
	above := len(wrap(f.heading(), f.width-3)) + len(wrap(f.explanation(), f.width-3))
	if f.isSeveral() {
		options--
	}
	f.input.WithHeight(min(options, max(min(longList, f.height-above-2), 2)) + above)
}

func (f *field) complain(value []byte) error {
	if what := f.sheet.problem(f.entry, value); what != "" {
		return errors.New(what)
	}
	return nil
}

func (f *field) update(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		if f.stuck(key.String()) {
			return nil
		}
		if key.String() == "/" && len(f.choices()) > longList && !f.searching() { // A new search, of the whole list, seen from its top.
			f.showAll()
			f.input.Update(tea.KeyPressMsg{Code: tea.KeyHome})
		}
	}
	m, cmd := f.input.Update(msg)
	f.input = m.(huh.Field)
	if key, ok := msg.(tea.KeyPressMsg); ok {
		f.take()
		f.tried = key.String() == "enter"
		f.dirty = f.dirty || f.tried
	}
	return cmd
}

// leave takes Enter, and tells whether it leaves the field.
func (f *field) leave(msg tea.KeyPressMsg) bool {
	searched := f.searching()
	f.update(msg)
	if searched && (f.isSeveral() || f.searching()) { // It took what was found, or there was nothing.
		return false
	}
	return f.complain(f.value) == nil
}

// searching tells whether keys go to the search of a list, or are to end it.
func (f *field) searching() bool {
	switch list := f.input.(type) {
	case *huh.Select[int]:
		return list.GetFiltering()
	case *huh.MultiSelect[int]:
		return list.GetFiltering()
	}
	return false
}

// stuck keeps moves from a list in which a search finds nothing: huh would leave it, and fail later.
func (f *field) stuck(key string) bool {
	list, ok := f.input.(*huh.MultiSelect[int])
	if !ok || !list.GetFiltering() {
		return false
	}
	if _, found := list.Hovered(); found {
		return false
	}
	switch key {
	case "up", "down", "ctrl+p", "ctrl+n", "ctrl+u", "ctrl+d", "ctrl+a":
		return true
	}
	return false
}

// heading is the title, marked when an answer is required.
func (f *field) heading() string {
	if f.Required {
		return f.Title + " *"
	}
	return f.Title
}

// explanation is what the server says about the field, and what it takes.
func (f *field) explanation() string {
	hint := f.hint()
	if !f.Required {
		hint += ", optional"
	}
	if f.Description != "" {
		return f.Description + "\n" + hint
	}
	return hint
}

// edited are the lines of the field while it is edited: with what is wrong as soon as something has been typed.
func (f *field) edited(width int) []string {
	lines := strings.Split(strings.TrimRight(f.input.View(), "\n"), "\n")
	what := ""
	if f.dirty && (f.value != nil || f.tried) {
		what = f.sheet.problem(f.entry, f.value)
	}
	if f.isSeveral() && len(f.labels) > longList && len(f.marked) > 0 { // Most of the list is out of sight.
		lines = append(lines, paintOne(accent, "┃ ")+ansi.Truncate(faint("marked: ")+f.shown(), width-2, "…"))
	}
	if what != "" {
		for _, line := range paint(red, wrap("✗ "+what, width-2)) {
			lines = append(lines, paintOne(accent, "┃ ")+line)
		}
	}
	return lines
}

// closed is the line of the field while another is edited.
func (f *field) closed(width int) string {
	mark := "  "
	switch what := f.sheet.problem(f.entry, f.value); {
	case what != "" && f.dirty:
		mark = paintOne(red, "✗ ")
	case what == "" && f.value != nil:
		mark = paintOne(green, "✓ ")
	}
	value := strings.Join(strings.Fields(f.shown()), " ")
	switch {
	case value == "" && f.Required:
		value = faint("required")
	case value == "":
		value = faint("left out")
	}
	return ansi.Truncate(mark+faint(f.Title+": ")+value, width, "…")
}

// reviewed are the lines of the field in the review: the whole answer.
func (f *field) reviewed(width int) []string {
	value := f.shown()
	if value == "" {
		value = faint("left out")
	}
	title := bold(f.Title + ":")
	if one := title + " " + value; lipgloss.Width(one) <= width && !strings.Contains(value, "\n") {
		return []string{one}
	}
	lines := wrap(title, width)
	for part := range strings.SplitSeq(value, "\n") {
		for _, line := range wrap(part, width-2) {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

func (f *field) help() []string {
	switch {
	case f.searching() && f.isSeveral():
		return []string{"type to search", "enter keep these", "esc show all"}
	case f.searching():
		return []string{"type to search", "enter take", "esc show all"}
	case f.isSeveral():
		parts := []string{"space mark", "enter next", "↑/↓ move"}
		if f.narrowed() {
			return []string{"space mark", "esc show all", "enter next", "↑/↓ move", "/ search"}
		}
		if len(f.labels) > longList {
			parts = append(parts, "/ search")
		}
		return append(parts, "shift+tab back", "esc cancel")
	case f.isChoice():
		parts := []string{"enter next", "↑/↓ move"}
		if len(f.choices()) > longList {
			parts = append(parts, "/ search")
		}
		return append(parts, "shift+tab back", "esc cancel")
	}
	return []string{"enter next", "shift+tab back", "esc cancel"}
}
