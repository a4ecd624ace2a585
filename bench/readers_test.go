package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/elicit-go/elicit/internal/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// The readers of a request's body that were to choose from, over the bodies that the load generator sends, doing the same
// checks: one JSON value and nothing after it, valid UTF-8, at most 64 deep; envelope, params and _meta without members
// that come twice, in whatever case; id, jsonrpc and method as they must be. Each gives the parts that the host needs, in
// the bytes of the sender.
//
//	go test ./bench -run='^$' -bench=Readers

// message is what a reader gives: raw JSON, in the bytes of the body.
type message struct {
	id, method, name, arguments, responses, state, version []byte
}

type reader struct {
	name string
	read func(body []byte) (*message, error)
	full bool // makes all checks
}

var allReaders = []reader{
	{"internal/rawjson+wire", readWire, true},
	{"jsontext/tokens", readTokens, true},
	{"jsontext/values", readValues, false},         // ends at 10,000 deep
	{"encoding_json/tokens", readStdTokens, false}, // takes unpaired surrogates
	{"encoding_json/unmarshal", readStd, false},    // takes invalid UTF-8, unpaired surrogates, members that come twice
}

// bodies are real request bodies.
func bodies() map[string][]byte {
	state := strings.Repeat("c2VhbGVk", 60) // as long as the wizard's
	return map[string][]byte{
		"ask":        find("question").Steps[0].Body(100_000_001, 1, ""),
		"answer":     find("question").Steps[1].Body(100_000_002, 1, ""),
		"ten-fields": find("ten-fields").Steps[1].Body(100_000_003, 1, ""),
		"state":      find("wizard").Steps[2].Body(100_000_004, 1, state),
		"64KiB":      find("large").Steps[1].Body(100_000_005, 1, state),
	}
}

var bodyNames = []string{"ask", "answer", "ten-fields", "state", "64KiB"}

func readWire(body []byte) (*message, error) {
	m, e := wire.Read(body)
	if e != nil {
		return nil, e
	}
	defer m.Release()
	if e := m.Parse(); e != nil {
		return nil, e
	}
	return &message{m.ID, []byte(m.Method), m.Param("name"), m.Param("arguments"), m.Param("inputResponses"), m.Param("requestState"), m.Version()}, nil
}

var errWrong = errors.New("not a message")

// set takes a member of the objects that are looked into: 0 is the envelope, 1 params, 2 _meta.
func (m *message) set(object int, name, value []byte, rpc *[]byte) {
	switch object {
	case 0:
		switch string(name) {
		case "jsonrpc":
			*rpc = value
		case "id":
			m.id = value
		case "method":
			m.method = bytes.Trim(value, `"`)
		}
	case 1:
		switch string(name) {
		case "name":
			m.name = value
		case "arguments":
			m.arguments = value
		case "inputResponses":
			m.responses = value
		case "requestState":
			m.state = value
		}
	case 2:
		if string(name) == "io.modelcontextprotocol/protocolVersion" {
			m.version = value
		}
	}
}

func (m *message) check(rpc []byte) (*message, error) {
	if string(rpc) != `"2.0"` || len(m.method) == 0 || len(m.id) == 0 ||
		m.id[0] != '"' && (m.id[0] != '-' && (m.id[0] < '0' || m.id[0] > '9') || bytes.ContainsAny(m.id, ".eE")) {
		return nil, errWrong
	}
	return m, nil
}

// inner is the object that a member of another one is, if that is looked into.
func inner(object int, name []byte) int {
	switch {
	case object == 0 && string(name) == "params":
		return 1
	case object == 1 && string(name) == "_meta":
		return 2
	}
	return -1
}

// names are the member names of an object so far.
type names struct {
	few [12][]byte
	n   int
}

