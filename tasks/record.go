package tasks

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A record is what a row holds of its task: a head that stays as it is, in plain text, and three sealed fields. Each is
// sealed for its place (the id, the head with the principal, the name of the field), so that it opens nowhere else.
type record struct {
	id   string
	ring *state.Ring
	head []byte // JSON of call
	call head

	arguments, work, end []byte // sealed; work is nil when the task has ended, end before
}

// head is whose call it is, and of what.
type head struct {
	Tool    string `json:"tool"`
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject,omitempty"`
	Client  string `json:"client,omitempty"`

	// What the token said, without the token.
	User   string   `json:"user,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
	Token  bool     `json:"token,omitempty"` // there was one

	Remote bool `json:"remote,omitempty"` // an anonymous call that may have come from another machine

	Version      string          `json:"version"` // protocol revision
	ClientInfo   json.RawMessage `json:"clientInfo,omitempty"`
	Capabilities json.RawMessage `json:"capabilities"`
	CallID       string          `json:"callId"`
}

func (h *head) principal() tool.Principal {
	return tool.Principal{Issuer: h.Issuer, Subject: h.Subject, Client: h.Client}
}

// work is what changes while a task is not finished.
type work struct {
	State   []byte                     `json:"state,omitempty"`  // state.State
	Issued  map[string]int             `json:"issued,omitempty"` // how often each key was asked
	Open    []openAsk                  `json:"open,omitempty"`   // what the client has not answered
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
	Message string                     `json:"message,omitempty"`
	Woken   bool                       `json:"woken,omitempty"`   // while a run had the row
	Waits   int                        `json:"waits,omitempty"`   // how many runs in a row ended by waiting
	Missing int                        `json:"missing,omitempty"` // …or found no such tool
}

// openAsk is a question that waits for its answer.
type openAsk struct {
	Wire    string          `json:"wire"` // its key on the wire
	Key     string          `json:"key"`
	Request json.RawMessage `json:"request"`
}

// ending is how a task ended.
type ending struct {
	Message string          `json:"message,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

const recordVersion = 1

var errRecord = errors.New("tasks: the record of a row is not one of this version")

func (r *record) encode() []byte {
	b := make([]byte, 0, 1+4*binary.MaxVarintLen32+len(r.head)+len(r.arguments)+len(r.work)+len(r.end))
	b = append(b, recordVersion)
	for _, f := range [][]byte{r.head, r.arguments, r.work, r.end} {
		b = append(binary.AppendUvarint(b, uint64(len(f))), f...)
	}
	return b
}

func (e *Engine) decode(row Row) (*record, error) {
	r := &record{id: row.ID, ring: e.shop.Ring}
	b := row.Record
	if len(b) == 0 || b[0] != recordVersion {
		return nil, errRecord
	}
	b = b[1:]
	for _, f := range []*[]byte{&r.head, &r.arguments, &r.work, &r.end} {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return nil, errRecord
		}
		b = b[used:]
		*f, b = b[:n:n], b[n:]
	}
	if len(b) > 0 || json.Unmarshal(r.head, &r.call) != nil {
		return nil, errRecord
	}
	return r, nil
}

// place is where a field is sealed for.
func (r *record) place(field string) state.Digest {
	return state.DigestOf(r.id, string(r.head), field)
}

func (r *record) seal(field string, plain []byte) ([]byte, error) {
	return r.ring.SealAt(state.TaskPurpose, r.place(field), plain)
}

func (r *record) open(field string, sealed []byte) ([]byte, error) {
	plain, err := r.ring.OpenAt(state.TaskPurpose, r.place(field), sealed)
	if err != nil {
		return nil, fmt.Errorf("tasks: %s of a task does not open: %w", field, err)
	}
	return plain, nil
}

func (r *record) openWork() (*work, error) {
	w := &work{}
	if len(r.work) == 0 {
		return w, nil
	}
	return w, r.openJSON("answers", r.work, w)
}

func (r *record) sealWork(w *work) (err error) {
	r.work, err = r.sealJSON("answers", w)
	return err
}

func (r *record) openEnd() (*ending, error) {
	x := &ending{}
	if len(r.end) == 0 {
		return x, nil
	}
	return x, r.openJSON("result", r.end, x)
}

// finish leaves nothing of a task but how it ended.
func (r *record) finish(x *ending) (err error) {
	r.arguments, r.work = nil, nil
	r.end, err = r.sealJSON("result", x)
	return err
}

func (r *record) openJSON(field string, sealed []byte, v any) error {
	plain, err := r.open(field, sealed)
	if err == nil {
		err = json.Unmarshal(plain, v)
	}
	return err
}

func (r *record) sealJSON(field string, v any) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return r.seal(field, plain)
}

// newRecord is the record of a call that becomes a task, with what it knows so far.
func (e *Engine) newRecord(ctx context.Context, c *tool.Call, s tool.Snapshot) (*record, *work, error) {
	id, meta := c.Run.Task, c.Request.Params.Meta
	h := head{Tool: c.Request.Params.Name, Issuer: c.Caller.Issuer, Subject: c.Caller.Subject, Client: c.Caller.Client,
		CallID: hex.EncodeToString(s.CallID[:]), Remote: c.Caller.Principal == tool.Principal{} && !local(ctx, c.Request.Extra)}
	h.Version, _ = meta[mcp.MetaKeyProtocolVersion].(string)
	var err error
	if h.Capabilities, err = json.Marshal(meta[mcp.MetaKeyClientCapabilities]); err != nil {
		return nil, nil, err
	}
	if info, ok := meta[mcp.MetaKeyClientInfo]; ok {
		if h.ClientInfo, err = json.Marshal(info); err != nil {
			return nil, nil, err
		}
	}
	if x := c.Request.Extra; x != nil && x.TokenInfo != nil {
		h.Token, h.User, h.Scopes = true, x.TokenInfo.UserID, x.TokenInfo.Scopes
	}
	r := &record{id: id, ring: e.shop.Ring, call: h}
	if r.head, err = json.Marshal(h); err != nil {
		return nil, nil, err
	}
	if r.arguments, err = r.seal("arguments", c.Request.Params.Arguments); err != nil {
		return nil, nil, err
	}
	return r, &work{State: s.State.Append(nil), Answers: s.Answers}, nil
}

// ask replaces what is open by asks. An asking has a key on the wire that no other of the task ever has; one that is open
// already, in the same words, keeps its own.
func (w *work) ask(asks []tool.Ask) {
	open := make([]openAsk, 0, len(asks))
	for _, a := range asks {
		open = append(open, openAsk{Wire: w.wireKey(a), Key: a.Key, Request: a.Request})
	}
	w.Open, w.Answers = open, nil
}

func (w *work) wireKey(a tool.Ask) string {
	for _, o := range w.Open {
		if o.Key == a.Key && string(o.Request) == string(a.Request) {
			return o.Wire
		}
	}
	if w.Issued == nil {
		w.Issued = map[string]int{}
	}
	w.Issued[a.Key]++
	n := w.Issued[a.Key]
	if n == 1 && !strings.Contains(a.Key, "#") { // only a handler that asks by itself has one with #
		return a.Key
	}
	return fmt.Sprintf("%s#%d", a.Key, n)
}
