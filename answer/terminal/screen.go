package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/elicit-go/elicit/answer"
)

// askOnScreen asks on the full screen and leaves a line of what was done behind.
func (t *Terminal) askOnScreen(ctx context.Context, q *question) (string, error) {
	s := newScreen(q)
	s.open = func(url string) error { return t.open(ctx, url) }
	final, err := tea.NewProgram(s, tea.WithContext(ctx), tea.WithInput(t.in), tea.WithOutput(t.out), tea.WithoutSignalHandler()).Run()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, tea.ErrInterrupted):
		return answer.ActionCancel, nil
	case err != nil:
		return "", fmt.Errorf("the terminal: %w", err)
	}
	action := final.(*screen).action
	done := map[string]string{answer.ActionAccept: "Sent.", answer.ActionDecline: "Declined.", answer.ActionCancel: "Cancelled."}[action]
	if q.isURL() && action == answer.ActionAccept {
		done = "Going on."
	}
	_, _ = io.WriteString(t.out, strings.SplitN(q.Message(), "\n", 2)[0]+"\n"+done+"\n")
	return action, nil
}

// A stage is what a screen is at.
type stage int

const (
	stageRead   stage = iota // a message too long to stand above the fields
	stageWarn                // a form that asks for a credential
	stageFill                // the fields
	stageReview              // all answers
	stagePage                // a page to open
	stageAway                // the page is open and not completed
)

// A screen is the model of the program that asks one question. Everything it needs to draw is in it; what depends on the
// size of the window is made anew when that changes.
type screen struct {
	q      *question
	open   func(url string) error
	stage  stage
	action string // what the person did, at the end

	fields  []*field // one for each entry
	at      int      // the field that is edited; len(fields) is the buttons
	buttons buttons
	problem string // what the person is told about the last key
	body    int    // first line of the body that is shown
	follow  bool   // the body follows what is edited
	opening bool   // a page is being opened
	wait    int    // seconds until the next try, at stageAway

	seen          bool // the window's size is known, and with it whether the message fits
	width, height int
}

func newScreen(q *question) *screen {
	s := &screen{q: q, width: 80, height: 24}
	switch {
	case q.isURL() && q.Waiting:
		s.enter(stageAway)
	case q.isURL():
		s.enter(stagePage)
	default:
		for _, e := range q.sheet.entries {
			s.fields = append(s.fields, newField(q.sheet, e))
		}
		s.begin()
	}
	return s
}

// begin is where a form starts: with a warning, or at its first field.
func (s *screen) begin() {
	switch {
	case len(s.q.sheet.credentials()) > 0:
		s.enter(stageWarn)
	case len(s.fields) == 0:
		s.enter(stageReview)
	default:
		s.enter(stageFill)
	}
}

func (s *screen) enter(st stage) {
	s.stage, s.problem, s.body, s.follow = st, "", 0, true
	switch st {
	case stageRead:
		s.buttons = newButtons(0, "Go on", "Decline", "Cancel")
	case stageWarn:
		s.buttons = newButtons(-1, "Fill it in", "Decline", "Cancel")
	case stageFill:
		s.buttons = newButtons(0, "Review", "Decline", "Cancel")
		s.at = max(s.q.sheet.wrong(), 0)
		s.edit()
	case stageReview:
		if len(s.fields) == 0 {
			s.buttons = newButtons(-1, "Accept", "Decline", "Cancel")
		} else {
			s.buttons = newButtons(-1, "Send", "Edit", "Decline", "Cancel")
		}
	case stagePage:
		if s.q.link.Refused != nil {
			s.buttons = newButtons(-1, "Decline", "Cancel")
		} else {
			s.buttons = newButtons(-1, "Open", "Decline", "Cancel")
		}
	case stageAway:
		s.buttons = newButtons(0, "Try now", "Open again", "Stop")
		s.wait = 5
	}
}

// edit makes the field at hand ready for typing.
func (s *screen) edit() {
	for i, f := range s.fields {
		if i == s.at {
			f.open(s.width, s.bodyHeight())
		} else {
			f.close()
		}
	}
	s.follow = true
}

type tickMsg time.Time

func tick() tea.Cmd { return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// Init implements tea.Model.
func (s *screen) Init() tea.Cmd {
	if s.stage == stageAway {
		return tick()
	}
	return nil
}

// Update implements tea.Model.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = max(msg.Width, 8), max(msg.Height, 4)
		if !s.seen && s.longMessage() {
			s.enter(stageRead)
		}
		s.seen = true
		if f := s.editing(); f != nil {
			f.resize(s.width, s.bodyHeight())
			s.follow = true
		}
		return s, nil
	case tickMsg:
		if s.stage != stageAway {
			return s, nil
		}
		if s.wait--; s.wait <= 0 {
			return s.end(answer.ActionAccept)
		}
		return s, tick()
	case openedMsg:
		s.opening = false
		if msg.err != nil {
			s.problem = "It could not be opened here (" + answer.PlainLine(msg.err.Error()) + "). Open the address above yourself, then go on."
			s.buttons = newButtons(-1, "Go on", "Decline", "Cancel")
			return s, nil
		}
		return s.end(answer.ActionAccept)
	case tea.KeyPressMsg:
		return s.key(msg)
	}
	if f := s.editing(); f != nil {
		return s, f.update(msg)
	}
	return s, nil
}

