package answer

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Whatever a server sends, what the keeper passes on is the same message but for what it adds, and it never panics.
func FuzzKeeper(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"z":9007199254740993},"_meta":{"a":1}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}},"r":{"method":"roots/list"}}}}`,
		`{"result":{"resultType":"complete"}}`, `{"result":{"resultType":1,"inputRequests":[]}}`, `{"result":[]}`, `{"result":{},"result":{"resultType":"x","inputRequests":{}}}`,
		`{"method":"elicitation/create"}`, `{"method":"elicitation/create","params":{"_meta":7,"_meta":{}}}`, `[]`, `{`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		k := &keeper{server: "http://localhost/"}
		in := bytes.Clone(msg)
		out := k.message(msg, nil, "")
		if !bytes.Equal(msg, in) {
			t.Fatalf("%q became %q", in, msg)
		}
		c := &call{}
		withCall := k.message(msg, c, "7")
		if rawjson.Check(msg, maxDepth) != nil {
			if !bytes.Equal(out, msg) || !bytes.Equal(withCall, msg) || c.take() != nil {
				t.Fatalf("%q became %q", msg, out)
			}
			return
		}
		if err := rawjson.Check(out, 2*maxDepth); err != nil {
			t.Fatalf("%q became %q: %v", msg, out, err)
		}
		if err := rawjson.Check(withCall, 2*maxDepth); err != nil {
			t.Fatalf("%q became %q: %v", msg, withCall, err)
		}
		if raw := c.take(); raw != nil {
			_, _ = readReply(raw, "T")
		}
	})
}

func TestKeptIsTakenOutAgain(t *testing.T) {
	k := &keeper{server: "http://localhost/"}
	const schema = `{"type":"object","properties":{"z":{"type":"integer","default":9007199254740993},"a":{"type":"string"}}}`
	raw := k.params([]byte(`{"message":"m","_meta":{"own":1},"requestedSchema":`+schema+`}`), "key", "7")
	var p mcp.ElicitParams
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	got, note, ok := takeKept(&p)
	if want := (kept{Call: "7", Key: "key", Server: "http://localhost/", Schema: schema}); !ok || note != want {
		t.Errorf("%t %+v", ok, note)
	}
	if !reflect.DeepEqual(got.Meta, mcp.Meta{"own": 1.0}) || len(p.Meta) != 2 {
		t.Errorf("%v, %v", got.Meta, p.Meta)
	}
	// What a server puts there itself is its own affair.
	p.Meta = mcp.Meta{"io.github.elicit-go/kept": map[string]any{"server": "http://trusted.example.com/"}}
	if _, note, ok := takeKept(&p); ok || note != (kept{}) {
		t.Errorf("forged: %+v", note)
	}
}

func TestEventReader(t *testing.T) {
	in := ": comment\n\nevent: message\r\nid: 1\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nevent: other\ndata: x\n\ndata:\nretry: 5\n\ndata: b\n\ndata: cut"
	want := ": comment\n\nevent: message\r\nid: 1\r\ndata: <{\"a\":\ndata: 1}>\n\nevent: other\ndata: x\n\ndata:\nretry: 5\n\ndata: <b>\n\ndata: cut"
	for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytewise": iotest.OneByteReader} {
		r := &eventReader{body: io.NopCloser(nil), src: newLineReader(wrap(strings.NewReader(in)), 1000), pass: func(d []byte) []byte { return []byte("<" + string(d) + ">") }}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %q\nwant %q", name, err, got, want)
		}
	}
	for _, long := range []string{"data: " + strings.Repeat("x", 200) + "\n\n", strings.Repeat("data: x\n", 30) + "\n"} {
		r := &eventReader{body: io.NopCloser(nil), src: newLineReader(strings.NewReader(long), 100), pass: func(d []byte) []byte { return d }}
		if _, err := io.ReadAll(r); err == nil || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%v", err)
		}
	}
}

func TestGoNumber(t *testing.T) {
	for in, want := range map[json.Number]any{
		"9007199254740993": int64(9007199254740993), "18446744073709551615": uint64(18446744073709551615), "0.5": 0.5, "1e2": 100.0,
		"123456789012345678901234567891": json.Number("123456789012345678901234567891"), "1e-999999999": json.Number("1e-999999999"), "1e999": json.Number("1e999"),
	} {
		if got := goNumber(in); got != want {
			t.Errorf("%s: %T %v, want %T %v", in, got, got, want, want)
		}
	}
}
