package bench

import (
	"math"
	"testing"

	"github.com/haven-mem/haven/bench/workload"
)

func TestIntervalOfFewRoundsIsTheirRange(t *testing.T) {
	for n := 2; n <= 5; n++ {
		var values []float64
		for i := range n {
			values = append(values, float64(10+(i+n/2)%n))
		}
		iv := interval(values)
		if iv.Lo != 10 || iv.Hi != float64(10+n-1) {
			t.Errorf("%v: interval %+v, want the whole range", values, iv)
		}
		if want := 1 - math.Pow(2, float64(1-n)); math.Abs(iv.Confidence-want) > 1e-6 {
			t.Errorf("%d rounds: confidence %v, want %v", n, iv.Confidence, want)
		}
	}
}

func TestIntervalReachesItsLevelFromSixRoundsOn(t *testing.T) {
	for n := 6; n <= 25; n++ {
		var values []float64
		for i := range n {
			values = append(values, float64((i+n/2)%n))
		}
		first := values[0]
		iv := interval(values)
		if iv.Confidence < level || math.IsInf(iv.Lo, 0) || math.IsInf(iv.Hi, 0) {
			t.Errorf("%d rounds: %+v", n, iv)
		}
		if iv.Median != float64(n-1)/2 || !iv.holds(iv.Median) {
			t.Errorf("%d rounds: median %v in [%v, %v], want %v", n, iv.Median, iv.Lo, iv.Hi, float64(n-1)/2)
		}
		if values[0] != first {
			t.Fatalf("the rounds were put into another order")
		}
	}
}

func TestIntervalOfOneOrNone(t *testing.T) {
	if iv := interval(nil); iv != (Interval{}) {
		t.Errorf("of none: %+v", iv)
	}
	if iv := interval([]float64{3}); iv != (Interval{Median: 3, Lo: 3, Hi: 3}) {
		t.Errorf("of one: %+v", iv)
	}
}

// Noise that hits all variants of a round alike must not widen the ratio.
func TestSpeedupPairsRounds(t *testing.T) {
	base := &VariantResult{Rounds: fixedRounds(1000, 10, 100, 20, 50, 1000, 10)}
	half := &VariantResult{Rounds: fixedRounds(1000, 5, 50, 10, 25, 500, 5)}
	iv := speedup(base, half)
	if iv.Median != 2 || iv.Lo != 2 || iv.Hi != 2 {
		t.Errorf("speedup %+v, want exactly 2", iv)
	}
	if own := interval(times(half)); own.Hi/own.Lo < 10 {
		t.Errorf("the rounds' own interval is %+v: the test has no noise", own)
	}
}

func TestSpeedupOfUnequalRounds(t *testing.T) {
	base := &VariantResult{Rounds: fixedRounds(10, 8, 8, 8)}
	short := &VariantResult{Rounds: fixedRounds(20, 4, 4)}
	if iv := speedup(base, short); iv.Median != 2 || iv.Confidence > 0.5+1e-6 {
		t.Errorf("speedup %+v, want 2 from two pairs", iv)
	}
}

func TestSummary(t *testing.T) {
	c := fixedReport().Cases[0]
	base, reset := c.variant("new").Summary, c.variant("arena+reset").Summary
	if base.Speedup != nil {
		t.Errorf("the baseline has a speedup: %+v", base.Speedup)
	}
	if math.Abs(base.GCs-5.5) > 1e-9 || math.Abs(base.GCCPUNS-12.3e6) > 1 {
		t.Errorf("means of collections %v, of their time %v", base.GCs, base.GCCPUNS)
	}
	if math.Abs(base.AllocsPerOp-1) > 0.001 || math.Abs(base.BytesPerOp-24) > 0.001 {
		t.Errorf("allocs/op %v, B/op %v", base.AllocsPerOp, base.BytesPerOp)
	}
	if m := reset.Speedup.Median; m < 6.9 || m > 7.1 {
		t.Errorf("speedup %v", m)
	}
}

func TestSummaryOfBytesCountsAllocationsByPass(t *testing.T) {
	c := &CaseResult{Unit: "byte", Baseline: "heap", Passes: 4, Variants: []*VariantResult{
		{Name: "heap", Rounds: []RoundResult{{Ops: 4e6, NS: 4e7, Mallocs: 400}}},
	}}
	summarize(c)
	if got := c.Variants[0].Summary; got.AllocsPerOp != 100 || got.Time.Median != 10 {
		t.Errorf("%+v", got)
	}
	if got := formatTime(c, 10); got != "100" || timeUnit(c) != "MB/s" {
		t.Errorf("10 ns per byte is %s %s", got, timeUnit(c))
	}
}

