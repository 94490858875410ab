package top

import (
	"fmt"
	"slices"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
)

const noContexts = "There are no memory contexts. memctx.New makes one."

var (
	treeColumns = []column[memctx.Row]{
		{heading{"BYTES", false, 0}, func(r *memctx.Row) string { return formatBytes(r.Total.Bytes) }},
		{heading{"OWN", false, 2}, ofOne(func(r *memctx.Row) string { return formatBytes(r.Own.Bytes) })},
		{heading{"HIGH", false, 3}, func(r *memctx.Row) string { return formatBytes(r.Total.HighWater) }},
		{heading{"LIMIT", false, 1}, func(r *memctx.Row) string { return formatBound(r.Limit) }},
		{heading{"FULL", false, 1}, func(r *memctx.Row) string { return formatShare(r.Total.Bytes, r.Limit) }},
		{heading{"RESERVED", false, 8}, func(r *memctx.Row) string { return formatBound(r.Reserve) }},
		{heading{"CHUNKS", false, 5}, func(r *memctx.Row) string { return formatCount(r.Total.Chunks) }},
		{heading{"CONTEXTS", false, 6}, func(r *memctx.Row) string { return formatCount(r.Contexts) }},
		{heading{"LEASES", false, 7}, ofOne(func(r *memctx.Row) string { return formatCount(r.Leases) })},
		{heading{"RESETS", false, 7}, ofOne(func(r *memctx.Row) string { return formatCount(r.Resets) })},
		{heading{"AGE", false, 4}, func(r *memctx.Row) string { return formatAge(r.Age) }},
	}
	treeOrders = []order[memctx.Row]{
		descending("bytes", func(r *memctx.Row) int { return r.Total.Bytes }),
		descending("own", func(r *memctx.Row) int { return r.Own.Bytes }),
		descending("high", func(r *memctx.Row) int { return r.Total.HighWater }),
		descending("chunks", func(r *memctx.Row) int { return r.Total.Chunks }),
		oldest,
		byName(label),
	}
	treeView = &view{
		name: "tree", title: "tree of contexts", key: 't', empty: noContexts,
		sorts: orderNames(treeOrders), table: treeTable,
	}

	rankedColumns = []column[memctx.Row]{
		{heading{"BYTES", false, 0}, func(r *memctx.Row) string { return formatBytes(r.Own.Bytes) }},
		{heading{"SHARE", false, 5}, nil}, // of all contexts, see rankedTable
		{heading{"TOTAL", false, 1}, func(r *memctx.Row) string { return formatBytes(r.Total.Bytes) }},
		{heading{"HIGH", false, 2}, func(r *memctx.Row) string { return formatBytes(r.Own.HighWater) }},
		{heading{"CHUNKS", false, 4}, func(r *memctx.Row) string { return formatCount(r.Own.Chunks) }},
		{heading{"LEASES", false, 6}, func(r *memctx.Row) string { return formatCount(r.Leases) }},
		{heading{"RESETS", false, 6}, func(r *memctx.Row) string { return formatCount(r.Resets) }},
		{heading{"AGE", false, 3}, func(r *memctx.Row) string { return formatAge(r.Age) }},
	}
	rankedOrders = []order[memctx.Row]{
		descending("bytes", func(r *memctx.Row) int { return r.Own.Bytes }),
		descending("total", func(r *memctx.Row) int { return r.Total.Bytes }),
		descending("high", func(r *memctx.Row) int { return r.Own.HighWater }),
		descending("chunks", func(r *memctx.Row) int { return r.Own.Chunks }),
		oldest,
		byName(func(r *memctx.Row) string { return r.Path }),
	}
	contextsView = &view{
		name: "contexts", title: "contexts", key: 'c', empty: noContexts,
		sorts: orderNames(rankedOrders), table: rankedTable,
	}

	oldest = descending("age", func(r *memctx.Row) int64 { return int64(r.Age) })
)

// groupRows is how many of a group are listed below it.
const groupRows = 3

// ofOne makes a cell that only contexts have, and groups have not.
func ofOne(cell func(*memctx.Row) string) func(*memctx.Row) string {
	return func(r *memctx.Row) string {
		if r.Siblings > 0 {
			return ""
		}
		return cell(r)
	}
}

