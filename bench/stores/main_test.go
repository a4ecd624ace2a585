package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/elicit-go/elicit/bench/internal/peer"
)

// Every path runs to its end on few rows, and every reply on it is right: the program ends at the first that is not. What
// it took is not looked at.
func TestEveryPath(t *testing.T) {
	program := filepath.Join(t.TempDir(), "stores")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(want int, args ...string) {
		t.Helper()
		out, err := exec.Command(program, append([]string{"-for", "20ms"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if lines := regexp.MustCompile(`(?m)^ +\d+ .*\d+\.\d+ / \d+\.\d+ ms`).FindAllString(string(out), -1); len(lines) != want {
			t.Errorf("%d lines of measures, not %d:\n%s", len(lines), want, out)
		}
	}
	run(4, "-sqlite", "1000", "-postgres", "0", "-peer", "0")
	run(4, "-sqlite", "0", "-postgres", "1000", "-peer", "0")
	if err := peer.Installed(); err != nil {
		t.Skip(err)
	}
	run(2, "-sqlite", "0", "-postgres", "0", "-peer", "1000")
}
