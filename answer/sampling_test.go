//lint:file-ignore SA1019 MCP deprecates roots and sampling, and servers still ask for them.

package answer_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/answer"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Sampling and roots are answered by what the connection has for them, and declared only then.
func TestSamplingAndRoots(t *testing.T) {
	ask := `{"resultType":"input_required","inputRequests":{"model":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1}},"where":{"method":"roots/list"}}}`
	s := newWireServer(t, ask, done)
	cs := connect(t, s.URL, &answer.Options{
		Roots: []*answer.Root{{URI: "file:///work", Name: "work"}},
		Client: &mcp.ClientOptions{CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "to " + req.Params.Messages[0].Content.(*mcp.TextContent).Text}}, nil
		}},
	})
	if _, err := answer.CallTool(testContext(t), cs, &mcp.CallToolParams{Name: "ShipOrder"}, nil); err != nil {
		t.Fatal(err)
	}
	seen := s.seen(t, 2)
	var got map[string]map[string]any
	if err := json.Unmarshal(seen[1].params["inputResponses"], &got); err != nil || got["model"]["model"] != "m" || got["where"]["roots"] == nil {
		t.Errorf("got %s", seen[1].params["inputResponses"])
	}
	if meta := string(seen[0].params["_meta"]); !strings.Contains(meta, "sampling") || !strings.Contains(meta, "roots") || strings.Contains(meta, "elicitation") {
		t.Errorf("capabilities: %s", meta)
	}
}
