// Bench compares this library's HTTP host with its peers and with plain net/http: the same tools, called the same way,
// each server alone on one core, the load generator on another.
//
//	go run ./bench   # everything: bench/RESULTS.md and its chart
//	go run ./bench -loads question -peers 'elicit|floor' -o -
//
// A machine that is quiet for some minutes at a time is measured in parts, and they are put together:
//
//	go run ./bench -loads 'question$' -part bench/results/1.json
//	go run ./bench -loads wizard -part bench/results/2.json
//	go run ./bench -merge 'bench/results/*.json'
//
// In a run, all servers that are compared have a fresh process, and take turns of a tenth of a second (A B C C B A A …),
// after a warm-up that is not counted: what disturbs the machine disturbs them alike. Every response is checked: status,
// result type, form or text. What a run costs is what the kernel says the server's process used.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elicit-go/elicit/bench/internal/load"
	"github.com/elicit-go/elicit/bench/internal/peer"
	"github.com/elicit-go/elicit/bench/internal/serve"
)

// The cores of the server and of the load generator.
const (
	serverCore    = 1
	generatorCore = 0
)

type options struct {
	runs    int
	time    time.Duration
	warm    time.Duration
	million int
	loads   *regexp.Regexp
	peers   *regexp.Regexp
	out     string
	part    string
	merge   string
	note    string
	profile string
	brief   bool
}

func main() {
	log.SetFlags(0)
	var o options
	flag.IntVar(&o.runs, "runs", 5, "run each load on each server `n` times, in fresh processes")
	flag.DurationVar(&o.time, "time", 2*time.Second, "measure each load and server for so long in each run")
	flag.DurationVar(&o.warm, "warm", time.Second, "warm up for so long before each run, at least")
	flag.IntVar(&o.million, "memory", 1_000_000, "watch the memory over so many calls of 10,000 clients; 0 for not")
	loads := flag.String("loads", ".", "only the loads that match `regexp`; memory and readers are some too")
	peers := flag.String("peers", ".", "only the servers that match `regexp`")
	flag.StringVar(&o.out, "o", filepath.Join(peer.Dir(), "RESULTS.md"), "write the report to `file`, and the chart beside it; - for the report to standard output")
	flag.StringVar(&o.part, "part", "", "write what was measured to `file` instead, for -merge")
	flag.StringVar(&o.merge, "merge", "", "measure nothing, and report what the files that match `pattern` have; they must be of one machine and day")
	flag.StringVar(&o.note, "note", "", "say `text` about the circumstances at the top of the report")
	flag.StringVar(&o.profile, "profile", "", "write profiles of elicit (CPU, allocations) under the first of the last loads that are compared to `directory`; the measures then include taking them")
	flag.BoolVar(&o.brief, "brief", false, "check every path with a few calls, and measure nothing")
	flag.Parse()
	var err1, err2 error
	o.loads, err1 = regexp.Compile("^(?:" + *loads + ")")
	o.peers, err2 = regexp.Compile("^(?:" + *peers + ")")
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o *options) error {
	if o.merge != "" {
		files, err := filepath.Glob(o.merge)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no file matches %s", o.merge)
		}
		var parts []*part
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			var p []*part
			if err := json.Unmarshal(b, &p); err != nil {
				return fmt.Errorf("%s: %w", f, err)
			}
			parts = append(parts, p...)
		}
		return write(o, parts)
	}
	bin, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	if err := peer.Build(ctx, bin); err != nil {
		return err
	}
	var peers []*peer.Peer
	for _, p := range peer.All {
		if o.peers.MatchString(p.Name) {
			peers = append(peers, p)
		}
		if p.Name == peer.TypeScript && o.peers.MatchString(p.Name) {
			if err := peer.Installed(); err != nil {
				return err
			}
		}
	}
	if o.brief {
		for _, p := range peers {
			if err := brief(ctx, bin, p); err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			fmt.Printf("%s: right\n", p.Name)
		}
		return nil
	}

	if runtime.NumCPU() < 2 {
		return errors.New("two cores are needed, one for the server and one for the load")
	}
	runtime.GOMAXPROCS(1)
	if err := peer.PinSelf(generatorCore); err != nil {
		return err
	}
	begin := func(loads ...string) *part {
		return &part{Commit: commit(ctx), Machine: machine(), Began: time.Now(), LoadBefore: peer.Load(), Note: o.note, Runs: o.runs, Time: o.time, Loads: loads}
	}
	var all []*part
	end := func(p *part) {
		p.Took = time.Since(p.Began).Round(time.Second)
		all = append(all, p)
	}
	for _, targets := range groups(peers, o.loads) {
		p := begin()
		for _, t := range targets {
			if !slices.Contains(p.Peers, t.peer.Name) {
				p.Peers = append(p.Peers, t.peer.Name)
			}
			if !slices.Contains(p.Loads, t.load.Name) {
				p.Loads = append(p.Loads, t.load.Name)
			}
		}
		for n := range o.runs {
			samples, err := measure(ctx, bin, targets, o)
			if err != nil {
				return err
			}
			for i, t := range targets {
				p.add(t.load, t.peer, samples[i])
				fmt.Fprintf(os.Stderr, "run %d/%d  %-17s %-11s %8.1f µs/call %8.0f calls/s  core %3.0f%% busy\n", n+1, o.runs, t.load.Name, t.peer.Name, samples[i].CPU, samples[i].Rate, 100*samples[i].Busy)
			}
		}
		end(p)
	}
	if o.million > 0 && o.peers.MatchString(peer.Elicit) && o.loads.MatchString("memory") {
		p := begin()
		p.Peers, p.Calls = []string{peer.Elicit}, o.million
		if p.Memory, err = watchMemory(ctx, bin, o.million); err != nil {
			return err
		}
		end(p)
	}
	if o.loads.MatchString("readers") {
		p := begin()
		if p.Readers, err = readers(ctx, o.runs); err != nil {
			return err
		}
		end(p)
	}
	if o.part != "" {
		b, err := json.MarshalIndent(all, "", "\t")
		if err != nil {
			return err
		}
		return os.WriteFile(o.part, append(b, '\n'), 0o644)
	}
	return write(o, all)
}

