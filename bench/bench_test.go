package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/elicit-go/elicit/bench/internal/load"
	"github.com/elicit-go/elicit/bench/internal/peer"
)

// built is the directory of the servers, built once for all tests.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "bench"); err == nil {
		err = peer.Build(context.Background(), built)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

// forEach runs a test for each peer that can run here.
func forEach(t *testing.T, test func(t *testing.T, p *peer.Peer)) {
	for _, p := range peer.All {
		t.Run(p.Name, func(t *testing.T) {
			if p.Name == peer.TypeScript {
				if err := peer.Installed(); err != nil {
					if os.Getenv("ELICIT_E2E") == "1" {
						t.Fatal(err)
					}
					t.Skip(err)
				}
			}
			test(t, p)
		})
	}
}

// A benchmark that skips the work is a defect: every server gives the right response to every POST of every load.
func TestEveryResponseIsRight(t *testing.T) {
	forEach(t, func(t *testing.T, p *peer.Peer) {
		if err := brief(t.Context(), built, p); err != nil {
			t.Error(err)
		}
	})
}

// The same for the two POSTs of ShipOrder, sent by net/http and read by encoding/json, so that it does not rest on the
// load generator.
func TestAskAndAnswer(t *testing.T) {
	forEach(t, func(t *testing.T, p *peer.Peer) {
		proc, err := p.Start(t.Context(), built, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer proc.Stop()
		post := func(step load.Step, id int) map[string]any {
			req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://"+proc.Addr+"/", strings.NewReader(string(step.Body(id, 0, ""))))
			req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"ShipOrder"}}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			var message struct {
				ID     int            `json:"id"`
				Result map[string]any `json:"result"`
			}
			if err := json.Unmarshal(body, &message); err != nil || res.StatusCode != 200 || message.ID != id {
				t.Fatalf("%s %v: %s", res.Status, err, body)
			}
			return message.Result
		}
		steps := find("question").Steps
		asked := post(steps[0], 100_000_001)
		requests, _ := asked["inputRequests"].(map[string]any)
		ship, _ := requests["ship"].(map[string]any)
		params, _ := ship["params"].(map[string]any)
		schema, _ := params["requestedSchema"].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		number, _ := properties["trackingNumber"].(map[string]any)
		if asked["resultType"] != "input_required" || len(requests) != 1 || ship["method"] != "elicitation/create" || params["message"] != "Ship this order" ||
			len(properties) != 1 || number["type"] != "string" || fmt.Sprint(schema["required"]) != "[trackingNumber]" {
			t.Errorf("it does not ask: %v", asked)
		}
		done := post(steps[1], 100_000_002)
		if done["resultType"] != "complete" || fmt.Sprint(done["content"]) != "[map[text:Shipped as 1Z999. type:text]]" {
			t.Errorf("it does not ship: %v", done)
		}
	})
}

// What the benchmark reads of a process is plausible, and the two ways of reading its processor time agree.
func TestMeasures(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	p := peer.All[0]
	proc, err := p.Start(t.Context(), built, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Stop()
	g, err := load.Open(t.Context(), proc.Addr, find("question"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Run(t.Context(), 2000, 0); err != nil {
		t.Fatal(err)
	}
	cpu, err1 := proc.CPU()
	user, system, err2 := proc.Ticks()
	now, most, err3 := proc.Memory()
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	if cpu <= 0 || (cpu-user-system).Abs() > 50*time.Millisecond {
		t.Errorf("the process's clock is at %v, its ticks at %v user and %v system", cpu, user, system)
	}
	if now <= 0 || most < now {
		t.Errorf("the process has %d bytes, and had at most %d", now, most)
	}
}

// The report has every number, and holds what must hold against it.
func TestReport(t *testing.T) {
	day := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	first := &part{Commit: "0123456", Machine: "A machine", Began: day, Runs: 3, Note: "Made up.", Loads: []string{"question"}, Peers: []string{"elicit", "floor", "mcpgo", "gosdk", "typescript"},
		Calls: 1_000_000, Memory: []float64{20, 21}}
	second := &part{Commit: "0123456", Machine: "A machine", Began: day.Add(time.Hour), Runs: 3, Loads: []string{"wizard", "wizard-stateless", "question"}, Peers: []string{"elicit"},
		Readers: []reading{{"ask", "ours", []float64{900, 1100, 1000}}, {"ask", "theirs", []float64{2000}}}}
	for n := range 3 {
		slow := 1 + float64(n)/10 // all alike, so that ratios stay
		for i, p := range peer.All {
			first.add(find("question"), p, sample{CPU: slow * []float64{40, 25, 100, 300, 800}[i], Rate: 1234.5, P50: 1, P99: 2, Peak: 3, Objects: 4, Bytes: 5, Busy: 1})
		}
		second.add(find("wizard"), peer.All[0], sample{CPU: 90 * slow})
		second.add(find("wizard-stateless"), peer.All[0], sample{CPU: 50 * slow})
		second.add(find("question"), peer.All[0], sample{CPU: 7777}) // not shown: the other part has the peers
	}
	r, err := merge([]*part{second, first})
	if err != nil {
		t.Fatal(err)
	}
	report := string(r.report("chart.svg"))
	for _, want := range []string{
		"# Benchmark of 2026-08-01", "**Made up.**", "](chart.svg)", "A machine.",
		"| 00:00:00 | 0s |  | 0123456 | 3 of 0s | question, memory |\n| 01:00:00 | 0s |  | 0123456 | 3 of 0s | wizard, wizard-stateless, question (elicit alone), readers |",
		"| body | ours | theirs |", "| ask | 900 / **1,000** / 1,100 | 2,000 / **2,000** / 2,000 |",
		"| go-sdk to elicit, single question | at least 5.0× | 7.50 / **7.50** / 7.50 | yes |",
		"| wizard with sealed state to the same without state | at most 1.6× | 1.80 / **1.80** / 1.80 | **no** |",
		"at most 1.1× | 1.05 | yes |",
		"| Single question | 44.0 | 27.5 (0.62×) | 110.0 (2.50×) | 330.0 (7.50×) | 880.0 (20.00×) |",
		"| elicit | CPU µs per call | 40.0 / **44.0** / 48.0 |  |", "| 1,234 / **1,234** / 1,234 | 1.00× |",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report has not %q", want)
		}
	}
	if strings.Contains(report, "7,777") {
		t.Error("the report shows a load of the part that has it on elicit alone")
	}
	other := *first
	other.Machine = "Another machine"
	if _, err := merge([]*part{first, &other}); err == nil {
		t.Error("parts of two machines make one report")
	}
	if t.Failed() {
		t.Log(report)
	}
	if c := string(r.chart()); !regexp.MustCompile(`(?s)^<svg .*TypeScript SDK.*880\.0.*</svg>\n$`).MatchString(c) {
		t.Errorf("the chart is %s", c)
	}
}
