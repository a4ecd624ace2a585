package lint

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"
)

// A unit is a package as go vet describes it to its vettool; see golang.org/x/tools/go/analysis/unitchecker.Config.
type unit struct {
	ID, Compiler, ImportPath, GoVersion string
	ModulePath, ModuleVersion           string
	GoFiles, NonGoFiles, IgnoredFiles   []string
	ImportMap                           map[string]string // import path → package path
	PackageFile                         map[string]string // package path → export data
	PackageVetx                         map[string]string // package path → facts
	VetxOnly                            bool              // for the facts alone
	VetxOutput                          string            // where to write them
	Stdout                              string            // in place of standard output

	fset  *token.FileSet
	facts map[factKey]analysis.Fact
}

// A factKey is what a fact is about: an object, or a package.
type factKey struct {
	pkg  *types.Package
	obj  types.Object
	fact reflect.Type
}

// A savedFact is a fact in a file.
type savedFact struct {
	Package string
	Object  objectpath.Path
	Fact    analysis.Fact
}

// A finding is what a rule reports.
type finding struct {
	analysis.Diagnostic
	rule string
}

func readUnit(name string) (*unit, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	u := &unit{fset: token.NewFileSet(), facts: map[factKey]analysis.Fact{}}
	if err := json.Unmarshal(b, u); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return u, nil
}

// run runs the rules on the package, and writes its facts.
func (u *unit) run(rules []*analysis.Analyzer) ([]finding, error) {
	if !u.relevant() {
		return nil, os.WriteFile(u.VetxOutput, nil, 0o666)
	}
	var files []*ast.File
	for _, name := range u.GoFiles {
		f, err := parser.ParseFile(u.fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	imported := map[string]*types.Package{} // by package path
	compiled := importer.ForCompiler(u.fset, u.Compiler, func(path string) (io.ReadCloser, error) {
		file, ok := u.PackageFile[path]
		if !ok {
			return nil, fmt.Errorf("no export data of %q", path)
		}
		return os.Open(file)
	})
	conf := types.Config{
		GoVersion: u.GoVersion, Sizes: types.SizesFor("gc", build.Default.GOARCH),
		Importer: importerFunc(func(path string) (*types.Package, error) {
			if path == "unsafe" {
				return types.Unsafe, nil
			}
			path, ok := u.ImportMap[path]
			if !ok {
				return nil, fmt.Errorf("nothing known of the import %q", path)
			}
			pkg, err := compiled.Import(path)
			imported[path] = pkg
			return pkg, err
		}),
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	pkg, err := conf.Check(u.ImportPath, u.fset, files, info)
	if err != nil {
		return nil, err
	}
	for _, f := range modelAnalyzer.FactTypes {
		gob.Register(f)
	}
	if err := u.readFacts(imported); err != nil {
		return nil, err
	}
	if u.VetxOnly {
		rules = nil
	}
	var found []finding
	pass := func(a *analysis.Analyzer, results map[*analysis.Analyzer]any) *analysis.Pass {
		return &analysis.Pass{
			Analyzer: a, Fset: u.fset, Files: files, OtherFiles: u.NonGoFiles, IgnoredFiles: u.IgnoredFiles, Pkg: pkg, TypesInfo: info, TypesSizes: conf.Sizes,
			Module: &analysis.Module{Path: u.ModulePath, Version: u.ModuleVersion, GoVersion: u.GoVersion}, ResultOf: results, ReadFile: os.ReadFile,
			Report: func(d analysis.Diagnostic) { found = append(found, finding{d, a.Name}) },
			ImportObjectFact: func(obj types.Object, f analysis.Fact) bool {
				return u.get(factKey{obj.Pkg(), obj, reflect.TypeOf(f)}, f)
			},
			ExportObjectFact:  func(obj types.Object, f analysis.Fact) { u.facts[factKey{obj.Pkg(), obj, reflect.TypeOf(f)}] = f },
			ImportPackageFact: func(p *types.Package, f analysis.Fact) bool { return u.get(factKey{p, nil, reflect.TypeOf(f)}, f) },
			ExportPackageFact: func(f analysis.Fact) { u.facts[factKey{pkg, nil, reflect.TypeOf(f)}] = f },
		}
	}
	model, err := modelAnalyzer.Run(pass(modelAnalyzer, nil))
	if err != nil {
		return nil, err
	}
	for _, a := range rules {
		if _, err := a.Run(pass(a, map[*analysis.Analyzer]any{modelAnalyzer: model})); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return int(a.Pos - b.Pos) })
	return found, u.writeFacts(pkg)
}

// relevant reports whether there may be something to find in the package, or to know of it.
func (u *unit) relevant() bool {
	paths := []string{elicitPath, formPath}
	if !u.VetxOnly {
		paths = append(paths, sdkPath, mcpgoPath)
		if u.ImportPath == sdkPath || u.ImportPath == mcpgoPath {
			return true
		}
	}
	for _, imported := range u.ImportMap {
		if slices.Contains(paths, imported) {
			return true
		}
	}
	for _, file := range u.PackageVetx {
		if info, err := os.Stat(file); err != nil || info.Size() > 0 {
			return true
		}
	}
	return false
}

// get copies a fact.
func (u *unit) get(k factKey, to analysis.Fact) bool {
	f, ok := u.facts[k]
	if ok {
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(f).Elem())
	}
	return ok
}

// readFacts reads the facts of the packages that are imported.
func (u *unit) readFacts(imported map[string]*types.Package) error {
	byPath := map[string]*types.Package{}
	var add func(p *types.Package)
	add = func(p *types.Package) {
		if byPath[p.Path()] == nil {
			byPath[p.Path()] = p
			for _, i := range p.Imports() {
				add(i)
			}
		}
	}
	for _, p := range imported {
		add(p)
	}
	for path := range imported {
		file, ok := u.PackageVetx[path]
		if !ok {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			continue
		}
		var list []savedFact
		if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&list); err != nil {
			return fmt.Errorf("the facts of %s: %w", path, err)
		}
		for _, f := range list {
			p := byPath[f.Package]
			if p == nil {
				continue // nothing here is of that package
			}
			k := factKey{pkg: p, fact: reflect.TypeOf(f.Fact)}
			if f.Object != "" {
				if k.obj, err = objectpath.Object(p, f.Object); err != nil {
					continue // it is not exported
				}
			}
			u.facts[k] = f.Fact
		}
	}
	return nil
}

