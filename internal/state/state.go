package state

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Digest is a shortened SHA-256: of a question's final words, or of one thing that a state is bound to.
type Digest [16]byte

// DigestOf hashes parts, each preceded by its length, so that no two lists of parts look alike.
func DigestOf(parts ...string) Digest {
	var room [256]byte
	b := room[:0]
	for _, p := range parts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(p))), p...)
	}
	return shorten(sha256.Sum256(b))
}

// DigestOfBytes is DigestOf(string(part)).
func DigestOfBytes(part []byte) Digest {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	h.Write(part)
	return shorten([sha256.Size]byte(h.Sum(nil)))
}

func shorten(sum [sha256.Size]byte) Digest { return Digest(sum[:]) }

// Equal compares in constant time.
func (d Digest) Equal(o Digest) bool { return subtle.ConstantTimeCompare(d[:], o[:]) == 1 }

// Binding is what a state is good for. It opens only where all five are the same.
type Binding struct {
	Audience  Digest // the server
	Principal Digest // who calls
	Feature   Digest // method and name or URI
	Arguments Digest
	Extra     Digest // what Options.Bind adds
}

// Mismatch names the first thing that differs, or "" when nothing does. All are compared, in constant time.
func (b Binding) Mismatch(o Binding) string {
	names := [...]string{"server", "principal", "tool, prompt or resource", "arguments", "Options.Bind"}
	bs := [...][2]Digest{{b.Audience, o.Audience}, {b.Principal, o.Principal}, {b.Feature, o.Feature}, {b.Arguments, o.Arguments}, {b.Extra, o.Extra}}
	bad := ""
	for i := len(bs) - 1; i >= 0; i-- {
		if !bs[i][0].Equal(bs[i][1]) {
			bad = names[i]
		}
	}
	return bad
}

// Action of an answer, as stored.
type Action byte

// Stored actions.
const (
	Accept Action = iota + 1
	Decline
	Cancel
)

// An Answer that an earlier round took.
type Answer struct {
	Digest  Digest // of the question's final words
	Action  Action
	Content []byte // JSON, only the form's own fields; nil unless accepted
}

// State is what a call remembers between its rounds.
type State struct {
	Binding  Binding
	CallID   [16]byte
	Born     time.Time // first sealing of the call, whole seconds
	Issued   time.Time
	Expires  time.Time
	Round    int               // how many rounds have asked, this one included
	Foreign  string            // the requestState that a handler made without this library
	Asked    map[string]Digest // what this round asks: a key counts as asked only with its digest
	Answers  map[string]Answer
	Steps    map[string][]byte // JSON
	Attempts map[string]int
}

const stateVersion = 1

// Append encodes s. Maps are written in the order of their keys, so equal states have equal bytes.
func (s *State) Append(b []byte) []byte {
	b = append(b, stateVersion)
	for _, d := range []*Digest{&s.Binding.Audience, &s.Binding.Principal, &s.Binding.Feature, &s.Binding.Arguments, &s.Binding.Extra} {
		b = append(b, d[:]...)
	}
	b = append(b, s.CallID[:]...)
	for _, t := range []time.Time{s.Born, s.Issued, s.Expires} {
		b = binary.AppendVarint(b, t.Unix())
	}
	b = binary.AppendUvarint(b, uint64(s.Round))
	b = appendBytes(b, []byte(s.Foreign))
	b = appendMap(b, s.Asked, func(b []byte, d Digest) []byte { return append(b, d[:]...) })
	b = appendMap(b, s.Answers, func(b []byte, a Answer) []byte {
		b = append(b, a.Digest[:]...)
		b = append(b, byte(a.Action))
		return appendBytes(b, a.Content)
	})
	b = appendMap(b, s.Steps, appendBytes)
	return appendMap(b, s.Attempts, func(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) })
}

// Largest names what takes the most room, for the author of a state that grew too large.
func (s *State) Largest() string {
	what, size := "the questions asked", 0
	if s.Foreign != "" {
		what, size = fmt.Sprintf("the handler's own requestState (%d bytes)", len(s.Foreign)), len(s.Foreign)
	}
	for k, a := range s.Answers {
		if len(a.Content) > size {
			what, size = fmt.Sprintf("the answer to %q (%d bytes)", k, len(a.Content)), len(a.Content)
		}
	}
	for k, v := range s.Steps {
		if len(v) > size {
			what, size = fmt.Sprintf("the result of step %q (%d bytes)", k, len(v)), len(v)
		}
	}
	return what
}

func appendBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func appendMap[V any](b []byte, m map[string]V, value func([]byte, V) []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(m)))
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = append(binary.AppendUvarint(b, uint64(len(k))), k...)
		b = value(b, m[k])
	}
	return b
}

var errCorrupt = errors.New("state: the bytes are not a state")

// Parse decodes what Append wrote. The bytes were authenticated, but may be of another version of this package.
func Parse(b []byte) (*State, error) {
	r := &reader{b: b}
	if v := r.take(1); v == nil || v[0] != stateVersion {
		return nil, errCorrupt
	}
	s := &State{}
	for _, d := range []*Digest{&s.Binding.Audience, &s.Binding.Principal, &s.Binding.Feature, &s.Binding.Arguments, &s.Binding.Extra} {
		r.digest(d)
	}
	copy(s.CallID[:], r.take(len(s.CallID)))
	for _, t := range []*time.Time{&s.Born, &s.Issued, &s.Expires} {
		*t = time.Unix(r.varint(), 0)
	}
	s.Round = int(r.uvarint())
	s.Foreign = string(r.bytes())
	s.Asked = readMap(r, func() (d Digest) { r.digest(&d); return d })
	s.Answers = readMap(r, func() (a Answer) {
		r.digest(&a.Digest)
		if x := r.take(1); x != nil {
			a.Action = Action(x[0])
		}
		a.Content = r.bytes()
		return a
	})
	s.Steps = readMap(r, r.bytes)
	s.Attempts = readMap(r, func() int { return int(r.uvarint()) })
	if r.bad || len(r.b) != 0 {
		return nil, errCorrupt
	}
	return s, nil
}

type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) digest(d *Digest) { copy(d[:], r.take(len(d))) }

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n == 0 || n > uint64(len(r.b)) {
		r.bad = r.bad || n != 0
		return nil
	}
	return r.take(int(n))
}

func readMap[V any](r *reader, value func() V) map[string]V {
	n := r.uvarint()
	if n == 0 || n > uint64(len(r.b)) { // every entry takes at least a byte
		r.bad = r.bad || n != 0
		return nil
	}
	m := make(map[string]V, n)
	for range n {
		k := string(r.bytes())
		m[k] = value()
		if r.bad {
			return nil
		}
	}
	return m
}
