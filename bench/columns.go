package bench

import (
	"fmt"

	"github.com/haven-mem/haven/internal/machine"
)

// A column of a case's table, shared by the text, Markdown and HTML output.
type column struct {
	title string
	left  bool // aligned to the left
	cell  func(v *VariantResult) string
}

const unknown = "n/a"

// columns returns the columns of a case: those every case has, and then those
// that only some workloads give figures for.
func columns(c *CaseResult) (basic, further []column) {
	basic = []column{
		{"variant", true, func(v *VariantResult) string { return v.Name }},
		{timeUnit(c), false, func(v *VariantResult) string { return formatTime(c, v.Summary.Time.Median) }},
		{"±", false, func(v *VariantResult) string { return formatSpread(v.Summary.Time) }},
		{"against " + c.Baseline, true, func(v *VariantResult) string {
			if v.Summary.Speedup == nil {
				if v.Name == c.Baseline {
					return "1×"
				}
				return unknown
			}
			return formatSpeedup(v.Summary.Speedup)
		}},
		{"allocs/op", false, func(v *VariantResult) string { return formatCount(v.Summary.AllocsPerOp) }},
		{"GCs", false, func(v *VariantResult) string { return formatCount(v.Summary.GCs) }},
		{"GC CPU ms", false, func(v *VariantResult) string { return formatMS(v.Summary.GCCPUNS) }},
		{"peak MB", false, func(v *VariantResult) string {
			if v.PeakRSSBytes == 0 {
				return unknown
			}
			return formatMB(float64(v.PeakRSSBytes))
		}},
	}
	for _, v := range c.Variants {
		if v.Latency != nil {
			further = append(further,
				latencyColumn("p50", func(l *Latency) int64 { return l.P50NS }),
				latencyColumn("p99", func(l *Latency) int64 { return l.P99NS }),
				latencyColumn("p99.9", func(l *Latency) int64 { return l.P999NS }))
			break
		}
	}
	for _, name := range extraNames(c.Variants) {
		further = append(further, column{extraTitle(name), false, func(v *VariantResult) string {
			for _, e := range v.Summary.Extras {
				if e.Name == name {
					return formatExtra(name, e.Value)
				}
			}
			return ""
		}})
	}
	return basic, further
}

func latencyColumn(title string, ns func(*Latency) int64) column {
	return column{title, false, func(v *VariantResult) string {
		if v.Latency == nil {
			return unknown
		}
		return formatNS(float64(ns(v.Latency)))
	}}
}

// heading says in one line what a round of the case was.
func heading(c *CaseResult) string {
	n := c.maxRounds()
	s := fmt.Sprintf("%s of %s", plural(int64(n), "round"), plural(int64(c.Passes), "pass"))
	var ops int64
	for _, v := range c.Variants {
		if len(v.Rounds) > 0 {
			ops = v.Rounds[0].Ops / int64(max(c.Passes, 1))
			break
		}
	}
	s += fmt.Sprintf(" with %s", plural(ops, c.Unit))
	if c.Sequential {
		s += ", one variant after the other"
	}
	if c.Concurrent {
		s += ", all variants at the same time"
	}
	return s
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if noun == "pass" {
		return grouped(n) + " passes"
	}
	return grouped(n) + " " + noun + "s"
}

// grouped writes n with thin groups of three digits: 131,071.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// intervalNote explains the interval columns of a report.
func intervalNote(r *Report) string {
	few := false
	for _, c := range r.Cases {
		few = few || c.maxRounds() < 6
	}
	note := "Times are medians over rounds; ± and [ ] are 95 % confidence intervals, ratios paired by rounds."
	if few {
		note = "Times are medians over rounds; ± and [ ] are 95 % confidence intervals, with under 6 rounds the whole range."
	}
	return note
}

// otherNote explains the remaining columns.
const otherNote = "GCs and GC CPU are means per round, idle-priority marking included. Peak is of the variant's own process."

// machineLine describes the machine in one line.
func machineLine(m machine.Machine) string {
	cpu := m.CPU
	if cpu == "" {
		cpu = "unknown CPU"
	}
	s := fmt.Sprintf("%s, %d CPUs, GOMAXPROCS %d, %s/%s, %s", cpu, m.NumCPU, m.GOMAXPROCS, m.GOOS, m.GOARCH, m.GoVersion)
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOEXPERIMENT"} {
		if v := m.Env[name]; v != "" {
			s += ", " + name + "=" + v
		}
	}
	return s
}

// commitLine describes the version and the time of a report.
func commitLine(r *Report) string {
	commit := r.Machine.Commit
	if commit == "" {
		commit = "unknown"
	}
	return fmt.Sprintf("commit %s, %s", commit, r.Date.Format("2006-01-02 15:04 UTC"))
}
