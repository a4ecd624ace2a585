package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/go/ssa"

	"go/types"
)

// HeldLock reports locks and transactions that are held across a question.
var HeldLock = rule("elicit008", `hold no lock or transaction across a question

To clients of revisions before 2026-07-28, Require asks over their session and waits, for minutes if it must. What is locked
meanwhile is locked for everybody: one person who went for lunch stops the server. In later revisions the handler returns instead,
so a test with a new client does not show it.

Ask first, and lock when all has been answered.`, runHeldLock, modelAnalyzer)

func runHeldLock(r *reporter) error {
	m := r.model()
	if m == nil {
		return nil
	}
	for _, f := range m.funcs {
		var questions []ssa.CallInstruction
		for c := range calls(f) {
			if call, ok := c.(*ssa.Call); ok && (asksQuestions(callee(call.Common())) || m.fact(call.Common().StaticCallee()).Runs) {
				questions = append(questions, call)
			}
		}
		if len(questions) == 0 {
			continue
		}
		if why := transaction(f); why != "" {
			r.reportf(position(questions[0]), "%s is open while the user is asked, which takes minutes with older clients; ask before it begins", why)
			continue
		}
		before := m.locks(f)
		for _, c := range questions {
			held := before(c)
			for _, name := range slices.Sorted(maps.Values(held)) {
				r.reportf(position(c), "%s is held while the user is asked, which takes minutes with older clients; ask first", name)
			}
		}
	}
	return nil
}

// locks says what a function holds for certain where an instruction is: names by identity.
func (m *model) locks(f *ssa.Function) func(ssa.Instruction) map[string]string {
	type held = map[string]string
	apply := func(h held, in ssa.Instruction) {
		c, ok := in.(*ssa.Call)
		if !ok {
			return // a deferred Unlock comes later
		}
		fn := callee(c.Common())
		if fn == nil {
			return
		}
		var recv ssa.Value
		if c.Call.IsInvoke() {
			recv = c.Call.Value
		} else if fn.Signature().Recv() != nil && len(c.Call.Args) > 0 {
			recv = c.Call.Args[0]
		}
		switch name := nameOf(fn); {
		case name == "sync.Mutex.Lock", name == "sync.RWMutex.Lock", name == "sync.RWMutex.RLock", name == "sync.Locker.Lock":
			h[identity(recv)] = "the lock " + m.lockName(recv)
		case name == "sync.Mutex.Unlock", name == "sync.RWMutex.Unlock", name == "sync.RWMutex.RUnlock", name == "sync.Locker.Unlock":
			delete(h, identity(recv))
		case recv != nil && (fn.Name() == "Commit" || fn.Name() == "Rollback") && isTx(recv.Type()):
			delete(h, identity(m.source(recv)))
		case strings.HasPrefix(fn.Name(), "Begin") && fn.Signature().Results().Len() > 0 && isTx(fn.Signature().Results().At(0).Type()):
			if tx := resultOf(c, 0); tx != nil {
				h[identity(tx)] = "the transaction of " + fn.Name()
			}
		}
	}
	in := map[*ssa.BasicBlock]held{}
	if len(f.Blocks) > 0 {
		in[f.Blocks[0]] = held{}
	}
	for todo := slices.Clone(f.Blocks); len(todo) > 0; {
		b := todo[0]
		todo = todo[1:]
		if in[b] == nil {
			continue
		}
		out := maps.Clone(in[b])
		for _, i := range b.Instrs {
			apply(out, i)
		}
		for _, s := range b.Succs {
			if in[s] == nil {
				in[s] = maps.Clone(out)
				todo = append(todo, s)
				continue
			}
			n := len(in[s])
			maps.DeleteFunc(in[s], func(k, _ string) bool { _, ok := out[k]; return !ok })
			if len(in[s]) != n {
				todo = append(todo, s)
			}
		}
	}
	return func(at ssa.Instruction) map[string]string {
		if in[at.Block()] == nil {
			return nil
		}
		h := maps.Clone(in[at.Block()])
		for _, i := range at.Block().Instrs {
			if i == at {
				break
			}
			apply(h, i)
		}
		return h
	}
}

// identity is the same for two values that are the same variable.
func identity(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return fmt.Sprintf("%s.%d", identity(v.X), v.Field)
	case *ssa.UnOp:
		return "*" + identity(v.X)
	case *ssa.MakeInterface:
		return identity(v.X)
	case *ssa.ChangeInterface:
		return identity(v.X)
	}
	return fmt.Sprintf("%p", v)
}

// lockName is s.mu.
func (m *model) lockName(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		field := v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(v.Field)
		base := m.lockName(v.X)
		switch {
		case field.Embedded():
			return base
		case base == "":
			return field.Name()
		}
		return base + "." + field.Name()
	case *ssa.UnOp:
		return m.lockName(v.X)
	case *ssa.MakeInterface:
		return m.lockName(v.X)
	case *ssa.Alloc:
		return v.Comment
	case *ssa.Call:
		return ""
	}
	return strings.TrimFunc(v.Name(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
}

// isTx reports whether a type is that of a transaction: it can be committed and rolled back.
func isTx(t types.Type) bool {
	ms := types.NewMethodSet(t)
	return lookup(ms, "Commit") && lookup(ms, "Rollback")
}

func lookup(ms *types.MethodSet, name string) bool {
	for i := range ms.Len() {
		if ms.At(i).Obj().Name() == name {
			return true
		}
	}
	return false
}

// inTransaction are functions that run the function they are given in a transaction.
var inTransaction = map[string]bool{
	"Transaction": true, "RunInTransaction": true, "RunInTx": true, "WithTx": true, "InTx": true, "WithTransaction": true, "BeginFunc": true, "BeginTxFunc": true, "ReadWriteTransaction": true,
}

// transaction says in what transaction a function literal runs, "" for none.
func transaction(f *ssa.Function) string {
	if f.Parent() == nil {
		return ""
	}
	for _, p := range f.Params {
		if n := typeName(p.Type()); (n == "Tx" || n == "Txn") && isTx(p.Type()) {
			return "the transaction " + p.Name()
		}
	}
	for c := range calls(f.Parent()) {
		for _, a := range c.Common().Args {
			if fn := callee(c.Common()); fn != nil && function(a) == f && inTransaction[fn.Name()] {
				return "the transaction of " + fn.Name()
			}
		}
	}
	return ""
}
