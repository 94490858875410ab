package bench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/haven-mem/haven/bench/workload"
	"github.com/haven-mem/haven/internal/machine"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("output differs from %s (run with -update and look at the diff)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// fixedRounds returns rounds with the given times per operation.
func fixedRounds(ops int64, nsPerOp ...float64) []RoundResult {
	var rounds []RoundResult
	for _, ns := range nsPerOp {
		rounds = append(rounds, RoundResult{Ops: ops, NS: int64(ns * float64(ops))})
	}
	return rounds
}

// fixedReport is a report with figures that do not change: one case of each
// kind that the outputs treat differently.
func fixedReport() *Report {
	tree := &CaseResult{
		Workload: "tree", WorkloadDoc: "binary trees", Unit: "object", Baseline: "new", Passes: 7,
		Variants: []*VariantResult{
			{Name: "new", PeakRSSBytes: 24_100_000, Rounds: fixedRounds(917497, 23, 23.5, 22.8, 23.1, 23.2, 24)},
			{Name: "arena+reset", PeakRSSBytes: 12_000_000, Rounds: fixedRounds(917497, 3.3, 3.2, 3.4, 3.3, 3.3, 3.3)},
			{Name: "arena", PeakRSSBytes: 14_000_000, Rounds: fixedRounds(917497, 23, 23.6, 22.9, 23, 23.1, 24.2)},
			{Name: "slow", Rounds: fixedRounds(917497, 46, 47, 46, 46.2, 46.4, 48)},
		},
	}
	for i := range tree.Variants[0].Rounds {
		r := &tree.Variants[0].Rounds[i]
		r.Mallocs, r.AllocBytes, r.GCs, r.GCCPUNS = 917500, 22_019_928, uint32(5+i%2), 12_300_000
		// A handful of allocations are the runtime's.
		tree.Variants[1].Rounds[i].Mallocs = 3
	}

	request := &CaseResult{
		Workload: "request", WorkloadDoc: "80 objects per request", Case: "live=1GB", CaseDoc: "while 1 GB is live",
		Unit: "request", Baseline: "new", Passes: 1, Sequential: true,
		Variants: []*VariantResult{
			{Name: "new", Latency: &Latency{Count: 9000, P50NS: 4100, P99NS: 91000, P999NS: 1_240_000}, Rounds: fixedRounds(3000, 5000, 5100, 5200)},
			{Name: "arena+pool", Latency: &Latency{Count: 9000, P50NS: 1050, P99NS: 1900, P999NS: 8200}, Rounds: fixedRounds(3000, 1200, 1210, 1220)},
		},
	}
	for i, v := range request.Variants {
		for n := range v.Rounds {
			v.Rounds[n].Extras = []workload.Extra{{Name: "release-ns", Value: float64(1000*i + 850)}, {Name: "gc-cpu-ns/cycle", Value: 2.5e6}}
		}
	}

	json := &CaseResult{
		Workload: "jsontree", WorkloadDoc: "a JSON document as a tree", Unit: "byte", Baseline: "heap", Passes: 2,
		Variants: []*VariantResult{
			{Name: "heap", PeakRSSBytes: 61_000_000, Rounds: fixedRounds(2_000_000, 12, 12.5, 12.2, 12.4, 12.1, 12.3)},
			{Name: "arena|odd", PeakRSSBytes: 60_000_000, Rounds: fixedRounds(2_000_000, 5, 5.1, 5, 5.2, 5.1, 5)},
		},
	}

	r := &Report{
		Schema: schemaVersion, Date: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), ElapsedNS: 61_200_000_000,
		Machine: machine.Machine{CPU: "Example <CPU> & Sons", GOOS: "linux", GOARCH: "amd64", NumCPU: 8, GOMAXPROCS: 8,
			GoVersion: "go1.26.8", Commit: "0123456789ab", Env: map[string]string{"GOGC": "50"}},
		Config: workload.Config{In: "data.json", InName: "data.json"},
		Cases:  []*CaseResult{tree, request, json},
	}
	for _, c := range r.Cases {
		summarize(c)
	}
	judge(tree, workload.Case{Variants: []workload.Variant{
		{Name: "arena+reset", Targets: []workload.Target{
			{Metric: workload.MetricTime, Against: "new", Bound: workload.AtLeast, Value: 5},
			{Metric: workload.MetricTime, Bound: workload.AtMost, Value: 1.1},
			{Metric: workload.MetricAllocs, Bound: workload.AtMost, Value: 0},
		}},
		{Name: "arena", Targets: []workload.Target{
			{Metric: workload.MetricTime, Against: "new", Bound: workload.AtLeast, Value: 1},
			{Metric: workload.MetricRSS, Against: "new", Bound: workload.AtMost, Value: 1},
		}},
	}})
	return r
}
