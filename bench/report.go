package main

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/elicit-go/elicit/bench/internal/load"
	"github.com/elicit-go/elicit/bench/internal/peer"
)

// results are the samples of all runs.
type results struct {
	began      time.Time
	took       time.Duration
	options    *options
	loadBefore string // the machine's load average
	loads      []*load.Load
	peers      []*peer.Peer
	samples    map[string][]sample // by load and peer, one for each run
	memory     []float64
}

func key(load, peer string) string { return load + " " + peer }

func (r *results) add(l *load.Load, p *peer.Peer, s sample) {
	if r.samples == nil {
		r.samples = map[string][]sample{}
	}
	k := key(l.Name, p.Name)
	r.samples[k] = append(r.samples[k], s)
}

// A metric is a column of the report.
type metric struct {
	title  string
	of     func(sample) float64
	digits int
}

var cpu = metric{"CPU µs per call", func(s sample) float64 { return s.cpu }, 1}

var metrics = []metric{
	cpu,
	{"calls/s", func(s sample) float64 { return s.rate }, 0},
	{"p50 µs", func(s sample) float64 { return s.p50 }, 0},
	{"p99 µs", func(s sample) float64 { return s.p99 }, 0},
	{"peak MiB", func(s sample) float64 { return s.peak }, 1},
	{"allocations per call", func(s sample) float64 { return s.objects }, 1},
	{"KiB allocated per call", func(s sample) float64 { return s.bytes / 1024 }, 2},
	{"core busy", func(s sample) float64 { return s.busy }, 2},
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
	{"1,000 more tools to none", [2]string{"tools-1000", "elicit"}, [2]string{"question", "elicit"}, 1.1, false},
	{"10,000 more tools to none", [2]string{"tools-10000", "elicit"}, [2]string{"question", "elicit"}, 1.1, false},
	{"4,000 clients to one", [2]string{"clients-4000", "elicit"}, [2]string{"question", "elicit"}, 1.1, false},
	{"10,000 clients to one (more than are cached)", [2]string{"clients-10000", "elicit"}, [2]string{"question", "elicit"}, 0, false},
	{"off the express path to on it", [2]string{"sdk-path", "elicit"}, [2]string{"question", "elicit"}, 0, false},
}

// report is the report in Markdown.
func (r *results) report(chart string) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# Benchmark of %s\n", r.began.Format(time.DateOnly))
	if r.options.note != "" {
		p("**%s**\n", r.options.note)
	}
	p("%s, Node %s, %s, %d cores, %s/%s. Load average when it began: %s. Runs: %d, of %s each after a warm-up; it took %s.\n",
		strings.Replace(runtime.Version(), "go", "Go ", 1), strings.TrimPrefix(peer.NodeVersion(), "v"), peer.Machine(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		r.loadBefore, r.options.runs, r.options.time, r.took)
	p("A call that asks is two POSTs: one asks, one answers. The server has one core to itself, the load generator another; 32")
	p("connections carry a call each at a time, unless it says otherwise. Servers take turns, run by run, each in a fresh")
	p("process, and every response is checked. CPU is the kernel's clock of the server's process, user and kernel mode, all")
	p("threads. Latency is that of a whole call, in a queue of as many as there are connections. Numbers are minimum / **median**")
	p("/ maximum of the runs; a ratio is the median of the ratios to elicit in the same run.\n")
	if chart != "" && len(r.samples) > 0 {
		p("![CPU per call, single question](%s)\n", chart)
	}
	r.goals(p)
	r.summary(p)
	for _, l := range r.loads {
		r.details(p, l)
	}
	return b.Bytes()
}

func (r *results) goals(p func(string, ...any)) {
	p("## What must hold\n")
	p("| CPU per call | must be | is | |")
	p("| - | - | - | - |")
	for _, g := range goals {
		v := ratios(values(r.samples[key(g.a[0], g.a[1])], cpu.of), values(r.samples[key(g.b[0], g.b[1])], cpu.of))
		if len(v) == 0 {
			continue
		}
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
	if len(r.memory) > 1 {
		first, last := r.memory[0], r.memory[len(r.memory)-1]
		verdict := "yes"
		if last > 1.1*first {
			verdict = "**no**"
		}
		p("| memory after %s calls of 10,000 clients, to that after a tenth of them | at most 1.1× | %.2f | %s |", number(float64(r.options.million), 0), last/first, verdict)
	}
	p("")
	if len(r.memory) > 0 {
		var v []string
		for _, m := range r.memory {
			v = append(v, number(m, 1))
		}
		p("That memory after each tenth, in MiB: %s.\n", strings.Join(v, ", "))
	}
}

// summary is the CPU per call of all loads.
func (r *results) summary(p func(string, ...any)) {
	p("## CPU µs per call, medians\n")
	head, line := "| load |", "| - |"
	for _, x := range r.peers {
		head, line = head+" "+x.Title+" |", line+" -: |"
	}
	p("%s\n%s", head, line)
	for _, l := range r.loads {
		row := "| " + l.Title + " |"
		own := values(r.samples[key(l.Name, peer.Elicit)], cpu.of)
		for _, x := range r.peers {
			v := values(r.samples[key(l.Name, x.Name)], cpu.of)
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
func (r *results) details(p func(string, ...any), l *load.Load) {
	p("## %s\n", l.Title)
	p("| server | | min / **median** / max | to elicit |")
	p("| - | - | -: | -: |")
	own := r.samples[key(l.Name, peer.Elicit)]
	for _, x := range r.peers {
		samples := r.samples[key(l.Name, x.Name)]
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
			if x.Name != peer.Elicit && len(own) > 0 {
				ratio = fmt.Sprintf("%.2f×", median(ratios(v, values(own, m.of))))
			}
			p("| %s | %s | %s | %s |", title, m.title, spread(v, m.digits), ratio)
			title = ""
		}
	}
	p("")
}
