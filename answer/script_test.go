package answer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const allKinds = `{"type":"object","properties":{
	"name":{"type":"string"},"count":{"type":"integer"},"weight":{"type":"number"},"fragile":{"type":"boolean"},
	"carrier":{"type":"string","oneOf":[{"const":"ups","title":"UPS"},{"const":"dhl","title":"DHL"}]},
	"size":{"type":"string","enum":["S","M"],"enumNames":["Small","Medium"]},
	"extras":{"type":"array","items":{"type":"string","enum":["a","b"]}},
	"days":{"type":"array","items":{"anyOf":[{"const":"sa","title":"Saturday"},{"const":"su","title":"Sunday"}]}},
	"note":{"type":"string","default":"none"},"n":{"type":"integer","default":9007199254740993}},
	"required":["name","n"]}`

func ask(key, schema string) *answer.Request {
	return &answer.Request{Key: key, Tool: "T", Params: &mcp.ElicitParams{Mode: "form", Message: "M"}, Schema: json.RawMessage(schema), Exact: true, Round: 1, Asked: []string{key}}
}

// sent is an answer as it goes over the wire, or the error.
func sent(t *testing.T, a answer.Answerer, r *answer.Request) string {
	t.Helper()
	res, err := a.Answer(testContext(t), r)
	if err != nil {
		return "error: " + err.Error()
	}
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestScript(t *testing.T) {
	rest := `,"n":9007199254740993,"name":"x","note":"none"`
	accept := func(content string) string { return `{"action":"accept","content":{` + content + `}}` }
	for name, tt := range map[string]struct {
		values answer.Values
		want   string
	}{
		"defaults":        {answer.Values{"name": "x"}, accept(rest[1:])},
		"integers":        {answer.Values{"name": "x", "count": answer.Text{"+007"}}, accept(`"count":7` + rest)},
		"big integer":     {answer.Values{"name": "x", "count": answer.Text{"-123456789012345678901234567890"}}, accept(`"count":-123456789012345678901234567890` + rest)},
		"Go integer":      {answer.Values{"name": "x", "count": int64(9007199254740993)}, accept(`"count":9007199254740993` + rest)},
		"not an integer":  {answer.Values{"name": "x", "count": answer.Text{"1.5"}}, `error: field "count" of question "q": "1.5" is not an integer, such as 42`},
		"integer as text": {answer.Values{"name": "x", "count": "5"}, `error: field "count" of question "q": "5" is not an integer`},
		"number":          {answer.Values{"name": "x", "weight": answer.Text{" 0.10 "}}, accept(rest[1:] + `,"weight":0.10`)},
		"exponent":        {answer.Values{"name": "x", "weight": answer.Text{"1e999999999"}}, `error: field "weight" of question "q": "1e999999999" is not a number, such as 3.14`},
		"boolean":         {answer.Values{"name": "x", "fragile": answer.Text{"true"}}, accept(`"fragile":true` + rest)},
		"not a boolean":   {answer.Values{"name": "x", "fragile": answer.Text{"1"}}, `error: field "fragile" of question "q": "1" is neither true nor false`},
		"choice":          {answer.Values{"name": "x", "carrier": answer.Text{"dhl"}}, accept(`"carrier":"dhl"` + rest)},
		"choice by title": {answer.Values{"name": "x", "carrier": answer.Text{"DHL"}, "size": answer.Text{"Medium"}}, accept(`"carrier":"dhl"` + rest + `,"size":"M"`)},
		"no such choice":  {answer.Values{"name": "x", "carrier": answer.Text{"fedex"}}, `error: field "carrier" of question "q": "fedex" is not one of "ups", "dhl"`},
		"list":            {answer.Values{"name": "x", "extras": answer.Text{"a", "b"}, "days": answer.Text{"Sunday"}}, accept(`"days":["su"],"extras":["a","b"]` + rest)},
		"Go list":         {answer.Values{"name": "x", "extras": []string{"a"}}, accept(`"extras":["a"]` + rest)},
		"no list":         {answer.Values{"name": "x", "extras": "a"}, `error: field "extras" of question "q": "a" is not a list`},
		"two for one":     {answer.Values{"name": answer.Text{"x", "y"}}, `error: field "name" of question "q": takes one value, not 2`},
		"empty optional":  {answer.Values{"name": "x", "note": answer.Text{""}, "count": answer.Text{""}}, accept(`"n":9007199254740993,"name":"x"`)},
		"empty required":  {answer.Values{"name": answer.Text{""}}, accept(`"n":9007199254740993,"name":"","note":"none"`)},
		"null":            {answer.Values{"name": "x", "note": json.RawMessage("null"), "n": json.RawMessage("null")}, accept(`"n":9007199254740993,"name":"x"`)},
		"missing":         {answer.Values{"count": 1}, `error: question "q" has no answer to its field "name"`},
		"unknown":         {answer.Values{"nam": 1}, `error: field "nam" of question "q": the form has no field of this name; it has "name", "count", "weight", "fragile", "carrier", "size", "extras", "days", "note", "n"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sent(t, answer.Script{"q": answer.Accept(tt.values)}, ask("q", allKinds)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSecurity26ScriptAnswersOnlyTheNamedKey(t *testing.T) {
	script := answer.Script{"other": answer.Accept(answer.Values{"name": "x"}), "": answer.Accept(answer.Values{"name": "x"})}
	_, err := script.Answer(testContext(t), ask("q", allKinds))
	var missing *answer.MissingError
	if !errors.As(err, &missing) || missing.Key != "q" || len(missing.Fields) != 10 || missing.Message != "M" {
		t.Errorf("%+v", err)
	}
	// Not even a form that is all defaults, or empty.
	for _, schema := range []string{`{"type":"object","properties":{"n":{"type":"integer","default":1}},"required":["n"]}`, `{"type":"object","properties":{}}`, ``} {
		if _, err := script.Answer(testContext(t), ask("q", schema)); !errors.As(err, &missing) {
			t.Errorf("%s: %v", schema, err)
		}
	}
	if got := sent(t, script, ask("", allKinds)); !strings.HasPrefix(got, `{"action":"accept"`) {
		t.Error(got)
	}
}

func TestScriptMissingKeepsWhatWasGiven(t *testing.T) {
	_, err := answer.Script{"q": answer.Accept(answer.Values{"count": answer.Text{"3"}})}.Answer(testContext(t), ask("q", allKinds))
	var missing *answer.MissingError
	if !errors.As(err, &missing) || missing.Given["count"] != json.Number("3") {
		t.Errorf("%+v", missing)
	}
}

func TestScriptDoesNotRepeatItself(t *testing.T) {
	script := answer.Script{"q": answer.Accept(answer.Values{"name": "x"}), "no": answer.Decline()}
	r := ask("q", allKinds)
	res, err := script.Answer(testContext(t), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Previous, r.Params.Message = res, "x is too short"
	var repeated *answer.RepeatedError
	if _, err := script.Answer(testContext(t), r); !errors.As(err, &repeated) || !strings.Contains(err.Error(), "x is too short") {
		t.Errorf("%v", err)
	}
	// Another form under the same key is another question.
	r.Schema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	if got := sent(t, script, r); got != `{"action":"accept","content":{"name":"x"}}` {
		t.Error(got)
	}
	r = ask("no", allKinds)
	r.Previous = &mcp.ElicitResult{Action: "decline"}
	if got := sent(t, script, r); got != `{"action":"decline"}` {
		t.Error(got)
	}
}

func TestSecurity25ScriptsOpenNoPages(t *testing.T) {
	r := ask("q", "")
	r.Params = &mcp.ElicitParams{Mode: "url", URL: "https://example.com/"}
	for script, want := range map[*answer.Script]string{
		{"q": answer.Accept(nil)}:   "error: question \"q\" asks to open a page, which a script cannot",
		{"q": answer.Decline()}:     `{"action":"decline"}`,
		{"other": answer.Decline()}: `error: question "q" has no answer`,
	} {
		if got := sent(t, *script, r); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestParseScript(t *testing.T) {
	script, err := answer.ParseScript([]byte(`{"q": {"name": "x", "n": 9007199254740995, "extras": ["b"], "fragile": false, "note": null}, "no": "decline", "gone": "cancel", "yes": "accept"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sent(t, script, ask("q", allKinds)), `{"action":"accept","content":{"extras":["b"],"fragile":false,"n":9007199254740995,"name":"x"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for key, want := range map[string]string{"no": `{"action":"decline"}`, "gone": `{"action":"cancel"}`, "yes": `{"action":"accept"}`} {
		if got := sent(t, script, ask(key, `{}`)); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	for text, want := range map[string]string{
		``: "not JSON", `[]`: "not an object", `{"q":{"a":1,"a":2}}`: `field "a" twice`, `{"q":{},"q":{}}`: `"q" is there twice`,
		`{"q":"maybe"}`: `value of "q"`, `{"q":7}`: `value of "q"`, `{} {}`: "not JSON",
	} {
		if _, err := answer.ParseScript([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestFlags(t *testing.T) {
	form := `{"type":"object","properties":{"c":{"type":"string"},"b.c":{"type":"string"},"n":{"type":"integer"}}}`
	flags := &answer.Flags{
		Answers: []string{"a.b.c=long", "a.c=x=y", "a.n=1", ".c=unnamed"},
		Accept:  []string{"ok"}, Decline: []string{"no"}, Cancel: []string{"gone"},
		Script: answer.Script{"a": answer.Accept(answer.Values{"n": 5, "c": "file"}), "ok": answer.Decline(), "filed": answer.Cancel()},
	}
	if err := flags.Check(); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"no": `{"action":"decline"}`, "gone": `{"action":"cancel"}`, "ok": `{"action":"accept"}`, "filed": `{"action":"cancel"}`,
		"":    `{"action":"accept","content":{"c":"unnamed"}}`,
		"a":   `{"action":"accept","content":{"b.c":"long","c":"x=y","n":1}}`,
		"a.b": `{"action":"accept","content":{"c":"long"}}`,
		"b":   `error: question "b" has no answer to its fields "c", "b.c", "n"`,
	} {
		if got := sent(t, flags, ask(key, form)); got != want {
			t.Errorf("%q: got %s, want %s", key, got, want)
		}
	}
	// The longest asked key takes it.
	r := ask("a", form)
	r.Asked = []string{"a", "a.b"}
	if got, want := sent(t, flags, r), `{"action":"accept","content":{"c":"x=y","n":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, bad := range []answer.Flags{
		{Answers: []string{"ship"}}, {Answers: []string{"ship=1"}}, {Answers: []string{"ship.=1"}},
		{Accept: []string{"a"}, Cancel: []string{"a"}}, {Answers: []string{"a.b=1"}, Decline: []string{"a"}},
	} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
		if _, err := bad.Answer(testContext(t), ask("a", form)); err == nil {
			t.Errorf("%+v answers", bad)
		}
	}
}

func TestFieldsOfBrokenForms(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{},"a":{}}}`: `the field "a" is there twice`,
		`{"properties":[]}`:              "properties is not an object",
		`[]`:                             "requestedSchema is not an object",
		`{"properties":{"a":1}}`:         `the field "a" is not described`,
		`{`:                              "broken",
		strings.Repeat(`{"properties":`, 100) + "1}": "nested too deeply",
	} {
		if _, err := ask("q", schema).Fields(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", schema, err, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":             "plain\ttext\n",
		"a\x1b[31mb\u009b1mc\x07\r": "a[31mb1mc",
		"\u202eabc\u2066d\u200be":   "abcde",
		"\ufeffa\u00adb\U000e0041":  "ab",
		"a\xffb":                    "a\ufffdb",
		"a\u2028b":                  "a\nb",
		"größe 世界 😀":                "größe 世界 😀",
	} {
		if got := answer.Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
	if got := answer.PlainLine(" a\n\tb\u2029c\r\n "); got != "a b c" {
		t.Errorf("PlainLine: %q", got)
	}
}
