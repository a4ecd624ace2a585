package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vetter builds the command, which go vet must be able to run.
func vetter(t *testing.T) func(args ...string) outcome {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "elicit")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(args ...string) outcome {
		t.Helper()
		cmd := exec.Command(binary, args...)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Fatal(err)
		} else if ok {
			return outcome{exit.ExitCode(), out.String(), stderr.String()}
		}
		return outcome{exitOK, out.String(), stderr.String()}
	}
}

var ruleID = regexp.MustCompile(`vet\.go:\d+:\d+: .* \((elicit\d+)\)\n`)

func rulesIn(text string) (ids []string) {
	for _, m := range ruleID.FindAllStringSubmatch(text, -1) {
		ids = append(ids, m[1])
	}
	slices.Sort(ids)
	return ids
}

func TestVet(t *testing.T) {
	elicit := vetter(t)
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"elicit001", "elicit002", "elicit003"}},
		{[]string{"-elicit001=false"}, []string{"elicit002", "elicit003"}},
		{[]string{"-elicit002"}, []string{"elicit002"}},
		{[]string{"-elicit004"}, nil},
		{[]string{"-hints", "-elicit010", "-elicit011", "-elicit002"}, []string{"elicit002"}},
	} {
		code := exitOK
		if len(tt.want) > 0 {
			code = exitToolError
		}
		o := elicit(append(append([]string{"vet"}, tt.args...), "./testdata/vet")...)
		if got := rulesIn(o.err); o.code != code || o.out != "" || !slices.Equal(got, tt.want) {
			t.Errorf("elicit vet %v: exit %d, rules %v, want %d and %v\n%s", tt.args, o.code, got, code, tt.want, o.err)
		}
	}

	o := elicit("vet", "./testdata/vet/helpers")
	if o.code != exitOK || o.out+o.err != "" {
		t.Errorf("of a package that is right: %+v", o)
	}
	if o := elicit("vet", "./testdata/nothing"); o.code != exitToolError || !strings.Contains(o.err, "nothing") {
		t.Errorf("of a package that is not there: %+v", o)
	}
	if o := elicit("vet", "-what", "./testdata/vet"); o.code != exitUsage || !strings.Contains(o.err, "-what") {
		t.Errorf("with a flag that is unknown: %+v", o)
	}
	if o := elicit("vet", "-help"); o.code != exitOK || !strings.HasPrefix(o.out, "Usage: elicit vet") {
		t.Errorf("%+v", o)
	}
}

// What go vet -json gives to editors has the fixes, and the address of the rule.
func TestVetJSON(t *testing.T) {
	o := vetter(t)("vet", "-json", "./testdata/vet")
	if o.code != exitOK {
		t.Fatalf("%+v", o)
	}
	var tree map[string]map[string][]struct {
		Category, Posn, Message, URL string
		Fixes                        []struct {
			Edits []struct {
				Filename, New string
				Start, End    int
			}
		} `json:"suggested_fixes"`
	}
	if err := json.Unmarshal([]byte(o.out), &tree); err != nil {
		t.Fatalf("%v\n%s", err, o.out)
	}
	list := tree["github.com/elicit-go/elicit/cmd/elicit/testdata/vet"]["elicit001"]
	if len(list) != 1 || list[0].Category != "elicit001" || !strings.HasSuffix(list[0].URL, "/docs/analyzers.md#elicit001") || len(list[0].Fixes) != 1 {
		t.Fatalf("%s", o.out)
	}
	e := list[0].Fixes[0].Edits[0]
	source, err := os.ReadFile(e.Filename)
	if err != nil {
		t.Fatal(err)
	}
	if string(source[e.Start:e.End]) != "%v" || e.New != "%w" {
		t.Errorf("the fix puts %q for %q", e.New, source[e.Start:e.End])
	}
}

// -fix is left to unitchecker. Its facts are not those of the plain run.
func TestVetFix(t *testing.T) {
	dir, err := os.MkdirTemp("testdata", "fix")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	source, err := os.ReadFile("testdata/vet/vet.go")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "vet.go")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		t.Fatal(err)
	}
	elicit := vetter(t)
	if o := elicit("vet", "./"+dir); o.code != exitToolError {
		t.Fatalf("before: %+v", o)
	}
	if o := elicit("vet", "-fix", "./"+dir); o.code != exitOK {
		t.Errorf("-fix: %+v", o)
	}
	if o := elicit("vet", "./"+dir); slices.Contains(rulesIn(o.err), "elicit001") || slices.Contains(rulesIn(o.err), "elicit002") {
		t.Errorf("after: %+v", o)
	}
}

// What go vet asks of its tool.
func TestVetTool(t *testing.T) {
	elicit := vetter(t)
	if o := elicit("-V=full"); o.code != exitOK || !strings.Contains(o.out, "buildID=") {
		t.Errorf("-V=full: %+v", o)
	}
	o := elicit("-flags")
	var flags []struct{ Name string }
	if err := json.Unmarshal([]byte(o.out), &flags); err != nil || !strings.Contains(o.out, `"elicit011.on"`) {
		t.Errorf("-flags: %v: %+v", err, o)
	}
	broken := filepath.Join(t.TempDir(), "vet.cfg")
	if o := elicit(broken); o.code != 1 || !strings.Contains(o.err, "vet.cfg") {
		t.Errorf("a file that is not there: %+v", o)
	}
	if err := os.WriteFile(broken, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := elicit(broken); o.code != 1 || !strings.Contains(o.err, "vet.cfg") {
		t.Errorf("a file that is no JSON: %+v", o)
	}
}
