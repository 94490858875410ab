package bench

import (
	"fmt"
	"math"
	"strings"

	"github.com/haven-mem/haven/bench/workload"
)

// formatNumber writes x with three digits that matter, and no more than two
// decimals above 1: 0.0123, 1.23, 12.3, 123, 12345.
func formatNumber(x float64) string {
	abs := math.Abs(x)
	switch {
	case abs == 0:
		return "0"
	case abs >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case abs >= 9.995:
		return fmt.Sprintf("%.1f", x)
	case abs >= 0.0995:
		return fmt.Sprintf("%.2f", x)
	case abs >= 0.00095:
		return fmt.Sprintf("%.3f", x)
	default:
		return fmt.Sprintf("%.1e", x)
	}
}

// formatCount writes an amount per operation, where next to nothing is the
// runtime's own: 0, 0.25, 1.00, 12.0, 120.
func formatCount(x float64) string {
	if x < 0.005 {
		return "0"
	}
	return formatNumber(x)
}

// formatRatio writes a factor: 1.07, 7.3, 41.0, 352.
func formatRatio(x float64) string {
	switch {
	case x >= 99.5:
		return fmt.Sprintf("%.0f", x)
	case x >= 1.995:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// formatBound writes the factor that a target asks for: 7, 2.5, 1.5.
func formatBound(x float64) string { return fmt.Sprintf("%g", x) }

// formatSpeedup puts a speedup and its interval into words. An interval that
// includes 1 shows no difference, whatever its median; the ratio of a single
// round has none.
func formatSpeedup(iv *Interval) string {
	word := "faster"
	m, lo, hi := iv.Median, iv.Lo, iv.Hi
	if m < 1 {
		word = "slower"
		m, lo, hi = 1/m, 1/hi, 1/lo
	}
	if iv.Confidence == 0 {
		return fmt.Sprintf("%s× %s [?]", formatRatio(m), word)
	}
	if lo <= 1 && hi >= 1 {
		return fmt.Sprintf("no clear difference [%s–%s]", formatRatio(iv.Lo), formatRatio(iv.Hi))
	}
	return fmt.Sprintf("%s× %s [%s–%s]", formatRatio(m), word, formatRatio(lo), formatRatio(hi))
}

// formatSpread writes a spread as a percentage.
func formatSpread(iv Interval) string {
	if iv.Confidence == 0 {
		return "?" // a single round
	}
	pct := 100 * iv.spread()
	if pct > 0 && pct < 9.95 {
		return fmt.Sprintf("±%.1f%%", pct)
	}
	return fmt.Sprintf("±%.0f%%", pct)
}

// formatNS writes a time with its unit: 850 ns, 1.20 µs, 3.41 ms, 2.00 s.
func formatNS(ns float64) string {
	switch abs := math.Abs(ns); {
	case abs >= 0.9995e9:
		return formatNumber(ns/1e9) + " s"
	case abs >= 0.9995e6:
		return formatNumber(ns/1e6) + " ms"
	case abs >= 0.9995e3:
		return formatNumber(ns/1e3) + " µs"
	default:
		return formatNumber(ns) + " ns"
	}
}

// formatMS writes nanoseconds as milliseconds without a unit, and 0 for what
// is under a microsecond.
func formatMS(ns float64) string {
	if ns < 1e3 {
		return "0"
	}
	return formatNumber(ns / 1e6)
}

// formatMB writes bytes as megabytes (10⁶ bytes) without a unit.
func formatMB(bytes float64) string { return formatNumber(bytes / 1e6) }

// formatExtra writes a workload's own figure with the unit that its name ends
// in.
func formatExtra(name string, value float64) string {
	unit, _, _ := strings.Cut(name, "/")
	switch {
	case unit == "ns" || strings.HasSuffix(unit, "-ns"):
		return formatNS(value)
	case unit == "bytes" || strings.HasSuffix(unit, "-bytes"):
		return formatMB(value) + " MB"
	}
	return formatNumber(value)
}

// extraTitle is the heading of a workload's own figure: the name without the
// unit that the values carry themselves.
func extraTitle(name string) string {
	unit, per, ok := strings.Cut(name, "/")
	for _, suffix := range []string{"-ns", "-bytes"} {
		unit = strings.TrimSuffix(unit, suffix)
	}
	unit = strings.ReplaceAll(unit, "-", " ")
	unit = strings.ReplaceAll(unit, "gc cpu", "GC CPU")
	if ok {
		return unit + "/" + per
	}
	return unit
}

// megabytesPerSecond turns nanoseconds per byte into MB/s.
func megabytesPerSecond(nsPerByte float64) float64 {
	if nsPerByte <= 0 {
		return 0
	}
	return 1e3 / nsPerByte
}

// timeScale returns the unit of time, and its nanoseconds, in which all times
// of a case are written. It goes by the baseline, as the table is read against
// it.
func timeScale(c *CaseResult) (unit string, ns float64) {
	if base := c.variant(c.Baseline); base != nil {
		switch t := base.Summary.Time.Median; {
		case t >= 1e6:
			return "ms", 1e6
		case t >= 1e5:
			return "µs", 1e3
		}
	}
	return "ns", 1
}

// formatTime writes the time of a case's unit, without the unit.
func formatTime(c *CaseResult, nsPerUnit float64) string {
	if c.Unit == "byte" {
		return formatNumber(megabytesPerSecond(nsPerUnit))
	}
	_, ns := timeScale(c)
	return formatNumber(nsPerUnit / ns)
}

// timeUnit is the unit of formatTime.
func timeUnit(c *CaseResult) string {
	if c.Unit == "byte" {
		return "MB/s"
	}
	unit, _ := timeScale(c)
	return unit + "/" + c.Unit
}

// formatMetric writes the value of a target's metric with its unit.
func formatMetric(c *CaseResult, metric string, value float64) string {
	switch metric {
	case workload.MetricTime:
		return formatTime(c, value) + " " + timeUnit(c)
	case workload.MetricAllocs:
		return formatCount(value) + " allocs/op"
	case workload.MetricBytes:
		return formatCount(value) + " B/op"
	case workload.MetricGCs:
		return formatNumber(value) + " collections"
	case workload.MetricRSS:
		return formatMB(value) + " MB"
	case workload.MetricGCCPU, workload.MetricP50, workload.MetricP99, workload.MetricP999:
		return formatNS(value)
	}
	return formatExtra(metric, value)
}

// metricName is how a target's metric is called in a sentence.
func metricName(metric string) string {
	switch metric {
	case workload.MetricAllocs:
		return "allocs/op"
	case workload.MetricBytes:
		return "B/op"
	case workload.MetricGCs:
		return "collections"
	case workload.MetricGCCPU:
		return "GC CPU"
	case workload.MetricRSS:
		return "peak RSS"
	case workload.MetricTime, workload.MetricP50, workload.MetricP99, workload.MetricP999:
		return metric
	}
	return extraTitle(metric)
}
