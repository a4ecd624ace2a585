package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/form"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const message = "Tell us about this parcel.\nWe need it before noon."

// Every kind of field is filled in, at 80 columns, and what is sent is what was shown.
func TestAllKinds(t *testing.T) {
	s := start(t, 80, 24, nil, "call", serve(t, message, kinds()...), "T")
	s.wait("Tracking Number *", "1/13")
	s.golden("kinds-text")
	s.press("1Z999999", enter)
	s.wait("2/13")
	s.press("ada@example.com", enter, "https://example.com/", enter)
	s.wait("4/13", "a date, such as 2026-07-28")
	s.golden("kinds-date")
	s.press("2026-07-28", enter, "2026-07-28T14:30:00+02:00", enter)
	s.wait("6/13", "> 1")
	s.press(back, "3", enter, "2.50", enter)
	s.wait("8/13", "(choose)")
	s.golden("kinds-bool")
	s.press(down, enter)
	s.wait("9/13")
	s.press(down, enter) // Yes was there beforehand.
	s.wait("10/13")
	s.press(down, enter)
	s.wait("11/13", "/ search")
	s.golden("kinds-long-list")
	s.press("/", "y 4")
	s.wait("Country 40", "type to search")
	s.press(down, down)
	s.golden("kinds-search")
	s.press(enter)
	s.wait("12/13", "[ ] Insurance")
	s.press(" ", down, down, " ")
	s.wait("[x] Saturday delivery")
	s.golden("kinds-several")
	s.press(enter)
	s.wait("13/13")
	s.press("leave it at the door", enter)
	s.wait("←/→ choose")
	s.press(enter)
	s.wait("[ Send ]")
	s.golden("kinds-review")
	s.press(enter, enter) // No choice is made yet, so nothing happens.
	s.wait("[ Send ]")
	s.press(right, enter)
	s.ends(0)
	got := strings.ReplaceAll(s.show(), "\n", "")
	const want = `got {"trackingNumber":"1Z999999","mail":"ada@example.com","site":"https://example.com/","day":"2026-07-28","at":"2026-07-28T14:30:00+02:00","parcels":3,"weight":2.5,"fragile":true,"insured":false,"carrier":"dhl","country":"c41","extras":["insurance","saturday"],"note":"leave it at the door"}`
	if !strings.HasSuffix(got, want) || !strings.Contains(got, "Sent.") {
		t.Errorf("the program left\n%s\nwant at its end\n%s", got, want)
	}
}

// What is wrong is said while it is typed, in the server's words, and cannot be left by Enter nor sent.
func TestInvalidThenCorrected(t *testing.T) {
	s := start(t, 80, 24, nil, "call", serve(t, "Ship this order", form.Int("parcels").Range(1, 10).Required(), form.String("note")), "T")
	s.wait("1/2")
	s.press("12")
	s.wait("✗ Parcels must be between 1 and 10.")
	s.golden("invalid")
	s.press(enter, enter)
	s.wait("1/2")
	s.press(tab, tab, enter) // To the buttons: Review goes back to what is wrong.
	s.wait("1/2", "✗ Parcels must be between 1 and 10.")
	s.press(back)
	s.wait("> 1")
	s.press(enter, enter, enter)
	s.wait("[ Send ]", "Parcels: 1", "Note: left out")
	s.press("e", enter) // A letter moves, Enter chooses.
	s.wait("1/2")
	s.press(back, "7", enter, enter, enter)
	s.wait("[ Send ]", "Parcels: 7")
	s.press("s", enter)
	s.ends(0)
	s.wait(`got {"parcels":7}`)
}

func TestDeclineAndCancel(t *testing.T) {
	url := serve(t, "Ship this order", form.String("note"))
	for _, tt := range []struct {
		name string
		keys []string
		want string
	}{
		{"decline from the form", []string{shiftTab, right, enter}, "declined"},
		{"decline from the review", []string{"x", enter, enter, "d", enter}, "declined"},
		{"escape", []string{"x", esc}, "dismissed"},
		{"escape from the review", []string{"x", enter, enter, esc}, "dismissed"},
		{"interrupt", []string{ctrlC}, "dismissed"},
		{"button", []string{tab, "c", enter}, "dismissed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, 80, 24, nil, "call", url, "T")
			s.wait("1/1")
			s.press(tt.keys...)
			s.ends(0)
			s.wait(tt.want)
		})
	}
}

// A confirmation has nothing to fill in: the review alone, which starts on no choice.
func TestSecurity26ReviewStartsOnNoChoice(t *testing.T) {
	url := serve(t, "Delete 42 rows of orders?")
	s := start(t, 80, 24, nil, "call", url, "T")
	s.wait("[ Accept ]")
	s.golden("confirm")
	s.press(enter)
	s.press(right, enter)
	s.ends(0)
	s.wait("got {}")
	s = start(t, 80, 24, nil, "call", url, "T")
	s.wait("[ Accept ]")
	s.press("d", enter)
	s.ends(0)
	s.wait("declined")
}

