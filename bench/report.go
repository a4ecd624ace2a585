package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/elicit-go/elicit/bench/internal/load"
	"github.com/elicit-go/elicit/bench/internal/peer"
)

// A part is what was measured in one stretch of time, in which the servers took turns.
type part struct {
	Commit     string
	Machine    string // and what is installed on it
	Began      time.Time
	Took       time.Duration
	LoadBefore string // the machine's load average
	Note       string

	Runs    int
	Time    time.Duration // of each
	Loads   []string
	Peers   []string
	Samples map[string][]sample // by load and peer, one for each run
	Calls   int                 // of the watch on the memory
	Memory  []float64           // MiB, after each tenth of them
	Readers []reading
}

// A reading is what a reader took for a body, in nanoseconds of the processor, once for each run.
type reading struct {
	Body, Reader string
	CPU          []float64
}

func key(load, peer string) string { return load + " " + peer }

func (p *part) add(l *load.Load, x *peer.Peer, s sample) {
	if p.Samples == nil {
		p.Samples = map[string][]sample{}
	}
	k := key(l.Name, x.Name)
	p.Samples[k] = append(p.Samples[k], s)
}

// results are the parts of a report. They are of one machine and one day.
type results []*part

// merge makes results of parts, or says why they are not of one report.
func merge(parts []*part) (results, error) {
	slices.SortFunc(parts, func(a, b *part) int { return a.Began.Compare(b.Began) })
	for _, p := range parts[1:] {
		first := parts[0]
		if p.Machine != first.Machine || p.Began.Format(time.DateOnly) != first.Began.Format(time.DateOnly) {
			return nil, fmt.Errorf("these are parts of two reports: %s on %s, and %s on %s", first.Began.Format(time.DateOnly), first.Machine, p.Began.Format(time.DateOnly), p.Machine)
		}
	}
	return parts, nil
}

// of is the part in which all of the loads ran, each on its peer: what is compared is compared within one part. It is nil if
// there is none.
func (r results) of(keys ...string) *part {
	for _, p := range r {
		if !slices.ContainsFunc(keys, func(k string) bool { return len(p.Samples[k]) == 0 }) {
			return p
		}
	}
	return nil
}

// samples are those of a load on a peer, of the part that the report shows of that load: the one with the most peers.
func (r results) samples(l *load.Load, peerName string) []sample {
	var best *part
	for _, p := range r {
		if slices.Contains(p.Loads, l.Name) && (best == nil || len(p.Peers) > len(best.Peers)) {
			best = p
		}
	}
	if best == nil {
		return nil
	}
	return best.Samples[key(l.Name, peerName)]
}

// A metric is a column of the report.
type metric struct {
	title  string
	of     func(sample) float64
	digits int
}

var cpu = metric{"CPU µs per call", func(s sample) float64 { return s.CPU }, 1}

var metrics = []metric{
	cpu,
	{"calls/s", func(s sample) float64 { return s.Rate }, 0},
	{"p50 µs", func(s sample) float64 { return s.P50 }, 0},
	{"p99 µs", func(s sample) float64 { return s.P99 }, 0},
	{"peak MiB", func(s sample) float64 { return s.Peak }, 1},
	{"allocations per call", func(s sample) float64 { return s.Objects }, 1},
	{"KiB allocated per call", func(s sample) float64 { return s.Bytes / 1024 }, 2},
	{"core busy", func(s sample) float64 { return s.Busy }, 2},
}

func values(samples []sample, of func(sample) float64) []float64 {
	var v []float64
	for _, s := range samples {
		v = append(v, of(s))
	}
	return v
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 0:
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[n/2]
}

// ratios are those of two series, run by run.
func ratios(a, b []float64) []float64 {
	var v []float64
	for i := range min(len(a), len(b)) {
		v = append(v, a[i]/b[i])
	}
	return v
}

