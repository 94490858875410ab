package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/examples/gateway/internal/load"
)

// short is a plan for tests.
var short = load.Plan{
	Clients: 2, Orders: 2000, Rate: 200,
	Rounds: 2, Round: 200 * time.Millisecond, Warm: 50 * time.Millisecond,
	Bursts: 1, Burst: 200 * time.Millisecond,
}

// TestLoad sends orders to a gateway that runs, as the command does, and
// reads what it prints.
func TestLoad(t *testing.T) {
	s := startGateway(t)
	var stdout, stderr bytes.Buffer
	o, err := parseLoad([]string{"-addr", s.addr, "-json"}, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	o.plan = short
	if err := o.run(t.Context(), &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var report load.Report
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 1 || report.Results[0].Begin.Market.Resting != short.Orders || len(report.Rows) == 0 {
		t.Errorf("got %+v", report)
	}
}

// TestCompare starts both gateways and looks at what the report says of them.
func TestCompare(t *testing.T) {
	var steps []string
	report, err := load.Compare(t.Context(), short, func(s string) { steps = append(steps, s) })
	if err != nil {
		t.Fatal(err)
	}
	for i, memory := range []string{"heap", "haven"} {
		r := report.Results[i]
		if r.Memory != memory || len(r.Steady) != 2 || len(r.Fast) != 1 {
			t.Fatalf("got %+v of %s", r, memory)
		}
		if n := r.Begin.Market; n.Resting != 2000 || n.Orders != 2000 {
			t.Errorf("%s began with %+v, want 2000 orders", memory, n)
		}
		for _, x := range append(r.Steady, r.Fast...) {
			if x.Requests == 0 || x.Instructions <= x.Requests || x.CPU <= 0 || x.Latency.P50 <= 0 || x.Latency.Max < x.Latency.P999 {
				t.Errorf("%s: got %+v", memory, x)
			}
		}
		for _, x := range r.Steady {
			if x.Requests != 40 {
				t.Errorf("%s: %d requests at 200/s for 200 ms, want 40", memory, x.Requests)
			}
		}
		if n := r.End.Market; n.Trades == 0 || n.Cancelled == 0 {
			t.Errorf("%s ended with %+v, want trades and cancels", memory, n)
		}
	}
	if len(steps) != 2*(1+2+1+1) {
		t.Errorf("steps: %q", steps)
	}
	name := filepath.Join(t.TempDir(), "report.md")
	if err := writeMarkdown(name, report); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), "| CPU per request |") {
		t.Errorf("the file has %s, error %v", text, err)
	}
}
