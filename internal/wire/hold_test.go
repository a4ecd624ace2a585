package wire_test

import (
	"testing"

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
