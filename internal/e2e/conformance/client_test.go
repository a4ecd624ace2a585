package conformance

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/internal/e2e/harness"
)

// TestClient runs all that 2026-07-28 requires of a client, but for authorization, which this library leaves to the SDK.
func TestClient(t *testing.T) {
	harness.Node(t)
	binary := filepath.Join(t.TempDir(), "client")
	build := exec.Command("go", "build", "-race", "-o", binary, "./internal/conformance/client")
	build.Dir = harness.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const revision = "2026-07-28"
	out, err := suite(t, "list", "--requirements", revision)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, list, _ := strings.Cut(out, "Client scenarios")
	list, _, _ = strings.Cut(list, "\n\n")
	ran := 0
	for line := range strings.Lines(list) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok || strings.HasPrefix(name, "auth/") {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			results := t.TempDir()
			out, suiteErr := suite(t, "client", "--command", binary, "--scenario", name, "--spec-version", revision, "--output-dir", results)
			files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%v, results %q\n%s", err, files, out)
			}
			o := outcomeOf(t, files[0])
			if o.passed == 0 {
				t.Error("no check passed")
			}
			for _, f := range append(o.failures, o.warnings...) {
				t.Error(f)
			}
			if suiteErr != nil {
				t.Errorf("the suite says: %v\n%s", suiteErr, out)
			}
		})
	}
	if ran == 0 {
		t.Fatalf("no client scenarios in\n%s", out)
	}
}