// What was typed survives a change of the window's size, and 40 columns are enough.
func TestResize(t *testing.T) {
	s := start(t, 80, 24, nil, "call", serve(t, message, kinds()...), "T")
	s.wait("1/13")
	s.press("1Z999")
	s.resize(40, 16)
	s.wait("> 1Z999")
	s.golden("narrow")
	s.press("999", enter)
	s.wait("2/13")
	s.resize(100, 30)
	s.wait("✓ Tracking Number: 1Z999999", "✓ Carrier: UPS")
	s.golden("wide")
	s.resize(20, 6)
	s.press("ada@example.com", enter)
	s.wait("3/13")
	s.resize(40, 16)
	s.press(tab, tab, tab, tab, tab, tab, tab, tab)
	s.wait("(choose)", "11/13")
	s.golden("narrow-list")
	s.press(esc)
	s.ends(0)
}

func TestHundredFields(t *testing.T) {
	var fields []form.Field
	for i := range 100 {
		fields = append(fields, form.String(fmt.Sprintf("field%d", i+1)).Description("What the warehouse ought to know about it."))
	}
	for _, width := range []int{60, 40} {
		s := start(t, width, 16, nil, "call", serve(t, "A hundred", fields...), "T")
		s.wait("1/100")
		s.press("first", shiftTab, up, "last")
		s.wait("100/100", "> last")
		s.golden(fmt.Sprintf("hundred-%d", width))
		s.press(enter, enter)
		s.wait("[ Send ]", "Field 1: first")
		s.golden(fmt.Sprintf("hundred-review-%d", width))
		s.press(pageDown)
		s.wait("↑ more")
		s.press("s", enter)
		s.ends(0)
		s.wait(`got {"field1":"first","field100":"last"}`)
	}
}

// A message that leaves no room for the form is read first.
func TestLongMessage(t *testing.T) {
	s := start(t, 60, 16, nil, "call", serve(t, strings.Repeat("All of this is important. ", 60), form.String("note")), "T")
	s.wait("[ Go on ]")
	s.golden("long-message")
	s.press(down, down, pageDown, pageDown, enter)
	s.wait("1/1", "…")
	s.press("x", enter, enter, "s", enter)
	s.ends(0)
	s.wait(`got {"note":"x"}`)
}

// Without a terminal nobody is asked: the program ends with exit code 4 and says what would have answered.
func TestNoTerminal(t *testing.T) {
	cmd := command(t, nil, "call", serve(t, "Ship this order", form.String("note").Required()), "T")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 4 || len(out) > 0 || !strings.Contains(stderr.String(), "--answer q.note=VALUE") {
		t.Errorf("exit %d (%v), stdout %q\n%s", code, err, out, stderr.String())
	}
}

// Line by line: with TERM=dumb, and in words for screen readers.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []string
		args []string
	}{
		{"dumb", []string{"TERM=dumb"}, nil},
		{"accessible", nil, []string{"--accessible"}},
		{"accessible-env", []string{"ACCESSIBLE=1"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, message, kinds()...)
			s := start(t, 100, 120, tt.env, append([]string{"call", url, "T"}, tt.args...)...)
			s.wait("Fill in 13 fields")
			for _, line := range []string{"f", "1Z", "1Z999999", "ada@example.com", "", "2026-02-30", "2026-07-28", "", "3", "2.5", "", "y", "", "2", "country 1", "12", "1, saturday", "leave it"} {
				s.line(line)
			}
			s.wait("Your answer:", "Note: leave it")
			s.golden(tt.name)
			s.line("s")
			s.ends(0)
			s.wait("got {")
			if strings.Contains(s.raw.String(), "\x1b") {
				t.Errorf("escape sequences reach the terminal:\n%q", s.raw.String())
			}
		})
	}
	s := start(t, 80, 24, []string{"TERM=dumb"}, "call", serve(t, message, form.String("note")), "T")
	s.wait("[f]ill")
	s.press(ctrlC)
	s.ends(0)
	s.wait("Cancelled.", "dismissed")
}

// A form that asks for a credential warns, and takes a second yes.
func TestSecurity26CredentialTakesASecondYes(t *testing.T) {
	params := &mcp.ElicitParams{Message: "Sign in", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"password":{"type":"string","title":"Your Password"}}}`)}
	url := serveRaw(t, params, func() bool { return true })
	s := start(t, 80, 24, nil, "call", url, "T")
	s.wait("seems to ask for a credential")
	s.golden("credential")
	s.press(enter)
	s.press(esc)
	s.ends(0)
	s.wait("cancel")
	s = start(t, 80, 24, nil, "call", url, "T")
	s.wait("seems to ask for a credential")
	s.press("f", enter)
	s.wait("1/1")
	s.press("x", enter, enter, "s", enter)
	s.ends(0)
	s.wait(`accept {"password":"x"}`)
	s = start(t, 80, 24, []string{"TERM=dumb"}, "call", url, "T")
	s.wait(`Type "yes"`)
	s.line("y")
	s.ends(0)
	s.wait("cancel")
}
