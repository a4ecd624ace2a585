package check

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/elicit-go/elicit/answer"
	"github.com/elicit-go/elicit/form"
)

// rounds checks how the tool asks and takes answers.
func (t *target) rounds() {
	call := t.call("")
	name := func(n string) Result {
		return Result{Name: n, Sent: "tools/call of " + t.o.Tool, Where: pageMRTR, Must: true}
	}
	for _, c := range []struct {
		name, sent, value, hint string
	}{
		{"Mcp-Name missing", "tools/call without the header", "", "Compare Mcp-Name with params.name."},
		{"Mcp-Name differs", "Mcp-Name: another", "another", "A gateway that routes by the header sees another call than the server."},
	} {
		res := t.send(call.with("Mcp-Name", c.value))
		t.judge(Result{Name: c.name, Sent: c.sent, Rule: "headers that are missing or differ MUST be rejected", Where: pageHTTP, Must: true, Hint: c.hint}, res, res.refused(400, -32020))
	}

	r := name("asks")
	r.Rule, r.Must = "a tool that asks answers with input_required", false
	r.Hint = "Give a tool that asks when it is called without arguments: the checks of answers need one."
	first := t.send(call)
	if first.needsTasks() {
		t.taskOnly = true
		t.add(r, NotApplicable, "the tool runs as a task only: elicit call shows what it asks")
		return
	}
	if !first.asks() {
		t.judge(r, first, "asks nothing")
		return
	}
	t.judge(r, first, "")
	requests, err := answer.ReadInputRequests(first.message.Result.InputRequests)
	r = name("the question can be read")
	r.Rule, r.Where = "inputRequests are elicitation/create requests with a flat schema", pageForm
	r.Hint = "Flat properties of type string, number, integer, boolean, or an array of options."
	wrong := ""
	if err != nil {
		wrong = err.Error()
	}
	for _, q := range requests {
		if q.Params.Mode == "url" {
			continue
		}
		if _, err := q.Form(); err != nil && wrong == "" {
			wrong = err.Error()
		}
	}
	t.judge(r, first, wrong)
	if err != nil || len(requests) == 0 {
		return
	}

	r = name("nothing beside the question")
	r.Rule, r.Hint = "an InputRequiredResult has no content", `Leave the member out: a null breaks clients that expect a list.`
	wrong = ""
	for _, member := range []string{"content", "contents", "messages", "structuredContent"} {
		if v, ok := first.message.Result.Members[member]; ok {
			wrong = fmt.Sprintf("it has %q: %s", member, short(string(v)))
		}
	}
	t.judge(r, first, wrong)

	r = name("client that cannot be asked")
	r.Sent, r.Rule = "capabilities without elicitation", "servers MUST NOT ask what the client has not declared"
	r.Hint = "Answer 400 with code -32021 and data.requiredCapabilities."
	res := t.send(t.rpc("tools/call", t.o.Tool, "{}", t.params("")))
	wrong = res.refused(400, -32021)
	if wrong == "" && !res.names("requiredCapabilities") {
		wrong = "data names no requiredCapabilities"
	}
	t.judge(r, res, wrong)

	key := requests[0].Key
	quoted, _ := json.Marshal(key)
	state := ""
	if s := first.message.Result.RequestState; s != nil {
		value, _ := json.Marshal(*s)
		state = `,"requestState":` + string(value)
	}
	responses := func(inner string) request { return t.call(`"inputResponses":{` + inner + `}` + state) }
	ends := func(res response) string {
		switch {
		case res.err != nil:
			return "no response"
		case res.status != http.StatusOK || res.message.Result == nil:
			return "the whole request is refused"
		case res.asks():
			return "asks again"
		}
		return ""
	}
	served := func(res response) string {
		if w := ends(res); w != "" && w != "asks again" {
			return w
		}
		return ""
	}
	for _, action := range []string{"decline", "cancel"} {
		r = name(action)
		r.Sent, r.Rule, r.Where = "the answer "+action, "servers MUST handle that the user declines or cancels", pageForm
		r.Hint = "End the call, and say so in the result."
		res = t.send(responses(fmt.Sprintf(`%s:{"action":%q}`, quoted, action)))
		t.judge(r, res, ends(res))
	}
	r = name("answer without an action")
	r.Sent, r.Rule = fmt.Sprintf(`"inputResponses": {%s: {}}`, quoted), "an answer that says nothing is a cancel, not a broken request"
	r.Must, r.Hint = false, "One odd answer must not fail the request: take it for cancel."
	res = t.send(responses(string(quoted) + `:{}`))
	t.judge(r, res, served(res))
	r = name("answer that nobody asked for")
	r.Sent, r.Rule = `"inputResponses" with an entry "nobody-asked": 7 beside a decline`, "entries that are not known SHOULD be ignored"
	r.Must, r.Hint = false, "Look only at the keys that were asked."
	res = t.send(responses(fmt.Sprintf(`"nobody-asked":7,%s:{"action":"decline"}`, quoted)))
	t.judge(r, res, served(res))
	r = name("answers missing")
	r.Sent, r.Rule = `"inputResponses": {}`, "what is still needed is asked again"
	r.Must, r.Hint = false, "Ask again: the answer has not come."
	res = t.send(responses(""))
	wrong = served(res)
	if wrong == "" && !res.asks() {
		wrong = "does not ask again"
	}
	t.judge(r, res, wrong)
	r = name("inputResponses of the wrong type")
	r.Sent, r.Rule = `"inputResponses": 7`, "protocol errors SHOULD be JSON-RPC errors"
	r.Must, r.Hint = false, "Answer 400 with code -32602."
	res = t.send(t.call(`"inputResponses":7`))
	t.judge(r, res, res.refused(0, -32602))

	r = name("forged requestState")
	// A tool that gave none may leave one alone that it does not look at.
	r.Sent, r.Rule, r.Must = `"requestState": "forged"`, "requestState is an attacker's input: what decides by it MUST verify it", state != ""
	r.Hint = "Seal the state (AEAD), and refuse what does not open, in tools that use none too."
	res = t.send(t.call(`"requestState":"forged"`))
	t.judge(r, res, res.refused(0, -32602))
	r = name("requestState of the wrong type")
	r.Sent, r.Rule, r.Must = `"requestState": 7`, "requestState is a string", false
	r.Hint = "Answer 400 with code -32602."
	res = t.send(t.call(`"requestState":7`))
	t.judge(r, res, res.refused(0, -32602))
	if s := first.message.Result.RequestState; s != nil && len(*s) > 8 {
		r = name("tampered requestState")
		r.Sent, r.Rule = "the server's state with a character changed", "servers MUST reject state that fails verification"
		r.Hint = "Seal the state (AEAD), and refuse what does not open."
		changed := []byte(*s)
		i := len(changed) / 2
		changed[i] = map[bool]byte{true: 'B', false: 'A'}[changed[i] == 'A']
		value, _ := json.Marshal(string(changed))
		res = t.send(t.call(`"requestState":` + string(value)))
		t.judge(r, res, res.refused(0, -32602))
	}
	t.accepts(requests, responses, ends)
}

