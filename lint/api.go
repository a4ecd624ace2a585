package lint

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// The packages whose functions are known by name.
const (
	elicitPath = "github.com/elicit-go/elicit"
	formPath   = elicitPath + "/form"
	pagePath   = elicitPath + "/page"
	tasksPath  = elicitPath + "/tasks"
	sdkPath    = "github.com/modelcontextprotocol/go-sdk/mcp"
	mcpgoPath  = "github.com/mark3labs/mcp-go/mcp"
)

// callee is the function or method that a call calls, without type arguments; of an interface, the interface's method; nil for
// a function value.
func callee(c *ssa.CallCommon) *types.Func {
	if c.IsInvoke() {
		return c.Method.Origin()
	}
	if f := c.StaticCallee(); f != nil {
		return objectOf(f)
	}
	return nil
}

// objectOf is the declared function that a function of SSA form is, or wraps.
func objectOf(f *ssa.Function) *types.Func {
	if o := f.Origin(); o != nil {
		f = o
	}
	if obj, ok := f.Object().(*types.Func); ok {
		return obj.Origin()
	}
	return nil
}

// isAPI reports whether the functions of a package are known by name, and not by what is in them.
func isAPI(p *types.Package) bool {
	switch p.Path() {
	case elicitPath, formPath, pagePath, tasksPath:
		return true
	}
	return false
}

// nameOf is a function as "path.Name", and a method as "path.Type.Name".
func nameOf(f *types.Func) string {
	if f == nil || f.Pkg() == nil {
		return ""
	}
	name := f.Pkg().Path() + "."
	if recv := f.Signature().Recv(); recv != nil {
		name += typeName(recv.Type()) + "."
	}
	return name + f.Name()
}

// typeName is the name of a named type, or of what a pointer points to.
func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// isNamed reports whether t is the named type, or points to it.
func isNamed(t types.Type, path, name string) bool {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

func isQuestion(t types.Type) bool { return isNamed(t, elicitPath, "Question") }
func isContext(t types.Type) bool  { return isNamed(t, "context", "Context") }

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// contextOf is the context that a call is given, or nil.
func contextOf(c *ssa.CallCommon) ssa.Value {
	for _, a := range c.Args {
		if isContext(a.Type()) {
			return a
		}
	}
	return nil
}

// asks reports whether f is a function of elicit whose error says that the user is being asked. It is the last result.
func asks(f *types.Func) bool {
	switch nameOf(f) {
	case elicitPath + ".Question.Require", elicitPath + ".Question.Value", elicitPath + ".RequireAll", tasksPath + ".Begin":
		return true
	}
	return false
}

// asksQuestions reports whether f asks questions, rather than something else.
func asksQuestions(f *types.Func) bool { return asks(f) && f.Name() != "Begin" }

// endsProgram reports whether f does not return.
func endsProgram(f *types.Func) bool {
	switch nameOf(f) {
	case "os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln",
		"log.Logger.Fatal", "log.Logger.Fatalf", "log.Logger.Fatalln", "log.Logger.Panic", "log.Logger.Panicf", "log.Logger.Panicln",
		"testing.common.Fatal", "testing.common.Fatalf", "testing.common.FailNow", "testing.TB.Fatal", "testing.TB.Fatalf", "testing.TB.FailNow":
		return true
	}
	return false
}

// isLog reports whether f writes what it is given to a log, and nothing else: by its package's or its type's name.
func isLog(f *types.Func) bool {
	if f == nil || f.Pkg() == nil {
		return false
	}
	path := f.Pkg().Path()
	if path == "fmt" && (strings.HasPrefix(f.Name(), "Print") || strings.HasPrefix(f.Name(), "Fprint")) {
		return true
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	for _, log := range []string{"log", "slog", "zap", "zerolog", "logrus", "klog", "logr", "glog", "testing"} {
		if last == log {
			return true
		}
	}
	if recv := f.Signature().Recv(); recv != nil && strings.Contains(strings.ToLower(typeName(recv.Type())), "log") {
		return true
	}
	return strings.HasPrefix(strings.ToLower(f.Name()), "log") && f.Signature().Results().Len() == 0
}

// isMain reports whether a function is no handler for certain: the program's main function, or a test.
func isMain(fn *ssa.Function) bool {
	for {
		for _, p := range fn.Params {
			for _, name := range []string{"T", "B", "F", "TB"} {
				if isNamed(p.Type(), "testing", name) {
					return true
				}
			}
		}
		if fn.Parent() == nil {
			break
		}
		fn = fn.Parent()
	}
	return fn.Name() == "main" && fn.Pkg != nil && fn.Pkg.Pkg.Name() == "main" && fn.Signature.Recv() == nil
}

// position is where a call stands in the source: at its parenthesis.
func position(c ssa.CallInstruction) token.Pos {
	if p := c.Common().Pos(); p.IsValid() {
		return p
	}
	return c.Pos()
}