func number(x float64, digits int) string {
	s := fmt.Sprintf("%.*f", digits, x)
	whole, fraction, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// spread is a series as minimum, median and maximum.
func spread(v []float64, digits int) string {
	if len(v) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s / **%s** / %s", number(slices.Min(v), digits), number(median(v), digits), number(slices.Max(v), digits))
}

// A goal is a ratio of CPU per call that must hold.
type goal struct {
	what    string
	a, b    [2]string // load and peer
	limit   float64
	atLeast bool
}

var goals = []goal{
	{"go-sdk to elicit, single question", [2]string{"question", "gosdk"}, [2]string{"question", "elicit"}, 5, true},
	{"mcp-go to elicit, single question", [2]string{"question", "mcpgo"}, [2]string{"question", "elicit"}, 2.2, true},
	{"TypeScript SDK to elicit, single question", [2]string{"question", "typescript"}, [2]string{"question", "elicit"}, 15, true},
	{"elicit to the floor, single question", [2]string{"question", "elicit"}, [2]string{"question", "floor"}, 2, false},
	{"wizard with sealed state to the same without state", [2]string{"wizard", "elicit"}, [2]string{"wizard-stateless", "elicit"}, 1.6, false},
	{"wizard with sealed state to three calls that ask nothing", [2]string{"wizard", "elicit"}, [2]string{"wizard-silent", "elicit"}, 1.6, false},
	{"the single question to itself, in two processes", [2]string{"question-again", "elicit"}, [2]string{"question", "elicit"}, 0, false},
	{"1,000 more tools to none", [2]string{"tools-1000", "elicit"}, [2]string{"question", "elicit"}, 1.1, false},
	{"10,000 more tools to none", [2]string{"tools-10000", "elicit"}, [2]string{"question", "elicit"}, 1.1, false},
	{"10,000 more tools to 1,000 more", [2]string{"tools-10000", "elicit"}, [2]string{"tools-1000", "elicit"}, 1.1, false},
	{"10,000 more tools to none, without garbage collection", [2]string{"uncollected-tools-10000", "elicit"}, [2]string{"uncollected", "elicit"}, 1.1, false},
	{"the floor with 1,000 tools in memory that it never looks at, to itself", [2]string{"tools-1000", "floor"}, [2]string{"question", "floor"}, 0, false},
	{"the floor with 10,000 tools in memory that it never looks at, to itself", [2]string{"tools-10000", "floor"}, [2]string{"question", "floor"}, 0, false},
	{"4,000 clients to one", [2]string{"clients-4000", "elicit"}, [2]string{"question", "elicit"}, 1.1, false},
	{"the floor with 4,000 sessions in memory that it never looks at, to itself", [2]string{"clients-4000", "floor"}, [2]string{"question", "floor"}, 0, false},
	{"4,000 clients to one, without garbage collection", [2]string{"uncollected-clients-4000", "elicit"}, [2]string{"uncollected", "elicit"}, 1.1, false},
	{"10,000 clients to one (more than are cached)", [2]string{"clients-10000", "elicit"}, [2]string{"question", "elicit"}, 0, false},
	{"off the express path to on it", [2]string{"sdk-path", "elicit"}, [2]string{"question", "elicit"}, 0, false},
}

// report is the report in Markdown.
func (r results) report(chart string) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# Benchmark of %s\n", r[0].Began.Format(time.DateOnly))
	for _, x := range r {
		if x.Note != "" {
			p("**%s**\n", x.Note)
		}
	}
	p("%s.\n", r[0].Machine)
	p("A call that asks is two POSTs: one asks, one answers. The server has one core to itself, the load generator another; 32")
	p("connections carry a call each at a time, unless it says otherwise. In each run all servers that are compared have a fresh")
	p("process, and take turns of a tenth of a second; every response is checked. CPU is the kernel's clock of the server's")
	p("process, user and kernel mode, all threads. Latency is that of a whole call, in a queue of as many as there are")
	p("connections. Numbers are minimum / **median** / maximum of the runs; a ratio is the median of the ratios to elicit in the")
	p("same run.\n")
	if chart != "" && r.of(key("question", peer.Elicit)) != nil {
		p("![CPU per call, single question](%s)\n", chart)
	}
	r.goals(p)
	r.summary(p)
	r.parts(p)
	for _, l := range load.Loads() {
		r.details(p, l)
	}
	r.readers(p)
	return b.Bytes()
}

func (r results) goals(p func(string, ...any)) {
	p("## What must hold\n")
	p("| CPU per call | must be | is | |")
	p("| - | - | - | - |")
	for _, g := range goals {
		a, b := key(g.a[0], g.a[1]), key(g.b[0], g.b[1])
		x := r.of(a, b)
		if x == nil {
			continue
		}
		v := ratios(values(x.Samples[a], cpu.of), values(x.Samples[b], cpu.of))
		limit, verdict := "–", ""
		if g.limit > 0 {
			ok := median(v) <= g.limit
			limit = fmt.Sprintf("at most %.1f×", g.limit)
			if g.atLeast {
				ok = median(v) >= g.limit
				limit = fmt.Sprintf("at least %.1f×", g.limit)
			}
			verdict = "**no**"
			if ok {
				verdict = "yes"
			}
		}
		p("| %s | %s | %s | %s |", g.what, limit, spread(v, 2), verdict)
	}
	if r.of(key("uncollected", peer.Elicit)) != nil {
		defer p("What lives in memory makes collecting garbage dearer for any call, also for one that never looks at it: tools and sessions of\n" +
			"go-sdk, as the floor shows. Without garbage collection nothing grows (docs/decisions/0030-bench.md).\n")
	}
	var memory string
	for _, x := range r {
		if len(x.Memory) < 2 {
			continue
		}
		first, last := x.Memory[0], x.Memory[len(x.Memory)-1]
		verdict := "yes"
		if last > 1.1*first {
			verdict = "**no**"
		}
		p("| memory after %s calls of 10,000 clients, to that after a tenth of them | at most 1.1× | %.2f | %s |", number(float64(x.Calls), 0), last/first, verdict)
		var v []string
		for _, m := range x.Memory {
			v = append(v, number(m, 1))
		}
		memory = fmt.Sprintf("That memory after each tenth, in MiB: %s.\n", strings.Join(v, ", "))
	}
	p("")
	if memory != "" {
		p("%s", memory)
	}
}

