package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/elicit-go/elicit/internal/sensitive"
	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Question is a key and what is asked: a form, a page to open, or one of the deprecated sampling and roots requests. It is immutable,
// safe for concurrent use, and usually a package variable, so that its key is written once. The methods that change a
// question return a copy.
//
// Making a question never fails. What is wrong with it is reported by Err and by whatever uses it first: [Asks] makes
// [AddTool] panic, as mcp.AddTool does for a bad schema, and Require returns the error.
type Question[T any] struct {
	ask
	settle  func(*Question[T], Action, []byte) (Answer[T], []byte, []form.Problem)
	encode  func(T) (mcp.InputResponse, error)
	confirm bool
}

// AnyQuestion is a question of any type.
type AnyQuestion interface {
	Key() string
	Err() error
	declared() tool.Question
}

// kind is what a question asks for: a form, or the method of another request.
type kind string

const (
	formKind     kind = "form"
	samplingKind kind = "sampling/createMessage"
	rootsKind    kind = "roots/list"
)

// ask is a question as the rounds see it, without its type.
type ask struct {
	kind         kind
	key, message string
	schema       json.RawMessage
	request      mcp.InputRequest                           // for sampling and roots
	bound        bool                                       // its answer always needs proof (DESIGN 4.3)
	digest       state.Digest                               // of the final words; set by sealed
	wire         json.RawMessage                            // {"method":…,"params":…}; set by sealed
	hints        func(content []byte) json.RawMessage       // the schema with valid values as defaults
	legacy       func() (schema json.RawMessage, err error) // the schema in the shape of 2025-06-18
	url          tool.URL                                   // of a question that sends people to a page
	runtime      bool                                       // the message was made at run time
	words        error                                      // what is wrong with the message; set by sealed
	err          error
}

// NewQuestion asks for the fields of struct T; see [form.For].
func NewQuestion[T any](key, message string) *Question[T] {
	return NewFormQuestion(key, message, form.For[T]())
}

// NewFormQuestion asks with a form made by [form.New], [form.For] or [form.Build].
//
// Forms must not ask for passwords, keys, tokens or payment credentials (MCP 2026-07-28, client/elicitation). The answer to
// a form that has no fields, or only booleans, always needs proof, as that of [Confirm]: it is consent.
func NewFormQuestion[T any](key, message string, f *form.Form[T]) *Question[T] {
	q := &Question[T]{ask: formAsk(key, message, f)}
	q.bound = consentOnly(f)
	q.settle = func(q *Question[T], a Action, content []byte) (Answer[T], []byte, []form.Problem) {
		if a != Accept {
			return Answer[T]{key: q.key, action: a}, nil, nil
		}
		d, problems := f.Decode(content)
		if len(problems) > 0 {
			return Answer[T]{}, nil, problems
		}
		return Answer[T]{key: q.key, action: Accept, value: d.Value, given: d.Given}, d.Content(), nil
	}
	q.encode = func(v T) (mcp.InputResponse, error) { return accept(f.Encode(v)) }
	return q.sealed()
}

// consentOnly reports whether a form asks for nothing but a yes: it has no fields, or only boxes to tick.
func consentOnly[T any](f *form.Form[T]) bool {
	for _, p := range f.Fields() {
		if p.Type != "boolean" {
			return false
		}
	}
	return true
}

func formAsk[T any](key, message string, f *form.Form[T]) ask {
	err := f.Err()
	for name, p := range f.Fields() {
		if p.Hidden {
			err = fmt.Errorf("the value of its field %q is hidden, so it must not go through a form (MCP 2026-07-28, client/elicitation, Form Mode Security): ask for it on a page, with page.Secret", name)
		}
	}
	return ask{kind: formKind, key: key, message: message, schema: f.Schema(), err: err, hints: f.SchemaWithDefaults, legacy: f.LegacySchema}
}

// accept is the result of a client that accepts with content.
func accept(content json.RawMessage, err error) (mcp.InputResponse, error) {
	if err != nil {
		return nil, err
	}
	r := &mcp.ElicitResult{Action: string(Accept)}
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if err := d.Decode(&r.Content); err != nil {
		return nil, err
	}
	for k, v := range r.Content {
		r.Content[k] = goNumber(v)
	}
	return r, nil
}