// A target is a load on a server.
type target struct {
	load *load.Load
	peer *peer.Peer
}

// groups are the targets that are compared with each other: each load on all peers; and all those that are for elicit and
// maybe the floor, beside the single question.
func groups(peers []*peer.Peer, names *regexp.Regexp) [][]target {
	var all [][]target
	var alone []target
	for _, l := range load.Loads() {
		if !names.MatchString(l.Name) {
			continue
		}
		var group []target
		for _, p := range peers {
			switch {
			case l.Only == nil:
				group = append(group, target{l, p})
			case l.For(p.Name):
				if base := (target{find("question"), p}); !slices.ContainsFunc(alone, func(t target) bool { return t.load.Name == base.load.Name && t.peer == p }) {
					alone = append(alone, base)
				}
				alone = append(alone, target{l, p})
			}
		}
		if group != nil {
			all = append(all, group)
		}
	}
	if alone != nil {
		all = append(all, alone)
	}
	return all
}

// write writes the report, and the chart beside it.
func write(o *options, parts []*part) error {
	r, err := merge(parts)
	if err != nil {
		return err
	}
	if o.out == "-" {
		_, err := os.Stdout.Write(r.report(""))
		return err
	}
	chart := strings.TrimSuffix(o.out, filepath.Ext(o.out)) + ".svg"
	if b := r.chart(); b != nil {
		if err := os.WriteFile(chart, b, 0o644); err != nil {
			return err
		}
	}
	fmt.Println(o.out)
	return os.WriteFile(o.out, r.report(filepath.Base(chart)), 0o644)
}

// commit is what is measured: the last commit that changed more than tests and documents, and whether files have changed since.
func commit(ctx context.Context) string {
	git := func(args ...string) string {
		c := exec.CommandContext(ctx, "git", append(args, "--", "*.go", "*/go.mod", "*.js", "*.json", ":!*_test.go")...)
		c.Dir = filepath.Dir(peer.Dir())
		out, err := c.Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(string(out))
	}
	name := git("log", "-1", "--format=%h", "--abbrev=9")
	if git("status", "--porcelain", "--untracked-files=no") != "" {
		name += " and changes"
	}
	return name
}

