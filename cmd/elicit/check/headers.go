package check

import (
	"fmt"
	"net/http"
)

const (
	pageHTTP = "basic/transports/streamable-http"
	pageBase = "basic"
	pageMRTR = "basic/patterns/mrtr"
	pageForm = "client/elicitation"
)

// headers checks what the transport asks of every request, and reports whether the server speaks the version that is checked.
// One of an older version has to mind the Origin alone.
func (t *target) headers() bool {
	right := t.list()
	res := t.send(right)
	r := Result{Name: "a right request", Sent: "tools/list, as " + version + " wants it", Rule: "is served", Where: pageHTTP, Must: true,
		Hint: "See to this first: what follows builds on it."}
	wrong, spoken := "", version
	if res.status != http.StatusOK || res.message.Result == nil {
		wrong = "not served"
		if old := t.send(t.initialize()); old.status == http.StatusOK && old.message.Result != nil {
			spoken, right = older, t.initialize()
			r.Hint = "The server speaks " + older + " and no " + version + ": update its SDK."
		}
	}
	t.judge(r, res, wrong)

	for _, c := range []struct {
		name, sent   string
		request      request
		status, code int
		rule, where  string
		must         bool
		hint         string
	}{
		{"foreign Origin", "Origin: https://evil.example.com", right.with("Origin", "https://evil.example.com"), 403, 0,
			"servers MUST validate Origin, and answer 403 when it is not allowed", pageHTTP, true, "Any page that a person visits can call this server. Check Origin before everything else."},
		{"Origin null", "Origin: null", right.with("Origin", "null"), 403, 0,
			"servers MUST validate Origin; null is the origin of sandboxed pages", pageHTTP, true, "null is no origin of yours."},
		{"MCP-Protocol-Version missing", "tools/list without the header", right.with("Mcp-Protocol-Version", ""), 400, -32020,
			"required headers that are missing MUST be rejected", pageHTTP, true, "Compare the header with _meta of the body."},
		{"MCP-Protocol-Version differs", "MCP-Protocol-Version: 2025-11-25 over a body of " + version, right.with("Mcp-Protocol-Version", "2025-11-25"), 400, -32020,
			"headers that differ from the body MUST be rejected", pageHTTP, true, "Compare the header with _meta of the body."},
		{"Mcp-Method missing", "tools/list without the header", right.with("Mcp-Method", ""), 400, -32020,
			"required headers that are missing MUST be rejected", pageHTTP, true, "Compare Mcp-Method with the body's method."},
		{"Mcp-Method differs", "Mcp-Method: tools/call over tools/list", right.with("Mcp-Method", "tools/call"), 400, -32020,
			"headers that differ from the body MUST be rejected", pageHTTP, true, "A gateway that routes by the header sees another call than the server."},
		{"unknown version", "protocol version 2099-01-01 in header and body", right.with("Mcp-Protocol-Version", "2099-01-01").change(version, "2099-01-01"), 400, -32022,
			"a version that is not supported MUST be rejected, and the supported ones named", pageBase, true, "Answer -32022 with data.supported."},
		{"_meta missing", "a body without _meta", right.change(","+fmt.Sprintf(meta, asking), "").change(fmt.Sprintf(meta, asking), ""), 400, 0,
			"every request MUST carry _meta with version and capabilities", pageBase, true, "Refuse a request without it: 400, with a code that names what is missing."},
		{"protocol version missing", "_meta without protocolVersion", right.change(`"io.modelcontextprotocol/protocolVersion":"`+version+`",`, ""), 400, -32602,
			"every request MUST carry _meta with version and capabilities", pageBase, true, "Answer 400 with code -32602; the header is no substitute."},
		{"capabilities missing", "_meta without clientCapabilities", right.change(`,"io.modelcontextprotocol/clientCapabilities":`+asking, ""), 400, -32602,
			"every request MUST carry _meta with version and capabilities", pageBase, true, "Refuse a request without them; do not take them from an earlier one."},
		{"unknown method", "the method tools/nothing", t.rpc("tools/nothing", "", asking, ""), 404, -32601,
			"an unknown method is 404 with code -32601", pageHTTP, true, "Answer 404 and -32601."},
		{"Accept", "Accept: image/png", right.with("Accept", "image/png"), 406, 0, "clients MUST accept both types of responses", pageHTTP, false, "Answer 406: the client would not understand the response."},
		{"Content-Type", "Content-Type: text/plain", right.with("Content-Type", "text/plain"), 415, 0, "bodies are JSON", pageHTTP, false, "Answer 415: a page of another origin can post text without asking first."},
		{"no JSON", "a body that ends early", request{http.MethodPost, right.header, right.body[:len(right.body)-2]}, 400, -32700, "what is no JSON is a parse error", pageBase, false, "Answer 400 with code -32700 and without an id."},
	} {
		r := Result{Name: c.name, Sent: c.sent, Rule: c.rule, Where: c.where, Must: c.must, Hint: c.hint}
		if spoken != version && c.request.header.Get("Origin") == "" {
			t.add(r, NotApplicable, "the server speaks no "+version)
			continue
		}
		res := t.send(c.request)
		wrong := res.refused(c.status, c.code)
		if wrong == "" && c.code == -32022 && !res.names("supported") {
			wrong = "data names no supported versions"
		}
		t.judge(r, res, wrong)
	}

	if spoken != version {
		return false
	}
	const id = "9007199254740993"
	again := t.list()
	res = t.send(again.change(fmt.Sprintf(`"id":%d`, t.id), `"id":`+id))
	wrong = res.refused(0, 0)
	switch {
	case wrong == "served" && string(res.message.ID) != id:
		wrong = "it came back as " + short(string(res.message.ID))
	case wrong == "served":
		wrong = ""
	}
	t.judge(Result{Name: "id beyond 2^53", Sent: `"id": ` + id, Rule: "a response MUST carry the id of its request", Where: pageBase, Must: true,
		Hint: "Keep ids as the text they came as: a float makes this one 9007199254740992."}, res, wrong)
	return true
}
