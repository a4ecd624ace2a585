package answer_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const numbersForm = `{"type":"object","properties":{"z":{"type":"integer","default":9007199254740993},"m":{"type":"number"},"a":{"type":"string","format":"phone"}},"required":["z"]}`

// asker is a go-sdk server whose tool asks over the live session, twice, and returns what it got as the raw text of the
// responses. The schema goes out as a server of any kind may write it.
func asker(t *testing.T, form string) *mcp.Server {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "asker", Version: "1", Title: "The Asker"}, nil)
	// The SDK checks questions and answers: put the form in behind its back, and take the text before it.
	server.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if p, ok := req.GetParams().(*mcp.ElicitParams); ok {
				before := p.RequestedSchema
				p.RequestedSchema = json.RawMessage(form)
				defer func() { p.RequestedSchema = before }()
			}
			return next(ctx, method, req)
		}
	})
	server.AddTool(&mcp.Tool{Name: "Ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var out []string
		for _, key := range []string{"first", ""} {
			p := &mcp.ElicitParams{Message: "asks " + key, RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
			if key != "" {
				p.Meta = mcp.Meta{"io.github.elicit-go/key": key}
			}
			res, err := req.Session.Elicit(ctx, p)
			if err != nil {
				return nil, err
			}
			data, _ := json.Marshal(res.Content)
			out = append(out, res.Action+string(data))
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Join(out, " ")}}}, nil
	})
	return server
}

func serveHTTP(t *testing.T, server *mcp.Server) string {
	t.Helper()
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(s.Close)
	return s.URL
}

var askScript = answer.Script{
	"first": answer.Accept(answer.Values{"m": answer.Text{"0.1"}, "a": "text"}),
	"":      answer.Decline(),
}

func TestOlderProtocols(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			url := serveHTTP(t, asker(t, numbersForm))
			var responses []string
			rec := &recorder{Answerer: askScript}
			cs := connect(t, url, &answer.Options{ProtocolVersion: version, Answerer: answer.Script{}, Wire: func(m answer.WireMessage) {
				if m.Kind == answer.WireRequest && strings.Contains(string(m.Body), `"result"`) {
					responses = append(responses, string(m.Body))
				}
			}})
			res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Ask"}, rec)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(text(t, res), "accept{") || !strings.HasSuffix(text(t, res), " declinenull") {
				t.Errorf("result %s", text(t, res))
			}
			if len(responses) != 2 || !strings.Contains(responses[0], `"content":{"a":"text","m":0.1,"z":9007199254740993}`) {
				t.Errorf("responses %q", responses)
			}
			if len(rec.seen) != 2 {
				t.Fatalf("%d questions", len(rec.seen))
			}
			for i, r := range rec.seen {
				if r.Key != []string{"first", ""}[i] || !r.Exact || string(r.Schema) != numbersForm || r.Server != url || r.ServerName != "The Asker" ||
					r.Tool != "Ask" || r.Round != 1 || r.Params.Mode != "form" {
					t.Errorf("request %+v with %s", r, r.Schema)
				}
				for name := range r.Params.Meta {
					if strings.Contains(name, "kept") {
						t.Errorf("_meta still has %s", name)
					}
				}
			}
			if !slices.Equal(rec.seen[1].Asked, []string{"first", ""}) {
				t.Errorf("asked %q", rec.seen[1].Asked)
			}
		})
	}
}

func TestOlderProtocolReportsAFailedAnswer(t *testing.T) {
	cs := connect(t, serveHTTP(t, asker(t, numbersForm)), &answer.Options{ProtocolVersion: "2025-11-25", Answerer: answer.Script{"first": answer.Accept(answer.Values{"z": "x"})}})
	res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Ask"}, nil)
	var failure *answer.AnswerError
	var value *answer.ValueError
	if !errors.As(err, &failure) || !errors.As(err, &value) || value.Field != "z" || failure.Key != "first" {
		t.Errorf("%v", err)
	}
	// Both are cancelled, the second without being asked.
	if text(t, res) != "cancelnull cancelnull" {
		t.Errorf("result %s", text(t, res))
	}
}

