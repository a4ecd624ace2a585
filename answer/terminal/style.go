package terminal

import (
	"image/color"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// The colours are those of the terminal's own palette, so that they suit its background.
var (
	red    = lipgloss.Color("1")
	green  = lipgloss.Color("2")
	yellow = lipgloss.Color("3")
	accent = lipgloss.Color("6")
)

func paintOne(c color.Color, s string) string { return lipgloss.NewStyle().Foreground(c).Render(s) }

func paint(c color.Color, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = paintOne(c, line)
	}
	return out
}

func bold(s string) string  { return lipgloss.NewStyle().Bold(true).Render(s) }
func faint(s string) string { return lipgloss.NewStyle().Faint(true).Render(s) }

// bar sets a line of a server's text off from the program's own.
func bar(line string) string { return faint("│ ") + line }

// wrap breaks text into lines of at most width cells, a word that is longer among them.
func wrap(s string, width int) []string {
	return strings.Split(ansi.Wrap(strings.ReplaceAll(s, "\t", "    "), max(width, 1), ""), "\n")
}

// theme is the look of a field while it is edited, on a dark background and on a light one.
var theme = huh.ThemeFunc(func(dark bool) *huh.Styles {
	t := huh.ThemeBase(dark)
	f := &t.Focused
	f.Base = lipgloss.NewStyle().PaddingLeft(1).BorderStyle(lipgloss.ThickBorder()).BorderLeft(true).BorderForeground(accent)
	f.Title = lipgloss.NewStyle().Bold(true)
	f.Description = lipgloss.NewStyle().Faint(true)
	f.ErrorIndicator = lipgloss.NewStyle()
	f.SelectSelector = lipgloss.NewStyle().Foreground(accent).SetString("> ")
	f.MultiSelectSelector = f.SelectSelector
	f.SelectedOption = lipgloss.NewStyle().Bold(true)
	f.SelectedPrefix = lipgloss.NewStyle().SetString("[x] ")
	f.UnselectedPrefix = lipgloss.NewStyle().SetString("[ ] ")
	f.TextInput.Prompt = lipgloss.NewStyle().Foreground(accent)
	f.TextInput.Placeholder = lipgloss.NewStyle().Faint(true)
	t.Blurred = t.Focused
	return t
})

// keys are huh's, but that Tab and Esc are the screen's, and letters move nothing: they are what people type to search, where a list is long
// enough for that.
func keys(search bool) *huh.KeyMap {
	k := huh.NewDefaultKeyMap()
	none := key.NewBinding(key.WithDisabled())
	k.Input.Next, k.Input.Prev = key.NewBinding(key.WithKeys("enter")), none
	k.Text.Next, k.Text.Prev = key.NewBinding(key.WithKeys("enter")), none
	k.Select.Next, k.Select.Prev = key.NewBinding(key.WithKeys("enter")), none
	k.Select.Up, k.Select.Down = key.NewBinding(key.WithKeys("up", "ctrl+p")), key.NewBinding(key.WithKeys("down", "ctrl+n"))
	k.Select.GotoTop, k.Select.GotoBottom = key.NewBinding(key.WithKeys("home")), key.NewBinding(key.WithKeys("end"))
	k.Select.SetFilter = key.NewBinding(key.WithKeys("esc"), key.WithDisabled())
	k.MultiSelect.Next, k.MultiSelect.Prev = key.NewBinding(key.WithKeys("enter")), none
	k.MultiSelect.Up, k.MultiSelect.Down = k.Select.Up, k.Select.Down
	k.MultiSelect.GotoTop, k.MultiSelect.GotoBottom = k.Select.GotoTop, k.Select.GotoBottom
	if !search {
		k.Select.Filter, k.MultiSelect.Filter = none, none
	}
	return k
}
