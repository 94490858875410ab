package debugpage

import (
	"cmp"
	"slices"
)

const (
	listedLimits = 100 // in Stats
	limitMembers = 10  // of a group
	limitRows    = 12  // of those the page shows at once
)

// limits returns what has a bound, what is nearest to its own in front, and how many
// are not listed.
func limits(s *Stats) (list []Limit, more int) {
	list = []Limit{} // not null in JSON
	add := func(kind, name, unit string, used, limit int64) {
		if limit > 0 {
			list = append(list, Limit{Kind: kind, Name: name, Unit: unit, Used: used, Limit: limit})
		}
	}
	add("process", "GOMEMLIMIT", "bytes", int64(s.Process.Mapped), int64(s.Process.MemoryLimit))
	for _, c := range s.Caches {
		add("cache", c.Name, "objects", int64(c.InUse), int64(c.Capacity))
	}
	for _, p := range s.Pools {
		add("pool", p.Name, "objects", int64(p.Idle), int64(p.Max))
		add("pool", p.Name, "bytes", int64(p.Bytes), int64(p.MaxBytes))
	}
	members := make(map[int][]Limit) // by the row of the group; -1: in none
	var way []int                    // the row that each depth had last
	for i, c := range s.Contexts {
		way = append(way[:c.Depth], i)
		group := -1
		if c.Depth > 0 && s.Contexts[way[c.Depth-1]].Siblings > 0 {
			group = way[c.Depth-1]
		}
		if c.Limit > 0 {
			members[group] = append(members[group], Limit{Kind: "context", Name: c.Path, Unit: "bytes",
				Used: int64(c.Total.Bytes), Limit: int64(c.Limit), Reserve: int64(c.Reserve)})
		}
	}
	for i := -1; i < len(s.Contexts); i++ {
		of := members[i]
		if i < 0 || len(of) < 2 {
			list = append(list, of...)
			continue
		}
		sortLimits(of)
		group := of[0]
		group.Name, group.Siblings, group.Members = s.Contexts[i].Path, s.Contexts[i].Siblings, of[:min(len(of), limitMembers)]
		list = append(list, group)
	}
	sortLimits(list)
	n := min(len(list), listedLimits)
	return list[:n], len(list) - n
}

func sortLimits(list []Limit) {
	slices.SortStableFunc(list, func(a, b Limit) int {
		return cmp.Compare(float64(b.Used)/float64(b.Limit), float64(a.Used)/float64(a.Limit))
	})
}

// Near reports whether four fifths and more are used.
func (l Limit) Near() bool { return l.Used >= l.Limit-l.Limit/5 }

// Half reports whether half and more is used. What is below is out of sight.
func (l Limit) Half() bool { return l.Used >= l.Limit-l.Limit/2 }

// A limitsView has the limits that the page shows, and those that it folds away.
// static/panel_limits.js makes the same.
type limitsView struct {
	Rows, Folded []Limit
	More         int  // that are folded away, or not listed
	Below        bool // none of these is half used
}

func newLimitsView(s *Stats) limitsView {
	n := slices.IndexFunc(s.Limits, func(l Limit) bool { return !l.Half() })
	if n < 0 {
		n = len(s.Limits)
	}
	shown := min(n, limitRows)
	v := limitsView{Rows: s.Limits[:shown], Folded: s.Limits[shown:], Below: shown == n}
	v.More = len(v.Folded) + s.MoreLimits
	return v
}