// editing is the field being edited, nil when none is.
func (s *screen) editing() *field {
	if s.stage != stageFill || s.at >= len(s.fields) {
		return nil
	}
	return s.fields[s.at]
}

func (s *screen) end(action string) (tea.Model, tea.Cmd) {
	s.action = action
	return s, tea.Quit
}

func (s *screen) key(msg tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	f := s.editing()
	name := msg.String()
	switch {
	case name == "ctrl+c", name == "esc" && (f == nil || !f.searching() && !f.narrowed()):
		return s.end(answer.ActionCancel)
	case name == "esc":
		f.showAll()
		return s, nil
	case name == "tab" && f != nil && f.searching(): // Takes what was found, as Enter does.
		name, msg = "enter", tea.KeyPressMsg{Code: tea.KeyEnter}
	case name == "pgup", name == "pgdown":
		page := max(s.bodyHeight()-1, 1)
		if name == "pgup" {
			page = -page
		}
		s.body, s.follow = s.body+page, false
		return s, nil
	}
	if f != nil {
		switch name {
		case "enter":
			// Not by huh's message, which would come after keys that are typed meanwhile.
			if f.leave(msg) {
				return s.next()
			}
			return s, nil
		case "tab":
			return s.next()
		case "shift+tab":
			s.at--
			if s.at < 0 {
				s.at = len(s.fields)
			}
			s.problem = ""
			s.edit()
			return s, nil
		}
		s.follow, s.problem = true, ""
		return s, f.update(msg)
	}
	if s.stage == stageFill && (name == "shift+tab" || name == "up") {
		s.at = len(s.fields) - 1
		s.problem = ""
		s.edit()
		return s, nil
	}
	if s.stage == stageFill && name == "tab" && s.buttons.at == len(s.buttons.labels)-1 {
		s.at = 0
		s.edit()
		return s, nil
	}
	if name == "up" || name == "down" {
		step := map[string]int{"up": -1, "down": 1}[name]
		if s.overflows() {
			s.body, s.follow = s.body+step, false
			return s, nil
		}
	}
	return s.press(s.buttons.key(name))
}

// next leaves a field for the one after it.
func (s *screen) next() (tea.Model, tea.Cmd) {
	s.at++
	s.problem = ""
	s.edit()
	if s.at == len(s.fields) {
		s.buttons.at = 0
	}
	return s, nil
}

// press does what a button says.
func (s *screen) press(label string) (tea.Model, tea.Cmd) {
	switch label {
	case "Go on":
		if s.stage == stagePage {
			return s.end(answer.ActionAccept)
		}
		s.begin()
	case "Fill it in":
		if len(s.fields) == 0 {
			s.enter(stageReview)
		} else {
			s.enter(stageFill)
		}
	case "Review":
		if i := s.q.sheet.faulty(); i >= 0 {
			s.at = i
			s.edit()
			s.problem = s.q.sheet.problem(s.fields[i].entry, s.fields[i].value)
			return s, nil
		}
		s.enter(stageReview)
	case "Edit":
		s.enter(stageFill)
	case "Send", "Accept", "Try now":
		return s.end(answer.ActionAccept)
	case "Decline":
		return s.end(answer.ActionDecline)
	case "Cancel", "Stop":
		return s.end(answer.ActionCancel)
	case "Open", "Open again":
		if s.opening {
			return s, nil
		}
		s.problem, s.opening = "", true
		return s, func() tea.Msg { return openedMsg{s.open(s.q.link.Opened())} }
	}
	return s, nil
}

type openedMsg struct{ err error }

// View implements tea.Model.
func (s *screen) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if s.action != "" {
		return v
	}
	head, foot := s.head(), s.foot()
	room := s.bodyHeight()
	lines, from, to := s.bodyLines()
	if s.follow { // The least move that shows what is edited; its end, where people type, when it is too long.
		s.body = min(s.body, from)
		s.body = max(s.body, to-room)
	}
	s.body = max(min(s.body, len(lines)-room), 0)
	shown := lines[s.body:min(s.body+room, len(lines))]
	all := append([]string{}, head...)
	all = append(all, shown...)
	if s.body > 0 && s.body < from || s.body > 0 && !s.follow {
		all[len(head)] = faint("  ↑ more")
	}
	if end := s.body + room; end < len(lines) && (end > to || !s.follow) {
		all[len(all)-1] = faint("  ↓ more")
	}
	all = append(append(all, foot...), s.help())
	if len(all) > s.height {
		all = all[len(all)-s.height:]
	}
	v.SetContent(strings.Join(all, "\n"))
	return v
}

// bodyHeight is how many lines there are between head and foot, whose last line is the help.
func (s *screen) bodyHeight() int { return max(s.height-len(s.head())-len(s.foot())-1, 1) }

func (s *screen) overflows() bool {
	lines, _, _ := s.bodyLines()
	return len(lines) > s.bodyHeight()
}

