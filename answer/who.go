package answer

import (
	"fmt"
	"unicode/utf8"
)

// Asker says who asks, fit to be shown: the address first, which a server cannot choose, then the name it gives itself in
// quotes: `http://localhost:5280/ (calls itself "shop")`. Where no address is known it is "A server".
func (r *Request) Asker() string {
	who := PlainLine(r.Server)
	if who == "" {
		who = "A server"
	}
	if name := PlainLine(r.ServerName); name != "" {
		who += fmt.Sprintf(" (calls itself %q)", name)
	}
	return who
}

// longestMessage is how many bytes of a message are shown.
const longestMessage = 16 << 10

// Message is what the server says, fit to be shown: as [Plain] leaves it, and cut after 16 KiB with a line that says so.
func (r *Request) Message() string {
	if r.Params == nil {
		return ""
	}
	text := r.Params.Message
	if len(text) <= longestMessage {
		return Plain(text)
	}
	end := longestMessage
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return Plain(text[:end]) + fmt.Sprintf("…\n[%d more bytes of this message are not shown]", len(text)-end)
}