func (s *names) twice(name []byte) bool {
	for _, x := range s.few[:s.n] {
		if bytes.EqualFold(x, name) {
			return true
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
	}
	return false
}

var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// newDecoder is a decoder of a body, in place.
func newDecoder(body []byte) *jsontext.Decoder {
	d := decoders.Get().(*jsontext.Decoder)
	d.Reset(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true)) // names are compared by what reads them, case aside
	return d
}

// readName reads a member name.
func readName(d *jsontext.Decoder) ([]byte, error) {
	v, err := d.ReadValue()
	if err != nil || v.Kind() != '"' {
		return nil, errWrong
	}
	if bytes.IndexByte(v, '\\') >= 0 {
		return jsontext.AppendUnquote(nil, v)
	}
	return v[1 : len(v)-1], nil
}

// readTokens streams tokens through jsontext's decoder, which checks UTF-8 and surrogates.
func readTokens(body []byte) (*message, error) {
	d := newDecoder(body)
	defer decoders.Put(d)
	m, rpc := &message{}, []byte(nil)
	if err := tokensObject(d, body, m, 0, &rpc); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errWrong
	}
	return m.check(rpc)
}

func tokensObject(d *jsontext.Decoder, body []byte, m *message, object int, rpc *[]byte) error {
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return errWrong
	}
	var seen names
	for d.PeekKind() != '}' {
		name, err := readName(d)
		if err != nil {
			return err
		}
		if seen.twice(name) {
			return errWrong
		}
		if in := inner(object, name); in >= 0 && d.PeekKind() == '{' {
			if err := tokensObject(d, body, m, in, rpc); err != nil {
				return err
			}
			continue
		}
		d.PeekKind() // passes the colon
		start := d.InputOffset()
		depth := d.StackDepth()
		for {
			if _, err := d.ReadToken(); err != nil {
				return err
			}
			if d.StackDepth() == depth {
				break
			}
			if d.StackDepth() > 64 {
				return errWrong
			}
		}
		m.set(object, name, bytes.TrimLeft(body[start:d.InputOffset()], ": \t\r\n"), rpc)
	}
	_, err := d.ReadToken()
	return err
}

// readValues lets jsontext's decoder read whole values where nothing is looked into.
func readValues(body []byte) (*message, error) {
	d := newDecoder(body)
	defer decoders.Put(d)
	m, rpc := &message{}, []byte(nil)
	if err := valuesObject(d, m, 0, &rpc); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errWrong
	}
	return m.check(rpc)
}

func valuesObject(d *jsontext.Decoder, m *message, object int, rpc *[]byte) error {
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return errWrong
	}
	var seen names
	for d.PeekKind() != '}' {
		name, err := readName(d)
		if err != nil {
			return err
		}
		if seen.twice(name) {
			return errWrong
		}
		if in := inner(object, name); in >= 0 && d.PeekKind() == '{' {
			if err := valuesObject(d, m, in, rpc); err != nil {
				return err
			}
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		m.set(object, name, v, rpc)
	}
	_, err := d.ReadToken()
	return err
}

// readStdTokens streams tokens through encoding/json's decoder.
func readStdTokens(body []byte) (*message, error) {
	if !utf8.Valid(body) {
		return nil, errWrong
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	m, rpc := &message{}, []byte(nil)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errWrong
	}
	if err := stdObject(d, body, m, 0, &rpc); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errWrong
	}
	return m.check(rpc)
}

// stdObject reads the rest of an object.
func stdObject(d *json.Decoder, body []byte, m *message, object int, rpc *[]byte) error {
	var seen names
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := t.(string)
		name := []byte(text)
		if seen.twice(name) {
			return errWrong
		}
		start := d.InputOffset()
		t, err = d.Token()
		if err != nil {
			return err
		}
		if in := inner(object, name); in >= 0 && t == json.Delim('{') {
			if err := stdObject(d, body, m, in, rpc); err != nil {
				return err
			}
			continue
		}
		for depth := 0; ; {
			switch t {
			case json.Delim('{'), json.Delim('['):
				if depth++; depth+object+1 > 64 {
					return errWrong
				}
			case json.Delim('}'), json.Delim(']'):
				depth--
			}
			if depth == 0 {
				break
			}
			if t, err = d.Token(); err != nil {
				return err
			}
		}
		m.set(object, name, bytes.TrimLeft(body[start:d.InputOffset()], ": \t\r\n"), rpc)
	}
	_, err := d.Token()
	return err
}

