package bench

import (
	"fmt"
	"strings"

	"github.com/haven-mem/haven/bench/workload"
)

// judge fills in what became of the targets that the variants of kase declare.
func judge(c *CaseResult, kase workload.Case) {
	for _, v := range kase.Variants {
		res := c.variant(v.Name)
		if res == nil {
			continue
		}
		for _, t := range v.Targets {
			res.Targets = append(res.Targets, judgeOne(c, res, t))
		}
	}
}

func judgeOne(c *CaseResult, v *VariantResult, t workload.Target) TargetResult {
	res := TargetResult{Text: targetText(c, t), Measured: "n/a"}
	mine, ok := figures(c, v, t.Metric)
	if !ok {
		return res
	}
	if t.Against == "" {
		iv := interval(mine)
		res.Known, res.Measured = true, formatMetric(c, t.Metric, iv.Median)
		res.Met, res.ByInterval = meets(iv, t)
		return res
	}
	against := c.variant(t.Against)
	if against == nil {
		return res
	}
	theirs, ok := figures(c, against, t.Metric)
	if !ok {
		return res
	}
	if t.Bound == workload.AtMost {
		theirs, mine = mine, theirs
	}
	iv := pairedRatio(theirs, mine)
	switch {
	case iv.Median > 0:
		res.Measured = formatRatio(iv.Median) + "×"
		res.Met, res.ByInterval = meets(iv, t)
	case sum(mine) == 0 && sum(theirs) > 0:
		// Something over nothing: more than any ratio.
		res.Measured, res.Met = "∞", t.Bound == workload.AtLeast
	case sum(mine) == 0:
		// Nothing over nothing counts as equal.
		iv = Interval{Median: 1, Lo: 1, Hi: 1}
		res.Measured = "1×"
		res.Met, res.ByInterval = meets(iv, t)
	default:
		res.Measured, res.Met = "0×", t.Bound == workload.AtMost
	}
	res.Known = true
	return res
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// meets tells whether an interval meets a bound. That of "no worse" is met by the
// interval if its median misses it and equality lies within.
func meets(iv Interval, t workload.Target) (met, byInterval bool) {
	met = iv.Median <= t.Value
	// A few allocations per round belong to the runtime, and a few to releases
	// that are watched for stale pointers: what is not above 0.01 in the table is zero.
	if t.Metric == workload.MetricAllocs && t.Against == "" {
		met = iv.Median < t.Value+0.015
	}
	if t.Bound == workload.AtLeast {
		met = iv.Median >= t.Value
	}
	if !met && t.Against != "" && t.Value == 1 && iv.holds(1) {
		return true, true
	}
	return met, false
}

// figures returns a metric of v: one value per round where the rounds can be
// paired, otherwise one value for all of them.
func figures(c *CaseResult, v *VariantResult, metric string) ([]float64, bool) {
	one := func(x float64, ok bool) ([]float64, bool) { return []float64{x}, ok }
	lat := v.Latency
	if lat == nil {
		lat = &Latency{}
	}
	switch metric {
	case workload.MetricTime:
		return times(v), len(v.Rounds) > 0
	case workload.MetricAllocs:
		return one(v.Summary.AllocsPerOp, true)
	case workload.MetricBytes:
		return one(v.Summary.BytesPerOp, true)
	case workload.MetricGCs:
		return one(v.Summary.GCs, true)
	case workload.MetricGCCPU:
		return one(v.Summary.GCCPUNS, true)
	case workload.MetricRSS:
		return one(float64(v.PeakRSSBytes), v.PeakRSSBytes > 0)
	case workload.MetricP50:
		return one(float64(lat.P50NS), lat.Count > 0)
	case workload.MetricP99:
		return one(float64(lat.P99NS), lat.Count > 0)
	case workload.MetricP999:
		return one(float64(lat.P999NS), lat.Count > 0)
	}
	values := extraValues(v, metric)
	return values, len(values) > 0
}

// targetText puts a target into words: "≥ 7× faster than new".
func targetText(c *CaseResult, t workload.Target) string {
	name := metricName(t.Metric)
	if t.Against == "" {
		sign := "≤"
		if t.Bound == workload.AtLeast {
			sign = "≥"
		}
		value := formatMetric(c, t.Metric, t.Value)
		if strings.HasSuffix(value, name) {
			return fmt.Sprintf("%s %s", sign, value)
		}
		return fmt.Sprintf("%s %s %s", name, sign, value)
	}
	value := formatBound(t.Value)
	switch {
	case t.Value == 1 && t.Metric == workload.MetricTime:
		return "not slower than " + t.Against
	case t.Value == 1:
		return fmt.Sprintf("%s not above %s", name, t.Against)
	case t.Bound == workload.AtMost:
		return fmt.Sprintf("%s ≤ %s× that of %s", name, value, t.Against)
	case t.Metric == workload.MetricTime:
		return fmt.Sprintf("≥ %s× faster than %s", value, t.Against)
	default:
		return fmt.Sprintf("%s ≥ %s× less than %s", name, value, t.Against)
	}
}
