package page

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
)

// Purposes of what is sealed here. None opens as another.
const (
	ticketPurpose state.Purpose = "ticket"
	csrfPurpose   state.Purpose = "csrf"
	returnPurpose state.Purpose = "return"
)

// maxTicket is the longest link that is looked at, in characters of its ticket. While somebody logs in, it is in a cookie, and
// browsers drop longer ones than maxCookie with its name and attributes (RFC 6265, section 6.1).
const (
	maxTicket = 6 << 10
	maxCookie = 3800
)

// A ticket is what a link says, sealed: which question of which call, and who was asked. It is everything that an instance
// that did not make it must know, so a link outlives a restart. It opens nothing by itself: the page also wants the person.
type ticket struct {
	ID      [16]byte
	Shape   state.Digest // of the flow
	User    state.Digest // who was asked: issuer and subject; zero for nobody in particular
	Value   state.Digest // what the answer is remembered for: user, client, feature, question
	Expires time.Time    // whole seconds

	Key, Message string
	Method, Name string
	Client       string // what the client calls itself
	ClientID     string // what the person's token was given to
	Data         string // the flow's
	Task         string // which waits for it, if one does
}

const ticketVersion = 1

func (t *ticket) append(b []byte) []byte {
	b = append(b, ticketVersion)
	b = append(b, t.ID[:]...)
	for _, d := range []state.Digest{t.Shape, t.User, t.Value} {
		b = append(b, d[:]...)
	}
	b = binary.AppendVarint(b, t.Expires.Unix())
	for _, s := range []string{t.Key, t.Message, t.Method, t.Name, t.Client, t.ClientID, t.Data, t.Task} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

var errTicket = errors.New("the bytes are not a ticket")

// parseTicket decodes what append wrote. The bytes were authenticated, but may be of another version of this package.
func parseTicket(b []byte) (*ticket, error) {
	t := &ticket{}
	if len(b) < 1+4*16 || b[0] != ticketVersion {
		return nil, errTicket
	}
	b = b[1:]
	b = b[copy(t.ID[:], b):]
	for _, d := range []*state.Digest{&t.Shape, &t.User, &t.Value} {
		b = b[copy(d[:], b):]
	}
	at, n := binary.Varint(b)
	if n <= 0 {
		return nil, errTicket
	}
	t.Expires, b = time.Unix(at, 0), b[n:]
	for _, s := range []*string{&t.Key, &t.Message, &t.Method, &t.Name, &t.Client, &t.ClientID, &t.Data, &t.Task} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, errTicket
		}
		*s, b = string(b[n:n+int(size)]), b[n+int(size):]
	}
	if len(b) > 0 {
		return nil, errTicket
	}
	return t, nil
}

// id is the ticket's name in the vault, and the elicitationId of older clients.
func (t *ticket) id() string { return hex.EncodeToString(t.ID[:]) }

// owner is whose the entries are that are made for a ticket on its page: the user's, whatever runs for them. On one's own
// machine there is nobody to be kept from.
func (t *ticket) owner() string {
	if t.User == nobody {
		return ""
	}
	return hex.EncodeToString(t.User[:])
}

// closer owns what the calls of a user close by themselves, apart: a program that asks and declines for ever leaves its user
// room on the pages.
func (t *ticket) closer() string {
	d := state.DigestOf("closed", string(t.User[:]))
	return hex.EncodeToString(d[:])
}

// userDigest is who was asked, or is at the browser; the zero Digest for nobody.
func userDigest(issuer, subject string) (d state.Digest) {
	if issuer == "" && subject == "" {
		return d
	}
	return state.DigestOf(issuer, subject)
}

// valueDigest is what an answer of a is remembered for.
func valueDigest(a *tool.Asking) state.Digest {
	shape := a.URL.Shape()
	return state.DigestOf(a.Issuer, a.Subject, a.Client, a.Method, a.Name, a.Key, string(shape[:]))
}

// newTicket makes the ticket of a question, for its first asking.
func (p *Pages) newTicket(a *tool.Asking, data string) *ticket {
	t := &ticket{
		Shape: a.URL.Shape(), User: userDigest(a.Issuer, a.Subject), Value: valueDigest(a),
		Expires: p.shop.Now().Add(p.opts.Expiry).Truncate(time.Second),
		Key:     a.Key, Message: a.Message, Method: a.Method, Name: a.Name, Client: short(a.ClientName), ClientID: short(a.Client), Data: data, Task: a.Task,
	}
	if !a.Until.IsZero() && a.Until.Before(t.Expires) { // there is nothing to answer any more
		t.Expires = a.Until.Truncate(time.Second)
	}
	rand.Read(t.ID[:])
	return t
}

// short is a name that a client chose, no longer than a page should show.
func short(name string) string {
	const most = 80 // characters
	name = line(name)
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return name
}

// openTicket reads a link's ticket. It may have expired.
func (p *Pages) openTicket(token string) (*ticket, error) {
	plain, err := p.shop.Ring.Open(ticketPurpose, token, maxTicket)
	if err != nil {
		return nil, err
	}
	return parseTicket(plain)
}