// label returns a context's own part of its path, or what all of a group are called.
func label(r *memctx.Row) string {
	if r.Ident == "" {
		return r.Name
	}
	return r.Name + "[" + r.Ident + "]"
}

// contextRow makes a row out of cells and a name that may be sent to a terminal.
func contextRow(r *memctx.Row, cells []string, name string) row {
	line := row{cells: cells, name: name}
	switch {
	case r.Siblings > 0:
		line.note = fmt.Sprintf(" ×%d", r.Siblings)
	case r.Deleted:
		line.note = " (deleted)" // and held by a lease, or it would not be here
		line.mark = faint
	case isNear(r.Total.Bytes, r.Limit):
		line.mark = near
	}
	return line
}

// remark is a row that only says something.
func remark(indent int, format string, args ...any) row {
	return row{name: fmt.Sprintf(format, args...), indent: indent, mark: faint}
}

// treeTable sorts the children of each context. Of a group it lists the first few.
func treeTable(s *debugpage.Stats, sort string) table {
	t := table{columns: headings(treeColumns), last: "CONTEXT"}
	// The rows come parents first. They are sorted all at once, and then dealt
	// out to their parents, so that each one's children are in order.
	parents := make(map[*memctx.Row]*memctx.Row, len(s.Contexts))
	var way []*memctx.Row // from a root to the row before
	for i := range s.Contexts {
		r := &s.Contexts[i]
		depth := min(max(r.Depth, 0), len(way))
		if depth > 0 {
			parents[r] = way[depth-1]
		}
		way = append(way[:depth], r)
	}
	children := make(map[*memctx.Row][]*memctx.Row)
	for _, r := range sorted(s.Contexts, treeOrders, sort) {
		children[parents[r]] = append(children[parents[r]], r)
	}

	// What is still to come, the next one last. A nil row stands for the remark
	// that ends the children of a context.
	type place struct {
		row         *memctx.Row
		depth       int
		more, bytes int // of the remark
	}
	var stack []place
	push := func(of *memctx.Row, depth int) {
		below := children[of]
		if of != nil {
			p := place{depth: depth, more: of.More, bytes: of.MoreBytes}
			for of.Siblings > 0 && len(below) > groupRows {
				p.more++
				p.bytes += below[len(below)-1].Total.Bytes
				below = below[:len(below)-1]
			}
			if p.more > 0 {
				stack = append(stack, p)
			}
		}
		for _, r := range slices.Backward(below) {
			stack = append(stack, place{row: r, depth: depth})
		}
	}
	push(nil, 0)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p.row == nil {
			t.rows = append(t.rows, remark(p.depth, "… %d more with %s", p.more, formatBytes(p.bytes)))
			continue
		}
		line := contextRow(p.row, cellsOf(treeColumns, p.row), quoted(label(p.row)))
		line.indent = p.depth
		t.rows = append(t.rows, line)
		push(p.row, p.depth+1)
	}
	if s.Unlisted > 0 {
		t.rows = append(t.rows, remark(0, "… %d more with %s", s.Unlisted, formatBytes(s.UnlistedBytes)))
	}
	return t
}

// rankedTable lists the contexts side by side.
func rankedTable(s *debugpage.Stats, sort string) table {
	columns := slices.Clone(rankedColumns)
	columns[1].cell = func(r *memctx.Row) string { return formatShare(r.Own.Bytes, s.Totals.ContextBytes) }
	t := table{columns: headings(columns), last: "CONTEXT"}
	listed := slices.DeleteFunc(slices.Clone(s.Contexts), func(r memctx.Row) bool { return r.Siblings > 0 })
	for _, r := range sorted(listed, rankedOrders, sort) {
		t.rows = append(t.rows, contextRow(r, cellsOf(columns, r), quoted(r.Path)))
	}
	if more := s.Totals.Contexts - len(listed); more > 0 && len(listed) > 0 {
		t.rows = append(t.rows, remark(0, "… %d not listed", more))
	}
	return t
}