// goNumber is a number with all its digits, if a Go type has them, in a type that the SDK's client takes for one.
func goNumber(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u
	}
	f, _ := n.Float64()
	return f
}

// Confirm asks for a yes, as a form without fields: the buttons are the answer. Accepted, Value is true; declined or
// cancelled, it is false, and Err a *RefusedError. Its answer always needs proof that it answers this question of this call.
func Confirm(key, message string) *Question[bool] {
	q := &Question[bool]{ask: formAsk(key, message, form.New()), confirm: true}
	q.bound = true
	q.settle = func(q *Question[bool], a Action, _ []byte) (Answer[bool], []byte, []form.Problem) {
		return Answer[bool]{key: q.key, action: a, value: a == Accept}, nil, nil
	}
	q.encode = func(yes bool) (mcp.InputResponse, error) {
		if !yes {
			return &mcp.ElicitResult{Action: string(Decline)}, nil
		}
		return accept([]byte(`{}`), nil)
	}
	return q.sealed()
}

// WithCheckbox gives a question of [Confirm] one required box, named confirm, that the user must tick. Sent unticked, it
// counts as declined. It has no default.
func (q *Question[T]) WithCheckbox(label string) *Question[T] {
	c := *q
	b, ok := any(&c).(*Question[bool])
	if !ok || !q.confirm {
		c.err = errors.New("WithCheckbox is for questions of Confirm")
		return &c
	}
	box := form.Bool("confirm").Title(label).Required()
	f := form.New(box)
	b.ask = formAsk(q.key, q.message, f)
	b.bound, b.runtime = true, q.runtime
	b.settle = func(q *Question[bool], a Action, content []byte) (Answer[bool], []byte, []form.Problem) {
		if a != Accept {
			return Answer[bool]{key: q.key, action: a}, nil, nil
		}
		d, problems := f.Decode(content)
		if len(problems) > 0 {
			return Answer[bool]{}, nil, problems
		}
		if !box.In(d.Value) {
			return Answer[bool]{key: q.key, action: Decline}, nil, nil
		}
		return Answer[bool]{key: q.key, action: Accept, value: true, given: d.Given}, d.Content(), nil
	}
	b.encode = func(yes bool) (mcp.InputResponse, error) {
		return accept(json.RawMessage(fmt.Sprintf(`{"confirm":%t}`, yes)), nil)
	}
	b.sealed()
	return &c
}

// Choose asks for one of options, in the field "choice". Its answer always needs proof, as that of [Confirm].
func Choose[V ~string](key, message string, options ...form.Option[V]) *Question[V] {
	q := scalar(key, message, "choice", form.Choice("choice", options...).Required())
	q.bound = true
	return q
}

// Input asks for a line of text, which must not be empty, in the field "input".
func Input(key, message string) *Question[string] {
	return scalar(key, message, "input", form.String("input").Title("Answer").MinLength(1).Required())
}

// scalar is a question whose form has one field, and whose value is that field's.
func scalar[S any](key, message, name string, field interface {
	form.Field
	In(form.Values) S
}) *Question[S] {
	f := form.New(field)
	q := &Question[S]{ask: formAsk(key, message, f)}
	q.settle = func(q *Question[S], a Action, content []byte) (Answer[S], []byte, []form.Problem) {
		if a != Accept {
			return Answer[S]{key: q.key, action: a}, nil, nil
		}
		d, problems := f.Decode(content)
		if len(problems) > 0 {
			return Answer[S]{}, nil, problems
		}
		return Answer[S]{key: q.key, action: Accept, value: field.In(d.Value), given: d.Given}, d.Content(), nil
	}
	q.encode = func(v S) (mcp.InputResponse, error) { return accept(json.Marshal(map[string]S{name: v})) }
	return q.sealed()
}

// Key names the question within its call.
func (q *Question[T]) Key() string { return q.key }