func TestTargets(t *testing.T) {
	c := fixedReport().Cases[0]
	latency := fixedReport().Cases[1]
	for _, tc := range []struct {
		c       *CaseResult
		variant string
		target  workload.Target
		text    string
		met     bool
		known   bool
	}{
		{c, "arena+reset", workload.Target{Metric: "time", Against: "new", Value: 6.9}, "≥ 6.9× faster than new", true, true},
		{c, "arena+reset", workload.Target{Metric: "time", Against: "new", Value: 7.2}, "≥ 7.2× faster than new", false, true},
		{c, "arena", workload.Target{Metric: "time", Against: "new", Value: 1}, "not slower than new", true, true},
		{c, "slow", workload.Target{Metric: "time", Against: "new", Value: 1}, "not slower than new", false, true},
		{c, "slow", workload.Target{Metric: "time", Against: "new", Bound: workload.AtMost, Value: 1.5}, "time ≤ 1.5× that of new", false, true},
		{c, "slow", workload.Target{Metric: "time", Against: "new", Bound: workload.AtMost, Value: 2.5}, "time ≤ 2.5× that of new", true, true},
		{c, "arena+reset", workload.Target{Metric: "time", Bound: workload.AtMost, Value: 1.1}, "time ≤ 1.10 ns/object", false, true},
		{c, "arena+reset", workload.Target{Metric: "time", Bound: workload.AtMost, Value: 3.4}, "time ≤ 3.40 ns/object", true, true},
		{c, "arena+reset", workload.Target{Metric: "allocs", Bound: workload.AtMost}, "≤ 0 allocs/op", true, true},
		{c, "new", workload.Target{Metric: "allocs", Bound: workload.AtMost}, "≤ 0 allocs/op", false, true},
		{c, "arena+reset", workload.Target{Metric: "gc-cpu", Against: "new", Value: 3}, "GC CPU ≥ 3× less than new", true, true},
		{c, "new", workload.Target{Metric: "gc-cpu", Against: "arena", Bound: workload.AtMost, Value: 3}, "GC CPU ≤ 3× that of arena", false, true},
		{c, "slow", workload.Target{Metric: "rss", Against: "new", Bound: workload.AtMost, Value: 1}, "peak RSS not above new", false, false},
		{c, "arena", workload.Target{Metric: "rss", Against: "new", Bound: workload.AtMost, Value: 1}, "peak RSS not above new", true, true},
		{c, "new", workload.Target{Metric: "rss", Against: "arena", Bound: workload.AtMost, Value: 1}, "peak RSS not above arena", false, true},
		{c, "arena", workload.Target{Metric: "time", Against: "absent", Value: 2}, "≥ 2× faster than absent", false, false},
		{c, "arena", workload.Target{Metric: "p99.9", Against: "new", Value: 1}, "p99.9 not above new", false, false},
		{latency, "arena+pool", workload.Target{Metric: "p99.9", Against: "new", Value: 1}, "p99.9 not above new", true, true},
		{latency, "arena+pool", workload.Target{Metric: "release-ns", Against: "new", Bound: workload.AtMost, Value: 1.5}, "release ≤ 1.5× that of new", false, true},
	} {
		got := judgeOne(tc.c, tc.c.variant(tc.variant), tc.target)
		if got.Text != tc.text || got.Met != tc.met || got.Known != tc.known {
			t.Errorf("%s %+v:\n got %+v\nwant %q met=%v known=%v", tc.variant, tc.target, got, tc.text, tc.met, tc.known)
		}
	}
}

func TestPassesFor(t *testing.T) {
	for _, tc := range []struct{ pass, want, passes int64 }{
		{1, 20, 20}, {3, 20, 7}, {20, 20, 1}, {50, 20, 1}, {0, 20, 20}, {1, 1 << 40, maxPasses},
	} {
		if got := passesFor(nanos(tc.pass), nanos(tc.want)); int64(got) != tc.passes {
			t.Errorf("passesFor(%d, %d) = %d, want %d", tc.pass, tc.want, got, tc.passes)
		}
	}
}

func TestTimeUnitFollowsTheBaseline(t *testing.T) {
	for _, tc := range []struct {
		ns         float64
		value, per string
	}{{23, "23.0", "ns/cycle"}, {250e3, "250", "µs/cycle"}, {124e6, "124", "ms/cycle"}} {
		c := &CaseResult{Unit: "cycle", Baseline: "new", Passes: 1, Variants: []*VariantResult{
			{Name: "new", Rounds: fixedRounds(1, tc.ns)}, {Name: "bump", Rounds: fixedRounds(1, 1)},
		}}
		summarize(c)
		if got := formatTime(c, tc.ns); got != tc.value || timeUnit(c) != tc.per {
			t.Errorf("%v ns: %s %s, want %s %s", tc.ns, got, timeUnit(c), tc.value, tc.per)
		}
	}
}
