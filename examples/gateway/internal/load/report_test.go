package load_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/examples/gateway/internal/load"
	"github.com/haven-mem/haven/examples/gateway/internal/vitals"
)

// round makes a round of 1000 requests in a second.
func round(cpu, gc, p999 time.Duration) load.Round {
	return load.Round{
		Done: load.Done{
			Requests: 1000, Instructions: 32_000, Elapsed: time.Second,
			Latency: load.Latency{P50: time.Microsecond, P99: time.Millisecond, P999: p999, Max: time.Second},
		},
		CPU: 1000 * cpu, GCCPU: 1000 * gc, GCs: 2,
	}
}

const us = time.Microsecond

// sampleReport compares a heap of 100, 110 and 130 µs with a Haven of 50, 55 and
// 100 µs.
func sampleReport(p999 time.Duration) *load.Report {
	heap := &load.Result{Memory: "heap", Steady: []load.Round{round(130*us, 40*us, 30*us), round(100*us, 20*us, 20*us), round(110*us, 30*us, 10*us)}}
	haven := &load.Result{Memory: "haven", Steady: []load.Round{round(100*us, 0, p999), round(50*us, 2*us, p999), round(55*us, 1*us, p999)}}
	heap.End.Vitals = vitals.Vitals{RSS: 300e6}
	haven.End.Vitals = vitals.Vitals{RSS: 200e6}
	return load.ReportOf(load.Plan{Clients: 16, Orders: 1_000_000, Rate: 1000, Rounds: 3, Round: time.Second}, heap, haven)
}

func TestReport(t *testing.T) {
	var text, markdown bytes.Buffer
	r := sampleReport(5 * us)
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| 1,000 requests/s, 3 rounds of 1s | heap | haven | heap ÷ haven |",
		"| requests/s | 1,000 | 1,000 | 1.00× |",
		"| CPU per request | 110 µs [100 µs–130 µs] | 55.0 µs [50.0 µs–100 µs] | 2.00× [1.30–2.00] |",
		"| GC CPU per request | 30.0 µs | 1.00 µs | 30.0× |",
		"| GC cycles | 6 | 6 | 1.00× |",
		"| latency p99.9 | 20.0 µs [10.0 µs–30.0 µs] | 5.00 µs | 4.00× [2.00–6.00] |",
		"| latency max | 1.00 s | 1.00 s | 1.00× |",
		"| RSS | 300 MB | 200 MB | 1.50× |",
		"1,000,000 resting orders, batches of 1 to 64 instructions (32.0 on average), 16 connections",
		"| at least 30 % less CPU per request than heap | 50 % less | met |",
		"| at least 4× less GC CPU than heap | 30.0× less | met |",
		"| latency p99.9 below heap's | 5.00 µs against 20.0 µs | met |",
	} {
		if !strings.Contains(markdown.String(), row) {
			t.Errorf("no %s in\n%s", row, &markdown)
		}
		// The cells are in the text as well, but for the column's width.
		fields := strings.Join(strings.Fields(strings.ReplaceAll(row, "|", " ")), " ")
		if !strings.HasPrefix(row, "| at") && !strings.HasPrefix(row, "| latency p99.9 below") &&
			!strings.Contains(strings.Join(strings.Fields(text.String()), " "), fields) {
			t.Errorf("no %s in\n%s", fields, &text)
		}
	}
	if strings.Contains(markdown.String(), "as fast as") {
		t.Errorf("rows of rounds that were not run in\n%s", &markdown)
	}
}

// TestFellBehind has a gateway that did not do what it was asked.
func TestFellBehind(t *testing.T) {
	plan := load.Plan{Clients: 16, Rate: 1021, Rounds: 2, Round: time.Second}
	heap := &load.Result{Memory: "heap", Steady: []load.Round{round(us, us, us), round(us, us, us)}}
	heap.Steady[0].Requests = 1001
	const want = "heap fell behind in round 2, with 1,000 of 1,021 requests/s: its latencies are those of a queue"
	r := load.ReportOf(plan, heap)
	if len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("got %q, want %q", r.Notes, want)
	}
	var text, markdown bytes.Buffer
	if r.WriteText(&text) != nil || r.WriteMarkdown(&markdown) != nil || !strings.Contains(text.String(), want) || !strings.Contains(markdown.String(), want) {
		t.Errorf("no note in\n%s\n%s", &text, &markdown)
	}
}

// TestMissed has targets that are not met.
func TestMissed(t *testing.T) {
	r := sampleReport(20 * us)
	if len(r.Targets) != 3 || r.Targets[2].Met {
		t.Errorf("got %+v, want the last one missed", r.Targets)
	}
	var b bytes.Buffer
	if err := r.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), "20.0 µs against 20.0 µs | **missed** |") {
		t.Errorf("error %v and\n%s", err, &b)
	}
	slower := &load.Result{Memory: "haven", Steady: []load.Round{round(705*us/10, 11*us, us)}}
	heap := &load.Result{Memory: "heap", Steady: []load.Round{round(100*us, 40*us, us)}}
	r = load.ReportOf(load.Plan{Rounds: 1}, heap, slower)
	for _, target := range r.Targets {
		if target.Met {
			t.Errorf("%+v is met, want it missed", target)
		}
	}
}

func TestSpread(t *testing.T) {
	if got, want := load.SpreadOf([]float64{4, 1, 2, 3}), (load.Spread{Median: 2.5, Min: 1, Max: 4}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := load.Ratios([]float64{4, 9, 8}, []float64{2, 3, 0}), (load.Spread{Median: 2.5, Min: 2, Max: 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := load.Ratios([]float64{1}, []float64{0}); got != (load.Spread{}) {
		t.Errorf("got %v for a division by zero", got)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.01234: "0.0123", 0.5: "0.500", 1: "1.00", 12.34: "12.3", 123.4: "123", 99.96: "100.0", 12345: "12345", -1.5: "-1.50", math.Pi * 1e-9: "0.000000",
	} {
		if got := load.Number(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := load.Thousands(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}
