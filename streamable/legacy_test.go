package streamable_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// openSession shakes hands and returns the session's id.
func openSession(t *testing.T, addr, version, capabilities string, more ...field) string {
	t.Helper()
	m := initialize(version, capabilities)
	m.header = append(m.header, more...)
	r := do(t, addr, m)
	id := r.header.Get("Mcp-Session-Id")
	if r.status != 200 || id == "" {
		t.Fatalf("no session: %d %s", r.status, r.body)
	}
	m = legacy(version, id, "notifications/initialized", "").withID("")
	m.header = append(m.header, more...)
	wantAccepted(t, do(t, addr, m))
	return id
}

// result is the last message of a reply, of either media type.
func result(t *testing.T, r reply) any {
	t.Helper()
	if r.status != 200 {
		t.Fatalf("got status %d: %s", r.status, r.body)
	}
	v := decode(t, lastData(r.body))
	if at(v, "result") == nil {
		t.Fatalf("no result: %s", r.body)
	}
	return at(v, "result")
}

var revisions = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

func TestLegacySession(t *testing.T) {
	s := newSite(t, nil)
	for _, version := range revisions {
		t.Run(version, func(t *testing.T) {
			r := do(t, s.addr, initialize(version, "{}"))
			if got := at(result(t, r), "protocolVersion"); got != version {
				t.Errorf("the revision is %v", got)
			}
			id := openSession(t, s.addr, version, "{}")
			header := version
			if version == "2025-03-26" {
				header = "" // it has no such header
			}
			content, _ := at(result(t, do(t, s.addr, legacy(header, id, "tools/call", `"name":"echo","arguments":{"x":1}`))), "content").([]any)
			if len(content) != 1 || at(content[0], "text") != `echo {"x":1}` {
				t.Errorf("got %v", content)
			}
			if r := do(t, s.addr, message{verb: "DELETE", host: "localhost", header: []field{{"Mcp-Session-Id", id}}}); r.status/100 != 2 {
				t.Errorf("DELETE: got %d %s", r.status, r.body)
			}
			wantRefusal(t, do(t, s.addr, legacy(header, id, "tools/list", "")), refusal{404, "-32600", "1", []string{"Mcp-Session-Id"}})
			wantRefusal(t, do(t, s.addr, message{verb: "DELETE", host: "localhost", header: []field{{"Mcp-Session-Id", id}}}), refusal{404, "-32600", "", []string{"Mcp-Session-Id"}})
		})
	}
}

// Sessions and single requests share the endpoint.
func TestBothGenerations(t *testing.T) {
	s := newSite(t, nil)
	id := openSession(t, s.addr, "2025-11-25", "{}")
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)
	result(t, do(t, s.addr, legacy("2025-11-25", id, "tools/list", "")))
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)
}

func TestLegacyIDs(t *testing.T) {
	s := newSite(t, nil)
	session := openSession(t, s.addr, "2025-11-25", "{}")
	for _, id := range []string{"0", "-7", "9007199254740991", "9007199254740993", "123456789012345678901234567890", `"9007199254740993"`, `"x"`, `"ü"`} {
		for name, m := range map[string]message{
			"result":  legacy("2025-11-25", session, "tools/call", `"name":"echo"`),
			"error":   legacy("2025-11-25", session, "tools/call", `"name":"none"`),
			"unknown": legacy("2025-11-25", session, "tools/unknown", ""),
		} {
			t.Run(id+" "+name, func(t *testing.T) {
				r := do(t, s.addr, m.withID(id))
				if got := rawID(t, lastData(r.body)); got != id {
					t.Errorf("got id %s: %d %s", got, r.status, r.body)
				}
			})
		}
	}
}

