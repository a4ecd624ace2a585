package wire_test

import (
	"strings"
	"testing"
)

func TestProgressTokenKeepsItsDigits(t *testing.T) {
	p := run(t)
	e := p.ask(strings.Replace(call("1", "progress", ""), `"_meta":{`, `"_meta":{"progressToken":9007199254740993,`, 1))
	p.receive()
	if got := at(decode(t, e), "params", "progressToken"); got != decode(t, "9007199254740993") {
		t.Errorf("got %v", got)
	}
}
