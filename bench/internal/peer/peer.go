// Package peer builds, starts and measures the servers that the benchmark compares.
package peer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// A Peer is a server that the benchmark compares.
type Peer struct {
	Name  string
	Title string
	// Warm is how long it needs to reach its speed, at least.
	Warm time.Duration
}

// Elicit is the name of this library's server.
const Elicit = "elicit"

// Floor is the name of the server without any library.
const Floor = "floor"

// TypeScript is the name of the server that runs on Node.
const TypeScript = "typescript"

// All are the peers, in the order in which they are run and reported.
var All = []*Peer{
	{Name: Elicit, Title: "elicit"},
	{Name: Floor, Title: "plain net/http (the floor)"},
	{Name: "mcpgo", Title: "mark3labs/mcp-go v1.2.1"},
	{Name: "gosdk", Title: "go-sdk v1.8.0, stateless, JSON"},
	// Its compiler goes on for a while.
	{Name: TypeScript, Title: "TypeScript SDK 2.4.0", Warm: 3 * time.Second},
}

// IsGo reports whether the peer can tell what it allocated.
func (p *Peer) IsGo() bool { return p.Name != TypeScript }

// Dir is the directory of the benchmark's module.
func Dir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

func nodeDir() string { return filepath.Join(Dir(), "servers", TypeScript) }

// Build builds the servers into a directory.
func Build(ctx context.Context, bin string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), "./servers/...")
	build.Dir = Dir()
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	return nil
}

// Installed is an error if the packages of the TypeScript server are not those that its lock file names.
func Installed() error {
	lock, err := os.ReadFile(filepath.Join(nodeDir(), "package-lock.json"))
	if err != nil {
		return err
	}
	installed, err := os.ReadFile(filepath.Join(nodeDir(), "node_modules", ".installed.json"))
	if err != nil || !bytes.Equal(installed, lock) {
		return fmt.Errorf("the Node packages of bench/servers/typescript are not installed, or are not those of package-lock.json: run `make bench`")
	}
	_, err = exec.LookPath("node")
	return err
}

// NodeVersion is the version of the Node that runs the TypeScript server.
func NodeVersion() string {
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "none"
	}
	return string(bytes.TrimSpace(out))
}