// "JSON-RPC error bodies": nothing comes as plain text.
func TestLegacyErrors(t *testing.T) {
	s := newSite(t, &streamable.Options{MaxBody: maxBody})
	id := openSession(t, s.addr, "2025-11-25", "{}")
	list := legacy("2025-11-25", id, "tools/list", "")
	for name, c := range map[string]struct {
		m    message
		want refusal
	}{
		"Origin":             {list.and("Origin", "null"), refusal{403, "-32600", "", []string{"Origin"}}},
		"Host":               {list.withHost("evil.example.com"), refusal{403, "-32600", "", []string{"Host"}}},
		"method":             {list.withVerb("PATCH"), refusal{405, "-32600", "", []string{"PATCH"}}},
		"Content-Type":       {list.with("Content-Type", "text/plain"), refusal{415, "-32600", "", []string{"Content-Type"}}},
		"Accept":             {list.with("Accept", "application/json"), refusal{406, "-32600", "", []string{"Accept"}}},
		"Accept of GET":      {message{verb: "GET", host: "localhost", header: []field{{"Accept", "application/json"}, {"Mcp-Session-Id", id}}}, refusal{406, "-32600", "", []string{"Accept"}}},
		"size":               {list.withBody(list.text() + strings.Repeat(" ", maxBody)), refusal{413, "-32600", "", []string{"4096"}}},
		"JSON":               {list.withBody(list.text() + "x"), refusal{400, "-32700", "", nil}},
		"envelope":           {list.withBody(`{"jsonrpc":"2.0","id":1}`), refusal{400, "-32600", "1", []string{"method"}}},
		"bad id":             {list.withID("{}"), refusal{400, "-32600", "", []string{"id"}}},
		"id null":            {list.withID("null"), refusal{400, "-32600", "", []string{"id"}}},
		"unknown revision":   {list.with("MCP-Protocol-Version", "2020-01-01"), refusal{400, "-32600", "1", []string{"2025-11-25"}}},
		"batch":              {list.withBody("[" + list.text() + "]"), refusal{400, "-32600", "", []string{"batch"}}},
		"empty batch":        {list.with("MCP-Protocol-Version", "2025-03-26").withBody("[]"), refusal{400, "-32600", "", nil}},
		"batch of no object": {list.with("MCP-Protocol-Version", "2025-03-26").withBody("[1]"), refusal{400, "-32600", "", nil}},
	} {
		t.Run(name, func(t *testing.T) { wantRefusal(t, do(t, s.addr, c.m), c.want) })
	}
	t.Run("parameters of Content-Type", func(t *testing.T) {
		result(t, do(t, s.addr, list.with("Content-Type", "application/json; x")))
	})
	t.Run("panic", func(t *testing.T) {
		r := do(t, s.addr, legacy("2025-11-25", id, "tools/call", `"name":"panic"`))
		v := decode(t, lastData(r.body))
		if fmt.Sprint(at(v, "error", "code")) != "-32603" || strings.Contains(r.body, "secret") {
			t.Errorf("got %d %s", r.status, r.body)
		}
		result(t, do(t, s.addr, list))
	})
}

// 2025-03-26 has batches.
func TestLegacyBatch(t *testing.T) {
	s := newSite(t, nil)
	for _, version := range []string{"", "2025-03-26"} {
		id := openSession(t, s.addr, "2025-03-26", "{}")
		batch := legacy(version, id, "tools/list", "")
		r := do(t, s.addr, batch.withBody(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}},
			{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"echo","arguments":{"x":1}}}]`))
		if r.status != 200 || !strings.Contains(r.body, `echo {\"x\":1}`) {
			t.Errorf("got %d %s", r.status, r.body)
		}
		wantAccepted(t, do(t, s.addr, batch.withBody(`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}]`)))
		wantRefusal(t, do(t, s.addr, batch.withBody("["+echo().text()+"]")), refusal{400, "-32600", "", []string{"batch"}})
		wantRefusal(t, do(t, s.addr, batch.withBody(`[{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}]`)), refusal{400, "-32600", "", []string{"method"}})
	}

	// "The initialize request MUST NOT be part of a JSON-RPC batch."
	before := len(slices.Collect(s.server.Sessions()))
	first := initialize("2025-03-26", "{}").and("MCP-Protocol-Version", "2025-03-26")
	wantRefusal(t, do(t, s.addr, first.withBody("["+first.text()+"]")), refusal{400, "-32600", "", []string{"initialize"}})
	if after := len(slices.Collect(s.server.Sessions())); after != before {
		t.Errorf("a refused batch leaves %d sessions where there were %d", after, before)
	}
}

