package bench

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/haven-mem/haven/bench/workload"
)

// level is the confidence that intervals have when there are rounds enough.
const level = 0.95

// levelFor returns the confidence to ask of n values: level, or with few
// values the probability that the median lies between the least and the
// greatest of them, which is the most that can be had.
func levelFor(n int) float64 {
	if n < 1 {
		return 0
	}
	// A little less than the exact value, which must count as reached.
	return min(level, 1-math.Pow(2, float64(1-n))-1e-9)
}

// interval returns the median of values with its confidence interval. It
// leaves values alone. All fields are zero when there are none; one value is
// its own interval, at confidence 0.
func interval(values []float64) Interval {
	switch len(values) {
	case 0:
		return Interval{}
	case 1:
		return Interval{Median: values[0], Lo: values[0], Hi: values[0]}
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, levelFor(len(values)))
	return Interval{Median: s.Center, Lo: s.Lo, Hi: s.Hi, Confidence: s.Confidence}
}

// median returns the median of values, 0 when there are none.
func median(values []float64) float64 { return interval(values).Median }

// spread returns the wider side of the interval as a share of the median.
func (iv Interval) spread() float64 {
	if iv.Median == 0 {
		return 0
	}
	return max(iv.Hi-iv.Median, iv.Median-iv.Lo) / iv.Median
}

// holds tells whether x lies in the interval.
func (iv Interval) holds(x float64) bool { return iv.Lo <= x && x <= iv.Hi }

// summarize fills in the summaries of all variants of c.
func summarize(c *CaseResult) {
	base := c.variant(c.Baseline)
	for _, v := range c.Variants {
		v.Summary = summaryOf(c, v)
		if base != nil && base != v {
			if r := speedup(base, v); r.Median > 0 {
				v.Summary.Speedup = &r
			}
		}
	}
}

// opsFor returns the number of operations of round r that allocations are
// divided by: with bytes, whole passes.
func opsFor(c *CaseResult, r *RoundResult) float64 {
	if c.Unit == "byte" {
		return float64(c.Passes)
	}
	return float64(r.Ops)
}

func summaryOf(c *CaseResult, v *VariantResult) Summary {
	var s Summary
	var allocs, bytes []float64
	var gcs, gccpu float64
	for i := range v.Rounds {
		r := &v.Rounds[i]
		ops := opsFor(c, r)
		allocs = append(allocs, float64(r.Mallocs)/ops)
		bytes = append(bytes, float64(r.AllocBytes)/ops)
		gcs += float64(r.GCs)
		gccpu += float64(r.GCCPUNS)
	}
	n := float64(max(len(v.Rounds), 1))
	s.Time = interval(times(v))
	s.AllocsPerOp = median(allocs)
	s.BytesPerOp = median(bytes)
	s.GCs = gcs / n
	s.GCCPUNS = gccpu / n
	for _, name := range extraNames([]*VariantResult{v}) {
		s.Extras = append(s.Extras, workload.Extra{Name: name, Value: median(extraValues(v, name))})
	}
	return s
}

// times returns the nanoseconds per unit of each round.
func times(v *VariantResult) []float64 {
	var ts []float64
	for _, r := range v.Rounds {
		ts = append(ts, float64(r.NS)/float64(r.Ops))
	}
	return ts
}

// speedup returns base's time over v's, paired by rounds.
func speedup(base, v *VariantResult) Interval {
	return pairedRatio(times(base), times(v))
}

// pairedRatio returns the interval of a[i]/b[i] over the indices both have. It
// leaves out pairs that have no ratio.
func pairedRatio(a, b []float64) Interval {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if b[i] > 0 {
			ratios = append(ratios, a[i]/b[i])
		}
	}
	return interval(ratios)
}

// extraNames returns the names of the workload's own figures, in the order of
// their first appearance.
func extraNames(variants []*VariantResult) []string {
	var names []string
	for _, v := range variants {
		for _, r := range v.Rounds {
			for _, e := range r.Extras {
				if !slices.Contains(names, e.Name) {
					names = append(names, e.Name)
				}
			}
		}
	}
	return names
}

// extraValues returns the values of one figure over the rounds that have it.
func extraValues(v *VariantResult, name string) []float64 {
	var values []float64
	for _, r := range v.Rounds {
		for _, e := range r.Extras {
			if e.Name == name {
				values = append(values, e.Value)
			}
		}
	}
	return values
}
