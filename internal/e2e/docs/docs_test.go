// Package docs tests that what the README and docs/ show works as they show it.
//
// The blocks of Go in one file are one package, and are compiled. A word after "go" ("```go bare") begins another package
// of that name in the same file, for a second version of the same thing. A block of statements is compiled as a function.
// Imports of well-known packages need not be written.
package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"net/http"
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

const root = "../../.."

// imports are those that blocks may leave out, by the name of the package.
var imports = map[string]string{
	"elicit": "github.com/elicit-go/elicit", "form": "github.com/elicit-go/elicit/form", "answer": "github.com/elicit-go/elicit/answer", "browser": "github.com/elicit-go/elicit/answer/browser",
	"page": "github.com/elicit-go/elicit/page", "url": "net/url",
	"elicittest": "github.com/elicit-go/elicit/elicittest", "tasks": "github.com/elicit-go/elicit/tasks", "sqlite": "github.com/elicit-go/elicit/tasks/sqlite", "streamable": "github.com/elicit-go/elicit/streamable",
	"mcp": "github.com/modelcontextprotocol/go-sdk/mcp", "auth": "github.com/modelcontextprotocol/go-sdk/auth",
	"sqlvault": "github.com/elicit-go/elicit/page/sqlvault", "oidc": "github.com/elicit-go/elicit/page/oidc", "oauth2": "golang.org/x/oauth2",
	"json": "encoding/json", "http": "net/http", "httptest": "net/http/httptest", "base64": "encoding/base64", "slog": "log/slog", "rand": "crypto/rand", "sql": "database/sql",
	"context": "context", "errors": "errors", "fmt": "fmt", "log": "log", "os": "os", "strings": "strings", "slices": "slices", "testing": "testing", "time": "time", "sync": "sync",
}

type block struct{ lang, group, text string }

var fence = regexp.MustCompile("(?ms)^```(\\w+)?(?: +(\\w+))?\\n(.*?)^```$")

func blocks(t *testing.T, file string) []block {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for _, m := range fence.FindAllSubmatch(b, -1) {
		all = append(all, block{string(m[1]), string(m[2]), string(m[3])})
	}
	return all
}

func pages(t *testing.T) []string {
	t.Helper()
	files := []string{filepath.Join(root, "README.md")}
	more, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return append(files, more...)
}

// Snippets compile, and the analyzers find nothing in them, but in a block that is named after a rule, as wrong001, just that.
func TestSnippetsCompile(t *testing.T) {
	// Inside the module, so that the workspace resolves its imports.
	dir, err := os.MkdirTemp(".", "snippets-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := 0
	for i, page := range pages(t) {
		for j, b := range blocks(t, page) {
			if b.lang != "go" {
				continue
			}
			pkg := filepath.Join(dir, fmt.Sprintf("p%d%s", i, b.group))
			if err := os.MkdirAll(pkg, 0o755); err != nil {
				t.Fatal(err)
			}
			src, err := file(b.text, fmt.Sprintf("%s, block %d", filepath.Base(page), j+1))
			if err != nil {
				t.Errorf("%s, block %d: %v\n%s", page, j+1, err, b.text)
				continue
			}
			if err := os.WriteFile(filepath.Join(pkg, fmt.Sprintf("b%d.go", j)), src, 0o644); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	if n == 0 {
		t.Fatal("no blocks found")
	}
	if out, err := exec.Command("go", "vet", "./"+dir+"/...").CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	analyze(t, dir)
}

var (
	wrong = regexp.MustCompile(`wrong(\d+)$`)
	hint  = regexp.MustCompile(`^elicit01[01]$`) // for the blocks of the page about them alone
)

// analyze runs elicit vet on all snippets.
func analyze(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(harness.Build(t, "cmd/elicit"), "vet", "-hints", "-json", "./"+dir+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	found := map[string]map[string]int{} // by package and rule
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var tree map[string]map[string][]struct{ Posn, Message string }
		if err := d.Decode(&tree); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for pkg, rules := range tree {
			for rule, list := range rules {
				named := wrong.FindStringSubmatch(pkg)
				switch {
				case named != nil && rule == "elicit"+named[1]:
					if found[pkg] == nil {
						found[pkg] = map[string]int{}
					}
					found[pkg][rule] += len(list)
				case hint.MatchString(rule) && !strings.Contains(pkg, "right"):
				default:
					for _, x := range list {
						t.Errorf("%s: %s", x.Posn, x.Message)
					}
				}
			}
		}
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*wrong*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 11 {
		t.Errorf("%d rules have a block that is wrong", len(packages))
	}
	for _, p := range packages {
		if pkg := "github.com/elicit-go/elicit/internal/e2e/docs/" + filepath.ToSlash(p); found[pkg] == nil {
			t.Errorf("nothing is wrong with %s", pkg)
		}
	}
}

// file makes a file of package snippets of a block.
func file(text, name string) ([]byte, error) {
	fset := token.NewFileSet()
	var failed error
	for _, c := range []string{text, "package snippets\n" + text, "package snippets\nfunc _(ctx context.Context) error {\n" + text + "\nreturn nil\n}\n"} {
		f, err := parser.ParseFile(fset, name, c, 0)
		if err != nil {
			failed = err
			continue
		}
		body := c[strings.Index(c, "package "):]
		_, body, _ = strings.Cut(body, "\n")
		var b bytes.Buffer
		b.WriteString("package snippets\n")
		if len(f.Imports) == 0 {
			for _, path := range needed(f) {
				fmt.Fprintf(&b, "import %q\n", path)
			}
		}
		b.WriteString(body)
		// A program's main is a function like any other here.
		return bytes.Replace(b.Bytes(), []byte("\nfunc main() {"), []byte("\nfunc _() {"), 1), nil
	}
	return nil, failed
}

// needed are the imports that a file uses and does not declare.
func needed(f *ast.File) []string {
	var paths []string
	for _, x := range f.Unresolved {
		if path := imports[x.Name]; path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// The README's curl commands, copied from it, give what it says.
func TestReadmeByHand(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	bin := filepath.Join(t.TempDir(), "shiporder")
	build := exec.Command("go", "build", "-o", bin, "./examples/shiporder")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.Command(bin, "-addr", addr)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	waitFor(t, "http://"+addr)
	var commands []string
	for _, b := range blocks(t, filepath.Join(root, "README.md")) {
		if b.lang == "sh" && strings.HasPrefix(b.text, "curl ") {
			commands = append(commands, strings.ReplaceAll(b.text, "localhost:5280", addr))
		}
	}
	if len(commands) != 2 {
		t.Fatalf("the README has %d curl commands", len(commands))
	}
	for i, want := range []string{`"resultType":"input_required"`, `Shipped as 1Z999.`} {
		out, err := exec.Command("sh", "-c", strings.Replace(commands[i], "curl ", "curl -sS ", 1)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: got %s, want something with %s", err, out, want)
		}
	}
}

func waitFor(t *testing.T, url string) {
	t.Helper()
	for range 200 {
		if res, err := http.Get(url); err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatal("the server does not answer")
}

// The README's program is the example.
func TestReadmeProgramIsTheExample(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root, "examples/shiporder/main.go"))
	if err != nil {
		t.Fatal(err)
	}
	shown := blocks(t, filepath.Join(root, "README.md"))[0].text
	from, to := strings.Index(shown, "var ship"), strings.Index(shown, "\nfunc main")
	if from < 0 || to < 0 || !strings.Contains(string(example), shown[from:to]) {
		t.Error("the handler in the README is not that of examples/shiporder")
	}
}