// accepts checks answers that accept, which can have effects: only of a tool that is said to be safe.
func (t *target) accepts(requests []*answer.Request, responses func(string) request, ends func(response) string) {
	type kind struct{ name, sent, rule, hint string }
	invalid := kind{"answer of the wrong type", "accept with a list in every field", "servers SHOULD validate what they receive against the schema", "Validate before the handler sees it: ask again, naming the field."}
	missing := kind{"answer without what is required", "accept without any field", "servers SHOULD validate what they receive against the schema", "Validate before the handler sees it: ask again, naming the field."}
	good := kind{"accept", "accept with values that fit", "the call goes on", "The values were made from the schema: does the tool take what it says?"}
	twice := kind{"id used twice", "the same request id for both rounds", "each round is a request of its own", "Keep nothing by request id between rounds."}
	result := func(k kind) Result {
		return Result{Name: k.name, Sent: k.sent, Rule: k.rule, Where: pageForm, Hint: k.hint}
	}
	if !t.o.Safe {
		for _, k := range []kind{invalid, missing, good, twice} {
			t.add(result(k), NotApplicable, "only with --safe")
		}
		return
	}
	var wrongType, empty, right []string
	required := false
	for _, q := range requests {
		quoted, _ := json.Marshal(q.Key)
		content := map[string]json.RawMessage{}
		lists := map[string]json.RawMessage{}
		if q.Params.Mode != "url" {
			f, err := q.Form()
			if err != nil {
				return
			}
			for name, p := range f.Fields() {
				required = required || p.Required
				lists[name] = json.RawMessage(`[[]]`)
				if v := sample(p); v != nil && (p.Required || p.Default == nil) {
					content[name] = v
				}
			}
		}
		data, _ := json.Marshal(content)
		bad, _ := json.Marshal(lists)
		wrongType = append(wrongType, fmt.Sprintf(`%s:{"action":"accept","content":%s}`, quoted, bad))
		empty = append(empty, fmt.Sprintf(`%s:{"action":"accept","content":{}}`, quoted))
		right = append(right, fmt.Sprintf(`%s:{"action":"accept","content":%s}`, quoted, data))
	}
	caught := func(res response) string {
		if res.asks() || res.message.Error != nil || res.message.Result != nil && res.message.Result.IsError {
			return ""
		}
		return "it went through"
	}
	if required {
		res := t.send(responses(strings.Join(wrongType, ",")))
		t.judge(result(invalid), res, caught(res))
		res = t.send(responses(strings.Join(empty, ",")))
		t.judge(result(missing), res, caught(res))
	} else {
		t.add(result(invalid), NotApplicable, "no field is required")
		t.add(result(missing), NotApplicable, "no field is required")
	}
	again := responses(strings.Join(right, ","))
	res := t.send(again)
	wrong := ends(res)
	if wrong == "asks again" && !sameQuestions(res, requests) {
		wrong = "" // The next question.
	}
	t.judge(result(good), res, wrong)
	// The id of the first round over again.
	once := t.call("")
	id := fmt.Sprintf(`"id":%d`, t.id)
	_ = t.send(once)
	res = t.send(responses(strings.Join(right, ",")).change(fmt.Sprintf(`"id":%d`, t.id), id))
	wrong = ends(res)
	if wrong == "asks again" && !sameQuestions(res, requests) {
		wrong = ""
	}
	t.judge(result(twice), res, wrong)
}

