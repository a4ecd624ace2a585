package load

import (
	"fmt"
	"slices"
	"strings"
)

// A Load is a call, which is one or more POSTs, and how it is put on a server.
type Load struct {
	Name    string
	Title   string // what the report calls it
	Steps   []Step
	Clients int // different clients that take turns, each call being one client's

	Conns int      // connections that carry calls at the same time
	Tools int      // registered beside the ones that are called
	Only  []string // the servers that it is for; nil is all
	// Uncollected is a server without garbage collection: collecting costs more where more lives, whatever a call does.
	Uncollected bool
}

// For reports whether the load is for a server.
func (l *Load) For(peer string) bool { return l.Only == nil || slices.Contains(l.Only, peer) }

// A Step is one POST, and what must come back.
type Step struct {
	tool string
	body []part
	want want
}

// Tool is the tool that the POST calls.
func (s *Step) Tool() string { return s.tool }

// want is a result: questions, or a text.
type want struct {
	asks map[string]question
	text string
}

type question struct {
	message string
	fields  string // their names, sorted, with a space between
}

// part is a piece of a body: text, or what differs from call to call.
type part struct {
	text string
	what rune
}

const (
	partText rune = iota
	partID
	partClient
	partState // the member requestState, if the last response had one
)

var (
	shipment = want{asks: map[string]question{"ship": {"Ship this order", "trackingNumber"}}}
	shipped  = want{text: "Shipped as 1Z999."}
	sender   = want{asks: map[string]question{"sender": {"Register the sender", "city company country email firstName insured lastName parcels postcode street"}}}
	machine  = want{asks: map[string]question{"machine": {"Which machine?", "label nodes size"}}}
	delivery = want{asks: map[string]question{"delivery": {"Where to?", "region urgent"}}}
	ordered  = want{text: "Ordered 2 × l in eu for $42."}
)

const (
	shipAnswer     = `{"ship":{"action":"accept","content":{"trackingNumber":"1Z999"}}}`
	senderAnswer   = `{"sender":{"action":"accept","content":{"firstName":"Ada","lastName":"Lovelace","email":"ada@example.com","company":"Analytical Engines","street":"12 St James's Square","city":"London","postcode":"SW1Y 4JH","country":"uk","parcels":3,"insured":true}}}`
	machineAnswer  = `"machine":{"action":"accept","content":{"size":"l","nodes":2,"label":"db"}}`
	deliveryAnswer = `"delivery":{"action":"accept","content":{"region":"eu","urgent":true}}`
)

