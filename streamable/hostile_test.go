package streamable_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/streamable"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hostileSite serves a server with the tool t, that elicit.New was not given.
func hostileSite(t *testing.T, opts *streamable.Options, f mcp.ToolHandler) *site {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1.0.0"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, f)
	s := &site{server: server}
	s.listen(t, opts, nil)
	return s
}

// throughSDK are members of _meta that keep a request off the express path.
const throughSDK = metaBoth + `,"io.modelcontextprotocol/logLevel":"info"`

// callOlder calls the tool t in a session of an older client, and gives the response's event.
func callOlder(t *testing.T, s *site) any {
	t.Helper()
	x := open(t, s.addr, initialize("2025-11-25", "{}"))
	session := x.res.Header.Get("Mcp-Session-Id")
	x.all()
	return open(t, s.addr, legacy("2025-11-25", session, "tools/call", `"name":"t"`)).mustEvent()
}

// Identities need not be UTF-8: that of an elicit.Server is a digest.
func TestBinaryIdentitiesShareNoSession(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]*mcp.ServerSession{}
	s := hostileSite(t, &streamable.Options{Identity: func(r *http.Request, _ *mcp.RequestExtra) (string, error) {
		return map[string]string{"a": "\xf1\xf2", "b": "\xf9\xfa"}[r.Header.Get("X-Who")], nil
	}}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Extra.Header.Get("X-Who")] = r.Session
		return elicit.Text("ok"), nil
	})
	for range 3 {
		for _, who := range []string{"a", "b"} {
			wantText(t, do(t, s.addr, tool("t", "").and("X-Who", who)), "ok")
		}
	}
	if seen["a"] == nil || seen["a"] == seen["b"] {
		t.Error("two identities share a session")
	}
}

// A middleware that takes a capability away takes it from its own request.
func TestMetaIsNotShared(t *testing.T) {
	s := hostileSite(t, nil, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		caps := r.Params.Meta[mcp.MetaKeyClientCapabilities].(map[string]any)
		had := fmt.Sprint(caps)
		delete(caps, "elicitation")
		return elicit.Text(had), nil
	})
	for range 3 {
		wantText(t, do(t, s.addr, tool("t", "")), "map[elicitation:map[]]")
	}
}

type hostile struct{ err error }

func (h hostile) MarshalJSON() ([]byte, error) {
	if h.err == nil {
		panic("secret detail")
	}
	return nil, h.err
}

// Nothing is written to a response that has ended, or the process would end with it; and every request is answered.
func TestResultsThatCannotBeEncoded(t *testing.T) {
	for name, content := range map[string]any{"panic": hostile{}, "error": hostile{errors.New("no")}, "NaN": math.NaN(), "raw": json.RawMessage("{}\n\ndata: {}")} {
		t.Run(name, func(t *testing.T) {
			s := hostileSite(t, &streamable.Options{KeepAlive: time.Millisecond}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if strings.Contains(string(r.Params.Arguments), "progress") {
					_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p"})
				}
				return &mcp.CallToolResult{StructuredContent: content}, nil
			})
			for range 2 {
				for _, meta := range []string{metaBoth, throughSDK} {
					r := do(t, s.addr, tool("t", "").withMeta(meta))
					status := 200
					if name == "panic" {
						status = 500
					}
					wantRefusal(t, r, refusal{status, "-32603", "1", nil})
					x := open(t, s.addr, tool("t", `"arguments":{"progress":1}`).withMeta(meta))
					wantStream(t, x)
					x.mustEvent()
					last, _ := x.event()
					wantErrorMessage(t, last, refusal{0, "-32603", "1", nil})
					if strings.Contains(r.body+last, "secret") {
						t.Errorf("it tells of the panic: %s", last)
					}
				}
			}
			if at(callOlder(t, s), "error", "code") != json.Number("-32603") {
				t.Error("an older client got no error")
			}
			time.Sleep(20 * time.Millisecond) // for comments that should not come
		})
	}
}

// What a handler returns is passed on as it is, whatever it looks like.
func TestResultsThatLookLikeErrorsAndIDs(t *testing.T) {
	const data = `{"a":1,"error":{"code":0,"message":"OK"},"progressToken":"elicit-number:5"}`
	s := hostileSite(t, nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "data: x"}}, StructuredContent: json.RawMessage(data)}, nil
	})
	wantEqual(t, "structuredContent", at(callOlder(t, s), "result", "structuredContent"), data)
	for _, meta := range []string{metaBoth, throughSDK} {
		wantEqual(t, "structuredContent", at(wantOK(t, do(t, s.addr, tool("t", "").withMeta(meta))), "structuredContent"), data)
	}
}

// Every request is answered, also when its session is closed under it.
func TestSessionClosedUnderARequest(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1.0.0"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler), KeepAlive: 20 * time.Millisecond})
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p"})
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
		return elicit.Text("done"), nil
	})
	s := &site{server: server}
	s.listen(t, nil, nil)
	x := open(t, s.addr, tool("t", "").withMeta(throughSDK))
	x.mustEvent()
	if last, ok := x.event(); !ok {
		t.Error("no response")
	} else {
		wantErrorMessage(t, last, refusal{0, "-32603", "1", []string{"closed the session"}})
	}
}

// A client that stays and does not read is given up: its handler ends, on either path, and goes on without it if it is of an older
// revision.
func TestReaderThatNeverReads(t *testing.T) {
	ended := make(chan error, 1)
	s := hostileSite(t, streamable.Options{}.WithPatience(50*time.Millisecond), func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(r.Params.Arguments) == 0 {
			return elicit.Text("done"), nil
		}
		for range 100 { // an older client's going does not end the context: it may come back
			if ctx.Err() != nil {
				break
			}
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Message: strings.Repeat("x", 1<<20)})
		}
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	id := openSession(t, s.addr, "2025-06-18", "{}")
	flood := `"name":"t","arguments":{"flood":true}`
	for what, m := range map[string]message{"express": tool("t", `"arguments":{"flood":true}`), "SDK": bothWays(tool("t", `"arguments":{"flood":true}`))[1], "older": legacy("2025-06-18", id, "tools/call", flood)} {
		x := send(t, s.addr, m)
		select {
		case err := <-ended:
			if err == nil && what != "older" {
				t.Errorf("%s: the client was not given up", what)
			}
		case <-time.After(timeout):
			t.Errorf("%s: the handler hangs", what)
		}
		x.conn.Close()
	}
	wantText(t, do(t, s.addr, tool("t", "")), "done")
}

// A client that does not read holds up only itself, and when it goes, its handler ends.
func TestSlowReader(t *testing.T) {
	begun, ended := make(chan bool), make(chan bool)
	s := hostileSite(t, nil, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		progress := func(text string) {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Message: text})
		}
		if len(r.Params.Arguments) == 0 {
			progress("hi")
			return elicit.Text("done"), nil
		}
		close(begun)
		for ctx.Err() == nil {
			progress(strings.Repeat("x", 1<<20))
		}
		close(ended)
		return nil, ctx.Err()
	})
	slow := send(t, s.addr, tool("t", `"arguments":{"flood":true}`))
	<-begun
	time.Sleep(50 * time.Millisecond)
	x := open(t, s.addr, tool("t", "")) // fails by its deadline if it has to wait
	if _, err := io.ReadAll(x.in); err != nil {
		t.Error(err)
	}
	slow.conn.Close()
	select {
	case <-ended:
	case <-time.After(timeout):
		t.Error("the handler hangs")
	}
}
