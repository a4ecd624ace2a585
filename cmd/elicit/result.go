package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// finish prints what a call ended with and turns it into the command's error.
func finish(con *console, tool string, res *mcp.CallToolResult, err error, asJSON bool) error {
	if err != nil {
		return failure(con, tool, res, err)
	}
	if asJSON {
		data, err := json.MarshalIndent(res, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(con.out, escapeHidden(data))
		if res.IsError {
			return &exitError{exitToolError, fmt.Errorf("%s reported an error", tool)}
		}
		return nil
	}
	text, err := resultText(res)
	if err != nil {
		return err
	}
	if res.IsError {
		if text == "" {
			text = "no reason given"
		}
		return &exitError{exitToolError, fmt.Errorf("%s reported an error: %s", tool, text)}
	}
	if text != "" {
		fmt.Fprintln(con.out, text)
	}
	return nil
}

// failure explains a call that did not come to its end.
func failure(con *console, tool string, res *mcp.CallToolResult, err error) error {
	var exit *exitError
	if errors.As(err, &exit) {
		return err
	}
	var unanswered *answer.AnswerError
	if errors.As(err, &unanswered) {
		if res != nil {
			if text, err := resultText(res); err == nil && text != "" {
				con.say(fmt.Sprintf("elicit: %s was told \"cancel\" and ended with: %s", tool, text))
			}
		}
		err := unanswered.Err
		var missing *answer.MissingError
		if errors.As(err, &missing) {
			err = fmt.Errorf("%s asks %q: %w; give %s", tool, answer.PlainLine(missing.Message), err, remedy(missing))
		}
		return &exitError{exitUnanswered, err}
	}
	if errors.Is(err, answer.ErrTaskCancelled) { // On purpose, as when a tool says no.
		return &exitError{exitToolError, err}
	}
	var status *answer.HTTPError
	var rpc *jsonrpc.Error
	if errors.Is(err, answer.ErrTaskUnknown) {
		return &exitError{exitServer, fmt.Errorf("%s: %w", tool, answer.ErrTaskUnknown)}
	}
	if !errors.As(err, &status) && errors.As(err, &rpc) && rpc.Code != rejected {
		if !con.asks && wantsPage(rpc) {
			return &exitError{exitUnanswered, fmt.Errorf("calling %s: %s; nobody is here to open a page: run this at a terminal or with --browser, or refuse the question with --decline KEY", tool, rpc.Message)}
		}
		return &exitError{exitServer, fmt.Errorf("calling %s: the server answered with error %d: %s", tool, rpc.Code, rpc.Message)}
	}
	return &exitError{exitServer, err}
}

// wantsPage reports whether a server refuses a client because it does not open pages.
func wantsPage(e *jsonrpc.Error) bool {
	var data struct {
		Required struct {
			Elicitation struct {
				URL json.RawMessage `json:"url"`
			} `json:"elicitation"`
		} `json:"requiredCapabilities"`
	}
	return e.Code == mcp.CodeMissingRequiredClientCapabilities && json.Unmarshal(e.Data, &data) == nil && data.Required.Elicitation.URL != nil
}

// rejected is the code by which the SDK says that a request did not get through; no server has answered.
const rejected = -32005

// remedy names the flags that would have answered.
func remedy(m *answer.MissingError) string {
	var flags []string
	for _, field := range m.Required {
		flags = append(flags, "--answer "+shellWord(m.Key+"."+field+"=VALUE"))
	}
	if len(flags) == 0 {
		flags = append(flags, "--accept "+shellWord(m.Key))
	}
	text := fmt.Sprintf("%s (or --decline %s)", strings.Join(flags, " "), shellWord(m.Key))
	if len(m.Fields) > len(m.Required) {
		text += "; the other fields may be left out"
	}
	return text
}

// shellWord quotes s for a shell where it needs it.
func shellWord(s string) string {
	s = answer.PlainLine(s)
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-=/:@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// resultText is a result for reading: its texts one after another, a line for everything else; without any text, the
// structured content.
func resultText(res *mcp.CallToolResult) (string, error) {
	var lines []string
	hasText := false
	for _, block := range res.Content {
		if t, ok := block.(*mcp.TextContent); ok {
			hasText = true
			lines = append(lines, answer.Plain(t.Text))
			continue
		}
		lines = append(lines, placeholder(block))
	}
	if !hasText && res.StructuredContent != nil {
		var buf bytes.Buffer
		data, err := json.Marshal(res.StructuredContent)
		if err == nil {
			err = json.Indent(&buf, data, "", "  ")
		}
		if err != nil {
			return "", fmt.Errorf("structuredContent: %w", err)
		}
		lines = append(lines, escapeHidden(buf.Bytes()))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n"), nil
}

// placeholder stands for a block that is not text.
func placeholder(block mcp.Content) string {
	switch b := block.(type) {
	case *mcp.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", answer.PlainLine(b.MIMEType), len(b.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", answer.PlainLine(b.MIMEType), len(b.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[link to %s, %q]", answer.PlainLine(b.URI), answer.PlainLine(b.Name))
	case *mcp.EmbeddedResource:
		if b.Resource != nil {
			return fmt.Sprintf("[resource %s, %s]", answer.PlainLine(b.Resource.URI), answer.PlainLine(b.Resource.MIMEType))
		}
		return "[resource]"
	}
	return fmt.Sprintf("[%T]", block)
}

// escapeHidden makes JSON safe to print without changing what it says: characters that [answer.Plain] would drop stand
// in strings only, where JSON can escape them.
func escapeHidden(data []byte) string {
	var b strings.Builder
	for _, r := range string(data) {
		if s := string(r); r < 0x80 && r != 0x7f || answer.Plain(s) == s {
			b.WriteString(s)
			continue
		}
		if r > 0xffff {
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}