// "A session of another principal is as an unknown one."
func TestSessionIsOfItsPrincipal(t *testing.T) {
	s := newServer()
	s.listen(t, nil, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user := r.Header.Get("X-User")
			if user == "" {
				h.ServeHTTP(w, r)
				return
			}
			issuer, client := r.Header.Get("X-Issuer"), r.Header.Get("X-Client")
			verify := func(_ context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
				if user == "-" {
					user = ""
				}
				return &auth.TokenInfo{UserID: user, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{"iss": issuer, "client_id": client}}, nil
			}
			auth.RequireBearerToken(verify, nil)(h).ServeHTTP(w, r)
		})
	})
	user := func(name, issuer, client string) []field {
		return []field{{"Authorization", "Bearer x"}, {"X-User", name}, {"X-Issuer", issuer}, {"X-Client", client}}
	}
	ann := user("ann", "https://id.example.com", "cli")
	id := openSession(t, s.addr, "2025-11-25", "{}", ann...)
	anonymous := openSession(t, s.addr, "2025-11-25", "{}")
	as := func(m message, who []field) message {
		m.header = append(slices.Clone(m.header), who...)
		return m
	}
	messages := func(session string) []message {
		return []message{
			legacy("2025-11-25", session, "tools/list", ""),
			legacy("2025-11-25", session, "notifications/initialized", "").withID(""),
			legacy("2025-03-26", session, "", "").withBody(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`),
			legacy("2025-11-25", session, "", "").withBody(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`),
			{verb: "GET", host: "localhost", header: []field{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", session}}},
			{verb: "DELETE", host: "localhost", header: []field{{"Mcp-Session-Id", session}}},
		}
	}
	for name, c := range map[string]struct {
		session string
		who     []field
	}{
		"another user":              {id, user("bob", "https://id.example.com", "cli")},
		"another issuer":            {id, user("ann", "https://evil.example.com", "cli")},
		"another client":            {id, user("ann", "https://id.example.com", "evil")},
		"nobody":                    {id, nil},
		"somebody where was nobody": {anonymous, ann},
	} {
		t.Run(name, func(t *testing.T) {
			for i, m := range messages(c.session) {
				foreign := do(t, s.addr, as(m, c.who))
				unknown := do(t, s.addr, as(messages("gone")[i], c.who))
				foreign.header.Del("Date")
				unknown.header.Del("Date")
				if foreign.status != 404 || fmt.Sprint(foreign) != fmt.Sprint(unknown) {
					t.Errorf("%s %d: a foreign session gets %v, an unknown one %v", m.verb, i, foreign, unknown)
				}
			}
		})
	}
	result(t, do(t, s.addr, as(legacy("2025-11-25", id, "tools/list", ""), ann)))
	result(t, do(t, s.addr, legacy("2025-11-25", anonymous, "tools/list", "")))

	t.Run("a token without a user", func(t *testing.T) {
		r := do(t, s.addr, as(initialize("2025-11-25", "{}"), user("-", "", "")))
		wantRefusal(t, r, refusal{500, "-32603", "1", nil})
	})
}

// A server asks an older client over its session, on the stream of the call.
func TestLegacyAsking(t *testing.T) {
	for _, c := range []struct{ shakes, speaks string }{
		{"2025-11-25", "2025-11-25"},
		{"2025-06-18", "2025-06-18"},
		{"2026-07-28", "2025-11-25"}, // it shakes hands with the newest it knows, and can still be asked
	} {
		t.Run(c.shakes, func(t *testing.T) {
			s := newSite(t, nil)
			if got := at(result(t, do(t, s.addr, initialize(c.shakes, "{}"))), "protocolVersion"); got != c.speaks {
				t.Fatalf("the revision is %v", got)
			}
			r := do(t, s.addr, initialize(c.shakes, `{"elicitation":{}}`))
			id := r.header.Get("Mcp-Session-Id")
			wantAccepted(t, do(t, s.addr, legacy(c.speaks, id, "notifications/initialized", "").withID("")))
			for _, a := range []struct{ answer, text string }{
				{`{"action":"accept","content":{"name":"Ann"}}`, "Shipped as Ann."},
				{`{"action":"decline"}`, "Shipping cancelled."},
				{`{"action":"cancel"}`, "Shipping cancelled."},
				{`{}`, "Shipping cancelled."},
			} {
				x := open(t, s.addr, legacy(c.speaks, id, "tools/call", `"name":"ship"`))
				wantStream(t, x)
				q := x.mustEvent()
				if at(q, "method") != "elicitation/create" || at(q, "params", "message") != "Ship this order" || at(q, "params", "_meta", "io.github.elicit-go/key") != "ship" {
					t.Fatalf("asked %v", q)
				}
				wantEqual(t, "the form", at(q, "params", "requestedSchema"),
					`{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`)
				qid, _ := json.Marshal(at(q, "id"))
				wantAccepted(t, do(t, s.addr, legacy(c.speaks, id, "", "").withBody(`{"jsonrpc":"2.0","id":`+string(qid)+`,"result":`+a.answer+`}`)))
				e := x.mustEvent()
				content, _ := at(e, "result", "content").([]any)
				if len(content) != 1 || at(content[0], "text") != a.text {
					t.Errorf("%s: got %v", a.answer, e)
				}
				wantEnd(t, x)
			}
		})
	}
	t.Run("a wrong answer is asked again", func(t *testing.T) {
		s := newSite(t, nil)
		id := openSession(t, s.addr, "2025-11-25", `{"elicitation":{}}`)
		x := open(t, s.addr, legacy("2025-11-25", id, "tools/call", `"name":"ship"`))
		for _, content := range []string{`{}`, `{"name":7}`, `{"name":"Ann"}`} {
			qid, _ := json.Marshal(at(x.mustEvent(), "id"))
			wantAccepted(t, do(t, s.addr, legacy("2025-11-25", id, "", "").withBody(`{"jsonrpc":"2.0","id":`+string(qid)+`,"result":{"action":"accept","content":`+content+`}}`)))
		}
		content, _ := at(x.mustEvent(), "result", "content").([]any)
		if len(content) != 1 || at(content[0], "text") != "Shipped as Ann." {
			t.Errorf("got %v", content)
		}
	})
	t.Run("answers and states of the new kind mean nothing", func(t *testing.T) {
		s := newSite(t, nil)
		id := openSession(t, s.addr, "2025-11-25", `{}`)
		for _, more := range []string{`"inputResponses":{"ship":{"action":"accept","content":{"name":"Ann"}}}`, `"inputResponses":{"ship":{}}`, `"requestState":"forged"`, `"requestState":7`, `"inputResponses":7`} {
			r := result(t, do(t, s.addr, legacy("2025-11-25", id, "tools/call", `"name":"ship",`+more)))
			content, _ := at(r, "content").([]any)
			if at(r, "isError") != true || len(content) != 1 || !strings.Contains(fmt.Sprint(at(content[0], "text")), "could not be asked") {
				t.Errorf("%s: got %v", more, r)
			}
		}
	})
}

// The stream of GET carries what belongs to no request.
func TestLegacyGET(t *testing.T) {
	s := newSite(t, nil)
	id := openSession(t, s.addr, "2025-11-25", "{}")
	x := open(t, s.addr, message{verb: "GET", host: "localhost", header: []field{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", id}, {"MCP-Protocol-Version", "2025-11-25"}}})
	wantStream(t, x)
	s.server.RemoveTools("log")
	if e := x.mustEvent(); at(e, "method") != "notifications/tools/list_changed" {
		t.Errorf("got %v", e)
	}
	// DELETE ends it.
	do(t, s.addr, message{verb: "DELETE", host: "localhost", header: []field{{"Mcp-Session-Id", id}}})
	wantEnd(t, x)
}

func TestStateless(t *testing.T) {
	s := newSite(t, &streamable.Options{Stateless: true})
	r := do(t, s.addr, initialize("2025-11-25", `{"elicitation":{}}`))
	if result(t, r); r.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("there is a session: %s", r.header.Get("Mcp-Session-Id"))
	}
	content, _ := at(result(t, do(t, s.addr, legacy("2025-11-25", "", "tools/call", `"name":"echo","arguments":{"x":1}`))), "content").([]any)
	if len(content) != 1 || at(content[0], "text") != `echo {"x":1}` {
		t.Errorf("got %v", content)
	}
	ship := result(t, do(t, s.addr, legacy("2025-11-25", "", "tools/call", `"name":"ship"`)))
	if at(ship, "isError") != true || !strings.Contains(fmt.Sprint(ship), "could not be asked") {
		t.Errorf("got %v", ship)
	}
	for _, verb := range []string{"GET", "DELETE"} {
		r := do(t, s.addr, message{verb: verb, host: "localhost", header: []field{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", "x"}}})
		wantRefusal(t, r, refusal{405, "-32600", "", []string{verb}})
		if strings.Contains(r.header.Get("Allow"), verb) {
			t.Errorf("Allow is %q", r.header.Get("Allow"))
		}
	}
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)
}

func TestRefuseLegacy(t *testing.T) {
	s := newSite(t, &streamable.Options{RefuseLegacy: true})
	for name, m := range map[string]message{
		"initialize": initialize("2025-11-25", "{}"),
		"session":    legacy("", "x", "tools/list", ""),
		"header":     legacy("2025-11-25", "", "tools/list", ""),
	} {
		t.Run(name, func(t *testing.T) {
			for _, id := range []string{"1", `"x"`, "9007199254740993"} {
				r := do(t, s.addr, m.withID(id))
				wantRefusal(t, r, refusal{400, "-32022", id, nil})
				wantEqual(t, "data.supported", at(decode(t, r.body), "error", "data", "supported"), `["2026-07-28"]`)
			}
		})
	}
	wantEqual(t, "data.requested", at(decode(t, do(t, s.addr, initialize("2025-11-25", "{}")).body), "error", "data", "requested"), `"2025-11-25"`)
	wantAccepted(t, do(t, s.addr, legacy("2025-11-25", "x", "notifications/initialized", "").withID("")))
	wantRefusal(t, do(t, s.addr, legacy("", "", "tools/list", "")), refusal{400, "-32020", "1", []string{"MCP-Protocol-Version"}})
	for _, verb := range []string{"GET", "DELETE"} {
		r := do(t, s.addr, message{verb: verb, host: "localhost", header: []field{{"Accept", "text/event-stream"}, {"Mcp-Session-Id", "x"}}})
		wantRefusal(t, r, refusal{405, "-32600", "", []string{verb}})
	}
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)
	wantEqual(t, "data.supported", at(decode(t, do(t, s.addr, echo().modern("2027-01-01")).body), "error", "data", "supported"), `["2026-07-28"]`)
}

func TestMaxSessions(t *testing.T) {
	s := newSite(t, &streamable.Options{MaxSessions: 2})
	first := openSession(t, s.addr, "2025-11-25", "{}")
	openSession(t, s.addr, "2025-11-25", "{}")
	full := do(t, s.addr, initialize("2025-11-25", "{}"))
	wantRefusal(t, full, refusal{503, "-32603", "1", []string{"sessions"}})
	result(t, do(t, s.addr, legacy("2025-11-25", first, "tools/list", ""))) // those there are go on
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)                      // 2026-07-28 needs none
	do(t, s.addr, message{verb: "DELETE", host: "localhost", header: []field{{"Mcp-Session-Id", first}}})
	openSession(t, s.addr, "2025-11-25", "{}")
	wantRefusal(t, do(t, s.addr, initialize("2025-11-25", "{}")), refusal{503, "-32603", "1", nil})
	// Sessions that the server ends make room too.
	for ss := range s.server.Sessions() {
		ss.Close()
	}
	openSession(t, s.addr, "2025-11-25", "{}")

	t.Run("a failed handshake takes no room", func(t *testing.T) {
		s := newSite(t, &streamable.Options{MaxSessions: 1})
		for range 3 {
			do(t, s.addr, legacy("", "", "initialize", `"protocolVersion":7`))
			do(t, s.addr, legacy("2025-11-25", "", "tools/list", ""))
		}
		openSession(t, s.addr, "2025-11-25", "{}")
	})
}

// The limit holds for handshakes that are under way at the same time.
func TestMaxSessionsAtOnce(t *testing.T) {
	s := newServer()
	enter, leave := make(chan struct{}, 8), make(chan struct{})
	s.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "initialize" {
				enter <- struct{}{}
				<-leave
			}
			return next(ctx, method, req)
		}
	})
	s.listen(t, &streamable.Options{MaxSessions: 1}, nil)
	var xs []*exchange
	xs = append(xs, send(t, s.addr, initialize("2025-11-25", "{}")))
	wait(t, "the first handshake is under way", enter)
	refused := make(chan reply, 1)
	second := send(t, s.addr, initialize("2025-11-25", "{}"))
	go func() {
		second.begin()
		refused <- second.all()
	}()
	select {
	case r := <-refused:
		wantRefusal(t, r, refusal{503, "-32603", "1", []string{"sessions"}})
		close(leave)
	case <-enter:
		close(leave)
		t.Error("a second handshake is let in")
		<-refused
	case <-time.After(timeout):
		close(leave)
		t.Fatal("no response")
	}
	for _, x := range xs {
		x.begin()
		result(t, x.all())
	}
}

