package tasks

import (
	"testing"

	"github.com/elicit-go/elicit/internal/state"
	"github.com/elicit-go/elicit/internal/tool"
)

// What a row holds may have been written by anybody who reaches the database.
func FuzzRecord(f *testing.F) {
	e := &Engine{shop: tool.TaskShop{Ring: state.RandomRing()}}
	r := &record{id: "id", ring: e.shop.Ring, head: []byte(`{"tool":"t","callId":"00"}`), call: head{Tool: "t"}}
	for _, w := range []*work{{}, {Issued: map[string]int{"ship": 2}, Open: []openAsk{{Wire: "ship#2", Key: "ship", Request: []byte(`{}`)}}}} {
		if err := r.sealWork(w); err != nil {
			f.Fatal(err)
		}
		f.Add(r.encode())
	}
	if err := r.finish(&ending{Result: []byte(`{"content":[]}`)}); err != nil {
		f.Fatal(err)
	}
	f.Add(r.encode())
	f.Add([]byte{recordVersion, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := e.decode(Row{ID: "id", Record: b})
		if err != nil {
			return
		}
		if again, err := e.decode(Row{ID: "id", Record: r.encode()}); err != nil || string(again.encode()) != string(r.encode()) {
			t.Errorf("%q is not read back: %v", b, err)
		}
		for _, status := range []TaskStatus{Working, InputRequired, Completed, Failed, Cancelled} {
			_, _ = e.appendDetailed(nil, Row{ID: "id", Status: status}, r)
		}
		_, _, _ = (&run{e: e}).rebuild(r, nil)
	})
}

func TestWireKeysAreNeverUsedAgain(t *testing.T) {
	w := &work{}
	used := map[string]bool{}
	ask := func(want string, key, request string) {
		t.Helper()
		w.ask([]tool.Ask{{Key: key, Request: []byte(request)}})
		got := w.Open[0].Wire
		if got != want || used[got] {
			t.Errorf("asked %s as %q, want %q", key, got, want)
		}
	}
	answer := func() {
		used[w.Open[0].Wire] = true
		w.Open = nil
	}
	ask("ship", "ship", `{"a":1}`)
	ask("ship", "ship", `{"a":1}`) // a crash asks again
	answer()
	ask("ship#2", "ship", `{"a":1}`) // in the same words
	answer()
	ask("ship#2#1", "ship#2", `{}`) // of a handler that asks by itself
	answer()
	ask("ship#3", "ship", `{"a":2}`)
	ask("ship#4", "ship", `{"a":3}`) // in other words, though nobody has answered
}
