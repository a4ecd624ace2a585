package streamable_test

import (
	"testing"
	"time"
)

// The first call of a tool, which the handler has not looked at yet.

func TestFirstCallMcpParamBeforeParams(t *testing.T) {
	s := newSite(t, nil)
	m := tool("execute_sql", `"arguments":{"region":"us-west1"},"requestState":7`).with("Mcp-Param-Region", "x")
	wantRefusal(t, do(t, s.addr, m), refusal{400, "-32020", "1", []string{"Mcp-Param-Region"}})
}

func TestFirstCallUnknownMcpParam(t *testing.T) {
	s := newSite(t, nil)
	wantOK(t, do(t, s.addr, tool("echo", "").and("Mcp-Param-Region", "=?base64?*?=")))
}

func TestFirstCallHexadecimal(t *testing.T) {
	s := newSite(t, nil)
	m := tool("execute_sql", `"arguments":{"limit":42}`).and("Mcp-Param-Limit", "0x2Ap0")
	wantRefusal(t, do(t, s.addr, m), refusal{400, "-32020", "1", []string{"Mcp-Param-Limit"}})
}

// "Seen: numbers beyond 2^53 rounded." A progress token is the client's, as its id is.
func TestProgressTokenKeepsItsDigits(t *testing.T) {
	s := newSite(t, nil)
	x := open(t, s.addr, tool("progress", "").withMeta(metaBoth+`,"progressToken":9007199254740993`))
	wantStream(t, x)
	wantProgress(t, x.mustEvent(), decode(t, "9007199254740993"), "1")
}

// A session's client cancels by the id it gave.
func TestLegacyCancelledByBigID(t *testing.T) {
	s := newSite(t, nil)
	session := openSession(t, s.addr, "2025-11-25", "{}")
	for _, id := range []string{"7", "9007199254740993"} {
		t.Run(id, func(t *testing.T) {
			send(t, s.addr, legacy("2025-11-25", session, "tools/call", `"name":"wait"`).withID(id))
			wait(t, "the handler runs", s.started)
			wantAccepted(t, do(t, s.addr, legacy("2025-11-25", session, "notifications/cancelled", `"requestId":`+id).withID("")))
			select {
			case <-s.ended:
			case <-time.After(2 * time.Second):
				t.Error("the call is not cancelled")
			}
		})
	}
}
