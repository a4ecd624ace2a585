package lint

import (
	"go/token"
	"go/types"
	"golang.org/x/tools/go/ssa"
	"strings"
)

// changes finds values that are others in every run of a function.
type changes struct {
	m    *model
	seen map[ssa.Value]bool
}

// of says what a value depends on that changes, "" for nothing.
func (ch *changes) of(v ssa.Value) string {
	if a, ok := v.(*ssa.Alloc); ok {
		return ch.stored(a)
	}
	if v == nil || ch.seen[v] {
		return ""
	}
	ch.seen[v] = true
	defer delete(ch.seen, v)
	switch v := v.(type) {
	case *ssa.Call:
		return ch.call(v)
	case *ssa.Extract:
		if c, ok := v.Tuple.(*ssa.Call); ok {
			if fact := ch.m.fact(c.Common().StaticCallee()); len(fact.Changing) > 0 {
				for _, i := range fact.Changing {
					if i == v.Index {
						return "what " + c.Common().StaticCallee().Name() + " returns, which changes"
					}
				}
				return ""
			}
		}
		if _, ok := v.Tuple.(*ssa.Call); ok && isError(v.Type()) {
			return ""
		}
		return ch.of(v.Tuple)
	case *ssa.BinOp:
		switch v.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return ""
		}
		if why := mapOrder(v, v.X, v.Y); why != "" {
			return why
		}
		return either(ch.of(v.X), func() string { return ch.of(v.Y) })
	case *ssa.Phi:
		for _, e := range v.Edges {
			if why := ch.of(e); why != "" && !(why == ofMap && sorted(v)) {
				return why
			}
		}
	case *ssa.UnOp:
		if v.Op != token.MUL {
			return ch.of(v.X)
		}
		switch x := root(v.X).(type) {
		case *ssa.Alloc:
			if f, ok := v.X.(*ssa.FieldAddr); ok {
				return ch.field(x, f)
			}
			return ch.stored(x)
		case *ssa.FreeVar:
			if a, ok := binding(x).(*ssa.Alloc); ok && x == v.X {
				return ch.stored(a)
			}
		}
	case *ssa.FreeVar:
		return ch.of(binding(v))
	case *ssa.Slice:
		return ch.of(v.X)
	case *ssa.Convert:
		return ch.of(v.X)
	case *ssa.ChangeType:
		return ch.of(v.X)
	case *ssa.MakeInterface:
		return ch.of(v.X)
	case *ssa.ChangeInterface:
		return ch.of(v.X)
	case *ssa.Field:
		if load, ok := v.X.(*ssa.UnOp); ok && load.Op == token.MUL {
			return "" // a copy of a struct, of which another field may be what changes
		}
		return ch.of(v.X)
	case *ssa.Index:
		return ch.of(v.X)
	}
	return ""
}

func either(a string, b func() string) string {
	if a != "" {
		return a
	}
	return b()
}

// field is what is put into one field of a struct.
func (ch *changes) field(a *ssa.Alloc, f *ssa.FieldAddr) (why string) {
	want := identity(f)
	var look func(v ssa.Value)
	look = func(v ssa.Value) {
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.FieldAddr:
				if identity(ref) == want && why == "" {
					why = ch.stored(ref)
				} else if strings.HasPrefix(want, identity(ref)+".") {
					look(ref)
				}
			}
		}
	}
	look(a)
	return why
}

const ofMap = "the order of a map"

// stored is what is put into a variable, or an array or struct, of the function.
func (ch *changes) stored(a ssa.Value) string {
	if ch.seen[a] {
		return ""
	}
	ch.seen[a] = true
	defer delete(ch.seen, a)
	for _, ref := range *a.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == a {
				if why := ch.of(ref.Val); why != "" && !(why == ofMap && sorted(a)) {
					return why
				}
			}
		case *ssa.FieldAddr:
			if why := ch.stored(ref); why != "" {
				return why
			}
		case *ssa.IndexAddr:
			if why := ch.stored(ref); why != "" {
				return why
			}
		case *ssa.Slice: // rand.Read(b[:])
			if randomRead(ref) {
				return "a random number"
			}
		case *ssa.Call: // strings.Builder
			if why := ch.written(a, ref); why != "" {
				return why
			}
		}
	}
	return ""
}

// written is what a call writes into a builder or a buffer.
func (ch *changes) written(a ssa.Value, c *ssa.Call) string {
	f := callee(c.Common())
	if f == nil || f.Pkg() == nil || !strings.HasPrefix(f.Name(), "Write") || len(c.Call.Args) < 2 || c.Call.Args[0] != a {
		return ""
	}
	if n := nameOf(f); !strings.HasPrefix(n, "strings.Builder.") && !strings.HasPrefix(n, "bytes.Buffer.") {
		return ""
	}
	if fromMap(c.Call.Args[1], map[ssa.Value]bool{}) && loopOf(c.Block()) != nil {
		return ofMap
	}
	return ch.of(c.Call.Args[1])
}

