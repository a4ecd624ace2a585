package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// bad has what must not reach a terminal: sequences that clear, colour, title and link, in C0 and in C1; characters that turn
// or hide what follows.
const bad = "A\x1b[2J\x1b[31m\x1b]0;owned\x07\x1b]8;;https://evil.example.com\x07\x1bPq\x1b\\\u009b31m\u009d0;owned\u009c\u202eB\u200b\u2066C\ufeff\r\x08\x07\x00\x7f"

// hostile is a server all of whose strings are bad. It asks by these params, then reports progress, then ends.
func hostile(t *testing.T, params string) string {
	t.Helper()
	quoted, _ := json.Marshal(bad)
	h := string(quoted)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var msg struct {
			ID     json.RawMessage
			Method string
			Params struct {
				InputResponses map[string]any
				Meta           struct{ ProgressToken any } `json:"_meta"`
			}
		}
		_ = json.Unmarshal(body, &msg)
		w.Header().Set("Content-Type", "application/json")
		out := `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":` + h + `,"version":"1"}}}`
		switch {
		case msg.Method == "tools/call" && msg.Params.InputResponses == nil:
			out = strings.ReplaceAll(`{"resultType":"input_required","inputRequests":{BAD:{"method":"elicitation/create","params":`+params+`}}}`, "BAD", h)
		case msg.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			token, _ := json.Marshal(msg.Params.Meta.ProgressToken)
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1,\"total\":2,\"message\":%s}}\n\n", token, h)
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\",\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":%s}]}}\n\n", msg.ID, h)
			return
		case msg.Method == "tools/list":
			out = strings.ReplaceAll(`{"resultType":"complete","tools":[{"name":BAD,"title":BAD,"description":BAD,"inputSchema":{"type":"object","properties":{BAD:{"type":"string"}}}}]}`, "BAD", h)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, msg.ID, out)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// own are the sequences that the screen itself uses: colours and styles, the cursor, modes, questions to the terminal. None of
// them takes text.
var own = regexp.MustCompile(`\x1b(\[[?>=<]?[0-9;:]*[ $]?[A-Za-z]|\][0-9]+;\?\x07|[=>78MP])`)

// clean checks that nothing of the server's drives the terminal.
func (s *session) clean() {
	s.t.Helper()
	s.mu.Lock()
	raw := s.raw.String()
	s.mu.Unlock()
	for _, never := range []string{"\x1b[2JB", "owned\x07", "\x1b]8;", "\x1b]0;", "\x1bP", "\u009b", "\u009d"} {
		if strings.Contains(raw, never) {
			s.t.Errorf("%q reaches the terminal", never)
		}
	}
	for _, r := range own.ReplaceAllString(raw, "") {
		if r < ' ' && !strings.ContainsRune("\r\n\t\b", r) || r == '\x7f' || 0x80 <= r && r < 0xa0 || 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || r == 0xfeff {
			s.t.Fatalf("%U reaches the terminal in\n%q", r, raw)
		}
	}
}

// Whatever a server writes, on the full screen it is text.
func TestSecurity26NothingDrivesTheScreen(t *testing.T) {
	const property = `"title":BAD,"description":BAD`
	form := hostile(t, `{"message":BAD,"requestedSchema":{"type":"object","properties":{
		"text":{"type":"string",`+property+`,"default":BAD},
		"one":{"type":"string",`+property+`,"oneOf":[{"const":BAD,"title":BAD},{"const":"b","title":BAD}]},
		"some":{"type":"array",`+property+`,"items":{"anyOf":[{"const":BAD,"title":BAD},{"const":"b","title":BAD}]}},
		BAD:{"type":"boolean"}},"required":[BAD]}}`)
	for _, width := range []int{80, 40} {
		s := start(t, width, 40, nil, "call", form, "T")
		s.wait("1/4", "calls itself")
		s.press(enter, down, enter, " ", enter)
		s.wait("4/4", "(choose)")
		s.press(enter)
		s.wait("required.") // The sentence has the title in it.
		s.press(down, enter, enter)
		s.wait("[ Send ]")
		s.press("s", enter)
		s.ends(1)
		s.wait("reported an error")
		s.clean()
	}
	page := hostile(t, `{"mode":"url","elicitationId":BAD,"message":BAD,"url":"https://mcp.example.com/\u001b[2J\u202e"}`)
	s := start(t, 80, 24, nil, "call", page, "T")
	s.wait("It cannot be opened")
	s.press("d", enter)
	s.ends(1)
	s.clean()

	s = start(t, 80, 24, nil, "tools", form)
	s.ends(0)
	s.clean()
}