func TestSessionTimeout(t *testing.T) {
	s := newSite(t, &streamable.Options{SessionTimeout: 300 * time.Millisecond})
	sessions := func() int { return len(slices.Collect(s.server.Sessions())) }
	before := sessions()
	id := openSession(t, s.addr, "2025-11-25", "{}")
	for deadline := time.Now().Add(timeout); sessions() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the session does not end")
		}
	}
	wantRefusal(t, do(t, s.addr, legacy("2025-11-25", id, "tools/list", "")), refusal{404, "-32600", "1", []string{"Mcp-Session-Id"}})
	// An ended session and one that never was look the same.
	ended, unknown := do(t, s.addr, legacy("2025-11-25", id, "tools/list", "")), do(t, s.addr, legacy("2025-11-25", "gone", "tools/list", ""))
	if ended.body != unknown.body || ended.status != unknown.status {
		t.Errorf("an ended session gets %v, an unknown one %v", ended, unknown)
	}
}

// NewHandlerFunc: a request for which there is no server is refused.
func TestNoServer(t *testing.T) {
	s := newServer()
	h := streamable.NewHandlerFunc(func(r *http.Request) *mcp.Server {
		if r.Header.Get("X-None") != "" {
			return nil
		}
		return s.server
	}, nil)
	s.listen(t, nil, func(http.Handler) http.Handler { return h })
	wantText(t, do(t, s.addr, echo()), `echo {"x":1}`)
	wantRefusal(t, do(t, s.addr, echo().and("X-None", "1")), refusal{400, "-32600", "1", []string{"server"}})
	wantRefusal(t, do(t, s.addr, initialize("2025-11-25", "{}").and("X-None", "1")), refusal{400, "-32600", "1", []string{"server"}})
}
