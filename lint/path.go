package lint

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A walk follows a function from a call on, as if that call had asked: its error is then not nil, is ErrAsking, and nothing else.
// Only the paths that can be taken then are followed.
type walk struct {
	m    *model
	fn   *ssa.Function
	site ssa.CallInstruction
	errs []int // the results of site that are the error

	results []bool // the results of fn that may carry the error
	lost    []loss // paths on which it is lost

	guess   bool // what functions say that are asked something about the error: isNotFound(err)
	guessed bool // there is one

	seen  map[string]bool
	ids   map[ssa.Value]int
	steps int
}

// A loss is a path that ends without the error.
type loss struct {
	end  *ssa.Return
	text ssa.Value // the error's words, if they are what is returned
	call *ssa.Call // that made another error of it: fmt.Errorf without %w
	work *ssa.Call // that used the answer which is not there yet
}

// A path is what is known on the way.
type path struct {
	carries map[ssa.Value]bool // values that are the error or hold it, and addresses where it is
	texts   map[ssa.Value]bool // made of its words
	values  map[ssa.Value]bool // the answer that is not there, and what is made of it
	known   map[ssa.Value]bool // conditions
	wrapper *ssa.Call          // the last fmt.Errorf without %w
}

func (p path) clone() path {
	return path{maps.Clone(p.carries), maps.Clone(p.texts), maps.Clone(p.values), maps.Clone(p.known), p.wrapper}
}

const maxSteps = 20_000 // instructions; who needs more is not judged

// walkFrom follows the paths from a call. What it finds lost is lost whatever functions of the author say about the error.
func (m *model) walkFrom(site ssa.CallInstruction, errs []int) *walk {
	w := m.walkGuessing(site, errs, false)
	if w.guessed {
		other := m.walkGuessing(site, errs, true)
		for i, is := range other.results {
			w.results[i] = w.results[i] || is
		}
		if len(other.lost) == 0 {
			w.lost = nil
		}
		w.steps = max(w.steps, other.steps)
	}
	return w
}

func (m *model) walkGuessing(site ssa.CallInstruction, errs []int, guess bool) *walk {
	w := &walk{m: m, fn: site.Parent(), site: site, errs: errs, guess: guess, seen: map[string]bool{}, ids: map[ssa.Value]int{}}
	w.results = make([]bool, w.fn.Signature.Results().Len())
	p := path{map[ssa.Value]bool{}, map[ssa.Value]bool{}, map[ssa.Value]bool{}, map[ssa.Value]bool{}, nil}
	if v := site.Value(); v != nil && site.Common().Signature().Results().Len() == 1 {
		p.carries[v] = true
	}
	for _, a := range site.Common().Args { // RequireAll sets these
		list, _ := elements(a)
		for _, x := range list {
			if into, ok := x.(*ssa.Call); ok && nameOf(callee(into.Common())) == elicitPath+".Question.Into" {
				p.values[root(into.Call.Args[1])] = true
			}
		}
	}
	b := site.Block()
	w.run(b, slices.Index(b.Instrs, site.(ssa.Instruction))+1, p)
	return w
}

// key tells states apart that go on differently.
func (w *walk) key(b, from *ssa.BasicBlock, p path) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d<%d", b.Index, from.Index)
	for _, set := range []map[ssa.Value]bool{p.carries, p.texts, p.known} {
		var list []int
		for v, x := range set {
			id, ok := w.ids[v]
			if !ok {
				id = len(w.ids)
				w.ids[v] = id
			}
			list = append(list, id*2)
			if x {
				list[len(list)-1]++
			}
		}
		slices.Sort(list)
		fmt.Fprint(&s, list)
	}
	return s.String()
}

