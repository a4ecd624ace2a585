package streamable_test

import (
	"strings"
	"testing"
)

// What asks, for a tool, a prompt and a resource.
var asking = []struct {
	name, key string
	m         func(more string) message
	answered  string // in the result, when the answer is "Ann"
	refused   refusal
}{
	{"tool", "ship", func(more string) message { return tool("ship", more) }, "Shipped as Ann.", refusal{}},
	{"prompt", "greet", func(more string) message {
		return request("prompts/get", "greet", `"name":"greet"`+comma(more))
	}, "Greet Ann", refusal{200, "-32603", "1", []string{"greet"}}},
	{"resource", "read", func(more string) message {
		return request("resources/read", "file:///read", `"uri":"file:///read"`+comma(more))
	}, "Ann", refusal{200, "-32603", "1", []string{"read"}}},
}

func comma(more string) string {
	if more == "" {
		return ""
	}
	return "," + more
}

// "input_required results carry no content, messages or contents, and no caching hints; results that used an answer are
// ttlMs: 0, private."
func TestInputRequiredResult(t *testing.T) {
	s := newSite(t, nil)
	for _, f := range asking {
		t.Run(f.name, func(t *testing.T) {
			result, _ := wantOK(t, do(t, s.addr, f.m(""))).(map[string]any)
			if result["resultType"] != "input_required" {
				t.Fatalf("got %v", result)
			}
			for member := range result {
				switch member {
				case "resultType", "inputRequests", "_meta":
				default:
					t.Errorf("the result has the member %q: %v", member, result[member])
				}
			}
			wantEqual(t, "the question", at(result, "inputRequests", f.key, "params", "requestedSchema"),
				`{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`)

			r := do(t, s.addr, f.m(`"inputResponses":{"`+f.key+`":{"action":"accept","content":{"name":"Ann"}}}`))
			done, _ := wantOK(t, r).(map[string]any)
			if done["resultType"] != "complete" || !strings.Contains(r.body, f.answered) {
				t.Errorf("got %s", r.body)
			}
			if f.name == "resource" {
				wantEqual(t, "ttlMs", done["ttlMs"], "0")
				wantEqual(t, "cacheScope", done["cacheScope"], `"private"`)
			}
		})
	}
}

func TestInputResponses(t *testing.T) {
	s := newSite(t, nil)
	warm(t, s)
	for _, f := range asking {
		accept := `{"action":"accept","content":{"name":"Ann"}}`
		for _, c := range []struct {
			name, responses string
			want            string // asked, complete or refused
		}{
			{"null", `null`, "asked"},
			{"empty", `{}`, "asked"},
			{"asked for, null", `{"$":null}`, "asked"},
			{"asked for, string", `{"$":"accept"}`, "asked"},
			{"asked for, array", `{"$":[` + accept + `]}`, "asked"},
			{"asked for, number", `{"$":1}`, "asked"},
			{"asked for twice", `{"$":` + accept + `,"$":` + accept + `}`, "asked"},
			{"asked for, bad content", `{"$":{"action":"accept","content":{"name":7}}}`, "asked"},
			{"asked for, no content", `{"$":{"action":"accept"}}`, "asked"},
			{"asked for, content twice over", `{"$":{"action":"accept","content":{"name":"Ann","name":"Bob"}}}`, "asked"},
			{"asked for, no action", `{"$":{}}`, "refused"},
			{"asked for, unknown action", `{"$":{"action":"ok","content":{"name":"Ann"}}}`, "refused"},
			{"asked for, action no string", `{"$":{"action":true,"content":{"name":"Ann"}}}`, "refused"},
			{"asked for, declined", `{"$":{"action":"decline"}}`, "refused"},
			{"asked for, with members nobody knows", `{"$":{"action":"accept","content":{"name":"Ann","admin":true},"x":[1]}}`, "complete"},
			{"not asked for, null", `{"other":null,"$":` + accept + `}`, "complete"},
			{"not asked for, number", `{"other":7,"$":` + accept + `}`, "complete"},
			{"not asked for, array", `{"$":` + accept + `,"other":[{}]}`, "complete"},
			{"not asked for, empty", `{"other":{},"$":` + accept + `}`, "complete"},
			{"not asked for, odd action", `{"other":{"action":[]},"$":` + accept + `}`, "complete"},
			{"not asked for, odd sampling", `{"other":{"role":7,"content":7},"$":` + accept + `}`, "complete"},
			{"not asked for, odd roots", `{"other":{"roots":7},"$":` + accept + `}`, "complete"},
			{"not asked for, twice", `{"other":7,"other":8,"$":` + accept + `}`, "complete"},
			{"not asked for, deep", `{"other":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `,"$":` + accept + `}`, "complete"},
		} {
			for _, m := range bothWays(f.m(`"inputResponses":` + strings.ReplaceAll(c.responses, "$", f.key))) {
				t.Run(f.name+" "+c.name, func(t *testing.T) {
					r := do(t, s.addr, m)
					switch {
					case c.want == "refused" && f.refused.code != "":
						wantRefusal(t, r, f.refused)
					case c.want == "refused":
						wantText(t, r, "Shipping cancelled.")
					case c.want == "asked":
						if result := wantOK(t, r); at(result, "resultType") != "input_required" || at(result, "inputRequests", f.key) == nil {
							t.Errorf("got %s", r.body)
						}
					default:
						if result := wantOK(t, r); at(result, "resultType") != "complete" || !strings.Contains(r.body, f.answered) {
							t.Errorf("got %s", r.body)
						}
					}
				})
			}
		}
		for _, state := range []string{`null`, `""`} {
			t.Run(f.name+" requestState "+state, func(t *testing.T) {
				r := do(t, s.addr, f.m(`"requestState":`+state+`,"inputResponses":{"`+f.key+`":`+accept+`}`))
				if wantOK(t, r); !strings.Contains(r.body, f.answered) {
					t.Errorf("got %s", r.body)
				}
			})
		}
	}
	t.Run("of a method that never asks", func(t *testing.T) {
		wantOK(t, do(t, s.addr, request("tools/list", "", `"inputResponses":7,"requestState":7`)))
	})
}

// A call of two rounds: the state of the first goes back unchanged, and is good for this call only.
func TestRounds(t *testing.T) {
	s := newSite(t, nil)
	first := wantOK(t, do(t, s.addr, tool("twice", "")))
	state := func(result any) string {
		st, _ := at(result, "requestState").(string)
		if at(result, "resultType") != "input_required" || st == "" {
			t.Fatalf("got %v", result)
		}
		return quote(st)
	}
	ann := `"inputResponses":{"ship":{"action":"accept","content":{"name":"Ann"}}},"requestState":` + state(first)
	second := wantOK(t, do(t, s.addr, tool("twice", ann)))
	if at(second, "inputRequests", "greet") == nil || at(second, "inputRequests", "ship") != nil {
		t.Fatalf("got %v", second)
	}
	bob := `"inputResponses":{"greet":{"action":"accept","content":{"name":"Bob"}}},"requestState":` + state(second)
	wantRefusal(t, do(t, s.addr, tool("twice", bob+`,"arguments":{"x":1}`)), refusal{400, "-32602", "1", []string{"Invalid or expired requestState"}})
	wantRefusal(t, do(t, s.addr, tool("ship", bob)), refusal{400, "-32602", "1", []string{"Invalid or expired requestState"}})
	wantText(t, do(t, s.addr, tool("twice", bob)), "Ann and Bob")
	wantRefusal(t, do(t, s.addr, tool("twice", bob)), refusal{400, "-32602", "1", []string{"Invalid or expired requestState"}})
}
