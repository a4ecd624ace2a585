package conformance

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/internal/e2e/harness"
)

// TestServer runs all that a revision of the protocol requires of a server, one subtest for each scenario. It asks for
// more than the suite's own verdict does: in a required scenario, and in those of the tasks extension, a warning (a SHOULD
// that is not met) fails too, and so does a failure in a scenario that the suite runs for information only.
func TestServer(t *testing.T) {
	harness.Node(t)
	passed := map[string]int{} // checks, by scenario of 2026-07-28, on the express path
	for _, c := range []struct {
		name, revision string
		args           []string
	}{{"2025-11-25", "2025-11-25", nil}, {"2026-07-28", "2026-07-28", nil}, {"2026-07-28 without the express path", "2026-07-28", []string{"-sdk"}}} {
		t.Run(c.name, func(t *testing.T) {
			url, revision := harness.Start(t, "internal/conformance/server", c.args...), c.revision
			required := scenarios(t, revision)
			results := t.TempDir()
			out, suiteErr := suite(t, "server", "--url", url, "--requirements", revision, "--output-dir", results)

			dirs, err := filepath.Glob(filepath.Join(results, "server-*"))
			if err != nil {
				t.Fatal(err)
			}
			ran := map[string]bool{}
			for _, dir := range dirs {
				name := scenarioOf(dir)
				ran[name] = true
				t.Run(name, func(t *testing.T) {
					o := outcomeOf(t, filepath.Join(dir, "checks.json"))
					if c.args != nil && passed[name] != o.passed {
						t.Errorf("%d checks passed, with the express path %d", o.passed, passed[name])
					}
					passed[name] = o.passed
					switch {
					case slices.Contains(required, name), slices.Contains(tasks, name):
						if o.passed == 0 {
							t.Error("no check passed")
						}
						o.failures = append(o.failures, o.warnings...)
					}
					for _, f := range o.failures {
						t.Error(f)
					}
				})
			}
			if revision == "2026-07-28" { // tasks came with it
				required = append(required, tasks...)
			}
			for _, name := range required {
				if !ran[name] {
					t.Errorf("%s is required, but was not run", name)
				}
			}
			if suiteErr != nil {
				t.Errorf("the suite says: %v\n%s", suiteErr, out)
			}
		})
	}
}

// tasks are the scenarios of the tasks extension, which the suite runs for information. Its tenth,
// tasks-status-notifications, checks nothing yet.
var tasks = []string{"tasks-capability-negotiation", "tasks-dispatch-and-envelope", "tasks-lifecycle", "tasks-mrtr-composition", "tasks-mrtr-input",
	"tasks-request-headers", "tasks-request-state-removal", "tasks-required-task-error", "tasks-wire-fields"}

// scenarios are the names of those that the suite scores for a revision.
func scenarios(t *testing.T, revision string) []string {
	t.Helper()
	out, err := suite(t, "list", "--requirements", revision)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, list, _ := strings.Cut(out, "Server scenarios")
	list, _, _ = strings.Cut(list, "\n\n")
	var names []string
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("no server scenarios in\n%s", out)
	}
	return names
}

var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// scenarioOf is the scenario whose results are in dir.
func scenarioOf(dir string) string {
	if m := resultDir.FindStringSubmatch(filepath.Base(dir)); m != nil {
		return m[1]
	}
	return filepath.Base(dir)
}

// outcome is what a scenario's checks found.
type outcome struct {
	passed             int
	failures, warnings []string
}

func outcomeOf(t *testing.T, file string) (o outcome) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct {
		ID, Description, Status, ErrorMessage string
		Details                               json.RawMessage
	}
	if err := json.Unmarshal(data, &checks); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, c := range checks {
		text := c.ID + " (" + c.Description + "): " + c.ErrorMessage + "\n" + string(c.Details)
		switch c.Status {
		case "SUCCESS":
			o.passed++
		case "FAILURE":
			o.failures = append(o.failures, text)
		case "WARNING":
			o.warnings = append(o.warnings, text)
		}
	}
	return o
}

// suite runs the conformance suite's command line.
func suite(t *testing.T, args ...string) (string, error) {
	t.Helper()
	node := harness.Node(t)
	main := filepath.Join(harness.NodeDir(), "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{main}, args...)...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	return string(out), err
}
