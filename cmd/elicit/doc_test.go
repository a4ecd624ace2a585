package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tryDoc runs elicit doc for as long as it takes: it compiles what the packages import.
func tryDoc(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	o := outcome{code: run(t.Context(), &console{in: strings.NewReader(""), out: &out, err: &err}, append([]string{"doc"}, args...))}
	o.out, o.err = out.String(), err.String()
	return o
}

func TestDoc(t *testing.T) {
	dir, err := os.MkdirTemp("internal/docgen/testdata", "tmp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	source := "package p\n\nimport \"github.com/elicit-go/elicit/form\"\n\ntype s struct {\n\t// What.\n\tA string\n}\n\nvar f = form.For[s]()\n"
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	path, file := "./"+filepath.ToSlash(dir), filepath.Join(dir, "elicit_doc.go")
	tryDoc(t, "--check", path).want(t, exitToolError, "", "out of date: "+file+"; run go generate")
	tryDoc(t, path).want(t, exitOK, "", "wrote "+file)
	tryDoc(t, "-check", path).want(t, exitOK, "")
	tryDoc(t, "-types=Nobody", path).want(t, exitToolError, "", "has no struct Nobody")

	tryDoc(t, "-unknown").want(t, exitUsage, "", "flag provided but not defined", "elicit doc -help")
	if o := tryDoc(t, "-help"); o.code != exitOK || !strings.HasPrefix(o.out, "Usage: elicit doc [-check]") {
		t.Errorf("%+v", o)
	}
}
