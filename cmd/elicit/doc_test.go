package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoc(t *testing.T) {
	try(t, "doc", "-check", "./internal/docgen/testdata/shop").want(t, exitOK, "")
	try(t, "doc", "-check", "-types=Unasked", "./internal/docgen/testdata/shop").want(t, exitToolError, "", "out of date: "+filepath.FromSlash("internal/docgen/testdata/shop/elicit_doc.go")+"; run go generate")
	try(t, "doc", "-types=Nobody", "./internal/docgen/testdata/shop").want(t, exitToolError, "", "has no struct Nobody")
	try(t, "doc", "-unknown").want(t, exitUsage, "", "flag provided but not defined", "elicit doc -help")
	if o := try(t, "doc", "-help"); o.code != exitOK || !strings.HasPrefix(o.out, "Usage: elicit doc [-check]") {
		t.Errorf("%+v", o)
	}

	dir, err := os.MkdirTemp("internal/docgen/testdata", "tmp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	source := "package p\n\nimport \"github.com/elicit-go/elicit/form\"\n\ntype s struct {\n\t// What.\n\tA string\n}\n\nvar f = form.For[s]()\n"
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	path := "./" + filepath.ToSlash(dir)
	try(t, "doc", "--check", path).want(t, exitToolError, "", "out of date")
	try(t, "doc", path).want(t, exitOK, "", "wrote "+filepath.Join(dir, "elicit_doc.go"))
	try(t, "doc", "-check", path).want(t, exitOK, "")
	try(t, "doc", path).want(t, exitOK, "")
}
