package lint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elicit-go/elicit/lint"
)

// What the fixes make is not only what the golden files say, it compiles.
func TestFixedCodeCompiles(t *testing.T) {
	golden, err := filepath.Glob("testdata/*/*.golden")
	if err != nil || len(golden) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	// Inside the module, and where internal imports of testdata resolve.
	dir, err := os.MkdirTemp("testdata", "fixed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, g := range golden {
		from := filepath.Dir(g)
		to := filepath.Join(dir, filepath.Base(from))
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(from, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file + ".golden")
			if os.IsNotExist(err) {
				src, err = os.ReadFile(file)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), src, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range packages {
		packages[i] = "./" + p
	}
	if out, err := exec.Command("go", append([]string{"build"}, packages...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Each rule has its paragraph, to which its diagnostics link.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/analyzers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range lint.Analyzers() {
		if !strings.Contains(string(page), "\n## "+a.Name+"\n") {
			t.Errorf("docs/analyzers.md has no heading for %s", a.Name)
		}
		if !strings.HasSuffix(a.URL, "/docs/analyzers.md#"+a.Name) {
			t.Errorf("%s links to %s", a.Name, a.URL)
		}
		if rest, _, _ := strings.Cut(a.Doc, "\n"); len(rest) > 90 || rest == a.Doc {
			t.Errorf("the Doc of %s begins with %q; it is a short line, and reason and fix after it", a.Name, rest)
		}
	}
}