// sameQuestions tells whether a response asks by the same keys.
func sameQuestions(res response, before []*answer.Request) bool {
	now, err := answer.ReadInputRequests(res.message.Result.InputRequests)
	if err != nil || len(now) != len(before) {
		return false
	}
	for i := range now {
		if now[i].Key != before[i].Key {
			return false
		}
	}
	return true
}

// sample is a value that a field should take.
func sample(p form.Property) json.RawMessage {
	switch {
	case p.Default != nil:
		return p.Default
	case p.Type == "boolean":
		return json.RawMessage("false")
	case p.Type == "array":
		values := []string{}
		for _, o := range p.Options {
			if n, err := p.Min.Int64(); (err != nil || int64(len(values)) >= n) && len(values) > 0 {
				break
			}
			values = append(values, o.Value)
		}
		data, _ := json.Marshal(values)
		return data
	case p.Options != nil:
		data, _ := json.Marshal(p.Options[0].Value)
		return data
	case p.Type == "integer" || p.Type == "number":
		if p.Min != "" {
			return json.RawMessage(p.Min)
		}
		if p.Max != "" {
			return json.RawMessage(p.Max)
		}
		return json.RawMessage("1")
	}
	text := map[string]string{"email": "check@example.com", "uri": "https://example.com/", "date": "2026-07-28", "date-time": "2026-07-28T14:30:00Z"}[p.Format]
	if text == "" {
		n := 8
		if least, err := p.Min.Int64(); err == nil {
			n = max(n, int(min(least, 1000)))
		}
		if most, err := p.Max.Int64(); err == nil {
			n = min(n, int(most))
		}
		text = strings.Repeat("x", n)
	}
	data, _ := json.Marshal(text)
	return data
}