func machine() string {
	return fmt.Sprintf("%s, Node %s, %s, %d cores, %s/%s", strings.Replace(runtime.Version(), "go", "Go ", 1), strings.TrimPrefix(peer.NodeVersion(), "v"),
		peer.Machine(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}

// readers runs the benchmarks of the readers.
func readers(ctx context.Context, runs int) ([]reading, error) {
	test := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=Readers", "-benchtime=300ms", fmt.Sprint("-count=", runs), ".")
	test.Dir = peer.Dir()
	test.Stderr = os.Stderr
	out, err := test.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", test, err)
	}
	var all []reading
	for _, m := range regexp.MustCompile(`(?m)^BenchmarkReaders/([^/\s]+)/(\S+?)(?:-\d+)?\s.*?(\S+) cpu-ns/op`).FindAllStringSubmatch(string(out), -1) {
		cpu, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(r reading) bool { return r.Body == m[1] && r.Reader == m[2] })
		if i < 0 {
			i, all = len(all), append(all, reading{Body: m[1], Reader: m[2]})
		}
		all[i].CPU = append(all[i].CPU, cpu)
	}
	return all, nil
}

// A sample is what one run measured; all but Rate, Peak and Busy are for one call.
type sample struct {
	CPU     float64 // µs
	Rate    float64 // calls per second
	P50     float64 // µs
	P99     float64 // µs
	Peak    float64 // MiB
	Objects float64 // allocated; 0 if the server cannot tell
	Bytes   float64 // allocated
	Busy    float64 // the share of its core that the server used
}

// slice is how long a server has the load before it is the next one's turn: short beside what disturbs a machine for a
// while, so that it disturbs all servers alike, and long beside the turn itself.
const slice = 100 * time.Millisecond

// measure starts the servers of all targets, warms them up, and puts each one's load on it, in turns, for o.time of each.
func measure(ctx context.Context, bin string, targets []target, o *options) ([]sample, error) {
	type subject struct {
		target
		proc    *peer.Process
		gen     *load.Generator
		allocs  serve.Allocs
		cpu     time.Duration
		elapsed time.Duration
		latency []time.Duration
	}
	subjects := make([]*subject, len(targets))
	failed := func(t target, err error) ([]sample, error) {
		return nil, fmt.Errorf("%s on %s: %w", t.load.Name, t.peer.Name, err)
	}
	for i, t := range targets {
		s := &subject{target: t}
		var err error
		if s.proc, err = start(ctx, bin, t.peer, t.load, serverCore); err != nil {
			return failed(t, err)
		}
		defer s.proc.Stop()
		if s.gen, err = load.Open(ctx, s.proc.Addr, t.load); err != nil {
			return failed(t, err)
		}
		defer s.gen.Close()
		// What a server does once, after its first calls, is not what a call costs: elicit lists its tools then.
		if _, err := s.gen.Run(ctx, 2*t.load.Conns, 0); err != nil {
			return failed(t, err)
		}
		if err := settle(ctx, s.proc); err != nil {
			return failed(t, err)
		}
		if _, err := s.gen.Run(ctx, 0, max(o.warm, t.peer.Warm)); err != nil {
			return failed(t, err)
		}
		if t.load.Clients > 1 { // each of them has called
			if _, err := s.gen.Run(ctx, t.load.Clients, 0); err != nil {
				return failed(t, err)
			}
		}
		subjects[i] = s
	}
	var profile chan error
	if i := slices.IndexFunc(subjects, func(s *subject) bool { return s.peer.Name == peer.Elicit }); o.profile != "" && i >= 0 {
		profile = make(chan error, 1)
		go func() {
			profile <- subjects[i].proc.Profile(o.profile, o.time*time.Duration(len(subjects)))
		}()
	}
	for _, s := range subjects {
		var err1, err2 error
		s.allocs, err1 = s.proc.Allocs()
		s.cpu, err2 = s.proc.CPU()
		if err := errors.Join(err1, err2); err != nil {
			return failed(s.target, err)
		}
	}
	// There and back again, so that none always comes after the same other one.
	turns := slices.Clone(subjects)
	for range max(1, o.time/slice) {
		for _, s := range turns {
			r, err := s.gen.Run(ctx, 0, min(slice, o.time))
			if err != nil {
				return failed(s.target, err)
			}
			s.elapsed += r.Elapsed
			s.latency = append(s.latency, r.Latency...)
		}
		slices.Reverse(turns)
	}
	var samples []sample
	for _, s := range subjects {
		cpu, err1 := s.proc.CPU()
		allocs, err2 := s.proc.Allocs()
		_, peak, err3 := s.proc.Memory()
		if err := errors.Join(err1, err2, err3); err != nil {
			return failed(s.target, err)
		}
		slices.Sort(s.latency)
		r := load.Result{Calls: len(s.latency), Elapsed: s.elapsed, Latency: s.latency}
		calls := float64(r.Calls)
		µs := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
		samples = append(samples, sample{
			CPU:     µs(cpu-s.cpu) / calls,
			Rate:    calls / r.Elapsed.Seconds(),
			P50:     µs(r.Percentile(0.50)),
			P99:     µs(r.Percentile(0.99)),
			Peak:    float64(peak) / (1 << 20),
			Objects: float64(allocs.Objects-s.allocs.Objects) / calls,
			Bytes:   float64(allocs.Bytes-s.allocs.Bytes) / calls,
			Busy:    float64(cpu-s.cpu) / float64(r.Elapsed),
		})
	}
	if profile != nil {
		return samples, <-profile
	}
	return samples, nil
}