// readStd decodes into structs, without the checks that encoding/json does not make.
func readStd(body []byte) (*message, error) {
	var r struct {
		JSONRPC json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  struct {
			Name           json.RawMessage `json:"name"`
			Arguments      json.RawMessage `json:"arguments"`
			InputResponses json.RawMessage `json:"inputResponses"`
			RequestState   json.RawMessage `json:"requestState"`
			Meta           struct {
				Version json.RawMessage `json:"io.modelcontextprotocol/protocolVersion"`
				Info    json.RawMessage `json:"io.modelcontextprotocol/clientInfo"`
				Caps    json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	p := &r.Params
	return (&message{r.ID, []byte(r.Method), p.Name, p.Arguments, p.InputResponses, p.RequestState, p.Meta.Version}).check(r.JSONRPC)
}

// All readers read the same, and those that make all checks refuse the same.
func TestReaders(t *testing.T) {
	for _, name := range bodyNames {
		body := bodies()[name]
		want, err := readWire(body)
		if err != nil || len(want.name) == 0 || string(want.version) != `"2026-07-28"` {
			t.Fatalf("%s: %+v, %v", name, want, err)
		}
		for _, r := range allReaders {
			got, err := r.read(body)
			if err != nil {
				t.Errorf("%s refuses %s: %v", r.name, name, err)
			} else if fmt.Sprintf("%s", got) != fmt.Sprintf("%s", want) {
				t.Errorf("%s reads %s as\n%s, not\n%s", r.name, name, got, want)
			}
		}
	}
	good := string(bodies()["answer"])
	for _, bad := range []struct{ what, old, new string }{
		{"bytes after it", "", "x"},
		{"a second value", "", "{}"},
		{"a member twice", `"method":`, `"method":"tools/list","method":`},
		{"a member twice, by case", `"params":{`, `"params":{"Name":"Other",`},
		{"a member of _meta twice", `"_meta":{`, `"_meta":{"IO.modelcontextprotocol/clientInfo":{},`},
		{"invalid UTF-8", "1Z999", "1Z\xff999"},
		{"too deep", `"arguments":{}`, `"arguments":{"a":` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + "}"},
		{"an unpaired surrogate", "1Z999", `\ud800`},
		{"an id that is no integer", `"id":100000002`, `"id":1.5`},
		{"an id that is null", `"id":100000002`, `"id":null`},
		{"another jsonrpc", `"2.0"`, `"1.0"`},
		{"a batch", good, "[" + good + "]"},
		{"half of it", good, good[:len(good)/2]},
	} {
		body := strings.Replace(good, bad.old, bad.new, 1)
		if bad.old == "" {
			body = good + bad.new
		}
		if body == good {
			t.Fatal(bad.what)
		}
		for _, r := range allReaders {
			if m, err := r.read([]byte(body)); r.full && err == nil {
				t.Errorf("%s takes a message with %s: %+v", r.name, bad.what, m)
			}
		}
	}
}

// BenchmarkReaders also reports the processor time, which other work on the machine disturbs less.
func BenchmarkReaders(b *testing.B) {
	for _, name := range bodyNames {
		body := bodies()[name]
		for _, r := range allReaders {
			b.Run(fmt.Sprintf("%s/%s", name, r.name), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				before := processTime(b)
				for b.Loop() {
					if _, err := r.read(body); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(processTime(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// processTime is the processor time of this process, in nanoseconds.
func processTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
