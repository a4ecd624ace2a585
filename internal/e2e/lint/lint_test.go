package lint

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/e2e/harness"
)

// The two Go SDKs, at the versions that this workspace requires, with their examples: whatever is reported there is a false
// alarm, unless it is listed here with the reason why it is none.
var expected = map[string]map[string]string{ // module → rule: message → why it is right
	"github.com/modelcontextprotocol/go-sdk": {},
	"github.com/mark3labs/mcp-go":            {},
}

// broken makes a mistake in a schema of each.
var broken = map[string]struct{ file, old, new string }{
	"github.com/modelcontextprotocol/go-sdk": {"examples/server/everything/main.go", `"random": {Type: "string"}`, `"random": {Type: "object"}`},
	"github.com/mark3labs/mcp-go":            {"examples/elicitation/main.go", `"minLength":   1,`, `"pattern":     "^[a-z]+$",`},
}

func TestOtherModules(t *testing.T) {
	if os.Getenv("ELICIT_E2E") == "0" {
		t.Skip("make analyze runs it")
	}
	elicit := harness.Build(t, "cmd/elicit")
	for module, known := range expected {
		t.Run(filepath.Base(module), func(t *testing.T) {
			list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
			list.Dir = harness.Root()
			dir, err := list.Output()
			if err != nil {
				t.Fatalf("%s: %v", list, err)
			}
			// A copy: modules in the cache cannot be changed, and go vet may want to add to go.sum.
			own := t.TempDir()
			if err := os.CopyFS(own, os.DirFS(strings.TrimSpace(string(dir)))); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(elicit, "vet", "-json", "./...")
			cmd.Dir = own
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "PWD="+own)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
			}
			seen := map[string]bool{}
			for d := json.NewDecoder(bytes.NewReader(out)); ; {
				var tree map[string]map[string][]struct{ Posn, Message string }
				if err := d.Decode(&tree); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				for _, rules := range tree {
					for rule, list := range rules {
						for _, x := range list {
							what := rule + ": " + x.Message
							seen[what] = true
							if known[what] == "" {
								t.Errorf("%s: %s", x.Posn, x.Message)
							}
						}
					}
				}
			}
			// A mistake that is put into an example is found, so that silence says something.
			b, err := os.ReadFile(filepath.Join(own, broken[module].file))
			if err != nil {
				t.Fatal(err)
			}
			b = bytes.Replace(b, []byte(broken[module].old), []byte(broken[module].new), 1)
			if err := os.WriteFile(filepath.Join(own, broken[module].file), b, 0o644); err != nil {
				t.Fatal(err)
			}
			cmd = exec.Command(elicit, "vet", "./"+filepath.Dir(broken[module].file))
			cmd.Dir, cmd.Env = own, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "PWD="+own)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "(elicit009)") {
				t.Errorf("with a mistake: %v\n%s", err, out)
			}
			for what := range known {
				if !seen[what] {
					t.Errorf("not reported any more: %s", what)
				}
			}
		})
	}
}
