package debugpage

import (
	"cmp"
	"slices"
)

// limitRows is how many limits the page lists.
const limitRows = 12

// A limitsView has what has a bound, what is nearest to its own in front.
// static/panel_limits.js makes the same from stats.json.
type limitsView struct {
	Rows []limitRow
	More int
}

type limitRow struct {
	Kind    string // "context", "cache", "pool" or "process"
	Name    string
	Used    int64
	Limit   int64
	Reserve int64  // of a context: what it has set aside in the limits above it
	Unit    string // "bytes" or "objects"
	Near    bool   // four fifths and more are used
}

func newLimitsView(s *Stats) limitsView {
	var v limitsView
	add := func(kind, name, unit string, used, limit, reserved int64) {
		if limit > 0 {
			v.Rows = append(v.Rows, limitRow{kind, name, used, limit, reserved, unit, used >= limit-limit/5})
		}
	}
	add("process", "GOMEMLIMIT", "bytes", int64(s.Process.Mapped), int64(s.Process.MemoryLimit), 0)
	for _, c := range s.Contexts {
		add("context", c.Path, "bytes", int64(c.Total.Bytes), int64(c.Limit), int64(c.Reserve))
	}
	for _, c := range s.Caches {
		add("cache", c.Name, "objects", int64(c.InUse), int64(c.Capacity), 0)
	}
	for _, p := range s.Pools {
		add("pool", p.Name+", idle", "objects", int64(p.Idle), int64(p.Max), 0)
		add("pool", p.Name+", idle", "bytes", int64(p.Bytes), int64(p.MaxBytes), 0)
	}
	slices.SortStableFunc(v.Rows, func(a, b limitRow) int {
		return cmp.Compare(float64(b.Used)/float64(b.Limit), float64(a.Used)/float64(a.Limit))
	})
	if v.More = len(v.Rows) - limitRows; v.More > 0 {
		v.Rows = v.Rows[:limitRows]
	}
	return v
}