func randomRead(v ssa.Value) bool {
	for _, ref := range *v.Referrers() {
		if c, ok := ref.(*ssa.Call); ok {
			switch nameOf(callee(c.Common())) {
			case "crypto/rand.Read", "math/rand.Read", "io.ReadFull":
				return true
			}
		}
	}
	return false
}

// pure are packages whose functions make of values what depends on nothing else.
var pure = map[string]bool{
	"fmt": true, "strings": true, "strconv": true, "bytes": true, "encoding/hex": true, "encoding/base64": true, "encoding/base32": true, "math": true, "slices": true, "maps": true, "cmp": true, "time": true, "path": true, "unicode/utf8": true,
}

// call is what the result of a call depends on.
func (ch *changes) call(c *ssa.Call) string {
	f := callee(c.Common())
	name := nameOf(f)
	switch {
	case name == "time.Now", name == "time.Since", name == "time.Until":
		return "the time"
	case name == elicitPath+".Step":
		return ""
	case f != nil && strings.HasPrefix(name, "sync/atomic."):
		if strings.HasPrefix(f.Name(), "Add") {
			return "a counter"
		}
		return ""
	}
	if b, ok := c.Call.Value.(*ssa.Builtin); ok {
		if b.Name() != "append" && b.Name() != "min" && b.Name() != "max" {
			return ""
		}
		if b.Name() == "append" {
			if why := mapOrder(c, c.Call.Args...); why != "" && !sorted(c) {
				return why
			}
		}
		return ch.args(c)
	}
	if f == nil || f.Pkg() == nil {
		return ""
	}
	path := f.Pkg().Path()
	switch path {
	case "math/rand", "math/rand/v2", "crypto/rand":
		if f.Name() != "New" && !strings.HasPrefix(f.Name(), "New") {
			return "a random number"
		}
		return ""
	}
	switch last := path[strings.LastIndexByte(path, '/')+1:]; last {
	case "uuid", "ksuid", "xid", "ulid", "nanoid", "cuid":
		if strings.HasPrefix(f.Name(), "New") || f.Name() == "Make" || f.Name() == "Must" && f.Signature().Recv() == nil {
			return "a new id"
		}
		return ch.args(c)
	}
	switch {
	case name == "maps.Keys", name == "maps.Values", name == "maps.All":
		return ofMap
	case strings.HasPrefix(name, "slices.Sorted"):
		return ""
	case strings.HasPrefix(name, "time.Time.") && dateOnly(f.Name(), c.Call.Args):
		return ""
	case name == "slices.Collect":
		if why := ch.args(c); why != ofMap || !sorted(c) {
			return why
		}
		return ""
	case pure[path]:
		return ch.args(c)
	}
	if fact := ch.m.fact(c.Common().StaticCallee()); len(fact.Changing) > 0 && c.Common().Signature().Results().Len() == 1 {
		return "what " + c.Common().StaticCallee().Name() + " returns, which changes"
	}
	return ""
}

func (ch *changes) args(c *ssa.Call) string {
	for _, a := range c.Call.Args {
		list, ok := elements(a)
		if !ok || len(list) == 0 {
			list = []ssa.Value{a}
		}
		for _, v := range list {
			if why := ch.of(v); why != "" {
				return why
			}
		}
	}
	if nameOf(callee(c.Common())) == "fmt.Sprintf" {
		list, _ := elements(c.Call.Args[1])
		for _, v := range list {
			if why := address(v, c.Call.Args[0]); why != "" {
				return why
			}
		}
	}
	return ""
}

// dateOnly reports whether a method of time.Time gives no more than the day.
func dateOnly(name string, args []ssa.Value) bool {
	switch name {
	case "Year", "Month", "Day", "Date", "Weekday", "YearDay", "ISOWeek", "Location", "Zone", "IsZero", "Before", "After", "Equal", "Compare":
		return true
	case "Truncate", "Round":
		n, ok := intConst(args[1])
		return ok && n >= 3600*1_000_000_000
	case "Format":
		layout, ok := stringConst(args[1])
		return ok && !strings.Contains(layout, "15") && !strings.Contains(layout, "03") && !strings.Contains(layout, "3:") &&
			!strings.Contains(layout, "04") && !strings.Contains(layout, "05") && !strings.Contains(layout, "PM")
	}
	return false
}

// changingResults are the results of a function that are others in every run.
func (m *model) changingResults(f *ssa.Function) (list []int) {
	if len(f.Params) > 0 && handlerContext(f) != nil && len(m.facts[f].Errs) > 0 {
		return nil // it asks, so that its results are answers
	}
	ch := &changes{m: m, seen: map[ssa.Value]bool{}}
	for _, b := range f.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		for i, v := range ret.Results {
			if isError(v.Type()) || isQuestion(v.Type()) {
				continue
			}
			if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsBoolean != 0 {
				continue
			}
			if ch.of(v) != "" {
				dup := false
				for _, x := range list {
					dup = dup || x == i
				}
				if !dup {
					list = append(list, i)
				}
			}
		}
	}
	return list
}
