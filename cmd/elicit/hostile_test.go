package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// serveResult is a server that answers every call with what result gives, over 2026-07-28.
func serveResult(t *testing.T, result func(call int) string) (url string, calls *atomic.Int32) {
	t.Helper()
	calls = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var msg struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &msg)
		out := `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`
		if msg.Method == "tools/call" {
			out = result(int(calls.Add(1)))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, msg.ID, out)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

func asks(params string) string {
	return `{"resultType":"input_required","requestState":"s","inputRequests":{"q":{"method":"elicitation/create","params":` + params + `}}}`
}

// Whatever a server does, the command ends, within bounds and with a message that says why.
func TestHostileServer(t *testing.T) {
	big := strings.Repeat("x", 10<<20)
	var fields, nested strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&fields, `,"f%d":{"type":"string"}`, i)
	}
	nested.WriteString(strings.Repeat(`{"type":"object","properties":{"a":`, 2000) + `{}` + strings.Repeat(`}}`, 2000))
	options := make([]string, 50_000)
	for i := range options {
		options[i] = fmt.Sprintf(`"o%d"`, i)
	}
	form := func(properties, required string) string {
		return asks(`{"message":"m","requestedSchema":{"type":"object","properties":{` + properties + `},"required":[` + required + `]}}`)
	}
	for name, tt := range map[string]struct {
		result string
		code   int
		want   string
	}{
		"10 MB message":       {asks(`{"message":"` + big + `","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`), exitOK, "[10469376 more bytes of this message are not shown]"},
		"10 MB title":         {form(`"a":{"type":"string","title":"`+big+`"}`, ""), exitUnanswered, "cannot be shown"},
		"10 MB error":         {`{"resultType":"complete","isError":true,"content":[{"type":"text","text":"` + big + `"}]}`, exitToolError, "more bytes]"},
		"10 MB text":          {`{"resultType":"complete","content":[{"type":"text","text":"` + big + `"}]}`, exitOK, ""},
		"40 MB":               {`{"resultType":"complete","content":[{"type":"text","text":"` + big + big + big + big + `"}]}`, exitServer, "longer than 32 MiB"},
		"5000 fields":         {form(fields.String()[1:], ""), exitUnanswered, "cannot be shown"},
		"nested schema":       {form(`"a":`+nested.String(), `"a"`), exitServer, ""},
		"nested required":     {form(`"a":{"type":"object","properties":{"b":{"type":"object"}}}`, `"a"`), exitUnanswered, `"a"`},
		"50000 options":       {form(`"a":{"type":"string","enum":[`+strings.Join(options, ",")+`]}`, `"a"`), exitUnanswered, "cannot be shown"},
		"pattern bomb":        {form(`"a":{"type":"string","pattern":"(a+)+$"}`, ""), exitOK, ""},
		"reference to itself": {asks(`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"$ref":"#/properties/a"}},"required":["a"]}}`), exitUnanswered, `"a"`},
		"big numbers":         {form(`"a":{"type":"integer","minimum":1e999999999,"default":1e999999999}`, ""), exitOK, ""},
		"field twice":         {form(`"a":{"type":"string"},"a":{"type":"integer"}`, ""), exitUnanswered, `"a"`},
		"javascript page":     {asks(`{"mode":"url","message":"m","url":"javascript:alert(1)"}`), exitOK, "It cannot be opened: it begins with javascript:"},
		"file page":           {asks(`{"mode":"url","message":"m","url":"file:///etc/passwd"}`), exitOK, "It cannot be opened: it begins with file:"},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := serveResult(t, func(call int) string {
				if call > 1 {
					return `{"resultType":"complete","content":[{"type":"text","text":"end"}]}`
				}
				return tt.result
			})
			o := typed(t, "d\n", "call", url, "T")
			if o.code != tt.code || !strings.Contains(o.err, tt.want) {
				t.Errorf("exit %d, want %d and %q:\n%.600s", o.code, tt.code, tt.want, o.err)
			}
			if most := 20 << 10; len(o.err) > most || o.code != exitOK && o.code != exitToolError && len(o.err) > 4096 {
				t.Errorf("the message has %d bytes", len(o.err))
			}
		})
	}
}

func TestHostileRounds(t *testing.T) {
	url, calls := serveResult(t, func(call int) string {
		return asks(fmt.Sprintf(`{"message":"round %d","requestedSchema":{"type":"object","properties":{}}}`, call))
	})
	try(t, "call", url, "T", "--decline", "q").want(t, exitServer, "", "asked in 100 rounds without an end")
	if n := calls.Load(); n > 102 {
		t.Errorf("%d calls", n)
	}
	// A fresh question each time is no way around it.
	url, _ = serveResult(t, func(call int) string {
		return strings.ReplaceAll(asks(`{"message":"m","requestedSchema":{"type":"object","properties":{}}}`), `"q"`, fmt.Sprintf(`"q%d"`, call))
	})
	try(t, "call", url, "T").want(t, exitUnanswered, "", `"q1"`)
	// Silence ends with the patience.
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	try(t, "call", silent.URL, "T", "--timeout", "300ms").want(t, exitServer, "", "did not finish within 300ms")
	// A server that runs as a command and says nothing, or nonsense.
	try(t, "call", "T", "--timeout", "300ms", "--", "sleep", "60").want(t, exitServer, "", "did not finish within 300ms")
	if o := try(t, "call", "T", "--timeout", "5s", "--", "echo", "hello \x1b[31m"); o.code != exitServer || strings.Contains(o.err, "\x1b") {
		t.Errorf("%+v", o)
	}
}