// writeFacts writes the facts of the package, and those of methods of other packages, which it may give on.
func (u *unit) writeFacts(pkg *types.Package) error {
	var list []savedFact
	var enc objectpath.Encoder
	for k, fact := range u.facts {
		f := savedFact{Package: k.pkg.Path(), Fact: fact}
		if k.pkg != pkg && (k.obj == nil || k.obj.Parent() == k.pkg.Scope()) {
			continue // who needs it imports that package
		}
		if k.obj != nil {
			path, err := enc.For(k.obj)
			if err != nil {
				continue // nobody else can name it
			}
			f.Object = path
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b savedFact) int {
		return strings.Compare(a.Package+"\x00"+string(a.Object)+"\x00"+reflect.TypeOf(a.Fact).String(), b.Package+"\x00"+string(b.Object)+"\x00"+reflect.TypeOf(b.Fact).String())
	})
	var b bytes.Buffer
	if len(list) > 0 {
		if err := gob.NewEncoder(&b).Encode(list); err != nil {
			return err
		}
	}
	return os.WriteFile(u.VetxOutput, b.Bytes(), 0o666)
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// What go vet -json prints, with the address of the rule.
type (
	jsonDiagnostic struct {
		Category string        `json:"category,omitempty"`
		Posn     string        `json:"posn"`
		End      string        `json:"end"`
		Message  string        `json:"message"`
		URL      string        `json:"url,omitempty"`
		Fixes    []jsonFix     `json:"suggested_fixes,omitempty"`
		Related  []jsonRelated `json:"related,omitempty"`
	}
	jsonFix struct {
		Message string     `json:"message"`
		Edits   []jsonEdit `json:"edits"`
	}
	jsonEdit struct {
		Filename string `json:"filename"`
		Start    int    `json:"start"`
		End      int    `json:"end"`
		New      string `json:"new"`
	}
	jsonRelated struct {
		Posn    string `json:"posn"`
		End     string `json:"end"`
		Message string `json:"message"`
	}
)

// tree is what was found, by package and rule.
func (u *unit) tree(found []finding) map[string]map[string][]jsonDiagnostic {
	if len(found) == 0 {
		return nil
	}
	at := func(pos, end token.Pos) (string, string) {
		if !end.IsValid() {
			end = pos
		}
		return u.fset.Position(pos).String(), u.fset.Position(end).String()
	}
	rules := map[string][]jsonDiagnostic{}
	for _, f := range found {
		d := jsonDiagnostic{Category: f.Category, Message: f.Message, URL: f.URL}
		d.Posn, d.End = at(f.Pos, f.End)
		for _, s := range f.SuggestedFixes {
			fix := jsonFix{Message: s.Message}
			for _, e := range s.TextEdits {
				file := u.fset.File(e.Pos)
				end := e.End
				if !end.IsValid() {
					end = e.Pos
				}
				fix.Edits = append(fix.Edits, jsonEdit{file.Name(), file.Offset(e.Pos), file.Offset(end), string(e.NewText)})
			}
			d.Fixes = append(d.Fixes, fix)
		}
		for _, r := range f.Related {
			rel := jsonRelated{Message: r.Message}
			rel.Posn, rel.End = at(r.Pos, r.End)
			d.Related = append(d.Related, rel)
		}
		rules[f.rule] = append(rules[f.rule], d)
	}
	return map[string]map[string][]jsonDiagnostic{u.ID: rules}
}