// enter goes on with a block that is reached from another.
func (w *walk) enter(b, from *ssa.BasicBlock, p path) {
	p = p.clone()
	i := slices.Index(b.Preds, from)
	// Values that are made again hold what they held no longer.
	type change struct {
		phi                             *ssa.Phi
		carries, text, value, known, is bool
	}
	var changes []change
	n := 0
	for _, in := range b.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		n++
		e := phi.Edges[i]
		c := change{phi: phi, carries: p.carries[e], text: p.texts[e], value: p.values[e]}
		c.is, c.known = p.known[e], false
		if _, ok := p.known[e]; ok {
			c.known = true
		} else if k, ok := e.(*ssa.Const); ok && k.Value != nil && types.Identical(k.Type().Underlying(), types.Typ[types.Bool]) {
			c.known, c.is = true, k.Value.String() == "true"
		}
		changes = append(changes, c)
	}
	for _, c := range changes {
		set(p.carries, c.phi, c.carries)
		set(p.texts, c.phi, c.text)
		set(p.values, c.phi, c.value)
		delete(p.known, c.phi)
		if c.known {
			p.known[c.phi] = c.is
		}
	}
	if k := w.key(b, from, p); w.seen[k] {
		return
	} else {
		w.seen[k] = true
	}
	w.run(b, n, p)
}

func set(m map[ssa.Value]bool, v ssa.Value, is bool) {
	if is {
		m[v] = true
	} else {
		delete(m, v)
	}
}

// run goes through a block from an instruction on.
func (w *walk) run(b *ssa.BasicBlock, from int, p path) {
	for _, in := range b.Instrs[from:] {
		if w.steps++; w.steps > maxSteps {
			return
		}
		if in == w.site.(ssa.Instruction) {
			return // round again: what it returns then is looked at already
		}
		switch in := in.(type) {
		case *ssa.Return:
			w.end(in, p)
			return
		case *ssa.Panic:
			return // what the user sees is an internal error, and no success
		case *ssa.If:
			is, known := p.known[in.Cond]
			if !known || is {
				w.enter(b.Succs[0], b, p)
			}
			if !known || !is {
				w.enter(b.Succs[1], b, p)
			}
			return
		case *ssa.Jump:
			w.enter(b.Succs[0], b, p)
			return
		default:
			if !w.do(in, &p) {
				return
			}
		}
	}
}

// end is a return.
func (w *walk) end(r *ssa.Return, p path) {
	found := false
	for i, v := range r.Results {
		if p.carries[v] {
			w.results[i], found = true, true
		}
		found = found || w.otherError(v) // of a question that was asked beside it
	}
	if found {
		return
	}
	l := loss{end: r}
	for _, v := range r.Results {
		switch {
		case p.wrapper != nil && v == ssa.Value(p.wrapper):
			l.call = p.wrapper
		case p.texts[v]:
			l.text = v
		}
	}
	w.lost = append(w.lost, l)
}

// otherError reports whether v is the error of another call that asks.
func (w *walk) otherError(v ssa.Value) bool {
	e, ok := v.(*ssa.Extract)
	if !ok {
		return false
	}
	c, ok := e.Tuple.(*ssa.Call)
	return ok && slices.Contains(w.m.askingErrs(c), e.Index)
}

// isErrAsking reports whether v is the variable elicit.ErrAsking.
func isErrAsking(v ssa.Value) bool {
	for {
		switch x := v.(type) {
		case *ssa.UnOp:
			g, ok := x.X.(*ssa.Global)
			return ok && g.Name() == "ErrAsking" && g.Pkg != nil && g.Pkg.Pkg.Path() == elicitPath
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.MakeInterface:
			v = x.X
		default:
			return false
		}
	}
}

