package elicit005

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/lint/testdata/elicit005/helpers"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	sure  = elicit.Confirm("sure", "Sure?")
	count atomic.Int64
)

func clock(ctx context.Context) error {
	_, err := sure.WithMessagef("It is %s. Sure?", time.Now().Format(time.RFC3339)).Value(ctx) // want `the words of the question depend on the time`
	return err
}

func clockByHand(ctx context.Context, start time.Time) error {
	left := 10*time.Minute - time.Since(start)
	text := "You have " + left.String()
	_, err := sure.WithMessagef("%s", text).Value(ctx) // want `depend on the time`
	return err
}

func deadline(ctx context.Context) (string, error) {
	until := time.Now().Add(time.Hour)
	return elicit.Input("when", fmt.Sprintf("When, before %v?", until)).Value(ctx) // want `depend on the time`
}

func random(ctx context.Context) (string, error) {
	return elicit.Input("guess", fmt.Sprint("Guess ", rand.IntN(10))).Value(ctx) // want `depend on a random number`
}

func randomBytes(ctx context.Context) error {
	b := make([]byte, 8)
	crand.Read(b)
	_, err := sure.WithKey("sure:" + hex.EncodeToString(b)).Value(ctx) // want `depend on a random number`
	return err
}

func randomArray(ctx context.Context) error {
	var b [8]byte
	crand.Read(b[:])
	_, err := sure.WithKey(fmt.Sprintf("sure:%x", b)).Value(ctx) // want `depend on a random number`
	return err
}

func text(ctx context.Context) error {
	_, err := sure.WithKey("sure-" + crand.Text()).Value(ctx) // want `depend on a random number`
	return err
}

func counter(ctx context.Context) error {
	_, err := sure.WithMessagef("Request %d: sure?", count.Add(1)).Value(ctx) // want `depend on a counter`
	return err
}

func mapOrder(ctx context.Context, stock map[string]int) error {
	list := ""
	for name := range stock {
		list += name + ", "
	}
	_, err := sure.WithMessagef("Order %s?", list).Value(ctx) // want `depend on the order of a map`
	return err
}

func mapSlice(ctx context.Context, stock map[string]int) (string, error) {
	var names []string
	for name := range stock {
		names = append(names, name)
	}
	return elicit.Choose("which", "Which?", form.Options(names...)...).Value(ctx) // want `depend on the order of a map`
}

func mapBuilder(ctx context.Context, stock map[string]int) error {
	var b strings.Builder
	for name, n := range stock {
		b.WriteString(fmt.Sprint(name, n))
	}
	_, err := sure.WithMessagef("Order %s?", b.String()).Value(ctx) // want `depend on the order of a map`
	return err
}

func mapKeys(ctx context.Context, stock map[string]int) (form.Values, error) {
	field := form.Choice("which", form.Options(slices.Collect(maps.Keys(stock))...)...) // want `depend on the order of a map`
	return elicit.NewFormQuestion("which", "Which?", form.New(field)).Value(ctx)
}

type item struct {
	Name string
	Next *item
}

func pointer(ctx context.Context, n *int) error {
	_, err := sure.WithMessagef("Delete %v?", n).Value(ctx) // want `the address of a pointer`
	return err
}

func pointerInside(ctx context.Context, it *item) error {
	_, err := sure.WithMessagef("Delete %+v?", it).Value(ctx) // want `the address of a pointer`
	return err
}

func address(ctx context.Context, it *item) error {
	_, err := sure.WithMessagef("%s", fmt.Sprintf("Delete %p?", it)).Value(ctx) // want `the address of a pointer`
	return err
}

func fieldWords(ctx context.Context) (form.Values, error) {
	day := form.String("day").Descriptionf("today is %s", time.Now()) // want `depend on the time`
	return elicit.NewFormQuestion("day", "Which day?", form.New(day)).Value(ctx)
}

func fieldDefault(ctx context.Context) (form.Values, error) {
	at := form.DateTime("at").Default(time.Now()) // want `depend on the time`
	return elicit.NewFormQuestion("at", "When?", form.New(at)).Value(ctx)
}

func byHelper(ctx context.Context) error {
	_, err := sure.WithMessagef("Sure, at %s?", helpers.Stamp()).Value(ctx) // want `depend on what Stamp returns, which changes`
	return err
}

func own() string { return "#" + helpers.Stamp() }

func byOwnHelper(ctx context.Context) error {
	_, err := sure.WithKey(own()).Value(ctx) // want `depend on what own returns, which changes`
	return err
}

func register(s *elicit.Server) {
	elicit.AddTool(s, &mcp.Tool{Name: "A"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		now := time.Now()
		ask := func() error {
			_, err := sure.WithMessagef("Now, at %s?", now).Value(ctx) // want `depend on the time`
			return err
		}
		return elicit.Text("Done."), nil, ask()
	})
}

func thatField(ctx context.Context, name string) error {
	r := &record{At: time.Now(), Name: name}
	r.In.ID = rand.Int()
	if _, err := sure.WithMessagef("Create %s at %s?", r.Name, r.At).Value(ctx); err != nil { // want `depend on the time`
		return err
	}
	_, err := sure.WithKey("two").WithMessagef("Create %d?", r.In.ID).Value(ctx) // want `depend on a random number`
	return err
}

func wholeRecord(ctx context.Context, name string) error {
	r := record{At: time.Now(), Name: name}
	_, err := sure.WithMessagef("Create %v?", r).Value(ctx) // want `depend on the time`
	return err
}
