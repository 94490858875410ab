package top

import (
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
)

var (
	nameColumns = []column[memctx.NameStats]{
		{heading{"BYTES", false, 0}, func(n *memctx.NameStats) string { return formatBytes(n.Bytes) }},
		{heading{"HIGH", false, 2}, func(n *memctx.NameStats) string { return formatBytes(n.HighWater) }},
		{heading{"CHUNKS", false, 9}, func(n *memctx.NameStats) string { return formatCount(n.Chunks) }},
		{heading{"LIVE", false, 1}, func(n *memctx.NameStats) string { return formatCount(n.Live) }},
		{heading{"HELD", false, 5}, func(n *memctx.NameStats) string { return formatCount(n.Held) }},
		{heading{"CREATED", false, 3}, func(n *memctx.NameStats) string { return formatCount(n.Created) }},
		{heading{"DELETED", false, 8}, func(n *memctx.NameStats) string { return formatCount(n.Deleted) }},
		{heading{"ABANDONED", false, 8}, func(n *memctx.NameStats) string { return formatCount(n.Abandoned) }},
		{heading{"DROPPED", false, 7}, func(n *memctx.NameStats) string { return formatCount(n.Dropped) }},
		{heading{"ERRORS", false, 4}, func(n *memctx.NameStats) string { return formatCount(n.LimitErrors) }},
		{heading{"WARM", false, 6}, func(n *memctx.NameStats) string { return formatBytes(n.Warm.Reserved) }},
		{heading{"HITS", false, 6}, func(n *memctx.NameStats) string { return formatShare(n.Warm.Hits, n.Warm.Gets) }},
	}
	nameOrders = []order[memctx.NameStats]{
		descending("bytes", func(n *memctx.NameStats) int { return n.Bytes }),
		descending("high", func(n *memctx.NameStats) int { return n.HighWater }),
		descending("live", func(n *memctx.NameStats) int { return n.Live }),
		descending("created", func(n *memctx.NameStats) uint64 { return n.Created }),
		descending("errors", func(n *memctx.NameStats) uint64 { return n.LimitErrors }),
		byName(func(n *memctx.NameStats) string { return n.Name }),
	}
	namesView = &view{
		name: "names", title: "contexts by name", key: 'm', empty: "No context had a name yet.",
		sorts: orderNames(nameOrders), table: namesTable,
	}
)

func namesTable(s *debugpage.Stats, sort string) table {
	t := table{columns: headings(nameColumns), last: "NAME"}
	for _, n := range sorted(s.Names, nameOrders, sort) {
		t.rows = append(t.rows, row{cells: cellsOf(nameColumns, n), name: quoted(n.Name)})
	}
	return t
}