// Without CallTool, the session's Answerer answers.
func TestOlderProtocolOutsideOfCallTool(t *testing.T) {
	cs := connect(t, serveHTTP(t, asker(t, numbersForm)), &answer.Options{ProtocolVersion: "2025-06-18", Answerer: askScript})
	res, err := cs.CallTool(testContext(t), &mcp.CallToolParams{Name: "Ask"})
	if err != nil || !strings.HasPrefix(text(t, res), "accept{") {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestHandler(t *testing.T) {
	for name, wrap := range map[string]func(mcp.Transport) mcp.Transport{
		"wrapped": answer.Wrap, "plain": func(t mcp.Transport) mcp.Transport { return t },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			near, far := mcp.NewInMemoryTransports()
			server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
			server.AddTool(&mcp.Tool{Name: "Ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "m", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"string"}}}`)})
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Action}}}, nil
			})
			if _, err := server.Connect(ctx, far, nil); err != nil {
				t.Fatal(err)
			}
			own := &recorder{Answerer: answer.Script{"": answer.Decline()}}
			client := mcp.NewClient(impl, &mcp.ClientOptions{ElicitationHandler: answer.Handler(own)})
			cs, err := client.Connect(ctx, wrap(near), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "Ask"})
			if err != nil || text(t, res) != "decline" {
				t.Fatalf("%+v, %v", res, err)
			}
			// CallTool's Answerer goes first while it runs, and the SDK's validation sees numbers as numbers.
			rec := &recorder{Answerer: answer.Script{"": answer.Accept(answer.Values{"z": json.Number("9007199254740993")})}}
			if res, err = answer.CallTool(ctx, cs, &mcp.CallToolParams{Name: "Ask"}, rec); err != nil || text(t, res) != "accept" {
				t.Fatalf("%+v, %v", res, err)
			}
			if len(own.seen) != 1 || len(rec.seen) != 1 || rec.seen[0].Tool != "Ask" {
				t.Fatalf("%d and %d questions", len(own.seen), len(rec.seen))
			}
			fields, err := rec.seen[0].Fields()
			if err != nil || len(fields) != 2 {
				t.Fatal(fields, err)
			}
			first := "a"
			if name == "wrapped" {
				first = "z"
			}
			if fields[0].Name != first || rec.seen[0].Exact != (name == "wrapped") {
				t.Errorf("fields %+v, exact %t", fields, rec.seen[0].Exact)
			}
		})
	}
}

// The rounds of the new protocol over transports that are not ours, wrapped and not.
func TestCallToolOnOtherSessions(t *testing.T) {
	form := `{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"string"}}}`
	newServer := func() *mcp.Server {
		server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
		server.AddTool(&mcp.Tool{Name: "Ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, ok := req.Params.InputResponses["k2"].(*mcp.ElicitResult)
			if !ok {
				return &mcp.CallToolResult{RequestState: "st", InputRequests: mcp.InputRequestMap{
					"k2": &mcp.ElicitParams{Message: "m", RequestedSchema: json.RawMessage(form)},
					"k1": &mcp.ElicitParams{Message: "m", RequestedSchema: json.RawMessage(form)},
				}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Action + " " + req.Params.RequestState}}}, nil
		})
		return server
	}
	for name, tt := range map[string]struct {
		wrap     bool
		disabled bool
	}{"wrapped": {true, false}, "wrapped, rounds off": {true, true}, "plain, rounds off": {false, true}} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			near, far := mcp.NewInMemoryTransports()
			if _, err := newServer().Connect(ctx, far, nil); err != nil {
				t.Fatal(err)
			}
			transport := mcp.Transport(near)
			if tt.wrap {
				transport = answer.Wrap(near)
			}
			client := mcp.NewClient(impl, &mcp.ClientOptions{
				MultiRoundTrip:     &mcp.MultiRoundTripOptions{Disabled: tt.disabled},
				ElicitationHandler: answer.Handler(nil),
			})
			cs, err := client.Connect(ctx, transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			rec := &recorder{Answerer: answer.Script{"k1": answer.Decline(), "k2": answer.Accept(nil)}}
			res, err := answer.CallTool(ctx, cs, &mcp.CallToolParams{Name: "Ask"}, rec)
			if err != nil || text(t, res) != "accept st" {
				t.Fatalf("%+v, %v", res, err)
			}
			if len(rec.seen) != 2 || rec.seen[0].Key != "k1" || rec.seen[0].Exact != tt.wrap {
				t.Errorf("%+v", rec.seen)
			}
			fields, err := rec.seen[0].Fields()
			if err != nil || (fields[0].Name == "z") != tt.wrap {
				t.Errorf("%+v, %v", fields, err)
			}
		})
	}

	t.Run("the SDK's own rounds, wrapped", func(t *testing.T) {
		ctx := testContext(t)
		near, far := mcp.NewInMemoryTransports()
		if _, err := newServer().Connect(ctx, far, nil); err != nil {
			t.Fatal(err)
		}
		rec := &recorder{Answerer: answer.Script{"k1": answer.Decline(), "k2": answer.Decline()}}
		client := mcp.NewClient(impl, &mcp.ClientOptions{ElicitationHandler: answer.Handler(rec)})
		cs, err := client.Connect(ctx, answer.Wrap(near), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer cs.Close()
		res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "Ask"})
		if err != nil || text(t, res) != "decline st" || len(rec.seen) != 2 || !rec.seen[0].Exact {
			t.Errorf("%+v, %v, %+v", res, err, rec.seen)
		}
	})
	t.Run("streamable, wrapped", func(t *testing.T) {
		s := newWireServer(t, askShip, done)
		client := mcp.NewClient(impl, &mcp.ClientOptions{ElicitationHandler: answer.Handler(nil)})
		cs, err := client.Connect(testContext(t), answer.Wrap(&mcp.StreamableClientTransport{Endpoint: s.URL}), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer cs.Close()
		rec := &recorder{Answerer: shipScript}
		if _, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "größe"}, rec); err != nil {
			t.Fatal(err)
		}
		if got := s.seen(t, 2)[1].header.Get("Mcp-Name"); got != "=?base64?Z3LDtsOfZQ==?=" || rec.seen[0].Server != s.URL {
			t.Errorf("Mcp-Name %q, server %q", got, rec.seen[0].Server)
		}
	})
}

