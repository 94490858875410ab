package bench

import (
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/haven-mem/haven/bench/workload"
)

// writeBenchfmt writes the report in the Go benchmark format, one line per
// round, so that benchstat does its own statistics, by "-col /impl" for
// instance. Operations are the workload's units; with bytes, an operation is a
// pass, and there is MB/s as well.
func writeBenchfmt(w io.Writer, r *Report) error {
	config := []benchfmt.Config{
		fileConfig("goos", r.Machine.GOOS),
		fileConfig("goarch", r.Machine.GOARCH),
		fileConfig("pkg", "github.com/haven-mem/haven"),
		fileConfig("cpu", r.Machine.CPU),
		fileConfig("go", r.Machine.GoVersion),
		fileConfig("commit", r.Machine.Commit),
		fileConfig("date", r.Date.Format("2006-01-02T15:04:05Z")),
	}
	kept := config[:0]
	for _, c := range config {
		if len(c.Value) > 0 {
			kept = append(kept, c)
		}
	}
	out := benchfmt.NewWriter(w)
	for _, c := range r.Cases {
		for _, v := range c.Variants {
			for i := range v.Rounds {
				if err := out.Write(&benchfmt.Result{
					Config: kept,
					Name:   benchfmt.Name(benchmarkName(c, v)),
					Iters:  max(int(opsFor(c, &v.Rounds[i])), 1),
					Values: benchmarkValues(c, v, &v.Rounds[i]),
				}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func fileConfig(key, value string) benchfmt.Config {
	return benchfmt.Config{Key: key, Value: []byte(value), File: true}
}

// benchmarkName is the name without "Benchmark", which the writer adds: the
// variant comes as impl=, the parts of the case's name after it.
func benchmarkName(c *CaseResult, v *VariantResult) string {
	name := upperFirst(c.Workload) + "/impl=" + v.Name
	for _, part := range strings.Split(c.Case, "/") {
		switch {
		case part == "":
		case strings.Contains(part, "="):
			name += "/" + part
		default:
			name += "/case=" + part
		}
	}
	return strings.ReplaceAll(name, " ", "_")
}

// benchmarkValues returns the figures of one round. Those that exist only for
// all rounds together, peak memory and percentiles, are repeated on each line.
func benchmarkValues(c *CaseResult, v *VariantResult, r *RoundResult) []benchfmt.Value {
	ops := opsFor(c, r)
	values := []benchfmt.Value{{Value: float64(r.NS) / ops, Unit: "ns/op"}}
	if c.Unit == "byte" {
		values = append(values, benchfmt.Value{
			Value: megabytesPerSecond(float64(r.NS) / float64(r.Ops)), Unit: "MB/s"})
	}
	values = append(values,
		benchfmt.Value{Value: float64(r.AllocBytes) / ops, Unit: "B/op"},
		benchfmt.Value{Value: float64(r.Mallocs) / ops, Unit: "allocs/op"},
		benchfmt.Value{Value: float64(r.GCs), Unit: "GCs/round"},
		benchfmt.Value{Value: float64(r.GCCPUNS), Unit: "gc-ns/round"},
	)
	if v.PeakRSSBytes > 0 {
		values = append(values, benchfmt.Value{Value: float64(v.PeakRSSBytes), Unit: "peak-RSS-bytes"})
	}
	if l := v.Latency; l != nil {
		values = append(values,
			benchfmt.Value{Value: float64(l.P50NS), Unit: "p50-ns"},
			benchfmt.Value{Value: float64(l.P99NS), Unit: "p99-ns"},
			benchfmt.Value{Value: float64(l.P999NS), Unit: "p99.9-ns"})
	}
	for _, e := range r.Extras {
		values = append(values, benchfmt.Value{Value: e.Value, Unit: benchmarkUnit(e)})
	}
	return values
}

// benchmarkUnit makes the name of a workload's own figure a unit: per round,
// unless it says something else.
func benchmarkUnit(e workload.Extra) string {
	unit := strings.ReplaceAll(e.Name, " ", "-")
	if strings.Contains(unit, "/") {
		return unit
	}
	return unit + "/round"
}
