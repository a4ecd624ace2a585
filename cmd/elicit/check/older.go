package check

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// older checks that a client of 2025-11-25, which opens a session and is asked over it, gets to its end as one of 2026-07-28.
func (t *target) older(modern bool) {
	r := Result{Name: "client of 2025-11-25", Sent: "initialize, then tools/call of " + t.o.Tool, Rule: "most clients open a session still: they can be asked over it",
		Where: "basic/lifecycle (2025-11-25)", Hint: "Serve sessions beside plain POSTs, and ask over the session's stream."}
	if t.taskOnly {
		t.add(r, NotApplicable, "the tool runs as a task only, which older clients know nothing of")
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, 20*time.Second)
	defer cancel()
	run := func(version string) (asked int, text string, err error) {
		a := answer.AnswererFunc(func(_ context.Context, q *answer.Request) (*mcp.ElicitResult, error) {
			asked++
			if !t.o.Safe || q.Params.Mode == "url" {
				return &mcp.ElicitResult{Action: answer.ActionDecline}, nil
			}
			content := map[string]any{}
			if f, err := q.Form(); err == nil {
				for name, p := range f.Fields() {
					if v := sample(p); v != nil && p.Required {
						content[name] = v
					}
				}
			}
			return &mcp.ElicitResult{Action: answer.ActionAccept, Content: content}, nil
		})
		session, err := answer.Connect(ctx, &mcp.Implementation{Name: "elicit-check", Version: "1"}, t.url, &answer.Options{
			Answerer: a, ProtocolVersion: version, Header: t.o.Header, HTTPClient: &http.Client{Transport: counted{t}, CheckRedirect: t.client.CheckRedirect},
		})
		if err != nil {
			return 0, "", err
		}
		defer session.Close()
		res, err := answer.CallTool(ctx, session, &mcp.CallToolParams{Name: t.o.Tool}, a)
		if res != nil && len(res.Content) > 0 {
			if c, ok := res.Content[0].(*mcp.TextContent); ok {
				text = c.Text
			}
			if res.IsError {
				text = "isError: " + text
			}
		}
		return asked, text, err
	}
	asked, text, err := run(older)
	switch {
	case err != nil && asked == 0 && strings.Contains(err.Error(), "32022"):
		t.add(r, NotApplicable, "the server refuses older versions")
	case err != nil:
		t.add(r, Fail, short(err.Error()))
	case asked == 0:
		t.add(r, Fail, "was not asked: "+short(text))
	default:
		t.add(r, Pass, short(text))
	}
	r = Result{Name: "as many questions for older clients", Sent: "the whole call in both versions", Rule: "a tool that asks again asks every client again",
		Where: "basic/lifecycle (2025-11-25)", Hint: "The handler is to be run again after each answer, for older clients too."}
	switch {
	case !modern:
		t.add(r, NotApplicable, "the server speaks no "+version)
		return
	case !t.o.Safe:
		t.add(r, NotApplicable, "only with --safe")
		return
	}
	now, textNow, errNow := run(version)
	switch {
	case errNow != nil:
		t.add(r, NotApplicable, "the call does not end: "+short(errNow.Error()))
	case err != nil || asked != now:
		t.add(r, Fail, short("asked "+plural(now)+" in "+version+" ("+textNow+"), "+plural(asked)+" in 2025-11-25 ("+text+errText(err)+")"))
	default:
		t.add(r, Pass, plural(now)+" in both")
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func plural(n int) string {
	if n == 1 {
		return "once"
	}
	return strings.TrimSpace(strings.Join([]string{strconv.Itoa(n), "times"}, " "))
}

// counted is the target's own connection with the number of requests bounded.
type counted struct{ t *target }

func (c counted) RoundTrip(req *http.Request) (*http.Response, error) {
	if c.t.sent.Add(1) > maxRequests {
		return nil, errEnough
	}
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", "elicit-check")
	return c.t.client.Transport.RoundTrip(req)
}
