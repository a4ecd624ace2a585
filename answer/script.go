package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/elicit-go/elicit/internal/rawjson"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Script answers by a plan made beforehand: for each key what to do. An answer goes only to the key it was written for;
// a question without one is a [*MissingError]. The key "" answers the questions that older servers ask without a key.
//
//	answer.Script{
//		"ship":    answer.Accept(answer.Values{"trackingNumber": "1Z999"}),
//		"upgrade": answer.Decline(),
//	}
//
// [ParseScript] reads one from JSON, [Flags] from a command line. A Script is not changed by answering and may be
// shared.
type Script map[string]Reply

// A Reply is what a [Script] says to one question. The zero value accepts without values.
type Reply struct {
	Action string // ActionAccept, ActionDecline, ActionCancel; empty is ActionAccept
	Values Values // by field; of an accepting reply
	// Again are the replies to the second and later askings of the same key in one call. After the last of them the script
	// has nothing else to say.
	Again []Reply
}

// Values are values by field name: strings, numbers of every Go type, bool, []string, json.Number and json.RawMessage
// (both go out by their literal text, so 2^53+1 stays itself), or [Text].
type Values map[string]any

// Text is a value given as text, from a flag for instance. The field's type decides what it becomes (see
// [Field.Parse]); several texts make a list. A single empty text leaves an optional field out.
type Text []string

// Accept is a [Reply] that accepts with these values. Fields it does not name take the default the server offers;
// optional ones without a default stay out; a required one without is a [*MissingError].
func Accept(v Values) Reply { return Reply{Action: ActionAccept, Values: v} }

// Decline is a [Reply] that says no.
func Decline() Reply { return Reply{Action: ActionDecline} }

// Cancel is a [Reply] that goes away without choosing.
func Cancel() Reply { return Reply{Action: ActionCancel} }

// ParseScript reads a [Script] from JSON: an object with a member for each key, whose value is an object of values by
// field, or one of "accept", "decline" and "cancel":
//
//	{"ship": {"trackingNumber": "1Z999", "parcels": 2}, "upgrade": "decline"}
//
// A list of these answers one asking after another of the same key: {"ship": [{"trackingNumber": "1"}, "decline"]}.
// Numbers keep their literal text. The error names the key at fault; a key or field that is there twice is one.
func ParseScript(data []byte) (Script, error) {
	if err := rawjson.Check(data, rawjson.MaxDepth); err != nil {
		return nil, fmt.Errorf("answers: not JSON: %w", err)
	}
	if rawjson.Kind(data) != '{' {
		return nil, errors.New(`answers: not an object such as {"key": {"field": "value"}}`)
	}
	if key, dup := rawjson.Duplicate(data, false); dup {
		return nil, fmt.Errorf("answers: the key %q is there twice", key)
	}
	script := Script{}
	for name, value := range rawjson.Members(data) {
		key, _ := rawjson.String(name)
		if rawjson.Kind(value) != '[' {
			reply, err := parseReply(key, value)
			if err != nil {
				return nil, err
			}
			script[key] = reply
			continue
		}
		var all []Reply
		for e := range rawjson.Elements(value) {
			reply, err := parseReply(key, e)
			if err != nil {
				return nil, err
			}
			all = append(all, reply)
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("answers: the list of %q is empty", key)
		}
		all[0].Again = all[1:]
		script[key] = all[0]
	}
	return script, nil
}

// parseReply reads what is said to one asking.
func parseReply(key string, value []byte) (Reply, error) {
	if action, ok := rawjson.String(value); ok && isAction(action) {
		return Reply{Action: action}, nil
	}
	if rawjson.Kind(value) != '{' {
		return Reply{}, fmt.Errorf(`answers: the value of %q is neither an object of fields nor "accept", "decline" or "cancel"`, key)
	}
	if field, dup := rawjson.Duplicate(value, false); dup {
		return Reply{}, fmt.Errorf("answers: the key %q has the field %q twice", key, field)
	}
	values := Values{}
	for name, v := range rawjson.Members(value) {
		field, _ := rawjson.String(name)
		values[field] = json.RawMessage(bytes.Clone(v))
	}
	return Accept(values), nil
}

func isAction(s string) bool {
	return s == ActionAccept || s == ActionDecline || s == ActionCancel
}