// do is what an instruction does to what is known; false ends the path, as the error has gone where it is not followed.
func (w *walk) do(in ssa.Instruction, p *path) bool {
	if v, ok := in.(ssa.Value); ok {
		delete(p.carries, v)
		delete(p.texts, v)
		delete(p.values, v)
		delete(p.known, v)
	}
	switch in := in.(type) {
	case *ssa.Call:
		return w.call(in, p)
	case *ssa.Extract:
		if in.Tuple == w.site.Value() {
			isErr := slices.Contains(w.errs, in.Index)
			set(p.carries, in, isErr)
			set(p.values, in, !isErr)
			return true
		}
		if k, ok := p.known[in.Tuple]; ok && in.Index == 1 { // errors.AsType
			p.known[in] = k
			return true
		}
		if next, ok := in.Tuple.(*ssa.Next); ok && in.Index == 0 && p.carries[next] {
			p.known[in] = true // what holds the error is not empty
			return true
		}
		w.derive(in, p, in.Tuple)
	case *ssa.UnOp:
		switch {
		case in.Op == token.NOT:
			if k, ok := p.known[in.X]; ok {
				p.known[in] = !k
			}
		case isErrAsking(in):
			p.carries[in] = true
		case in.Op == token.MUL:
			w.derive(in, p, in.X)
			if _, isGlobal := in.X.(*ssa.Global); !isGlobal && (p.carries[root(in.X)] || p.values[root(in.X)]) {
				set(p.carries, in, p.carries[in.X] || p.carries[root(in.X)] && in.X != root(in.X))
				set(p.values, in, p.values[root(in.X)])
			}
		}
	case *ssa.BinOp:
		x, y := in.X, in.Y
		if (in.Op == token.EQL || in.Op == token.NEQ) && (p.carries[x] || p.carries[y]) && isInterface(x.Type()) {
			p.known[in] = in.Op == token.NEQ // it is neither nil nor any variable's value
			return true
		}
		if w.lengthOf(x, p) || w.lengthOf(y, p) { // what holds the error is not empty
			switch in.Op {
			case token.LSS, token.GTR, token.NEQ:
				p.known[in] = true
			case token.EQL:
				p.known[in] = false
			}
			return true
		}
		set(p.texts, in, p.texts[x] || p.texts[y])
		set(p.values, in, p.values[x] || p.values[y])
	case *ssa.Store:
		if p.carries[in.Val] {
			r := root(in.Addr)
			if _, local := r.(*ssa.Alloc); !local {
				return false
			}
			p.carries[in.Addr], p.carries[r] = true, true
			return true
		}
		if a, ok := in.Addr.(*ssa.Alloc); ok {
			delete(p.carries, a)
			delete(p.texts, a)
			delete(p.values, a)
		}
		if p.texts[in.Val] {
			p.texts[in.Addr], p.texts[root(in.Addr)] = true, true
		}
	case *ssa.MapUpdate:
		if p.carries[in.Value] || p.carries[in.Key] {
			if r := root(in.Map); isOutside(r) {
				return false
			}
			p.carries[in.Map] = true
		}
	case *ssa.TypeAssert:
		if in.CommaOk && p.carries[in.X] && !isInterface(in.AssertedType) {
			p.known[in] = false // it is of a type of its own
			return true
		}
		w.derive(in, p, in.X)
	case *ssa.Send:
		return !p.carries[in.X]
	case *ssa.Go:
		return !w.anyCarries(&in.Call, p)
	case *ssa.Defer:
		return !w.anyCarries(&in.Call, p)
	case *ssa.MakeClosure:
		for _, b := range in.Bindings {
			if p.carries[b] {
				p.carries[in] = true
			}
		}
	case ssa.Value:
		var ops []ssa.Value
		for _, op := range in.(ssa.Instruction).Operands(nil) {
			ops = append(ops, *op)
		}
		w.derive(in, p, ops...)
	}
	return true
}

// lengthOf reports whether v is the length of something that holds the error.
func (w *walk) lengthOf(v ssa.Value, p *path) bool {
	c, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	b, ok := c.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == "len" && p.carries[c.Call.Args[0]]
}

// derive: what is made of values is what they are.
func (w *walk) derive(v ssa.Value, p *path, from ...ssa.Value) {
	for _, x := range from {
		set(p.carries, v, p.carries[v] || p.carries[x])
		set(p.texts, v, p.texts[v] || p.texts[x])
		set(p.values, v, p.values[v] || p.values[x])
	}
}

func (w *walk) anyCarries(c *ssa.CallCommon, p *path) bool {
	return p.carries[c.Value] || slices.ContainsFunc(c.Args, func(a ssa.Value) bool { return p.carries[a] })
}

// askingResults are the results of a function that may be an asking error.
func (m *model) askingResults(f *ssa.Function) (list []int) {
	results := f.Signature.Results()
	if results.Len() == 0 {
		return nil
	}
	found := make([]bool, results.Len())
	for c := range calls(f) {
		if _, ok := c.(*ssa.Call); !ok {
			continue
		}
		if errs := m.askingErrs(c); len(errs) > 0 {
			for i, is := range m.walkFrom(c, errs).results {
				found[i] = found[i] || is
			}
		}
	}
	for i, is := range found {
		if is && isError(results.At(i).Type()) {
			list = append(list, i)
		}
	}
	return list
}
