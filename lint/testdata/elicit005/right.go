package elicit005

import (
	"context"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/elicit-go/elicit"
	"github.com/elicit-go/elicit/form"
	"github.com/elicit-go/elicit/lint/testdata/elicit005/helpers"
)

// At start-up: the same in all rounds of this process.
var started = elicit.Input("started", "Started at "+time.Now().String()+". What now?")

func remembered(ctx context.Context) error {
	now, err := elicit.Step(ctx, "now", func(context.Context) (time.Time, error) { return time.Now(), nil })
	if err != nil {
		return err
	}
	n, err := elicit.Step(ctx, "n", func(context.Context) (int, error) { return rand.IntN(10), nil })
	if err != nil {
		return err
	}
	_, err = sure.WithMessagef("At %s, %d times?", now, n).Value(ctx)
	return err
}

func today(ctx context.Context) error {
	now := time.Now()
	_, err := sure.WithMessagef("Ship on %s, in week %d?", now.Format(time.DateOnly), now.YearDay()/7).Value(ctx)
	return err
}

func measured(ctx context.Context, name string) error {
	start := time.Now()
	defer func() { log.Print(time.Since(start)) }()
	_, err := sure.WithMessagef("Delete %s?", name).Value(ctx)
	return err
}

func chosen(ctx context.Context) error {
	q := sure
	if time.Now().Weekday() == time.Sunday {
		q = sure.WithMessagef("It is Sunday. Sure?")
	}
	_, err := q.Value(ctx)
	return err
}

func sortedKeys(ctx context.Context, stock map[string]int) (string, error) {
	names := slices.Sorted(maps.Keys(stock))
	return elicit.Choose("which", "Which of "+strings.Join(names, ", ")+"?", form.Options(names...)...).Value(ctx)
}

func sortedAfter(ctx context.Context, stock map[string]int) (string, error) {
	var names []string
	for name := range stock {
		names = append(names, name)
	}
	slices.Sort(names)
	return elicit.Choose("which", "Which?", form.Options(names...)...).Value(ctx)
}

func sortedOld(ctx context.Context, stock map[string]int) error {
	names := make([]string, 0, len(stock))
	for name := range stock {
		names = append(names, name)
	}
	sort.Strings(names)
	_, err := sure.WithMessagef("Order %v?", names).Value(ctx)
	return err
}

func summed(ctx context.Context, stock map[string]int) error {
	total := 0
	for _, n := range stock {
		total += n
	}
	_, err := sure.WithMessagef("Order %d in all, %v?", total, stock).Value(ctx)
	return err
}

func eachByKey(ctx context.Context, stock map[string]int) error {
	var all []elicit.Pending
	answers := map[string]*elicit.Answer[bool]{}
	for name, n := range stock {
		answers[name] = new(elicit.Answer[bool])
		all = append(all, sure.WithKey("sure:"+name).WithMessagef("Order %d of %s?", n, name).Into(answers[name]))
	}
	return elicit.RequireAll(ctx, all...)
}

func sliceOrder(ctx context.Context, names []string) error {
	list := ""
	for _, n := range names {
		list += n + ", "
	}
	_, err := sure.WithMessagef("Order %s?", list).Value(ctx)
	return err
}

type price struct{ Cents *int }

func (p *price) String() string { return fmt.Sprint(*p.Cents) }

func stringers(ctx context.Context, p *price, it *item, d time.Duration, at time.Time) error {
	_, err := sure.WithMessagef("Buy %v for %s, %v, %v, %s?", it.Name, p, d, at, helpers.Label("x")).Value(ctx)
	return err
}

func plain(ctx context.Context, in *struct {
	Name string
	Size int
}) error {
	_, err := sure.WithMessagef("Delete %v?", in).Value(ctx)
	return err
}

func looked(ctx context.Context, since time.Time) error {
	rows := find(ctx, time.Now())
	_, err := sure.WithMessagef("Delete %d rows?", rows).Value(ctx)
	return err
}

func find(context.Context, time.Time) int { return 3 }

type record struct {
	At   time.Time
	Name string
	In   struct {
		ID   int
		Name string
	}
}

func otherField(ctx context.Context, name string) error {
	r := record{At: time.Now(), Name: name}
	r.In.ID = rand.Int()
	r.In.Name = name
	p := &record{At: time.Now(), Name: name}
	_, err := sure.WithMessagef("Create %s, %s and %s?", r.Name, p.Name, r.In.Name).Value(ctx)
	return err
}