// parts says when what was measured.
func (r results) parts(p func(string, ...any)) {
	p("## When\n")
	p("What is compared was measured in one part, in turns.\n")
	p("| began (UTC) | took | load average before | commit | runs | |")
	p("| - | -: | - | - | - | - |")
	for _, x := range r {
		what := strings.Join(x.Loads, ", ")
		if len(x.Peers) == 1 && len(x.Loads) > 0 {
			what += " (" + x.Peers[0] + " alone)"
		}
		if len(x.Memory) > 0 {
			what += ", memory"
		}
		if len(x.Readers) > 0 {
			what += ", readers"
		}
		p("| %s | %v | %s | %s | %d of %v | %s |", x.Began.UTC().Format(time.TimeOnly), x.Took, x.LoadBefore, x.Commit, x.Runs, x.Time, strings.TrimPrefix(what, ", "))
	}
	p("")
}

// summary is the CPU per call of all loads.
func (r results) summary(p func(string, ...any)) {
	p("## CPU µs per call, medians\n")
	head, line := "| load |", "| - |"
	for _, x := range peer.All {
		head, line = head+" "+x.Title+" |", line+" -: |"
	}
	p("%s\n%s", head, line)
	for _, l := range load.Loads() {
		row := "| " + l.Title + " |"
		own := values(r.samples(l, peer.Elicit), cpu.of)
		if len(own) == 0 {
			continue
		}
		for _, x := range peer.All {
			v := values(r.samples(l, x.Name), cpu.of)
			switch ratio := ratios(v, own); {
			case len(v) == 0:
				row += " |"
			case x.Name == peer.Elicit || len(ratio) == 0:
				row += fmt.Sprintf(" %s |", number(median(v), 1))
			default:
				row += fmt.Sprintf(" %s (%.2f×) |", number(median(v), 1), median(ratio))
			}
		}
		p("%s", row)
	}
	p("")
}

// details is everything that was measured of one load.
func (r results) details(p func(string, ...any), l *load.Load) {
	own := r.samples(l, peer.Elicit)
	if len(own) == 0 {
		return
	}
	p("## %s\n", l.Title)
	p("| server | | min / **median** / max | to elicit |")
	p("| - | - | -: | -: |")
	for _, x := range peer.All {
		samples := r.samples(l, x.Name)
		if len(samples) == 0 {
			continue
		}
		title := x.Title
		for _, m := range metrics {
			v := values(samples, m.of)
			if slices.Max(v) == 0 {
				continue // the server cannot tell
			}
			ratio := ""
			if x.Name != peer.Elicit {
				ratio = fmt.Sprintf("%.2f×", median(ratios(v, values(own, m.of))))
			}
			p("| %s | %s | %s | %s |", title, m.title, spread(v, m.digits), ratio)
			title = ""
		}
	}
	p("")
}

// readers is what the readers of a request's body take.
func (r results) readers(p func(string, ...any)) {
	for _, x := range r {
		if len(x.Readers) == 0 {
			continue
		}
		p("## Readers of a request's body\n")
		p("Processor time for the checks and the parts that the host needs, in nanoseconds, minimum / **median** / maximum (`go test ./bench -bench=Readers`).\n")
		var names, bodies []string
		for _, y := range x.Readers {
			if !slices.Contains(names, y.Reader) {
				names = append(names, y.Reader)
			}
			if !slices.Contains(bodies, y.Body) {
				bodies = append(bodies, y.Body)
			}
		}
		p("| body | %s |\n| - |%s", strings.Join(names, " | "), strings.Repeat(" -: |", len(names)))
		for _, body := range bodies {
			row := "| " + body + " |"
			for _, name := range names {
				for _, y := range x.Readers {
					if y.Body == body && y.Reader == name {
						row += " " + spread(y.CPU, 0) + " |"
					}
				}
			}
			p("%s", row)
		}
		p("")
	}
}