// A real process at the other end of stdio.
func TestStdio(t *testing.T) {
	if os.Getenv("ANSWER_TEST_SERVER") != "" {
		// The client's SDK refuses forms with a format it does not know, and only Connect goes around that.
		if err := asker(t, strings.Replace(numbersForm, "phone", "email", 1)).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStdio$")
	cmd.Env = append(os.Environ(), "ANSWER_TEST_SERVER=1")
	client := mcp.NewClient(impl, &mcp.ClientOptions{ElicitationHandler: answer.Handler(nil)})
	cs, err := client.Connect(testContext(t), answer.Wrap(&mcp.CommandTransport{Command: cmd}), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	rec := &recorder{Answerer: answer.Script{"first": answer.Decline(), "": answer.Decline()}}
	res, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "Ask"}, rec)
	if err != nil || text(t, res) != "declinenull declinenull" {
		t.Fatalf("%+v, %v", res, err)
	}
	if !strings.HasPrefix(rec.seen[0].Server, os.Args[0]) {
		t.Errorf("server %q", rec.seen[0].Server)
	}
	fields, err := rec.seen[0].Fields()
	if err != nil || fields[0].Name != "z" || string(fields[0].Default) != "9007199254740993" {
		t.Errorf("%+v, %v", fields, err)
	}
}

// Calls at the same time on one session of an older protocol: each question goes to the call it came with.
func TestOlderProtocolKeepsCallsApart(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	var ready sync.WaitGroup
	ready.Add(3)
	for _, name := range []string{"A", "B", "C"} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ready.Done()
			ready.Wait()
			res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: name, RequestedSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)})
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Content["x"].(string)}}}, nil
		})
	}
	says := func(who string) answer.Answerer {
		return answer.AnswererFunc(func(_ context.Context, r *answer.Request) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"x": who + " answers " + r.Params.Message + " of " + r.Tool}}, nil
		})
	}
	cs := connect(t, serveHTTP(t, server), &answer.Options{ProtocolVersion: "2025-11-25", Answerer: says("the session")})
	ctx := testContext(t)
	var wg sync.WaitGroup
	results := make([]string, 3)
	for i, name := range []string{"A", "B", "C"} {
		wg.Go(func() {
			p := &mcp.CallToolParams{Name: name}
			var res *mcp.CallToolResult
			var err error
			if name == "C" {
				res, err = cs.CallTool(ctx, p)
			} else {
				res, err = answer.CallTool(ctx, cs, p, says(name))
			}
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = text(t, res)
		})
	}
	wg.Wait()
	if want := []string{"A answers A of A", "B answers B of B", "the session answers C of "}; !slices.Equal(results, want) {
		t.Errorf("got %q, want %q", results, want)
	}
}