// settle waits until a server does nothing any more, half a minute at most.
func settle(ctx context.Context, proc *peer.Process) error {
	const look = 50 * time.Millisecond
	before, err := proc.CPU()
	for quiet, waited := 0, time.Duration(0); err == nil && quiet < 3 && waited < 30*time.Second; waited += look {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		var now time.Duration
		now, err = proc.CPU()
		if quiet++; now-before > look/50 {
			quiet = 0
		}
		before = now
	}
	return err
}

func start(ctx context.Context, bin string, p *peer.Peer, l *load.Load, core int) (*peer.Process, error) {
	var args []string
	if l.Tools > 0 {
		args = []string{"-tools", strconv.Itoa(l.Tools)}
	}
	if l.Clients > 1 && p.Name == peer.Floor {
		args = append(args, "-sessions", strconv.Itoa(l.Clients))
	}
	if l.Uncollected {
		args = append(args, "-uncollected")
	}
	return p.Start(ctx, bin, core, args...)
}

// watchMemory makes many calls of ten thousand clients, and gives the server's memory after each tenth of them, in MiB.
func watchMemory(ctx context.Context, bin string, calls int) ([]float64, error) {
	l := find("clients-10000")
	proc, err := start(ctx, bin, peer.All[0], l, serverCore)
	if err != nil {
		return nil, err
	}
	defer proc.Stop()
	g, err := load.Open(ctx, proc.Addr, l)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	var memory []float64
	for range 10 {
		if _, err := g.Run(ctx, calls/10, 0); err != nil {
			return nil, err
		}
		now, _, err := proc.Memory()
		if err != nil {
			return nil, err
		}
		memory = append(memory, float64(now)/(1<<20))
	}
	return memory, nil
}

func find(name string) *load.Load {
	for _, l := range load.Loads() {
		if l.Name == name {
			return l
		}
	}
	panic("no load " + name)
}

// brief puts a few calls of each load on a server. An error says which response was wrong.
func brief(ctx context.Context, bin string, p *peer.Peer) error {
	var proc *peer.Process
	tools := -1
	for _, l := range load.Loads() {
		if !l.For(p.Name) || l.Uncollected || l.Tools > 1000 { // which take long to register, and are no other path
			continue
		}
		l.Conns = min(l.Conns, 8)
		if l.Tools != tools {
			if proc != nil {
				proc.Stop()
			}
			var err error
			if proc, err = start(ctx, bin, p, l, -1); err != nil {
				return err
			}
			defer proc.Stop()
			tools = l.Tools
		}
		g, err := load.Open(ctx, proc.Addr, l)
		if err != nil {
			return err
		}
		calls := 2 * l.Conns
		r, err := g.Run(ctx, calls, 0)
		g.Close()
		if err != nil {
			return err
		}
		if r.Calls != calls {
			return fmt.Errorf("%s: %d calls were made of %d", l.Name, r.Calls, calls)
		}
	}
	if p.IsGo() {
		if a, err := proc.Allocs(); err != nil || a.Objects == 0 {
			return fmt.Errorf("no count of allocations: %w", err)
		}
	}
	return nil
}
