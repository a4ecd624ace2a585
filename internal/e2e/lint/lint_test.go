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

func TestOtherModules(t *testing.T) {
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
			for what := range known {
				if !seen[what] {
					t.Errorf("not reported any more: %s", what)
				}
			}
		})
	}
}
