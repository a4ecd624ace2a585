package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/e2e/harness"
)

// report is what node/client.mjs prints for a request.
type report struct {
	Version string
	Asked   []struct {
		Message         string
		RequestedSchema json.RawMessage
	}
	IsError bool
	Text    string
	Error   *struct {
		Code    int
		Message string
	}
}

// typeScript calls a tool with the TypeScript SDK's client.
func typeScript(t *testing.T, url, mode, tool, action, content string) report {
	t.Helper()
	return typeScriptSends(t, url, mode, action, content, fmt.Sprintf(`{"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool))[0]
}

// typeScriptSends sends requests with the TypeScript SDK's client, one after the other.
func typeScriptSends(t *testing.T, url, mode, action, content string, requests ...string) []report {
	t.Helper()
	args := append([]string{filepath.Join(harness.NodeDir(), "client.mjs"), url, mode, action, content}, requests...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Node(t), args...)
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	var reports []report
	for line := range bytes.Lines(out) {
		var r report
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		reports = append(reports, r)
	}
	if len(reports) != len(requests) {
		t.Fatalf("%d reports of %d requests: %s", len(reports), len(requests), out)
	}
	return reports
}

// modes are the ways in which the TypeScript client chooses a protocol revision, and the one it ends at with us.
var modes = []struct{ mode, version string }{
	{"default", "2025-11-25"},
	{"auto", "2026-07-28"},
	{"2026-07-28", "2026-07-28"},
}

func TestTypeScriptShipOrder(t *testing.T) {
	harness.Node(t)
	url := harness.Start(t, "examples/shiporder")
	for _, m := range modes {
		for _, a := range []struct{ action, content, want string }{
			{"accept", `{"trackingNumber":"1Z999"}`, "Shipped as 1Z999."},
			{"decline", "", "Shipping cancelled."},
			{"cancel", "", "Shipping cancelled."},
		} {
			t.Run(m.mode+"/"+a.action, func(t *testing.T) {
				t.Parallel()
				r := typeScript(t, url, m.mode, "ShipOrder", a.action, a.content)
				if r.Version != m.version {
					t.Errorf("negotiated %s, want %s", r.Version, m.version)
				}
				if len(r.Asked) != 1 || r.Asked[0].Message != "Ship this order" {
					t.Errorf("asked %+v, want one form that says %q", r.Asked, "Ship this order")
				}
				if r.IsError || r.Text != a.want {
					t.Errorf("got %q (isError %t), want %q", r.Text, r.IsError, a.want)
				}
			})
		}
	}
}

// The wizard asks three questions in two rounds, so a retry carries state; its last form has no fields. The client answers
// every form with the same content, of which the server reads what it asked for.
func TestTypeScriptWizard(t *testing.T) {
	harness.Node(t)
	url := harness.Start(t, "examples/wizard")
	for _, m := range modes {
		t.Run(m.mode, func(t *testing.T) {
			t.Parallel()
			r := typeScript(t, url, m.mode, "OrderMachine", "accept", `{"size":"l","nodes":3,"choice":"us"}`)
			if len(r.Asked) != 3 || r.IsError || r.Text != `{"id":"us-l-3","price":42}` {
				t.Errorf("asked %+v, got %q (isError %t)", r.Asked, r.Text, r.IsError)
			}
		})
	}
}

// A client that cannot open pages is told so: by −32021, which names the capability, or, of an older revision, by a result
// that the model can read; never by −32042.
func TestTypeScriptWithoutURL(t *testing.T) {
	harness.Node(t)
	url := harness.Start(t, "examples/apikey")
	for _, m := range modes {
		t.Run(m.mode, func(t *testing.T) {
			t.Parallel()
			r := typeScript(t, url, m.mode, "Forecast", "accept", "{}")
			switch {
			case m.version == "2026-07-28":
				if r.Error == nil || r.Error.Code != -32021 || !strings.Contains(r.Error.Message, "elicitation.url") {
					t.Errorf("got %+v", r)
				}
			case !r.IsError || !strings.Contains(r.Text, "elicitation.url"):
				t.Errorf("got %+v", r)
			}
		})
	}
}