// Err is what is wrong with the question, naming the key and the field, or nil.
func (q *Question[T]) Err() error {
	if err := q.keyErr(); err != nil {
		return err
	}
	if q.words != nil {
		return misuse("question %q: %v", q.key, q.words)
	}
	if q.err != nil {
		return misuse("question %q: %v", q.key, q.err)
	}
	return nil
}

const maxKey = 128

func (q *ask) keyErr() error {
	switch {
	case q.key == "":
		return misuse("a question (%q) has no key: give it a short name that is unique within its call, such as \"ship\"", q.message)
	case len(q.key) > maxKey:
		return misuse("question %.40q…: the key has %d bytes; at most %d are allowed", q.key, len(q.key), maxKey)
	case strings.Contains(q.key, "#"):
		return misuse("question %q: a key cannot contain #, which marks repeated askings", q.key)
	case strings.ContainsFunc(q.key, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }):
		return misuse("question %q: a key cannot contain control characters or bytes that are not UTF-8", q.key)
	}
	return nil
}

func (q *ask) messageErr() error {
	if q.kind != formKind && q.kind != urlKind {
		return nil
	}
	if strings.TrimSpace(q.message) == "" {
		return errors.New("it has no message: say what is asked, and why")
	}
	if q.runtime {
		return nil
	}
	if url := sensitive.URL(q.message); url != "" {
		return fmt.Errorf("its message contains the URL %s; a message must not lead people to links (MCP 2026-07-28, client/elicitation, Safe URL Handling)", url)
	}
	if word := sensitive.InText(q.message); word != "" && q.kind == formKind {
		return fmt.Errorf("its message seems to ask for a credential (%q), which a form must not (MCP 2026-07-28, client/elicitation, Form Mode Security); ask on a page (page.Secret), or, if it does not, say it in other words, or with WithMessagef", word)
	}
	return nil
}

// WithMessagef is the same question in the words of this call. An answer counts for exactly these words: words that
// differ in every round (a clock, a random number) are asked until [Options.MaxAttempts] ends it.
func (q *Question[T]) WithMessagef(format string, args ...any) *Question[T] {
	c := *q
	c.message, c.runtime = fmt.Sprintf(format, args...), true
	return c.sealed()
}

// WithKey is the same question about another thing in the same call: WithKey("delete:" + id).
func (q *Question[T]) WithKey(key string) *Question[T] {
	c := *q
	c.key = key
	return &c
}

// Bound makes the answer need proof that it answers this question of this call, always: the first asking then carries a
// requestState, and [CallID] is constant over the rounds. Without it, a question that is declared with [Asks] is taken at
// its word in a call without arguments, as nothing could be moved from or to it.
func (q *Question[T]) Bound() *Question[T] {
	c := *q
	c.bound = true
	return &c
}

func (q *Question[T]) declared() tool.Question {
	return tool.Question{Key: q.key, Digest: q.digest, Err: q.Err(), URL: q.url != nil, Page: q.url}
}

// sealed cleans and checks the words, and computes their digest and their encoding. It changes q, which nobody else has yet.
func (q *Question[T]) sealed() *Question[T] {
	q.message = tool.CleanText(q.message)
	q.words = q.messageErr()
	switch q.kind {
	case formKind:
		q.digest = state.DigestOf(string(q.kind), q.message, string(q.schema))
		q.wire = encodeForm(q.message, q.schema)
	case urlKind:
		q.digest = q.digestURL()
	default:
		b, err := json.Marshal(q.request)
		if err != nil {
			q.err = err
		}
		q.digest = state.DigestOf(string(q.kind), string(b))
		q.wire = fmt.Appendf(nil, `{"method":%q,"params":%s}`, string(q.kind), b)
	}
	return q
}

func encodeForm(message string, schema json.RawMessage) json.RawMessage {
	b := append([]byte(nil), `{"method":"elicitation/create","params":{"mode":"form","message":`...)
	b = rawjson.AppendString(b, message)
	b = append(b, `,"requestedSchema":`...)
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return append(append(b, schema...), "}}"...)
}