// messageRoom is how many lines of the message stand above everything else.
func (s *screen) messageRoom() int { return max(s.height/4, 2) }

func (s *screen) message() []string {
	var lines []string
	for line := range strings.SplitSeq(s.q.Message(), "\n") {
		lines = append(lines, wrap(line, s.width-2)...)
	}
	return lines
}

func (s *screen) longMessage() bool { return len(s.message()) > s.messageRoom() && !s.q.isURL() }

// head is what always stands at the top: who asks, and the message as far as there is room.
func (s *screen) head() []string {
	var lines []string
	address, name, named := strings.Cut(s.q.Asker(), " (")
	who := bold(address)
	if named {
		who += " (" + name
	}
	lines = append(lines, wrap(who, s.width)...)
	lines = append(lines, wrap(s.q.purpose(), s.width)...)
	message := s.message()
	if s.stage == stageRead {
		message = nil
	}
	if room := s.messageRoom(); len(message) > room {
		message = append(message[:room-1:room-1], "…")
	}
	for _, line := range message {
		lines = append(lines, bar(line))
	}
	if s.q.note != "" {
		lines = append(lines, paint(yellow, wrap(s.q.note, s.width))...)
	}
	// Whatever a server writes, there is room for an answer.
	if most := max(s.height-6, 1); len(lines) > most {
		lines = append(lines[:most-1], "…")
	}
	return append(lines, "")
}

// bodyLines are the lines between head and foot, and the range that is edited.
func (s *screen) bodyLines() (lines []string, from, to int) {
	switch s.stage {
	case stageRead:
		for _, line := range s.message() {
			lines = append(lines, bar(line))
		}
	case stageWarn:
		lines = s.warning()
	case stagePage, stageAway:
		lines = s.page()
	case stageReview:
		for _, f := range s.fields {
			lines = append(lines, f.reviewed(s.width)...)
		}
		if len(s.fields) == 0 {
			lines = append(lines, wrap("There is nothing to fill in.", s.width)...)
		}
	case stageFill:
		for i, f := range s.fields {
			if i == s.at {
				if i > 0 {
					lines = append(lines, "")
				}
				from = len(lines)
				lines = append(lines, f.edited(s.width)...)
				to = len(lines)
				lines = append(lines, "")
			} else {
				lines = append(lines, f.closed(s.width))
			}
		}
		if s.at == len(s.fields) {
			from, to = len(lines), len(lines)
		}
	}
	return lines, from, to
}

func (s *screen) warning() []string {
	lines := paint(red, wrap("This form seems to ask for a credential: "+strings.Join(s.q.sheet.credentials(), ", ")+".", s.width))
	lines = append(lines, "")
	return append(lines, wrap("What you fill in passes through this program and its logs, and through the server. Passwords, keys, tokens and card numbers do not belong in a form: a server that needs one opens a page of its own.", s.width)...)
}

func (s *screen) page() []string {
	l := s.q.link
	var lines []string
	if s.stage == stageAway {
		lines = append(lines, wrap("The page is not completed yet.", s.width)...)
	} else {
		lines = append(lines, wrap("It wants this page opened in your browser:", s.width)...)
	}
	lines = append(lines, "")
	host := l.Host
	if host == "" {
		host = "unknown"
	}
	lines = append(lines, wrap("host  "+bold(host), s.width)...)
	for _, line := range wrap(l.Before+lipgloss.NewStyle().Bold(true).Underline(true).Render(l.Host)+l.After, s.width-6) {
		lines = append(lines, "      "+line)
	}
	if l.Refused != nil {
		lines = append(lines, "")
		lines = append(lines, paint(red, wrap("It cannot be opened: "+l.Refused.Error()+".", s.width))...)
	}
	for _, w := range l.Warnings {
		lines = append(lines, "")
		lines = append(lines, paint(yellow, wrap("Careful: "+w, s.width))...)
	}
	return lines
}

// foot is what stands at the bottom above the help: the buttons, and what is wrong.
func (s *screen) foot() []string {
	lines := []string{""}
	lines = append(lines, s.buttons.view(s.width, s.stage != stageFill || s.at == len(s.fields))...)
	if s.problem != "" {
		lines = append(lines, paint(red, wrap("✗ "+s.problem, s.width))...)
	}
	return lines
}

// help names the keys that do something now, as many as fit.
func (s *screen) help() string {
	var parts []string
	f := s.editing()
	switch {
	case s.stage == stageAway:
		parts = append(parts, fmt.Sprintf("next try in %d s", s.wait), "esc stop")
	case f != nil:
		parts = append(parts, fmt.Sprintf("%d/%d", s.at+1, len(s.fields)))
		parts = append(parts, f.help()...)
	default:
		parts = append(parts, "←/→ choose", "enter")
		if s.overflows() {
			parts = append(parts, "↑/↓ scroll")
		}
		parts = append(parts, "esc cancel")
	}
	text := parts[0]
	for _, p := range parts[1:] {
		if lipgloss.Width(text+" · "+p) > s.width {
			break
		}
		text += " · " + p
	}
	return faint(text)
}
