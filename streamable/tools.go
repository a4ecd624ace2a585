package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/wire"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolSet is what is known of a server's tools: which there are, and which of their arguments are repeated in headers
// (streamable-http, "Custom Headers from Tool Parameters").
type toolSet struct {
	tools   map[string]*knownTool
	follows bool // the server tells of changes
	listed  time.Time
}

type knownTool struct {
	request  wire.Custom
	bindings []binding
}

// binding is an argument, by its path, and the header that repeats it.
type binding struct {
	path   []string
	header string // canonical
}

func newToolSet(list []*mcp.Tool, follows bool) *toolSet {
	s := &toolSet{tools: make(map[string]*knownTool, len(list)), follows: follows, listed: time.Now()}
	for _, t := range list {
		if t == nil {
			continue
		}
		k := &knownTool{request: toolRequest(t.Name)}
		if annotated(t.InputSchema) {
			raw, err := json.Marshal(t.InputSchema)
			if err != nil {
				continue
			}
			k.bindings = bindings(nil, nil, raw)
		}
		s.tools[t.Name] = k
	}
	return s
}

// annotation says in a property's schema which header repeats it.
const annotation = "x-mcp-header"

// annotated reports whether a schema, of whatever type a tool may have, can have annotations. Encoding all schemas of a
// server takes seconds where there are ten thousand.
func annotated(schema any) bool {
	switch s := schema.(type) {
	case nil:
		return false
	case *jsonschema.Schema:
		if s == nil {
			return false
		}
		if _, ok := s.Extra[annotation]; ok {
			return true
		}
		for _, p := range s.Properties {
			if annotated(p) {
				return true
			}
		}
		return false
	case json.RawMessage:
		return bytes.Contains(s, []byte("x-mcp-")) || bytes.IndexByte(s, '\\') >= 0 // the name may be escaped
	}
	return true
}

// bindings walks the properties of a schema, which are the only place for annotations.
func bindings(b []binding, path []string, schema []byte) []binding {
	properties, _ := rawjson.Get(schema, "properties")
	for name, property := range rawjson.Members(properties) {
		n, ok := rawjson.String(name)
		if !ok {
			continue
		}
		p := append(path[:len(path):len(path)], n)
		raw, _ := rawjson.Get(property, annotation)
		if h, ok := rawjson.String(raw); ok && h != "" {
			b = append(b, binding{p, http.CanonicalHeaderKey("Mcp-Param-" + h)})
		}
		b = bindings(b, p, property)
	}
	return b
}

// staleAfter is how long a list is believed of a server that does not tell of changes.
const staleAfter = time.Second

// known is the tool of that name, a JSON string, or nil.
func (p *place) known(name json.RawMessage) *knownTool {
	s := p.tools.Load()
	if s == nil {
		return nil
	}
	if !s.follows && time.Since(s.listed) > staleAfter {
		if w := p.watcher.Load(); w != nil {
			w.Refresh()
		}
		if time.Since(s.listed) > 10*staleAfter {
			return nil
		}
	}
	return s.find(name)
}

func (s *toolSet) find(name json.RawMessage) *knownTool {
	n, _ := rawjson.Unquoted(nil, name)
	return s.tools[string(n)]
}

func hasParamHeaders(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Mcp-Param-") {
			return true
		}
	}
	return false
}

// listed is a tool of a server that is not watched, for a call with headers that may repeat arguments.
func listed(server *mcp.Server, name json.RawMessage) *knownTool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	session, err := server.Connect(ctx, &wire.Quiet{}, nil)
	if err != nil {
		return nil
	}
	defer session.Close()
	tools, err := wire.ListTools(ctx, server, session)
	if err != nil {
		return nil
	}
	return newToolSet(tools, false).find(name)
}

// checkParamHeaders compares the headers that repeat arguments with the arguments.
func checkParamHeaders(r *http.Request, arguments json.RawMessage, bs []binding) *wire.Error {
	for _, b := range bs {
		headers := r.Header[b.header]
		argument := strings.Join(b.path, ".")
		value := arguments
		for _, name := range b.path {
			var twice bool
			if value, twice = member(value, name); twice {
				return mismatch("the argument %q, which the %s header repeats, is there twice", argument, b.header)
			}
		}
		if k := rawjson.Kind(value); k == 0 || k == 'n' {
			if len(headers) > 0 {
				return mismatch("the request has a %s header, but no argument %q", b.header, argument)
			}
			continue
		}
		switch len(headers) {
		case 0:
			return mismatch("the request has no %s header, which repeats the argument %q", b.header, argument)
		case 1:
		default:
			return mismatch("the request has %d %s headers", len(headers), b.header)
		}
		v := strings.Trim(headers[0], " \t")
		if e := checkValue(b.header, v); e != nil {
			return e
		}
		v, e := decodeSentinel(b.header, v)
		if e != nil {
			return e
		}
		if !repeats(v, value) {
			return mismatch("the %s header is %q, which is not the argument %q", b.header, v, argument)
		}
	}
	return nil
}

// member is a member of an object, nil if there is none, and whether there are several: then readers differ in which counts.
func member(object json.RawMessage, name string) (value json.RawMessage, twice bool) {
	for n, v := range rawjson.Members(object) {
		if rawjson.NameIs(n, name) {
			if value != nil {
				return nil, true
			}
			value = v
		}
	}
	return value, false
}

// repeats reports whether a header's value says the same as an argument: integers are compared as numbers, within what
// JavaScript holds exactly.
func repeats(header string, value json.RawMessage) bool {
	switch rawjson.Kind(value) {
	case '"':
		s, ok := rawjson.String(value)
		return ok && s == header
	case 't', 'f':
		return string(value) == header
	case '0':
		a, ok := safeInteger(header)
		b, ok2 := safeInteger(string(value))
		if f, err := strconv.ParseFloat(string(value), 64); !ok2 && err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			b, ok2 = int64(f), true // 1e2
		}
		return ok && ok2 && a == b
	}
	return false
}

func safeInteger(s string) (int64, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if strings.Contains(s, ".") && (fraction == "" || strings.Trim(fraction, "0") != "") || strings.HasPrefix(s, "+") {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	return n, err == nil && n >= -(1<<53-1) && n <= 1<<53-1
}

// place is what a handler has of one server.
type place struct {
	info     wire.Info
	uses     atomic.Int64
	watching sync.Once
	watcher  atomic.Pointer[wire.Watcher]
	server   *mcp.Server // set before tools is
	tools    atomic.Pointer[toolSet]
	sessions sessionCache
}
