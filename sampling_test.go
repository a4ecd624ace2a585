package elicit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/elicit-go/elicit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 MCP has deprecated sampling and roots (SEP-2577); they ride the same rounds while the SDK has them

func TestSamplingAndRoots(t *testing.T) {
	sample := elicit.NewSampling("capital", &mcp.CreateMessageWithToolsParams{MaxTokens: 10, Messages: []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: "Capital?"}}}}})
	roots := elicit.NewRoots("roots")
	shop := elicit.New(newServer(), quiet(elicit.Options{}))
	addText(shop, "T", func(ctx context.Context) (string, error) {
		var s elicit.Answer[*mcp.CreateMessageWithToolsResult]
		var r elicit.Answer[*mcp.ListRootsResult]
		if err := elicit.RequireAll(ctx, sample.Into(&s), roots.Into(&r)); err != nil {
			return "", err
		}
		msg, ok := s.Value()
		list, ok2 := r.Value()
		if !ok || !ok2 {
			return fmt.Sprint(s.Err(), r.Err()), nil
		}
		return fmt.Sprint(msg.Content[0].(*mcp.TextContent).Text, list.Roots[0].URI), nil
	})
	q := request{url: host(t, shop), name: "T", caps: `{"sampling":{},"roots":{}}`}
	r := q.send(t)
	if !r.asks() || !strings.Contains(string(r.Result.InputRequests["capital"]), `"sampling/createMessage"`) || !strings.Contains(string(r.Result.InputRequests["roots"]), `"roots/list"`) {
		t.Fatal(r.body)
	}
	answers := m{"capital": m{"role": "assistant", "model": "x", "content": m{"type": "text", "text": "Paris"}}, "roots": m{"roots": []m{{"uri": "file:///a"}}}}
	if r := q.again(r, answers).send(t); r.text() != "Parisfile:///a" && r.text() != "Paris file:///a" {
		t.Error(r.body)
	}
	if r := q.again(q.send(t), m{"capital": m{"action": "accept"}, "roots": m{"roots": 5}}).send(t); !strings.Contains(r.text(), "dismissed") {
		t.Error(r.body)
	}
	for caps, want := range map[string]string{`{"roots":{}}`: `{"requiredCapabilities":{"sampling":{}}}`, `{"sampling":{}}`: `{"requiredCapabilities":{"roots":{}}}`} {
		q.caps = caps
		if r := q.send(t); r.Error == nil || r.Error.Code != -32021 || string(r.Error.Data) != want {
			t.Errorf("%s: %s", caps, r.body)
		}
	}
}