// Answer implements [Answerer]. Errors are a [*MissingError], a [*ValueError], or a [*RepeatedError] when the server asks
// a second time and would get the same values again.
func (s Script) Answer(_ context.Context, r *Request) (*mcp.ElicitResult, error) {
	reply, known := s[r.Key]
	if n := r.Time - 2; known && n >= 0 && n < len(reply.Again) {
		reply = reply.Again[n]
	}
	switch {
	case known && reply.Action != "" && !isAction(reply.Action):
		return nil, fmt.Errorf("the script's action %q for %s is none of %s", reply.Action, question(r.Key), quoted([]string{ActionAccept, ActionDecline, ActionCancel}))
	case known && (reply.Action == ActionDecline || reply.Action == ActionCancel):
		return &mcp.ElicitResult{Action: reply.Action}, nil
	case r.Params.Mode == "url":
		if !known {
			return nil, &MissingError{Key: r.Key, Message: r.Params.Message}
		}
		return nil, fmt.Errorf("%s asks to open a page, which a script cannot", question(r.Key))
	}
	fields, err := r.Fields()
	if err != nil {
		return nil, err
	}
	content, err := reply.content(r, fields, known)
	if err != nil {
		return nil, err
	}
	if err := r.check(content); err != nil {
		return nil, err
	}
	if p := r.Previous; p != nil && p.Action == ActionAccept && same(p.Content, content) {
		return nil, &RepeatedError{Key: r.Key, Message: r.Params.Message}
	}
	return &mcp.ElicitResult{Action: ActionAccept, Content: content}, nil
}

// check validates content against the form, as clients should (specification: client/elicitation, Form Mode Security). A
// schema that [form.Parse] cannot read is left to the server.
func (r *Request) check(content map[string]any) error {
	f, err := r.Form()
	if err != nil {
		return nil
	}
	data, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("the answer cannot be sent: %w", err)
	}
	for _, problem := range f.Validate(data) {
		for name, p := range f.Fields() {
			unbounded := problem.Rule == "minimum" && p.Min == "" || problem.Rule == "maximum" && p.Max == ""
			if name == problem.Field && !unbounded { // A limit of what form computes with is none of the server's.
				return &ValueError{Key: r.Key, Field: problem.Field, Reason: problem.Requirement, Given: content}
			}
		}
	}
	return nil
}

// content is what an accepting reply fills into the form. Without consent (known), the fields that lack a value are
// reported and nothing is taken from defaults.
func (reply Reply) content(r *Request, fields []Field, known bool) (map[string]any, error) {
	content := map[string]any{}
	missing := &MissingError{Key: r.Key, Given: content, Message: r.Params.Message}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
		v, given, err := f.value(reply.Values[f.Name])
		switch {
		case err != nil:
			return nil, &ValueError{Key: r.Key, Field: f.Name, Reason: err.Error()}
		case given && v != nil:
			content[f.Name] = v
		case given: // Left out on purpose.
		case known && f.Default != nil:
			content[f.Name] = f.Default
		case f.Required || !known:
			missing.Fields = append(missing.Fields, f.Name)
			if f.Required && f.Default == nil {
				missing.Required = append(missing.Required, f.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reply.Values)) {
		if !slices.Contains(names, name) {
			reason := "the form has no field of this name"
			if len(names) > 0 {
				reason += "; it has " + quoted(names)
			}
			return nil, &ValueError{Key: r.Key, Field: name, Reason: reason}
		}
	}
	if !known || len(missing.Fields) > 0 {
		return nil, missing
	}
	return content, nil
}

// value is v as it goes into the content; nil with true when v leaves the field out.
func (f *Field) value(v any) (any, bool, error) {
	switch v := v.(type) {
	case nil:
		return nil, false, nil
	case Text:
		if len(v) == 1 && v[0] == "" && !f.Required {
			return nil, true, nil
		}
		parsed, err := f.Parse(v...)
		return parsed, true, err
	case json.RawMessage:
		if rawjson.Kind(v) == 'n' { // null means absent.
			return nil, !f.Required, nil
		}
	}
	return v, true, f.check(v)
}

// same compares contents by what they are on the wire.
func same(a, b map[string]any) bool {
	if len(a) == 0 && len(b) == 0 {
		return true
	}
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err1 != nil || err2 != nil {
		return reflect.DeepEqual(a, b)
	}
	return bytes.Equal(x, y)
}
