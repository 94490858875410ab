package top

import (
	"strings"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/debugpage"
)

var (
	leakColumns = []column[check.Finding]{
		{heading{"COUNT", false, 0}, func(l *check.Finding) string { return formatCount(l.Count) }},
		{heading{"BYTES", false, 0}, func(l *check.Finding) string { return formatBytes(l.Bytes) }},
		{heading{"AGE", false, 1}, func(l *check.Finding) string { return formatAge(l.Age) }},
		{heading{"KIND", true, 0}, func(l *check.Finding) string { return quoted(l.Kind) }},
		{heading{"WHAT", true, 2}, func(l *check.Finding) string { return quoted(l.What) }},
	}
	leakOrders = []order[check.Finding]{
		descending("count", func(l *check.Finding) uint64 { return l.Count }),
		descending("bytes", func(l *check.Finding) int { return l.Bytes }),
		descending("age", func(l *check.Finding) int64 { return int64(l.Age) }),
		byName(leakName),
	}
	leaksView = &view{
		name: "leaks", title: "leaks", key: 'l', empty: "The leak finder has found nothing.",
		sorts: orderNames(leakOrders), table: leaksTable,
	}
)

func leakName(l *check.Finding) string {
	if l.Path != "" {
		return l.Path
	}
	return l.Name
}

// leaksTable lists findings, and under each one where it was released, if it is an
// escape, and where it was made.
func leaksTable(s *debugpage.Stats, sort string) table {
	t := table{columns: headings(leakColumns), last: "NAME"}
	for _, l := range sorted(s.Leaks, leakOrders, sort) {
		t.rows = append(t.rows, row{cells: cellsOf(leakColumns, l), name: quoted(leakName(l))})
		if at := madeAt(l.Released); at != "" {
			t.rows = append(t.rows, remark(1, "of %s, released by %s", quoted(l.Type), at))
		}
		if at := madeAt(l.Stack); at != "" {
			t.rows = append(t.rows, remark(1, "made by %s", at))
		}
	}
	return t
}

// madeAt returns the innermost function of a stack and its line, from the two
// lines that they have in it.
func madeAt(stack string) string {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	at := printable(strings.TrimSpace(lines[0]))
	if len(lines) > 1 {
		at += " " + printable(strings.TrimSpace(lines[1]))
	}
	return at
}
