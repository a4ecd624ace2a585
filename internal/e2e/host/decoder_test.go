package host

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// strict reports whether jsontext, in its strict mode, takes data for one JSON value that nests at most depth deep, and
// with names whether no object down to that of params._meta has a name twice. Deeper, two names are the tool's own matter.
func strict(data []byte, depth int, names bool) bool {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(false), jsontext.AllowDuplicateNames(true))
	var objects []map[string]bool // the names of those that are open, nil for an array
	var inside []string           // the name that each of them is in
	name := ""
	for {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		switch token.Kind() {
		case '{', '[':
			if d.StackDepth() > depth {
				return false
			}
			inside = append(inside, name)
			objects = append(objects, nil)
			if token.Kind() == '{' {
				objects[len(objects)-1] = map[string]bool{}
			}
		case '}', ']':
			objects, inside = objects[:len(objects)-1], inside[:len(inside)-1]
		}
		if kind, n := d.StackIndex(d.StackDepth()); d.StackDepth() > 0 && kind == '{' && n%2 == 1 && token.Kind() == '"' {
			name = token.String()
			top := len(objects) - 1
			looked := top == 0 || top == 1 && inside[1] == "params" || top == 2 && inside[1] == "params" && inside[2] == "_meta"
			if objects[top][strings.ToLower(name)] && names && looked {
				return false
			}
			objects[top][strings.ToLower(name)] = true
		}
		if d.StackDepth() == 0 { // one value, and white space
			_, err := d.ReadToken()
			return err == io.EOF
		}
	}
}

// FuzzDecoder compares what the host reads with what jsontext reads, an implementation of its own: what is JSON is the same for
// both, and a message that the host takes has the same members for jsontext.
func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		``, ` `, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ShipOrder","arguments":{"a":[1,2.5e3,"\ud83d\ude00"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":"é","method":"x","par\u0061ms":{"a":1,"b":{"c":null}}}`, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"A":2}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"k":1,"\u212a":2}}}`, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"k":1},"_META":{}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `"\ud800"`, ` [1,{"a":[]}] `, `{"a":1}{}`, `01`, "\"\x1f\"", strings.Repeat("[", 64) + strings.Repeat("]", 64),
		`{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"a string that is longer than eight bytes, with \\ and \" inside"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, e := wire.Read(body)
		if want := strict(body, 64, false); (e == nil) != want {
			t.Fatalf("%q: the host says %v, jsontext takes it: %v", body, e, want)
		}
		if e != nil {
			return
		}
		if e := m.Parse(); e != nil {
			return
		}
		if !strict(body, 64, true) {
			t.Fatalf("the host takes %q, which has a name twice", body)
		}
		if m.Response {
			return
		}
		envelope := members(t, body)
		compare(t, "method", []byte(m.Method), unquote(t, envelope["method"]))
		compare(t, "id", m.ID, envelope["id"])
		if m.Params == nil {
			return
		}
		compare(t, "params", m.Params, envelope["params"])
		params := members(t, m.Params)
		for name, value := range params {
			compare(t, name, m.Param(name), value)
		}
		if m.Meta == nil {
			return
		}
		meta := members(t, params["_meta"])
		if len(meta) != len(m.MetaMembers()) {
			t.Fatalf("%q: %d members of _meta, jsontext finds %d", body, len(m.MetaMembers()), len(meta))
		}
		for name, value := range meta {
			compare(t, name, m.MetaValue(name), value)
		}
	})
}

// members are the raw values of an object, as jsontext reads them.
func members(t *testing.T, object []byte) map[string][]byte {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		t.Fatalf("%q is no object: %v", object, err)
	}
	m := map[string][]byte{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		m[name] = bytes.Clone(value)
	}
	return m
}

func unquote(t *testing.T, v []byte) []byte {
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compare(t *testing.T, what string, got, want []byte) {
	if !bytes.Equal(bytes.TrimSpace(got), want) {
		t.Fatalf("%s is %q, jsontext reads %q", what, got, want)
	}
}
