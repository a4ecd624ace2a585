package terminal

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// buttons are a row of choices. It can start on none, so that a key pressed too often chooses nothing.
type buttons struct {
	labels []string
	at     int // -1: none
}

func newButtons(at int, labels ...string) buttons { return buttons{labels, at} }

// key moves, by arrows or to the button with that first letter, or returns the label that Enter chooses.
func (b *buttons) key(name string) string {
	switch name {
	case "right", "tab", "down":
		b.at = (b.at + 1) % len(b.labels)
	case "left", "shift+tab", "up":
		b.at = (max(b.at, 0) + len(b.labels) - 1) % len(b.labels)
	case "enter", "space":
		if b.at >= 0 {
			return b.labels[b.at]
		}
	default:
		// A letter moves there and chooses nothing: what was typed a moment too late must not send anything.
		if i := slices.IndexFunc(b.labels, func(l string) bool { return strings.EqualFold(l[:1], name) }); i >= 0 {
			b.at = i
		}
	}
	return ""
}

// view are the lines of the row; it breaks where it does not fit.
func (b *buttons) view(width int, active bool) []string {
	lines, line := []string{}, ""
	for i, label := range b.labels {
		shown := "[ " + label + " ]"
		if active && i == b.at {
			shown = lipgloss.NewStyle().Reverse(true).Render(shown)
		} else if !active {
			shown = faint(shown)
		}
		if line != "" && lipgloss.Width(line+"  "+shown) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += "  "
		}
		line += shown
	}
	return append(lines, line)
}
