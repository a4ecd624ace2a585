package wire_test

import (
	"testing"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
)

func TestRestore(t *testing.T) {
	const begin = `{"jsonrpc":"2.0","id":`
	for in, want := range map[string]string{
		begin + `"elicit-number:9007199254740993","result":{}}` + "\n\n": begin + `9007199254740993,"result":{}}` + "\n\n",
		begin + `"elicit-text:elicit-number:5","result":{}}`:             begin + `"elicit-number:5","result":{}}`,
		begin + `"elicit-number:x","result":{}}`:                         begin + `"elicit-number:x","result":{}}`,
		begin + `"a\"b","error":{"code":0,"message":"m"}}`:               begin + `"a\"b","error":{"code":-32603,"message":"m"}}`,
		begin + `1,"error":{"code":0,"message":"m"}}`:                    begin + `1,"error":{"code":-32603,"message":"m"}}`,
		begin + `"elicit-number:-0","error":{"code":0,"message":"m"}}`:   begin + `-0,"error":{"code":-32603,"message":"m"}}`,
		// What is a handler's stays as it is.
		begin + `1,"result":{"structuredContent":{"a":1,"error":{"code":0,"message":"OK"}}}}`:                                                                                             "",
		begin + `1,"result":{"structuredContent":{"progressToken":"elicit-number:5"}}}`:                                                                                                   "",
		begin + `1,"result":{"content":[{"text":",\"error\":{\"code\":0,"}]}}`:                                                                                                            "",
		`{"jsonrpc":"2.0","method":"n","params":{"data":{"progressToken":"elicit-number:5"}}}`:                                                                                            "",
		begin + `1,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"elicit-text:elicit-"}}}`:                                                                                  begin + `1,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"elicit-"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"_meta":{"progressToken":"elicit-number:7"},"progressToken":"elicit-number:5","message":"elicit-number:6"}}` + "\n": `{"jsonrpc":"2.0","method":"notifications/progress","params":{"_meta":{"progressToken":"elicit-number:7"},"progressToken":5,"message":"elicit-number:6"}}` + "\n",
		begin: "", begin + `"`: "", begin + `"\`: "", begin + `"elicit-number:`: "", "": "", "{": "",
	} {
		if want == "" {
			want = in
		}
		if got := string(wire.Restore([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// Whatever is held comes back, in a spelling that means the same.
func TestHold(t *testing.T) {
	for raw, want := range map[string]string{
		`1`: `1`, `9007199254740993`: `9007199254740993`, `-0`: `-0`, `"a"`: `"a"`, `"elicit-number:5"`: `"elicit-number:5"`,
		`"\u0065licit-number:5"`: `"elicit-number:5"`, `"\u0065licit-text:\n"`: `"elicit-text:\n"`, `"elicit-text:elicit-text:"`: `"elicit-text:elicit-text:"`,
	} {
		held := wire.Hold([]byte(raw))
		if got := string(wire.Restore([]byte(`{"jsonrpc":"2.0","id":` + string(held) + `,"result":{}}`))); got != `{"jsonrpc":"2.0","id":`+want+`,"result":{}}` {
			t.Errorf("%s was held as %s, and became %s", raw, held, got)
		}
	}
}

// What a client says of tasks reaches middleware in a place of ours, which it cannot fill itself.
func TestTaskIDsOfAFilter(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{"_meta":{"a":1},"notifications":{"taskIds":["x"]}}`, `{"_meta":{"a":1,"io.github.elicit-go/taskIds":"[\"x\"]"},"notifications":{"taskIds":["x"]}}`},
		{`{"_meta":{"io.github.elicit-go/taskIds":"[\"forged\"]"},"notifications":{}}`, `{"_meta":{},"notifications":{}}`},
		{`{"_meta":{"progressToken":12345678901234567890},"notifications":{"taskIds":7}}`, `{"_meta":{"progressToken":"elicit-number:12345678901234567890","io.github.elicit-go/taskIds":"7"},"notifications":{"taskIds":7}}`},
	} {
		m, e := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":` + c.params + `}`))
		if e != nil {
			t.Fatal(e)
		}
		if got, _ := rawjson.Get(m.Append(nil, m.ID), "params"); string(got) != c.want {
			t.Errorf("%s\nbecomes %s", c.params, got)
		}
	}
}

func TestANotificationThatTheSDKCannotSend(t *testing.T) {
	sent := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":` + wire.As + `"notifications/tasks","_meta":{"io.modelcontextprotocol/subscriptionId":"elicit-number:12345678901234567890"},"taskId":"x"}}`
	want := `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":12345678901234567890},"taskId":"x"}}`
	if got := string(wire.Restore([]byte(sent))); got != want {
		t.Errorf("got %s", got)
	}
	for _, other := range []string{`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":` + wire.As + `"x","a":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":` + wire.As + `"x"`} {
		if got := string(wire.Restore([]byte(other))); got != other {
			t.Errorf("%s becomes %s", other, got)
		}
	}
}
