package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// counted counts the requests that an instance serves.
type counted struct {
	http.Handler
	n atomic.Int32
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.n.Add(1)
	c.Handler.ServeHTTP(w, r)
}

func TestRoundsGoToBothInstances(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		h := &hotel{}
		proxy, err := start(h, [][]byte{bytes.Repeat([]byte{1}, 32)})
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(proxy)
		defer front.Close()
		script := answer.Script{"book": answer.Accept(nil)}
		session, err := answer.Connect(t.Context(), &mcp.Implementation{Name: "test", Version: "1"}, front.URL,
			&answer.Options{Answerer: script, ProtocolVersion: version})
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		defer session.Close()
		for i := range 4 {
			res, err := answer.CallTool(t.Context(), session, &mcp.CallToolParams{Name: "BookRoom", Arguments: Room{"Blue"}}, script)
			if err != nil {
				t.Fatalf("%s, call %d: %v", version, i, err)
			}
			if text := res.Content[0].(*mcp.TextContent).Text; !strings.HasPrefix(text, "Blue is booked") || h.booked.Load() != int32(i+1) {
				t.Errorf("%s: %s, booked %d", version, text, h.booked.Load())
			}
		}
		session.Close()
	}
}

// What one instance asked, the other takes, once.
func TestAnswerAtTheOtherInstance(t *testing.T) {
	h, spender, keys := &hotel{}, &sharedSpender{}, [][]byte{bytes.Repeat([]byte{1}, 32)}
	one := &counted{Handler: newInstance("one", h, keys, spender)}
	two := &counted{Handler: newInstance("two", h, keys, spender)}
	_, state := post(t, one, "")
	if state == "" {
		t.Fatal("no requestState")
	}
	if body, _ := post(t, two, state); !strings.Contains(body, "Blue is booked, by instance two.") {
		t.Error(body)
	}
	for _, instance := range []*counted{one, two} {
		if body, _ := post(t, instance, state); !strings.Contains(body, "Invalid or expired requestState") {
			t.Errorf("sent again: %s", body)
		}
	}
	if h.booked.Load() != 1 || one.n.Load() != 2 || two.n.Load() != 2 {
		t.Errorf("booked %d times, %d and %d requests", h.booked.Load(), one.n.Load(), two.n.Load())
	}
}

// post sends a round of BookRoom: the first without a state, the second with a yes.
func post(t *testing.T, to http.Handler, state string) (body, next string) {
	t.Helper()
	params := map[string]any{"name": "BookRoom", "arguments": Room{"Blue"}, "_meta": map[string]any{
		mcp.MetaKeyProtocolVersion: "2026-07-28", mcp.MetaKeyClientCapabilities: json.RawMessage(`{"elicitation":{}}`)}}
	if state != "" {
		params["requestState"] = state
		params["inputResponses"] = map[string]any{"book": map[string]any{"action": "accept"}}
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", bytes.NewReader(b))
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "BookRoom"} {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	to.ServeHTTP(w, r)
	out, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Result struct {
			RequestState string `json:"requestState"`
		} `json:"result"`
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return string(out), reply.Result.RequestState
}

func TestSecretsFromTheEnvironment(t *testing.T) {
	enc := base64.StdEncoding.EncodeToString
	t.Setenv("ELICIT_SECRETS", enc(bytes.Repeat([]byte{2}, 32))+", "+enc(bytes.Repeat([]byte{1}, 32)))
	keys, err := secrets()
	if err != nil || len(keys) != 2 || keys[0][0] != 2 {
		t.Errorf("%v, %v", keys, err)
	}
	t.Setenv("ELICIT_SECRETS", "%")
	if _, err := secrets(); err == nil {
		t.Error("not Base64")
	}
	t.Setenv("ELICIT_SECRETS", "")
	if keys, err := secrets(); err != nil || len(keys) != 1 || len(keys[0]) != 32 {
		t.Errorf("%v, %v", keys, err)
	}
}
