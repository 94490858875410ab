package top

import (
	"fmt"
	"slices"

	"github.com/haven-mem/haven/debugpage"
)

var (
	limitColumns = []column[debugpage.Limit]{
		{heading{"FULL", false, 0}, func(l *debugpage.Limit) string { return formatShare(l.Used, l.Limit) }},
		{heading{"USED", false, 0}, func(l *debugpage.Limit) string { return amount(l, l.Used) }},
		{heading{"LIMIT", false, 0}, func(l *debugpage.Limit) string { return amount(l, l.Limit) }},
		{heading{"RESERVED", false, 2}, func(l *debugpage.Limit) string { return formatBound(l.Reserve) }},
		{heading{"KIND", true, 1}, func(l *debugpage.Limit) string { return quoted(l.Kind) }},
	}
	limitOrders = []order[debugpage.Limit]{
		descending("full", func(l *debugpage.Limit) float64 { return float64(l.Used) / float64(l.Limit) }),
		byName(func(l *debugpage.Limit) string { return l.Name }),
	}
	limitsView = &view{
		name: "limits", title: "limits", key: 'i',
		empty: "Nothing has a limit. A Config of memctx, slab or pool, and GOMEMLIMIT set one.",
		sorts: orderNames(limitOrders), table: limitsTable,
	}
)

func amount(l *debugpage.Limit, n int64) string {
	if l.Unit == "objects" {
		return formatCount(n) + " obj"
	}
	return formatBytes(n)
}

// limitsTable lists limits, and below a group the fullest of it. Those that are not
// half used are counted, unless somebody looks for a name.
func limitsTable(s *debugpage.Stats, sort string) table {
	t := table{columns: headings(limitColumns), last: "LIMIT OF"}
	add := func(l *debugpage.Limit, indent int, note string) {
		line := row{cells: cellsOf(limitColumns, l), name: quoted(l.Name), indent: indent, note: note}
		if l.Near() {
			line.mark = near
		}
		t.rows = append(t.rows, line)
	}
	more := s.MoreLimits
	// What is not listed is less full than all that is.
	far := sort == "full" && (more == 0 || slices.ContainsFunc(s.Limits, func(l debugpage.Limit) bool { return !l.Half() }))
	for _, l := range sorted(s.Limits, limitOrders, sort) {
		switch {
		case sort == "full" && !l.Half():
			more++
		case l.Siblings > 0:
			add(l, 0, fmt.Sprintf(" ×%d", l.Siblings))
			for i := range l.Members[:min(len(l.Members), groupRows)] {
				add(&l.Members[i], 1, "")
			}
		case l.Kind == "pool":
			add(l, 0, ", idle")
		default:
			add(l, 0, "")
		}
	}
	switch {
	case more > 0 && far:
		t.rows = append(t.rows, remark(0, "… %d more, all below 50%%", more))
	case more > 0:
		t.rows = append(t.rows, remark(0, "… %d more", more))
	}
	return t
}
