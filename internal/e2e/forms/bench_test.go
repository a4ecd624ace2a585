package forms

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/form"
	"github.com/google/jsonschema-go/jsonschema"
)

// The benchmark's form has ten fields, one of each kind; the answer is valid.
func tenFields() *form.Form[form.Values] {
	return form.New(
		form.String("trackingNumber").MinLength(8).MaxLength(40).Required(),
		form.Email("email").Required(),
		form.URI("homepage"),
		form.Date("day"),
		form.DateTime("at"),
		form.Int("parcels").Range(1, 10).Required(),
		form.Number("weight").Min(0.5),
		form.Bool("fragile"),
		form.Choice("carrier", form.Opt("ups", "UPS"), form.Opt("dhl", "DHL")).Required(),
		form.Choices("extras", form.Options("insurance", "signature", "evening")...).AtMost(2),
	)
}

const tenAnswers = `{"trackingNumber":"1Z999AA10123456784","email":"name@example.com","homepage":"https://example.com/a?b=c#d","day":"2026-07-28","at":"2026-07-28T14:30:00.5+02:00","parcels":7,"weight":12.75,"fragile":true,"carrier":"dhl","extras":["signature","insurance"]}`

// theirSchema is the form's schema as google/jsonschema-go has it, resolved once. It does not assert formats.
func theirSchema(tb testing.TB, f *form.Form[form.Values]) *jsonschema.Resolved {
	tb.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(f.Schema(), &s); err != nil {
		tb.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// A contender validates the answer; each is made once, outside of what is measured.
type contender struct {
	name  string
	check func() error
}

func contenders(tb testing.TB) []contender {
	tb.Helper()
	f := tenFields()
	if err := f.Err(); err != nil {
		tb.Fatal(err)
	}
	theirs := theirSchema(tb, f)
	content := []byte(tenAnswers)
	var decoded any
	if err := json.Unmarshal(content, &decoded); err != nil {
		tb.Fatal(err)
	}
	return []contender{
		{"elicit", func() error {
			if p := f.Validate(content); p != nil {
				tb.Fatal(p)
			}
			return nil
		}},
		{"jsonschema-go, decoded before", func() error { return theirs.Validate(decoded) }},
		{"jsonschema-go, from the same bytes", func() error {
			var v any
			if err := json.Unmarshal(content, &v); err != nil {
				return err
			}
			return theirs.Validate(v)
		}},
	}
}

// BenchmarkValidate compares validating a valid answer of ten fields. Ours begins with the bytes of the answer and asserts formats;
// jsonschema-go's Validate begins with a decoded value and does not.
func BenchmarkValidate(b *testing.B) {
	for _, c := range contenders(b) {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.check(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMake is what happens once, when the form is made.
func BenchmarkMake(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if tenFields().Err() != nil {
			b.Fatal("wrong")
		}
	}
}

// A valid answer of ten fields is validated without allocation, and at least five times as fast as by jsonschema-go, which is
// spared the decoding and the formats. Each is measured in turn, and the best of several rounds counts, as other programs disturb.
func TestValidateIsFast(t *testing.T) {
	const (
		least  = 5.0
		rounds = 7
	)
	all := contenders(t)
	best := make([]time.Duration, len(all))
	for range rounds {
		for i, c := range all {
			const n = 2000
			start := time.Now()
			for range n {
				if err := c.check(); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(start) / n; best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	for i, c := range all[1:] {
		ratio := float64(best[i+1]) / float64(best[0])
		t.Logf("elicit %v, %s %v: %.1f times as fast", best[0], c.name, best[i+1], ratio)
		if ratio < least && !raceEnabled {
			t.Errorf("%s takes %.1f times as long as elicit, want at least %.1f", c.name, ratio, least)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = all[0].check() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
