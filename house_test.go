package elicit_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(b))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// What a program that imports this package compiles and needs beyond the SDK.
func TestDependencies(t *testing.T) {
	const module = "{{with .Module}}{{.Path}}{{end}}"
	ours := goList(t, "-deps", "-f", module, ".", "./form", "./streamable", "./elicittest", "./answer")
	sdk := goList(t, "-deps", "-f", module, "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/modelcontextprotocol/go-sdk/auth")
	for _, m := range ours {
		if m != "github.com/elicit-go/elicit" && !slices.Contains(sdk, m) {
			t.Errorf("a program that imports elicit compiles packages of %s, which the SDK does not need", m)
		}
	}
	direct := goList(t, "-m", "-f", "{{if not .Indirect}}{{.Path}}{{end}}", "all")
	for _, m := range direct {
		if m != "github.com/elicit-go/elicit" && !slices.Contains(sdk, m) {
			t.Errorf("the root module requires %s, which the SDK does not need; modules that only tests need belong in internal/e2e", m)
		}
	}
}