// Loads are all loads, in the order of the report.
func Loads() []*Load {
	ask := post("ShipOrder", "{}", "", "", shipment)
	answer := post("ShipOrder", "{}", shipAnswer, "", shipped)
	single := []Step{ask, answer}
	note := `{"note":"` + strings.Repeat("Handle with care. ", 64<<10/18) + `"}`
	direct := `{"size":"l","nodes":2,"label":"db","region":"eu","urgent":true}`
	own := []string{"elicit"}
	both := []string{"elicit", "floor"}
	loads := []*Load{
		{Name: "question", Title: "Single question", Steps: single},
		{Name: "question-1", Title: "Single question, 1 connection", Steps: single, Conns: 1},
		{Name: "question-256", Title: "Single question, 256 connections", Steps: single, Conns: 256},
		{Name: "ten-fields", Title: "Form of ten fields", Steps: []Step{
			post("Register", "{}", "", "", sender),
			post("Register", "{}", senderAnswer, "", want{text: "Registered Ada Lovelace."}),
		}},
		{Name: "no-question", Title: "A tool that asks nothing (one POST)", Steps: []Step{post("Track", "{}", "", "", shipped)}},
		{Name: "large", Title: "Single question, 64 KiB of arguments", Steps: []Step{
			post("ShipParcel", note, "", "", shipment),
			post("ShipParcel", note, shipAnswer, "", shipped),
		}},

		{Name: "wizard", Title: "Wizard: three rounds, sealed state", Only: own, Steps: []Step{
			post("OrderMachine", "{}", "", "", machine),
			post("OrderMachine", "{}", "{"+machineAnswer+"}", "", delivery),
			post("OrderMachine", "{}", "{"+deliveryAnswer+"}", "", ordered),
		}},
		{Name: "wizard-stateless", Title: "The same questions and answers in three POSTs without state", Only: own, Steps: []Step{
			post("AskMachine", "{}", "", "", machine),
			post("AskDelivery", "{}", "", "", delivery),
			post("OrderAtOnce", "{}", "{"+machineAnswer+","+deliveryAnswer+"}", "", ordered),
		}},
		{Name: "wizard-silent", Title: "Three POSTs with the same values as arguments, nothing asked", Only: own, Steps: []Step{
			post("OrderDirectly", direct, "", "", ordered),
			post("OrderDirectly", direct, "", "", ordered),
			post("OrderDirectly", direct, "", "", ordered),
		}},
		{Name: "question-again", Title: "Single question, once more", Steps: single, Only: both},
		{Name: "tools-1000", Title: "Single question, 1,000 more tools", Steps: single, Tools: 1000, Only: both},
		{Name: "tools-10000", Title: "Single question, 10,000 more tools", Steps: single, Tools: 10_000, Only: both},
		{Name: "clients-4000", Title: "Single question, 4,000 clients", Steps: single, Clients: 4000, Only: both},
		{Name: "clients-10000", Title: "Single question, 10,000 clients", Steps: single, Clients: 10_000, Only: own},
		{Name: "uncollected", Title: "Single question, without garbage collection", Steps: single, Uncollected: true, Only: own},
		{Name: "uncollected-tools-10000", Title: "Single question, 10,000 more tools, without garbage collection", Steps: single, Tools: 10_000, Uncollected: true, Only: own},
		{Name: "uncollected-clients-4000", Title: "Single question, 4,000 clients, without garbage collection", Steps: single, Clients: 4000, Uncollected: true, Only: own},
		{Name: "sdk-path", Title: "Single question, off the express path (it names a log level)", Only: own, Steps: []Step{
			post("ShipOrder", "{}", "", `"io.modelcontextprotocol/logLevel":"emergency",`, shipment),
			post("ShipOrder", "{}", shipAnswer, `"io.modelcontextprotocol/logLevel":"emergency",`, shipped),
		}},
	}
	for _, l := range loads {
		if l.Conns == 0 {
			l.Conns = 32
		}
		if l.Clients == 0 {
			l.Clients = 1
		}
	}
	return loads
}

// post is a call of a tool as a client of 2026-07-28 sends it: \x01 is its id, \x02 the client's number, \x03 the state.
func post(tool, arguments, responses, meta string, w want) Step {
	if responses != "" {
		responses = `"inputResponses":` + responses + ","
	}
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%c,"method":"tools/call","params":{"name":%q,"arguments":%s,%s%c"_meta":{%s`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"client-%c","version":"1.0.0"},`+
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`,
		partID, tool, arguments, responses, partState, meta, partClient)
	s := Step{tool: tool, want: w}
	for text != "" {
		if c := rune(text[0]); c >= partID && c <= partState {
			s.body, text = append(s.body, part{what: c}), text[1:]
			continue
		}
		end := strings.IndexAny(text, "\x01\x02\x03")
		if end < 0 {
			end = len(text)
		}
		s.body, text = append(s.body, part{text: text[:end]}), text[end:]
	}
	return s
}

// Body is the body of one such POST.
func (s *Step) Body(id, client int, state string) []byte {
	return s.appendBody(nil, id, client, []byte(state))
}

func (s *Step) appendBody(b []byte, id, client int, state []byte) []byte {
	for _, p := range s.body {
		switch p.what {
		case partText:
			b = append(b, p.text...)
		case partID:
			b = fmt.Appendf(b, "%09d", id)
		case partClient:
			b = fmt.Appendf(b, "%05d", client)
		case partState:
			if len(state) > 0 {
				b = append(append(append(b, `"requestState":"`...), state...), `",`...)
			}
		}
	}
	return b
}
