package load

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const (
		meta  = `"_meta":{"a":1}`
		asks  = `{"jsonrpc":"2.0","id":100000001,"result":{"resultType":"input_required",` + meta + `,"inputRequests":{"ship":{"method":"elicitation/create","params":{"mode":"form","message":"Ship this order","requestedSchema":{"type":"object","properties":{"trackingNumber":{"type":"string"}}}}}}}}`
		ships = `{"result":{"content":[{"type":"text","text":"Shipped as 1Z999."}],"resultType":"complete"},"jsonrpc":"2.0","id":100000001}`
	)
	for _, x := range []struct {
		what  string
		want  want
		body  string
		state string
		right bool
	}{
		{"asks", shipment, asks, "", true},
		{"asks with state", shipment, strings.Replace(asks, meta, `"requestState":"abc"`, 1), "abc", true},
		{"asks with state before the id", shipment, `{"result":{"requestState":"abc",` + asks[strings.Index(asks, `"resultType"`):len(asks)-1] + `,"jsonrpc":"2.0","id":100000001}`, "abc", true},
		{"asks with escaped state", shipment, strings.Replace(asks, meta, `"requestState":"a\u002fc"`, 1), "a/c", true},
		{"asks with white space", shipment, strings.ReplaceAll(asks, `":`, `" : `), "", true},
		{"ships", shipped, ships, "", true},

		{"another id", shipped, strings.Replace(ships, "100000001", "100000002", 1), "", false},
		{"another text", shipped, strings.Replace(ships, "1Z999", "1Z998", 1), "", false},
		{"another type", shipped, strings.Replace(ships, "complete", "input_required", 1), "", false},
		{"a tool error", shipped, strings.Replace(ships, `"resultType"`, `"isError":true,"resultType"`, 1), "", false},
		{"an error", shipped, `{"jsonrpc":"2.0","id":100000001,"error":{"code":-32602,"message":"no"}}`, "", false},
		{"ships rather than asks", shipment, ships, "", false},
		{"asks rather than ships", shipped, asks, "", false},
		{"another key", shipment, strings.Replace(asks, `"ship"`, `"shop"`, 1), "", false},
		{"another message", shipment, strings.Replace(asks, `this`, `that`, 1), "", false},
		{"another field", shipment, strings.Replace(asks, `trackingNumber`, `number`, 1), "", false},
		{"no form", shipment, strings.Replace(asks, `"form"`, `"url"`, 1), "", false},
		{"half of it", shipment, asks[:len(asks)/2], "", false},
	} {
		c := checker{want: x.want}
		for range 2 { // decoded, then recognised
			state, err := c.check([]byte(x.body), 100_000_001)
			if (err == nil) != x.right || x.right && string(state) != x.state {
				t.Errorf("%s: state %q, error %v", x.what, state, err)
			}
		}
		if !x.right && len(c.right) > 0 {
			t.Errorf("%s is remembered as right", x.what)
		}
	}
}

// What was found right once does not make right what differs from it.
func TestCheckRemembersNothingElse(t *testing.T) {
	c := checker{want: shipped}
	const right = `{"jsonrpc":"2.0","id":100000001,"result":{"resultType":"complete","content":[{"type":"text","text":"Shipped as 1Z999."}]}}`
	if _, err := c.check([]byte(right), 100_000_001); err != nil {
		t.Fatal(err)
	}
	if _, err := c.check([]byte(strings.Replace(right, "000001", "000002", 1)), 100_000_002); err != nil {
		t.Error(err)
	}
	if _, err := c.check([]byte(right), 100_000_002); err == nil {
		t.Error("the response to another request passes")
	}
	if _, err := c.check([]byte(strings.Replace(right, "1Z999", "1Z997", 1)), 100_000_001); err == nil {
		t.Error("another text passes")
	}
}
